// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Names of the waves that the hub makes itself; no wave of a policy may have them.
const (
	// WaveCanaries is the wave of the canaries, always first.
	WaveCanaries = "canaries"
	// WaveCatchUp comes after the last wave.
	WaveCatchUp = "catch-up"
)

// Wave is an ordered group of clusters. It takes exactly one of names, selector, percent and rest.
type Wave struct {
	// name of the wave: a DNS label, and neither canaries nor catch-up.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// names of clusters, as <management cluster>/<namespace>/<name>.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=360
	Names []string `json:"names,omitempty"`
	// selector matches labels of WorkloadClusters among the selected ones.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// percent of the selected clusters that are no canaries, rounded up, in plan order, from those that no earlier wave took.
	// +optional
	Percent *int32 `json:"percent,omitempty"`
	// rest is true in the last wave where it takes whatever is left.
	// +optional
	Rest *bool `json:"rest,omitempty"`
	// maxConcurrency bounds the clusters in flight: a number, or a percentage of the wave as planned, rounded down, at least
	// 1. Default 1.
	// +optional
	MaxConcurrency *intstr.IntOrString `json:"maxConcurrency,omitempty"`
	// maxFailures is how many clusters may fail before the rollout halts: a number, or a percentage of the wave as planned,
	// rounded down. Default 0.
	// +optional
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`
	// soakDuration the wave stays healthy before the next. Not supported yet.
	// +optional
	SoakDuration *metav1.Duration `json:"soakDuration,omitempty"`
	// deadline of the wave. Not supported yet.
	// +optional
	Deadline *metav1.Duration `json:"deadline,omitempty"`
	// onDeadline says what happens then. Not supported yet.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	OnDeadline string `json:"onDeadline,omitempty"`
	// approval that is needed before the wave. Not supported yet.
	// +optional
	Approval *ApprovalGate `json:"approval,omitempty"`
}
