// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// Intent is what the hub asks for one workload cluster.
type Intent string

// The intents of a cluster.
const (
	// Wait: nothing is written to the cluster.
	Wait Intent = "Wait"
	// Run: machines may begin until the intent's end.
	Run Intent = "Run"
	// Hold: no further machine begins; the one in flight finishes, and marks stay.
	Hold Intent = "Hold"
	// Withdraw: what was granted is taken back, then the claim is released (law 11).
	Withdraw Intent = "Withdraw"
)

// ClusterPhase is how far one workload cluster is in its rollout.
type ClusterPhase string

// The phases of a cluster.
const (
	// Pending: nothing has been granted.
	Pending ClusterPhase = "Pending"
	// Progressing: machines are being upgraded.
	Progressing ClusterPhase = "Progressing"
	// Verifying: every machine is proven once; it is looked at again, then cleaned up.
	Verifying ClusterPhase = "Verifying"
	// Holding: begun, and no further machine begins for the reason given.
	Holding ClusterPhase = "Holding"
	// Succeeded: proven at the target in two reads.
	Succeeded ClusterPhase = "Succeeded"
	// Failed: a machine used up its attempts.
	Failed ClusterPhase = "Failed"
	// Deferred: left for later.
	Deferred ClusterPhase = "Deferred"
	// Ineligible: the target does not suit this cluster; never a failure.
	Ineligible ClusterPhase = "Ineligible"
	// Skipped: taken back, or left out by a person.
	Skipped ClusterPhase = "Skipped"
	// Removed: the cluster no longer exists.
	Removed ClusterPhase = "Removed"
)

// Ended reports whether a phase is a last one.
func (p ClusterPhase) Ended() bool {
	switch p {
	case Succeeded, Failed, Deferred, Ineligible, Skipped, Removed:
		return true
	case Pending, Progressing, Verifying, Holding:
		return false
	}
	return false
}

// Phase is how far a rollout is.
type Phase string

// The phases of a rollout.
const (
	// PhasePlanning: membership is not committed and nothing starts.
	PhasePlanning Phase = "Planning"
	// PhaseAwaitingApproval: the next wave needs a person's word.
	PhaseAwaitingApproval Phase = "AwaitingApproval"
	// PhaseProgressing: clusters are being upgraded, or wait for their turn.
	PhaseProgressing Phase = "Progressing"
	// PhasePaused: stopped by the policy's own brake, until it is lifted.
	PhasePaused Phase = "Paused"
	// PhaseHalted: stopped by a failure. Sticky (law 6).
	PhaseHalted Phase = "Halted"
	// PhaseCatchingUp: the waves are through, stragglers are not.
	PhaseCatchingUp Phase = "CatchingUp"
	// PhaseSucceeded: every wave is complete and nothing failed.
	PhaseSucceeded Phase = "Succeeded"
	// PhaseCompletedWithFailures: every wave is complete, with failures within budget.
	PhaseCompletedWithFailures Phase = "CompletedWithFailures"
	// PhaseCancelled: ended by a person. Sticky.
	PhaseCancelled Phase = "Cancelled"
	// PhaseSuperseded: a newer target took over. Sticky.
	PhaseSuperseded Phase = "Superseded"
)

// WavePhase is how far one wave is.
type WavePhase string

// The phases of a wave.
const (
	// WaveWaiting: none of its clusters has begun.
	WaveWaiting WavePhase = "Waiting"
	// WaveProgressing: it has begun and is not complete.
	WaveProgressing WavePhase = "Progressing"
	// WaveSucceeded: complete, with at least one success and failures within budget.
	WaveSucceeded WavePhase = "Succeeded"
	// WaveEmpty: nothing in it needs an upgrade; it passes.
	WaveEmpty WavePhase = "Empty"
	// WaveHalted: the rollout stopped in this wave.
	WaveHalted WavePhase = "Halted"
)

// Order is which owners of a cluster are upgraded, and in what order.
type Order string

// The orders of owners. The zero value is ControlPlaneFirst.
const (
	// ControlPlaneFirst upgrades the control plane, then the workers.
	ControlPlaneFirst Order = "ControlPlaneFirst"
	// ControlPlaneOnly leaves the workers alone.
	ControlPlaneOnly Order = "ControlPlaneOnly"
	// WorkersOnly leaves the control plane alone.
	WorkersOnly Order = "WorkersOnly"
)
