// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// advance is the next step for the first owner that is not done.
func (l look) advance(current Owner) Step {
	if !l.begun() {
		if step, hindered := l.hindered(); hindered {
			return step
		}
	}
	switch {
	case !current.Present:
		return l.hold(policy.ReasonOwnerMissing, "%s no longer exists", current.ID())
	case current.Deleting:
		return l.hold(policy.ReasonOwnerPaused, "%s is being deleted", current.ID())
	case current.Paused:
		return l.hold(policy.ReasonOwnerPaused, "%s is paused", current.ID())
	}
	if step, skewed := l.skewed(current); skewed && !current.granted() {
		return step
	}
	if step, unbound := l.unbound(current); unbound && !current.granted() {
		return step
	}
	switch {
	case l.o.PerMachine:
		return l.handOut(current)
	case current.granted():
		return l.progress(current)
	case !current.HasTo && !current.lacking():
		return l.settling(current)
	}
	return l.grant(current)
}

// unbound: the end of the intent was worked out for machines of another role, which may take less time. Who is in flight
// goes on, and is followed.
func (l look) unbound(current Owner) (Step, bool) {
	if l.o.NotAfter.IsZero() || l.o.NotAfterFor == "" || l.o.NotAfterFor == current.Role || !current.lacking() {
		return Step{}, false
	}
	step := progressing(ReasonWindowUnknown, "until when machines of %s may begin is being worked out", current.ID())
	if !l.started() {
		step.Phase = policy.Pending
	}
	step.CurrentMachine, _ = l.o.inFlight()
	return step, true
}

// begun: an owner was granted.
func (l look) begun() bool {
	_, found := find(l.o.Owners, func(o Owner) bool { return o.Ours })
	return found
}

// stopped is what keeps a cluster as a whole from being begun.
func (l look) stopped() (Step, bool) {
	o := l.o
	switch {
	case o.Deleting:
		return l.hold(policy.ReasonClusterDeleting, "the cluster is being deleted"), true
	case o.Paused:
		return l.hold(policy.ReasonClusterPaused, "the cluster is paused"), true
	case l.wished():
		return l.heed(), true
	case l.now.Before(o.NotBefore) && !l.started():
		step := l.hold(ReasonWaiting, "nothing begins before %s (refreshedAfter)", o.NotBefore.UTC().Format(time.RFC3339))
		step.Recheck, step.WaitUntil = o.NotBefore, o.NotBefore
		return step, true
	}
	return Step{}, false
}

// hindered is what keeps a cluster from being begun. Nothing is written to find out, so that it costs nobody a slot.
func (l look) hindered() (Step, bool) {
	o := l.o
	if step, stopped := l.stopped(); stopped {
		return step, true
	}
	for _, owner := range o.inOrder() {
		switch machine, busy := owner.inFlight(); {
		case !owner.Present:
			return l.hold(policy.ReasonOwnerMissing, "%s no longer exists", owner.ID()), true
		case owner.Deleting || owner.Paused:
			return l.hold(policy.ReasonOwnerPaused, "%s is paused or being deleted", owner.ID()), true
		case owner.alone() && !o.AllowSingleControlPlane:
			return l.hold(policy.ReasonSingleControlPlane, "%s has no quorum without one machine, and singleControlPlane is Refuse",
				owner.ID()), true
		case busy && !owner.Ours:
			return l.hold(policy.ReasonForeignUpgrade, "machine %s is being upgraded by somebody else", machine.Name), true
		}
	}
	if l.o.Foreign != "" {
		return l.hold(policy.ReasonForeignUpgrade, "machine %s is being upgraded by somebody else", l.o.Foreign), true
	}
	if first, found := find(o.inOrder(), func(o Owner) bool { return !o.done() }); found {
		if step, skewed := l.skewed(first); skewed {
			return step, true
		}
	}
	if l.o.PerMachine && !l.o.ProviderPresent {
		return l.hold(policy.ReasonProviderAbsent, "no controllers of a provider renew their Lease there"), true
	}
	return l.unhealthy()
}

// unhealthy: nothing begins in a cluster that is not known to be healthy.
func (l look) unhealthy() (Step, bool) {
	switch l.o.Health.Status {
	case True:
		return Step{}, false
	case False:
		return l.hold(policy.ReasonClusterUnhealthy, "%s", cmp.Or(l.o.Health.Message, "the cluster is not healthy")), true
	case Unknown:
	}
	return l.hold(policy.ReasonHealthUnknown, "%s", cmp.Or(l.o.Health.Message, "the health of the cluster is not known")),
		true
}

