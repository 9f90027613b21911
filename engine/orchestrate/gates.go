// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"time"

	"github.com/windlass-dev/windlass/engine/protocol"
)

// askNodesAgain is the pause before nodes are asked again: they are not watched.
const askNodesAgain = 15 * time.Second

func rollingOut(o Observation, _ time.Time) (Step, bool) {
	if o.RollsOut == "" {
		return Step{}, false
	}
	return wait(RolloutRunning, "%s", o.RollsOut), true
}

func inFlight(o Observation, _ time.Time) (Step, bool) {
	busy := 0
	for _, m := range o.Machines {
		if o.Subject.Serial && m.Deleting {
			return wait(MachineDeleting, "machine %s is being deleted", m.Name), true
		}
		if m.Busy {
			busy++
		}
	}
	if busy < o.limit() {
		return Step{}, false
	}
	return o.busy()
}

// busy names a machine that is being upgraded, one that somebody else asked first.
func (o Observation) busy() (Step, bool) {
	var step Step
	for _, m := range o.Machines {
		switch {
		case !m.Busy:
		case m.Foreign:
			return wait(ForeignUpgrade, "machine %s is upgraded by other controllers", m.Name), true
		case !m.Marked() && m.Marks.Busy():
			step = wait(AskedByHand, "machine %s is asked, or keeps a change id, that this owner has not set", m.Name)
		case step.Action == "":
			step = wait(MachineInFlight, "machine %s is being upgraded", m.Name)
		}
	}
	return step, step.Action != ""
}

func notProven(o Observation, now time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if m.Deleting || m.Busy {
			continue
		}
		if v := o.proven(m); m.Marked() && m.Marks.Release == o.Marks.To && !v.Good() {
			return wait(MachineNotProven, "%s", v.Message), true
		}
		if step := unwell(m, now); o.Subject.Serial && step.Action != "" {
			return step, true
		}
	}
	return Step{}, false
}

// unwell says what is wrong with a control plane machine, so that no other may be taken down beside it.
func unwell(m Machine, now time.Time) Step {
	h, etcd := m.Health(), m.Etcd()
	switch {
	case !h.Good():
		return wait(MachineUnhealthy, "%s", h.Message)
	case !etcd.Good():
		return wait(MachineUnhealthy, "%s", etcd.Message)
	case m.Cordoned:
		return cordoned(m, now)
	}
	return Step{}
}

func cordoned(m Machine, now time.Time) Step {
	step := wait(NodeCordoned, "node %s of machine %s is cordoned", m.NodeName, m.Name)
	step.Recheck = now.Add(askNodesAgain)
	return step
}

func nodesUnknown(o Observation, now time.Time) (Step, bool) {
	if o.NodesErr == nil {
		return Step{}, false
	}
	step := wait(NodesUnknown, "whether nodes are cordoned is not known: %s", o.NodesErr)
	step.Recheck = now.Add(askNodesAgain)
	return step, true
}

func notReady(o Observation, _ time.Time) (Step, bool) {
	n := len(o.Machines)
	switch {
	case !o.Subject.Ready.Good():
		return wait(NotReady, "%s", o.Subject.Ready.Message), true
	case o.ControlPlaneBusy != "":
		return wait(ControlPlaneInFlight, "control plane machine %s is being upgraded", o.ControlPlaneBusy), true
	case o.ControlPlaneAsked != "": // workers are never newer than the control plane (law 19)
		return wait(ControlPlaneInFlight, "control plane %s is asked to upgrade, and goes first", o.ControlPlaneAsked), true
	case !o.Subject.Serial, o.Plan.AllowSingleControlPlane, quorate(n-1, n):
		return Step{}, false
	case n == 1:
		return wait(SingleControlPlane, "the plan does not allow a control plane of one machine to be upgraded"), true
	}
	return wait(NoQuorum, "%d of %d control plane machines are no quorum, and the plan does not allow that", n-1, n), true
}

// quorate reports whether some members of all are a majority of them.
func quorate(some, all int) bool { return 2*some > all }

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
