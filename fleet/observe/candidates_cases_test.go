// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

// TestC055LimitsAsTheyMayBeStored: an amount that the API server would refuse is refused when it is read, too.
func TestC055LimitsAsTheyMayBeStored(t *testing.T) {
	for name, tc := range map[string]struct {
		// stored is maxConcurrency as JSON; of are the clusters of the wave, want how many of them go at once, 0: refused.
		stored   string
		of, want int
	}{
		"C055: 10% of 4 is 1":   {`"10%"`, 4, 1},
		"C055: 25% of 10 is 2":  {`"25%"`, 10, 2},
		"C055: 100% of 3 is 3":  {`"100%"`, 3, 3},
		"C055: 1% of 1 is 1":    {`"1%"`, 1, 1},
		"C055: 0% is refused":   {`"0%"`, 4, 0},
		"C055: 150% is refused": {`"150%"`, 4, 0},
		"C055: -5% is refused":  {`"-5%"`, 4, 0},
		"C055: 10 as text is refused, which may have been meant as a percentage": {`"10"`, 4, 0},
		"C055: 10.5 is refused":           {`10.5`, 4, 0},
		"C055: 10.5 as text is refused":   {`"10.5"`, 4, 0},
		"C055: 10.5% is refused":          {`"10.5%"`, 4, 0},
		"C055: none at once is refused":   {`0`, 4, 0},
		"C055: less than none is refused": {`-1`, 4, 0},
		"C055: a number is a number":      {`3`, 4, 3},
		"nothing is the slowest":          {`null`, 40, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var w fleetv1.Wave
			err := json.Unmarshal([]byte(`{"name": "rest", "rest": true, "maxConcurrency": `+tc.stored+`}`), &w)
			spec := &fleetv1.RolloutPolicySpec{
				Clusters: fleetv1.ClusterSelection{All: new(true)}, Canaries: fleetv1.Canaries{None: new(true)},
				Waves: []fleetv1.Wave{w},
			}
			var plan policy.Plan
			if err == nil {
				plan, err = plans(spec, clusters(tc.of))
			}
			if tc.want == 0 {
				if err == nil {
					t.Fatalf("%s is taken for %d", tc.stored, plan.Waves[0].MaxConcurrency)
				}
				return
			}
			if err != nil || plan.Waves[0].MaxConcurrency != tc.want {
				t.Errorf("%s of %d is %v (%v), want %d", tc.stored, tc.of, plan.Waves, err, tc.want)
			}
		})
	}
}

// clusters are so many of one member.
func clusters(n int) observe.Inventory {
	inv := observe.Inventory{Members: map[string]*fleetv1.ManagementCluster{"mgmt-a": member("mgmt-a", nil)}}
	for i := range n {
		inv.Clusters = append(inv.Clusters, seen(fmt.Sprintf("mgmt-a/shop/c%03d", i)))
	}
	return inv
}

func plans(spec *fleetv1.RolloutPolicySpec, inv observe.Inventory) (policy.Plan, error) {
	in, err := observe.PlanInput(spec, target, inv)
	if err != nil {
		return policy.Plan{}, err
	}
	return policy.MakePlan(in)
}

