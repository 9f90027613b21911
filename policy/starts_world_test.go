// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// hoursDrawn are calendars of which worlds take some; "gone" is named and does not exist.
var hoursDrawn = []policy.Calendar{
	opens("nights", "0 2 * * *", 4*time.Hour), opens("weekly", "0 1 * * 3", 9*time.Hour), opens("always", "0 0 * * *", 24*time.Hour),
	calendarOf("berlin", window.Spec{
		TimeZone:   "Europe/Berlin",
		Windows:    []window.Recurrence{{Schedule: "30 2 * * *", Duration: 3 * time.Hour}},
		Exclusions: []window.Exclusion{{From: "2026-12-03", To: "2026-12-03"}},
	}),
	{Name: "broken", Problem: policy.ReasonCalendarInvalid, Message: "windows[0].schedule"},
}

// drawStarts adds to a world what starts wait for: calendars, freezes, approvals, limits, rivals, reserved budgets.
func drawStarts(t *rapid.T) *world {
	w := drawWorld(t)
	f := &w.fleet
	f.Calendars = map[string]policy.Calendar{}
	for _, c := range hoursDrawn {
		f.Calendars[c.Name] = c
	}
	kinds := rapid.SampledFrom([][]string{
		nil, nil, {"nights"}, {"nights"}, {"always"}, {"weekly"}, {"berlin"}, {"nights", "berlin"}, {"weekly", "nights"}, {"broken"}, {"gone"},
	})
	for i := range f.Clusters {
		c := &f.Clusters[i]
		c.Calendars = kinds.Draw(t, "calendars")
		c.Groups = []string{c.Member, rapid.SampledFrom([]string{"", "ulm", "bonn"}).Draw(t, "site")}
		c.Work = drawWork(t)
		if rapid.IntRange(0, 19).Draw(t, "rival") == 0 {
			c.Rival = &policy.Rival{Rollout: "shop/other-1", Priority: 1}
		}
	}
	f.Limits = []policy.Limit{
		{Max: rapid.IntRange(0, 3).Draw(t, "perMember"), Elsewhere: map[string]int{"m0": rapid.IntRange(0, 1).Draw(t, "elsewhere")}},
		{Label: "site", Max: rapid.IntRange(0, 3).Draw(t, "perSite"), Elsewhere: map[string]int{"ulm": rapid.IntRange(0, 1).Draw(t, "ulm")}},
	}
	f.ReserveBudget = rapid.Bool().Draw(t, "reserved")
	f.Digest, f.RequestedBy = "d1", "carol"
	for i := range f.Waves {
		f.Waves[i].Approvals = max(0, rapid.IntRange(-3, 2).Draw(t, "approvals"))
	}
	w.drawStops(t)
	return w
}

func drawWork(t *rapid.T) []policy.Work {
	var work []policy.Work
	for range rapid.IntRange(0, 2).Draw(t, "roles") {
		work = append(work, policy.Work{
			Machines: rapid.IntRange(1, 6).Draw(t, "machines"), AtOnce: rapid.IntRange(0, 2).Draw(t, "atOnce"),
			Each: time.Duration(rapid.IntRange(1, 5*60).Draw(t, "each")) * 47 * time.Second,
		})
	}
	return work
}

// drawStops draws freezes and words of people, about this time.
func (w *world) drawStops(t *rapid.T) {
	about := func(label string) time.Time {
		return w.now.Add(time.Duration(rapid.IntRange(-2*24*60, 4*24*60).Draw(t, label)) * time.Minute)
	}
	w.fleet.Freezes, w.fleet.Approvals = nil, nil
	for range max(0, rapid.IntRange(-2, 2).Draw(t, "freezes")) {
		f := policy.Freeze{Name: "f", From: about("from"), Until: about("until"), All: rapid.Bool().Draw(t, "all")}
		f.NewClustersOnly = rapid.Bool().Draw(t, "newClustersOnly")
		if rapid.IntRange(0, 5).Draw(t, "endless") == 0 {
			f.Until = time.Time{}
		}
		if !f.All {
			f.Clusters = only(rapid.SliceOfN(rapid.SampledFrom([]string{"c0", "c1", "c2", "c3", "c4"}), 0, 4).Draw(t, "frozen")...)
		}
		w.fleet.Freezes = append(w.fleet.Freezes, f)
	}
	for range rapid.IntRange(0, 8).Draw(t, "words") {
		a := policy.Approval{
			By: rapid.SampledFrom([]string{"alice", "bob", "carol", "dave"}).Draw(t, "by"), At: about("at"),
			Wave: fmt.Sprintf("w%d", rapid.IntRange(0, 3).Draw(t, "wave")), Verified: rapid.IntRange(0, 5).Draw(t, "verified") > 0,
			Digest: rapid.SampledFrom([]string{"d1", "d1", "d1", "d0"}).Draw(t, "digest"), Rejected: rapid.IntRange(0, 9).Draw(t, "no") == 0,
		}
		if rapid.Bool().Draw(t, "expires") {
			a.ExpiresAt = about("expiresAt")
		}
		w.fleet.Approvals = append(w.fleet.Approvals, a)
	}
}

