// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

func TestPredictSaysWhenEachClusterIsUpgradedAndInWhichWindow(t *testing.T) {
	night := func(day string) window.Span {
		start := at(day + " 22:00")
		return window.Span{Start: start, End: start.Add(4 * time.Hour)}
	}
	took := 100*time.Minute + 10*time.Second
	first, second := at("01 22:00"), at("01 22:00").Add(took)
	for name, tc := range map[string]struct {
		edit func(*policy.Fleet)
		want map[string]simulate.Prediction
	}{
		"one after another, as many as fit into a night": {
			want: map[string]simulate.Prediction{
				"eu-shop-1": {Start: first, End: first.Add(took), Window: night("01")},
				"us-shop-1": {Start: second, End: second.Add(took), Window: night("01")},
				"eu-shop-2": {Start: second.Add(took), End: at("02 23:20").Add(10 * time.Second), Window: night("01")},
			},
		},
		"approvals are taken as given": {
			edit: func(f *policy.Fleet) { f.Waves[0].Approvals = 2 },
			want: map[string]simulate.Prediction{
				"eu-shop-1": {Start: first, End: first.Add(took), Window: night("01")},
				"us-shop-1": {Start: second, End: second.Add(took), Window: night("01")},
				"eu-shop-2": {Start: second.Add(took), End: at("02 23:20").Add(10 * time.Second), Window: night("01")},
			},
		},
		"a cluster that cannot be reached has none": {
			edit: func(f *policy.Fleet) { f.Members["us"] = policy.Member{Upgrade: true, Message: "it does not answer"} },
			want: map[string]simulate.Prediction{
				"eu-shop-1": {Start: first, End: first.Add(took), Window: night("01")},
				"eu-shop-2": {Start: second, End: second.Add(took), Window: night("01")},
			},
		},
		"a halted rollout predicts nothing": {
			edit: func(f *policy.Fleet) { f.Sticky = policy.PhaseHalted },
			want: map[string]simulate.Prediction{},
		},
		"what is half-way goes on with what is left": {
			edit: func(f *policy.Fleet) {
				c := &f.Clusters[0]
				c.Intent, c.Phase = policy.Hold, policy.Holding
				c.Work = []policy.Work{{Machines: 1, AtOnce: 1, Each: 20 * time.Minute}}
			},
			want: map[string]simulate.Prediction{
				"eu-shop-1": {Start: first, End: first.Add(20*time.Minute + 10*time.Second), Window: night("01")},
				"us-shop-1": {
					Start: first.Add(20*time.Minute + 10*time.Second), End: first.Add(20*time.Minute + 10*time.Second + took),
					Window: night("01"),
				},
				"eu-shop-2": {
					Start: first.Add(20*time.Minute + 10*time.Second + took),
					End:   first.Add(20*time.Minute + 10*time.Second + 2*took), Window: night("01"),
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 1}, "eu/shop/1", "us/shop/1", "eu/shop/2").catchUp().
				hours("nights", nightly("UTC", 4*time.Hour))
			if tc.edit != nil {
				tc.edit(&s.Fleet)
			}
			if diff := cmp.Diff(tc.want, simulate.Predict(s.Fleet, s.From)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRunLeavesItsInputAlone: a fleet can be played as often as one likes.
func TestRunLeavesItsInputAlone(t *testing.T) {
	s, again := six(), six()
	first := simulate.Run(s.Input)
	if diff := cmp.Diff(again.Fleet, s.Fleet); diff != "" {
		t.Errorf("the fleet was changed:\n%s", diff)
	}
	if diff := cmp.Diff(first.Film(), simulate.Run(s.Input).Film()); diff != "" {
		t.Errorf("played again it is another:\n%s", diff)
	}
}

// BenchmarkSimulate500 plays 500 clusters of 12 members through weeks of nights.
func BenchmarkSimulate500(b *testing.B) {
	paths := numbered(500, 12)
	s := tell().canaries(paths[0]).wave(policy.Wave{Name: "early", MaxConcurrency: 5}, paths[1:50]...).
		wave(policy.Wave{Name: "rest", MaxConcurrency: 10, MaxFailures: 5}, paths[50:]...).catchUp().
		hours("nights", nightly("Europe/Berlin", 4*time.Hour))
	b.ReportAllocs()
	for b.Loop() {
		if r := simulate.Run(s.Input); r.Phase != policy.PhaseSucceeded {
			b.Fatalf("%s: %s", r.Phase, r.Stopped)
		}
	}
}

// BenchmarkPredict10k predicts for 10,000 clusters, as far as its bound reaches.
func BenchmarkPredict10k(b *testing.B) {
	s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 100}, numbered(10_000, 50)...).catchUp().
		hours("nights", nightly("Europe/Berlin", 4*time.Hour))
	b.ReportAllocs()
	for b.Loop() {
		simulate.Predict(s.Fleet, s.From)
	}
}
