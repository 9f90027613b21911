// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/version"
)

// handOut is the next step for an owner whose machines are granted one by one.
func (l look) handOut(current Owner) Step {
	atWork := l.atWork(current)
	for _, m := range atWork {
		if l.ready(m) {
			return l.ask(current, m)
		}
	}
	if other, found := find(l.o.Owners, func(o Owner) bool { return o.ID() != current.ID() && len(l.atWork(o)) > 0 }); found {
		step := progressing(ReasonWaitingForOwner, "%s waits for %s", current.ID(), other.ID())
		step.CurrentMachine = l.atWork(other)[0].Name
		return step
	}
	limit := 1
	if current.Role != ControlPlane {
		limit = max(l.o.Limits.MaxConcurrentMachines, 1)
	}
	next, found := find(current.Machines, func(m Machine) bool {
		return l.trails[m.Name].stage == untouched && !m.Proven.Good() && (m.Release != current.Target || current.behind(m))
	})
	switch {
	case len(atWork) >= limit, len(atWork) > 0 && !found:
		return l.working(current, atWork[0])
	case found:
		return l.ask(current, next)
	}
	return l.settling(current)
}

// atWork are the machines of an owner that were granted and are not proven yet.
func (l look) atWork(o Owner) []Machine {
	return slices.DeleteFunc(slices.Clone(o.Machines), func(m Machine) bool {
		s := l.trails[m.Name].stage
		return s == untouched || s == strange
	})
}

// ready: its next attempt may begin, as far as its own past says. What is in flight beyond the last attempt is not
// followed, since that would begin one more.
func (l look) ready(m Machine) bool {
	t := l.trails[m.Name]
	return (t.stage == resting || t.stage == adrift) && !l.spent(t) && !l.now.Before(t.record.due(l.o.Limits.Backoff)) &&
		(t.stage == adrift || t.record.Attempts < max(l.o.Limits.MaxAttempts, 1))
}

// ask grants a machine, or says what speaks against it now.
func (l look) ask(current Owner, m Machine) Step {
	if step, hindered := l.unfit(current, m); hindered {
		step.CurrentMachine = m.Name
		return step
	}
	action, text := GrantMachine, "machine %s of %s is given %s"
	if l.trails[m.Name].stage == adrift {
		action, text = FollowMachine, "machine %s of %s is given %s once more, so that its change is followed"
	}
	step := progressing(ReasonStarting, text, m.Name, current.ID(), current.Target)
	step.Action, step.Owner, step.Machine, step.CurrentMachine = action, current.ID(), m.Name, m.Name
	return cleared(step, current)
}

// unfit is what speaks against beginning a machine now: order, quorum and health are the hub's (faults 5, 9b, 15, 16).
func (l look) unfit(current Owner, m Machine) (Step, bool) {
	if step, hindered := l.barred(current, m); hindered {
		return step, true
	}
	if sick, found := l.sick(m); found {
		return l.hold(policy.ReasonClusterUnhealthy, "%s", sick), true
	}
	if r := l.trails[m.Name].record; r.Attempts > 0 || r.Failures > 0 {
		return Step{}, false // its own ill health does not keep it from another attempt
	}
	if current.Role == ControlPlane && !current.Health.Good() {
		return l.hold(policy.ReasonClusterUnhealthy, "%s",
			cmp.Or(current.Health.Message, current.ID()+" is not known to be healthy")), true
	}
	if slices.ContainsFunc(l.atWork(current), func(other Machine) bool { return other.Name != m.Name }) {
		return Step{}, false // those at work may be away; the others were looked at
	}
	return l.unhealthy()
}

// barred is what speaks against beginning a machine whatever its health: somebody else at work, machines that come and
// go, versions that do not fit.
func (l look) barred(current Owner, m Machine) (Step, bool) {
	foreign, strangers := l.strangers()
	rolling := l.rolling()
	switch {
	case strangers:
		return l.hold(policy.ReasonForeignUpgrade, "machine %s is being upgraded by somebody else", foreign), true
	case !l.o.ProviderPresent:
		return l.hold(policy.ReasonProviderAbsent, "no controllers of a provider renew their Lease there"), true
	case rolling != "":
		return l.hold(ReasonRolloutDetected, "%s; none is upgraded in place meanwhile", rolling), true
	case len(current.Machines) != current.Replicas:
		return l.hold(ReasonOwnerScaling, "%s has %d machines and should have %d", current.ID(), len(current.Machines),
			current.Replicas), true
	case m.Paused:
		return l.hold(policy.ReasonOwnerPaused, "machine %s is paused", m.Name), true
	case version.Newer(m.Kubelet, current.Version) && !current.fits(m):
		return l.hold(policy.ReasonDowngrade, "machine %s runs %s, which %s would take back", m.Name, m.Kubelet,
			current.Target), true
	case current.alone() && !l.o.AllowSingleControlPlane:
		return l.hold(policy.ReasonSingleControlPlane, "%s has no quorum without one machine, and singleControlPlane is Refuse",
			current.ID()), true
	}
	return Step{}, false
}

// rolling says why machines of the cluster are being replaced.
func (l look) rolling() string {
	for _, o := range l.o.Owners {
		if o.Rolling != "" {
			return o.Rolling
		}
		if m, found := find(o.Machines, func(m Machine) bool { return m.Deleting }); found {
			return "machine " + m.Name + " of " + o.ID() + " is being deleted"
		}
	}
	return ""
}

// strangers is a machine that somebody else upgrades.
func (l look) strangers() (string, bool) {
	for _, o := range l.o.Owners {
		for _, m := range o.Machines {
			if l.trails[m.Name].stage == strange {
				return m.Name, true
			}
		}
	}
	return l.o.Foreign, l.o.Foreign != ""
}

// sick is what is not known to be healthy beside a machine and those that are at work in its pool.
func (l look) sick(but Machine) (string, bool) {
	for _, o := range l.o.Owners {
		for _, m := range o.Machines {
			if m.Name != but.Name && l.trails[m.Name].stage == untouched && !m.Health.Good() {
				return cmp.Or(m.Health.Message, "the health of machine "+m.Name+" is not known"), true
			}
		}
	}
	return "", false
}

// working is what a granted machine is doing.
func (l look) working(current Owner, m Machine) Step {
	t := l.trails[m.Name]
	var step Step
	switch t.stage {
	case asked:
		step = progressing(ReasonStarting, "machine %s is asked for, and no change has begun", m.Name)
		if !l.now.Before(t.record.At.Add(Quiet)) {
			step.Reason = ReasonProviderWaiting
		}
	case resting, adrift:
		due := t.record.due(l.o.Limits.Backoff)
		step = progressing(ReasonBackOff, "machine %s failed after %d attempts and is asked for again", m.Name,
			t.record.Attempts)
		if due.After(l.now) {
			step.WaitUntil = due
		}
	case reached:
		step = progressing(ReasonMachineNotProven, "%s", cmp.Or(m.Proven.Message, "machine "+m.Name+" is not proven yet"))
	case moving, failing, untouched, strange:
		step = progressing(ReasonUpgrading, "%s: machine %s is in flight, %d of %d proven", current.ID(), m.Name,
			current.proven(), current.Replicas)
	}
	step.CurrentMachine = m.Name
	return step
}