// grant hands its target to an owner, when nothing speaks against it.
func (l look) grant(current Owner) Step {
	if machine, busy := current.inFlight(); busy && (!current.HasTo || current.To != current.Target) {
		reason := policy.ReasonForeignUpgrade
		if current.Ours {
			reason = ReasonWaitingForMachine
		}
		step := l.hold(reason, "machine %s must end before %s gets another target", machine.Name, current.ID())
		step.CurrentMachine = machine.Name
		return step
	}
	if l.o.Foreign != "" {
		return l.hold(policy.ReasonForeignUpgrade, "machine %s is being upgraded by somebody else", l.o.Foreign)
	}
	if other, found := find(l.o.Owners, func(o Owner) bool { return o.ID() != current.ID() && o.active() }); found {
		step := progressing(ReasonWaitingForOwner, "%s waits for %s", current.ID(), other.ID())
		step.CurrentMachine, _ = l.o.inFlight()
		return step
	}
	if again := current.GrantedAt.Add(Quiet); current.Ours && !current.HasTo && l.now.Before(again) {
		step := progressing(ReasonMachineNotProven, "%s was taken as done and is not proven; it is granted again",
			current.ID())
		step.Recheck, step.WaitUntil = again, again
		return step
	}
	if !current.Ours {
		if step, unhealthy := l.unhealthy(); unhealthy {
			return step
		}
	}
	step := progressing(ReasonStarting, "%s is given %s", current.ID(), current.Target)
	step.Action, step.Owner = GrantOwner, current.ID()
	return cleared(step, current)
}

// cleared puts before a grant that the machines of an owner lose the release that they carry, where each is to be
// refreshed once more: who carries it later on was.
func cleared(step Step, current Owner) Step {
	switch {
	case !current.Stale:
	case slices.ContainsFunc(current.Machines, func(m Machine) bool { return m.Release == current.Target }):
		step.Action, step.Machine = ClearReleases, ""
		step.Message = "the machines of " + current.ID() + " are to be refreshed once more: their release is taken off"
	default:
		step.Cleared = current.ID()
	}
	return step
}

// progress is what a granted owner is doing.
func (l look) progress(current Owner) Step {
	if current.EngineError != "" {
		return progressing(ReasonEngineError, "%s: %s", current.ID(), current.EngineError)
	}
	if machine, busy := current.inFlight(); busy {
		step := progressing(ReasonUpgrading, "%s: machine %s is in flight, %d of %d proven", current.ID(), machine.Name,
			current.proven(), current.Replicas)
		step.CurrentMachine = machine.Name
		return step
	}
	if current.Health.Status == False {
		return progressing(ReasonOwnerUnhealthy, "%s: %s", current.ID(), current.Health.Message)
	}
	if current.EngineWaits != "" {
		return progressing(ReasonEngineWaits, "%s: %s", current.ID(), current.EngineWaits)
	}
	moved := current.MovedAt
	if granted := current.GrantedAt; granted.After(moved) {
		moved = granted
	}
	if moved.IsZero() {
		moved = l.o.StartedAt
	}
	quiet := moved.Add(Quiet)
	if l.now.Before(quiet) {
		step := progressing(ReasonUpgrading, "%s: %d of %d machines proven", current.ID(), current.proven(), current.Replicas)
		step.Recheck = quiet
		return step
	}
	return progressing(ReasonWaitingForEngine, "%s carries its target and nothing has moved since %s", current.ID(),
		moved.UTC().Format(time.RFC3339))
}

// settling is an owner whose machines all carry the target, and which is not done yet.
func (l look) settling(current Owner) Step {
	var step Step
	machine, busy := current.inFlight()
	unproven, found := current.unproven()
	switch {
	case busy:
		step = progressing(ReasonUpgrading, "%s: machine %s is in flight", current.ID(), machine.Name)
		step.CurrentMachine = machine.Name
	case found:
		step = progressing(ReasonMachineNotProven, "%s",
			cmp.Or(unproven.Proven.Message, "machine "+unproven.Name+" is not proven yet"))
	case current.requested():
		step = progressing(ReasonMachineNotProven, "a machine of %s is asked to upgrade once more", current.ID())
	case current.Health.Status == False:
		step = progressing(ReasonOwnerUnhealthy, "%s: %s", current.ID(), current.Health.Message)
	default:
		step = progressing(ReasonOwnerScaling, "%s has %d machines and should have %d", current.ID(), len(current.Machines),
			current.Replicas)
	}
	if !l.started() {
		step.Phase = policy.Pending
	}
	return step
}
