// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
)

// longestSoak is in minutes.
const longestSoak = 6

func drawWorld(t *rapid.T) *world {
	w := &world{now: noon, began: map[string]bool{}}
	f := &w.fleet
	f.Committed, f.HasCanaries = true, rapid.Bool().Draw(t, "canaries")
	f.OnMovedHalt = rapid.Bool().Draw(t, "onMovedHalt")
	f.OtherActive = rapid.IntRange(0, 1).Draw(t, "otherActive")
	f.Unreachable.Grace = time.Duration(rapid.IntRange(0, 4).Draw(t, "grace")) * time.Minute
	f.Unreachable.MaxUnknown = rapid.IntRange(-1, 2).Draw(t, "maxUnknown")
	f.CatchUpFor = time.Duration(rapid.SampledFrom([]int{0, 0, 10, 30}).Draw(t, "catchUpFor")) * time.Minute
	f.Members = map[string]policy.Member{}
	for m := range 3 {
		f.Members[fmt.Sprintf("m%d", m)] = policy.Member{
			Ready: true, Upgrade: true, MaxConcurrentClusters: rapid.IntRange(0, 3).Draw(t, "memberLimit"),
		}
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "waves") {
		f.Waves = append(f.Waves, drawWave(t, i, f.HasCanaries))
		for range f.Waves[i].Planned {
			id := fmt.Sprintf("c%d", len(f.Clusters))
			f.Clusters = append(f.Clusters, policy.Cluster{
				ID: id, Path: "ns/" + id, Member: fmt.Sprintf("m%d", rapid.IntRange(0, 2).Draw(t, "member")), Wave: i,
				Intent: policy.Wait, Phase: policy.Pending,
			})
		}
	}
	last := f.Waves[len(f.Waves)-1]
	f.Waves = append(f.Waves, policy.Wave{
		Name: "catch-up", CatchUp: true, MaxConcurrency: last.MaxConcurrency, MaxFailures: last.MaxFailures,
	})
	return w
}

func drawWave(t *rapid.T, i int, canaries bool) policy.Wave {
	minutes := func(name string, of ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(of).Draw(t, name)) * time.Minute
	}
	wave := policy.Wave{
		Name: fmt.Sprintf("w%d", i), Canary: i == 0 && canaries, Planned: rapid.IntRange(0, 6).Draw(t, "planned"),
		MaxConcurrency: rapid.IntRange(1, 4).Draw(t, "maxConcurrency"),
		Soak:           minutes("soak", 0, 0, 1, longestSoak), Deadline: minutes("deadline", 0, 0, 0, 5, 20),
		DeadlineContinue: rapid.Bool().Draw(t, "onDeadline"),
	}
	if !wave.Canary {
		wave.MaxFailures = rapid.IntRange(0, 2).Draw(t, "maxFailures")
	}
	return wave
}

// TestLaws4To8And13To15HoldInEveryWorld plays random fleets with failures, claims, removals, pauses, deferrals, sick
// clusters and silent members, and checks after every decision what must never happen.
func TestLaws4To8And13To15HoldInEveryWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "ticks") {
			before := cloneFleet(w.fleet)
			d := w.decide()
			w.judge(t, before, d)
			if again := policy.Decide(w.fleet, w.now); len(again.Intents) > 0 {
				t.Fatalf("deciding twice changes more: %s, then %s", d, again)
			}
			w.disturb(t)
		}
	})
}

// disturb lets the world take its course for a minute.
func (w *world) disturb(t *rapid.T) {
	w.now = w.now.Add(time.Minute)
	fates := rapid.SampledFrom([]string{
		"ok", "ok", "ok", "ok", "ok", "ok", "ok", "ok", "fail", "claimed", "gone", "other", "put off",
	})
	healths := rapid.SampledFrom([]policy.Health{
		policy.Healthy, policy.Healthy, policy.Healthy, policy.Healthy, policy.Unhealthy, policy.HealthUnknown,
	})
	for i := range w.fleet.Clusters {
		c := &w.fleet.Clusters[i]
		if rapid.IntRange(0, 2).Draw(t, "moves") > 0 {
			course(c, fates.Draw(t, "fate"), w.now)
		}
		if rapid.IntRange(0, 9).Draw(t, "health moves") > 0 {
			continue
		}
		if health := healths.Draw(t, "health"); health != c.Health {
			c.Health, c.HealthSince = health, w.now
		}
	}
	w.fleet.Paused = rapid.IntRange(0, 9).Draw(t, "paused") == 0
	w.fleet.UnknownField = ""
	if rapid.IntRange(0, 9).Draw(t, "unknownField") == 0 {
		w.fleet.UnknownField = "unknown field spec.puased"
	}
	w.fleet.Cancelled = rapid.IntRange(0, 99).Draw(t, "cancelled") == 0
	members := map[string]policy.Member{}
	for i := range 3 {
		name := fmt.Sprintf("m%d", i)
		m := w.fleet.Members[name]
		if ready := rapid.IntRange(0, 9).Draw(t, "ready "+name) > 0; ready != m.Ready {
			m.Ready, m.Since = ready, w.now
		}
		members[name] = m
	}
	w.fleet.Members = members
}

