// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// fleet is a hub with policy k8s, its Rollout, and three clusters of one member.
func fleet(t *testing.T) (h *hub, name string) {
	t.Helper()
	h = newHub(t, standing("k8s"), member("mgmt-a", 3), recorded("a"), recorded("b"), recorded("c"))
	h.turn()
	return h, h.allRollouts()[0].Name
}

// started is a fleet whose plan is committed and whose first cluster runs.
func started(t *testing.T) (h *hub, name string) {
	t.Helper()
	h, name = fleet(t)
	h.settle(name)
	if h.running() != 1 {
		t.Fatalf("%d clusters run", h.running())
	}
	return h, name
}

func (h *hub) plan(name string) *fleetv1.RolloutPlan {
	h.t.Helper()
	ro := &fleetv1.Rollout{}
	h.get(name, ro)
	return ro.Status.Plan
}

func TestAPlanIsCommittedWhenAllOfItIsThere(t *testing.T) {
	h, name := fleet(t)
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	if made := h.upgrades(); len(made) != 3 || h.plan(name) != nil || h.running() != 0 {
		t.Errorf("at first: %d made, plan %+v, %d run", len(made), h.plan(name), h.running())
	}
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	if plan := h.plan(name); plan == nil || plan.Total != 3 || h.running() != 0 {
		t.Errorf("then: plan %+v, %d run", plan, h.running())
	}
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	if h.running() != 1 {
		t.Errorf("last: %d run", h.running())
	}
}

