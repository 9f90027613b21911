// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math/rand/v2"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// world is what rollouts share: time, members, and clusters as they stand there.
type world struct {
	now, until time.Time
	queue      queue
	rollouts   []*rollout
	// places by path.
	places map[string]*place
	// silent members, by name.
	silent map[string]bool
	// away: the hub does not run.
	away bool
	// after is what happens at this instant, once it has been decided.
	after []func()
	// scripted events that are still to come.
	scripted int
	// moved is when something last happened besides deciding, and idle how many decisions were made since.
	moved time.Time
	idle  int
	lag   time.Duration
	rand  *rand.Rand
}

// place is a cluster as it stands in its member, whoever upgrades it.
type place struct {
	path, member string
	health       policy.Health
	healthSince  time.Time
	// obstacles are what keeps it from beginning.
	obstacles []obstacle
	// gone: it no longer exists.
	gone bool
	// takes is how long its machines really take; zero: as expected.
	takes time.Duration
	// failing: its next machine to end uses up its attempts.
	failing bool
	// holder has claimed it.
	holder *site
}

// obstacle keeps a cluster from beginning, as its controller reports it.
type obstacle struct {
	phase           policy.ClusterPhase
	reason, message string
	// until it is gone by itself; zero: it is not.
	until time.Time
}

func newWorld(ins []Input) *world {
	first := ins[0]
	w := &world{
		now: first.From, until: first.Until, places: map[string]*place{}, silent: map[string]bool{}, lag: first.Lag,
		rand: rand.New(rand.NewPCG(first.Seed, 22)), moved: first.From,
	}
	if w.until.IsZero() {
		w.until = first.From.AddDate(1, 0, 0)
	}
	for i := range ins {
		w.add(ins[i])
	}
	for _, in := range ins {
		w.schedule(in.Script)
	}
	return w
}

// schedule lets a script happen.
func (w *world) schedule(script []Event) {
	for _, event := range script {
		w.scripted++
		w.queue.put(event.At, func() {
			w.scripted--
			w.moved, w.idle = w.now, 0
			w.befall(event)
		})
	}
}

// touch: the hub can reach a member.
func (w *world) touch(member string) bool { return !w.away && !w.silent[member] }

// soon lets something happen within the lag: at once when there is none.
func (w *world) soon(run func()) {
	if w.lag <= 0 {
		run()
		return
	}
	w.queue.put(w.now.Add(time.Duration(w.rand.Int64N(int64(w.lag)))), run)
}

// play goes from event to event until nothing more happens.
func (w *world) play() {
	for {
		w.queue.run(w.now)
		w.decide()
		if after := w.after; len(after) > 0 {
			w.after = nil
			for _, run := range after {
				run()
			}
			continue
		}
		at, found := w.next()
		if !found || at.After(w.until) || w.through() {
			break
		}
		w.now = at
	}
	for _, r := range w.rollouts {
		r.finish()
	}
}

// next is when something happens or is to be decided; false: never again.
func (w *world) next() (time.Time, bool) {
	at, found := w.queue.next()
	if w.away {
		return at, found
	}
	for _, r := range w.rollouts {
		if r.recheck.After(w.now) && (!found || r.recheck.Before(at)) {
			at, found = r.recheck, true
		}
	}
	return at, found
}

// decide decides until nothing changes any more.
func (w *world) decide() {
	if w.away {
		return
	}
	for again := true; again; {
		again = false
		for _, r := range w.rollouts {
			for r.due() {
				again = true
				r.decide()
			}
		}
	}
	for _, r := range w.rollouts {
		r.narrate()
	}
}

// The longest time, and the most decisions, without any other event after which a play is broken off: what has not
// happened by then waits for something that is not in the script.
const (
	longest = 100 * 24 * time.Hour
	most    = 300
)

// through: everything has ended, or will stand still.
func (w *world) through() bool {
	if w.scripted > 0 {
		return false
	}
	if w.idle > most && w.now.Sub(w.moved) > longest {
		return true
	}
	for _, r := range w.rollouts {
		if !r.ended() && !r.spent() {
			return false
		}
	}
	return true
}
