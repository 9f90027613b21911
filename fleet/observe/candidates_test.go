// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

const channel = "channel=1.33-classic/stable"

var (
	now     = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	target  = fleetv1.Target{Channel: new("1.33-classic/stable"), Version: "v1.33.9"}
	already = map[string]int32{channel: 3}
)

// owner is an owner with its machines counted.
func owner(name string, releases, kubelets map[string]int32) fleetv1.OwnerStatus {
	o := fleetv1.OwnerStatus{
		Kind: "MachineDeployment", Name: name, Replicas: 3, Ready: 3,
		ByArchitecture: []fleetv1.VersionCount{{Name: "amd64", Count: 3}},
	}
	for _, release := range slices.Sorted(maps.Keys(releases)) {
		o.ByRelease = append(o.ByRelease, fleetv1.VersionCount{Name: release, Count: releases[release]})
	}
	for _, kubelet := range slices.Sorted(maps.Keys(kubelets)) {
		o.ByKubelet = append(o.ByKubelet, fleetv1.VersionCount{Name: kubelet, Count: kubelets[kubelet]})
	}
	return o
}

// seen is a healthy cluster at v1.33.4 that was never refreshed.
func seen(path string, change ...func(*fleetv1.WorkloadCluster)) *fleetv1.WorkloadCluster {
	parts := strings.Split(path, "/")
	cp := owner(parts[2]+"-cp", map[string]int32{"unknown": 3}, map[string]int32{"v1.33.4": 3})
	wc := &fleetv1.WorkloadCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: "wc-" + parts[2], Labels: map[string]string{"name": parts[2]},
		},
		Spec: fleetv1.WorkloadClusterSpec{
			ManagementCluster: parts[0],
			Cluster:           fleetv1.ObjectRef{Namespace: parts[1], Name: parts[2], UID: types.UID("uid-" + parts[2])},
		},
		Status: fleetv1.WorkloadClusterStatus{
			ObservedTime: new(metav1.NewTime(now)), ControlPlane: &cp,
			Conditions: []metav1.Condition{{Type: fleetv1.HealthyCondition, Status: metav1.ConditionTrue}},
		},
	}
	for _, c := range change {
		c(wc)
	}
	return wc
}

