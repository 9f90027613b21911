// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

var update = flag.Bool("update", false, "write the golden files")

// TestFilms plays one cluster, a minute at a time, and compares the log with a file that a person can read.
func TestFilms(t *testing.T) {
	for name, tc := range map[string]struct {
		fate []string
		at   map[int]edit
	}{
		"one-failure-then-done": {fate: []string{"ok", "fail"}},
		"quarantined":           {fate: []string{"ok", "fail", "fail", "fail"}},
		"held-and-resumed":      {at: map[int]edit{2: intent(policy.Hold), 6: intent(policy.Run)}},
		"withdrawn":             {at: map[int]edit{3: intent(policy.Withdraw)}},
		"claim-taken-away":      {at: map[int]edit{3: unclaimed}},
		"member-away": {
			at: map[int]edit{2: unreachable, 5: func(o *cluster.Observation) { o.Reachable = true }},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{o: idle(), now: noon, fate: tc.fate}
			for minute := range 25 {
				if edit := tc.at[minute]; edit != nil {
					edit(&w.o)
				}
				w.settle(t)
				w.engine()
			}
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
		})
	}
}

// TestLaws2And11HoldInEveryWorld plays random clusters whose members fall silent, are paused, lose their claim and
// fail, under random intents; every step is checked (see judge). In the end all is withdrawn, and nothing may be
// left.
func TestLaws2And11HoldInEveryWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{o: idle(), now: noon}
		for range rapid.IntRange(1, 40).Draw(t, "minutes") {
			w.disturb(t)
			w.settle(t)
			stable(t, w.o, w.now)
			w.engine()
		}
		w.o.SilentSince = time.Time{}
		w.o.Intent, w.o.Reachable, w.o.Access, w.o.Paused = policy.Withdraw, true, true, false
		if w.o.Claim.State == cluster.ClaimOther {
			w.o.Claim = cluster.Claim{}
		}
		for range 5 {
			w.settle(t)
			w.engine()
		}
		if step := w.settle(t); !step.Phase.Ended() || !step.Settled {
			t.Fatalf("not ended: %v\n%s", step, w.log.String())
		}
		for _, o := range w.o.Owners {
			for _, m := range o.Machines {
				if o.Ours || o.HasTo || w.o.Present && m.Leftovers || w.o.Claim.State == cluster.ClaimOurs {
					t.Fatalf("left behind on %s: %+v\n%s", o.ID(), o, w.log.String())
				}
			}
		}
	})
}

func (w *world) disturb(t *rapid.T) {
	rare := func(name string) bool { return rapid.IntRange(0, 19).Draw(t, name) == 0 }
	w.o.Reachable, w.o.Paused, w.o.Access = !rare("silent"), rare("paused"), !rare("readOnly")
	w.o.Health.Status = rapid.SampledFrom([]cluster.Status{
		cluster.True, cluster.True, cluster.True, cluster.True, cluster.False, cluster.Unknown,
	}).Draw(t, "health")
	w.fate = rapid.SliceOfN(rapid.SampledFrom([]string{"ok", "ok", "ok", "fail"}), 1, 1).Draw(t, "fate")
	w.o.Intent = rapid.SampledFrom([]policy.Intent{
		policy.Run, policy.Run, policy.Run, policy.Run, policy.Run, policy.Hold, policy.Wait,
	}).Draw(t, "intent")
	switch {
	case rare("vanishes"):
		w.o.Claim = cluster.Claim{}
	case rare("another") && w.o.Claim.State == cluster.ClaimNone:
		foreign(&w.o)
	case w.o.Claim.State == cluster.ClaimOther:
		w.o.Claim = cluster.Claim{}
	}
	w.wish(t)
	if w.o.SilentSince = (time.Time{}); !w.o.Reachable {
		w.o.SilentSince = w.now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "silent for")) * time.Second)
	}
	w.o.NotAfter = time.Time{}
	if rare("ends") {
		w.o.NotAfter = w.now.Add(time.Duration(rapid.IntRange(-60, 600).Draw(t, "notAfter")) * time.Second)
	}
}

// wish lets the owner of the cluster ask to wait, or change its mind.
func (w *world) wish(t *rapid.T) {
	w.o.Open, w.o.WishMax = rapid.Bool().Draw(t, "open"), 5*time.Minute
	w.o.ProgressDeadline = 20 * time.Minute
	switch rapid.IntRange(0, 19).Draw(t, "wish") {
	case 0:
		w.o.Wish = cluster.Wish{Held: true}
	case 1:
		w.o.Wish = cluster.Wish{Problem: "odd"}
	case 2:
		w.o.Wish = cluster.Wish{DeferUntil: w.now.Add(time.Duration(rapid.IntRange(-60, 600).Draw(t, "until")) * time.Second)}
	case 3, 4, 5, 6:
		w.o.Wish = cluster.Wish{}
	}
}

// stable: before Recheck, time changes nothing.
func stable(t *rapid.T, o cluster.Observation, now time.Time) {
	step := cluster.Next(o, now)
	ahead := 100 * time.Hour
	if !step.Recheck.IsZero() {
		ahead = step.Recheck.Sub(now)
	}
	if ahead <= 0 {
		return
	}
	later := now.Add(time.Duration(rapid.Int64Range(0, int64(ahead)-1).Draw(t, "later")))
	if diff := cmp.Diff(step, cluster.Next(o, later)); diff != "" {
		t.Fatalf("%s later, before %s, the step is another:\n%s\n%+v", later.Sub(now), step.Recheck, diff, o)
	}
}

// TestClustersEndWhenNothingIsInTheWay plays clusters without trouble to their end.
func TestClustersEndWhenNothingIsInTheWay(t *testing.T) {
	w := &world{o: idle(), now: noon}
	for range 40 {
		if step := w.settle(t); step.Phase == policy.Succeeded && step.Settled {
			return
		}
		w.engine()
	}
	t.Fatalf("not through:\n%s", w.log.String())
}
