// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	// rivalSteps bounds how long two engines are interleaved before one of them is left to finish.
	rivalSteps = 400
	// rivalDeaths bounds how often an engine dies meanwhile. A death around a refresh costs its machine an attempt, sent
	// or not; both engines die once more at the end, and the refresh of a-1 fails by itself.
	rivalDeaths   = 4
	rivalAttempts = rivalDeaths + 2 + 1 + 1
)

// rivalPlan has attempts enough that no machine is quarantined for the deaths of engines.
var rivalPlan = protocol.Plan{
	ExpectedVersion: version, MaxConcurrentMachines: simAtOnce, AllowSingleControlPlane: true, MaxAttempts: rivalAttempts,
}.Format()

// rivals are two engines that both take themselves for the leader: each sees changes late, in its own order, and may
// be stopped at each of its calls while the other goes on.
type rivals struct {
	*simulation

	t *rapid.T
	// within: an engine may be stopped within a reconciliation, not between two only.
	within bool
	// deaths so far.
	deaths int
	turns  map[*simEngine]*turn
}

// turn is a reconciliation that has been stopped at a call.
type turn struct {
	resume, stopped chan struct{}
	ended           bool
}

// The Lease lets one engine work. Should it fail to, resourceVersions and the lock still keep each machine to one
// refresh at a time, and the control plane to one machine. For pools that holds between reconciliations only: two
// engines that look and mark at the very same time may each mark one.
func TestFault05_14_C128_C129_TwoEnginesWithStaleCachesRefreshNoMachineTwiceAtOnce(t *testing.T) {
	t.Parallel()
	for name, within := range map[string]bool{"between reconciliations": false, "within reconciliations": true} {
		t.Run(name, func(t *testing.T) {
			conflicts := 0
			rapid.Check(t, func(t *rapid.T) {
				r := newRivals(t, within)
				defer r.end()
				r.interleave()
				r.end()
				r.run(simPatience)
				r.wantUpgraded(rivalPlan)
				r.wantPosts(once("a-1"))
				conflicts += r.conflicts
			})
			if conflicts == 0 {
				t.Error("the engines never got in each other's way: this test tests nothing")
			}
		})
	}
}

func newRivals(t *rapid.T, within bool) *rivals {
	r := &rivals{simulation: upgrade(t), t: t, within: within, turns: map[*simEngine]*turn{}}
	r.onlyControlPlane = within
	for _, owner := range []string{"cp", "a"} {
		r.annotate(simKindOf(owner), owner, map[string]any{protocol.PlanKey: rivalPlan})
	}
	r.start()
	for _, e := range r.engines {
		r.prepare(e)
	}
	return r
}

// prepare makes an engine stop at its calls.
func (r *rivals) prepare(e *simEngine) {
	if !r.within {
		return
	}
	e.pause = func() {
		if t := r.turns[e]; t != nil {
			t.stopped <- struct{}{}
			<-t.resume
		}
	}
}

// interleave lets chance say who is next, and with what.
func (r *rivals) interleave() {
	for range rivalSteps {
		i := rapid.IntRange(0, 1).Draw(r.t, "engine")
		e := r.engines[i]
		switch rapid.SampledFrom([]string{"work", "work", "work", "see", "see", "time", "die"}).Draw(r.t, "does") {
		case "work":
			r.step(e)
		case "see":
			e.see(rapid.IntRange(0, len(e.unseen)).Draw(r.t, "changes"))
		case "time":
			r.advance(r.clock.Now().Add(time.Hour))
		case "die":
			if rapid.IntRange(0, 9).Draw(r.t, "luck") == 0 && r.deaths < rivalDeaths {
				r.deaths++
				r.kill(e)
				r.engines[i] = r.newEngine()
				r.prepare(r.engines[i])
			}
		}
	}
}

// step lets an engine go on to its next call, or begin the next reconciliation.
func (r *rivals) step(e *simEngine) {
	if !r.within {
		e.work()
		return
	}
	t := r.turns[e]
	switch {
	case t != nil:
		t.resume <- struct{}{}
	default:
		t = &turn{resume: make(chan struct{}), stopped: make(chan struct{})}
		r.turns[e] = t
		go func() {
			e.work()
			t.ended = true
			t.stopped <- struct{}{}
		}()
	}
	<-t.stopped
	if t.ended {
		delete(r.turns, e)
	}
}

// kill ends an engine where it is; what it was about to do is not done.
func (r *rivals) kill(e *simEngine) {
	e.dead = true
	for r.turns[e] != nil {
		r.step(e)
	}
}

// end kills both, so that nothing is left stopped; run starts them anew.
func (r *rivals) end() {
	for _, e := range r.engines {
		r.kill(e)
	}
}