func TestAClusterUpgradeSaysWhatIsToBeDone(t *testing.T) {
	h, name := fleet(t)
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	ro := &fleetv1.Rollout{}
	h.get(name, ro)
	got := &fleetv1.ClusterUpgrade{}
	h.get(name+"-b", got)
	want := fleetv1.ClusterUpgradeSpec{
		Rollout:         fleetv1.LocalRef{Name: name, UID: ro.UID},
		WorkloadCluster: fleetv1.LocalRef{Name: "mgmt-a-b-b", UID: "uid-b"}, ManagementCluster: "mgmt-a",
		Cluster: fleetv1.ObjectRef{Namespace: "shop", Name: "b", UID: "c-b"}, Wave: "rest", Position: 2,
		Intent: fleetv1.IntentWait,
		Owners: []fleetv1.UpgradeOwner{
			{
				Kind: "CK8sControlPlane", Name: "b-cp", Role: fleetv1.RoleControlPlane,
				Target: "channel=1.33-classic/stable", Version: "v1.33.9",
			},
			{
				Kind: "MachineDeployment", Name: "b-md", Role: fleetv1.RoleWorkers, Target: "channel=1.33-classic/stable",
				Version: "v1.33.9",
			},
		},
	}
	if diff := cmp.Diff(want, got.Spec, cmpopts.IgnoreFields(want, "Upgrade", "Predicted")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// One cluster of six machines, 30 minutes each, goes before it.
	p := got.Spec.Predicted
	if p == nil || p.StartAt.Sub(h.clock.Now()).Round(time.Minute) != 3*time.Hour ||
		p.EndAt.Sub(p.StartAt.Time).Round(time.Minute) != 3*time.Hour {
		t.Errorf("predicted: %+v", p)
	}
	if got.Spec.Upgrade.Machine.MaxAttempts == 0 || got.Spec.Upgrade.Machine.Timeout.Duration == 0 {
		t.Errorf("defaults are not filled in: %+v", got.Spec.Upgrade)
	}
}

// TestACrashBetweenCreatesRepeatsNothing: what was made stays, what is missing is made, then the plan is committed.
func TestACrashBetweenCreatesRepeatsNothing(t *testing.T) {
	h, name := fleet(t)
	crash, created := errors.New("connection reset"), 0
	h.refuse = func(client.Object) error {
		if created++; created > 2 {
			return crash
		}
		return nil
	}
	if _, err := h.look(name); !errors.Is(err, crash) {
		t.Fatalf("it gave %v", err)
	}
	before := uids(h.upgrades())
	if len(before) != 2 || h.plan(name) != nil {
		t.Fatalf("%d made, plan %+v", len(before), h.plan(name))
	}
	h.refuse = nil
	h.restart()
	h.settle(name)
	after := uids(h.upgrades())
	for upgrade, uid := range before {
		if after[upgrade] != uid {
			t.Errorf("%s was made twice", upgrade)
		}
	}
	if len(after) != 3 || h.plan(name) == nil || h.running() != 1 {
		t.Errorf("%d made, plan %+v, %d run", len(after), h.plan(name), h.running())
	}
}

func uids(upgrades []fleetv1.ClusterUpgrade) map[string]types.UID {
	all := map[string]types.UID{}
	for _, cu := range upgrades {
		all[cu.Name] = cu.UID
	}
	return all
}

// TestBeforeTheCommitTheSetFollowsTheInventory, and after it never: who leaves keeps its place, and who comes late goes to
// catch-up (law 15).
func TestBeforeTheCommitTheSetFollowsTheInventory(t *testing.T) {
	h, name := fleet(t)
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	h.remove("c")
	h.settle(name)
	if made := slices.Sorted(maps.Keys(uids(h.upgrades()))); !slices.Equal(made, []string{name + "-a", name + "-b"}) {
		t.Errorf("before: %v", made)
	}
	committed := h.plan(name)
	h.remove("b")
	if err := h.live.Create(t.Context(), recorded("d")); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	after := map[string]string{}
	for _, cu := range h.upgrades() {
		after[cu.Name] = cu.Spec.Wave
	}
	want := map[string]string{name + "-a": "rest", name + "-b": "rest", name + "-d": "catch-up"}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("waves after (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(committed, h.plan(name)); diff != "" {
		t.Errorf("the plan (-committed +later):\n%s", diff)
	}
}

// remove forgets a recorded cluster, as the inventory does when it is gone.
func (h *hub) remove(cluster string) {
	h.t.Helper()
	if err := h.live.Delete(h.t.Context(), recorded(cluster)); err != nil {
		h.t.Fatal(err)
	}
	mc := &fleetv1.ManagementCluster{}
	h.get("mgmt-a", mc)
	*mc.Status.Clusters--
	if err := h.live.Status().Update(h.t.Context(), mc); err != nil {
		h.t.Fatal(err)
	}
}

// TestACommittedPlanIsNotMadeAgain by a process whose cache does not show it: that would delete what runs.
func TestACommittedPlanIsNotMadeAgain(t *testing.T) {
	h, name := fleet(t)
	if _, err := h.look(name); err != nil {
		t.Fatal(err)
	}
	before := uids(h.upgrades())
	h.onlyRollouts = true
	h.hold()
	if _, err := h.look(name); err != nil || h.plan(name) == nil {
		t.Fatalf("plan %+v, %v", h.plan(name), err)
	}
	h.remove("c")
	h.settle(name)
	if diff := cmp.Diff(before, uids(h.upgrades())); diff != "" {
		t.Errorf("by the process that committed it (-before +after):\n%s", diff)
	}
	old := h.behind
	h.release()
	h.settle(name)
	h.behind = old
	h.restart()
	h.settle(name)
	if diff := cmp.Diff(before, uids(h.upgrades())); diff != "" || h.running() != 1 {
		t.Errorf("by the next leader: %d run (-before +after):\n%s", h.running(), diff)
	}
}

// TestALimitHoldsOnACacheThatIsBehind: a decision waits until the cache has seen the last one (law 4).
func TestALimitHoldsOnACacheThatIsBehind(t *testing.T) {
	h, name := fleet(t)
	for range 2 {
		if _, err := h.look(name); err != nil {
			t.Fatal(err)
		}
	}
	h.hold()
	for range 5 {
		if _, err := h.look(name); err != nil || h.running() != 1 {
			t.Fatalf("%d clusters run, %v", h.running(), err)
		}
	}
	if result, err := h.look(name); err != nil || result.RequeueAfter != time.Second {
		t.Errorf("it looks again after %s, %v", result.RequeueAfter, err)
	}
	h.release()
	h.settle(name)
	if h.running() != 1 {
		t.Errorf("%d clusters run", h.running())
	}
}

// TestALimitHoldsAcrossLeaders: a new leader looks past a cache that has not seen the last one's start (law 4), and
// does not go back to it before it has.
func TestALimitHoldsAcrossLeaders(t *testing.T) {
	h, name := fleet(t)
	for range 2 {
		if _, err := h.look(name); err != nil {
			t.Fatal(err)
		}
	}
	h.hold()
	if _, err := h.look(name); err != nil || h.running() != 1 {
		t.Fatalf("%d clusters run, %v", h.running(), err)
	}
	h.restart()
	for n := range 5 {
		if _, err := h.look(name); err != nil {
			t.Fatal(err)
		}
		if h.running() != 1 {
			t.Fatalf("look %d of the new leader: %d clusters run", n, h.running())
		}
	}
}

// hindered is a fleet with a committed plan, one cluster of which was hindered in the state of the cache that is
// returned and is not any more: on that cache another cluster would be started.
func hindered(t *testing.T) (h *hub, name string, old client.Reader) {
	t.Helper()
	h, name = fleet(t)
	for range 2 {
		if _, err := h.look(name); err != nil {
			t.Fatal(err)
		}
	}
	say := func(reason string) {
		cu := &fleetv1.ClusterUpgrade{}
		h.get(name+"-a", cu)
		cu.Status.Phase, cu.Status.Reason = fleetv1.UpgradePending, reason
		if err := h.live.Status().Update(t.Context(), cu); err != nil {
			t.Fatal(err)
		}
	}
	say(fleetv1.ClaimedByOtherReason)
	h.hold()
	old = h.behind
	h.release()
	say("")
	return h, name, old
}

// TestANewLeaderDoesNotGoBackToAnOlderCache than what it has read live (law 4).
func TestANewLeaderDoesNotGoBackToAnOlderCache(t *testing.T) {
	h, name, old := hindered(t)
	if _, err := h.look(name); err != nil || h.running() != 1 {
		t.Fatalf("%d clusters run, %v", h.running(), err)
	}
	h.behind = old
	h.restart()
	for n := range 5 {
		if _, err := h.look(name); err != nil || h.running() != 1 {
			t.Fatalf("look %d of the new leader: %d clusters run, %v", n, h.running(), err)
		}
	}
	h.release()
	h.settle(name)
	if h.running() != 1 {
		t.Errorf("%d clusters run", h.running())
	}
}

// TestAnotherNamespaceForgetsNothing: its listing says nothing of what was written here.
func TestAnotherNamespaceForgetsNothing(t *testing.T) {
	h, name, old := hindered(t)
	other := &fleetv1.Rollout{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "ro"}}
	if err := h.live.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := h.look(name); err != nil || h.running() != 1 {
		t.Fatalf("%d clusters run, %v", h.running(), err)
	}
	elsewhere := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(other)}
	if _, err := h.rollouts.Reconcile(t.Context(), elsewhere); err != nil {
		t.Fatal(err)
	}
	h.behind = old
	if _, err := h.look(name); err != nil || h.running() != 1 {
		t.Errorf("%d clusters run, %v", h.running(), err)
	}
}

