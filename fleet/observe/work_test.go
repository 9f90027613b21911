// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

// planned is the upgrade of a cluster of a control plane and a pool of three machines each, two workers at once.
func planned(change ...func(*fleetv1.ClusterUpgrade)) func(*fleetv1.ClusterUpgrade) {
	return func(cu *fleetv1.ClusterUpgrade) {
		cu.Spec.Upgrade = (&fleetv1.PolicyUpgrade{MaxConcurrentMachines: new(int32(2))}).Settings()
		cu.Spec.Owners = []fleetv1.UpgradeOwner{
			{Kind: "CK8sControlPlane", Name: "cp", Role: fleetv1.RoleControlPlane, Target: channel, Version: "v1.33.9"},
			{Kind: "MachineDeployment", Name: "md", Role: fleetv1.RoleWorkers, Target: channel, Version: "v1.33.9"},
		}
		for _, c := range change {
			c(cu)
		}
	}
}

func expected(d time.Duration) func(*fleetv1.ClusterUpgrade) {
	return func(cu *fleetv1.ClusterUpgrade) { cu.Spec.Upgrade.Machine.Expected = lasting(d) }
}

func durations(list ...fleetv1.RoleDuration) func(*fleetv1.WorkloadCluster) {
	return func(wc *fleetv1.WorkloadCluster) { wc.Status.Durations = list }
}

// took is a cluster some machines of which took so many minutes each.
func took(role fleetv1.OwnerRole, minutes ...int) func(*fleetv1.ClusterUpgrade) {
	return func(cu *fleetv1.ClusterUpgrade) {
		cu.Spec.Position = 9
		cu.Status.StartedAt = new(metav1.NewTime(now))
		cu.Status.Owners = []fleetv1.OwnerProgress{{Name: "x", Role: role, Total: 9, Done: 9}}
		for _, m := range minutes {
			cu.Status.Machines = append(cu.Status.Machines, fleetv1.MachineProgress{
				Owner: "x", StartedAt: new(metav1.NewTime(now)),
				EndedAt: new(metav1.NewTime(now.Add(time.Duration(m) * time.Minute))),
			})
		}
		cu.Status.Machines = append(cu.Status.Machines,
			fleetv1.MachineProgress{Owner: "x", StartedAt: new(metav1.NewTime(now))},
			fleetv1.MachineProgress{
				Owner: "x", StartedAt: new(metav1.NewTime(now)), EndedAt: new(metav1.NewTime(now.Add(9 * time.Hour))), LastError: "no",
			})
	}
}

