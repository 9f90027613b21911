// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Approval lets a wave of a Rollout begin, or refuses it. It is made by the approver, for the plan as they saw it, and never
// changes; to withdraw it is to delete it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=apv,categories=windlass
// +kubebuilder:selectablefield:JSONPath=`.spec.rollout`
// +kubebuilder:printcolumn:name="Rollout",type=string,JSONPath=`.spec.rollout`
// +kubebuilder:printcolumn:name="Wave",type=string,JSONPath=`.spec.wave`
// +kubebuilder:printcolumn:name="Decision",type=string,JSONPath=`.spec.decision`
// +kubebuilder:printcolumn:name="Valid",type=string,JSONPath=`.status.conditions[?(@.type=="Valid")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Valid")].reason`
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.spec.by`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.spec.expiresAt`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.spec.reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Approval struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec never changes.
	// +required
	Spec ApprovalSpec `json:"spec"`
	// status is whether it counts.
	// +optional
	Status ApprovalStatus `json:"status,omitempty,omitzero"`
}

// ApprovalList is a list of Approvals.
//
// +kubebuilder:object:root=true
type ApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []Approval `json:"items"`
}

// Decision is what an Approval says.
// +kubebuilder:validation:Enum=Approved;Rejected
type Decision string

// The decisions.
const (
	// DecisionApproved: the wave may begin, as far as its author is asked.
	DecisionApproved Decision = "Approved"
	// DecisionRejected: it may not.
	DecisionRejected Decision = "Rejected"
)

// ApprovalSpec says who approves what.
//
// +kubebuilder:validation:XValidation:rule=`has(self.rollout)`,message="spec.rollout: must say which Rollout; accepted: k8s-1-33-7c2f1",fieldPath=".rollout",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.wave)`,message="spec.wave: must say which wave of it; accepted: canaries, early",fieldPath=".wave",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.planDigest)`,message="spec.planDigest: must say which plan; accepted: what status.digest of the Rollout holds",fieldPath=".planDigest",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.decision)`,message="spec.decision: must say what is decided; accepted: Approved, Rejected",fieldPath=".decision",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.by)`,message="spec.by: must say who acts; accepted: what kubectl auth whoami prints",fieldPath=".by",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.reason)`,message="spec.reason: must say why; accepted: canaries looked at, no alarms",fieldPath=".reason",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.rollout) == has(oldSelf.rollout) && (!has(self.rollout) || self.rollout == oldSelf.rollout) && has(self.wave) == has(oldSelf.wave) && (!has(self.wave) || self.wave == oldSelf.wave) && has(self.planDigest) == has(oldSelf.planDigest) && (!has(self.planDigest) || self.planDigest == oldSelf.planDigest) && has(self.decision) == has(oldSelf.decision) && (!has(self.decision) || self.decision == oldSelf.decision) && has(self.expiresAt) == has(oldSelf.expiresAt) && (!has(self.expiresAt) || self.expiresAt == oldSelf.expiresAt) && has(self.by) == has(oldSelf.by) && (!has(self.by) || self.by == oldSelf.by) && has(self.reason) == has(oldSelf.reason) && (!has(self.reason) || self.reason == oldSelf.reason) && has(self.reference) == has(oldSelf.reference) && (!has(self.reference) || self.reference == oldSelf.reference)`,message="an Approval never changes; accepted: another Approval, whose author's newest one counts, or to delete this one"
type ApprovalSpec struct {
	// rollout is the name of the Rollout, in this namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')`,message="spec.rollout: must be the name of a Rollout; accepted: k8s-1-33-7c2f1"
	Rollout string `json:"rollout,omitempty"`
	// wave of the rollout: canaries, or one of the policy's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,message="spec.wave: must be the name of a wave; accepted: canaries, early"
	Wave string `json:"wave,omitempty"`
	// planDigest is status.digest of the Rollout as the author saw it. It counts while the Rollout's is the same, or another
	// that only slows.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[A-Za-z0-9:._-]+$')`,message="spec.planDigest: must be a digest; accepted: what status.digest of the Rollout holds"
	PlanDigest string `json:"planDigest,omitempty"`
	// decision: Approved or Rejected.
	// +optional
	Decision Decision `json:"decision,omitempty"`
	// expiresAt is when it counts no longer. Default: it does not expire.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`self.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$')`,message="spec.expiresAt: must be an instant as RFC 3339 writes it; accepted: 2026-12-01T00:00:00Z, 2026-12-01T02:00:00+01:00"
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
	// reason that people are shown.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.trim() != ''`,message="spec.reason: must not be empty; accepted: canaries looked at, no alarms"
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

	// Unknown are the paths of the fields that were read and that no field here has. Such an Approval does not count.
	Unknown []string `json:"-"`
}

// ApprovalStatus is whether an Approval counts.
type ApprovalStatus struct {
	// conditions: Valid (it counts; the reason says why or why not).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
