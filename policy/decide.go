// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// Decide says what a rollout does next: its phase, which intents to write, and why the rest waits. Deciding twice
// on one Fleet gives one answer, at every instant before Recheck; deciding again after the intents are written starts
// nothing twice.
func Decide(f Fleet, now time.Time) Decision {
	b := newBoard(f, now)
	s := b.stand()
	d := Decision{Phase: s.phase, Reason: s.reason, Message: s.message, Proven: b.proven}
	d.Waves = b.waves(s.phase)
	if b.current < len(f.Waves) {
		d.Current = f.Waves[b.current].Name
	}
	var starts map[int]bool
	found := map[int]*Waiting{}
	switch s.phase {
	case PhaseProgressing, PhaseCatchingUp:
		starts, found, d.Waiting = b.admit()
		d.Intents, d.Held = b.intents(s, starts, found)
		holds := b.holds(found, true)
		if d.Waiting == nil && len(starts) == 0 {
			d.Waiting = b.stuck(holds)
		}
		d.Holds, d.HoldsLeft = bound(holds)
		d.Waves[b.current].Waiting = d.Waiting
	case PhasePlanning, PhasePaused, PhaseHalted, PhaseAwaitingApproval:
		d.Intents, d.Held = b.intents(s, starts, found)
		d.Waiting = &Waiting{Reason: s.reason, Message: s.message, Act: s.phase == PhaseHalted || NeedsAct(s.reason)}
		d.Holds, d.HoldsLeft = bound(b.holds(found, false))
		if s.phase == PhaseAwaitingApproval {
			d.Waves[b.current].Waiting = d.Waiting
		}
	case PhaseSucceeded, PhaseCompletedWithFailures, PhaseCancelled, PhaseSuperseded:
		d.Intents, d.Held = b.intents(s, starts, found)
	}
	if b.Committed && d.Current != "" && moves(s.phase) {
		d.Missed = b.missed()
	}
	d.Recheck = b.recheck
	return d
}

// moves says whether clusters may begin in a phase, now or when somebody lets them.
func moves(phase Phase) bool {
	switch phase {
	case PhaseProgressing, PhaseCatchingUp, PhaseAwaitingApproval, PhasePaused:
		return true
	case PhasePlanning, PhaseHalted, PhaseSucceeded, PhaseCompletedWithFailures, PhaseCancelled, PhaseSuperseded:
	}
	return false
}

// intents are those that change, and the clusters that are held. Why its hours hold a cluster that has begun goes into
// found, by index.
func (b *board) intents(s standing, starts map[int]bool, found map[int]*Waiting) (changes []IntentChange, held []ClusterHold) {
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if !starts[i] && (c.intent() == Wait || c.intent() == Withdraw) {
			continue
		}
		want, until, why := b.next(s.phase, *c, starts[i])
		if why != nil {
			found[i] = why
		}
		if want != c.intent() || want == Run && !until.Equal(c.NotAfter) {
			changes = append(changes, IntentChange{c.ID, want, until})
		}
		if want == Hold && !c.Phase.Ended() {
			held = append(held, ClusterHold{c.ID, c.Path, s.holding(why)})
		}
	}
	return changes, held
}

// holding is why a cluster is held: for its hours, or since the rollout as a whole stands.
func (s standing) holding(hours *Waiting) Waiting {
	if hours != nil {
		return *hours
	}
	return Waiting{
		Reason: s.reason, Message: "the rollout is " + string(s.phase) + ": no further machine begins", Act: NeedsAct(s.reason),
	}
}

// next is the intent of a cluster that begins now or has begun, until when it lasts, and why it is held.
func (b *board) next(phase Phase, c Cluster, begins bool) (want Intent, until time.Time, why *Waiting) {
	intent := c.intent()
	stopped := phase == PhaseCancelled || phase == PhaseSuperseded
	switch {
	case begins:
		return b.run(c)
	case c.Phase == Failed, stopped && !c.Phase.Ended():
		return Withdraw, time.Time{}, nil
	case c.Phase == Deferred: // nothing was granted
		return Wait, time.Time{}, nil
	case c.Phase.Ended():
		return intent, c.NotAfter, nil
	case c.pending() && GivesBack(c.Reason):
		return Wait, time.Time{}, nil
	case phase == PhaseProgressing, phase == PhaseCatchingUp, phase == PhaseAwaitingApproval:
		return b.run(c)
	default:
		return Hold, c.NotAfter, nil
	}
}

// run lets a cluster go on while its hours allow it (law 10). Else it holds with what it has, keeping its slot; one to
// which nothing was granted gives it back; and one of which every machine is done goes on being looked at, as it is.
func (b *board) run(c Cluster) (want Intent, until time.Time, why *Waiting) {
	if c.Phase == Verifying && c.intent() == Run {
		return Run, c.NotAfter, nil
	}
	h := b.hoursOf(c)
	why, until = b.shut(h, c.nextMachine())
	switch {
	case c.pending() && h.noStart != nil:
		return Wait, time.Time{}, nil
	case why == nil:
		return Run, until, nil
	case c.pending():
		return Wait, time.Time{}, nil
	case c.Phase == Verifying:
		return c.intent(), c.NotAfter, nil
	default:
		return Hold, c.NotAfter, why
	}
}

func (c Cluster) intent() Intent {
	if c.Intent == "" {
		return Wait
	}
	return c.Intent
}

func (c Cluster) pending() bool { return c.Phase == Pending || c.Phase == "" }

// settled: ended, with nothing of ours left.
func (c Cluster) settled() bool {
	return c.Phase.Ended() && (c.Settled || c.Phase == Removed || c.intent() == Wait && !c.Returning)
}

// inFlight: holds a slot. What we wrote counts, not only what was reported (law 4).
func (c Cluster) inFlight() bool {
	began := c.intent() != Wait || c.Returning || !c.pending() && !c.Phase.Ended()
	return began && !c.settled()
}

// untouched: nothing was ever asked for it, or that was taken back.
func (c Cluster) untouched() bool { return c.pending() && !c.inFlight() }