// TestWorkThatIsLeft: machines that are not at the target, in order, each as long as law 10 says.
func TestWorkThatIsLeft(t *testing.T) {
	half := owner("md", map[string]int32{channel: 2, "unknown": 1}, map[string]int32{"v1.33.9": 1, "v1.33.4": 2})
	work := func(cp, workers time.Duration) []policy.Work {
		return []policy.Work{{Machines: 3, AtOnce: 1, Each: cp}, {Machines: 2, AtOnce: 2, Each: workers}}
	}
	samples := func(n int32) func(*fleetv1.WorkloadCluster) {
		return durations(fleetv1.RoleDuration{Role: fleetv1.RoleWorkers, P90: *lasting(7*time.Minute + time.Millisecond), Samples: n})
	}
	const timeout = 30 * time.Minute
	cases := map[string]struct {
		wc     func(*fleetv1.WorkloadCluster)
		cu     func(*fleetv1.ClusterUpgrade)
		others []func(*fleetv1.ClusterUpgrade)
		want   []policy.Work
	}{
		"nothing is known: the timeout":                  {cu: planned(), want: work(timeout, timeout)},
		"what is expected":                               {cu: planned(expected(10 * time.Minute)), want: work(10*time.Minute, 10*time.Minute)},
		"two samples of the cluster are too few":         {wc: samples(2), cu: planned(), want: work(timeout, timeout)},
		"three are enough, in whole seconds, rounded up": {wc: samples(3), cu: planned(), want: work(timeout, 7*time.Minute+time.Second)},
		"four machines of the rollout are too few": {
			cu: planned(), others: []func(*fleetv1.ClusterUpgrade){took("Workers", 1, 2, 3, 4)}, want: work(timeout, timeout),
		},
		"of five the longest counts, those that failed or are not through do not": {
			cu: planned(), others: []func(*fleetv1.ClusterUpgrade){took("Workers", 1, 2), took("Workers", 3, 5, 4)},
			want: work(timeout, 5*time.Minute),
		},
		"of ten all but the longest": {
			cu: planned(), others: []func(*fleetv1.ClusterUpgrade){took("Workers", 1, 2, 3, 4, 5, 6, 7, 8, 9, 60)},
			want: work(timeout, 9*time.Minute),
		},
		"those of the cluster go before those of the rollout": {
			wc: samples(3), cu: planned(), others: []func(*fleetv1.ClusterUpgrade){took("Workers", 9, 9, 9, 9, 9)},
			want: work(timeout, 7*time.Minute+time.Second),
		},
		"all, where each is to be refreshed once more": {
			cu:   planned(func(cu *fleetv1.ClusterUpgrade) { cu.Spec.Upgrade.RefreshedAfter = new(metav1.NewTime(now)) }),
			want: []policy.Work{{Machines: 3, AtOnce: 1, Each: timeout}, {Machines: 3, AtOnce: 2, Each: timeout}},
		},
		"once it has begun, what its owners say": {
			cu: planned(func(cu *fleetv1.ClusterUpgrade) {
				cu.Status.Owners = []fleetv1.OwnerProgress{
					{Name: "cp", Role: fleetv1.RoleControlPlane, Total: 3, Done: 3}, {Name: "md", Role: fleetv1.RoleWorkers, Total: 5, Done: 1},
				}
			}),
			want: []policy.Work{{Machines: 4, AtOnce: 2, Each: timeout}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			wc := seen("mgmt-a/shop/a", func(wc *fleetv1.WorkloadCluster) { wc.Status.Pools = []fleetv1.OwnerStatus{half} })
			if c.wc != nil {
				c.wc(wc)
			}
			h := hubOf(anyTime(), nil, wc)
			c.cu(h.Upgrades[0])
			for _, other := range c.others {
				h.Upgrades = append(h.Upgrades, upgrade("other", other))
			}
			if diff := cmp.Diff(c.want, observe.Fleet(h).Clusters[0].Work); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestHealthIsWhatIsSeenNow: of a member that is away it is not known since it went, and known again since it is back
// (laws 3, 8).
func TestHealthIsWhatIsSeenNow(t *testing.T) {
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	cluster := func(status metav1.ConditionStatus, minutes int) *fleetv1.WorkloadCluster {
		return seen("mgmt-a/shop/a", func(wc *fleetv1.WorkloadCluster) {
			wc.Status.Conditions = nil
			meta.SetStatusCondition(&wc.Status.Conditions, metav1.Condition{
				Type: fleetv1.HealthyCondition, Status: status, LastTransitionTime: metav1.NewTime(at(minutes)),
			})
		})
	}
	reachable := func(kind string, status metav1.ConditionStatus, minutes int) *fleetv1.ManagementCluster {
		mc := member("mgmt-a", nil)
		mc.Status.Conditions = []metav1.Condition{{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(at(minutes))}}
		return mc
	}
	cases := map[string]struct {
		wc     *fleetv1.WorkloadCluster
		mc     *fleetv1.ManagementCluster
		health policy.Health
		since  time.Time
	}{
		"healthy":                     {cluster("True", 5), reachable("Reachable", "True", 1), policy.Healthy, at(5)},
		"not healthy":                 {cluster("False", 5), reachable("Reachable", "True", 1), policy.Unhealthy, at(5)},
		"not known":                   {cluster("Unknown", 5), reachable("Reachable", "True", 1), policy.HealthUnknown, at(5)},
		"its member is away":          {cluster("True", 5), reachable("Reachable", "False", 9), policy.HealthUnknown, at(9)},
		"its member is back":          {cluster("True", 5), reachable("Reachable", "True", 20), policy.Healthy, at(20)},
		"a member that is only ready": {cluster("True", 5), reachable("Ready", "True", 1), policy.Healthy, at(5)},
		"a member never looked at":    {cluster("True", 5), member("mgmt-a", nil), policy.HealthUnknown, time.Time{}},
		"a cluster never looked at": {
			seen("mgmt-a/shop/a", func(wc *fleetv1.WorkloadCluster) { wc.Status.Conditions = nil }),
			reachable("Reachable", "True", 1), policy.HealthUnknown, at(1),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubOf(anyTime(), nil, c.wc)
			h.Members["mgmt-a"] = c.mc
			got := observe.Fleet(h).Clusters[0]
			if got.Health != c.health || !got.HealthSince.Equal(c.since) {
				t.Errorf("%q since %s", got.Health, got.HealthSince)
			}
		})
	}
}
