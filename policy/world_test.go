// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
)

// world plays a rollout: it writes what Decide says and lets clusters take their course. It keeps its own books,
// so that what it finds owes nothing to the code that it judges.
type world struct {
	fleet policy.Fleet
	now   time.Time
	// began are clusters that were ever set to Run, as IDs.
	began map[string]bool
}

// decide writes the decision of this instant.
func (w *world) decide() policy.Decision {
	d := policy.Decide(w.fleet, w.now)
	w.store(d)
	for _, change := range d.Intents {
		c := w.cluster(change.ID)
		c.Returning = c.Intent != policy.Wait && change.Intent == policy.Wait
		c.Intent, c.NotAfter = change.Intent, change.NotAfter
		if change.Intent == policy.Run {
			w.began[change.ID] = true
		}
	}
	w.fleet.Proven = d.Proven
	switch d.Phase {
	case policy.PhaseHalted, policy.PhaseCancelled, policy.PhaseSuperseded:
		w.fleet.Sticky, w.fleet.StickyReason, w.fleet.StickyMessage = d.Phase, d.Reason, d.Message
	default:
	}
	return d
}

// store keeps of the waves what the hub keeps of them.
func (w *world) store(d policy.Decision) {
	w.fleet.Waves = slices.Clone(w.fleet.Waves)
	for i, state := range d.Waves {
		wave := &w.fleet.Waves[i]
		wave.Soaked, wave.Worked = state.Soaked, wave.Worked.Run(state.Works, w.now)
		if wave.StartedAt.IsZero() && state.Phase != policy.WaveWaiting {
			wave.StartedAt = w.now
		}
		if wave.ClosedAt.IsZero() && state.Closed {
			wave.ClosedAt = w.now
		}
	}
}

func (w *world) cluster(id string) *policy.Cluster {
	i := slices.IndexFunc(w.fleet.Clusters, func(c policy.Cluster) bool { return c.ID == id })
	return &w.fleet.Clusters[i]
}

// busy are clusters that may have something of ours on them.
func (w *world) busy(member string) int {
	count := 0
	for _, c := range w.fleet.Clusters {
		if (member == "" || c.Member == member) && (c.Intent != policy.Wait || c.Returning) && !c.Settled {
			count++
		}
	}
	return count
}

// course moves one cluster on, as its controller would: fate is "ok", "fail", "claimed", "gone", "put off" or "other"
// (it ends on another version).
func course(c *policy.Cluster, fate string, now time.Time) {
	before := c.Phase
	c.Returning = false
	switch {
	case c.Phase == policy.Deferred && fate != "put off":
		c.Phase, c.Reason, c.Message = policy.Pending, "", ""
	case (c.Phase == policy.Pending || c.Phase == policy.Deferred) && c.Intent != policy.Withdraw && fate == "put off":
		c.Phase, c.Reason, c.Message = policy.Deferred, policy.ReasonDeferredByOwner, "put off until Friday by its owner"
	case c.Phase.Ended():
		c.Settled = c.Settled || c.Phase != policy.Failed || c.Intent == policy.Withdraw
	case c.Intent == policy.Wait && fate == "claimed":
		c.Phase, c.Reason, c.Message = policy.Pending, policy.ReasonClaimedByOther, "driven by shop/other-1"
	case c.Intent == policy.Wait:
		c.Phase, c.Reason = policy.Pending, ""
	case c.Intent == policy.Withdraw:
		c.Phase, c.Settled = policy.Skipped, true
	case fate == "gone":
		c.Phase, c.Settled = policy.Removed, true
	case c.Intent == policy.Hold:
		c.Phase = policy.Holding
	case c.Phase == policy.Pending && fate == "claimed":
		c.Reason, c.Message = policy.ReasonClaimedByOther, "driven by shop/other-1"
	case c.Phase == policy.Pending, c.Phase == policy.Holding:
		c.Phase, c.Reason = policy.Progressing, ""
	case fate == "fail":
		c.Phase, c.LastError = policy.Failed, "machine "+c.ID+"-cp-1: Download snap k8s: refused"
	case c.Phase == policy.Progressing:
		c.Phase = policy.Verifying
	case c.Phase == policy.Verifying:
		c.Phase, c.Settled = policy.Succeeded, true
		c.Versions = map[string]string{"amd64": "v1.33.9"}
		if fate == "other" {
			c.Versions["amd64"] = "v1.33.10"
		}
	}
	if c.Phase != before && c.Phase.Ended() {
		c.EndedAt = now
	}
}