func TestC067CanariesAreNeverSkippedSilently(t *testing.T) {
	newest := map[string]int32{"v1.33.9": 3}
	done := func(wc *fleetv1.WorkloadCluster) { *wc.Status.ControlPlane = owner("cp", already, newest) }
	spec := &fleetv1.RolloutPolicySpec{
		Clusters: fleetv1.ClusterSelection{All: new(true)},
		Canaries: fleetv1.Canaries{Names: []string{"mgmt-a/shop/can-1"}},
		Waves:    []fleetv1.Wave{{Name: "rest", Rest: new(true)}},
	}
	fleetOf := func(canary ...func(*fleetv1.WorkloadCluster)) observe.Inventory {
		inv := clusters(2)
		inv.Clusters = append(inv.Clusters, seen("mgmt-a/shop/can-1", canary...))
		return inv
	}
	t.Run("C067: one that is absent is named, and nothing is planned", func(t *testing.T) {
		typo := spec.DeepCopy()
		typo.Canaries.Names = append(typo.Canaries.Names, "mgmt-a/shop/can-typo")
		_, err := plans(typo, fleetOf())
		var why *policy.PlanError
		if !errors.As(err, &why) || why.Reason != policy.ReasonCanaryNotFound || !strings.Contains(why.Message, "mgmt-a/shop/can-typo") {
			t.Errorf("got %v, want CanaryNotFound", err)
		}
	})
	for name, tc := range map[string]struct {
		canary  []func(*fleetv1.WorkloadCluster)
		planned int
	}{
		"C067: at the target and healthy, it has passed":               {[]func(*fleetv1.WorkloadCluster){done}, 0},
		"C067: at the target and not healthy, it is upgraded first":    {[]func(*fleetv1.WorkloadCluster){done, health(metav1.ConditionFalse)}, 1},
		"C067: at the target, health unknown, it is upgraded first":    {[]func(*fleetv1.WorkloadCluster){done, health(metav1.ConditionUnknown)}, 1},
		"C067: not at the target, it is upgraded first":                {nil, 1},
		"C067: at the target by its versions only, it is upgraded too": {[]func(*fleetv1.WorkloadCluster){releaseless(newest)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := plans(spec, fleetOf(tc.canary...))
			if err != nil {
				t.Fatal(err)
			}
			if first := plan.Waves[0]; !first.Canary || first.Selected != 1 || first.Planned != tc.planned {
				t.Errorf("the first wave is %+v, want the canaries, of which %d are planned", first, tc.planned)
			}
		})
	}
}

// releaseless runs the versions, and nothing says that it was refreshed to the target.
func releaseless(kubelets map[string]int32) func(*fleetv1.WorkloadCluster) {
	return func(wc *fleetv1.WorkloadCluster) {
		*wc.Status.ControlPlane = owner("cp", map[string]int32{"unknown": 3}, kubelets)
	}
}

