// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// planned makes a plan of clusters, without canaries unless there is one.
func planned(t *testing.T, to policy.Target, waves []policy.WaveSpec, clusters ...policy.Candidate) (policy.Plan, error) {
	t.Helper()
	in := policy.PlanInput{Target: to, NoCanaries: true, Waves: waves, Candidates: clusters}
	for _, c := range clusters {
		in.NoCanaries = in.NoCanaries && !c.CanaryMatch
	}
	return policy.MakePlan(in)
}

func refusal(t *testing.T, err error) *policy.PlanError {
	t.Helper()
	var why *policy.PlanError
	if !errors.As(err, &why) {
		t.Fatalf("got %v, want a PlanError", err)
	}
	return why
}

// TestC057ASmallFleetIsPlannedByTheSameFormula: no size changes what a percentage means, of a wave or of a limit.
func TestC057ASmallFleetIsPlannedByTheSameFormula(t *testing.T) {
	type wave struct{ Planned, MaxConcurrency, MaxFailures int }
	for clusters, want := range map[int][]wave{
		5:   {{1, 1, 0}, {4, 1, 0}},
		199: {{20, 5, 2}, {179, 44, 17}},
		200: {{20, 5, 2}, {180, 45, 18}},
		201: {{21, 5, 2}, {180, 45, 18}},
	} {
		t.Run(fmt.Sprintf("C057: %d clusters", clusters), func(t *testing.T) {
			quarter, tenth := policy.Amount{Value: 25, Percent: true}, policy.Amount{Value: 10, Percent: true}
			plan, err := planned(t, target, []policy.WaveSpec{
				{Name: "tenth", Percent: 10, MaxConcurrency: quarter, MaxFailures: tenth},
				{Name: "rest", Rest: true, MaxConcurrency: quarter, MaxFailures: tenth},
			}, numbered("a", clusters)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []wave
			for _, w := range plan.Waves {
				got = append(got, wave{w.Planned, w.MaxConcurrency, w.MaxFailures})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("waves (-want +got):\n%s", diff)
			}
		})
	}
}

func TestC067NoPlanWithoutItsCanaries(t *testing.T) {
	rest := []policy.WaveSpec{{Name: "rest", Rest: true}}
	can, a, b := candidate("m/ns/can-1", canary), candidate("m/ns/a"), candidate("m/ns/b")
	t.Run("C067: a canary that is absent is named, and nothing is planned", func(t *testing.T) {
		plan, err := policy.MakePlan(policy.PlanInput{
			Target: target, Waves: rest, Candidates: []policy.Candidate{can, a, b}, AbsentCanaries: []string{"m/ns/can-typo"},
		})
		why := refusal(t, err)
		if why.Reason != policy.ReasonCanaryNotFound || !strings.Contains(why.Message, "m/ns/can-typo") ||
			strings.Contains(why.Message, "m/ns/can-1") {
			t.Errorf("%s: %s", why.Reason, why.Message)
		}
		if diff := cmp.Diff(policy.Plan{}, plan); diff != "" {
			t.Errorf("there is a plan (-want +got):\n%s", diff)
		}
	})
	t.Run("C067: canaries at the target pass as an empty wave that is first and proves their version", func(t *testing.T) {
		at := candidate("m/ns/can-1", canary, atTarget)
		at.Kubelets = map[string]string{"amd64": "v1.33.9"}
		plan, err := planned(t, target, rest, at, a, b)
		if err != nil {
			t.Fatal(err)
		}
		want := []policy.PlannedWave{
			{Name: "canaries", Canary: true, Selected: 1, MaxConcurrency: 1},
			{Name: "rest", Selected: 2, Planned: 2, MaxConcurrency: 1, Clusters: []policy.Placed{
				{ID: "m-ns-a", Path: "m/ns/a", Member: "m", Position: 1}, {ID: "m-ns-b", Path: "m/ns/b", Member: "m", Position: 2},
			}},
		}
		if diff := cmp.Diff(want, plan.Waves); diff != "" {
			t.Errorf("waves (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"amd64": "v1.33.9"}, plan.Proven); diff != "" {
			t.Errorf("proven (-want +got):\n%s", diff)
		}
	})
	t.Run("C067: a canary that is not proven at the target is upgraded first", func(t *testing.T) {
		plan, err := planned(t, target, rest, can, a, b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"m/ns/can-1"}, members(plan)["canaries"]); diff != "" {
			t.Errorf("canaries (-want +got):\n%s", diff)
		}
	})
}

func TestC077WavesRunInTheOrderOfTheList(t *testing.T) {
	t.Run("C077: 1, 2, 10 and not 1, 10, 2", func(t *testing.T) {
		plan, err := planned(t, target, []policy.WaveSpec{{Name: "1"}, {Name: "2"}, {Name: "10"}},
			candidate("m/ns/z", wave(0)), candidate("m/ns/y", wave(1)), candidate("m/ns/x", wave(2)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range plan.Waves {
			for _, c := range w.Clusters {
				got = append(got, fmt.Sprintf("%d %s %s", c.Position, w.Name, c.Path))
			}
		}
		if diff := cmp.Diff([]string{"1 1 m/ns/z", "2 2 m/ns/y", "3 10 m/ns/x"}, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
	t.Run("C077: the first match wins, and later waves say how many they lost", func(t *testing.T) {
		plan, err := planned(t, target, []policy.WaveSpec{{Name: "one"}, {Name: "half", Percent: 50}, {Name: "two"}},
			candidate("m/ns/0", canary, wave(0)), candidate("m/ns/1", wave(0), wave(2)), candidate("m/ns/2", wave(2)),
			candidate("m/ns/3", wave(2)), candidate("m/ns/4", wave(2)))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{
			"canaries": {"m/ns/0"}, "one": {"m/ns/1"}, "half": {"m/ns/2", "m/ns/3"}, "two": {"m/ns/4"},
		}
		if diff := cmp.Diff(want, members(plan)); diff != "" {
			t.Errorf("waves (-want +got):\n%s", diff)
		}
		lost := map[string]int{}
		for _, w := range plan.Waves {
			lost[w.Name] = w.TakenBefore
		}
		if diff := cmp.Diff(map[string]int{"canaries": 0, "one": 1, "half": 0, "two": 3}, lost); diff != "" {
			t.Errorf("taken before (-want +got):\n%s", diff)
		}
	})
	for name, tc := range map[string]struct {
		waves []policy.WaveSpec
		says  string
	}{
		"C077: two waves of one name":       {[]policy.WaveSpec{{Name: "w"}, {Name: "v"}, {Name: "w"}}, "waves[2]: there are two waves called w"},
		"a wave named as that of canaries":  {[]policy.WaveSpec{{Name: "canaries", Rest: true}}, "waves[0]: canaries"},
		"a wave named as that of catch-up":  {[]policy.WaveSpec{{Name: "v"}, {Name: "catch-up"}}, "waves[1]: catch-up"},
		"waves after the one that has rest": {[]policy.WaveSpec{{Name: "v", Rest: true}, {Name: "w"}}, "waves[0]: v takes the rest, and w"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planned(t, target, tc.waves, candidate("m/ns/1", wave(0)))
			if why := refusal(t, err); why.Reason != policy.ReasonInvalidWave || !strings.Contains(why.Message, tc.says) {
				t.Errorf("%s: %s", why.Reason, why.Message)
			}
		})
	}
}

// TestAPlanOfLateJoinersIsOneWave: the hub's own name stands alone.
func TestAPlanOfLateJoinersIsOneWave(t *testing.T) {
	plan, err := planned(t, target, []policy.WaveSpec{{Name: "catch-up", Rest: true}}, numbered("m", 2)...)
	if err != nil || len(plan.Waves) != 1 || plan.Waves[0].Planned != 2 {
		t.Errorf("%v, %v", plan.Waves, err)
	}
}

// named is a cluster of a given identity.
func named(id, member, namespace, name string) policy.Candidate {
	c := candidate(member + "/" + namespace + "/" + name)
	c.ID = id
	return c
}

func TestC083AClusterMadeAnewIsAnotherInThePlan(t *testing.T) {
	rest := []policy.WaveSpec{{Name: "rest", Rest: true}}
	before, err := planned(t, target, rest, named("m-c1-aaaaaaaaaa", "m", "ns", "c1"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := planned(t, target, rest, named("m-c1-bbbbbbbbbb", "m", "ns", "c1"))
	if err != nil {
		t.Fatal(err)
	}
	if before.Hash == after.Hash || after.Waves[0].Clusters[0].ID != "m-c1-bbbbbbbbbb" {
		t.Errorf("C083: the plan of the new cluster is that of the old: %s, %v", after.Hash, after.Waves[0].Clusters)
	}
	both, err := planned(t, target, rest, named("m-c1-bbbbbbbbbb", "m", "ns", "c1"),
		named("m-c1-aaaaaaaaaa", "m", "ns", "c1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := both.Waves[0].Clusters; len(got) != 2 || got[0].ID != "m-c1-aaaaaaaaaa" {
		t.Errorf("C083: two clusters of one path are %v", got)
	}
}

func TestC084ClustersOfOneNameAreToldApart(t *testing.T) {
	rest := []policy.WaveSpec{{Name: "rest", Rest: true}}
	plan, err := planned(t, target, rest, named("1", "m1", "a-b", "c"), named("2", "m1", "a", "b-c"),
		named("3", "m2", "a-b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.Placed{
		{ID: "1", Path: "m1/a-b/c", Member: "m1", Position: 1},
		{ID: "3", Path: "m2/a-b/c", Member: "m2", Position: 2},
		{ID: "2", Path: "m1/a/b-c", Member: "m1", Position: 3},
	}
	if diff := cmp.Diff(want, plan.Waves[0].Clusters); diff != "" {
		t.Errorf("C084 (-want +got):\n%s", diff)
	}
	one := named("2", "m1", "a", "b-c")
	single(&one)
	plan, err = planned(t, target, rest, named("1", "m1", "a-b", "c"), one, named("3", "m2", "a-b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Ineligible) != 1 || plan.Ineligible[0].Path != "m1/a/b-c" || plan.Waves[0].Planned != 2 {
		t.Errorf("C084: what is wrong with one touches others: %v, %d planned", plan.Ineligible, plan.Waves[0].Planned)
	}
}