func drawWorld(t *rapid.T) *world {
	w := &world{now: noon, began: map[string]bool{}}
	f := &w.fleet
	f.Committed, f.HasCanaries = true, rapid.Bool().Draw(t, "canaries")
	f.OnMovedHalt = rapid.Bool().Draw(t, "onMovedHalt")
	f.OtherActive = rapid.IntRange(0, 1).Draw(t, "otherActive")
	f.Members = map[string]policy.Member{}
	for m := range 3 {
		f.Members[fmt.Sprintf("m%d", m)] = policy.Member{
			Ready: true, Upgrade: true, MaxConcurrentClusters: rapid.IntRange(0, 3).Draw(t, "memberLimit"),
		}
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "waves") {
		wave := policy.Wave{
			Name: fmt.Sprintf("w%d", i), Canary: i == 0 && f.HasCanaries, Planned: rapid.IntRange(0, 6).Draw(t, "planned"),
			MaxConcurrency: rapid.IntRange(1, 4).Draw(t, "maxConcurrency"),
		}
		if !wave.Canary {
			wave.MaxFailures = rapid.IntRange(0, 2).Draw(t, "maxFailures")
		}
		f.Waves = append(f.Waves, wave)
		for range wave.Planned {
			id := fmt.Sprintf("c%d", len(f.Clusters))
			f.Clusters = append(f.Clusters, policy.Cluster{
				ID: id, Path: "ns/" + id, Member: fmt.Sprintf("m%d", rapid.IntRange(0, 2).Draw(t, "member")), Wave: i,
				Intent: policy.Wait, Phase: policy.Pending,
			})
		}
	}
	return w
}

// TestLaws4To7HoldInEveryWorld plays random fleets with failures, claims, removals, pauses and silent members, and
// checks after every decision what must never happen.
func TestLaws4To7HoldInEveryWorld(t *testing.T) {
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
	fates := rapid.SampledFrom([]string{"ok", "ok", "ok", "ok", "ok", "ok", "ok", "fail", "claimed", "gone", "other"})
	for i := range w.fleet.Clusters {
		if rapid.IntRange(0, 2).Draw(t, "moves") > 0 {
			course(&w.fleet.Clusters[i], fates.Draw(t, "fate"), w.now)
		}
	}
	w.fleet.Paused = rapid.IntRange(0, 9).Draw(t, "paused") == 0
	w.fleet.UnknownField = ""
	if rapid.IntRange(0, 9).Draw(t, "unknownField") == 0 {
		w.fleet.UnknownField = "unknown field spec.puased"
	}
	w.fleet.Cancelled = rapid.IntRange(0, 99).Draw(t, "cancelled") == 0
	for name, m := range w.fleet.Members {
		m.Ready = rapid.IntRange(0, 9).Draw(t, "ready "+name) > 0
		w.fleet.Members[name] = m
	}
}

