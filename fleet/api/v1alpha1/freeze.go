// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Freeze is a brake: while it is in force nothing that it covers begins. Stops add up: only its own removal or expiry lifts
// it. In the hub's own namespace it covers every namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=fz,categories=windlass
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.conditions[?(@.type=="Active")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Active")].reason`
// +kubebuilder:printcolumn:name="Effect",type=string,JSONPath=`.status.effect`
// +kubebuilder:printcolumn:name="Scope",type=string,JSONPath=`.status.scope`
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.status.clusters`
// +kubebuilder:printcolumn:name="Until",type=string,JSONPath=`.status.until`
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.spec.by`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.spec.reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Freeze struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec never changes but for from, until and reason.
	// +required
	Spec FreezeSpec `json:"spec"`
	// status is whether it is in force.
	// +optional
	Status FreezeStatus `json:"status,omitempty,omitzero"`
}

// FreezeList is a list of Freezes.
//
// +kubebuilder:object:root=true
type FreezeList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []Freeze `json:"items"`
}

// FreezeEffect says what a Freeze stops.
// +kubebuilder:validation:Enum=NoNewMachines;NoNewClusters
type FreezeEffect string

// The effects.
const (
	// FreezeNoNewMachines: machines in flight finish, no other begins. The default.
	FreezeNoNewMachines FreezeEffect = "NoNewMachines"
	// FreezeNoNewClusters: clusters in flight finish, no other begins.
	FreezeNoNewClusters FreezeEffect = "NoNewClusters"
)

// FreezeSpec says what is stopped, when and why.
//
// +kubebuilder:validation:XValidation:rule=`has(self.scope)`,message="spec.scope: must say what is stopped; accepted: {all: true}, {policies: [k8s-1-33]}, {clusters: [mgmt-a/shop/eu-1]}",fieldPath=".scope",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.by)`,message="spec.by: must say who acts; accepted: what kubectl auth whoami prints",fieldPath=".by",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.reason)`,message="spec.reason: must say why; accepted: Christmas holidays",fieldPath=".reason",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.from) || !has(self.until) || !self.from.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') || !self.until.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') || timestamp(self.from) < timestamp(self.until)`,message="spec.until: is not after from; accepted: a later instant",fieldPath=".until"
// +kubebuilder:validation:XValidation:rule=`has(self.scope) == has(oldSelf.scope) && (!has(self.scope) || self.scope == oldSelf.scope) && has(self.effect) == has(oldSelf.effect) && (!has(self.effect) || self.effect == oldSelf.effect) && has(self.by) == has(oldSelf.by) && (!has(self.by) || self.by == oldSelf.by) && has(self.reference) == has(oldSelf.reference) && (!has(self.reference) || self.reference == oldSelf.reference)`,message="a Freeze never changes but for from, until and reason; accepted: another Freeze, and then to delete this one"
type FreezeSpec struct {
	// scope is what is stopped.
	// +optional
	Scope FreezeScope `json:"scope,omitempty,omitzero"`
	// effect: NoNewMachines (default: machines in flight finish, no other begins) or NoNewClusters (clusters in flight finish,
	// no other begins).
	// +optional
	Effect FreezeEffect `json:"effect,omitempty"`
	// from is when it begins. Default: at once.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`self.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$')`,message="spec.from: must be an instant as RFC 3339 writes it; accepted: 2026-12-18T16:00:00Z, 2026-12-01T02:00:00+01:00"
	From *metav1.Time `json:"from,omitempty"`
	// until is when it ends. Default: when it is deleted.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`self.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$')`,message="spec.until: must be an instant as RFC 3339 writes it; accepted: 2027-01-07T06:00:00Z, 2026-12-01T02:00:00+01:00"
	Until *metav1.Time `json:"until,omitempty"`
	// reason that people are shown.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.trim() != ''`,message="spec.reason: must not be empty; accepted: Christmas holidays"
	Reason string `json:"reason,omitempty"`
	// by is who acts: the caller, as the API server knows them.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.trim() != ''`,message="spec.by: must be who you are to the API server; accepted: what kubectl auth whoami prints"
	By string `json:"by,omitempty"`
	// reference to more, such as a change, a commit or an incident.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.trim() != ''`,message="spec.reference: must not be empty; accepted: CHG0042, or leave it out"
	Reference string `json:"reference,omitempty"`

	// Unknown are the paths of the fields that were read and that no field here has.
	Unknown []string `json:"-"`
}

// FreezeScope says what is stopped: exactly one of its fields.
//
// +kubebuilder:validation:XValidation:rule=`[has(self.all), has(self.policies), has(self.clusters), has(self.selector), has(self.managementClusters)].filter(given, given).size() == 1`,message="spec.scope: exactly one of all, policies, clusters, selector and managementClusters is needed; accepted: {all: true}, {policies: [k8s-1-33]}"
// +kubebuilder:validation:XValidation:rule=`!has(self.selector) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)`,message="spec.scope.selector: is empty, which would be every cluster or none; accepted: matchLabels: {tier: prod}, or all: true in place of selector",fieldPath=".selector"
type FreezeScope struct {
	// all is true where every cluster is meant.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self`,message="spec.scope.all: false means nothing; accepted: all: true"
	All *bool `json:"all,omitempty"`
	// policies whose rollouts are meant.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="spec.scope.policies: is empty and takes nothing; accepted: [k8s-1-33]"
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')`,message="spec.scope.policies: each must be the name of a RolloutPolicy; accepted: k8s-1-33"
	Policies []string `json:"policies,omitempty"`
	// clusters that are meant, as <management cluster>/<namespace>/<name>.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=360
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="spec.scope.clusters: is empty and takes nothing; accepted: [mgmt-a/shop/eu-1]"
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9-]+(/[a-z0-9.-]+){2}$')`,message="spec.scope.clusters: each must be <management cluster>/<namespace>/<name>; accepted: mgmt-a/shop/eu-1"
	Clusters []string `json:"clusters,omitempty"`
	// selector matches labels of WorkloadClusters that are meant.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// managementClusters all of whose clusters are meant.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="spec.scope.managementClusters: is empty and takes nothing; accepted: [mgmt-a]"
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,message="spec.scope.managementClusters: each must be the name of a ManagementCluster; accepted: mgmt-a"
	ManagementClusters []string `json:"managementClusters,omitempty"`
}

// FreezeStatus is whether a Freeze is in force.
type FreezeStatus struct {
	// conditions: Active (it is in force).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// effect as it is, with the default filled in.
	// +optional
	Effect FreezeEffect `json:"effect,omitempty"`
	// scope in words, such as "policies k8s-1-33".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Scope string `json:"scope,omitempty"`
	// clusters that it covers now.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Clusters *int32 `json:"clusters,omitempty"`
	// until is when it begins or ends next: an instant in RFC 3339, or "act" where it stays until a person deletes it.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Until string `json:"until,omitempty"`
}
