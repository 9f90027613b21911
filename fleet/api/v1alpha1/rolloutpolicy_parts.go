// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApprovalGate says how many people must approve a wave before a cluster of it begins; see Approval.
type ApprovalGate struct {
	// count of distinct authors whose newest Approval says Approved, none of them change.requestedBy.
	// +required
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 10`,message="approval.count: must be 1 to 10; accepted: 1"
	Count int32 `json:"count"`
}

// LimitPer says what a limit counts by.
// +kubebuilder:validation:Enum=ManagementCluster
type LimitPer string

// LimitPerManagementCluster counts the clusters in flight of each management cluster.
const LimitPerManagementCluster LimitPer = "ManagementCluster"

// Limit bounds the clusters in flight of one rollout per management cluster, or per value of a label.
//
// +kubebuilder:validation:XValidation:rule=`has(self.per) != has(self.perLabel)`,message="limits[]: exactly one of per and perLabel is needed; accepted: {per: ManagementCluster, max: 3}, or {perLabel: example.com/site, max: 1}"
// +kubebuilder:validation:XValidation:rule=`has(self.max)`,message="limits[].max: must say how many; accepted: max: 3",fieldPath=".max",reason=FieldValueRequired
type Limit struct {
	// per: ManagementCluster.
	// +optional
	Per LimitPer `json:"per,omitempty"`
	// perLabel is the key of a label of WorkloadClusters; clusters without it count together.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')`,message="limits[].perLabel: must be the key of a label; accepted: example.com/site"
	PerLabel string `json:"perLabel,omitempty"`
	// max clusters in flight.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 10000`,message="limits[].max: must be 1 to 10000; accepted: 3"
	Max int32 `json:"max,omitempty"`
}

// BeforeStart says what becomes of a cluster that cannot be seen when its turn comes.
// +kubebuilder:validation:Enum=CatchUp;Wait;Fail
type BeforeStart string

// The answers to a cluster that cannot be seen.
const (
	// BeforeStartCatchUp defers it to catch-up. The default.
	BeforeStartCatchUp BeforeStart = "CatchUp"
	// BeforeStartWait lets its wave wait for it.
	BeforeStartWait BeforeStart = "Wait"
	// BeforeStartFail counts it as failed.
	BeforeStartFail BeforeStart = "Fail"
)

// Defaults of a policy.
const (
	// DefaultUnreachableGrace is how long a cluster in flight keeps its slot in the wave while it cannot be seen.
	DefaultUnreachableGrace = 10 * time.Minute
	// DefaultDeferralMax is how long the wish of a cluster's owner to wait is honoured.
	DefaultDeferralMax = 168 * time.Hour
	// DefaultCatchUpUntil is how long catch-up goes on after the last wave.
	DefaultCatchUpUntil = 720 * time.Hour
)

// Unreachable says what becomes of clusters that cannot be seen.
type Unreachable struct {
	// grace is how long a cluster in flight keeps its slot in the wave while it cannot be seen. Default 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')`,message="unreachable.grace: must be a duration of 1s to 24h; accepted: 10m"
	Grace *metav1.Duration `json:"grace,omitempty"`
	// beforeStart says what becomes of a cluster that cannot be seen when its turn comes: CatchUp (default: it is deferred),
	// Wait (its wave waits) or Fail (it counts as failed). A canary is never skipped.
	// +optional
	BeforeStart BeforeStart `json:"beforeStart,omitempty"`
	// maxUnknown bounds the clusters in flight that cannot be seen: with more of them nothing starts. Default: the wave's
	// maxConcurrency.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 10000`,message="unreachable.maxUnknown: must be 0 to 10000; accepted: 3"
	MaxUnknown *int32 `json:"maxUnknown,omitempty"`
}

// Deferral says how long the wish of a cluster's owner to wait is honoured: the annotations defer-until and hold on the
// Cluster in its management cluster.
type Deferral struct {
	// max is the longest wait. Default 168h; 0s: such wishes are not honoured.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('0s') && duration(self) <= duration('8760h')`,message="deferral.max: must be a duration of 0s to 8760h; accepted: 168h, or 0s to honour none"
	Max *metav1.Duration `json:"max,omitempty"`
}

// LateJoiners says what becomes of clusters that are selected after the plan was committed.
// +kubebuilder:validation:Enum=Include;Ignore
type LateJoiners string

// The answers to late joiners.
const (
	// LateJoinersInclude upgrades them in catch-up. The default.
	LateJoinersInclude LateJoiners = "Include"
	// LateJoinersIgnore leaves them to the next rollout.
	LateJoinersIgnore LateJoiners = "Ignore"
)

// Drift says what becomes of machines that leave the target after their cluster succeeded.
// +kubebuilder:validation:Enum=Report;Correct
type Drift string

// The answers to drift.
const (
	// DriftReport says so and changes nothing. The default.
	DriftReport Drift = "Report"
	// DriftCorrect upgrades them again. Not supported yet.
	DriftCorrect Drift = "Correct"
)

// CatchUp says what happens after the last wave.
type CatchUp struct {
	// lateJoiners: Include (default: clusters that were selected late are upgraded in catch-up) or Ignore.
	// +optional
	LateJoiners LateJoiners `json:"lateJoiners,omitempty"`
	// drift: Report (default). Correct is not supported yet.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self != 'Correct'`,message="catchUp.drift: Correct is not supported yet; accepted: Report",reason=FieldValueForbidden
	Drift Drift `json:"drift,omitempty"`
	// until is how long catch-up goes on after the last wave. Default 720h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('8760h')`,message="catchUp.until: must be a duration of 1s to 8760h; accepted: 720h"
	Until *metav1.Duration `json:"until,omitempty"`
}

// Change names the change that a rollout belongs to.
type Change struct {
	// reference of the change.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.trim() != ''`,message="change.reference: must not be empty; accepted: CHG0042"
	Reference string `json:"reference,omitempty"`
	// requestedBy is who asked for it, as the API server knows them; their own Approvals do not count.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.trim() != ''`,message="change.requestedBy: must not be empty; accepted: jane@example.com"
	RequestedBy string `json:"requestedBy,omitempty"`
}
