// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
)

// TestLaw17AWaitForTheClockEndsWithTheStart: a cluster that nothing but calendars and freezes keeps from beginning, or going on, does so
// at the instant that its wait gives, and not before. One that waits for a person never begins by time alone.
func TestLaw17AWaitForTheClockEndsWithTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{now: noon, fleet: built([]func(*policy.Fleet){sets(done)}, 1, 1)}
		w.fleet.Calendars = map[string]policy.Calendar{}
		for _, c := range hoursDrawn {
			w.fleet.Calendars[c.Name] = c
		}
		w.drawStops(t)
		w.fleet.Approvals = nil
		c := &w.fleet.Clusters[1]
		c.Calendars = rapid.SampledFrom([][]string{nil, {"nights"}, {"weekly"}, {"berlin"}, {"nights", "berlin"}, {"broken"}}).Draw(t, "calendars")
		c.Work = drawWork(t)
		if rapid.Bool().Draw(t, "half-way") {
			set(&w.fleet, 1, "Hold Holding")
		}
		for range 40 {
			d := policy.Decide(w.fleet, w.now)
			if len(d.Intents) > 0 {
				return
			}
			wait := d.Waiting
			switch {
			case wait == nil:
				t.Fatalf("at %s it waits for nothing: %s", w.now, d)
			case wait.Until.IsZero():
				w.neverBegins(t, *wait)
				return
			case wait.Reason == policy.ReasonFrozen:
				w.now = wait.Until
				continue
			}
			w.beginsAt(t, *wait, d.Recheck)
			return
		}
		t.Fatalf("at %s it is frozen still", w.now)
	})
}

// beginsAt looks at the end of a wait, right before, and at every look between.
func (w *world) beginsAt(t *rapid.T, wait policy.Waiting, recheck time.Time) {
	t.Helper()
	for now := recheck; now.Before(wait.Until); {
		d := policy.Decide(w.fleet, now)
		if len(d.Intents) > 0 {
			t.Fatalf("at %s: %+v, and it begins at %s", w.now, wait, now)
		}
		now = d.Recheck
	}
	if d := policy.Decide(w.fleet, wait.Until.Add(-1)); len(d.Intents) > 0 {
		t.Fatalf("at %s: %+v, and it begins right before", w.now, wait)
	}
	if d := policy.Decide(w.fleet, wait.Until); len(d.Intents) != 1 {
		t.Fatalf("at %s: %+v, and then %+v", w.now, wait, d.Waiting)
	}
}

// neverBegins looks again as often as it is told to, for some weeks.
func (w *world) neverBegins(t *rapid.T, wait policy.Waiting) {
	t.Helper()
	if !wait.Act {
		t.Fatalf("at %s it waits for an event: %+v", w.now, wait)
	}
	for now, looks := w.now, 0; looks < 60; looks++ {
		d := policy.Decide(w.fleet, now)
		if len(d.Intents) > 0 {
			t.Fatalf("at %s: %+v, and it begins at %s", w.now, wait, now)
		}
		if d.Recheck.IsZero() {
			return
		}
		now = d.Recheck
	}
}