// TestNothingBeginsThatMustNotInAnyWorld plays worlds by the clock of Recheck and by chance, and checks after every
// decision, by other code, that nothing begins outside windows, in a freeze, without approvals or above a limit.
func TestNothingBeginsThatMustNotInAnyWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawStarts(t)
		for range rapid.IntRange(1, 25).Draw(t, "ticks") {
			before := cloneFleet(w.fleet)
			d := policy.Decide(w.fleet, w.now)
			w.settle(d)
			w.judgeStarts(t, before, d)
			if again := policy.Decide(w.fleet, w.now); len(again.Intents) > 0 {
				t.Fatalf("deciding twice changes more: %s, then %s", d, again)
			}
			w.move(t, policy.Decide(w.fleet, w.now).Recheck)
		}
	})
}

// settle writes a decision as a hub stores it, instants in whole seconds.
func (w *world) settle(d policy.Decision) {
	report(&w.fleet, d, w.now)
	for i := range w.fleet.Clusters {
		w.fleet.Clusters[i].NotAfter = w.fleet.Clusters[i].NotAfter.Truncate(time.Second)
	}
	switch d.Phase {
	case policy.PhaseHalted, policy.PhaseCancelled, policy.PhaseSuperseded:
		w.fleet.Sticky, w.fleet.StickyReason, w.fleet.StickyMessage = d.Phase, d.Reason, d.Message
	default:
	}
}

