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
	// left are the clusters that had not ended for good when their wave closed.
	left map[string]bool
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
		until := w.now
		if !state.WorkedUntil.IsZero() {
			until = state.WorkedUntil
		}
		wave.Soaked, wave.Worked = state.Soaked, wave.Worked.Run(state.Works, until)
		if wave.StartedAt.IsZero() && state.Phase != policy.WaveWaiting {
			wave.StartedAt = w.now
		}
		if wave.ClosedAt.IsZero() && state.Closed {
			wave.ClosedAt = w.now
			w.leave(i)
		}
	}
}

// leave notes which clusters a wave that closes leaves behind.
func (w *world) leave(wave int) {
	for _, c := range w.fleet.Clusters {
		if c.Wave == wave && (!c.Phase.Ended() || c.Phase == policy.Deferred) {
			if w.left == nil {
				w.left = map[string]bool{}
			}
			w.left[c.ID] = true
		}
	}
}

// countsIn is the wave that a cluster counts in: its own, or catch-up once it was left behind.
func (w *world) countsIn(c policy.Cluster) int {
	if last := len(w.fleet.Waves) - 1; w.left[c.ID] && w.fleet.Waves[last].CatchUp {
		return last
	}
	return c.Wave
}

func (w *world) cluster(id string) *policy.Cluster {
	i := slices.IndexFunc(w.fleet.Clusters, func(c policy.Cluster) bool { return c.ID == id })
	return &w.fleet.Clusters[i]
}

// busy are clusters that may have something of ours on them; of a member, or of all that are not lost from sight.
func (w *world) busy(member string) int {
	count := 0
	for _, c := range w.fleet.Clusters {
		if member == "" && w.lost(c.Member) || member != "" && c.Member != member {
			continue
		}
		if (c.Intent != policy.Wait || c.Returning) && !c.Settled {
			count++
		}
	}
	return count
}

// lost: a member has been silent for as long as the grace.
func (w *world) lost(member string) bool {
	m, known := w.fleet.Members[member]
	return !known || !m.Ready && w.now.Sub(m.Since) >= w.fleet.Unreachable.Grace
}

// course moves one cluster on, as its controller would: fate is "ok", "fail", "claimed", "gone", "stuck", "put off" or
// "other" (it ends on another version).
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
	case fate == "stuck":
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
		c.Health, c.HealthSince = policy.Healthy, now
	}
}

// TestRolloutsEndWhenNothingIsInTheWay plays worlds without trouble to their end.
func TestRolloutsEndWhenNothingIsInTheWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.fleet.OtherActive = 0
		w.fleet.Proven = map[string]string{"amd64": "v1.33.9"} // what canaries show that need nothing
		for i := range w.fleet.Waves {
			w.fleet.Waves[i].Deadline = 0
		}
		for range 6*(len(w.fleet.Clusters)+1) + longestSoak*len(w.fleet.Waves) {
			w.now = w.now.Add(time.Minute)
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
		for range rapid.IntRange(0, 20).Draw(t, "ticks") {
			w.decide()
			w.disturb(t)
		}
		d := policy.Decide(w.fleet, w.now)
		most := 1000 * time.Hour
		if !d.Recheck.IsZero() {
			most = d.Recheck.Sub(w.now) - 1
		}
		later := w.now.Add(time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, "ahead")))
		for _, at := range []time.Time{later, w.now.Add(most)} {
			if diff := cmp.Diff(d, policy.Decide(w.fleet, at)); diff != "" {
				t.Fatalf("%s later the decision is another:\n%s", at.Sub(w.now), diff)
			}
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
		if w.Deferred > 0 {
			fmt.Fprintf(&b, " deferred=%d", w.Deferred)
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
