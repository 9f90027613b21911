// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// board is a fleet at an instant, counted. It is built once for each decision.
type board struct {
	Fleet
	// almanac has the instant of the decision, and what it finds in calendars.
	almanac
	// wave is the wave that each cluster counts in now, by its index; -1: none (see waveOf).
	wave []int
	// catchUp is the index of the wave of what was put off; -1: there is none.
	catchUp int
	// tallies by wave; seen are the clusters planned for it, moved those of them that catch-up has taken over.
	tallies     []tally
	seen, moved []int
	// inFlight clusters of this rollout, and of it by member. silent are those of them whose member has not answered
	// for longer than the grace.
	inFlight, silent int
	byMember         map[string]int
	// untouched clusters of this rollout.
	untouched int
	// current is the first wave that is not complete; len(Waves) when all are.
	current int
	// begun is the last wave that has begun; -1: none.
	begun int
	// incomplete: clusters are missing, or belong to no wave.
	incomplete bool
	// cutOff says that the hub takes itself for cut off; nil: it does not.
	cutOff *Waiting
	// labour of the wave that was asked for last; nil: none was.
	labour *labour
	// soaks by wave; nil: no wave has one.
	soaks []soak
	// proven is the version per architecture that the canaries proved.
	proven map[string]string
}

func newBoard(f Fleet, now time.Time) *board {
	n := len(f.Waves)
	counts := make([]int, 2*n+len(f.Clusters))
	b := &board{
		Fleet: f, almanac: almanac{now: now}, tallies: make([]tally, n), byMember: make(map[string]int, len(f.Members)),
		seen: counts[:n], moved: counts[n : 2*n], wave: counts[2*n:], catchUp: -1, begun: -1,
	}
	if n > 0 && f.Waves[n-1].CatchUp {
		b.catchUp = n - 1
	}
	for i := range f.Clusters {
		b.count(i)
	}
	for i := range f.Waves {
		b.incomplete = b.incomplete || b.seen[i] < f.Waves[i].Planned
		if b.began(i) {
			b.begun = i
		}
	}
	b.cutOff = b.isolation()
	b.soaks = b.soakings()
	b.advance()
	b.proven = b.prove()
	return b
}

// advance finds the current wave. What a wave that is complete leaves behind is catch-up's from then on.
func (b *board) advance() {
	for b.current < len(b.Waves) && b.complete(b.current) {
		b.leaveBehind(b.current)
		b.current++
	}
}

// waveOf is the wave that a cluster counts in: its own, or catch-up when its own closed before it had ended. -1: it
// names no wave.
func (b *board) waveOf(i int) int { return b.wave[i] }

func (b *board) count(i int) {
	c := &b.Clusters[i]
	flies := c.inFlight()
	if flies {
		b.inFlight++
		b.byMember[c.Member]++
		b.countSilent(c)
	} else if c.pending() {
		b.untouched++
	}
	if c.Wave < 0 || c.Wave >= len(b.Waves) {
		b.incomplete = true
		b.wave[i] = -1
		return
	}
	b.seen[c.Wave]++
	b.wave[i] = c.Wave
	if b.catchUp >= 0 && c.leftBy(b.Waves[c.Wave].ClosedAt) && c.Wave != b.catchUp {
		b.wave[i] = b.catchUp
		b.moved[c.Wave]++
	}
	b.tallies[b.wave[i]].add(c, flies)
}

// tally counts the clusters of one wave.
type tally struct {
	clusters, succeeded, failed, active, pending, deferred, settled int
	// held are those in flight of which no further machine begins, or none has.
	held int
	// skipped were left out; gone are removed or turned out ineligible.
	skipped, gone int
}

func (t *tally) add(c *Cluster, flies bool) {
	t.clusters++
	if flies {
		t.active++
		if c.Phase == Holding || c.pending() && GivesBack(c.Reason) {
			t.held++
		}
	}
	if c.Phase.Ended() && c.settled() {
		t.settled++
	}
	switch c.Phase {
	case Succeeded:
		t.succeeded++
	case Failed:
		t.failed++
	case Deferred:
		t.deferred++
	case Skipped:
		t.skipped++
	case Removed, Ineligible:
		t.gone++
	case Pending, Progressing, Verifying, Holding, "":
		if !flies && c.pending() {
			t.pending++
		}
	}
}