// move lets clusters take their course and time pass: to the next look, or some hours.
func (w *world) move(t *rapid.T, recheck time.Time) {
	hours := rapid.IntRange(0, 30).Draw(t, "hours")
	w.now = w.now.Add(time.Duration(hours)*time.Hour + time.Minute)
	if !recheck.IsZero() && rapid.Bool().Draw(t, "atRecheck") {
		w.now = recheck
	}
	for i := range w.fleet.Clusters {
		if rapid.Bool().Draw(t, "moves") {
			course(&w.fleet.Clusters[i], rapid.SampledFrom([]string{"ok", "ok", "ok", "ok", "fail", "claimed"}).Draw(t, "fate"), w.now)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "newStops") == 0 {
		w.drawStops(t)
	}
}

// judgeStarts checks each intent to run against its own reading of the fleet.
func (w *world) judgeStarts(t *rapid.T, before policy.Fleet, d policy.Decision) {
	t.Helper()
	for _, change := range d.Intents {
		if change.Intent != policy.Run {
			continue
		}
		i := slices.IndexFunc(before.Clusters, func(c policy.Cluster) bool { return c.ID == change.ID })
		old := before.Clusters[i]
		if why := mayWork(before, old, w.now, change.NotAfter); why != "" && old.Phase != policy.Verifying {
			t.Fatalf("%s at %s: %s runs: %s", d, w.now, change.ID, why)
		}
		if old.Intent != policy.Wait {
			continue
		}
		if why := w.mayBegin(before, old); why != "" {
			t.Fatalf("%s at %s: %s begins: %s", d, w.now, change.ID, why)
		}
	}
	for _, c := range w.fleet.Clusters {
		working := c.Intent == policy.Run && (c.Phase == policy.Pending || c.Phase == policy.Progressing || c.Phase == policy.Holding)
		if why := mayWork(w.fleet, c, w.now, c.NotAfter); working && why != "" {
			t.Fatalf("%s at %s: %s goes on: %s", d, w.now, c.ID, why)
		}
	}
}

// mayWork: every calendar is open now and until a machine would be done, and no freeze stops machines meanwhile. A
// permission that ends later than that is one too many.
func mayWork(f policy.Fleet, c policy.Cluster, now, notAfter time.Time) string {
	each := time.Duration(0)
	if len(c.Work) > 0 {
		each = c.Work[0].Each
	}
	if !notAfter.IsZero() && now.After(notAfter) {
		return "its permission is over"
	}
	last := now
	if !notAfter.IsZero() {
		last = notAfter
	}
	for _, key := range c.Calendars {
		calendar := f.Calendars[key]
		if calendar.Hours == nil || !calendar.Hours.Open(now) {
			return key + " is closed"
		}
		if closes, ends := calendar.Hours.ClosesAt(now); ends && (last.Add(each).After(closes) || notAfter.IsZero()) {
			return key + " closes before a machine is done"
		}
	}
	for _, freeze := range f.Freezes {
		over := !freeze.Until.IsZero() && !freeze.Until.After(now) || !freeze.Until.IsZero() && !freeze.Until.After(freeze.From)
		if over || freeze.NewClustersOnly || !freeze.All && !freeze.Clusters[c.ID] {
			continue
		}
		if freeze.From.Before(last.Add(each)) && (each > 0 || !freeze.From.After(now)) {
			return "a freeze comes before a machine is done"
		}
	}
	return ""
}

// mayBegin counts again what a start needs. The cluster's own start is written by now.
func (w *world) mayBegin(f policy.Fleet, c policy.Cluster) string {
	for _, freeze := range f.Freezes {
		if (freeze.All || freeze.Clusters[c.ID]) && !w.now.Before(freeze.From) && (freeze.Until.IsZero() || w.now.Before(freeze.Until)) {
			return "frozen"
		}
	}
	wave := f.Waves[c.Wave]
	yes, no := w.say(f, wave.Name)
	if wave.Approvals > 0 && (no > 0 || yes < wave.Approvals) {
		return fmt.Sprintf("%d of %d approvals, %d rejections", yes, wave.Approvals, no)
	}
	if c.Rival != nil {
		return "outranked"
	}
	failed, stake := 0, 0
	members, sites := f.Limits[0].Elsewhere[c.Member], f.Limits[1].Elsewhere[c.Groups[1]]
	for _, other := range w.fleet.Clusters {
		busy := (other.Intent != policy.Wait || other.Returning) && !other.Settled
		if busy && other.Member == c.Member {
			members++
		}
		if busy && other.Groups[1] == c.Groups[1] {
			sites++
		}
		if other.Wave == c.Wave && other.Phase == policy.Failed {
			failed++
		}
		if other.Wave == c.Wave && busy && !other.Phase.Ended() {
			stake++
		}
	}
	switch {
	case members > max(1, f.Limits[0].Max):
		return fmt.Sprintf("%d in its management cluster", members)
	case sites > max(1, f.Limits[1].Max):
		return fmt.Sprintf("%d at its site", sites)
	case f.ReserveBudget && stake > 1 && failed+stake > wave.MaxFailures:
		return fmt.Sprintf("%d failed and %d could", failed, stake)
	}
	return ""
}

// say counts the people whose last word on a wave is yes, and no.
func (w *world) say(f policy.Fleet, wave string) (yes, no int) {
	for _, person := range []string{"alice", "bob", "dave"} {
		var last *policy.Approval
		for i, a := range f.Approvals {
			counts := a.By == person && a.Wave == wave && a.Digest == f.Digest && a.Verified
			if counts && (last == nil || a.At.After(last.At) || a.At.Equal(last.At) && a.Rejected) {
				last = &f.Approvals[i]
			}
		}
		switch {
		case last == nil, !last.ExpiresAt.IsZero() && !w.now.Before(last.ExpiresAt):
		case last.Rejected:
			no++
		default:
			yes++
		}
	}
	return yes, no
}

// TestRecheckIsStableForStarts: at every instant before Recheck the decision is the same, to the letter.
func TestRecheckIsStableForStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawStarts(t)
		for range rapid.IntRange(0, 8).Draw(t, "ticks") {
			d := policy.Decide(w.fleet, w.now)
			w.settle(d)
			w.move(t, d.Recheck)
		}
		d := policy.Decide(w.fleet, w.now)
		stable(t, w.fleet, w.now)
		ahead := time.Duration(rapid.Int64Range(0, int64(200*time.Hour)).Draw(t, "ahead"))
		if later := w.now.Add(ahead); d.Recheck.IsZero() || later.Before(d.Recheck) {
			if diff := cmp.Diff(d, policy.Decide(w.fleet, later)); diff != "" {
				t.Fatalf("%s after %s the decision is another:\n%s", ahead, w.now, diff)
			}
		}
	})
}

// TestWorkThatMayBeginDoesBeginWhenTimeComes: rollouts whose calendars open end, by looking only when Recheck says so.
func TestWorkThatMayBeginDoesBeginWhenTimeComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f := &w.fleet
		f.OtherActive, f.Proven = 0, map[string]string{"amd64": "v1.33.9"}
		f.Calendars = map[string]policy.Calendar{"nights": hoursDrawn[0], "weekly": hoursDrawn[1]}
		for i := range f.Clusters {
			f.Clusters[i].Calendars = rapid.SampledFrom([][]string{nil, {"nights"}, {"weekly"}, {"nights", "weekly"}}).Draw(t, "calendars")
			f.Clusters[i].Work = []policy.Work{{Machines: 2, Each: time.Hour}}
		}
		for range 12 * (len(f.Clusters) + 1) {
			d := policy.Decide(w.fleet, w.now)
			if d.Phase == policy.PhaseSucceeded {
				return
			}
			w.settle(d)
			moved := false
			for i := range f.Clusters {
				c := &f.Clusters[i]
				was := *c
				course(c, "ok", w.now)
				moved = moved || !cmp.Equal(was, *c)
			}
			if !moved {
				w.now = policy.Decide(w.fleet, w.now).Recheck
			}
		}
		t.Fatalf("not through at %s: %s", w.now, policy.Decide(w.fleet, w.now))
	})
}
