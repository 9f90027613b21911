// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/version"
)

// only plans one cluster.
func only(
	t *testing.T, wc *fleetv1.WorkloadCluster, target fleetv1.Target, upgrade fleetv1.PolicyUpgrade,
) policy.Candidate {
	t.Helper()
	inv := observe.Inventory{
		Members:  map[string]*fleetv1.ManagementCluster{"mgmt-a": member("mgmt-a", nil)},
		Clusters: []*fleetv1.WorkloadCluster{wc},
	}
	spec := &fleetv1.RolloutPolicySpec{Clusters: fleetv1.ClusterSelection{All: new(true)}, Upgrade: &upgrade}
	in, err := observe.PlanInput(spec, target, inv)
	if err != nil || len(in.Candidates) != 1 {
		t.Fatalf("%+v, %v", in.Candidates, err)
	}
	return in.Candidates[0]
}

// at is a cluster whose control plane and pool of workers are as given.
func at(cp, pool fleetv1.OwnerStatus, change ...func(*fleetv1.WorkloadCluster)) *fleetv1.WorkloadCluster {
	return seen("mgmt-a/shop/a1", append([]func(*fleetv1.WorkloadCluster){func(wc *fleetv1.WorkloadCluster) {
		wc.Status.ControlPlane, wc.Status.Pools = &cp, []fleetv1.OwnerStatus{pool}
	}}, change...)...)
}

func health(status metav1.ConditionStatus) func(*fleetv1.WorkloadCluster) {
	return func(wc *fleetv1.WorkloadCluster) {
		meta.SetStatusCondition(&wc.Status.Conditions, metav1.Condition{Type: fleetv1.HealthyCondition, Status: status})
	}
}

// TestAtTargetIsProofForThisTarget: nothing less counts as done before it began (law 3).
func TestAtTargetIsProofForThisTarget(t *testing.T) {
	newest, older := map[string]int32{"v1.33.9": 3}, map[string]int32{"v1.33.4": 3}
	mixed := map[string]int32{"v1.33.9": 2, "v1.33.10": 1}
	minor := fleetv1.Target{Channel: target.Channel, Version: "v1.33"}
	again := fleetv1.Target{Channel: target.Channel, Version: "v1.33.9", RefreshedAfter: new(metav1.NewTime(now))}
	cases := map[string]struct {
		wc     *fleetv1.WorkloadCluster
		target fleetv1.Target
		order  fleetv1.Order
		want   bool
	}{
		"every machine is proven": {wc: at(owner("cp", already, newest), owner("md", already, newest)), want: true},
		"the right release and an older kubelet": {
			wc: at(owner("cp", already, newest), owner("md", already, older)),
		},
		"one machine of another release": {
			wc: at(owner("cp", already, newest), owner("md", map[string]int32{channel: 2, "channel=1.33/edge": 1}, newest)),
		},
		"one machine of no known release": {
			wc: at(owner("cp", already, newest), owner("md", map[string]int32{channel: 2, "unknown": 1}, newest)),
		},
		"one machine of no known kubelet": {
			wc: at(owner("cp", already, newest), owner("md", already, map[string]int32{"v1.33.9": 2, "unknown": 1})),
		},
		"newer patches beside the version": {
			wc: at(owner("cp", already, mixed), owner("md", already, newest)), want: true,
		},
		"only a minor is wanted, and all machines of an owner agree": {
			wc: at(owner("cp", already, newest), owner("md", already, older)), target: minor, want: true,
		},
		"only a minor is wanted, and machines of an owner differ": {
			wc: at(owner("cp", already, mixed), owner("md", already, newest)), target: minor,
		},
		"machines are to be refreshed after an instant, and when they were is not recorded": {
			wc: at(owner("cp", already, newest), owner("md", already, newest)), target: again,
		},
		"C067: not healthy": {
			wc: at(owner("cp", already, newest), owner("md", already, newest), health(metav1.ConditionFalse)),
		},
		"C067: health is not known": {
			wc: at(owner("cp", already, newest), owner("md", already, newest), health(metav1.ConditionUnknown)),
		},
		"a machine of no known architecture": {
			wc: at(owner("cp", already, newest), owner("md", already, newest), func(wc *fleetv1.WorkloadCluster) {
				wc.Status.ControlPlane.ByArchitecture[0].Name = "unknown"
			}),
		},
		"workers that nothing accounts for": {
			wc: at(owner("cp", already, newest), owner("md", already, newest), func(wc *fleetv1.WorkloadCluster) {
				wc.Status.Unsupported = "a MachinePool"
			}),
		},
		"only the control plane is asked for": {
			wc: at(owner("cp", already, newest), owner("md", nil, older)), order: fleetv1.OrderControlPlaneOnly, want: true,
		},
		"only the workers are asked for": {
			wc: at(owner("cp", nil, older), owner("md", already, newest)), order: fleetv1.OrderWorkersOnly, want: true,
		},
		"only the workers are asked for, and they are not": {
			wc: at(owner("cp", already, newest), owner("md", nil, older)), order: fleetv1.OrderWorkersOnly,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := target
			if c.target.Version != "" {
				want = c.target
			}
			got := only(t, c.wc, want, fleetv1.PolicyUpgrade{Order: c.order})
			if got.AtTarget != c.want {
				t.Errorf("at the target: %t (%+v)", got.AtTarget, got)
			}
		})
	}
}