// began: a cluster of the wave has, so that nothing that a start of the wave waits for can keep the whole of it back
// again. Of catch-up only what is stored says so: what is in flight there may have come from other waves.
func (b *board) began(wave int) bool {
	w, t := &b.Waves[wave], &b.tallies[wave]
	if wave == b.catchUp {
		return !w.StartedAt.IsZero() || !w.ClosedAt.IsZero()
	}
	return b.seen[wave] > 0 && (!w.StartedAt.IsZero() || t.active+t.succeeded+t.failed > 0)
}

// ended: every planned cluster has ended, or is put off, and nothing of ours is left.
func (b *board) ended(wave int) bool {
	t := &b.tallies[wave]
	if b.seen[wave] < b.Waves[wave].Planned {
		return false
	}
	return t.settled == t.clusters || t.settled+b.frozenAlone(wave) == t.clusters
}

// complete: the next wave may begin (law 15). A wave with nothing to upgrade passes, and so does one that is closed.
func (b *board) complete(wave int) bool {
	t, w := &b.tallies[wave], &b.Waves[wave]
	switch {
	case wave == b.catchUp:
		return b.caughtUp()
	case !w.ClosedAt.IsZero():
		return true
	case t.clusters == 0:
		return b.ended(wave)
	case t.succeeded == 0 || t.failed > w.MaxFailures:
		return false
	case w.Canary:
		return b.ended(wave) && t.succeeded+t.skipped == t.clusters
	case b.cutOff != nil && t.deferred > 0:
		return false
	}
	return b.ended(wave) || w.DeadlineContinue && b.overdue(wave)
}

// waves is the state of each wave.
func (b *board) waves(phase Phase) []WaveState {
	states := make([]WaveState, 0, len(b.Waves))
	for i := range b.Waves {
		state := b.waveState(i, phase)
		switch phase {
		case PhaseProgressing, PhaseCatchingUp, PhaseAwaitingApproval:
			if i > b.current && state.Phase == WaveWaiting {
				state.Waiting = &Waiting{
					Reason:  ReasonWaitingForWave,
					Message: "wave " + b.Waves[b.current].Name + " is not complete",
				}
			}
		case PhasePlanning, PhasePaused, PhaseHalted, PhaseSucceeded, PhaseCompletedWithFailures, PhaseCancelled,
			PhaseSuperseded:
		}
		states = append(states, state)
	}
	return states
}

func (b *board) waveState(i int, phase Phase) WaveState {
	wave, t := &b.Waves[i], &b.tallies[i]
	state := WaveState{
		Name: wave.Name, Phase: b.wavePhase(i, phase), Planned: wave.Planned, Succeeded: t.succeeded, Failed: t.failed,
		Active: t.active, Pending: t.pending, Skipped: t.skipped + t.gone, Deferred: t.deferred + b.moved[i],
		Approvals: wave.Approvals, Closed: i < b.current,
	}
	if i == b.catchUp {
		state.Planned = t.clusters
	}
	if wave.Approvals > 0 {
		state.ApprovedBy, _ = b.approvals(i)
		state.Approved = len(state.ApprovedBy)
	}
	if b.soaks != nil && i < b.current {
		state.Soaked, state.SoakUntil = b.soaks[i].clock, b.soaks[i].until
	}
	if wave.Deadline > 0 {
		state.Works, state.WorkedUntil = b.works(i)
		state.Works = state.Works && (phase == PhaseProgressing || phase == PhaseCatchingUp || phase == PhaseAwaitingApproval)
		state.DeadlineAt = b.deadlineAt(i, state.Works)
	}
	return state
}

func (b *board) wavePhase(wave int, phase Phase) WavePhase {
	t := &b.tallies[wave]
	switch {
	case wave == b.catchUp:
		return b.catchUpPhase(phase)
	case b.seen[wave] == 0 && b.Waves[wave].Planned == 0:
		return WaveEmpty
	case wave < b.current:
		return WaveSucceeded
	case phase == PhaseHalted && wave == b.current:
		return WaveHalted
	case t.active+t.succeeded+t.failed > 0 || !b.Waves[wave].StartedAt.IsZero():
		return WaveProgressing
	default:
		return WaveWaiting
	}
}
