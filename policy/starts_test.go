// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// utc reads an instant, such as 2026-12-05T02:00:00Z.
func utc(text string) time.Time {
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return instant
}

// opens is a calendar in UTC that opens by a schedule for a time.
func opens(name, schedule string, duration time.Duration) policy.Calendar {
	return calendarOf(name, window.Spec{Windows: []window.Recurrence{{Schedule: schedule, Duration: duration}}})
}

func calendarOf(name string, spec window.Spec) policy.Calendar {
	hours, _, err := window.Compile(spec)
	if err != nil {
		panic(err)
	}
	return policy.Calendar{Name: name, Hours: hours}
}

// calendars gives calendars to the fleet, and to each of its clusters those that are named.
func calendars(given ...policy.Calendar) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		f.Calendars = map[string]policy.Calendar{}
		for _, c := range given {
			f.Calendars[c.Name] = c
			for i := range f.Clusters {
				f.Clusters[i].Calendars = append(f.Clusters[i].Calendars, c.Name)
			}
		}
	}
}

// work gives each cluster machines of one role, one at a time.
func work(machines int, each time.Duration) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for i := range f.Clusters {
			f.Clusters[i].Work = []policy.Work{{Machines: machines, AtOnce: 1, Each: each}}
		}
	}
}

func freezes(given ...policy.Freeze) func(*policy.Fleet) {
	return func(f *policy.Fleet) { f.Freezes = given }
}

func only(ids ...string) map[string]bool {
	set := map[string]bool{}
	for _, id := range ids {
		set[id] = true
	}
	return set
}

func built(edits []func(*policy.Fleet), sizes ...int) policy.Fleet {
	f := fleet(sizes...)
	with(edits...)(&f)
	return f
}

// timed is a row of a table that looks at waits and permissions.
type timed struct {
	fleet policy.Fleet
	now   string
	want  outcome
}

// outcome is what a decision says about starts.
type outcome struct {
	// Intents as "c1=Run until 2026-12-05T05:00:00Z".
	Intents string
	// Waiting is the reason for the wave, with its end, or "act".
	Waiting string
	// Holds of single clusters, likewise.
	Holds   string
	Recheck string
}

func outcomeOf(d policy.Decision) outcome {
	var o outcome
	for _, change := range d.Intents {
		o.Intents = spaced(o.Intents, change.ID+"="+string(change.Intent))
		if !change.NotAfter.IsZero() {
			o.Intents += " until " + change.NotAfter.Format(time.RFC3339Nano)
		}
	}
	if d.Waiting != nil {
		o.Waiting = short(*d.Waiting)
	}
	for _, hold := range d.Holds {
		o.Holds = spaced(o.Holds, hold.ID+":"+short(hold.Waiting))
	}
	if !d.Recheck.IsZero() {
		o.Recheck = d.Recheck.Format(time.RFC3339Nano)
	}
	return o
}

func short(w policy.Waiting) string {
	switch {
	case w.Act:
		return w.Reason + " act"
	case w.Until.IsZero():
		return w.Reason
	}
	return w.Reason + " until " + w.Until.Format(time.RFC3339Nano)
}

func spaced(text, more string) string {
	if text == "" {
		return more
	}
	return text + " " + more
}

func (r timed) check(t *testing.T) {
	t.Helper()
	d := policy.Decide(r.fleet, utc(r.now))
	if diff := cmp.Diff(r.want, outcomeOf(d)); diff != "" {
		t.Errorf("decision (-want +got):\n%s\n%s", diff, d)
	}
	stable(t, r.fleet, utc(r.now))
}

// stable asks for the same decision at instants before the next look.
func stable(t interface {
	Helper()
	Fatalf(string, ...any)
}, f policy.Fleet, now time.Time,
) {
	t.Helper()
	d := policy.Decide(f, now)
	ahead := 400 * 24 * time.Hour
	if !d.Recheck.IsZero() {
		ahead = d.Recheck.Sub(now)
	}
	for _, later := range []time.Duration{1, ahead / 7, ahead / 2, ahead - time.Nanosecond} {
		if later <= 0 || later >= ahead {
			continue
		}
		if diff := cmp.Diff(d, policy.Decide(f, now.Add(later))); diff != "" {
			t.Fatalf("%s after %s, before %s, the decision is another (-first +later):\n%s", later, now, d.Recheck, diff)
		}
	}
}

// report keeps what a hub stores of a decision.
func report(f *policy.Fleet, d policy.Decision, now time.Time) {
	for _, change := range d.Intents {
		for i := range f.Clusters {
			if c := &f.Clusters[i]; c.ID == change.ID {
				c.Returning = c.Intent != policy.Wait && change.Intent == policy.Wait
				c.Intent, c.NotAfter = change.Intent, change.NotAfter
			}
		}
	}
	f.Shown = carried(d.Waiting, f.Shown, now)
	for i, w := range d.Waves {
		if began := w.Active+w.Succeeded > 0; began && f.Waves[i].StartedAt.IsZero() {
			f.Waves[i].StartedAt = now
		}
	}
}

func carried(w, before *policy.Waiting, now time.Time) *policy.Waiting {
	if w == nil {
		return nil
	}
	shown := w.Carry(before, now)
	return &shown
}
