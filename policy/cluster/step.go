// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// Action is what to do on the member.
type Action string

// The actions. Each is safe to repeat.
const (
	// None: nothing.
	None Action = "None"
	// TakeClaim writes our claim on the Cluster, if no valid one is there.
	TakeClaim Action = "TakeClaim"
	// SetPermission writes start-before.
	SetPermission Action = "SetPermission"
	// GrantOwner writes target, plan and holder on an owner.
	GrantOwner Action = "GrantOwner"
	// WithdrawOwner removes what GrantOwner wrote.
	WithdrawOwner Action = "WithdrawOwner"
	// Settle removes what is left of ours: plan and holder on owners, marks on machines that are not in flight, and
	// start-before.
	Settle Action = "Settle"
	// ReleaseClaim gives the cluster back.
	ReleaseClaim Action = "ReleaseClaim"
	// RetireOwner takes off an owner what the controllers of a provider would obey. Store its release before.
	RetireOwner Action = "RetireOwner"
	// ClearReleases takes the target's release off an owner and its machines, so that each is refreshed once more.
	ClearReleases Action = "ClearReleases"
	// ReturnRelease gives an owner the release back that was taken off it.
	ReturnRelease Action = "ReturnRelease"
	// GrantMachine writes its owner's target and the holder on a machine, and removes every mark of before.
	GrantMachine Action = "GrantMachine"
	// FollowMachine writes the target and the holder on a machine and leaves the change that is in flight.
	FollowMachine Action = "FollowMachine"
	// RevokeMachine removes the target from a machine; ClearMachine removes the change with it.
	RevokeMachine Action = "RevokeMachine"
	ClearMachine  Action = "ClearMachine"
	// RecordRelease writes down that a machine has reached its owner's target, and removes every other mark.
	RecordRelease Action = "RecordRelease"
)

// Why a cluster is in its phase, besides the reasons of package policy.
const (
	// ReasonWaiting: its turn has not come.
	ReasonWaiting = "Waiting"
	// ReasonOnHold: the hub holds it.
	ReasonOnHold = "OnHold"
	// ReasonIntentEnded: the time in which machines may begin is over.
	ReasonIntentEnded = "IntentEnded"
	// ReasonWindowUnknown: until when machines of the role that is next may begin is being worked out.
	ReasonWindowUnknown = "WindowUnknown"
	// ReasonStarting: claim, permission or an owner's grant is being written.
	ReasonStarting = "Starting"
	// ReasonUpgrading: a machine is in flight.
	ReasonUpgrading = "Upgrading"
	// ReasonWaitingForEngine: granted, and nothing has moved for a minute.
	ReasonWaitingForEngine = "WaitingForEngine"
	// ReasonEngineWaits: the engine says what it waits for before the next machine begins.
	ReasonEngineWaits = "EngineWaits"
	// ReasonEngineError: the engine says what is wrong with an owner.
	ReasonEngineError = "EngineError"
	// ReasonWaitingForMachine: a machine in flight must end first.
	ReasonWaitingForMachine = "WaitingForMachine"
	// ReasonWaitingForOwner: another owner of this cluster is being upgraded.
	ReasonWaitingForOwner = "WaitingForOwner"
	// ReasonOwnerUnhealthy: the owner at work is not healthy.
	ReasonOwnerUnhealthy = "OwnerUnhealthy"
	// ReasonOwnerScaling: the owner has more or fewer machines than it should.
	ReasonOwnerScaling = "OwnerScaling"
	// ReasonMachineNotProven: a machine carries the target and is not proven yet.
	ReasonMachineNotProven = "MachineNotProven"
	// ReasonSecondRead: everything is proven and is read once more.
	ReasonSecondRead = "SecondRead"
	// ReasonSettling: what is left of ours is being removed.
	ReasonSettling = "Settling"
	// ReasonMachineQuarantined: a machine used up its attempts.
	ReasonMachineQuarantined = "MachineQuarantined"
	// ReasonWithdrawing: what was granted is being taken back.
	ReasonWithdrawing = "Withdrawing"
	// ReasonWithdrawn: taken back.
	ReasonWithdrawn = "Withdrawn"
	// ReasonProven: proven at the target in two reads.
	ReasonProven = "Proven"
	// ReasonOwnerArmed: an owner has a release that one of its machines lacks; it is taken off before anything else.
	ReasonOwnerArmed = "OwnerArmed"
	// ReasonRolloutDetected: machines of an owner are being replaced; none is upgraded in place meanwhile (case C114).
	ReasonRolloutDetected = "RolloutDetected"
	// ReasonMachineFailed: an attempt failed; its request is taken back.
	ReasonMachineFailed = "MachineFailed"
	// ReasonBackOff: a machine that failed waits for its next attempt.
	ReasonBackOff = "BackOff"
	// ReasonProviderWaiting: a machine was granted and the provider has begun nothing for a minute.
	ReasonProviderWaiting = "ProviderWaiting"
	// ReasonProgressDeadlineExceeded: work was allowed for as long as progressDeadline and no machine ended.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonClusterRemoved: the cluster no longer exists.
	ReasonClusterRemoved = "ClusterRemoved"
)

// Step is the next thing to do for one cluster, and what to show meanwhile.
type Step struct {
	// Action to carry out now.
	Action Action
	// Owner that the action is about, as Owner.ID.
	Owner string
	// Machine that the action is about.
	Machine string
	// Leftovers are the machines that Settle clears.
	Leftovers []string
	// Records of the machines that are granted one by one. Store them before the action is carried out.
	Records map[string]Record
	// Until is the instant that SetPermission writes, in whole seconds.
	Until time.Time
	// Phase, Reason and Message of the cluster.
	Phase           policy.ClusterPhase
	Reason, Message string
	// WaitUntil is when the wait ends by time alone; zero: by an event, or see Act.
	WaitUntil time.Time
	// Act: it lasts until a person acts.
	Act bool
	// CurrentMachine is the machine in flight, or the one that failed.
	CurrentMachine string
	// LastError is the last thing said about a failure.
	LastError string
	// Cleared is an owner, as Owner.ID, none of whose machines carries its target's release by now. Store the time before the
	// action is carried out: Owner.Stale is so until then.
	Cleared string
	// Works: work is allowed, so that the time of progressDeadline counts (see Observation.Worked).
	Works bool
	// Wished: the wish of the cluster's owner is being honoured, or was for as long as may be. The caller stores the time of
	// the first Step with it as WishSince, and forgets it at the first without.
	Wished bool
	// AllProven: every machine is proven, in this look.
	AllProven bool
	// Starts: the action is the first write to this cluster. Store StartedAt before carrying it out.
	Starts bool
	// Settled: nothing of ours is on the member.
	Settled bool
	// Versions is the kubelet version reached per architecture, when Succeeded: the highest.
	Versions map[string]string
	// Recheck is when to look again without an event; zero: never. Not after now: at once, when the action is carried
	// out and the status written. For every instant before Recheck the step is the same.
	Recheck time.Time
}

// Wait is how long to wait until Recheck: 0 without one, else at least a millisecond.
func (s Step) Wait(now time.Time) time.Duration {
	if s.Recheck.IsZero() {
		return 0
	}
	return max(s.Recheck.Sub(now), time.Millisecond)
}

// String is one line for logs.
func (s Step) String() string {
	text := fmt.Sprintf("%s(%s)", s.Phase, s.Reason)
	if s.Action != None {
		text += " do=" + string(s.Action)
	}
	if s.Owner != "" {
		text += " owner=" + s.Owner
	}
	if s.CurrentMachine != "" {
		text += " machine=" + s.CurrentMachine
	}
	return text
}
