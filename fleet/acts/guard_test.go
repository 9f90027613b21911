// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// TestAnAuthorIsVouchedForOnlyByTheWholeGuard: each change to what is shipped lets Approvals through, or might.
func TestAnAuthorIsVouchedForOnlyByTheWholeGuard(t *testing.T) {
	type (
		policy  = admissionv1.ValidatingAdmissionPolicy
		binding = admissionv1.ValidatingAdmissionPolicyBinding
	)
	some := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	for name, c := range map[string]struct {
		change func(*policy, *binding)
		want   string // a part of why not; "": it is vouched for
	}{
		"as shipped":              {func(*policy, *binding) {}, ""},
		"failurePolicy left out":  {func(p *policy, _ *binding) { p.Spec.FailurePolicy = nil }, ""},
		"selectors that take all": {func(p *policy, _ *binding) { p.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{} }, ""},
		"it audits too":           {func(_ *policy, b *binding) { b.Spec.ValidationActions = append(b.Spec.ValidationActions, "Audit") }, ""},
		"every operation":         {func(p *policy, _ *binding) { rule(p).Operations = []admissionv1.OperationType{"*"} }, ""},
		"every resource":          {func(p *policy, _ *binding) { rule(p).Resources = []string{"*"} }, ""},
		"failures are ignored":    {func(p *policy, _ *binding) { p.Spec.FailurePolicy = new(admissionv1.Ignore) }, "spec.failurePolicy is Ignore"},
		"nothing is validated":    {func(p *policy, _ *binding) { p.Spec.Validations = nil }, "spec.validations is empty"},
		"parameters":              {func(p *policy, _ *binding) { p.Spec.ParamKind = &admissionv1.ParamKind{} }, "spec.paramKind"},
		"conditions":              {func(p *policy, _ *binding) { p.Spec.MatchConditions = []admissionv1.MatchCondition{{}} }, "spec.matchConditions"},
		"no constraints":          {func(p *policy, _ *binding) { p.Spec.MatchConstraints = nil }, "spec.matchConstraints"},
		"some namespaces":         {func(p *policy, _ *binding) { p.Spec.MatchConstraints.NamespaceSelector = some }, "spec.matchConstraints"},
		"some objects":            {func(p *policy, _ *binding) { p.Spec.MatchConstraints.ObjectSelector = some }, "spec.matchConstraints"},
		"freezes only":            {func(p *policy, _ *binding) { rule(p).Resources = []string{"freezes"} }, "spec.matchConstraints"},
		"another group":           {func(p *policy, _ *binding) { rule(p).APIGroups = []string{"apps"} }, "spec.matchConstraints"},
		"another version":         {func(p *policy, _ *binding) { rule(p).APIVersions = []string{"v1"} }, "spec.matchConstraints"},
		"updates only":            {func(p *policy, _ *binding) { rule(p).Operations = []admissionv1.OperationType{"UPDATE"} }, "spec.matchConstraints"},
		"some names":              {func(p *policy, _ *binding) { rule(p).ResourceNames = []string{"a"} }, "spec.matchConstraints"},
		"it only audits":          {func(_ *policy, b *binding) { b.Spec.ValidationActions = []admissionv1.ValidationAction{"Audit"} }, "has no Deny"},
		"it binds another policy": {func(_ *policy, b *binding) { b.Spec.PolicyName = "other" }, `spec.policyName is "other"`},
		"it binds some namespaces": {func(_ *policy, b *binding) {
			b.Spec.MatchResources = &admissionv1.MatchResources{NamespaceSelector: some}
		}, "spec.matchResources"},
		"the binding is too young":  {func(_ *policy, b *binding) { b.CreationTimestamp = metav1.NewTime(noon.Add(-10 * time.Second)) }, "only since 2026-11-30T11:59:50Z"},
		"the binding is old enough": {func(_ *policy, b *binding) { b.CreationTimestamp = metav1.NewTime(noon.Add(-11 * time.Second)) }, ""},
		"the policy came later":     {func(p *policy, _ *binding) { p.CreationTimestamp = metav1.NewTime(noon.Add(time.Hour)) }, "only since 2026-11-30T13:00:00Z"},
		"it was edited since":       {func(p *policy, _ *binding) { p.ManagedFields = written(noon.Add(time.Minute), "") }, "only since 2026-11-30T12:01:00Z"},
		"it was edited long before": {func(p *policy, _ *binding) { p.ManagedFields = written(noon.Add(-time.Minute), "") }, ""},
		"its status was written":    {func(p *policy, _ *binding) { p.ManagedFields = written(noon.Add(time.Minute), "status") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, b := shipped(t)
			c.change(p, b)
			w := newWorld(t, p, b, planned(), approval("a", "jane"))
			got, _ := w.verdict(approval("a", "jane"))
			if c.want == "" && got != "True Counted" || c.want != "" &&
				(!strings.HasPrefix(got, "Unknown AuthorUnverified: ") || !strings.Contains(got, c.want) || !strings.Contains(got, "accepted: ")) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

func rule(p *admissionv1.ValidatingAdmissionPolicy) *admissionv1.NamedRuleWithOperations {
	return &p.Spec.MatchConstraints.ResourceRules[0]
}

func written(at time.Time, subresource string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, Time: new(metav1.NewTime(at)), Subresource: subresource,
		APIVersion: admissionv1.SchemeGroupVersion.String(), FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte("{}")},
	}}
}

// TestNobodyVouchesWhereAPartOfTheGuardIsAbsent, and what is installed later vouches for nothing older.
func TestNobodyVouchesWhereAPartOfTheGuardIsAbsent(t *testing.T) {
	p, b := shipped(t)
	for name, objects := range map[string][]client.Object{"both": {}, "the binding": {p}, "the policy": {b}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(objects, planned(), approval("a", "jane"))...)
			const want = "Unknown AuthorUnverified: the ValidatingAdmissionPolicy windlass-acts is not bound; " +
				"accepted: kubectl apply -k config/admission"
			if got, _ := w.verdict(approval("a", "jane")); got != want {
				t.Errorf("it says %q", got)
			}
			p, b := shipped(t)
			p.SetCreationTimestamp(metav1.NewTime(noon.Add(time.Minute)))
			later := approval("b", "john")
			later.CreationTimestamp = metav1.NewTime(noon.Add(2 * time.Minute))
			w.becomes(p, b, planned(), approval("a", "jane"), later)
			for again := range 2 { // a restarted hub says the same
				if got, _ := w.verdict(approval("a", "jane")); !strings.HasPrefix(got, "Unknown AuthorUnverified: ") {
					t.Errorf("installed later, look %d: it says %q", again, got)
				}
				if got, _ := w.verdict(later); got != "True Counted" {
					t.Errorf("written later, look %d: it says %q", again, got)
				}
				w.restart()
			}
		})
	}
}

