// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts_test

import (
	"context"
	"os"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/fleet/acts"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/report"
)

const namespace = "fleet"

// noon is when the worlds of these tests begin.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// world is a hub with acts of people.
type world struct {
	t *testing.T
	// hub is the truth; the controllers read it through cache.
	hub, cache client.Client
	clock      *clocktesting.FakeClock
	guard      *acts.Guard
	freezes    *acts.FreezeReconciler
	approvals  *acts.ApprovalReconciler
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{fleetv1.AddToScheme, admissionv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithReturnManagedFields().
		WithStatusSubresource(&fleetv1.Freeze{}, &fleetv1.Approval{}, &fleetv1.Rollout{}).Build()
	w := &world{t: t, hub: hub, cache: hub, clock: clocktesting.NewFakeClock(noon)}
	w.restart()
	return w
}

// becomes is the same process, and the hub holds other objects.
func (w *world) becomes(objects ...client.Object) {
	w.t.Helper()
	w.hub = newWorld(w.t, objects...).hub
	w.cache, w.guard.Live, w.freezes.Hub, w.approvals.Hub = w.hub, w.hub, w.hub, w.hub
}

// restart is a new process: it remembers nothing.
func (w *world) restart() {
	w.guard = &acts.Guard{Hub: reader{&w.cache}, Live: w.hub}
	w.freezes = &acts.FreezeReconciler{
		Hub: w.hub, Clock: w.clock, Pace: &pace.Pace[types.UID]{Clock: w.clock}, HubNamespace: "windlass-system",
	}
	w.approvals = &acts.ApprovalReconciler{
		Hub: w.hub, Clock: w.clock, Guard: w.guard, Pace: &pace.Pace[types.UID]{Clock: w.clock},
	}
}

// reader reads what the cache is at the time.
type reader struct{ cache *client.Client }

func (r reader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return (*r.cache).Get(ctx, key, o, opts...)
}

func (r reader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return (*r.cache).List(ctx, l, opts...)
}

// look reconciles an object once, reads it again, and returns when the controller wants to come back.
func (w *world) look(r reconcile.Reconciler, o client.Object) time.Duration {
	w.t.Helper()
	key := client.ObjectKeyFromObject(o)
	result, err := r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.hub.Get(w.t.Context(), key, o); err != nil {
		w.t.Fatal(err)
	}
	return result.RequeueAfter
}

// verdict looks at an Approval: "<status> <reason>: <message>".
func (w *world) verdict(a *fleetv1.Approval) (text string, again time.Duration) {
	w.t.Helper()
	w.clock.Step(pace.Every)
	again = w.look(w.approvals, a)
	return said(w.t, a.Status.Conditions, fleetv1.ValidCondition), again
}

func said(t *testing.T, conditions []metav1.Condition, of string) string {
	t.Helper()
	c := meta.FindStatusCondition(conditions, of)
	if c == nil {
		t.Fatalf("there is no condition %s", of)
	}
	text := string(c.Status) + " " + c.Reason
	if c.Message != "" {
		text += ": " + c.Message
	}
	return text
}

// shipped are the admission policy and its binding as config/admission has them, installed an hour before noon.
func shipped(t *testing.T) (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding) {
	t.Helper()
	file, err := os.Open("../../config/admission/acts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	p, b := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	d := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for _, o := range []client.Object{p, b} {
		if err := d.Decode(o); err != nil {
			t.Fatal(err)
		}
		o.SetCreationTimestamp(metav1.NewTime(noon.Add(-time.Hour)))
	}
	return p, b
}

// guards are these two.
func guards(t *testing.T) []client.Object {
	t.Helper()
	p, b := shipped(t)
	return []client.Object{p, b}
}

// approval of wave rest of rollout k8s, written at noon.
func approval(name, by string) *fleetv1.Approval {
	return &fleetv1.Approval{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name), Generation: 1, CreationTimestamp: metav1.NewTime(noon),
		},
		Spec: fleetv1.ApprovalSpec{
			Rollout: "k8s", Wave: "rest", PlanDigest: "d1", Decision: fleetv1.DecisionApproved, By: by, Reason: "no alarms",
		},
	}
}

// planned is the committed rollout k8s, whose wave rest needs an approval.
func planned() *fleetv1.Rollout {
	return &fleetv1.Rollout{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "k8s", UID: "uid-k8s", Generation: 1},
		Spec:       fleetv1.RolloutSpec{Policy: fleetv1.LocalRef{Name: "k8s", UID: "uid-policy"}},
		Status: fleetv1.RolloutStatus{
			Phase: fleetv1.RolloutAwaitingApproval, Plan: &fleetv1.RolloutPlan{Total: 1}, Digest: "d1",
			Waves: []fleetv1.WaveStatus{
				{Name: "early"}, {Name: "rest", Approvals: &fleetv1.WaveApprovals{Needed: 1}},
			},
		},
	}
}

// judged is what is said of an Approval as it was read, whatever is stored.
func judged(t *testing.T, w *world, a *fleetv1.Approval) string {
	t.Helper()
	why, err := w.guard.Why(t.Context(), []*fleetv1.Approval{a})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := report.Approval(a, report.Gate{Rollout: planned(), Unverified: why}, noon)
	return said(t, s.Conditions, fleetv1.ValidCondition)
}
