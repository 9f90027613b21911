// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// labour is whether time counts for the deadline of a wave, and until when it did where its clock runs too long.
type labour struct {
	wave  int
	runs  bool
	until time.Time
}

// works: unless something stops the whole rollout, time counts for the deadline of a wave (law 13). It does from its
// first start on, while one of its unfinished clusters may be worked on. A clock that was left running while that was
// not so, since nobody looked, has to be stopped first, at the instant that is given.
func (b *board) works(wave int) (runs bool, until time.Time) {
	if b.labour == nil || b.labour.wave != wave {
		b.labour = &labour{wave: wave}
		b.labour.runs, b.labour.until = b.labours(wave)
	}
	return b.labour.runs, b.labour.until
}

func (b *board) labours(wave int) (runs bool, until time.Time) {
	w := &b.Waves[wave]
	if w.Deadline <= 0 || wave == b.catchUp || wave != b.current || !b.began(wave) {
		return false, time.Time{}
	}
	var spans []span
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if b.wave[i] != wave || c.Phase.Ended() && !c.workedSince(w.Worked.Since) {
			continue
		}
		s, now := b.workable(c)
		runs = runs || now
		if !slices.Contains(spans, s) {
			spans = append(spans, s)
		}
	}
	if w.Worked.Since.IsZero() || len(spans) == 0 {
		return runs, time.Time{}
	}
	b.edge(w.Worked.Since)
	broke := b.breaks(w.Worked.Since, spans)
	if !broke.IsZero() && !broke.After(b.now) {
		return false, broke
	}
	b.edge(broke)
	return runs, time.Time{}
}

// workedSince: it has ended since the clock runs, and may have kept it running until then.
func (c *Cluster) workedSince(since time.Time) bool { return !since.IsZero() && c.EndedAt.After(since) }

// span is when a cluster may be worked on: while its calendars are open and it is not frozen, up to an instant if there is
// one. A cluster that is new has not begun.
type span struct {
	hours *hours
	isNew bool
	end   time.Time
}

// breaks is when, from an instant on, none of them could be worked on for the first time, or an instant after now up to
// which always one could; zero: one always can.
func (b *board) breaks(from time.Time, spans []span) time.Time {
	sets := make([]window.Set, len(spans))
	for i, s := range spans {
		sets[i] = s.allowed()
	}
	for at := from; ; {
		reached := at
		for i, s := range spans {
			if !sets[i].Open(at) || !s.end.IsZero() && !at.Before(s.end) {
				continue
			}
			end, closes := sets[i].ClosesAt(at)
			switch {
			case !closes && s.end.IsZero():
				return time.Time{}
			case !closes, !s.end.IsZero() && s.end.Before(end):
				end = s.end
			}
			reached = latest(reached, end)
		}
		if !reached.After(at) || reached.After(b.now) {
			return reached
		}
		at = reached
	}
}

// allowed is when work was allowed, is and will be, as far as calendars and freezes say.
func (s span) allowed() window.Set {
	set := s.hours.calendar.Except(s.hours.stopped...)
	if s.isNew {
		set = set.Except(s.hours.shutOut...)
	}
	return set
}

// workable: its member answers and may be written to, no calendar and no Freeze keeps it from work, and its owner has
// not paused it.
func (b *board) workable(c *Cluster) (s span, now bool) {
	m, h := b.Members[c.Member], b.hoursOf(*c)
	for i := range h.freezes {
		b.edge(h.freezes[i].From)
		b.edge(h.freezes[i].Until)
	}
	b.edge(h.closes)
	b.edge(h.next.Start)
	s.hours, s.isNew = h, c.untouched()
	switch {
	case c.Phase.Ended():
		s.end = c.EndedAt
		if !m.Ready && !m.Since.IsZero() && m.Since.Before(s.end) {
			s.end = m.Since
		}
	case !m.Ready:
		s.end = m.Since
	case c.Reason == ReasonClusterPaused, c.Reason == ReasonOwnerPaused:
		s.end = c.Since
	default:
		now = m.Upgrade && h.open && (h.noStart == nil || !c.untouched())
	}
	return s, now
}