// judge checks one decision against what was before it.
func (w *world) judge(t *rapid.T, before policy.Fleet, d policy.Decision) {
	t.Helper()
	starts := 0
	for _, change := range d.Intents {
		c := w.cluster(change.ID)
		old := before.Clusters[slices.IndexFunc(before.Clusters, func(b policy.Cluster) bool { return b.ID == c.ID })]
		if old.Intent == policy.Wait && change.Intent == policy.Run {
			starts++
			w.judgeStart(t, before, old)
		}
	}
	if before.Sticky != "" && (starts > 0 || d.Phase != before.Sticky && d.Phase != policy.PhaseCancelled) {
		t.Fatalf("%s was sticky, now %s", before.Sticky, d)
	}
	if starts > 0 {
		w.judgeSight(t, before)
	}
	for i := range before.Waves {
		w.judgeWave(t, before, d, i)
	}
	if len(d.Holds) > policy.MaxHolds || !d.Recheck.IsZero() && !d.Recheck.After(w.now) {
		t.Fatalf("%d holds, recheck %s", len(d.Holds), d.Recheck)
	}
}

// judgeStart checks one start.
func (w *world) judgeStart(t *rapid.T, before policy.Fleet, c policy.Cluster) {
	t.Helper()
	in := w.countsIn(c)
	wave := before.Waves[in]
	if active := w.busy("") + before.OtherActive; active > wave.MaxConcurrency {
		t.Fatalf("%s begins as one of %d in flight, wave %s allows %d", c.ID, active, wave.Name, wave.MaxConcurrency)
	}
	m := before.Members[c.Member]
	if most := m.MaxConcurrentClusters; most > 0 && w.busy(c.Member) > most {
		t.Fatalf("%s begins as one of %d in member %s, which allows %d", c.ID, w.busy(c.Member), c.Member, most)
	}
	if !m.Ready || before.Paused || before.UnknownField != "" || before.Cancelled || before.Sticky != "" ||
		c.Reason != "" || c.Phase != policy.Pending {
		t.Fatalf("%s begins though it must not", c.ID)
	}
	for _, earlier := range before.Clusters {
		switch {
		case earlier.Wave < in && !earlier.Phase.Ended() && !w.left[earlier.ID]:
			t.Fatalf("%s begins before %s of an earlier wave has ended", c.ID, earlier.ID)
		case before.Waves[earlier.Wave].Canary && earlier.Wave < in && earlier.Phase != policy.Succeeded &&
			earlier.Phase != policy.Skipped:
			t.Fatalf("%s begins though canary %s is %s", c.ID, earlier.ID, earlier.Phase)
		case before.Waves[earlier.Wave].Canary && earlier.Wave == in && earlier.Phase == policy.Deferred:
			t.Fatalf("%s begins though canary %s is put off", c.ID, earlier.ID)
		}
	}
}

// judgeSight checks that nothing begins while too much is out of sight (law 14).
func (w *world) judgeSight(t *rapid.T, before policy.Fleet) {
	t.Helper()
	lost, silent := 0, []time.Time{}
	for _, c := range before.Clusters {
		if (c.Intent != policy.Wait || c.Returning) && !c.Settled && w.lost(c.Member) {
			lost++
		}
	}
	if most := before.Unreachable.MaxUnknown; most >= 0 && lost > most {
		t.Fatalf("something begins though %d clusters are out of sight", lost)
	}
	for _, m := range before.Members {
		if !m.Ready {
			silent = append(silent, m.Since)
		}
	}
	slices.SortFunc(silent, time.Time.Compare)
	for i := 1; i < len(silent); i++ { // two of three are more than half
		if silent[i].Sub(silent[i-1]) <= before.Unreachable.Grace {
			t.Fatalf("something begins though %d of 3 members fell silent at once", len(silent))
		}
	}
}

// judgeWave checks the failures of a wave (law 6), and that it closes only when it is complete (law 15).
func (w *world) judgeWave(t *rapid.T, before policy.Fleet, d policy.Decision, i int) {
	t.Helper()
	wave := before.Waves[i]
	failed, succeeded, unfinished, canaries := 0, 0, 0, 0
	for _, c := range before.Clusters {
		if w.countsIn(c) == i && c.Phase == policy.Failed {
			failed++
		}
		if c.Wave != i {
			continue
		}
		switch c.Phase {
		case policy.Succeeded:
			succeeded++
			canaries++
		case policy.Skipped:
			canaries++
		case policy.Failed, policy.Removed, policy.Ineligible, policy.Deferred:
		default:
			unfinished++
		}
	}
	if failed > wave.MaxFailures && d.Phase != policy.PhaseHalted && d.Phase != policy.PhaseCancelled {
		t.Fatalf("%d failures in %s and %s", failed, wave.Name, d)
	}
	overdue := wave.DeadlineContinue && wave.Deadline > 0 && wave.Worked.At(w.now) >= wave.Deadline
	switch closes := wave.ClosedAt.IsZero() && d.Waves[i].Closed && !wave.CatchUp && wave.Planned > 0; {
	case !closes:
	case succeeded == 0, unfinished > 0 && !overdue, wave.Canary && canaries < wave.Planned, failed > wave.MaxFailures:
		t.Fatalf("%s closes with %d of %d succeeded, %d failed, %d unfinished", wave.Name, succeeded, wave.Planned, failed,
			unfinished)
	}
}
