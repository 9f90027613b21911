// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// Decide says what a rollout does next: its phase, which intents to write, and why the rest waits. Deciding twice
// on one Fleet gives one answer; deciding again after the intents are written starts nothing twice.
//
// No rule depends on the time yet, so Recheck is zero; the instant is asked for since windows and soaks will.
func Decide(f Fleet, now time.Time) Decision {
	b := newBoard(f, now)
	s := b.stand()
	d := Decision{Phase: s.phase, Reason: s.reason, Message: s.message, Proven: b.proven}
	starts := map[int]bool{}
	d.Waves = b.waves(s.phase)
	if b.current < len(f.Waves) {
		d.Current = f.Waves[b.current].Name
	}
	switch s.phase {
	case PhaseProgressing:
		var kept map[int]*Waiting
		starts, kept, d.Waiting = b.admit()
		holds := b.holds(kept, true)
		if d.Waiting == nil && len(starts) == 0 {
			d.Waiting = b.stuck(holds)
		}
		d.Holds, d.HoldsLeft = bound(holds)
		d.Waves[b.current].Waiting = d.Waiting
	case PhasePlanning, PhasePaused, PhaseHalted, PhaseAwaitingApproval:
		d.Waiting = &Waiting{Reason: s.reason, Message: s.message, Act: s.phase == PhaseHalted || NeedsAct(s.reason)}
		d.Holds, d.HoldsLeft = bound(b.holds(nil, false))
	case PhaseCatchingUp, PhaseSucceeded, PhaseCompletedWithFailures, PhaseCancelled, PhaseSuperseded:
	}
	for i, c := range f.Clusters {
		want := next(s.phase, c)
		if starts[i] {
			want = Run
		}
		if want != c.intent() {
			d.Intents = append(d.Intents, IntentChange{ID: c.ID, Intent: want})
		}
	}
	return d
}

// next is the intent of a cluster that is not started now.
func next(phase Phase, c Cluster) Intent {
	intent := c.intent()
	if intent == Wait || intent == Withdraw {
		return intent
	}
	stopped := phase == PhaseCancelled || phase == PhaseSuperseded
	switch {
	case c.Phase == Failed, stopped && !c.Phase.Ended():
		return Withdraw
	case c.Phase.Ended():
		return intent
	case c.pending() && GivesBack(c.Reason):
		return Wait
	case phase == PhaseProgressing:
		return Run
	default:
		return Hold
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
