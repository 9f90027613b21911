// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types. Ready, Reconciling and Stalled are those that kstatus knows, so that `kubectl wait`, Flux and Argo CD
// understand every kind. Unknown always means that it could not be seen, never that it is well.
const (
	// ReadyCondition sums an object up. ManagementCluster: it can be worked with. RolloutPolicy: accepted, its references
	// resolve, planned. MaintenanceCalendar: it can be read. Rollout and ClusterUpgrade: succeeded.
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
	// ExternalChangeCondition is True where machines changed their kubelet version while no rollout drove the cluster, since
	// then. It is absent otherwise, and goes when a rollout takes the cluster.
	ExternalChangeCondition = "ExternalChange"
	// PausedCondition is True where the Cluster is paused in its management cluster: the hub writes nothing to it but the
	// withdrawal of its own marks.
	PausedCondition = "Paused"

	// OutsideWindowCondition of a ClusterUpgrade is True where machines ended while their management cluster could not be seen
	// and no machine was to begin, Unknown while they may; else it is absent.
	OutsideWindowCondition = "OutsideWindow"

	// ActiveCondition tells whether a Freeze is in force.
	ActiveCondition = "Active"
	// ValidCondition tells whether an Approval counts. Unknown does not count either.
	ValidCondition = "Valid"
)

// Reasons of a ManagementCluster.
const (
	// AvailableReason: reachable, authorized, Cluster API served.
	AvailableReason = "Available"
	// ConnectingReason: nothing has been heard of it yet.
	ConnectingReason = "Connecting"
	// KubeconfigInvalidReason: the kubeconfig does not parse, or asks for an exec or auth plugin, which are refused.
	KubeconfigInvalidReason = "KubeconfigInvalid"
	// UnreachableReason: it does not answer; what is known of its clusters is old.
	UnreachableReason = "Unreachable"
	// ReachableReason: it answered the last probe.
	ReachableReason = "Reachable"
	// UnauthorizedReason: it refused the credential.
	UnauthorizedReason = "Unauthorized"
	// AuthorizedReason: the credential is accepted.
	AuthorizedReason = "Authorized"
	// NotAManagementClusterReason: it answers and does not serve Cluster API.
	NotAManagementClusterReason = "NotAManagementCluster"
	// InstalledReason: it serves Cluster API.
	InstalledReason = "Installed"
	// DuplicateReason: another ManagementCluster has the same cluster and overlapping namespaces; this one is inert.
	DuplicateReason = "Duplicate"
	// UnknownFieldReason: the spec has a field that is not known, misspelt perhaps. It is not acted on; the message names
	// the field. Of a RolloutPolicy likewise.
	UnknownFieldReason = "UnknownField"
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
	// ExternalChangeReason: the message says how many machines, of which owner, from and to which versions.
	ExternalChangeReason = "ExternalChange"
)

// Reasons of a ClusterUpgrade's condition OutsideWindow; NotObservedReason is another.
const (
	// OutsideWindowReason: the message names the machines, and between which instants they ended.
	OutsideWindowReason = "OutsideWindow"
)

// Reasons of a RolloutPolicy.
const (
	// PlannedReason: accepted, references resolve, planned.
	PlannedReason = "Planned"
	// InvalidReason: the stored policy cannot be read; the message names the field, the text and an accepted form.
	InvalidReason = "Invalid"
)

// Reasons of a MaintenanceCalendar; InvalidReason and UnknownFieldReason are others.
const (
	// AcceptedReason: it can be read, and opens and closes as it says.
	AcceptedReason = "Accepted"
)

// Reasons of a Freeze; UnknownFieldReason is another.
const (
	// InForceReason: what it covers does not begin.
	InForceReason = "InForce"
	// NotBegunReason: its from is ahead.
	NotBegunReason = "NotBegun"
	// OverReason: its until has passed.
	OverReason = "Over"
)

// Reasons of an Approval; UnknownFieldReason is another.
const (
	// CountedReason: it counts.
	CountedReason = "Counted"
	// DigestChangedReason: the plan is another than the one that was approved; the message says what changed.
	DigestChangedReason = "DigestChanged"
	// ExpiredReason: its expiresAt has passed.
	ExpiredReason = "Expired"
	// AuthorUnverifiedReason: nothing made sure that it was written by the one that it names.
	AuthorUnverifiedReason = "AuthorUnverified"
	// RequestedBySelfReason: its author is the one who requested the change.
	RequestedBySelfReason = "RequestedBySelf"
	// UnknownRolloutReason: there is no such Rollout, or it has no such wave.
	UnknownRolloutReason = "UnknownRollout"
	// ReplacedReason: its author decided anew.
	ReplacedReason = "Replaced"
)

// Reasons that clients look for. Rollouts and ClusterUpgrades take theirs from the decisions (package policy),
// which this package must not import; docs/status.md explains every one.
const (
	// CanaryFailedReason: a canary failed; no other cluster was touched.
	CanaryFailedReason = "CanaryFailed"
	// ClaimedByOtherReason: another rollout drives the cluster; the message says which.
	ClaimedByOtherReason = "ClaimedByOther"
	// MachineQuarantinedReason: a machine failed as often as it may.
	MachineQuarantinedReason = "MachineQuarantined"
	// DowngradeReason: the target is older than what runs; Ineligible.
	DowngradeReason = "Downgrade"
)