// TestWhatIsNotSeenIsNotKnown: such a cluster is neither skipped nor guessed.
func TestWhatIsNotSeenIsNotKnown(t *testing.T) {
	cases := map[string]struct {
		change func(*fleetv1.WorkloadCluster)
		known  bool
	}{
		"seen":             {func(*fleetv1.WorkloadCluster) {}, true},
		"never observed":   {func(wc *fleetv1.WorkloadCluster) { wc.Status.ObservedTime = nil }, false},
		"no control plane": {func(wc *fleetv1.WorkloadCluster) { wc.Status.ControlPlane = nil }, false},
		"no machine of it": {func(wc *fleetv1.WorkloadCluster) { wc.Status.ControlPlane.ByKubelet = nil }, false},
		"an unknown kubelet": {func(wc *fleetv1.WorkloadCluster) {
			wc.Status.ControlPlane.ByKubelet = append(wc.Status.ControlPlane.ByKubelet, fleetv1.VersionCount{Name: "unknown"})
		}, false},
		"an unknown kubelet of a worker": {func(wc *fleetv1.WorkloadCluster) {
			wc.Status.Pools = []fleetv1.OwnerStatus{owner("md", nil, map[string]int32{"unknown": 1})}
		}, false},
		"a worker pool without machines": {func(wc *fleetv1.WorkloadCluster) {
			wc.Status.Pools = []fleetv1.OwnerStatus{{Kind: "MachineDeployment", Name: "md"}}
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := only(t, seen("mgmt-a/shop/a1", c.change), target, fleetv1.PolicyUpgrade{}); got.Known != c.known {
				t.Errorf("known: %t (%+v)", got.Known, got)
			}
		})
	}
}