func member(name string, labels map[string]string) *fleetv1.ManagementCluster {
	return &fleetv1.ManagementCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// fleet has two members with two clusters each, and one cluster whose member is not there.
func fleet() observe.Inventory {
	prod := func(wc *fleetv1.WorkloadCluster) { wc.Labels["tier"] = "prod" }
	return observe.Inventory{
		Members: map[string]*fleetv1.ManagementCluster{
			"mgmt-a": member("mgmt-a", map[string]string{"region": "eu"}),
			"mgmt-b": member("mgmt-b", map[string]string{"region": "us"}),
		},
		Clusters: []*fleetv1.WorkloadCluster{
			seen("mgmt-a/shop/a1", prod), seen("mgmt-a/shop/a2"), seen("mgmt-b/shop/b1", prod), seen("mgmt-b/shop/b2"),
			seen("mgmt-c/shop/c1", prod),
		},
	}
}

func selector(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// TestOnlyWhatIsSaidIsSelected: an omitted field never means more clusters (law 21).
func TestOnlyWhatIsSaidIsSelected(t *testing.T) {
	cases := map[string]struct {
		clusters fleetv1.ClusterSelection
		want     []string
		absent   []string
	}{
		"nothing given selects nothing": {fleetv1.ClusterSelection{}, nil, nil},
		"all that is false is not all":  {fleetv1.ClusterSelection{All: new(false)}, nil, nil},
		"all whose members are registered": {
			fleetv1.ClusterSelection{All: new(true)}, []string{"a1", "a2", "b1", "b2"}, nil,
		},
		"by label": {
			fleetv1.ClusterSelection{Selector: selector("tier", "prod")}, []string{"a1", "b1"}, nil,
		},
		"by a label of the member": {
			fleetv1.ClusterSelection{ManagementClusterSelector: selector("region", "eu")}, []string{"a1", "a2"}, nil,
		},
		"by both, which must both match": {
			fleetv1.ClusterSelection{
				Selector: selector("tier", "prod"), ManagementClusterSelector: selector("region", "us"),
			}, []string{"b1"}, nil,
		},
		"by name": {
			fleetv1.ClusterSelection{Names: []string{"mgmt-a/shop/a2", "mgmt-b/shop/b2"}}, []string{"a2", "b2"}, nil,
		},
		"by names that nobody has": {
			fleetv1.ClusterSelection{Names: []string{"mgmt-a/shop/a2", "mgmt-a/shop/b2", "a1"}},
			[]string{"a2"},
			[]string{"a1", "mgmt-a/shop/b2"},
		},
		"by the name of one whose member is not registered": {
			fleetv1.ClusterSelection{Names: []string{"mgmt-c/shop/c1"}}, nil, []string{"mgmt-c/shop/c1"},
		},
		"by a label that nobody has": {fleetv1.ClusterSelection{Selector: selector("tier", "lab")}, nil, nil},
		"by a label in another case": {fleetv1.ClusterSelection{Selector: selector("Tier", "prod")}, nil, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			spec := &fleetv1.RolloutPolicySpec{Clusters: c.clusters}
			in, err := observe.PlanInput(spec, target, fleet())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, candidate := range in.Candidates {
				got = append(got, strings.TrimPrefix(candidate.ID, "wc-"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.absent, in.AbsentNames, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("absent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCanariesAreThoseNamedAndSelected(t *testing.T) {
	cases := map[string]struct {
		canaries fleetv1.Canaries
		want     []string
		absent   []string
		none     bool
	}{
		"none, said":  {fleetv1.Canaries{None: new(true)}, nil, nil, true},
		"none, false": {fleetv1.Canaries{None: new(false)}, nil, nil, false},
		"by name":     {fleetv1.Canaries{Names: []string{"mgmt-a/shop/a1"}}, []string{"a1"}, nil, false},
		"by label":    {fleetv1.Canaries{Selector: selector("name", "b1")}, []string{"b1"}, nil, false},
		"by a name that is not selected": {
			fleetv1.Canaries{Names: []string{"mgmt-a/shop/a1", "mgmt-a/shop/a2"}},
			[]string{"a1"},
			[]string{"mgmt-a/shop/a2"},
			false,
		},
		"by a label that no selected cluster has": {
			fleetv1.Canaries{Selector: selector("name", "a2")}, nil, []string{"selector name=a2"}, false,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in, err := observe.PlanInput(&fleetv1.RolloutPolicySpec{
				Clusters: fleetv1.ClusterSelection{Selector: selector("tier", "prod")}, Canaries: c.canaries,
			}, target, fleet())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, candidate := range in.Candidates {
				if candidate.CanaryMatch {
					got = append(got, strings.TrimPrefix(candidate.ID, "wc-"))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("canaries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.absent, in.AbsentCanaries); diff != "" || in.NoCanaries != c.none {
				t.Errorf("none is %t, absent (-want +got):\n%s", in.NoCanaries, diff)
			}
		})
	}
}

func TestWavesMatchByNameAndLabel(t *testing.T) {
	in, err := observe.PlanInput(&fleetv1.RolloutPolicySpec{
		Clusters: fleetv1.ClusterSelection{All: new(true)},
		Waves: []fleetv1.Wave{
			{Name: "named", Names: []string{"mgmt-a/shop/a1", "mgmt-a/shop/gone"}},
			{Name: "labelled", Selector: selector("tier", "prod"), MaxConcurrency: new(intstr.FromString("25%"))},
			{Name: "tenth", Percent: new(int32(10)), MaxConcurrency: new(intstr.FromInt32(2))},
			{Name: "rest", Rest: new(true), MaxFailures: new(intstr.FromInt32(3))},
		},
	}, target, fleet())
	if err != nil {
		t.Fatal(err)
	}
	waves := []policy.WaveSpec{
		{Name: "named", MaxConcurrency: policy.Amount{Value: 1}},
		{Name: "labelled", MaxConcurrency: policy.Amount{Value: 25, Percent: true}},
		{Name: "tenth", Percent: 10, MaxConcurrency: policy.Amount{Value: 2}},
		{Name: "rest", Rest: true, MaxConcurrency: policy.Amount{Value: 1}, MaxFailures: policy.Amount{Value: 3}},
	}
	if diff := cmp.Diff(waves, in.Waves); diff != "" {
		t.Errorf("waves (-want +got):\n%s", diff)
	}
	matches := map[string][]int{}
	for _, c := range in.Candidates {
		matches[c.ID] = c.WaveMatches
	}
	want := map[string][]int{"wc-a1": {0, 1}, "wc-a2": nil, "wc-b1": {1}, "wc-b2": nil}
	if diff := cmp.Diff(want, matches); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"mgmt-a/shop/gone"}, in.AbsentNames); diff != "" {
		t.Errorf("absent (-want +got):\n%s", diff)
	}
}

// TestAnUnreadableFieldIsNamed with the offending text and an accepted form.
func TestAnUnreadableFieldIsNamed(t *testing.T) {
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Is"}}}
	cases := map[string]struct {
		spec fleetv1.RolloutPolicySpec
		says []string
	}{
		"clusters": {
			fleetv1.RolloutPolicySpec{Clusters: fleetv1.ClusterSelection{Selector: bad}},
			[]string{"spec.clusters.selector", "Is", "accepted: matchLabels"},
		},
		"members": {
			fleetv1.RolloutPolicySpec{Clusters: fleetv1.ClusterSelection{ManagementClusterSelector: bad}},
			[]string{"spec.clusters.managementClusterSelector", "accepted"},
		},
		"canaries": {
			fleetv1.RolloutPolicySpec{Canaries: fleetv1.Canaries{Selector: bad}},
			[]string{"spec.canaries.selector", "accepted"},
		},
		"a wave": {
			fleetv1.RolloutPolicySpec{Waves: []fleetv1.Wave{{Name: "a"}, {Name: "b", Selector: bad}}},
			[]string{"spec.waves[1].selector", "accepted"},
		},
		"a limit": {
			fleetv1.RolloutPolicySpec{Waves: []fleetv1.Wave{{MaxConcurrency: new(intstr.FromString("half"))}}},
			[]string{"spec.waves[0].maxConcurrency", "half"},
		},
		"a budget": {
			fleetv1.RolloutPolicySpec{Waves: []fleetv1.Wave{{MaxFailures: new(intstr.FromString("%"))}}},
			[]string{"spec.waves[0].maxFailures", "%"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in, err := observe.PlanInput(&c.spec, target, fleet())
			if err == nil {
				t.Fatalf("it was read as %+v", in)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("it does not say %q: %v", part, err)
				}
			}
		})
	}
}
