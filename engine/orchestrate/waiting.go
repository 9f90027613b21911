// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"time"

	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// isShown reports whether an owner shows that it waits for a reason: all but those that are as it should be, and
// those where nothing may be written.
func isShown(r Reason) bool {
	switch r {
	case NothingToDo, Withdrawing, MachineInFlight, Deleting, Paused:
		return false
	case Invalid, MachineQuarantined, AskedByHand, ForeignUpgrade, RolloutRunning, MachineDeleting, MachineNotProven,
		MachineUnhealthy, MachinesMissing, WouldDowngrade, NotReady, SingleControlPlane, NoQuorum, ControlPlaneInFlight,
		NotPermitted, NodeCordoned, NodesUnknown, Locked:
		return true
	}
	return true
}

// shown turns a wait into the write that makes its reason visible, where that has changed.
func (o Observation) shown(s Step, now time.Time) Step {
	if s.Action != Wait || isShown(s.Reason) && o.Waiting.Reason == string(s.Reason) {
		return s
	}
	p := member.Patch{protocol.WaitingKey: nil}
	if isShown(s.Reason) {
		p[protocol.WaitingKey] = waiting(s, now)
	}
	if len(p.Reduced(o.Subject.Annotations)) == 0 {
		return s
	}
	return Step{Action: WriteOwner, Reason: s.Reason, Message: s.Message, Patch: p}
}

func waiting(s Step, now time.Time) string {
	return protocol.Waiting{Reason: string(s.Reason), Message: s.Message, Since: now}.Format()
}
