// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

func limits(given ...policy.Limit) func(*policy.Fleet) {
	return func(f *policy.Fleet) { f.Limits = given }
}

// groups gives clusters the values that limits count them under.
func groups(values ...string) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for i, value := range values {
			f.Clusters[i].Groups = []string{value}
		}
	}
}

func TestLimitsBoundClustersInFlightPerGroupOverAllRollouts(t *testing.T) {
	site := policy.Limit{Label: "example.com/site", Max: 1}
	elsewhere := policy.Limit{Label: "example.com/site", Max: 2, Elsewhere: map[string]int{"ulm": 1}}
	for name, tc := range map[string]timed{
		"one of a site": {
			built([]func(*policy.Fleet){sets(done), concurrency(9), limits(site), groups("", "ulm", "ulm", "bonn", "bonn")}, 1, 4),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run c3=Run", Waiting: "GroupLimit"},
		},
		"what other rollouts have there counts": {
			built([]func(*policy.Fleet){sets(done), concurrency(9), limits(elsewhere), groups("", "ulm", "ulm", "bonn", "bonn")}, 1, 4),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run c3=Run c4=Run", Waiting: "GroupLimit"},
		},
		"what is in flight counts, of other waves and what is being given back, too": {
			built([]func(*policy.Fleet){
				sets(done, "Wait Pending returning", "Wait Pending"), concurrency(9), limits(site), groups("", "ulm", "ulm"),
			}, 1, 2), "2026-12-01T12:00:00Z", outcome{Waiting: "Returning", Holds: "c1:Returning"},
		},
		"clusters without the label are one group": {
			built([]func(*policy.Fleet){sets(done), concurrency(9), limits(site), groups("", "", "", "ulm")}, 1, 3),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run c3=Run", Waiting: "GroupLimit"},
		},
		"per management cluster": {
			built([]func(*policy.Fleet){sets(done), concurrency(9), limits(policy.Limit{Max: 2})}, 1, 4),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run c2=Run", Waiting: "GroupLimit"},
		},
		"the smallest of several holds": {
			built([]func(*policy.Fleet){
				sets(done), concurrency(9), limits(policy.Limit{Label: "a", Max: 3}, site),
				func(f *policy.Fleet) {
					for i := range f.Clusters {
						f.Clusters[i].Groups = []string{"x", "ulm"}
					}
				},
			}, 1, 4), "2026-12-01T12:00:00Z", outcome{Intents: "c1=Run", Waiting: "GroupLimit"},
		},
		"a limit of nothing is one": {
			built([]func(*policy.Fleet){sets(done), concurrency(9), limits(policy.Limit{})}, 1, 4),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run", Waiting: "GroupLimit"},
		},
	} {
		t.Run(name, tc.check)
	}
	f := built([]func(*policy.Fleet){sets(done, "Run Progressing"), concurrency(9), limits(site), groups("", "ulm", "ulm")}, 1, 2)
	want := "1 of the 1 clusters that limits allow with example.com/site=ulm are in flight"
	if got := policy.Decide(f, noon).Waiting.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestLaw6AReservedBudgetCannotBeOverrun(t *testing.T) {
	reserved := func(f *policy.Fleet) { f.ReserveBudget = true }
	for name, tc := range map[string]timed{
		"with no failure allowed one begins at a time": {
			built([]func(*policy.Fleet){sets(done), concurrency(9), reserved}, 1, 4), "2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run", Waiting: "BudgetReserved"},
		},
		"three allowed: three begin": {
			built([]func(*policy.Fleet){sets(done), concurrency(9), failures(3), reserved}, 1, 5), "2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run c2=Run c3=Run", Waiting: "BudgetReserved"},
		},
		"one has failed: two at a time": {
			built([]func(*policy.Fleet){
				sets(done, "Withdraw Failed settled", "Run Progressing"), concurrency(9), failures(3), reserved,
			}, 1, 5), "2026-12-01T12:00:00Z",
			outcome{Intents: "c3=Run", Waiting: "BudgetReserved"},
		},
		"a failed one that is not settled counts once": {
			built([]func(*policy.Fleet){sets(done, "Withdraw Failed"), concurrency(9), failures(2), reserved}, 1, 4),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c2=Run", Waiting: "BudgetReserved"},
		},
		"all that may have failed: one at a time still": {
			built([]func(*policy.Fleet){sets(done, done, "Withdraw Failed settled"), concurrency(9), failures(1), reserved}, 1, 4),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c3=Run", Waiting: "BudgetReserved"},
		},
		"failures that were seen are all that counts otherwise": {
			built([]func(*policy.Fleet){sets(done), concurrency(9)}, 1, 3), "2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run c2=Run c3=Run"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestC050_AsManyAsMayNeverMoreHoweverSlowTheWrites(t *testing.T) {
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 50))
		f := built([]func(*policy.Fleet){sets(done), concurrency(2)}, 1, 10)
		for turn := range 200 {
			d := policy.Decide(f, noon)
			if d.Phase == policy.PhaseSucceeded {
				break
			}
			for _, change := range d.Intents {
				i := int(change.ID[1] - '0')
				if len(change.ID) > 2 {
					i = 10
				}
				f.Clusters[i].Intent = change.Intent // written first: what the members show comes later
			}
			inFlight := 0
			for i := 1; i < len(f.Clusters); i++ {
				c := &f.Clusters[i]
				if c.Intent != policy.Run || c.Settled {
					continue
				}
				inFlight++
				switch dice.IntN(4) {
				case 0:
					c.Phase = policy.Progressing
				case 1:
					set(&f, i, done)
				}
			}
			if inFlight > 2 {
				t.Fatalf("seed %d, turn %d: %d in flight", seed, turn, inFlight)
			}
		}
		if d := policy.Decide(f, noon); d.Phase != policy.PhaseSucceeded {
			t.Fatalf("seed %d: not through: %s", seed, d)
		}
	}
}

