// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types. Ready, Reconciling and Stalled are those that kstatus knows, so that `kubectl wait`, Flux and Argo CD
// understand every kind. Unknown always means that it could not be seen, never that it is well.
const (
	// ReadyCondition sums an object up. ManagementCluster: it can be worked with. RolloutPolicy: accepted, its references
	// resolve, planned. Rollout and ClusterUpgrade: succeeded.
	ReadyCondition = "Ready"
	// ReconcilingCondition is True while a Rollout or ClusterUpgrade progresses.
	ReconcilingCondition = "Reconciling"
	// StalledCondition is True where a Rollout or ClusterUpgrade does not move until a person acts.
	StalledCondition = "Stalled"

	// ReachableCondition tells whether a management cluster answers.
	ReachableCondition = "Reachable"
	// AuthorizedCondition tells whether the credential may do what the access asks for.
	AuthorizedCondition = "Authorized"
	// ClusterAPIInstalledCondition tells whether a management cluster serves Cluster API.
	ClusterAPIInstalledCondition = "ClusterAPIInstalled"

	// HealthyCondition tells whether a workload cluster is healthy as Cluster API sees it.
	HealthyCondition = "Healthy"
	// PausedCondition is True where the Cluster is paused in its management cluster: the hub writes nothing to it but the
	// withdrawal of its own marks.
	PausedCondition = "Paused"
	// NewMachinesBornOldCondition is True where an owner's template is older than its machines.
	NewMachinesBornOldCondition = "NewMachinesBornOld"
)

// Reasons of a ManagementCluster.
const (
	// AvailableReason: reachable, authorized, Cluster API served.
	AvailableReason = "Available"
	// ConnectingReason: nothing has been heard of it yet.
	ConnectingReason = "Connecting"
	// SecretMissingReason: the Secret that holds its kubeconfig, or the key in it, is not there.
	SecretMissingReason = "SecretMissing"
	// KubeconfigInvalidReason: the kubeconfig does not parse, or asks for an exec or auth plugin, which are refused.
	KubeconfigInvalidReason = "KubeconfigInvalid"
	// UnreachableReason: it does not answer; what is known of its clusters is old.
	UnreachableReason = "Unreachable"
	// ReachableReason: it answered the last probe.
	ReachableReason = "Reachable"
	// UnauthorizedReason: it refused the credential.
	UnauthorizedReason = "Unauthorized"
	// ForbiddenReason: the credential lacks a right that the access needs.
	ForbiddenReason = "Forbidden"
	// AuthorizedReason: the credential is accepted.
	AuthorizedReason = "Authorized"
	// NotAManagementClusterReason: it answers and does not serve Cluster API.
	NotAManagementClusterReason = "NotAManagementCluster"
	// InstalledReason: it serves Cluster API.
	InstalledReason = "Installed"
	// DuplicateReason: another ManagementCluster has the same cluster and overlapping namespaces; this one is inert.
	DuplicateReason = "Duplicate"
	// ProviderPresentReason: controllers of another provider answer the annotations there. Not supported yet.
	ProviderPresentReason = "ProviderPresent"
	// IdentityChangedReason: behind the address answers another cluster than the one that was pinned.
	IdentityChangedReason = "IdentityChanged"
)

// Reasons of a WorkloadCluster.
const (
	// HealthyReason: every owner and machine is healthy.
	HealthyReason = "Healthy"
	// UnhealthyReason: something is not; the message says what.
	UnhealthyReason = "Unhealthy"
	// NotObservedReason: it has not been seen, or not since its management cluster fell silent.
	NotObservedReason = "NotObserved"
	// PausedReason: spec.paused of the Cluster, or the paused annotation on an owner.
	PausedReason = "Paused"
	// NotPausedReason: neither.
	NotPausedReason = "NotPaused"
	// TemplateOlderReason: an owner's next machine would be older than its machines.
	TemplateOlderReason = "TemplateOlder"
	// TemplateCurrentReason: it would not.
	TemplateCurrentReason = "TemplateCurrent"
)

