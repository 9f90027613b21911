// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What follows has its place in the shape of a policy and is refused by the API server: it is not supported yet.

// ApprovalGate says how many people must approve.
type ApprovalGate struct {
	// count of distinct approvers.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Count int32 `json:"count"`
}

// Limit bounds clusters in flight per management cluster or per value of a label.
type Limit struct {
	// per: ManagementCluster.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Per string `json:"per,omitempty"`
	// perLabel is the key of a label of WorkloadClusters.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	PerLabel string `json:"perLabel,omitempty"`
	// max clusters in flight.
	// +required
	// +kubebuilder:validation:Minimum=1
	Max int32 `json:"max"`
}

// Unreachable says what becomes of clusters that cannot be seen.
type Unreachable struct {
	// grace before a cluster in flight gives back its slot.
	// +optional
	Grace *metav1.Duration `json:"grace,omitempty"`
	// beforeStart: CatchUp, Wait or Fail.
	// +optional
	// +kubebuilder:validation:Enum=CatchUp;Wait;Fail
	BeforeStart string `json:"beforeStart,omitempty"`
	// maxUnknown bounds the clusters in flight that cannot be seen.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxUnknown *int32 `json:"maxUnknown,omitempty"`
}

// Deferral says how long the wish of a cluster's owner to wait is honoured.
type Deferral struct {
	// max time.
	// +optional
	Max *metav1.Duration `json:"max,omitempty"`
}

// CatchUp says what happens after the last wave.
type CatchUp struct {
	// lateJoiners: Include or Ignore.
	// +optional
	// +kubebuilder:validation:Enum=Include;Ignore
	LateJoiners string `json:"lateJoiners,omitempty"`
	// drift: Report or Correct.
	// +optional
	// +kubebuilder:validation:Enum=Report;Correct
	Drift string `json:"drift,omitempty"`
	// until is how long catch-up goes on.
	// +optional
	Until *metav1.Duration `json:"until,omitempty"`
}

// Change names the change that a rollout belongs to.
type Change struct {
	// reference of the change.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reference string `json:"reference,omitempty"`
	// requestedBy is who asked for it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	RequestedBy string `json:"requestedBy,omitempty"`
}