func TestC051_ALimitOfOneHoldsWhenEverySecondWriteIsRefused(t *testing.T) {
	for seed := range uint64(500) {
		dice := rand.New(rand.NewPCG(seed, 51))
		f := built([]func(*policy.Fleet){sets(done)}, 1, 2)
		writes := 0
		for turn := 0; policy.Decide(f, noon).Phase != policy.PhaseSucceeded; turn++ {
			for _, change := range policy.Decide(f, noon).Intents {
				if writes++; writes%2 == 0 {
					continue // 409: decided again
				}
				f.Clusters[change.ID[1]-'0'].Intent = change.Intent
			}
			inFlight := 0
			for i := 1; i <= 2; i++ {
				if c := &f.Clusters[i]; c.Intent == policy.Run && !c.Settled {
					inFlight++
					if dice.IntN(3) == 0 {
						set(&f, i, done)
					}
				}
			}
			if inFlight > 1 || turn > 100 {
				t.Fatalf("seed %d, turn %d: %d in flight", seed, turn, inFlight)
			}
		}
	}
}

func TestC056_LimitsHoldFromTheFirstCluster(t *testing.T) {
	f := built([]func(*policy.Fleet){sets(done), concurrency(50), failures(2)}, 1, 100)
	begun := 0
	for round := range 3 {
		d := policy.Decide(f, noon)
		failed := 0
		for i := range f.Clusters {
			if f.Clusters[i].Phase == policy.Failed {
				failed++
			}
		}
		starts := strings.Count(d.String(), "=Run")
		if failed > 2 && (starts > 0 || d.Phase != policy.PhaseHalted) {
			t.Fatalf("round %d: %d failed, %s", round, failed, d)
		}
		if begun += starts; begun > 50 {
			t.Fatalf("round %d: %d have begun", round, begun)
		}
		report(&f, d, noon)
		for i := range f.Clusters {
			if f.Clusters[i].Intent == policy.Run && !f.Clusters[i].Settled {
				set(&f, i, "Run Failed")
			}
		}
	}
	if begun != 50 {
		t.Errorf("%d have begun, want 50", begun)
	}
}

