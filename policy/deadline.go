// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// works: time counts for the deadline of a wave (law 13). It does from its first start on, while nothing stops the
// rollout and one of its unfinished clusters may be worked on.
func (b *board) works(wave int) bool {
	w := &b.Waves[wave]
	stopped := !b.Committed || b.Sticky != "" || b.Cancelled || b.Superseded || b.Paused || b.UnknownField != ""
	if w.Deadline <= 0 || wave == b.catchUp || wave != b.current || stopped || !b.began(wave) {
		return false
	}
	for i := range b.Clusters {
		if c := &b.Clusters[i]; b.wave[i] == wave && !c.Phase.Ended() && b.workable(c) {
			return true
		}
	}
	return false
}

// workable: its member answers and may be written to, no calendar and no Freeze keeps it from work, and its owner has
// not paused it.
func (b *board) workable(c *Cluster) bool {
	m := b.Members[c.Member]
	if !m.Ready || !m.Upgrade || c.Reason == ReasonClusterPaused || c.Reason == ReasonOwnerPaused {
		return false
	}
	h := b.hoursOf(*c)
	for i := range h.freezes {
		b.edge(h.freezes[i].From)
		b.edge(h.freezes[i].Until)
	}
	if !h.open {
		b.edge(h.next.Start)
		return false
	}
	b.edge(h.closes)
	return h.noStart == nil || !c.untouched()
}

// overdue: as much time as the deadline allows has counted. A clock that runs while no time may count has to be stopped
// first.
func (b *board) overdue(wave int) bool {
	w, t := &b.Waves[wave], &b.tallies[wave]
	ended := t.succeeded + t.failed + t.skipped + t.gone + t.deferred
	if w.Deadline <= 0 || wave != b.current || ended == t.clusters {
		return false
	}
	if w.Worked.Since.IsZero() {
		return w.Worked.Elapsed >= w.Deadline
	}
	b.edge(w.passes())
	return w.Worked.At(b.now) >= w.Deadline && b.works(wave)
}

// passes is when the deadline passes while its clock runs.
func (w *Wave) passes() time.Time { return w.Worked.Since.Add(w.Deadline - w.Worked.Elapsed) }

// deadlineAt is when the deadline of a wave passes if time goes on counting; zero: it does not count, or has passed.
func (b *board) deadlineAt(wave int, works bool) time.Time {
	w := &b.Waves[wave]
	if !works || w.Worked.Since.IsZero() || !b.now.Before(w.passes()) {
		return time.Time{}
	}
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
