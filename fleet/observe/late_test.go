// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
)

// joining is a rollout of cluster a, and cluster b that is selected since.
func joining(change ...func(*fleetv1.WorkloadCluster)) (observe.Hub, observe.Inventory) {
	a, b := seen("mgmt-a/shop/a"), seen("mgmt-a/shop/b", change...)
	h := hubOf(anyTime(), nil, a)
	h.Upgrades[0].Spec.Position = 7
	h.Policy.Spec.Clusters.All = new(true)
	return h, observe.Inventory{Members: h.Members, Clusters: []*fleetv1.WorkloadCluster{a, b}}
}

// TestC062_WhoJoinsLateIsCaughtUp, once it is seen and if the target suits it; the plan stays as it was committed.
func TestC062_WhoJoinsLateIsCaughtUp(t *testing.T) {
	closed := func(ro *fleetv1.Rollout, at time.Time) {
		for i := range ro.Status.Waves {
			ro.Status.Waves[i].ClosedAt = new(metav1.NewTime(at))
		}
	}
	cases := map[string]struct {
		wc     func(*fleetv1.WorkloadCluster)
		change func(*observe.Hub)
		joins  bool
	}{
		"a cluster that is behind": {joins: true},
		"one at the target": {wc: func(wc *fleetv1.WorkloadCluster) {
			wc.Status.ControlPlane = new(owner("cp", already, map[string]int32{"v1.33.9": 3}))
		}},
		"one at the target that is not healthy now": {wc: func(wc *fleetv1.WorkloadCluster) {
			wc.Status.ControlPlane = new(owner("cp", already, map[string]int32{"v1.33.9": 3}))
			wc.Status.Conditions[0].Status = metav1.ConditionFalse
		}},
		"one that has not been seen": {wc: func(wc *fleetv1.WorkloadCluster) { wc.Status.ObservedTime = nil }},
		"one that the target does not suit": {wc: func(wc *fleetv1.WorkloadCluster) {
			wc.Status.ControlPlane.ByKubelet[0].Name = "v1.34.0"
		}},
		"one that is not selected": {change: func(h *observe.Hub) {
			h.Policy.Spec.Clusters = fleetv1.ClusterSelection{Names: []string{"mgmt-a/shop/a"}}
		}},
		"the policy ignores late ones": {change: func(h *observe.Hub) {
			h.Policy.Spec.CatchUp = &fleetv1.CatchUp{LateJoiners: fleetv1.LateJoinersIgnore}
		}},
		"the policy is paused, and plans": {change: func(h *observe.Hub) { h.Policy.Spec.Paused = true }, joins: true},
		"the policy is not acted on":      {change: func(h *observe.Hub) { h.Policy.Spec.Unknown = []string{"spec.x"} }},
		"the policy is gone":              {change: func(h *observe.Hub) { h.Policy = nil }},
		"the plan is not committed":       {change: func(h *observe.Hub) { h.Rollout.Status.Plan = nil }},
		"it is halted":                    {change: func(h *observe.Hub) { h.Rollout.Status.Phase = fleetv1.RolloutHalted }},
		"a newer target took over":        {change: func(h *observe.Hub) { h.Superseded = true }},
		"it is being deleted": {change: func(h *observe.Hub) {
			h.Rollout.DeletionTimestamp = new(metav1.NewTime(now))
		}},
		"it succeeded an hour ago": {change: func(h *observe.Hub) {
			h.Rollout.Status.Phase = fleetv1.RolloutSucceeded
			closed(h.Rollout, now.Add(-time.Hour))
		}, joins: true},
		"catch-up is over": {change: func(h *observe.Hub) {
			h.Policy.Spec.CatchUp = &fleetv1.CatchUp{Until: lasting(time.Hour)}
			closed(h.Rollout, now.Add(-time.Hour))
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.wc == nil {
				c.wc = func(*fleetv1.WorkloadCluster) {}
			}
			h, inv := joining(c.wc)
			if c.change != nil {
				c.change(&h)
			}
			late, err := observe.LateJoiners(h, inv, now)
			if err != nil {
				t.Fatal(err)
			}
			type place struct {
				Cluster, Wave, Label string
				Position             int32
			}
			var want, got []place
			if c.joins {
				want = []place{{"mgmt-a/shop/b", "catch-up", "catch-up", 8}}
			}
			for _, cu := range late {
				got = append(got, place{cu.Path(), cu.Spec.Wave, cu.Labels[observe.WaveLabel], cu.Spec.Position})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAPredictionAsksForNothing: a spec that only a prediction changed holds no slot (law 4).
func TestAPredictionAsksForNothing(t *testing.T) {
	foreseen := func(generation string) func(*fleetv1.ClusterUpgrade) {
		return func(cu *fleetv1.ClusterUpgrade) {
			cu.Annotations = map[string]string{observe.ForeseenAnnotation: generation}
		}
	}
	cases := map[string]struct {
		cu       *fleetv1.ClusterUpgrade
		inFlight bool
	}{
		"predicted once":                  {upgrade("a", intent(fleetv1.IntentWait, 2, 1), foreseen("2")), false},
		"started after it was predicted":  {upgrade("a", intent(fleetv1.IntentRun, 3, 1), foreseen("2")), true},
		"taken back, not yet seen":        {upgrade("a", intent(fleetv1.IntentWait, 4, 3), foreseen("2")), true},
		"taken back and given up":         {upgrade("a", intent(fleetv1.IntentWait, 4, 4), foreseen("2")), false},
		"a mark that is no number":        {upgrade("a", intent(fleetv1.IntentWait, 2, 1), foreseen("two")), true},
		"a mark that is less than no one": {upgrade("a", intent(fleetv1.IntentWait, 1, 0), foreseen("-1")), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := observe.InFlight(c.cu); got != c.inFlight {
				t.Errorf("in flight: %t", got)
			}
		})
	}
}

// TestAPlanSaysWhenEachClusterWillBeUpgraded, in the hours of its calendars.
func TestAPlanSaysWhenEachClusterWillBeUpgraded(t *testing.T) {
	berlin := func(wc *fleetv1.WorkloadCluster) { wc.Status.TimeZone = "Europe/Berlin" }
	a, b := seen("mgmt-a/shop/a", berlin), seen("mgmt-a/shop/b", berlin)
	h := hubOf(naming("nights"), []*fleetv1.MaintenanceCalendar{calendar("nights", "0 22 * * *", 2*time.Hour, perCluster)}, a, b)
	h.Rollout.Status.Waves = []fleetv1.WaveStatus{{Name: "early", Planned: 2, MaxConcurrency: 1}}
	h.Members["mgmt-a"].Spec.Access = fleetv1.AccessUpgrade
	h.Members["mgmt-a"].Status.Conditions = []metav1.Condition{{Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue}}
	for i, cu := range h.Upgrades {
		cu.Spec.Position = int32(i + 1)
		planned()(cu) // three machines of half an hour each
	}
	observe.Foresee(h, now)
	got := map[string]string{}
	for _, cu := range h.Upgrades {
		p := cu.Spec.Predicted
		if p == nil {
			t.Fatalf("%s: none", cu.Name)
		}
		got[cu.Name] = p.StartAt.UTC().Format("02T15:04") + " " + p.EndAt.UTC().Format("02T15:04") + " " + p.Window
	}
	want := map[string]string{
		"a": "30T21:00 30T22:30 Mon 2026-11-30 22:00 CET – Tue 2026-12-01 00:00 CET",
		// A machine of b would not end in what is left of the first night.
		"b": "01T21:00 01T22:30 Tue 2026-12-01 22:00 CET – Wed 2026-12-02 00:00 CET",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if eta := observe.ETA(h); !eta.Equal(h.Upgrades[1].Spec.Predicted.EndAt) {
		t.Errorf("the last wave is complete at %s", eta)
	}
	h.Upgrades[1].Spec.Predicted = nil
	if eta := observe.ETA(h); eta != nil {
		t.Errorf("it is complete at %s, though nobody knows when one of it is upgraded", eta)
	}
}

func TestChangesThatMatterToARollout(t *testing.T) {
	cases := map[string]struct {
		change  func(*fleetv1.WorkloadCluster)
		matters bool
	}{
		"none": {func(*fleetv1.WorkloadCluster) {}, false},
		"when it was seen": {func(wc *fleetv1.WorkloadCluster) {
			wc.Status.ObservedTime = new(metav1.NewTime(now.Add(time.Hour)))
		}, false},
		"what its health says": {func(wc *fleetv1.WorkloadCluster) { wc.Status.Conditions[0].Message = "fine" }, false},
		"who claims it":        {func(wc *fleetv1.WorkloadCluster) { wc.Status.ClaimedBy = "hub/ns/ro" }, false},
		"its health":           {func(wc *fleetv1.WorkloadCluster) { wc.Status.Conditions[0].Status = "False" }, true},
		"a label":              {func(wc *fleetv1.WorkloadCluster) { wc.Labels["tier"] = "prod" }, true},
		"its time zone":        {func(wc *fleetv1.WorkloadCluster) { wc.Status.TimeZone = "Asia/Tokyo" }, true},
		"that it is not seen":  {func(wc *fleetv1.WorkloadCluster) { wc.Status.ObservedTime = nil }, true},
		"its machines":         {func(wc *fleetv1.WorkloadCluster) { wc.Status.ControlPlane.ByKubelet[0].Count = 2 }, true},
		"how long they take": {func(wc *fleetv1.WorkloadCluster) {
			wc.Status.Durations = []fleetv1.RoleDuration{{Role: fleetv1.RoleWorkers, Samples: 3}}
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := observe.Matters(seen("mgmt-a/shop/a"), seen("mgmt-a/shop/a", c.change)); got != c.matters {
				t.Errorf("it matters: %t", got)
			}
		})
	}
}
