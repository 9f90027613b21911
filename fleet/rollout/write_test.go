// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// patching answers the patches of ClusterUpgrades instead of the API server.
func (h *hub) patching(answer func(cu client.Object, patch func() error) error) {
	h.t.Helper()
	under, is := h.cache.(client.WithWatch)
	if !is {
		h.t.Fatal("the cache cannot be intercepted")
	}
	h.rollouts.Hub = interceptor.NewClient(under, interceptor.Funcs{Patch: func(
		ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption,
	) error {
		patch := func() error { return c.Patch(ctx, o, p, opts...) }
		if _, is := o.(*fleetv1.ClusterUpgrade); is {
			return answer(o, patch)
		}
		return patch()
	}})
}

var errAnswer = errors.New("the API server does not answer")

// TestC075_AWriteThatFailsKeepsNoOther: two of three clusters are withdrawn, and both errors are told.
func TestC075_AWriteThatFailsKeepsNoOther(t *testing.T) {
	p := standing("k8s")
	p.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(3))
	h := newHub(t, p, member("mgmt-a", 3), recorded("a"), recorded("b"), recorded("c"))
	h.turn()
	name := h.allRollouts()[0].Name
	h.settle(name)
	if h.running() != 3 {
		t.Fatalf("%d run", h.running())
	}
	h.patching(func(cu client.Object, patch func() error) error {
		if cu.GetName() != name+"-c" {
			return errAnswer
		}
		return patch()
	})
	if err := h.live.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	_, err := h.look(name)
	if err == nil || !strings.Contains(err.Error(), name+"-a") || !strings.Contains(err.Error(), name+"-b") {
		t.Errorf("it says %v", err)
	}
	for _, cu := range h.upgrades() {
		if withdrawn := cu.Spec.Intent == fleetv1.IntentWithdraw; withdrawn != (cu.Name == name+"-c") {
			t.Errorf("%s: %s", cu.Name, cu.Spec.Intent)
		}
	}
}

// TestLaw4AWriteOfWhichNobodyKnowsIsLookedForLive: it was made, its answer was lost, the cache has not seen it, and another
// cluster's turn would come.
func TestLaw4AWriteOfWhichNobodyKnowsIsLookedForLive(t *testing.T) {
	h := newHub(t, standing("k8s"), member("mgmt-a", 2), recorded("a"), recorded("b"))
	h.turn()
	name := h.allRollouts()[0].Name
	var stale *fleetv1.ClusterUpgradeList
	h.patching(func(_ client.Object, patch func() error) error {
		if stale != nil {
			return patch()
		}
		stale = h.list(&fleetv1.ClusterUpgradeList{}).(*fleetv1.ClusterUpgradeList)
		return errors.Join(patch(), errAnswer)
	})
	under := h.rollouts.Hub.(client.WithWatch)
	h.rollouts.Hub = interceptor.NewClient(under, interceptor.Funcs{List: func(
		ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption,
	) error {
		if cus, is := l.(*fleetv1.ClusterUpgradeList); is && stale != nil {
			stale.DeepCopyInto(cus)
			return nil
		}
		return c.List(ctx, l, opts...)
	}})
	for range 10 {
		if _, err := h.look(name); err != nil && !errors.Is(err, errAnswer) {
			t.Fatal(err)
		}
		if stale != nil {
			break
		}
	}
	if err := h.live.Create(t.Context(), &fleetv1.Freeze{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"},
		Spec: fleetv1.FreezeSpec{
			Scope: fleetv1.FreezeScope{Clusters: []string{"mgmt-a/shop/a"}}, Effect: fleetv1.FreezeNoNewClusters,
		},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{name + "-a": "Wait act", name + "-b": "Wait act"} // a is given back, and holds its slot until it is
	if diff := cmp.Diff(want, h.intents()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestARolloutThatIsGoneIsNoError: its last event may come after it.
func TestARolloutThatIsGoneIsNoError(t *testing.T) {
	h, name := started(t)
	under := h.cache.(client.WithWatch)
	gone := apierrors.NewNotFound(fleetv1.GroupVersion.WithResource("rollouts").GroupResource(), name)
	asked := 0
	h.rollouts.Hub = interceptor.NewClient(under, interceptor.Funcs{SubResourcePatch: func(
		context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption,
	) error {
		asked++
		return gone
	}})
	h.policy(func(s *fleetv1.RolloutPolicySpec) { s.Paused = true })
	if _, err := h.look(name); err != nil || asked == 0 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