// Reasons of a RolloutPolicy.
const (
	// PlannedReason: accepted, references resolve, planned.
	PlannedReason = "Planned"
	// InvalidReason: the stored policy cannot be read; the message names the field, the text and an accepted form.
	InvalidReason = "Invalid"
	// NothingSelectedReason: no cluster matches.
	NothingSelectedReason = "NothingSelected"
	// CanaryAbsentReason: a canary is named that the policy does not select, or a selector finds none.
	CanaryAbsentReason = "CanaryAbsent"
	// ClustersLeftOverReason: no wave takes some of the selected clusters; the message names them.
	ClustersLeftOverReason = "ClustersLeftOver"
)

// Reasons of a Rollout and of its waves, beside its phases.
const (
	// CanariesInProgressReason: the canaries are not all proven.
	CanariesInProgressReason = "CanariesInProgress"
	// EarlierWaveReason: an earlier wave is not complete.
	EarlierWaveReason = "EarlierWave"
	// MaxConcurrencyReason: as many clusters are in flight as may be.
	MaxConcurrencyReason = "MaxConcurrency"
	// MaxConcurrentClustersReason: as many clusters of the management cluster are in flight as may be.
	MaxConcurrentClustersReason = "MaxConcurrentClusters"
	// CanaryFailedReason: a canary failed, or is gone; nothing else was touched.
	CanaryFailedReason = "CanaryFailed"
	// MaxFailuresExceededReason: more clusters of a wave failed than may.
	MaxFailuresExceededReason = "MaxFailuresExceeded"
	// TargetMovedReason: a machine ended on a version that no canary proved.
	TargetMovedReason = "TargetMoved"
	// NothingProvenReason: a wave is over and none of its clusters succeeded.
	NothingProvenReason = "NothingProven"
)

// Reasons of a ClusterUpgrade.
const (
	// WaitingForTurnReason: its turn has not come; its wave says why.
	WaitingForTurnReason = "WaitingForTurn"
	// ClaimedByOtherReason: another rollout drives the cluster; the message says which.
	ClaimedByOtherReason = "ClaimedByOther"
	// ReadOnlyAccessReason: its ManagementCluster has access: ReadOnly.
	ReadOnlyAccessReason = "ReadOnlyAccess"
	// ClusterUnhealthyReason: the cluster is not healthy, so no machine begins.
	ClusterUnhealthyReason = "ClusterUnhealthy"
	// UpgradingReason: machines are being upgraded.
	UpgradingReason = "Upgrading"
	// VerifyingReason: the proof is being taken.
	VerifyingReason = "Verifying"
	// ForeignUpgradeReason: a machine carries the mark of somebody else's upgrade; it is waited for.
	ForeignUpgradeReason = "ForeignUpgrade"
	// OwnerArmedReason: an owner carries a release that one of its machines lacks; it is retired first.
	OwnerArmedReason = "OwnerArmed"
	// MachineQuarantinedReason: a machine failed as often as it may.
	MachineQuarantinedReason = "MachineQuarantined"
	// ProvenReason: the cluster is proven at the target.
	ProvenReason = "Proven"
	// AheadOfTargetReason: it is newer than the target; it is left alone.
	AheadOfTargetReason = "AheadOfTarget"
	// ClusterGoneReason: the Cluster is gone.
	ClusterGoneReason = "ClusterGone"
	// WithdrawnReason: the rollout took it back.
	WithdrawnReason = "Withdrawn"
)

// Reasons why a ClusterUpgrade is Ineligible.
const (
	// NoInPlaceUpgradeReason: no owner of the cluster can be upgraded in place.
	NoInPlaceUpgradeReason = "NoInPlaceUpgrade"
	// SingleControlPlaneReason: one control plane machine, and the policy refuses such clusters.
	SingleControlPlaneReason = "SingleControlPlane"
	// MixedArchitectureReason: machines of several architectures, and the target is a revision.
	MixedArchitectureReason = "MixedArchitecture"
	// OtherArchitectureReason: the machines are of another architecture than the target.
	OtherArchitectureReason = "OtherArchitecture"
	// MinorUpgradeNotAllowedReason: another minor, and the policy refuses that.
	MinorUpgradeNotAllowedReason = "MinorUpgradeNotAllowed"
	// DowngradeReason: the target is older.
	DowngradeReason = "Downgrade"
	// SkewTooWideReason: more than a minor behind, or workers would be too old or newer than the control plane.
	SkewTooWideReason = "SkewTooWide"
	// UnsupportedReason: some machines are accounted for by no supported owner.
	UnsupportedReason = "Unsupported"
)
