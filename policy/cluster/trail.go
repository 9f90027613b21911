// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy/version"
)

// stage is where a machine is that is granted by itself.
type stage string

// The stages.
const (
	// untouched: nothing of ours is on the way with it.
	untouched stage = ""
	// strange: somebody else's upgrade of it is on the way.
	strange stage = "Strange"
	// asked: its request stands and no change has begun.
	asked stage = "Asked"
	// moving: a change is in flight and followed.
	moving stage = "Moving"
	// failing: its request stands and has failed: another attempt begins any moment.
	failing stage = "Failing"
	// adrift: a change is in flight, or has ended, that nobody follows, since its request was taken back.
	adrift stage = "Adrift"
	// resting: nothing is in flight; it waits for its next attempt.
	resting stage = "Resting"
	// reached: it carries the target and is not proven yet.
	reached stage = "Reached"
)

// trail is a machine's record with what this look adds, and its stage.
type trail struct {
	stage  stage
	record Record
}

// Follow adds to the owners of an observation what the records of machines that are granted one by one tell of them.
func Follow(o Observation, now time.Time) []Owner {
	if !o.PerMachine {
		return o.Owners
	}
	return look{o: o, now: now}.follow().o.Owners
}

// follow adds to the observation what the records of its machines tell.
func (l look) follow() look {
	l.trails = map[string]trail{}
	l.o.Owners = slices.Clone(l.o.Owners)
	for i := range l.o.Owners {
		owner := &l.o.Owners[i]
		owner.Machines = slices.Clone(owner.Machines)
		for k := range owner.Machines {
			m := &owner.Machines[k]
			t := l.trail(*owner, *m)
			l.trails[m.Name] = t
			owner.Ours = owner.Ours || m.Ours || !t.record.zero() && !m.Marks.clean()
			m.InFlight = t.stage == moving || t.stage == adrift || t.stage == strange ||
				t.stage == failing && m.Marks.refreshing()
			m.Requested = m.Marks.HasTo && !m.InFlight
			m.Attempts, m.LastError = t.record.Attempts, t.record.LastError
			m.Quarantined = l.spent(t)
		}
	}
	return l
}

// spent: its attempts are used up. What is in flight beyond them is not followed.
func (l look) spent(t trail) bool {
	limit := max(l.o.Limits.MaxAttempts, 1)
	if t.stage == adrift {
		return t.record.Attempts > limit
	}
	silent := t.record.LastError == "" && l.now.Before(t.record.FailedAt.Add(LastWords))
	return t.stage == resting && t.record.Attempts >= limit && !silent
}

func (l look) trail(o Owner, m Machine) trail {
	r := m.Record
	if r.zero() {
		switch {
		case !m.Ours && (m.Marks.HasTo || m.Marks.refreshing()):
			return trail{strange, r}
		case !m.Ours || m.Marks.clean():
			return trail{untouched, r}
		}
		r.At, r.Seen, r.From = l.now.UTC().Truncate(time.Second), true, m.Kubelet // the record was lost
	}
	if m.Marks.clean() && m.Proven.Good() {
		return trail{untouched, Record{}}
	}
	if m.Said != "" {
		r.LastError = m.Said
	}
	return l.staged(o, m, r.counted(m.Marks))
}

// staged tells the stage of a machine that was granted.
func (l look) staged(o Owner, m Machine, r Record) trail {
	marks := m.Marks
	switch {
	case !marks.HasTo && marks.finished():
		return trail{adrift, r}
	case !marks.HasTo:
		return l.unasked(o, m, r)
	case marks.finished():
		return trail{moving, r}
	case marks.failed(), !r.FailedAt.IsZero():
		return trail{failing, r}
	case !marks.HasChangeID:
		return trail{asked, r}
	}
	return trail{moving, r}
}

// unasked is a machine that was granted and carries no request.
func (l look) unasked(o Owner, m Machine, r Record) trail {
	switch {
	case m.Marks.refreshing() && l.now.Before(r.drifted().Add(l.o.Limits.Timeout)):
		return trail{adrift, r}
	case !m.Marks.refreshing() && m.Release == o.Target && r.FailedAt.IsZero() && (r.Seen || m.Marks.Status == markDone):
		if !l.overdue(o, m, r) {
			return trail{reached, r}
		}
		return trail{resting, r.lost(l.now, m.Proven.Message)}
	case r.FailedAt.IsZero() && r.Seen:
		r = r.takenBack(m.Marks, l.now)
		return trail{resting, r.lost(l.now, "its request was taken away before it was done")}
	}
	return trail{resting, r}
}

// drifted is since when nobody follows what is in flight.
func (r Record) drifted() time.Time {
	if r.FailedAt.IsZero() {
		return r.At
	}
	return r.FailedAt
}

// overdue: it carries the target, and its version has not followed in time. One whose request was never seen may not
// have got it.
func (l look) overdue(o Owner, m Machine, r Record) bool {
	return o.behind(m) && !l.now.Before(r.At.Add(l.patience(r)))
}

func (l look) patience(r Record) time.Duration {
	if !r.Seen {
		return min(Quiet, l.o.Limits.Timeout)
	}
	return l.o.Limits.Timeout
}

// answered is when all that was sent for requests that were taken back is visible; zero: it is.
func (r Record) answered() time.Time {
	if r.BlindSince.IsZero() {
		return time.Time{}
	}
	return r.BlindSince.Add(Answer)
}

// behind: another refresh is what it needs, not health.
func (o Owner) behind(m Machine) bool { return !o.fits(m) || m.Health.Good() }

func (o Owner) fits(m Machine) bool { return version.Fits(m.Kubelet, o.Version) }

// arrived: its node runs what was asked for, and ran something else before.
func (o Owner) arrived(m Machine, r Record) bool { return o.fits(m) && m.Kubelet != r.From }

// timers is the next instant at which a machine is looked at again by time alone; zero: none.
func (l look) timers() time.Time {
	var next time.Time
	for _, o := range l.o.Owners {
		for _, m := range o.Machines {
			for _, at := range l.timersOf(o, m, l.trails[m.Name]) {
				if at.After(l.now) {
					next = sooner(next, at)
				}
			}
		}
	}
	return next
}

func (l look) timersOf(o Owner, m Machine, t trail) []time.Time {
	r, timeout := t.record, l.o.Limits.Timeout
	switch t.stage {
	case asked:
		return []time.Time{r.At.Add(Grace), r.At.Add(Quiet), r.At.Add(NoChange)}
	case moving:
		return []time.Time{r.At.Add(NoChange), r.At.Add(timeout)}
	case adrift:
		return []time.Time{r.due(l.o.Limits.Backoff), r.drifted().Add(timeout)}
	case resting:
		return []time.Time{r.due(l.o.Limits.Backoff), r.FailedAt.Add(LastWords), r.answered()}
	case reached:
		if o.behind(m) {
			return []time.Time{r.At.Add(l.patience(r))}
		}
	case untouched, strange, failing:
	}
	return nil
}