// judge checks one decision against what was before it.
func (w *world) judge(t *rapid.T, before policy.Fleet, d policy.Decision) {
	t.Helper()
	starts := 0
	for _, change := range d.Intents {
		c := w.cluster(change.ID)
		old := before.Clusters[slices.IndexFunc(before.Clusters, func(b policy.Cluster) bool { return b.ID == c.ID })]
		if old.Intent != policy.Wait || change.Intent != policy.Run {
			continue
		}
		starts++
		wave := before.Waves[c.Wave]
		if active := w.busy("") + before.OtherActive; active > wave.MaxConcurrency {
			t.Fatalf("%s begins as one of %d in flight, wave %s allows %d", c.ID, active, wave.Name, wave.MaxConcurrency)
		}
		m := before.Members[c.Member]
		if most := m.MaxConcurrentClusters; most > 0 && w.busy(c.Member) > most {
			t.Fatalf("%s begins as one of %d in member %s, which allows %d", c.ID, w.busy(c.Member), c.Member, most)
		}
		if !m.Ready || before.Paused || before.UnknownField != "" || before.Cancelled || before.Sticky != "" || old.Reason != "" {
			t.Fatalf("%s begins though it must not", c.ID)
		}
		for _, earlier := range before.Clusters {
			switch {
			case earlier.Wave < c.Wave && !earlier.Phase.Ended():
				t.Fatalf("%s begins before %s of an earlier wave has ended", c.ID, earlier.ID)
			case before.Waves[earlier.Wave].Canary && earlier.Wave < c.Wave && earlier.Phase != policy.Succeeded &&
				earlier.Phase != policy.Skipped:
				t.Fatalf("%s begins though canary %s is %s", c.ID, earlier.ID, earlier.Phase)
			}
		}
	}
	if before.Sticky != "" && (starts > 0 || d.Phase != before.Sticky && d.Phase != policy.PhaseCancelled) {
		t.Fatalf("%s was sticky, now %s", before.Sticky, d)
	}
	for i, wave := range before.Waves {
		failed := 0
		for _, c := range before.Clusters {
			if c.Wave == i && c.Phase == policy.Failed {
				failed++
			}
		}
		if failed > wave.MaxFailures && d.Phase != policy.PhaseHalted && d.Phase != policy.PhaseCancelled {
			t.Fatalf("%d failures in %s and %s", failed, wave.Name, d)
		}
	}
	if len(d.Holds) > policy.MaxHolds || !d.Recheck.IsZero() && !d.Recheck.After(w.now) {
		t.Fatalf("%d holds, recheck %s", len(d.Holds), d.Recheck)
	}
}

// TestRolloutsEndWhenNothingIsInTheWay plays worlds without trouble to their end.
func TestRolloutsEndWhenNothingIsInTheWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.fleet.OtherActive = 0
		w.fleet.Proven = map[string]string{"amd64": "v1.33.9"} // what canaries show that need nothing
		for range 6 * (len(w.fleet.Clusters) + 1) {
			if d := w.decide(); d.Phase == policy.PhaseSucceeded {
				return
			}
			for i := range w.fleet.Clusters {
				course(&w.fleet.Clusters[i], "ok", w.now)
			}
		}
		t.Fatalf("not through: %s", policy.Decide(w.fleet, w.now))
	})
}

// TestRecheckIsStable: the decision is the same at every instant before Recheck, at any when there is none.
func TestRecheckIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(0, 10).Draw(t, "ticks") {
			w.decide()
			w.disturb(t)
		}
		d := policy.Decide(w.fleet, w.now)
		ahead := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "ahead"))
		later := w.now.Add(ahead)
		if !d.Recheck.IsZero() && !later.Before(d.Recheck) {
			return
		}
		if diff := cmp.Diff(d, policy.Decide(w.fleet, later)); diff != "" {
			t.Fatalf("%s later the decision is another:\n%s", ahead, diff)
		}
	})
}

func cloneFleet(f policy.Fleet) policy.Fleet {
	f.Clusters = slices.Clone(f.Clusters)
	return f
}

// line is a decision as a film shows it.
func line(d policy.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(%s)", d.Phase, d.Reason)
	for _, w := range d.Waves {
		fmt.Fprintf(&b, "  %s %s %d/%d", w.Name, w.Phase, w.Succeeded, w.Planned)
		if w.Failed > 0 {
			fmt.Fprintf(&b, " failed=%d", w.Failed)
		}
	}
	for _, change := range d.Intents {
		fmt.Fprintf(&b, "\n            %s -> %s", padded(change.ID), change.Intent)
	}
	if d.Waiting != nil {
		fmt.Fprintf(&b, "\n            waits: %s: %s", d.Waiting.Reason, d.Waiting.Message)
	}
	return b.String()
}

func padded(id string) string { return fmt.Sprintf("%-12s", id) }
