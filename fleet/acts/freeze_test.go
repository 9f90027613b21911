// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// frozen is a Freeze of namespace fleet.
func frozen(change func(*fleetv1.FreezeSpec)) *fleetv1.Freeze {
	fz := &fleetv1.Freeze{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "holidays", UID: "uid-holidays", Generation: 1},
		Spec:       fleetv1.FreezeSpec{Scope: fleetv1.FreezeScope{All: new(true)}, Reason: "Christmas", By: "jane"},
	}
	change(&fz.Spec)
	return fz
}

func TestAFreezeBeginsAndEndsByTheClockAlone(t *testing.T) {
	fz := frozen(func(s *fleetv1.FreezeSpec) {
		s.Effect = fleetv1.FreezeNoNewClusters
		s.From, s.Until = new(metav1.NewTime(noon.Add(time.Minute))), new(metav1.NewTime(noon.Add(12*time.Minute)))
	})
	w := newWorld(t, fz)
	for _, want := range []struct {
		said, until string
		again       time.Duration
	}{
		{"False NotBegun: begins at 2026-11-30T12:01:00Z", "2026-11-30T12:01:00Z", time.Minute},
		{"True InForce: no cluster begins before 2026-11-30T12:12:00Z: Christmas (jane)", "2026-11-30T12:12:00Z", 5 * time.Minute},
		{"True InForce: no cluster begins before 2026-11-30T12:12:00Z: Christmas (jane)", "2026-11-30T12:12:00Z", 5 * time.Minute},
		{"True InForce: no cluster begins before 2026-11-30T12:12:00Z: Christmas (jane)", "2026-11-30T12:12:00Z", time.Minute},
		{"False Over: ended at 2026-11-30T12:12:00Z", "", 0},
	} {
		again := w.look(w.freezes, fz)
		if got := said(t, fz.Status.Conditions, fleetv1.ActiveCondition); got != want.said || fz.Status.Until != want.until || again != want.again {
			t.Errorf("it says %q until %q and looks again after %s, want %+v", got, fz.Status.Until, again, want)
		}
		w.clock.Step(again)
	}
}

func TestAFreezeWithoutAnEndStaysUntilAPersonDeletesIt(t *testing.T) {
	fz := frozen(func(*fleetv1.FreezeSpec) {})
	w := newWorld(t, fz)
	again := w.look(w.freezes, fz)
	want := fleetv1.FreezeStatus{
		ObservedGeneration: 1, Effect: fleetv1.FreezeNoNewMachines, Scope: "all", Clusters: new(int32(0)), Until: "act",
		Conditions: []metav1.Condition{{
			Type: fleetv1.ActiveCondition, Status: metav1.ConditionTrue, Reason: fleetv1.InForceReason, ObservedGeneration: 1,
			LastTransitionTime: metav1.NewTime(noon), Message: "no machine begins until it is deleted: Christmas (jane)",
		}},
	}
	if diff := cmp.Diff(want, fz.Status); diff != "" || again != 0 {
		t.Errorf("looks again after %s; %s", again, diff)
	}
}

// recorded is a cluster of the fleet.
func recorded(ns, member, name, team string) *fleetv1.WorkloadCluster {
	wc := &fleetv1.WorkloadCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: member + "-" + name, UID: types.UID("uid-" + ns + name), Labels: map[string]string{"team": team},
	}}
	wc.Spec.ManagementCluster, wc.Spec.Cluster.Namespace, wc.Spec.Cluster.Name = member, "shop", name
	return wc
}

// carried is a rollout of a policy with a cluster in its plan.
func carried(policy, cluster string, phase fleetv1.RolloutPhase) []client.Object {
	ro := &fleetv1.Rollout{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: policy + string(phase), UID: types.UID(policy + string(phase))}}
	ro.Spec.Policy.Name, ro.Status.Phase = policy, phase
	cu := &fleetv1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ro.Name + "-" + cluster}}
	cu.Spec.Rollout = fleetv1.LocalRef{Name: ro.Name, UID: ro.UID}
	cu.Spec.WorkloadCluster.UID = types.UID("uid-fleet" + cluster)
	return []client.Object{ro, cu}
}

func TestAFreezeSaysWhatItCovers(t *testing.T) {
	objects := []client.Object{
		recorded(namespace, "mgmt-a", "a", "shop"), recorded(namespace, "mgmt-a", "b", "bank"),
		recorded(namespace, "mgmt-b", "c", "shop"), recorded("other", "mgmt-a", "d", "shop"),
	}
	objects = append(objects, carried("k8s", "a", fleetv1.RolloutProgressing)...)
	objects = append(objects, carried("k8s", "b", fleetv1.RolloutSucceeded)...)
	objects = append(objects, carried("next", "a", fleetv1.RolloutPaused)...)
	objects = append(objects, carried("next", "c", fleetv1.RolloutHalted)...)
	for name, c := range map[string]struct {
		scope     fleetv1.FreezeScope
		namespace string
		clusters  int32
		text      string
	}{
		"all":                              {fleetv1.FreezeScope{All: new(true)}, namespace, 3, "all"},
		"all, from the hub's namespace":    {fleetv1.FreezeScope{All: new(true)}, "windlass-system", 4, "all"},
		"a policy":                         {fleetv1.FreezeScope{Policies: []string{"k8s"}}, namespace, 1, "policies k8s"},
		"two policies for one cluster":     {fleetv1.FreezeScope{Policies: []string{"k8s", "next"}}, namespace, 2, "policies k8s, next"},
		"a policy without an open rollout": {fleetv1.FreezeScope{Policies: []string{"old"}}, namespace, 0, "policies old"},
		"clusters": {
			fleetv1.FreezeScope{Clusters: []string{"mgmt-a/shop/b", "mgmt-z/b/c"}}, namespace, 1, "clusters mgmt-a/shop/b, mgmt-z/b/c",
		},
		"a management cluster": {fleetv1.FreezeScope{ManagementClusters: []string{"mgmt-a"}}, namespace, 2, "management clusters mgmt-a"},
		"labels": {
			fleetv1.FreezeScope{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}}, namespace, 2, "team=shop",
		},
		"nothing, which stops all":           {fleetv1.FreezeScope{}, namespace, 3, "all, since it cannot be read"},
		"empty labels, which stop all":       {fleetv1.FreezeScope{Selector: &metav1.LabelSelector{}}, namespace, 3, "all, since it cannot be read"},
		"labels that make no sense stop all": {fleetv1.FreezeScope{Selector: senseless()}, namespace, 3, "all, since it cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			fz := frozen(func(s *fleetv1.FreezeSpec) { s.Scope = c.scope })
			fz.Namespace = c.namespace
			w := newWorld(t, append(objects, fz)...)
			w.look(w.freezes, fz)
			if s := fz.Status; s.Scope != c.text || *s.Clusters != c.clusters {
				t.Errorf("it says %q and %d clusters, want %q and %d", s.Scope, *s.Clusters, c.text, c.clusters)
			}
		})
	}
}

func senseless() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Nearly"}}}
}
