// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// board is a fleet, counted.
type board struct {
	Fleet
	// almanac has the instant of the decision, and what it finds in calendars.
	almanac
	// tallies by wave.
	tallies []tally
	// inFlight clusters of this rollout, and of it by member.
	inFlight int
	byMember map[string]int
	// untouched clusters of this rollout.
	untouched int
	// current is the first wave that is not complete; len(Waves) when all are.
	current int
	// incomplete: clusters are missing, or belong to no wave.
	incomplete bool
	// proven is the version per architecture that the canaries proved.
	proven map[string]string
}

// tally counts the clusters of one wave.
type tally struct {
	clusters, succeeded, failed, active, pending, deferred, settled int
	// skipped were left out; gone are removed or turned out ineligible.
	skipped, gone int
}

func newBoard(f Fleet, now time.Time) *board {
	b := &board{Fleet: f, almanac: almanac{now: now}, tallies: make([]tally, len(f.Waves)), byMember: map[string]int{}}
	for _, c := range f.Clusters {
		b.count(c)
	}
	for i, wave := range f.Waves {
		b.incomplete = b.incomplete || b.tallies[i].clusters < wave.Planned
	}
	for b.current < len(f.Waves) && b.complete(b.current) {
		b.current++
	}
	b.proven = b.prove()
	return b
}

func (b *board) count(c Cluster) {
	if c.inFlight() {
		b.inFlight++
		b.byMember[c.Member]++
	}
	if c.untouched() {
		b.untouched++
	}
	if c.Wave < 0 || c.Wave >= len(b.Waves) {
		b.incomplete = true
		return
	}
	b.tallies[c.Wave].add(c)
}

func (t *tally) add(c Cluster) {
	t.clusters++
	if c.inFlight() {
		t.active++
	}
	if c.settled() {
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
		if c.untouched() {
			t.pending++
		}
	}
}

// ended: every planned cluster has ended and nothing of ours is left.
func (b *board) ended(wave int) bool {
	t := b.tallies[wave]
	return t.clusters >= b.Waves[wave].Planned && t.settled == t.clusters
}

// complete: the next wave may begin (law 15). A wave with nothing to upgrade passes.
func (b *board) complete(wave int) bool {
	t, w := b.tallies[wave], b.Waves[wave]
	switch {
	case !b.ended(wave):
		return false
	case t.clusters == 0:
		return true
	case w.Canary && t.succeeded+t.skipped < t.clusters:
		return false
	default:
		return t.succeeded > 0 && t.failed <= w.MaxFailures
	}
}

// waves is the state of each wave.
func (b *board) waves(phase Phase) []WaveState {
	states := make([]WaveState, 0, len(b.Waves))
	for i, wave := range b.Waves {
		t := b.tallies[i]
		state := WaveState{
			Name: wave.Name, Phase: b.wavePhase(i, phase), Planned: wave.Planned, Succeeded: t.succeeded, Failed: t.failed,
			Active: t.active, Pending: t.pending, Skipped: t.skipped + t.gone, Deferred: t.deferred,
		}
		if phase == PhaseProgressing && i > b.current && state.Phase == WaveWaiting {
			state.Waiting = &Waiting{
				Reason:  ReasonWaitingForWave,
				Message: "wave " + b.Waves[b.current].Name + " is not complete",
			}
		}
		states = append(states, state)
	}
	return states
}

func (b *board) wavePhase(wave int, phase Phase) WavePhase {
	t := b.tallies[wave]
	switch {
	case t.clusters == 0 && b.Waves[wave].Planned == 0:
		return WaveEmpty
	case b.complete(wave):
		return WaveSucceeded
	case phase == PhaseHalted && wave == b.current:
		return WaveHalted
	case t.pending < t.clusters:
		return WaveProgressing
	default:
		return WaveWaiting
	}
}
