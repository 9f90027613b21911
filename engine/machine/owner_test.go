// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"maps"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

var controlPlane = schema.GroupVersionKind{
	Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "CK8sControlPlane",
}

// owned makes the machine one of an owner, which it names by label, and returns that owner, asked for the target.
func (w *world) owned(kind schema.GroupVersionKind) *unstructured.Unstructured {
	w.t.Helper()
	w.upgrader.Member.Kinds.ControlPlanes = []schema.GroupVersionKind{controlPlane}
	labels := map[string]string{capi.ClusterNameLabel: "eu", capi.DeploymentNameLabel: "owner"}
	if kind == controlPlane {
		labels = map[string]string{capi.ClusterNameLabel: "eu", capi.ControlPlaneLabel: ""}
		w.cluster(func(c *unstructured.Unstructured) {
			c.Object["spec"] = map[string]any{"controlPlaneRef": map[string]any{
				"apiGroup": kind.Group, "kind": kind.Kind, "name": "owner",
			}}
		})
	}
	w.change(func(m *unstructured.Unstructured) { m.SetLabels(labels) })
	o := capi.Object(kind)
	o.SetNamespace(key.Namespace)
	o.SetName("owner")
	o.SetLabels(map[string]string{capi.ClusterNameLabel: "eu"})
	o.SetAnnotations(map[string]string{keys.To: target})
	return o
}

func (w *world) create(o *unstructured.Unstructured) {
	w.t.Helper()
	if err := w.client.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func TestLaw11_AMachineIsBegunOnlyWhileTheOwnerThatMarkedItAsksForItsTarget(t *testing.T) {
	asked := func(*unstructured.Unstructured) {}
	unasked := func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }
	for name, c := range map[string]struct {
		owner  func(o *unstructured.Unstructured)
		byHand bool
		going  bool
		want   int
	}{
		"asked":                                 {owner: asked, want: 1},
		"not asked any more":                    {owner: unasked},
		"not asked, and the machine is by hand": {owner: unasked, byHand: true, want: 1},
		"asked for another target": {owner: func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{keys.To: target + "-later"})
		}},
		"asked under the keys of others": {owner: func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{protocol.KeysFor(protocol.OwnPrefix).To: target})
		}},
		"going": {owner: func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"test/test"}) }, going: true},
		"gone":  {},
	} {
		for _, kind := range []schema.GroupVersionKind{controlPlane, kinds.MachineDeployment} {
			t.Run("the "+kind.Kind+" is "+name, func(t *testing.T) {
				annotations := maps.Clone(requested())
				if c.byHand {
					delete(annotations, protocol.PlanKey)
				}
				w := newWorld(t, annotations)
				w.node.refreshes, w.node.statuses = accepts("1"), says(done)
				if owner := w.owned(kind); c.owner != nil {
					c.owner(owner)
					w.create(owner)
					if c.going {
						same(t, "deletion", nil, w.client.Delete(t.Context(), owner))
					}
				}
				before := w.machine().GetResourceVersion()
				result, err := w.reconcile()
				same(t, "error", nil, err)
				same(t, "refreshes", c.want, w.node.posts)
				if c.want == 0 {
					same(t, "resourceVersion", before, w.machine().GetResourceVersion())
					same(t, "looks again without a change", reconcile.Result{}, result)
				}
			})
		}
	}
}

func TestLaw11_AWithdrawalIsSeenPastACacheThatHasNot(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes = accepts("1")
	owner := w.owned(kinds.MachineDeployment)
	w.create(owner.DeepCopy())
	owner.SetAnnotations(nil)
	cluster := capi.Object(kinds.Cluster)
	cluster.SetNamespace(key.Namespace)
	cluster.SetName("eu")
	w.upgrader.Member.Live = fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(cluster, owner).Build()
	before := w.machine().GetResourceVersion()
	result, err := w.reconcile()
	same(t, "error", nil, err)
	same(t, "looks again", true, result.RequeueAfter > 0)
	same(t, "refreshes", 0, w.node.posts)
	same(t, "resourceVersion", before, w.machine().GetResourceVersion())
}

func TestLaw11_AWithdrawnMachineIsNotTriedAgainAndItsNodeIsFreed(t *testing.T) {
	w, d := newDrained(t, none)
	w.node.refreshes, w.node.statuses = accepts("1"), says(failed)
	owner := w.owned(kinds.MachineDeployment)
	w.create(owner)
	w.settle(30 * time.Second) // the first attempt has failed, the next is due in a minute
	same(t, "refreshes", 1, w.node.posts)
	same(t, "cordoned by", "uid-m0", d.by)
	owner.SetAnnotations(nil)
	if err := w.client.Update(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	w.settle(time.Hour)
	same(t, "refreshes", 1, w.node.posts)
	same(t, "cordoned by", "", d.by)
	same(t, "drain", "", w.record())
}

func TestLaw11_AMachineGoesOnWhenItsOwnerIsAskedAgain(t *testing.T) {
	w := newWorld(t, requested())
	asked := w.owned(kinds.MachineDeployment)
	withdrawn := asked.DeepCopy()
	withdrawn.SetAnnotations(nil)
	other := asked.DeepCopy()
	other.SetAnnotations(map[string]string{keys.To: target + "-later"})
	for _, kind := range []schema.GroupVersionKind{kinds.MachineDeployment, controlPlane} {
		woken := false
		for _, watch := range w.upgrader.Watches() {
			if watch.GVK != kind {
				continue
			}
			woken = true
			for name, c := range map[string]struct {
				before, after *unstructured.Unstructured
				matters       bool
				want          []reconcile.Request
			}{
				"asked again":              {withdrawn, asked, true, []reconcile.Request{request()}},
				"asked for something else": {other, asked, true, []reconcile.Request{request()}},
				"as before":                {asked, asked, false, []reconcile.Request{request()}},
				"withdrawn":                {asked, withdrawn, true, nil}, // who frees the machine wakes it
			} {
				same(t, name+": matters", c.matters, watch.Matters(c.before, c.after))
				same(t, name+": wakes", c.want, watch.Requests(t.Context(), c.after))
			}
		}
		same(t, kind.Kind+" is watched", true, woken)
	}
}

// Other controllers may mark a machine just after our owner has: they refresh it then, and we do so afterwards.
func TestFault09b_AMachineThatOtherControllersWereAskedToUpgradeTooIsRefreshedAfterThem(t *testing.T) {
	others := protocol.KeysFor(protocol.OwnPrefix)
	for name, mark := range map[string]string{"asked": others.To, "with a change": others.ChangeID} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.node.refreshes, w.node.statuses = accepts("1"), says(done)
			w.annotate(map[string]string{mark: "7"})
			before := w.machine().GetResourceVersion()
			w.settle(time.Hour)
			same(t, "refreshes meanwhile", 0, w.node.posts)
			same(t, "resourceVersion meanwhile", before, w.machine().GetResourceVersion())
			w.annotate(nil, mark)
			w.settle(time.Hour)
			same(t, "refreshes afterwards", 1, w.node.posts)
		})
	}
}
