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

// OnDeadline says what happens when a wave is not complete at its deadline.
// +kubebuilder:validation:Enum=Halt;Continue
type OnDeadline string

// The answers to a deadline.
const (
	// OnDeadlineHalt halts the rollout. The default.
	OnDeadlineHalt OnDeadline = "Halt"
	// OnDeadlineContinue leaves the clusters of the wave that have not begun to catch-up and lets the next wave begin.
	OnDeadlineContinue OnDeadline = "Continue"
)

// Wave is an ordered group of clusters. It takes exactly one of names, selector, percent and rest.
//
// +kubebuilder:validation:XValidation:rule=`[has(self.names), has(self.selector), has(self.percent), has(self.rest)].filter(given, given).size() == 1`,message="waves[]: takes exactly one of names, selector, percent and rest; accepted: percent: 10, or rest: true in the last wave"
// +kubebuilder:validation:XValidation:rule=`!has(self.selector) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)`,message="waves[].selector: is empty and would take every cluster; accepted: matchLabels: {tier: prod}, or rest: true",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule=`!has(self.onDeadline) || has(self.deadline)`,message="waves[].onDeadline: says nothing without a deadline; accepted: deadline: 8h beside it",fieldPath=".onDeadline"
type Wave struct {
	// name of the wave: a DNS label, and neither canaries nor catch-up.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,message="waves[].name: must be a DNS label; accepted: early"
	// +kubebuilder:validation:XValidation:rule=`!(self in ['canaries', 'catch-up'])`,message="waves[].name: canaries and catch-up are waves of the hub's own; accepted: early"
	Name string `json:"name"`
	// names of clusters, as <management cluster>/<namespace>/<name>.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=400
	// +kubebuilder:validation:items:MaxLength=360
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="waves[].names: is empty and takes nothing; accepted: [mgmt-a/shop/eu-1]"
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9-]+(/[a-z0-9.-]+){2}$')`,message="waves[].names: each must be <management cluster>/<namespace>/<name>; accepted: mgmt-a/shop/eu-1"
	Names []string `json:"names,omitempty"`
	// selector matches labels of WorkloadClusters among the selected ones.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// percent of the selected clusters that are no canaries, rounded up, in plan order, from those that no earlier wave took.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 100`,message="waves[].percent: must be 1 to 100; accepted: 10"
	Percent *int32 `json:"percent,omitempty"`
	// rest is true in the last wave where it takes whatever is left.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self`,message="waves[].rest: false means nothing; accepted: rest: true in the last wave, or percent, names or selector"
	Rest *bool `json:"rest,omitempty"`
	// maxConcurrency bounds the clusters in flight: a number, or a percentage of the wave as planned, rounded down, at least
	// 1. Default 1.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`type(self) == int ? self >= 1 && self <= 10000 : self.matches('^([1-9][0-9]?|100)%$')`,message="waves[].maxConcurrency: must be a number from 1 or a percentage from 1% to 100%; accepted: 2, 25%"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	MaxConcurrency *intstr.IntOrString `json:"maxConcurrency,omitempty"`
	// maxFailures is how many clusters may fail before the rollout halts: a number, or a percentage of the wave as planned,
	// rounded down. Default 0.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`type(self) == int ? self >= 0 && self <= 10000 : self.matches('^([0-9]|[1-9][0-9]|100)%$')`,message="waves[].maxFailures: must be a number from 0 or a percentage from 0% to 100%; accepted: 0, 2, 10%"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	MaxFailures *intstr.IntOrString `json:"maxFailures,omitempty"`
	// soakDuration is how long the wave stays healthy, without a break, before the next begins. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('720h')`,message="waves[].soakDuration: must be a duration of 1s to 720h; accepted: 30m, 1h"
	SoakDuration *metav1.Duration `json:"soakDuration,omitempty"`
	// deadline for the wave, counted while work is allowed: a calendar open, not paused, not held. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('8760h')`,message="waves[].deadline: must be a duration of 1s to 8760h; accepted: 8h"
	Deadline *metav1.Duration `json:"deadline,omitempty"`
	// onDeadline says what happens past the deadline: Halt (default), or Continue (clusters of the wave that have not begun go
	// to catch-up, and the next wave may begin).
	// +optional
	OnDeadline OnDeadline `json:"onDeadline,omitempty"`
	// approval that is needed before a cluster of the wave begins.
	// +optional
	Approval *ApprovalGate `json:"approval,omitempty"`
}