// TestTheGateRefusesStarts: a hub that may no longer lead starts nothing.
func TestTheGateRefusesStarts(t *testing.T) {
	h, name := fleet(t)
	for range 2 {
		if _, err := h.look(name); err != nil {
			t.Fatal(err)
		}
	}
	h.gate = errors.New("the lease is old")
	if _, err := h.look(name); !errors.Is(err, h.gate) || h.running() != 0 {
		t.Errorf("%d run, %v", h.running(), err)
	}
	h.gate = nil
	h.settle(name)
	if h.running() != 1 {
		t.Errorf("with the gate open %d run", h.running())
	}
}

// TestANewTargetStopsTheOldRollout: what runs of the old one counts against the limit of the new (law 4).
func TestANewTargetStopsTheOldRollout(t *testing.T) {
	h, old := started(t)
	h.retarget(second)
	h.turn()
	fresh := ""
	for _, ro := range h.allRollouts() {
		if ro.Name != old {
			fresh = ro.Name
		}
	}
	h.settle(fresh)
	h.settle(old)
	running := map[string]fleetv1.Intent{}
	for _, cu := range h.upgrades() {
		if cu.Spec.Intent != fleetv1.IntentWait {
			running[cu.Spec.Rollout.Name] = cu.Spec.Intent
		}
	}
	if diff := cmp.Diff(map[string]fleetv1.Intent{old: fleetv1.IntentWithdraw}, running); diff != "" {
		t.Errorf("intents by rollout (-want +got):\n%s", diff)
	}
	ro := &fleetv1.Rollout{}
	h.get(old, ro)
	if ro.Status.Phase != fleetv1.RolloutSuperseded {
		t.Errorf("the old one is %s", ro.Status.Phase)
	}
}

