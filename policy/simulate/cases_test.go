// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

// numbered are paths of clusters that alternate over members.
func numbered(count, members int) []string {
	paths := make([]string, 0, count)
	for i := range count {
		paths = append(paths, fmt.Sprintf("m%02d/shop/%03d", i%members, i))
	}
	return paths
}

// play plays under a judge.
func play(t *testing.T, s *story) simulate.Result {
	t.Helper()
	j := watch(&s.Input, map[string][]simulate.Machines{})
	r := simulate.Run(s.Input)
	if found := j.verdict(r); len(found) > 0 {
		t.Fatalf("%s\n%s", strings.Join(found, "\n"), r.Film())
	}
	return r
}

// together is how many clusters were at work at one instant at most.
func together(r simulate.Result) int {
	most := 0
	for _, c := range r.Clusters {
		for _, span := range c.Spans {
			count := 0
			for _, other := range r.Clusters {
				if slices.ContainsFunc(other.Spans, func(s window.Span) bool { return s.Contains(span.Start) }) {
					count++
				}
			}
			most = max(most, count)
		}
	}
	return most
}

func TestC018_AWeeklyWindowIsRightAfterManyWeeks(t *testing.T) {
	s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 1}, numbered(40, 4)...).catchUp().
		hours("saturdays", weekly(time.Hour))
	s.From = time.Date(2026, 9, 25, 0, 0, 0, 0, time.UTC)
	s.each(func(c *policy.Cluster) { c.Work = []policy.Work{{Machines: 2, AtOnce: 1, Each: 30 * time.Minute}} })
	for week := range 40 {
		s.then(
			simulate.Event{At: s.From.AddDate(0, 0, 7*week+3), Kind: simulate.HubDown},
			simulate.Event{At: s.From.AddDate(0, 0, 7*week+3).Add(time.Minute), Kind: simulate.HubBack},
		)
	}
	r := play(t, s)
	for i, c := range r.Clusters {
		want := time.Date(2026, 9, 26, 2, 0, 0, 0, time.UTC).AddDate(0, 0, 7*i)
		if !c.Began.Equal(want) || c.Windows != 1 || c.Phase != policy.Succeeded {
			t.Errorf("week %d: %s began at %s in %d windows, want %s", i, c.Path, c.Began, c.Windows, want)
		}
	}
}

func TestC043_ARestartInTheWindowOf500ClustersIsNoStampede(t *testing.T) {
	s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 20}, numbered(500, 12)...).catchUp().
		hours("nights", window.Spec{Windows: []window.Recurrence{{Schedule: "0 2 * * *", Duration: 4 * time.Hour}}})
	s.then(
		simulate.Event{At: at("02 02:30"), Kind: simulate.HubDown}, simulate.Event{At: at("02 02:31"), Kind: simulate.HubBack},
	)
	r := play(t, s)
	if r.Phase != policy.PhaseSucceeded || r.Peak != 20 || together(r) != 20 {
		t.Errorf("%s with %d in flight and %d at work, want 20", r.Phase, r.Peak, together(r))
	}
}

func TestC050_TwoOfTenAreInFlightHoweverLateWordsArrive(t *testing.T) {
	for seed := range uint64(200) {
		s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 2}, numbered(10, 2)...).catchUp()
		s.Lag, s.Seed = 500*time.Millisecond, seed
		r := play(t, s)
		if r.Phase != policy.PhaseSucceeded || r.Peak != 2 || together(r) != 2 {
			t.Fatalf("seed %d: %s with %d in flight and %d at work, want 2\n%s", seed, r.Phase, r.Peak, together(r), r.Film())
		}
	}
}

func TestC056_AllFailAtOnceAndNoneStartsAfterTheThird(t *testing.T) {
	s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 50, MaxFailures: 2}, numbered(100, 5)...).catchUp()
	s.each(func(c *policy.Cluster) { c.Work = []policy.Work{{Machines: 3, AtOnce: 1, Each: 10 * time.Second}} })
	for _, c := range s.Fleet.Clusters {
		s.then(simulate.Event{At: s.From, Kind: simulate.MachineFails, Cluster: c.Path})
	}
	r := play(t, s)
	begun := 0
	for _, c := range r.Clusters {
		if !c.Began.IsZero() {
			begun++
		}
	}
	if begun != 50 || r.Reason != policy.ReasonFailureBudgetExceeded || r.Stopped != "" {
		t.Errorf("%d begun, %s(%s) %s", begun, r.Phase, r.Reason, r.Stopped)
	}
}

