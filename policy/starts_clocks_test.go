// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
)

// TestRecheckIsStableWhateverClocksSay draws instants and clocks that are stored, some of them ahead, as where a clock
// stepped back: at every instant before Recheck the decision is the same, and a wait ends neither before now nor unseen.
func TestRecheckIsStableWhateverClocksSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawStarts(t)
		for range rapid.IntRange(0, 12).Draw(t, "ticks") {
			d := policy.Decide(w.fleet, w.now)
			w.settle(d)
			w.store(d)
			w.move(t, d.Recheck)
		}
		w.drawClocks(t)
		d := policy.Decide(w.fleet, w.now)
		w.judgeUntil(t, d)
		stable(t, w.fleet, w.now)
		ahead := time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "ahead"))
		if later := w.now.Add(ahead); d.Recheck.IsZero() || later.Before(d.Recheck) {
			if diff := cmp.Diff(d, policy.Decide(w.fleet, later)); diff != "" {
				t.Fatalf("%s after %s the decision is another:\n%s", ahead, w.now, diff)
			}
		}
	})
}

// judgeUntil: what is said to end by time ends later than now, and is looked at by then.
func (w *world) judgeUntil(t *rapid.T, d policy.Decision) {
	t.Helper()
	if !d.Recheck.IsZero() && !d.Recheck.After(w.now) {
		t.Fatalf("looks again at %s, which is not after %s", d.Recheck, w.now)
	}
	var waits []policy.Waiting
	if d.Waiting != nil {
		waits = append(waits, *d.Waiting)
	}
	for _, hold := range append(d.Holds, d.Held...) {
		waits = append(waits, hold.Waiting)
	}
	for _, hold := range waits {
		if until := hold.Until; !until.IsZero() && (!until.After(w.now) || d.Recheck.IsZero() || d.Recheck.After(until)) {
			t.Fatalf("at %s: %+v, looked at again at %s", w.now, hold, d.Recheck)
		}
	}
}

// drawClocks draws what is stored of waves, clusters, freezes and members, about this time.
func (w *world) drawClocks(t *rapid.T) {
	about := func(label string) time.Time {
		return w.now.Add(time.Duration(rapid.IntRange(-2*24*60, 2*24*60).Draw(t, label)) * time.Minute)
	}
	rarely := func(label string) bool { return rapid.IntRange(0, 4).Draw(t, label) == 0 }
	clock := func(label string, most int) policy.Clock {
		c := policy.Clock{Elapsed: time.Duration(rapid.IntRange(0, most).Draw(t, label)) * time.Minute}
		if rapid.Bool().Draw(t, "runs") {
			c.Since = about("since")
		}
		return c
	}
	f := &w.fleet
	for i := range f.Waves {
		wave := &f.Waves[i]
		if rapid.Bool().Draw(t, "due") {
			wave.Worked, wave.Deadline = clock("worked", 20), time.Duration(rapid.IntRange(0, 2000).Draw(t, "deadline"))*time.Minute
		}
		if rapid.Bool().Draw(t, "soaked") {
			wave.Soaked = clock("soaked", longestSoak)
		}
		if !wave.ClosedAt.IsZero() && rarely("closes anew") {
			wave.ClosedAt = about("closedAt")
		}
	}
	for i := range f.Freezes {
		f.Freezes[i].Created = about("created")
		if rarely("no begin") {
			f.Freezes[i].From = time.Time{}
		}
	}
	for i := range f.Clusters {
		w.drawClockOf(t, &f.Clusters[i], about)
	}
	for _, name := range []string{"m0", "m1", "m2"} {
		if rarely("silent") {
			f.Members[name] = policy.Member{Since: about("silentSince"), Upgrade: true}
		}
	}
}

func (w *world) drawClockOf(t *rapid.T, c *policy.Cluster, about func(string) time.Time) {
	if rapid.IntRange(0, 3).Draw(t, "health moves") == 0 {
		c.Health = rapid.SampledFrom([]policy.Health{policy.Healthy, policy.Unhealthy, policy.HealthUnknown}).Draw(t, "health")
		c.HealthSince = about("healthSince")
	}
	if c.Phase.Ended() && rapid.IntRange(0, 3).Draw(t, "ends anew") == 0 {
		c.EndedAt = about("endedAt")
	}
	if rapid.IntRange(0, 8).Draw(t, "paused") == 0 {
		c.Reason, c.Message, c.Since = policy.ReasonClusterPaused, "spec.paused", about("pausedSince")
		c.Until = about("pausedUntil")
	}
}
