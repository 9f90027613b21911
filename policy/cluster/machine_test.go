// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// play lets hub and provider act in turn, at a pace, for as long as it is said or until it is through. The
// provider is always the quicker one: what it does at once is done before the hub looks.
func (w *provided) play(t fataler, span, pace time.Duration) cluster.Step {
	t.Helper()
	var step cluster.Step
	for end := w.now.Add(span); w.now.Before(end); w.pass(pace) {
		for range 4 {
			w.provideAll(2)
			if step = w.settle(t); step.Phase.Ended() && step.Settled {
				return step
			}
		}
	}
	return step
}

// provideAll lets the provider take up to n steps on each machine.
func (w *provided) provideAll(n int) {
	for _, name := range w.names() {
		for range n {
			if !w.provide(name) {
				break
			}
		}
	}
}

func (w *provided) names() []string {
	names := make([]string, 0, len(w.nodes))
	for name := range w.nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestFilmsOfGrantedMachines plays one cluster whose machines are granted one by one to a provider, with its faults.
func TestFilmsOfGrantedMachines(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(*provided)
		at      map[time.Duration]func(*provided)
	}{
		"granted-one-by-one": {},
		"granted-fault01-fails-always": {
			prepare: func(w *provided) { w.fates["cp-1"] = []fate{badly} },
		},
		"granted-fails-once": {prepare: func(w *provided) { w.fates["cp-1"] = []fate{badly, well} }},
		"granted-fault04-never-ends": {
			prepare: func(w *provided) { w.fates["cp-1"] = []fate{never, well}; w.o.Limits.MaxAttempts = 2 },
		},
		"granted-fault09-refused": {
			prepare: func(w *provided) { w.fates["cp-0"] = []fate{refused} },
		},
		"granted-withdrawn": {
			at: map[time.Duration]func(*provided){40 * time.Second: func(w *provided) { w.o.Intent = policy.Withdraw }},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := granting()
			if tc.prepare != nil {
				tc.prepare(w)
			}
			w.play(t, 40*time.Second, 5*time.Second)
			for _, edit := range tc.at {
				edit(w)
			}
			w.play(t, 3*time.Hour, 5*time.Second)
			got, path := w.log.String(), filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the film is another (-want +got):\n%s", diff)
			}
			w.within(t)
		})
	}
}

// within checks law 12: refreshes of a machine are bounded by its attempts, and one for each grant.
func (w *provided) within(t fataler) {
	t.Helper()
	for name, n := range w.nodes {
		if most := w.o.Limits.MaxAttempts + w.grants[name]; n.posts > most && !slices.Contains(w.fates[name], refused) {
			t.Fatalf("%s was refreshed %d times, at most %d\n%s", name, n.posts, most, w.log.String())
		}
	}
}

// TestLaws2_10_11_12HoldBesideAProvider plays random clusters whose provider acts between any two looks of the hub, whose
// hub dies between what it stores and what it does, under random intents and ends of changes. In the end all is
// withdrawn, and nothing may be left.
func TestLaws2_10_11_12HoldBesideAProvider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := granting()
		w.o.Limits.MaxConcurrentMachines = rapid.IntRange(1, 2).Draw(t, "concurrent")
		for _, name := range w.names() {
			w.fates[name] = rapid.SliceOfN(rapid.SampledFrom([]fate{well, well, well, badly, badly, never, nothing, unread}),
				1, 6).Draw(t, "fates")
		}
		w.crash = func() bool { return rapid.IntRange(0, 9).Draw(t, "crash") == 0 }
		for range rapid.IntRange(1, 150).Draw(t, "turns") {
			w.turn(t)
		}
		w.o.Intent, w.o.Reachable, w.o.Paused, w.o.NotAfter = policy.Withdraw, true, false, time.Time{}
		w.crash = func() bool { return false }
		w.play(t, 6*time.Hour, 2*time.Minute)
		if step := w.settle(t); !step.Phase.Ended() || !step.Settled {
			t.Fatalf("not ended: %v\n%s", step, w.log.String())
		}
		for name, n := range w.nodes {
			if n.m.Ours || n.m.Marks.HasTo || n.m.Marks.HasChangeID || w.o.Claim.State == cluster.ClaimOurs {
				t.Fatalf("left behind on %s: %+v\n%s", name, n.m, w.log.String())
			}
		}
		w.within(t)
	})
}

// turn is a look of the hub or a step of the provider, or a moment passes.
func (w *provided) turn(t *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(t, "turn") {
	case 0, 1, 2, 3:
		w.look(t)
		stable(t, w.o, w.now)
	case 4, 5, 6:
		w.provide(rapid.SampledFrom(w.names()).Draw(t, "machine"))
	case 7, 8:
		w.pass(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second)
	case 9:
		w.o.Reachable, w.o.Paused = rapid.IntRange(0, 9).Draw(t, "silent") > 0, rapid.IntRange(0, 9).Draw(t, "paused") == 0
		w.o.Intent = rapid.SampledFrom([]policy.Intent{
			policy.Run, policy.Run, policy.Run, policy.Run, policy.Hold, policy.Wait,
		}).Draw(t, "intent")
		s := &w.o.Standing[rapid.IntRange(0, 1).Draw(t, "standing")]
		s.Release = rapid.SampledFrom([]string{"", "", "channel=1.32-classic/stable", text}).Draw(t, "release")
	}
}
