// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package machine upgrades one machine in place: it sends one refresh, follows it to its end, and tries again a
// bounded number of times. It never sends a refresh while another may be running: what is about to be sent is recorded
// on the Machine first, and where an answer is lost the node's version decides (docs/engine.md).
package machine

import (
	"time"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// Observation is what one look at a machine shows, as plain values.
type Observation struct {
	// Keys of the protocol here.
	Keys protocol.Keys
	// Marks of the protocol on the machine.
	Marks protocol.Marks
	// Attempt on the machine, and what is wrong with it.
	Attempt    protocol.Attempt
	AttemptErr error
	// Plan on the machine, and what is wrong with it.
	Plan    protocol.Plan
	PlanErr error
	// Managed: a hub's holder stands on the machine, so that it begins with the hub's permission only.
	Managed bool
	// Withdrawn: an owner has marked the machine, and does not ask for its target any more.
	Withdrawn bool
	// Foreign: other controllers are asked to upgrade the machine, or keep a change of it.
	Foreign bool
	// StartBefore is the permission on the cluster; zero: none. StartBeforeErr: it cannot be read.
	StartBefore    time.Time
	StartBeforeErr error
	// NodeName and KubeletVersion of its node; empty: not known.
	NodeName, KubeletVersion string
	// Deleting: the machine is going. Paused: it, or its cluster, is.
	Deleting, Paused bool
	// Spread lengthens the pause before the next attempt: in [0, 1), of which a tenth is the share that is added.
	Spread float64
	// Drain is what concerns the drain of its node.
	Drain Draining
	// NextPoll is the earliest instant at which k8sd is asked about the change again.
	NextPoll time.Time
	// Answer of k8sd about the change in this look; nil: not asked yet.
	Answer *Answer
}

// Answer is what came of asking k8sd about a change.
type Answer struct {
	Status k8sd.Status
	Err    error
}

// Action is what to do with a machine.
type Action string

// The actions.
const (
	// Wait: nothing; the machine is looked at again on a change and at Recheck.
	Wait Action = "Wait"
	// Poll: ask k8sd about the change, then decide again.
	Poll Action = "Poll"
	// Drain: ask for the eviction of what is on the node, then decide again.
	Drain Action = "Drain"
	// Uncordon: take back the cordon of the node, then decide again.
	Uncordon Action = "Uncordon"
	// Write: patch the machine.
	Write Action = "Write"
	// Send: patch the machine, which records the intent, and then ask k8sd for a refresh.
	Send Action = "Send"
)

// Reason says why a machine waits.
type Reason string

// The reasons.
const (
	// NothingToDo: no upgrade is asked for.
	NothingToDo Reason = "NothingToDo"
	// Deleting: the machine is being deleted.
	Deleting Reason = "Deleting"
	// Paused: the machine or its cluster is paused.
	Paused Reason = "Paused"
	// NoNode: the machine has no node yet.
	NoNode Reason = "NoNode"
	// NoVersion: the node's kubelet version is not known yet.
	NoVersion Reason = "NoVersion"
	// NotPermitted: the hub's permission to begin machines is absent or over.
	NotPermitted Reason = "NotPermitted"
	// Withdrawn: the owner that marked the machine does not ask for it any more, and is about to free it.
	Withdrawn Reason = "Withdrawn"
	// ForeignUpgrade: other controllers upgrade the machine; it is waited for.
	ForeignUpgrade Reason = "ForeignUpgrade"
	// BackingOff: the next attempt is due at Recheck.
	BackingOff Reason = "BackingOff"
	// Quarantined: the attempts are used up.
	Quarantined Reason = "Quarantined"
	// DrainGoesOn: pods are left on the node; it is looked at again at Recheck.
	DrainGoesOn Reason = "Draining"
	// Settling: the upgrade is done, and the node stays cordoned until it is healthy and of the expected version.
	Settling Reason = "Settling"
	// Running: a change is running; k8sd is asked again at Recheck.
	Running Reason = "Running"
	// NodeSilent: k8sd could not be asked; it is asked again at Recheck.
	NodeSilent Reason = "NodeSilent"
	// Undecided: k8sd does not know what became of the refresh, so the node's version decides, until Recheck.
	Undecided Reason = "Undecided"
	// NotShown: the change is done and the node's version does not show it yet; looked at again until its deadline.
	NotShown Reason = "NotShown"
	// OldChangeRunning: the change of a failed attempt is still running.
	OldChangeRunning Reason = "OldChangeRunning"
)

// Step is the next thing to do for a machine.
type Step struct {
	Action Action
	// Reason of a Wait.
	Reason Reason
	// Recheck is when to look again without a change; zero: on a change only.
	Recheck time.Time
	// Patch of Write and Send.
	Patch member.Patch
	// Events to record once the patch is written.
	Events []member.Event
	// Target and Attempt of a Send.
	Target  protocol.Target
	Attempt protocol.Attempt
}