// TestACacheThatIsBehindVouchesForNothing that was written once the guard was gone, and a guard that goes vouches no more.
func TestACacheThatIsBehindVouchesForNothing(t *testing.T) {
	w := newWorld(t, append(guards(t), planned(), approval("a", "jane"))...)
	w.cache = newWorld(t, guards(t)...).hub // it stays as it is
	a, b := approval("a", "jane"), approval("b", "john")
	if got, _ := w.verdict(a); got != "True Counted" {
		t.Fatalf("it says %q", got)
	}
	_, bound := shipped(t)
	if err := w.hub.Delete(t.Context(), bound); err != nil {
		t.Fatal(err)
	}
	if err := w.hub.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if got, _ := w.verdict(b); !strings.HasPrefix(got, "Unknown AuthorUnverified") {
		t.Errorf("written unguarded it says %q", got)
	}
	if got, _ := w.verdict(a); got != "True Counted" {
		t.Errorf("written under guard it says %q", got)
	}
	w.cache = w.hub
	if got, _ := w.verdict(a); !strings.HasPrefix(got, "Unknown AuthorUnverified") {
		t.Errorf("once the cache knows it says %q", got)
	}
}

// TestAnAPIServerThatDoesNotAnswerVouchesForNobody: it is an error, and no verdict that would stay.
func TestAnAPIServerThatDoesNotAnswerVouchesForNobody(t *testing.T) {
	w := newWorld(t, append(guards(t), planned(), approval("a", "jane"))...)
	silent := errors.New("no answer")
	under, ok := w.hub.(client.WithWatch)
	if !ok {
		t.Fatal("the fake client cannot watch")
	}
	w.guard.Live = interceptor.NewClient(under, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return silent
		},
	})
	given := []*fleetv1.Approval{approval("a", "jane")}
	if _, err := w.guard.Verified(t.Context(), given); !errors.Is(err, silent) {
		t.Errorf("error %v", err)
	}
	w.guard.Live = w.hub
	verified, err := w.guard.Verified(t.Context(), given)
	if err != nil || !verified(given[0]) {
		t.Errorf("once it answers: %v", err)
	}
	if verified(approval("b", "john")) {
		t.Error("it vouches for one that it was not given")
	}
}

// TestAnotherOfTheSameNameIsLookedAtAnew: nothing is inherited.
func TestAnotherOfTheSameNameIsLookedAtAnew(t *testing.T) {
	w := newWorld(t, append(guards(t), planned())...)
	first, second := approval("a", "jane"), approval("a", "jane")
	second.UID = "uid-second"
	verified, err := w.guard.Verified(t.Context(), []*fleetv1.Approval{first})
	if err != nil || !verified(first) {
		t.Fatal(err)
	}
	w.cache = newWorld(t, guards(t)...).hub
	_, bound := shipped(t)
	if err := w.hub.Delete(t.Context(), bound); err != nil {
		t.Fatal(err)
	}
	if verified, err = w.guard.Verified(t.Context(), []*fleetv1.Approval{second}); err != nil || verified(second) {
		t.Errorf("the second is vouched for: %v", err)
	}
}