// TestC076AnEmptySelectorNeverMeansAll: however it came to be stored.
func TestC076AnEmptySelectorNeverMeansAll(t *testing.T) {
	everyone := []string{"a1", "a2", "b1", "b2"}
	for name, tc := range map[string]struct {
		// spec as JSON; want are the clusters that it selects, or says is a part of the error.
		spec string
		want []string
		says string
	}{
		"C076: absent":                                  {`{}`, nil, ""},
		"C076: {}":                                      {`{"selector": {}}`, nil, "spec.clusters.selector: {} is empty"},
		"C076: {matchLabels: {}}":                       {`{"selector": {"matchLabels": {}}}`, nil, "spec.clusters.selector: {} is empty"},
		"C076: {matchExpressions: []}":                  {`{"selector": {"matchExpressions": []}}`, nil, "spec.clusters.selector: {} is empty"},
		"C076: a label with an empty value":             {`{"selector": {"matchLabels": {"tier": ""}}}`, nil, ""},
		"C076: {} of members":                           {`{"managementClusterSelector": {}}`, nil, "spec.clusters.managementClusterSelector: {} is empty"},
		"C076: {} of members beside labels of clusters": {`{"selector": {"matchLabels": {"tier": "prod"}}, "managementClusterSelector": {}}`, nil, "managementClusterSelector: {}"},
		"C076: no names":                                {`{"names": []}`, nil, ""},
		"C076: all: true":                               {`{"all": true}`, everyone, ""},
		"C076: {} and all: true":                        {`{"all": true, "selector": {}}`, everyone, ""},
		"C076: {} and all: false":                       {`{"all": false, "selector": {}}`, nil, "spec.clusters.selector: {} is empty"},
		"C076: a label that some have":                  {`{"selector": {"matchLabels": {"tier": "prod"}}}`, []string{"a1", "b1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &fleetv1.RolloutPolicySpec{}
			if err := json.Unmarshal([]byte(tc.spec), &spec.Clusters); err != nil {
				t.Fatal(err)
			}
			in, err := observe.PlanInput(spec, target, fleet())
			if (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("got %v, want an error that says %q", err, tc.says)
			}
			var got []string
			for _, c := range in.Candidates {
				got = append(got, strings.TrimPrefix(c.ID, "wc-"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("C076: a label with an empty value matches that value, not its absence", func(t *testing.T) {
		inv := fleet()
		inv.Clusters[1].Labels["tier"] = ""
		in, err := observe.PlanInput(&fleetv1.RolloutPolicySpec{
			Clusters: fleetv1.ClusterSelection{Selector: selector("tier", "")},
		}, target, inv)
		if err != nil || len(in.Candidates) != 1 || in.Candidates[0].ID != "wc-a2" {
			t.Errorf("%v, %v", in.Candidates, err)
		}
	})
	for field, spec := range map[string]fleetv1.RolloutPolicySpec{
		"spec.canaries.selector": {Canaries: fleetv1.Canaries{Selector: &metav1.LabelSelector{}}},
		"spec.waves[1].selector": {Waves: []fleetv1.Wave{{Name: "a"}, {Name: "b", Selector: &metav1.LabelSelector{}}}},
	} {
		t.Run("C076: {} in "+field, func(t *testing.T) {
			spec.Clusters.All = new(true)
			_, err := observe.PlanInput(&spec, target, fleet())
			if err == nil || !strings.Contains(err.Error(), field+": {} is empty and would take every cluster; accepted: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestC077WavesOfTheHubsOwnAreNotForPolicies: and a cluster that a wave names and selects matches it once.
func TestC077WavesOfTheHubsOwnAreNotForPolicies(t *testing.T) {
	for _, name := range []string{"canaries", "catch-up"} {
		_, err := observe.PlanInput(&fleetv1.RolloutPolicySpec{Waves: []fleetv1.Wave{{Name: name}}}, target, fleet())
		if err == nil || !strings.Contains(err.Error(), "spec.waves[0].name: "+name) {
			t.Errorf("C077: a wave called %s is read: %v", name, err)
		}
	}
	in, err := observe.PlanInput(&fleetv1.RolloutPolicySpec{
		Clusters: fleetv1.ClusterSelection{Names: []string{"mgmt-a/shop/a1"}},
		Waves: []fleetv1.Wave{
			{Name: "10", Selector: selector("tier", "prod")},
			{Name: "2", Selector: selector("name", "a1"), Names: []string{"mgmt-a/shop/a1"}},
			{Name: "1", Names: []string{"mgmt-a/shop/a1", "mgmt-a/shop/a1"}},
		},
	}, target, fleet())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, in.Candidates[0].WaveMatches); diff != "" {
		t.Errorf("C077: matches (-want +got):\n%s", diff)
	}
}

// TestC084NamesThatWouldJoinAlikeAreThreeClusters: namespaces and names are told apart by a character that neither has.
func TestC084NamesThatWouldJoinAlikeAreThreeClusters(t *testing.T) {
	inv := observe.Inventory{Members: map[string]*fleetv1.ManagementCluster{
		"m1": member("m1", nil), "m2": member("m2", nil),
	}}
	for i, path := range []string{"m1/a-b/c", "m1/a/b-c", "m2/a-b/c"} {
		wc := seen(path)
		wc.Name = fmt.Sprint("wc-", i)
		inv.Clusters = append(inv.Clusters, wc)
	}
	spec := &fleetv1.RolloutPolicySpec{
		Clusters: fleetv1.ClusterSelection{All: new(true)}, Canaries: fleetv1.Canaries{Names: []string{"m1/a/b-c"}},
		Waves: []fleetv1.Wave{{Name: "one", Names: []string{"m2/a-b/c"}}, {Name: "rest", Rest: new(true)}},
	}
	plan, err := plans(spec, inv)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, w := range plan.Waves {
		for _, c := range w.Clusters {
			got[w.Name] = append(got[w.Name], c.ID)
		}
	}
	want := map[string][]string{"canaries": {"wc-1"}, "one": {"wc-2"}, "rest": {"wc-0"}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("C084: waves (-want +got):\n%s", diff)
	}
	slices.Reverse(inv.Clusters)
	again, err := plans(spec, inv)
	if err != nil || again.Hash != plan.Hash {
		t.Errorf("C084: the order of listing changed the plan (%v)", err)
	}
}

// BenchmarkPlanInput10k reads 10,000 clusters for a policy of 20 waves of 400 names each.
func BenchmarkPlanInput10k(b *testing.B) {
	inv := clusters(10_000)
	spec := &fleetv1.RolloutPolicySpec{Clusters: fleetv1.ClusterSelection{All: new(true)}}
	for w := range 20 {
		wave := fleetv1.Wave{Name: fmt.Sprint("w", w)}
		for _, wc := range inv.Clusters[w*400 : (w+1)*400] {
			wave.Names = append(wave.Names, wc.Path())
		}
		spec.Waves = append(spec.Waves, wave)
	}
	b.ReportAllocs()
	for b.Loop() {
		if in, err := observe.PlanInput(spec, target, inv); err != nil || len(in.Candidates) != 10_000 {
			b.Fatal(err)
		}
	}
}