func TestACandidateCarriesWhatThePlanJudges(t *testing.T) {
	wc := at(owner("cp", already, map[string]int32{"v1.33.9": 3}), owner("md", already, map[string]int32{"v1.33.9": 1}),
		func(wc *fleetv1.WorkloadCluster) {
			wc.Status.Pools[0].ByArchitecture = []fleetv1.VersionCount{{Name: "arm64", Count: 1}}
		})
	want := policy.Candidate{
		ID: "wc-a1", Path: "mgmt-a/shop/a1", Member: "mgmt-a", AtTarget: true, Known: true,
		ControlPlaneVersions: []string{"v1.33.9"}, WorkerVersions: []string{"v1.33.9"}, Carried: version.CarriedByAll,
		Architectures: []string{"amd64", "arm64"}, ControlPlaneReplicas: 3,
		Kubelets: map[string]string{"amd64": "v1.33.9", "arm64": "v1.33.9"},
	}
	if diff := cmp.Diff(want, only(t, wc, target, fleetv1.PolicyUpgrade{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAMixedClusterProvesNoVersion: by counts it cannot be told which architecture runs which.
func TestAMixedClusterProvesNoVersion(t *testing.T) {
	wc := at(owner("cp", already, map[string]int32{"v1.33.9": 3}), owner("md", already, map[string]int32{"v1.33.10": 3}))
	got := only(t, wc, target, fleetv1.PolicyUpgrade{})
	if !got.AtTarget || got.Kubelets != nil {
		t.Errorf("at target %t, proven %v", got.AtTarget, got.Kubelets)
	}
}

func TestPlanInputTakesTheSettings(t *testing.T) {
	in, err := observe.PlanInput(&fleetv1.RolloutPolicySpec{Upgrade: &fleetv1.PolicyUpgrade{
		Order: fleetv1.OrderWorkersOnly, SingleControlPlane: fleetv1.SingleControlPlaneAllow,
	}}, target, fleet())
	if err != nil || in.Order != policy.WorkersOnly || !in.AllowSingleControlPlane {
		t.Errorf("%+v, %v", in, err)
	}
	in, err = observe.PlanInput(&fleetv1.RolloutPolicySpec{}, target, fleet())
	if err != nil || in.Order != policy.ControlPlaneFirst || in.AllowSingleControlPlane {
		t.Errorf("by default: %+v, %v", in, err)
	}
}

func TestTargetAsValues(t *testing.T) {
	cases := map[string]struct {
		target fleetv1.Target
		want   policy.Target
	}{
		"a channel, with defaults": {target, policy.Target{Text: channel, Version: "v1.33.9", OnMovedHalt: true}},
		"a revision": {
			fleetv1.Target{Revision: new("640"), Version: "v1.33.9", Architecture: "amd64", OnMoved: fleetv1.OnMovedContinue},
			policy.Target{Text: "revision=640", Version: "v1.33.9", Architecture: "amd64"},
		},
		"a path, to another minor": {
			fleetv1.Target{LocalPath: new("/k8s.snap"), Version: "v1.34.0", MinorUpgrade: fleetv1.MinorUpgradeAllow},
			policy.Target{Text: "localPath=/k8s.snap", Version: "v1.34.0", MinorUpgrade: true, OnMovedHalt: true},
		},
		"machines refreshed after an instant": {
			fleetv1.Target{Channel: target.Channel, Version: "v1.33.9", RefreshedAfter: new(metav1.NewTime(now))},
			policy.Target{Text: channel, Version: "v1.33.9", OnMovedHalt: true, RefreshedAfter: now},
		},
		"none": {fleetv1.Target{}, policy.Target{OnMovedHalt: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, observe.Target(c.target)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestResolve: without a version a channel means the minor that its track begins with.
func TestResolve(t *testing.T) {
	cases := map[string]struct {
		target fleetv1.Target
		want   string
		fails  bool
	}{
		"a version is kept":            {target, "v1.33.9", false},
		"the minor of a track":         {fleetv1.Target{Channel: new("1.33-classic/stable")}, "v1.33", false},
		"the minor of a bare track":    {fleetv1.Target{Channel: new("1.34")}, "v1.34", false},
		"a track with risk and branch": {fleetv1.Target{Channel: new("1.34/edge/fix")}, "v1.34", false},
		"C126: a track with a branch":  {fleetv1.Target{Channel: new("1.33-classic/stable/hotfix-x")}, "v1.33", false},
		"C126: latest/edge":            {fleetv1.Target{Channel: new("latest/edge")}, "", true},
		"C120: an older track":         {fleetv1.Target{Channel: new("1.32-classic/stable")}, "v1.32", false},
		"a track without a name":       {fleetv1.Target{Channel: new("latest/stable")}, "", true},
		"a risk alone":                 {fleetv1.Target{Channel: new("stable")}, "", true},
		"a track that names a patch":   {fleetv1.Target{Channel: new("1.33.4/stable")}, "", true},
		"C126: latest/edge and a version": {
			fleetv1.Target{Channel: new("latest/edge"), Version: "v1.33.9"}, "v1.33.9", false,
		},
		"a revision is left alone": {fleetv1.Target{Revision: new("640")}, "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := observe.Resolve(c.target)
			if got.Version != c.want || (err != nil) != c.fails {
				t.Fatalf("%q, %v", got.Version, err)
			}
			if err != nil && (!strings.Contains(err.Error(), *c.target.Channel) || !strings.Contains(err.Error(), "accepted:")) {
				t.Errorf("it does not say what and what else: %v", err)
			}
		})
	}
}

// TestCarriedCountsTheMachinesOfTheOrder: what the target was written on before.
func TestCarriedCountsTheMachinesOfTheOrder(t *testing.T) {
	other, newest := map[string]int32{"channel=1.33/edge": 3}, map[string]int32{"v1.33.10": 3}
	for name, c := range map[string]struct {
		cp, pool map[string]int32
		order    fleetv1.Order
		want     version.Carried
	}{
		"by all":                    {already, already, "", version.CarriedByAll},
		"by the control plane":      {already, other, "", version.CarriedBySome},
		"by one machine":            {other, map[string]int32{channel: 1, "unknown": 2}, "", version.CarriedBySome},
		"by none":                   {other, map[string]int32{"unknown": 3}, "", version.CarriedByNone},
		"by all that the order has": {already, other, fleetv1.OrderControlPlaneOnly, version.CarriedByAll},
		"by none that it has":       {already, other, fleetv1.OrderWorkersOnly, version.CarriedByNone},
	} {
		t.Run(name, func(t *testing.T) {
			wc := at(owner("cp", c.cp, newest), owner("md", c.pool, newest))
			if got := only(t, wc, target, fleetv1.PolicyUpgrade{Order: c.order}).Carried; got != c.want {
				t.Errorf("carried by %q, want %q", got, c.want)
			}
		})
	}
}
