// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
)

// candidate is a healthy cluster of three control plane machines that the target suits.
func candidate(path string, edits ...func(*policy.Candidate)) policy.Candidate {
	member, _, _ := strings.Cut(path, "/")
	c := policy.Candidate{
		ID: strings.ReplaceAll(path, "/", "-"), Path: path, Member: member, Known: true, ControlPlaneReplicas: 3,
		ControlPlaneVersions: []string{"v1.33.4"}, WorkerVersions: []string{"v1.33.4"}, Architectures: []string{"amd64"},
	}
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

func canary(c *policy.Candidate)   { c.CanaryMatch = true }
func atTarget(c *policy.Candidate) { c.AtTarget = true }
func unknown(c *policy.Candidate)  { c.Known = false }
func single(c *policy.Candidate)   { c.ControlPlaneReplicas = 1 }
func wave(i int) func(*policy.Candidate) {
	return func(c *policy.Candidate) { c.WaveMatches = append(c.WaveMatches, i) }
}

func at(versions ...string) func(*policy.Candidate) {
	return func(c *policy.Candidate) { c.ControlPlaneVersions, c.WorkerVersions = versions, versions }
}

func on(architectures ...string) func(*policy.Candidate) {
	return func(c *policy.Candidate) { c.Architectures = architectures }
}

var target = policy.Target{Text: "channel=1.33-classic/stable", Version: "v1.33.9"}

// numbered are n clusters of one management cluster.
func numbered(member string, n int) []policy.Candidate {
	var all []policy.Candidate
	for i := range n {
		all = append(all, candidate(fmt.Sprintf("%s/ns/c%03d", member, i)))
	}
	return all
}

func members(p policy.Plan) map[string][]string {
	waves := map[string][]string{}
	for _, w := range p.Waves {
		waves[w.Name] = nil
		for _, c := range w.Clusters {
			waves[w.Name] = append(waves[w.Name], c.Path)
		}
	}
	return waves
}

func TestLaw15EachClusterFallsIntoOneWave(t *testing.T) {
	rest := policy.WaveSpec{Name: "rest", Rest: true}
	for name, tc := range map[string]struct {
		in   policy.PlanInput
		want map[string][]string
	}{
		"clusters alternate over management clusters, then by name": {
			in: policy.PlanInput{
				NoCanaries: true, Waves: []policy.WaveSpec{rest},
				Candidates: []policy.Candidate{
					candidate("b/ns/1"), candidate("a/ns/3"), candidate("a/ns/1"), candidate("a/ns/2"), candidate("b/ns/2"),
				},
			},
			want: map[string][]string{"rest": {"a/ns/1", "b/ns/1", "a/ns/2", "b/ns/2", "a/ns/3"}},
		},
		"canaries are a wave of their own and come first": {
			in: policy.PlanInput{
				Waves:      []policy.WaveSpec{rest},
				Candidates: []policy.Candidate{candidate("a/ns/1"), candidate("a/ns/2", canary, wave(0))},
			},
			want: map[string][]string{"canaries": {"a/ns/2"}, "rest": {"a/ns/1"}},
		},
		"the first wave that matches takes a cluster": {
			in: policy.PlanInput{
				NoCanaries: true, Waves: []policy.WaveSpec{{Name: "one"}, {Name: "two"}, rest},
				Candidates: []policy.Candidate{
					candidate("a/ns/1", wave(1)), candidate("a/ns/2", wave(0), wave(1)), candidate("a/ns/3"),
				},
			},
			want: map[string][]string{"one": {"a/ns/2"}, "two": {"a/ns/1"}, "rest": {"a/ns/3"}},
		},
		"percent is of all that are no canaries, rounded up, from those that are left": {
			in: policy.PlanInput{
				Waves: []policy.WaveSpec{{Name: "named"}, {Name: "third", Percent: 34}, rest},
				Candidates: []policy.Candidate{
					candidate("a/ns/0", canary), candidate("a/ns/1", wave(0)), candidate("a/ns/2"), candidate("a/ns/3"),
					candidate("a/ns/4"), candidate("a/ns/5"),
				},
			},
			want: map[string][]string{
				"canaries": {"a/ns/0"}, "named": {"a/ns/1"}, "third": {"a/ns/2", "a/ns/3"}, "rest": {"a/ns/4", "a/ns/5"},
			},
		},
		"what needs nothing counts for the percentage and gets no place": {
			in: policy.PlanInput{
				NoCanaries: true, Waves: []policy.WaveSpec{{Name: "half", Percent: 50}, rest},
				Candidates: []policy.Candidate{
					candidate("a/ns/1", atTarget), candidate("a/ns/2", atTarget), candidate("a/ns/3"), candidate("a/ns/4"),
				},
			},
			want: map[string][]string{"half": nil, "rest": {"a/ns/3", "a/ns/4"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Target = target
			plan, err := policy.MakePlan(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, members(plan)); diff != "" {
				t.Errorf("waves (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLaw21PlansThatWouldNotMeanWhatTheySayAreErrors(t *testing.T) {
	rest := []policy.WaveSpec{{Name: "rest", Rest: true}}
	for name, tc := range map[string]struct {
		in     policy.PlanInput
		reason string
		names  string
	}{
		"left over clusters are named, ten of them": {
			in: policy.PlanInput{
				NoCanaries: true, Waves: []policy.WaveSpec{{Name: "tenth", Percent: 10}}, Candidates: numbered("a", 20),
			},
			reason: policy.ReasonLeftOver, names: "a/ns/c002, a/ns/c003, a/ns/c004, a/ns/c005, a/ns/c006, a/ns/c007, " +
				"a/ns/c008, a/ns/c009, a/ns/c010, a/ns/c011 and 8 more (18 in all)",
		},
		"a canary that is not there": {
			in: policy.PlanInput{
				Waves: rest, Candidates: []policy.Candidate{candidate("a/ns/1", canary)}, AbsentCanaries: []string{"a/ns/typo"},
			},
			reason: policy.ReasonCanaryNotFound, names: "a/ns/typo",
		},
		"no canary at all": {
			in:     policy.PlanInput{Waves: rest, Candidates: numbered("a", 2)},
			reason: policy.ReasonCanaryNotFound, names: "none: true",
		},
		"an ineligible canary": {
			in:     policy.PlanInput{Waves: rest, Candidates: []policy.Candidate{candidate("a/ns/1", canary, single)}},
			reason: policy.ReasonCanaryIneligible, names: "a/ns/1 (SingleControlPlane)",
		},
		"a name that is nobody's": {
			in: policy.PlanInput{
				NoCanaries: true, Waves: rest, Candidates: numbered("a", 2), AbsentNames: []string{"a/ns/x"},
			},
			reason: policy.ReasonClusterNotFound, names: "a/ns/x",
		},
		"no cluster": {
			in:     policy.PlanInput{NoCanaries: true, Waves: rest},
			reason: policy.ReasonNoClusters, names: "no cluster",
		},
		"versions that are not known": {
			in: policy.PlanInput{
				NoCanaries: true, Waves: rest, Candidates: []policy.Candidate{candidate("a/ns/1", unknown)},
			},
			reason: policy.ReasonVersionsUnknown, names: "a/ns/1",
		},
		"versions that cannot be read": {
			in: policy.PlanInput{
				NoCanaries: true, Waves: rest, Candidates: []policy.Candidate{candidate("a/ns/1", at("?"))},
			},
			reason: policy.ReasonVersionsUnknown, names: "a/ns/1",
		},
		"a concurrency of nothing": {
			in: policy.PlanInput{NoCanaries: true, Candidates: numbered("a", 2), Waves: []policy.WaveSpec{
				{Name: "rest", Rest: true, MaxConcurrency: policy.Amount{Percent: true}},
			}},
			reason: policy.ReasonInvalidLimit, names: "wave rest",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Target = target
			plan, err := policy.MakePlan(tc.in)
			var why *policy.PlanError
			if !errors.As(err, &why) || why.Reason != tc.reason || !strings.Contains(why.Message, tc.names) {
				t.Errorf("got plan %v, error %v; want %s naming %q", plan, err, tc.reason, tc.names)
			}
		})
	}
	if _, err := policy.MakePlan(policy.PlanInput{Target: policy.Target{Version: "stable"}}); err == nil {
		t.Error("a target without a version is planned")
	}
}

func TestLaw19IneligibleClustersAreListedAndNeverStarted(t *testing.T) {
	for name, tc := range map[string]struct {
		edit   func(*policy.Candidate)
		target policy.Target
		order  policy.Order
		want   string
	}{
		"suited":                    {edit: at("v1.33.4"), target: target},
		"one control plane machine": {edit: single, target: target, want: policy.ReasonSingleControlPlane},
		"two control plane machines": {
			edit: func(c *policy.Candidate) { c.ControlPlaneReplicas = 2 }, target: target,
			want: policy.ReasonSingleControlPlane,
		},
		"which does not matter for workers only": {edit: single, target: target, order: policy.WorkersOnly},
		"no machine that we can upgrade": {
			edit: func(c *policy.Candidate) { c.Unsupported = "has a MachinePool" }, target: target,
			want: policy.ReasonUnsupported,
		},
		"a revision of another architecture": {
			edit: on("arm64"), target: policy.Target{Text: "revision=5", Version: "v1.33.9", Architecture: "amd64"},
			want: policy.ReasonOtherArchitecture,
		},
		"a revision for one of two architectures": {
			edit:   on("amd64", "arm64"),
			target: policy.Target{Text: "revision=5", Version: "v1.33.9", Architecture: "amd64"},
			want:   policy.ReasonMixedArchitecture,
		},
		"a minor that is not allowed": {
			edit: at("v1.32.4"), target: target, want: policy.ReasonMinorUpgradeNotAllowed,
		},
		"ahead of the target": {edit: at("v1.34.0"), target: target, want: policy.ReasonDowngrade},
		"two minors behind": {
			edit: at("v1.31.0"), target: policy.Target{Text: target.Text, Version: "v1.33", MinorUpgrade: true},
			want: policy.ReasonSkewTooWide,
		},
		"an older revision": {
			edit: at("v1.33.10"), target: policy.Target{Text: "revision=5", Version: "v1.33.9"}, want: policy.ReasonDowngrade,
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := policy.MakePlan(policy.PlanInput{
				Target: tc.target, Order: tc.order, NoCanaries: true, Waves: []policy.WaveSpec{{Name: "rest", Rest: true}},
				Candidates: []policy.Candidate{candidate("a/ns/1", tc.edit)},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(plan.Ineligible) > 0 {
				got = plan.Ineligible[0].Reason
			}
			if got != tc.want || plan.Waves[0].Planned+len(plan.Ineligible) != 1 {
				t.Errorf("ineligible %q (%d planned), want %q: %v", got, plan.Waves[0].Planned, tc.want, plan.Ineligible)
			}
		})
	}
}

func TestPlanCountsAndLimits(t *testing.T) {
	plan, err := policy.MakePlan(policy.PlanInput{
		Target: policy.Target{Text: target.Text, Version: "v1.33", MinorUpgrade: true},
		Waves: []policy.WaveSpec{{
			Name: "rest", Rest: true, MaxConcurrency: policy.Amount{Value: 50, Percent: true},
			MaxFailures: policy.Amount{Value: 34, Percent: true},
		}},
		Candidates: []policy.Candidate{
			candidate("a/ns/0", canary, atTarget, func(c *policy.Candidate) {
				c.Kubelets = map[string]string{"amd64": "v1.33.4"}
			}),
			candidate("a/ns/1"), candidate("a/ns/2", at("v1.32.1")), candidate("b/ns/1"), candidate("b/ns/2", single),
			candidate("b/ns/3", atTarget),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	type counts struct {
		Patch, Minor, Total, Planned, Selected, MaxConcurrency, MaxFailures int
		AtTarget                                                            []string
		Ineligible                                                          int
		Proven                                                              map[string]string
		Positions                                                           []int
	}
	rest := plan.Waves[1]
	got := counts{
		plan.Patch, plan.Minor, plan.Total, rest.Planned, rest.Selected, rest.MaxConcurrency, rest.MaxFailures, plan.AtTarget,
		len(plan.Ineligible), plan.Proven, nil,
	}
	for _, c := range rest.Clusters {
		got.Positions = append(got.Positions, c.Position)
	}
	want := counts{
		Patch: 2, Minor: 1, Total: 6, Planned: 3, Selected: 5, MaxConcurrency: 1, MaxFailures: 1,
		AtTarget: []string{"a/ns/0", "b/ns/3"}, Ineligible: 1, Proven: map[string]string{"amd64": "v1.33.4"},
		Positions: []int{1, 2, 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The same inventory gives the same plan in whatever order it is listed; each selected cluster is in one place;
// the hash tells plans apart.
func TestPlansAreDeterministicPartitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := policy.PlanInput{Target: target, NoCanaries: rapid.Bool().Draw(t, "noCanaries")}
		for i := range rapid.IntRange(1, 40).Draw(t, "clusters") {
			c := candidate(fmt.Sprintf("m%d/ns/c%02d", rapid.IntRange(0, 3).Draw(t, "member"), i))
			c.CanaryMatch = i == 0 || rapid.IntRange(0, 9).Draw(t, "canary") == 0
			c.AtTarget = rapid.IntRange(0, 4).Draw(t, "atTarget") == 0
			if !c.CanaryMatch && rapid.IntRange(0, 4).Draw(t, "single") == 0 {
				single(&c)
			}
			for w := range 2 {
				if rapid.Bool().Draw(t, "matches") {
					wave(w)(&c)
				}
			}
			in.Candidates = append(in.Candidates, c)
		}
		in.Waves = []policy.WaveSpec{
			{Name: "w0"},
			{Name: "w1"},
			{Name: "w2", Percent: rapid.IntRange(1, 100).Draw(t, "percent")},
			{Name: "w3", Rest: true},
		}
		plan, err := policy.MakePlan(in)
		if err != nil {
			var why *policy.PlanError
			if in.NoCanaries || !errors.As(err, &why) || why.Reason != policy.ReasonCanaryIneligible {
				t.Fatal(err)
			}
			return
		}
		seen := map[string]int{}
		position := 0
		for _, w := range plan.Waves {
			for _, c := range w.Clusters {
				seen[c.Path]++
				if position++; c.Position != position {
					t.Fatalf("%s has position %d, want %d", c.Path, c.Position, position)
				}
			}
		}
		for _, c := range plan.Ineligible {
			seen[c.Path]++
		}
		for _, path := range plan.AtTarget {
			seen[path]++
		}
		if len(seen) != len(in.Candidates) || plan.Total != len(in.Candidates) {
			t.Fatalf("%d of %d clusters are in the plan", len(seen), len(in.Candidates))
		}
		for path, times := range seen {
			if times != 1 {
				t.Fatalf("%s is in %d places", path, times)
			}
		}
		shuffled := in
		shuffled.Candidates = append([]policy.Candidate(nil), in.Candidates...)
		rand.New(rand.NewPCG(1, uint64(len(in.Candidates)))).Shuffle(len(shuffled.Candidates), func(i, j int) {
			shuffled.Candidates[i], shuffled.Candidates[j] = shuffled.Candidates[j], shuffled.Candidates[i]
		})
		again, err := policy.MakePlan(shuffled)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plan, again); diff != "" {
			t.Fatalf("the order of listing changed the plan:\n%s", diff)
		}
		in.Waves[3].MaxConcurrency = policy.Amount{Value: 77}
		other, err := policy.MakePlan(in)
		if err != nil || other.Hash == plan.Hash {
			t.Fatalf("another limit, the same hash %s (%v)", other.Hash, err)
		}
	})
}
