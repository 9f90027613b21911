// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// drive moves a cluster on: Run, or Hold, under which only what has begun ends.
func (l look) drive() Step {
	o := l.o
	holds := o.Intent == policy.Hold || l.over() || l.started() && l.wished()
	switch {
	case l.marked() && o.Claim.State == ClaimNone:
		return Step{Action: TakeClaim, Phase: policy.Holding, Reason: ReasonStarting, Message: "the claim is gone and is " +
			"taken again"}
	case holds && o.Claim.State == ClaimOurs && l.permitted():
		step := l.held()
		step.Action, step.Until = SetPermission, l.now.Truncate(time.Second)
		return step
	case o.Deleting:
		return l.hold(policy.ReasonClusterDeleting, "the cluster is being deleted")
	case o.Paused:
		return l.hold(policy.ReasonClusterPaused, "the cluster is paused")
	}
	owners := o.inOrder()
	if len(owners) == 0 {
		return l.hold(policy.ReasonOwnerMissing, "the cluster has nothing to upgrade in this order")
	}
	current, found := find(owners, func(o Owner) bool { return !o.done() })
	if !found {
		return l.verify()
	}
	if holds {
		return l.held()
	}
	return l.within(l.advance(current))
}

// over: the time of the intent has passed.
func (l look) over() bool { return !l.o.NotAfter.IsZero() && !l.now.Before(l.o.NotAfter) }

// held is a cluster in which no further machine begins.
func (l look) held() Step {
	switch {
	case l.o.Intent == policy.Hold && l.o.Held.Reason != "":
		step := l.hold(l.o.Held.Reason, "%s", l.o.Held.Message)
		step.WaitUntil, step.Act = l.o.Held.Until, l.o.Held.Until.IsZero()
		return step
	case l.o.Intent == policy.Hold:
		return l.hold(ReasonOnHold, "the rollout holds it: no further machine begins")
	case !l.over():
		return l.heed()
	}
	return l.hold(ReasonIntentEnded, "no machine begins after %s", l.o.NotAfter.UTC().Format(time.RFC3339))
}

// verify reads everything once more, then cleans up.
func (l look) verify() Step {
	step := Step{
		Phase: policy.Verifying, Reason: ReasonSecondRead, Message: "every machine is proven and is read once more",
		AllProven: true,
	}
	if l.o.ProvenSince.IsZero() {
		step.Recheck = l.now
		return step
	}
	if again := l.o.ProvenSince.Add(SecondRead); l.now.Before(again) {
		step.Recheck, step.WaitUntil = again, again
		return step
	}
	step.Reason, step.Message = ReasonSettling, "proven; what is left of ours is being removed"
	return l.windDown(step, Step{
		Phase: policy.Succeeded, Reason: ReasonProven, Message: "every machine is proven in two reads", AllProven: true,
		Versions: l.versionsIf(true),
	})
}

// within puts claim and permission before what a step needs them for.
func (l look) within(step Step) Step {
	if step.Action == "" && step.Phase != policy.Progressing {
		return step
	}
	if l.o.Claim.State != ClaimOurs {
		if step.Action == "" {
			return step
		}
		step.Action, step.Owner, step.Machine = TakeClaim, "", ""
		return step
	}
	if standing, found := find(l.o.Standing, Standing.marked); found {
		return l.retire(step, standing)
	}
	if l.o.PerMachine {
		return step
	}
	until := l.ahead()
	renewal := l.o.StartBefore.Add(-Permission / 2)
	due := !l.now.Before(renewal) && until.After(l.o.StartBefore)
	tooFar := l.o.StartBefore.After(l.now.Add(Permission + Quiet))
	beyond := !l.o.NotAfter.IsZero() && l.o.StartBefore.After(l.o.NotAfter)
	if due || tooFar || beyond {
		step.Action, step.Owner, step.Until = SetPermission, "", until
		return step
	}
	if l.o.NotAfter.IsZero() || l.o.StartBefore.Before(l.o.NotAfter.Truncate(time.Second)) {
		step.Recheck = sooner(step.Recheck, renewal)
	}
	return step
}

// ahead is how far a permission reaches that is given now: one hour, or to the end of the intent.
func (l look) ahead() time.Time {
	until := l.now.Add(Permission)
	if !l.o.NotAfter.IsZero() && l.o.NotAfter.Before(until) {
		until = l.o.NotAfter
	}
	return until.Truncate(time.Second)
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func progressing(reason, format string, args ...any) Step {
	return Step{Phase: policy.Progressing, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
