// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts

import (
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Settling is how long after a change of an admission policy every API server is taken to act on it.
const Settling = 10 * time.Second

const (
	absent  = "the ValidatingAdmissionPolicy windlass-acts is not bound; " + install
	install = "accepted: kubectl apply -k config/admission"
)

// standing is how the admission policy stands.
type standing struct {
	// problem says why it vouches for nobody; "": it does.
	problem string
	// since is when it, or its binding, was last changed.
	since time.Time
}

// stand looks whether the policy and its binding refuse every Approval that is not by its caller. What the expressions say
// is not looked into: whoever may change them may impersonate anybody.
func stand(p *admissionv1.ValidatingAdmissionPolicy, b *admissionv1.ValidatingAdmissionPolicyBinding) standing {
	if problem := policyProblem(p); problem != "" {
		return standing{problem: "ValidatingAdmissionPolicy windlass-acts: " + problem + "; " + install}
	}
	if problem := bindingProblem(b); problem != "" {
		return standing{problem: "ValidatingAdmissionPolicyBinding windlass-acts: " + problem + "; " + install}
	}
	since := changed(p)
	if at := changed(b); at.After(since) {
		since = at
	}
	return standing{since: since}
}

func policyProblem(p *admissionv1.ValidatingAdmissionPolicy) string {
	s := &p.Spec
	switch {
	case !p.DeletionTimestamp.IsZero():
		return "it is being deleted"
	case s.FailurePolicy != nil && *s.FailurePolicy != admissionv1.Fail: // absent is Fail
		return fmt.Sprintf("spec.failurePolicy is %s", *s.FailurePolicy)
	case len(s.Validations) == 0:
		return "spec.validations is empty"
	case s.ParamKind != nil:
		return "spec.paramKind is set"
	case len(s.MatchConditions) > 0:
		return "spec.matchConditions leaves Approvals out"
	case s.MatchConstraints == nil || !slices.ContainsFunc(s.MatchConstraints.ResourceRules, approvals):
		return "spec.matchConstraints leaves Approvals out"
	case narrows(s.MatchConstraints):
		return "spec.matchConstraints leaves Approvals out"
	}
	return ""
}

func bindingProblem(b *admissionv1.ValidatingAdmissionPolicyBinding) string {
	s := &b.Spec
	switch {
	case !b.DeletionTimestamp.IsZero():
		return "it is being deleted"
	case s.PolicyName != PolicyName:
		return fmt.Sprintf("spec.policyName is %q", s.PolicyName)
	case !slices.Contains(s.ValidationActions, admissionv1.Deny):
		return fmt.Sprintf("spec.validationActions is %v and has no Deny", s.ValidationActions)
	case s.MatchResources != nil && (narrows(s.MatchResources) || len(s.MatchResources.ResourceRules) > 0 &&
		!slices.ContainsFunc(s.MatchResources.ResourceRules, approvals)):
		return "spec.matchResources leaves Approvals out"
	}
	return ""
}

// narrows: not in every namespace, or not every object.
func narrows(m *admissionv1.MatchResources) bool {
	some := func(s *metav1.LabelSelector) bool { return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 }
	return some(m.NamespaceSelector) || some(m.ObjectSelector) || len(m.ExcludeResourceRules) > 0
}

// approvals: the rule takes the creation of every Approval.
func approvals(r admissionv1.NamedRuleWithOperations) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, want) || slices.Contains(list, "*")
	}
	return len(r.ResourceNames) == 0 && has(r.APIGroups, fleetv1.GroupVersion.Group) &&
		has(r.APIVersions, fleetv1.GroupVersion.Version) && has(r.Resources, "approvals") &&
		(slices.Contains(r.Operations, admissionv1.Create) || slices.Contains(r.Operations, admissionv1.OperationAll)) &&
		(r.Scope == nil || *r.Scope != admissionv1.ClusterScope)
}

// changed is when an object was last written, but for its status.
func changed(o metav1.Object) time.Time {
	at := o.GetCreationTimestamp().Time
	for _, f := range o.GetManagedFields() {
		if f.Subresource == "" && f.Time != nil && f.Time.After(at) {
			at = f.Time.Time
		}
	}
	return at
}

// why says why an Approval is not vouched for; "": it is.
func (s standing) why(a *fleetv1.Approval) string {
	switch {
	case s.problem != "":
		return s.problem
	case a.Spec.By == "":
		return "spec.by: it names nobody; accepted: another Approval"
	case !a.CreationTimestamp.After(s.since.Add(Settling)):
		return fmt.Sprintf("the ValidatingAdmissionPolicy windlass-acts is as it is only since %s, and this was written at %s; "+
			"accepted: another Approval", s.since.UTC().Format(time.RFC3339), a.CreationTimestamp.UTC().Format(time.RFC3339))
	}
	return ""
}