// overdue: as much time as the deadline allows has counted.
func (b *board) overdue(wave int) bool {
	w, t := &b.Waves[wave], &b.tallies[wave]
	ended := t.succeeded + t.failed + t.skipped + t.gone + t.deferred
	if w.Deadline <= 0 || wave != b.current || ended == t.clusters {
		return false
	}
	if _, until := b.works(wave); !until.IsZero() {
		return w.Worked.At(until) >= w.Deadline
	}
	if !w.Worked.Since.IsZero() {
		b.edge(w.passes())
	}
	return w.Worked.At(b.now) >= w.Deadline
}

// passes is when the deadline passes while its clock runs.
func (w *Wave) passes() time.Time { return w.Worked.Since.Add(w.Deadline - w.Worked.Elapsed) }

// deadlineAt is when the deadline of a wave passes if time goes on counting; zero: it does not count, or has passed.
func (b *board) deadlineAt(wave int, works bool) time.Time {
	w := &b.Waves[wave]
	if !works || w.Worked.Since.IsZero() || !b.now.Before(w.passes()) {
		return time.Time{}
	}
	b.edge(w.passes())
	return w.passes()
}

// canaryTimedOut halts when the canaries are not through by their deadline (law 7).
func canaryTimedOut(b *board) *standing {
	if b.current == len(b.Waves) || !b.Waves[b.current].Canary || !b.overdue(b.current) {
		return nil
	}
	w, late := &b.Waves[b.current], b.unfinished(b.current)
	return b.halt(ReasonCanaryTimedOut, "canaries %s were not through within %s of work", list(late), w.Deadline)
}

// deadlineExceeded halts when a wave is not through by its deadline, unless the policy goes on then.
func deadlineExceeded(b *board) *standing {
	if b.current == len(b.Waves) || b.Waves[b.current].DeadlineContinue || !b.overdue(b.current) {
		return nil
	}
	w, late := &b.Waves[b.current], b.unfinished(b.current)
	return b.halt(ReasonDeadlineExceeded, "wave %s was not through within %s of work: %d of %d clusters succeeded, not %s",
		w.Name, w.Deadline, b.tallies[b.current].succeeded, w.Planned, list(late))
}

// lateUnproven: the current wave is past its deadline, after which the policy goes on, and cannot be closed, since none of
// its clusters has succeeded (law 15).
func (b *board) lateUnproven() bool {
	if b.current == len(b.Waves) || b.current == b.catchUp {
		return false
	}
	w := &b.Waves[b.current]
	return w.DeadlineContinue && !w.Canary && b.tallies[b.current].succeeded == 0 && b.overdue(b.current)
}

// late is the standing of a rollout whose current wave is past its deadline and proves nothing yet.
func late(b *board) *standing {
	if !b.lateUnproven() {
		return nil
	}
	hold := b.openUntilProven()
	return &standing{PhaseProgressing, hold.Reason, hold.Message}
}

// openUntilProven is why no later wave begins although the deadline has passed.
func (b *board) openUntilProven() *Waiting {
	w := &b.Waves[b.current]
	return wait(ReasonDeadlineExceeded, "wave %s was not through within %s of work, and stays open, with no later wave begun, until "+
		"one of its clusters has succeeded; look at %s, or give a new target", w.Name, w.Deadline, list(b.open(b.current)))
}

// open are the clusters of a wave that may still succeed.
func (b *board) open(wave int) []string {
	var names []string
	for i := range b.Clusters {
		if c := &b.Clusters[i]; b.wave[i] == wave && !c.final() {
			names = append(names, c.Path)
		}
	}
	return names
}

// unfinished are the clusters of a wave that have not ended.
func (b *board) unfinished(wave int) []string {
	var names []string
	for i := range b.Clusters {
		if c := &b.Clusters[i]; b.wave[i] == wave && !c.Phase.Ended() {
			names = append(names, c.Path)
		}
	}
	return names
}
