// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "github.com/windlass-dev/windlass/policy/version"

// Why a rollout is in its phase.
const (
	// ReasonPlanning: membership is not committed yet.
	ReasonPlanning = "Planning"
	// ReasonProgressing: clusters are being upgraded or wait for their turn.
	ReasonProgressing = "Progressing"
	// ReasonPaused: the policy says paused.
	ReasonPaused = "Paused"
	// ReasonUnknownField: the policy has a field that is not known, misspelt perhaps (law 21).
	ReasonUnknownField = "UnknownField"
	// ReasonSucceeded: every wave is complete.
	ReasonSucceeded = "Succeeded"
	// ReasonNothingToDo: no selected cluster needed this target.
	ReasonNothingToDo = "NothingToDo"
	// ReasonFailuresWithinBudget: complete, and some clusters failed.
	ReasonFailuresWithinBudget = "FailuresWithinBudget"
	// ReasonCancelled: a person ended it.
	ReasonCancelled = "Cancelled"
	// ReasonSuperseded: a newer target took over.
	ReasonSuperseded = "Superseded"
	// ReasonCanaryFailed: a canary failed or turned out ineligible (law 7).
	ReasonCanaryFailed = "CanaryFailed"
	// ReasonCanaryRemoved: a canary is gone (law 7).
	ReasonCanaryRemoved = "CanaryRemoved"
	// ReasonFailureBudgetExceeded: more failures in a wave than maxFailures (law 6).
	ReasonFailureBudgetExceeded = "FailureBudgetExceeded"
	// ReasonNothingProven: a wave ended without one success (law 15).
	ReasonNothingProven = "NothingProven"
	// ReasonTargetMoved: a cluster ended on a version that no canary proved (law 7).
	ReasonTargetMoved = "TargetMoved"
)

// Why planning waits.
const (
	// ReasonNoClusters: the policy selects no cluster.
	ReasonNoClusters = "NoClusters"
	// ReasonCanaryNotFound: a canary that the policy names is not among its clusters, or none matched.
	ReasonCanaryNotFound = "CanaryNotFound"
	// ReasonCanaryIneligible: the target does not suit a canary.
	ReasonCanaryIneligible = "CanaryIneligible"
	// ReasonClusterNotFound: a name in clusters or waves matches no cluster.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonLeftOver: selected clusters fall into no wave.
	ReasonLeftOver = "LeftOver"
	// ReasonVersionsUnknown: the versions of a selected cluster are not known.
	ReasonVersionsUnknown = "VersionsUnknown"
	// ReasonInvalidTarget: the target's version cannot be read.
	ReasonInvalidTarget = "InvalidTarget"
	// ReasonInvalidLimit: a limit or percentage of a wave is out of range.
	ReasonInvalidLimit = "InvalidLimit"
	// ReasonInvalidWave: a wave has the name of another, or stands where it means nothing.
	ReasonInvalidWave = "InvalidWave"
)

// Why a cluster is ineligible. Decided at planning; never a failure.
const (
	// ReasonUnsupported: some of its machines cannot be upgraded in place.
	ReasonUnsupported = "Unsupported"
	// ReasonSingleControlPlane: its control plane, of one or two machines, has no quorum without one of them.
	ReasonSingleControlPlane = "SingleControlPlane"
	// ReasonMixedArchitecture: the target is of one architecture and its machines are of several.
	ReasonMixedArchitecture = "MixedArchitecture"
	// ReasonOtherArchitecture: the target is of another architecture.
	ReasonOtherArchitecture = "OtherArchitecture"
	// ReasonMinorUpgradeNotAllowed: it would leave its minor and the policy refuses that.
	ReasonMinorUpgradeNotAllowed = string(version.MinorNotAllowed)
	// ReasonDowngrade: it is ahead of the target, which leaves it alone.
	ReasonDowngrade = string(version.Downgrade)
	// ReasonSkewTooWide: control plane and workers would be too far apart, or a minor would be jumped (law 19).
	ReasonSkewTooWide = string(version.SkewTooWide)
)

