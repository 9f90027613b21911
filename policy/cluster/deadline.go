// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// works: work on the cluster is allowed, so that its time counts (law 13). Whatever else it waits for counts too: that is
// what a deadline is for.
func (l look) works() bool {
	o := l.o
	return o.Intent == policy.Run && !l.over() && o.Reachable && o.Access && o.Present && !o.Deleting && !o.Paused &&
		o.Claim.State != ClaimOther && !Final(o.Phase) && l.started() && !l.wished()
}

// late: work was allowed for as long as progressDeadline, and no machine ended. What is being verified is not late.
func (l look) late() bool {
	if l.o.ProgressDeadline <= 0 || l.o.Worked.At(l.now) < l.o.ProgressDeadline || !l.works() {
		return false
	}
	_, unfinished := find(l.o.inOrder(), func(o Owner) bool { return !o.done() })
	return unfinished
}

// giveUp takes back a cluster that is late.
func (l look) giveUp() Step {
	step := Step{
		Phase: policy.Failed, Reason: ReasonProgressDeadlineExceeded,
		Message: fmt.Sprintf("no machine has ended while work was allowed for %s (progressDeadline)", l.o.ProgressDeadline),
	}
	step.CurrentMachine, _ = l.o.inFlight()
	return l.windDown(step, step)
}

// clocks adds to a step whose time counts, and the instants at which time alone may change it.
func (l look) clocks(step *Step) {
	step.Works = l.works()
	step.Wished = l.o.Reachable && l.o.Present && l.wishCounts()
	if step.Action != None {
		return
	}
	times := []time.Time{l.wishLimit(), l.o.Wish.DeferUntil}
	if l.o.Intent == policy.Run {
		times = append(times, l.o.NotAfter)
	}
	if w := l.o.Worked; l.o.ProgressDeadline > 0 && !w.Since.IsZero() && l.works() {
		times = append(times, w.Since.Add(l.o.ProgressDeadline-w.Elapsed))
	}
	for _, t := range times {
		if t.After(l.now) {
			step.Recheck = sooner(step.Recheck, t)
		}
	}
}