// TestDeletingIsCancelling: what runs is withdrawn, and the Rollout is let go when it has been, or after 20 s (law 20).
func TestDeletingIsCancelling(t *testing.T) {
	for name, settles := range map[string]bool{"and settled": true, "of a member that is away": false} {
		t.Run(name, func(t *testing.T) {
			h, rollout := started(t)
			ro := &fleetv1.Rollout{}
			h.get(rollout, ro)
			if err := h.live.Delete(t.Context(), ro); err != nil {
				t.Fatal(err)
			}
			h.get(rollout, ro)
			h.clock.SetTime(ro.DeletionTimestamp.Time)
			if _, err := h.look(rollout); err != nil {
				t.Fatal(err)
			}
			if h.running() != 0 {
				t.Errorf("%d run", h.running())
			}
			if settles {
				h.withdrawn()
			} else {
				h.clock.Step(20 * time.Second)
			}
			if _, err := h.look(rollout); err != nil {
				t.Fatal(err)
			}
			err := h.live.Get(t.Context(), client.ObjectKeyFromObject(ro), ro)
			if !apierrors.IsNotFound(err) || len(h.upgrades()) != 0 {
				t.Errorf("%v, %d ClusterUpgrades are left", err, len(h.upgrades()))
			}
		})
	}
}

// TestDeletingLeavesTheFinalizersOfOthers, also of one that was added since the Rollout was read.
func TestDeletingLeavesTheFinalizersOfOthers(t *testing.T) {
	h, rollout := started(t)
	ro := &fleetv1.Rollout{}
	h.get(rollout, ro)
	if err := h.live.Delete(t.Context(), ro); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := h.look(rollout); err != nil {
			t.Fatal(err)
		}
	}
	h.withdrawn()
	const others = "example.com/keep"
	added := false
	h.rollouts.Hub = interceptor.NewClient(h.cache.(client.WithWatch), interceptor.Funcs{Patch: func(
		ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption,
	) error {
		if _, is := o.(*fleetv1.Rollout); is && !added {
			added = true
			h.get(rollout, ro)
			ro.Finalizers = append(ro.Finalizers, others)
			if err := h.live.Update(ctx, ro); err != nil {
				return err
			}
		}
		return c.Patch(ctx, o, p, opts...)
	}})
	h.settle(rollout)
	h.get(rollout, ro)
	if diff := cmp.Diff([]string{others}, ro.Finalizers); diff != "" || !added || len(h.upgrades()) != 0 {
		t.Errorf("%d ClusterUpgrades are left; finalizers (-want +got):\n%s", len(h.upgrades()), diff)
	}
}

// withdrawn reports every ClusterUpgrade as taken back and settled.
func (h *hub) withdrawn() {
	h.t.Helper()
	for _, cu := range h.upgrades() {
		cu.Status.Phase, cu.Status.Settled, cu.Status.ObservedGeneration = fleetv1.UpgradeSkipped, true, cu.Generation
		if err := h.live.Status().Update(h.t.Context(), &cu); err != nil {
			h.t.Fatal(err)
		}
	}
}

// TestPlanningWaitsForTheWholeInventory and says for whose.
func TestPlanningWaitsForTheWholeInventory(t *testing.T) {
	silent := member("mgmt-b", 0)
	silent.Status.Conditions, silent.Status.Clusters = nil, nil
	cases := map[string]struct {
		objects []client.Object
		reason  string
		message string
	}{
		"a cluster is not recorded yet": {
			[]client.Object{member("mgmt-a", 2), recorded("a")},
			"InventoryIncomplete",
			"waiting for the clusters of mgmt-a (1 of 2 recorded)",
		},
		"a member was never looked at": {
			[]client.Object{member("mgmt-a", 1), recorded("a"), silent},
			"InventoryIncomplete",
			"waiting for the clusters of mgmt-b (not looked at yet)",
		},
		"there is no cluster": {[]client.Object{member("mgmt-a", 0)}, "NoClusters", "the policy selects no cluster"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, append(c.objects, standing("k8s"))...)
			h.turn()
			rollout := h.allRollouts()[0].Name
			h.settle(rollout)
			ro := &fleetv1.Rollout{}
			h.get(rollout, ro)
			if ro.Status.Plan != nil || len(h.upgrades()) != 0 || ro.Status.Phase != fleetv1.RolloutPlanning {
				t.Errorf("%s, plan %+v, %d made", ro.Status.Phase, ro.Status.Plan, len(h.upgrades()))
			}
			if w := ro.Status.Waiting; w == nil || w.Reason != c.reason || w.Message != c.message {
				t.Errorf("waiting: %+v", w)
			}
		})
	}
}

func TestALookThatFindsNothingNewWritesNothing(t *testing.T) {
	h, name := started(t)
	ro := &fleetv1.Rollout{}
	h.get(name, ro)
	h.settle(name)
	again := &fleetv1.Rollout{}
	h.get(name, again)
	if ro.ResourceVersion != again.ResourceVersion {
		t.Errorf("written again: %s", cmp.Diff(ro.Status, again.Status))
	}
}