// Why a wave's next cluster does not start.
const (
	// ReasonWaitingForWave: an earlier wave is not complete.
	ReasonWaitingForWave = "WaitingForWave"
	// ReasonMaxConcurrency: as many clusters are in flight as the wave allows.
	ReasonMaxConcurrency = "MaxConcurrency"
	// ReasonMemberLimit: as many clusters are in flight in that management cluster as it allows.
	ReasonMemberLimit = "MemberLimit"
	// ReasonPlanIncomplete: fewer clusters are seen than were planned, so limits cannot be counted.
	ReasonPlanIncomplete = "PlanIncomplete"
	// ReasonCanaryDeferred: a canary is left for later, so nothing else starts.
	ReasonCanaryDeferred = "CanaryDeferred"
	// ReasonReturning: its last start is being taken back; it may start again when that is confirmed.
	ReasonReturning = "Returning"
)

// Why one cluster waits. While nothing has been granted to it, such a cluster gives its slot back (see GivesBack).
const (
	// ReasonMemberUnreachable: its management cluster is silent, or not ready.
	ReasonMemberUnreachable = "MemberUnreachable"
	// ReasonAccessReadOnly: its management cluster is registered with access: ReadOnly.
	ReasonAccessReadOnly = "AccessReadOnly"
	// ReasonClaimedByOther: another rollout or hub drives it (law 2).
	ReasonClaimedByOther = "ClaimedByOther"
	// ReasonClusterPaused: its Cluster is paused (law 16).
	ReasonClusterPaused = "ClusterPaused"
	// ReasonClusterDeleting: its Cluster is being deleted.
	ReasonClusterDeleting = "ClusterDeleting"
	// ReasonClusterUnhealthy: it is not healthy, so nothing begins.
	ReasonClusterUnhealthy = "ClusterUnhealthy"
	// ReasonHealthUnknown: its health is not known, which is not healthy (law 3).
	ReasonHealthUnknown = "HealthUnknown"
	// ReasonOwnerMissing: an owner that was planned is gone.
	ReasonOwnerMissing = "OwnerMissing"
	// ReasonOwnerPaused: the next owner is paused or is being deleted.
	ReasonOwnerPaused = "OwnerPaused"
	// ReasonForeignUpgrade: somebody else's upgrade of one of its machines is in flight.
	ReasonForeignUpgrade = "ForeignUpgrade"
	// ReasonControlPlaneBehind: its workers would be newer than its control plane is (law 19).
	ReasonControlPlaneBehind = "ControlPlaneBehind"
	// ReasonProviderAbsent: machines are granted to the controllers of a provider, and none are there.
	ReasonProviderAbsent = "ProviderAbsent"
)

// GivesBack reports whether a cluster that waits for this reason before anything was granted gives its slot back, so
// that others of its wave go on.
func GivesBack(reason string) bool {
	switch reason {
	case ReasonMemberUnreachable, ReasonAccessReadOnly, ReasonClaimedByOther, ReasonClusterPaused, ReasonClusterDeleting,
		ReasonClusterUnhealthy, ReasonHealthUnknown, ReasonSingleControlPlane, ReasonOwnerMissing, ReasonOwnerPaused,
		ReasonForeignUpgrade, ReasonProviderAbsent, ReasonControlPlaneBehind, ReasonSkewTooWide:
		return true
	}
	return false
}

// NeedsAct reports whether a wait for this reason lasts until a person does something.
func NeedsAct(reason string) bool {
	switch reason {
	case ReasonPaused, ReasonUnknownField, ReasonAccessReadOnly, ReasonClusterPaused, ReasonSingleControlPlane, ReasonOwnerMissing,
		ReasonOwnerPaused, ReasonCanaryDeferred, ReasonAwaitingApproval, ReasonApprovalRejected, ReasonWindowTooShort,
		ReasonCalendarNotFound, ReasonCalendarInvalid, ReasonTimeZoneMissing,
		ReasonNoClusters, ReasonCanaryNotFound, ReasonCanaryIneligible, ReasonClusterNotFound, ReasonLeftOver,
		ReasonInvalidTarget, ReasonInvalidLimit, ReasonInvalidWave:
		return true
	}
	return false
}
