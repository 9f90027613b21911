// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package orchestrate hands the target of an owner to its machines: one control plane machine at a time, a bounded
// number of workers, the next only when those before are healthy and proven. One orchestrator serves every kind of
// owner; what differs is said by an Owner.
//
// An owner that is withdrawn, or whose time is over, stops at a machine boundary: the machine in flight finishes and
// no other begins.
package orchestrate

import (
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// Observation is what one look at an owner and its machines shows, as plain values.
type Observation struct {
	// Keys of the protocol here.
	Keys protocol.Keys
	// Subject is the owner; Marks are the protocol's on it.
	Subject Subject
	Marks   protocol.Marks
	// Plan on the owner, and what is wrong with it.
	Plan    protocol.Plan
	PlanErr error
	// Paused: the owner or its cluster is.
	Paused bool
	// RollsOut says why the owner is replacing its machines; empty: it is not.
	RollsOut string
	// Waiting is what the owner says it waits for.
	Waiting protocol.Waiting
	// Machines that it owns, in the order in which they are upgraded.
	Machines []Machine
	// ControlPlaneAsked names the control plane of the cluster while it is asked to upgrade; for workers only.
	ControlPlaneAsked string
	// ControlPlaneBusy names a control plane machine of the cluster that is being upgraded; for workers only.
	ControlPlaneBusy string
	// StartBefore is the permission on the cluster; zero: none. StartBeforeErr: it cannot be read.
	StartBefore    time.Time
	StartBeforeErr error
	// Holders of the cluster's lock; for owners that need it only.
	Holders []lock.Holder
	// NodesErr: whether nodes are cordoned was asked, and is not known.
	NodesErr error
}

// Machine is a machine of the owner.
type Machine struct {
	capi.Machine

	// Marks of the protocol under the engine's prefix, and the attempt.
	Marks   protocol.Marks
	Attempt protocol.Attempt
	// InFlight: a refresh was sent and has not been seen to end.
	InFlight bool
	// Busy: it is in flight or asked to upgrade, by whomever.
	Busy bool
	// Foreign: it is asked, or keeps a change, under the prefix that is not the engine's here.
	Foreign bool
	// Cordoned: its node is. Asked right before a machine begins only.
	Cordoned bool
}

// Marked reports whether an owner has marked the machine: the plan stands on it from then to its proof.
func (m Machine) Marked() bool {
	_, found := m.Annotations[protocol.PlanKey]
	return found
}

// Protected reports whether we have set skip-remediation on the machine.
func (m Machine) Protected() bool {
	_, found := m.Annotations[protocol.SkipRemediationKey]
	return found
}

// Quarantined reports whether the machine has used up its attempts at what it is asked for.
func (m Machine) Quarantined() bool {
	return m.Marks.HasTo && m.Attempt.Quarantined && m.Attempt.Target == m.Marks.To
}

// Action is what to do.
type Action string

// The actions.
const (
	// Wait: nothing; the owner is looked at again on a change and at Recheck.
	Wait Action = "Wait"
	// Begin: take the lock where one is needed, mark Machine and show it on the owner.
	Begin Action = "Begin"
	// WriteMachine: patch Machine.
	WriteMachine Action = "WriteMachine"
	// WriteOwner: patch the owner.
	WriteOwner Action = "WriteOwner"
	// Unlock: give back the lock that Holder holds.
	Unlock Action = "Unlock"
)

// Reason says why an owner waits.
type Reason string

// The reasons.
const (
	// NothingToDo: no upgrade is asked for and nothing is left of one.
	NothingToDo Reason = "NothingToDo"
	// Deleting: the owner is being deleted.
	Deleting Reason = "Deleting"
	// Paused: the owner or its cluster is paused.
	Paused Reason = "Paused"
	// Withdrawing: no upgrade is asked for any more, and a machine in flight finishes.
	Withdrawing Reason = "Withdrawing"
	// Invalid: the target or the plan cannot be read.
	Invalid Reason = protocol.WaitingInvalid
	// MachineQuarantined: a machine has used up its attempts.
	MachineQuarantined Reason = "MachineQuarantined"
	// MachineInFlight: as many machines as may be are being upgraded.
	MachineInFlight Reason = "MachineInFlight"
	// AskedByHand: as MachineInFlight, but a machine among them is asked, or keeps a change, not by this owner.
	AskedByHand Reason = "AskedByHand"
	// ForeignUpgrade: as MachineInFlight, but a machine among them is asked under the other prefix.
	ForeignUpgrade Reason = "ForeignUpgrade"
	// RolloutRunning: the owner is replacing its machines, which is not ours to disturb.
	RolloutRunning Reason = "RolloutRunning"
	// WouldDowngrade: a machine runs a later minor than is asked for; it is never begun.
	WouldDowngrade Reason = "WouldDowngrade"
	// NodeCordoned: a node is cordoned that must not be when a machine begins.
	NodeCordoned Reason = "NodeCordoned"
	// NodesUnknown: whether nodes are cordoned could not be found out.
	NodesUnknown Reason = "NodesUnknown"
	// NoQuorum: a control plane of two machines loses its quorum with one of them, and the plan does not allow that.
	NoQuorum Reason = "NoQuorum"
	// MachineDeleting: a control plane machine is being deleted.
	MachineDeleting Reason = "MachineDeleting"
	// MachineNotProven: a machine that has ended is not healthy, or does not run the expected version, yet.
	MachineNotProven Reason = "MachineNotProven"
	// MachineUnhealthy: a machine that is not healthy is not begun, nor, in a control plane, another beside it.
	MachineUnhealthy Reason = "MachineUnhealthy"
	// MachinesMissing: the owner has fewer machines than it should.
	MachinesMissing Reason = "MachinesMissing"
	// NotReady: not all replicas of the control plane are ready.
	NotReady Reason = "NotReady"
	// SingleControlPlane: the plan does not allow a control plane of one machine to be upgraded.
	SingleControlPlane Reason = "SingleControlPlane"
	// ControlPlaneInFlight: a control plane machine of the cluster is being upgraded.
	ControlPlaneInFlight Reason = "ControlPlaneInFlight"
	// NotPermitted: the hub's permission to begin machines is absent or over.
	NotPermitted Reason = "NotPermitted"
	// Locked: another machine holds the cluster's lock.
	Locked Reason = "Locked"
)

// Step is the next thing to do for an owner.
type Step struct {
	Action Action
	// Reason and Message of a Wait, for people.
	Reason  Reason
	Message string
	// Recheck is when to look again without a change; zero: on a change only.
	Recheck time.Time
	// Machine is the name of the machine of Begin and WriteMachine.
	Machine string
	// Holder of Unlock.
	Holder lock.Holder
	// Patch of the machine in Begin and WriteMachine, of the owner in WriteOwner; OwnerPatch of the owner in Begin.
	Patch, OwnerPatch member.Patch
	// Events of the owner, to record once the patches are written.
	Events []member.Event
}
