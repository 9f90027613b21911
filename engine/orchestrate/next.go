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
	unlock,       // a lock whose machine has ended is given back
	settle,       // machines that ended, or are asked for something else than the owner, are brought in line
	invalid,      // what cannot be read is never copied to machines
	failed,       // a machine that used up its attempts stops its owner
	done,         // all machines are proven
	progress,     // the owner shows that it is at work
	inFlight,     // as many at once as may be
	notProven,    // those before must be healthy and proven
	notReady,     // a control plane must be whole
	notPermitted, // the hub's permission
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
		return first(withdrawn[:], o, now, wait(NothingToDo, ""))
	}
	step := first(granted[:], o, now, Step{})
	if step.Action == "" {
		step = begin(o)
	}
	if step.Action == Wait && now.Before(o.StartBefore) {
		step.Recheck = o.StartBefore
	}
	return step
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
func begin(o Observation) Step {
	unhealthy := ""
	for _, m := range o.Machines {
		if m.Busy || m.Deleting || m.Paused || o.at(m) || !o.holds(m) {
			continue
		}
		if h := m.Health(); !h.Good() {
			unhealthy = h.Message
			continue
		}
		return o.begin(m)
	}
	if unhealthy != "" {
		return wait(MachineUnhealthy, "%s", unhealthy)
	}
	if len(o.Holders) > 0 {
		return wait(Locked, "machine %s holds the lock", o.Holders[0].Name)
	}
	return o.unfinished()
}

// unfinished says why an owner without a machine to begin is not done.
func (o Observation) unfinished() Step {
	for _, m := range o.Machines {
		if v := o.proven(m); !m.Deleting && !v.Good() {
			return wait(MachineNotProven, "%s", v.Message)
		}
	}
	return wait(MachinesMissing, "%d machines, %s expected", len(o.Machines), replicas(o.Subject.Replicas))
}

func invalid(o Observation, _ time.Time) (Step, bool) {
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
	return o.fail("In-place upgrade failed: "+err.Error(), ""), true
}

func failed(o Observation, _ time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if !m.Quarantined() {
			continue
		}
		if o.Marks.Status == protocol.StatusFailed {
			return wait(MachineQuarantined, "machine %s: %s", m.Name, m.Attempt.LastError), true
		}
		return o.fail(fmt.Sprintf("In-place upgrade failed for machine %q.", m.Name), m.Name), true
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

func inFlight(o Observation, _ time.Time) (Step, bool) {
	limit, busy, name := o.limit(), 0, ""
	for _, m := range o.Machines {
		if o.Subject.Serial && m.Deleting {
			return wait(MachineDeleting, "machine %s is being deleted", m.Name), true
		}
		if m.Busy {
			busy, name = busy+1, m.Name
		}
	}
	if busy < limit {
		return Step{}, false
	}
	return wait(MachineInFlight, "machine %s is being upgraded", name), true
}

func notProven(o Observation, _ time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if m.Deleting || m.Busy {
			continue
		}
		if v := o.proven(m); m.Marked() && m.Marks.Release == o.Marks.To && !v.Good() {
			return wait(MachineNotProven, "%s", v.Message), true
		}
		if h := m.Health(); o.Subject.Serial && !h.Good() {
			return wait(MachineUnhealthy, "%s", h.Message), true
		}
	}
	return Step{}, false
}

func notReady(o Observation, _ time.Time) (Step, bool) {
	switch {
	case !o.Subject.Ready.Good():
		return wait(NotReady, "%s", o.Subject.Ready.Message), true
	case o.Subject.Serial && len(o.Machines) == 1 && !o.Plan.AllowSingleControlPlane:
		return wait(SingleControlPlane, "the plan does not allow a control plane of one machine to be upgraded"), true
	case o.ControlPlaneBusy != "":
		return wait(ControlPlaneInFlight, "control plane machine %s is being upgraded", o.ControlPlaneBusy), true
	}
	return Step{}, false
}

// notPermitted: permission that is there must not be over, and an owner with a plan, which is a hub's, needs it.
func notPermitted(o Observation, now time.Time) (Step, bool) {
	_, planned := o.Subject.Annotations[protocol.PlanKey]
	switch {
	case o.StartBeforeErr != nil:
		return wait(NotPermitted, "%s", o.StartBeforeErr), true
	case o.StartBefore.IsZero() && planned:
		return wait(NotPermitted, "the cluster has no annotation %s", protocol.StartBeforeKey), true
	case !o.StartBefore.IsZero() && !now.Before(o.StartBefore):
		return wait(NotPermitted, "machines may begin before %s only", o.StartBefore.Format(time.RFC3339)), true
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

func (o Observation) proven(m Machine) capi.Verdict {
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