func TestC058_OfTenClustersFiveAreUntouchedAndTheOneInFlightFinishesItsMachine(t *testing.T) {
	_, results := scenes()["budget-exceeded"].film(t)
	got := map[policy.ClusterPhase]int{}
	for _, c := range results[0].Clusters {
		got[c.Phase]++
	}
	if got[policy.Failed] != 2 || got[policy.Succeeded] != 2 || got[policy.Pending] != 5 || got[policy.Holding] != 1 {
		t.Errorf("%v\n%s", got, results[0].Film())
	}
	halted, flying := results[0].Clusters[4].Ended, results[0].Clusters[3]
	if last := flying.Spans[len(flying.Spans)-1]; !last.Contains(halted) {
		t.Errorf("%s was at work from %s to %s, and it was halted at %s", flying.Path, last.Start, last.End, halted)
	}
}

func TestC066_ACanaryThatFailsOrTimesOutLeavesTheRestUntouched(t *testing.T) {
	for _, name := range []string{"canary-fails", "canary-times-out"} {
		_, results := scenes()[name].film(t)
		for _, c := range results[0].Clusters[1:] {
			if !c.Began.IsZero() {
				t.Errorf("%s: %s began at %s", name, c.Path, c.Began)
			}
		}
		if !strings.Contains(results[0].Message, "eu/shop/1") {
			t.Errorf("%s: the message does not name the canary: %s", name, results[0].Message)
		}
	}
}

func TestC068_EachWaveHasItsOwnTime(t *testing.T) {
	for _, deadline := range []time.Duration{time.Hour, 90 * time.Minute} {
		w := policy.Wave{MaxConcurrency: 1, Deadline: deadline, DeadlineContinue: true}
		one, two := w, w
		one.Name, two.Name = "one", "two"
		two.MaxConcurrency = 2
		s := tell().wave(one, "eu/shop/1", "eu/shop/2", "eu/shop/3", "eu/shop/4").
			wave(two, "us/shop/1", "us/shop/2", "us/shop/3", "us/shop/4").catchUp()
		s.each(func(c *policy.Cluster) { c.Work = []policy.Work{{Machines: 2, AtOnce: 1, Each: 20 * time.Minute}} })
		r := play(t, s)
		for i, w := range r.Waves[:2] {
			if want := s.From.Add(time.Duration(i+1) * deadline); !w.Complete.Equal(want) || !w.Began.Equal(want.Add(-deadline)) {
				t.Errorf("%s: wave %s from %s to %s, want %s until %s\n%s", deadline, w.Name, w.Began, w.Complete,
					want.Add(-deadline), want, r.Film())
			}
		}
	}
}

func TestC122_ThreeMinorsAreThreeRolloutsInThreeWindows(t *testing.T) {
	from := at("01 20:00")
	for hop, version := range []string{"v1.31.9", "v1.32.5", "v1.33.4"} {
		s := tell().canaries("eu/shop/1").catchUp().hours("nights", nightly("UTC", 100*time.Minute))
		s.From, s.Versions = from, map[string]string{"amd64": version}
		s.then(
			simulate.Event{At: from.Add(2*time.Hour + 30*time.Minute), Kind: simulate.HubDown},
			simulate.Event{At: from.Add(2*time.Hour + 35*time.Minute), Kind: simulate.HubBack},
		)
		r := play(t, s)
		if want := at("01 22:00").AddDate(0, 0, hop); !r.Clusters[0].Began.Equal(want) || r.Clusters[0].Windows != 1 ||
			r.Phase != policy.PhaseSucceeded {
			t.Fatalf("hop to %s: from %s in %d windows, want from %s\n%s", version, r.Clusters[0].Began, r.Clusters[0].Windows,
				want, r.Film())
		}
		from = r.EndedAt
	}
}

func TestC155_WhoseOwnerPutsItOffIsDoneInTheNextWindowAndCountsAsNoFailure(t *testing.T) {
	film, results := scenes()["the-owner-puts-it-off"].film(t)
	late := results[0].Clusters[2]
	if !late.Began.Equal(at("02 22:00")) || results[0].Phase != policy.PhaseSucceeded || late.Windows != 1 {
		t.Errorf("%s began at %s in %d windows\n%s", late.Path, late.Began, late.Windows, film)
	}
}
