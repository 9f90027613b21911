// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/fleet/pace"
)

// Details of a status wait for their second (law 18); a new phase never does.
func TestDetailsOfAStatusWaitForTheirSecond(t *testing.T) {
	now := clocktesting.NewFakeClock(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cu := &fleetv1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "one", UID: "cu"},
		Spec:       fleetv1.ClusterUpgradeSpec{ManagementCluster: "away", Intent: fleetv1.IntentWait},
	}
	writes := 0
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cu).WithStatusSubresource(cu).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string,
			o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			writes++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		}}).Build()
	r := &Reconciler{
		Hub: hub, Members: member.NewProvider(member.Options{Scheme: scheme}), Clock: now, HubID: "hub",
		MayWrite: func() error { return nil }, Pace: &pace.Pace[types.UID]{Clock: now},
	}
	req := mcreconcile.Request{}
	req.NamespacedName = client.ObjectKeyFromObject(cu)
	reconcile := func(what string, wantWrites int, wantWait time.Duration) {
		t.Helper()
		result, err := r.Reconcile(t.Context(), req)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if writes != wantWrites || (wantWait > 0 && result.RequeueAfter != wantWait) {
			t.Errorf("%s: %d writes, want %d; waits %s, want %s", what, writes, wantWrites, result.RequeueAfter, wantWait)
		}
	}
	reconcile("the first look", 1, 0)
	mc := &fleetv1.ManagementCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "away", UID: "mc"}}
	if err := hub.Create(t.Context(), mc); err != nil {
		t.Fatal(err)
	}
	now.Step(300 * time.Millisecond)
	reconcile("a message that changes within the second", 1, 700*time.Millisecond)
	now.Step(700 * time.Millisecond)
	reconcile("the same after the second", 2, 0)
	reconcile("nothing new", 2, 0)
}