func TestC057_ThereIsNoHiddenThreshold(t *testing.T) {
	for _, size := range []int{5, 199, 200, 201} {
		var in policy.PlanInput
		in.Target, in.NoCanaries = target, true
		in.Candidates = numbered("m", size)
		in.Waves = []policy.WaveSpec{
			{Name: "tenth", Percent: 10, MaxConcurrency: policy.Amount{Value: 25, Percent: true}},
			{Name: "rest", Rest: true, MaxConcurrency: policy.Amount{Value: 25, Percent: true}},
		}
		plan, err := policy.MakePlan(in)
		if err != nil {
			t.Fatal(err)
		}
		tenth := (size + 9) / 10
		want := []string{
			fmt.Sprintf("tenth %d at once %d", tenth, max(1, tenth/4)),
			fmt.Sprintf("rest %d at once %d", size-tenth, max(1, (size-tenth)/4)),
		}
		var got []string
		var f policy.Fleet
		f.Committed, f.Members = true, map[string]policy.Member{"m": {Ready: true, Upgrade: true}}
		for i, w := range plan.Waves {
			got = append(got, fmt.Sprintf("%s %d at once %d", w.Name, w.Planned, w.MaxConcurrency))
			f.Waves = append(f.Waves, policy.Wave{Name: w.Name, Planned: w.Planned, MaxConcurrency: w.MaxConcurrency})
			for _, c := range w.Clusters {
				f.Clusters = append(f.Clusters, policy.Cluster{ID: c.ID, Path: c.Path, Member: c.Member, Wave: i})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d clusters (-want +got):\n%s", size, diff)
		}
		if starts := len(policy.Decide(f, noon).Intents); starts != max(1, tenth/4) {
			t.Errorf("%d clusters: %d begin at once, want %d", size, starts, max(1, tenth/4))
		}
	}
}

func TestC064_ALimitThatIsReachedStopsStartsOnly(t *testing.T) {
	full := built([]func(*policy.Fleet){sets(done, "Run Progressing", "Hold Holding"), concurrency(2)}, 1, 3)
	full.Waves[1].MaxConcurrency = 1
	for name, tc := range map[string]timed{
		"C064: what is in flight goes on, though more than the limit": {
			full, "2026-12-01T12:00:00Z", outcome{Intents: "c2=Run", Waiting: "MaxConcurrency", Holds: "c2:"},
		},
		"C064: one that ends frees its slot": {
			built([]func(*policy.Fleet){sets(done, done, "Run Progressing"), concurrency(2)}, 1, 3), "2026-12-01T12:00:00Z",
			outcome{Intents: "c3=Run"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestC075_AnErrorOfOneClusterKeepsNoOther(t *testing.T) {
	f := built([]func(*policy.Fleet){sets(done), concurrency(20)}, 1, 20)
	set(&f, 7, "Wait Pending ClusterUnhealthy")
	d := policy.Decide(f, noon)
	if len(d.Intents) != 19 || strings.Contains(d.String(), "c7=") {
		t.Errorf("beside a cluster that cannot begin: %s", d)
	}
	report(&f, d, noon)
	for i := 1; i <= 20; i++ {
		set(&f, i, "Run Progressing")
	}
	set(&f, 7, "Run Holding EngineError")
	if d := policy.Decide(f, noon); len(d.Intents) > 0 || d.Phase != policy.PhaseProgressing {
		t.Errorf("beside one that stands still: %s", d)
	}
}

func TestC095_WhatCannotBeginTakesNoSlot(t *testing.T) {
	for name, tc := range map[string]timed{
		"C095: it is not healthy": {
			built([]func(*policy.Fleet){sets(done, "Wait Pending ClusterUnhealthy")}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{Intents: "c2=Run", Waiting: "ClusterUnhealthy", Holds: "c1:ClusterUnhealthy"},
		},
		"C095: it was let begin and turned out so": {
			built([]func(*policy.Fleet){sets(done, "Run Pending ClusterUnhealthy")}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Wait", Waiting: "MaxConcurrency", Holds: "c1:ClusterUnhealthy"},
		},
		"its window is closed": {
			built([]func(*policy.Fleet){sets(done), func(f *policy.Fleet) { f.Clusters[1].Calendars = []string{"gone"} }}, 1, 2),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c2=Run", Waiting: "CalendarNotFound act"},
		},
	} {
		t.Run(name, tc.check)
	}
}
