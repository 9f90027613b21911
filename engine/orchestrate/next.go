// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// check is one rule; the first that has a step decides.
type check func(o Observation, now time.Time) (Step, bool)

// granted are the rules while an upgrade is asked for; their order is meaning.
var granted = [...]check{
	retire,       // what other controllers would go by is taken off an owner that is ours
	unlock,       // a lock whose machine has ended is given back
	invalid,      // what cannot be read is never copied to machines
	settle,       // machines that ended, or are asked for something else than the owner, are brought in line
	failed,       // a machine that used up its attempts stops its owner
	progress,     // the owner shows that it is at work
	rollingOut,   // machines that are being replaced are not ours to begin, nor is the owner done
	done,         // all machines are proven
	inFlight,     // as many at once as may be
	notProven,    // those before must be healthy and proven
	notReady,     // a control plane must be whole, and stay so with one machine less
	notPermitted, // the hub's permission
	nodesUnknown, // what was asked of nodes must be known
}

// withdrawn are the rules while none is.
var withdrawn = [...]check{
	unlock,     // a lock whose machine is not in flight is given back
	unmark,     // machines that were marked and have not begun are freed
	finishing,  // the machine in flight finishes
	unprogress, // the owner does not show work that nobody does
}

// Next decides what to do for an owner. It is total: every observation has a step.
func Next(o Observation, now time.Time) Step {
	switch {
	case o.Subject.Deleting:
		return wait(Deleting, "")
	case o.Paused:
		return wait(Paused, "")
	case !o.Marks.HasTo:
		return o.shown(first(withdrawn[:], o, now, wait(NothingToDo, "")), now)
	}
	step := first(granted[:], o, now, Step{})
	if step.Action == "" {
		step = begin(o, now)
	}
	if step.Action == Wait && now.Before(o.StartBefore) && (step.Recheck.IsZero() || o.StartBefore.Before(step.Recheck)) {
		step.Recheck = o.StartBefore
	}
	return o.shown(step, now)
}

func first(checks []check, o Observation, now time.Time, otherwise Step) Step {
	for _, c := range checks {
		if step, found := c(o, now); found {
			return step
		}
	}
	return otherwise
}

func wait(r Reason, format string, args ...any) Step {
	return Step{Action: Wait, Reason: r, Message: fmt.Sprintf(format, args...)}
}

// begin marks the first machine that may be.
func begin(o Observation, now time.Time) Step {
	var passed Step
	for _, m := range o.Machines {
		if m.Busy || m.Deleting || m.Paused || o.at(m) || !o.holds(m) {
			continue
		}
		step := o.passOver(m, now)
		if step.Action == "" {
			return o.begin(m)
		}
		if passed.Action == "" {
			passed = step
		}
	}
	if passed.Action != "" {
		return passed
	}
	if len(o.Holders) > 0 {
		return wait(Locked, "machine %s holds the lock", o.Holders[0].Name)
	}
	return o.unfinished()
}

// passOver says why a machine does not begin though its owner may go on.
func (o Observation) passOver(m Machine, now time.Time) Step {
	switch h := m.Health(); {
	case capi.Newer(m.KubeletVersion, o.Plan.ExpectedVersion):
		return wait(WouldDowngrade, "machine %s runs %s, which is newer than %s", m.Name, m.KubeletVersion,
			o.Plan.ExpectedVersion)
	case !h.Good():
		return wait(MachineUnhealthy, "%s", h.Message)
	case m.Cordoned:
		return cordoned(m, now)
	}
	return Step{}
}

// unfinished says why an owner without a machine to begin is not done.
func (o Observation) unfinished() Step {
	if step, busy := o.busy(); busy {
		return step
	}
	for _, m := range o.Machines {
		if v := o.proven(m); !m.Deleting && !v.Good() {
			return wait(MachineNotProven, "%s", v.Message)
		}
	}
	return wait(MachinesMissing, "%d machines, %s expected", len(o.Machines), replicas(o.Subject.Replicas))
}

func invalid(o Observation, now time.Time) (Step, bool) {
	_, err := protocol.ParseTarget(o.Marks.To)
	if err == nil {
		err = o.PlanErr
	}
	if err == nil {
		return Step{}, false
	}
	if o.Marks.Status == protocol.StatusFailed {
		return wait(Invalid, "%s", err), true
	}
	return o.fail("In-place upgrade failed: "+err.Error(), "", wait(Invalid, "%s", err), now), true
}

func failed(o Observation, now time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if !m.Quarantined() {
			continue
		}
		why := wait(MachineQuarantined, "machine %s: %s", m.Name, m.Attempt.LastError)
		if o.Marks.Status == protocol.StatusFailed {
			return why, true
		}
		return o.fail(fmt.Sprintf("In-place upgrade failed for machine %q.", m.Name), m.Name, why, now), true
	}
	return Step{}, false
}

// done needs every machine proven and none missing: no machines are done only where none are wanted.
func done(o Observation, _ time.Time) (Step, bool) {
	machines := int32(0)
	for _, m := range o.Machines {
		if m.Deleting {
			continue
		}
		if m.Busy || !o.proven(m).Good() {
			return Step{}, false
		}
		machines++
	}
	if o.Subject.Replicas == nil || machines < *o.Subject.Replicas {
		return Step{}, false
	}
	return o.finish(), true
}

func progress(o Observation, _ time.Time) (Step, bool) {
	if o.Marks.Status == protocol.StatusInProgress {
		return Step{}, false
	}
	for _, m := range o.Machines {
		if m.Marked() && m.Busy {
			return o.show(m.Name), true
		}
	}
	return Step{}, false
}

// limit is how many machines may be upgraded at once.
func (o Observation) limit() int {
	if o.Subject.Serial {
		return 1
	}
	return o.Plan.WithDefaults().MaxConcurrentMachines
}

// at reports whether a machine needs no refresh: it is at the target and shows it, or has been refreshed to it under
// this owner and will show it.
func (o Observation) at(m Machine) bool {
	return m.Marks.Release == o.Marks.To && (m.Marked() || capi.Fits(m.KubeletVersion, o.Plan.ExpectedVersion))
}

// proven judges a machine. While we keep it from remediation no health check looks at it, so that what one said before
// is no judgement of what runs now; it is looked at again as soon as the machine is proven.
func (o Observation) proven(m Machine) capi.Verdict {
	if m.Protected() {
		m.HealthCheck = capi.Unknown
	}
	return m.Proven(m.Marks.Release, capi.Want{Target: o.Marks.To, Version: o.Plan.ExpectedVersion})
}

// holds reports whether the lock leaves a machine free to begin.
func (o Observation) holds(m Machine) bool {
	for _, h := range o.Holders {
		if !h.Gone {
			return h.Key() == m.Key()
		}
	}
	return true
}

func replicas(n *int32) string {
	if n == nil {
		return "an unknown number"
	}
	return fmt.Sprint(*n)
}

// released reports whether a holder has no use for the lock any more: its machine is gone, or nobody upgrades it and
// the upgrade for which it was taken is over.
func (o Observation) released(h lock.Holder) bool {
	if h.Gone {
		return true
	}
	for _, m := range o.Machines {
		if m.Key() != h.Key() {
			continue
		}
		return !m.Busy && o.mayFree(m) && (!o.Marks.HasTo || o.proven(m).Good())
	}
	return false
}

// mayFree: where other controllers are present, a lock of a machine that we have not marked may be theirs, taken
// just before they mark it.
func (o Observation) mayFree(m Machine) bool {
	return m.Marked() || o.Keys == protocol.KeysFor(protocol.ProviderPrefix)
}
