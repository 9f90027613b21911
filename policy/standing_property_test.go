// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// lookIn decides at the instants at which a hub does: when something has changed, and when the last decision said so.
// It stores what it decided and decides again, as a hub does that sees its own write.
func (w *world) lookIn(changed bool, last *policy.Decision) {
	if changed || !last.Recheck.IsZero() && !w.now.Before(last.Recheck) {
		w.decide()
		*last = w.decide()
	}
}

// TestLaw8ASoakEndsNeitherEarlyNorLate draws the health of the canaries minute by minute, adds up by itself how long all have
// been healthy, and asks that the next wave begins in the very minute in which that is enough.
func TestLaw8ASoakEndsNeitherEarlyNorLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		canaries := rapid.IntRange(1, 3).Draw(t, "canaries")
		long := rapid.IntRange(1, 12).Draw(t, "soak")
		f := build(fleet(canaries, 1), catchUp, concurrency(canaries))
		f.Waves[0].Soak = time.Duration(long) * time.Minute
		w := &world{fleet: f, now: noon, began: map[string]bool{}}
		ends := make([]int, canaries)
		for i := range ends {
			ends[i] = rapid.IntRange(0, 8).Draw(t, "ends")
		}
		var last policy.Decision
		well, polls := 0, rapid.Bool().Draw(t, "polls")
		for minute := range 60 {
			w.now = noon.Add(time.Duration(minute) * time.Minute)
			changed := w.turn(t, ends, minute)
			w.lookIn(changed || polls || minute == 0, &last)
			if begun := w.began["c"+string(rune('0'+canaries))]; begun != (well >= long) {
				t.Fatalf("minute %d: healthy for %d of %d minutes, next wave begun: %v", minute, well, long, begun)
			}
			if well >= long {
				return
			}
			well = soaked(w.fleet.Clusters[:canaries], well)
		}
	})
}

// turn lets canaries end and change their health.
func (w *world) turn(t *rapid.T, ends []int, minute int) (changed bool) {
	for i, end := range ends {
		c := &w.fleet.Clusters[i]
		switch {
		case end == minute:
			set(&w.fleet, i, done)
			c.EndedAt, c.Health, c.HealthSince = w.now, policy.Healthy, w.now
			changed = true
		case minute > end && rapid.IntRange(0, 7).Draw(t, "health moves") == 0:
			health := rapid.SampledFrom([]policy.Health{policy.Healthy, policy.Unhealthy, policy.HealthUnknown}).Draw(t, "health")
			if health != c.Health {
				c.Health, c.HealthSince = health, w.now
				changed = true
			}
		}
	}
	return changed
}

// soaked is how many minutes count after one more.
func soaked(canaries []policy.Cluster, minutes int) int {
	unknown := false
	for _, c := range canaries {
		switch {
		case c.Phase != policy.Succeeded || c.Health == policy.Unhealthy:
			return 0
		case c.Health != policy.Healthy:
			unknown = true
		}
	}
	if unknown {
		return minutes
	}
	return minutes + 1
}

// yard is what keeps clusters from work, minute by minute.
type yard struct {
	hour     int // its window opens every night at this hour, for an hour
	silent   bool
	frozen   bool // by a freeze of its own
	finished bool
}

// TestLaw13ADeadlineCountsOnlyAllowedTime draws windows, freezes, silence and pauses minute by minute, adds up by itself
// in which minutes one of the clusters could be worked on, and asks that the rollout halts in the very minute in which
// that is as much as the deadline.
func TestLaw13ADeadlineCountsOnlyAllowedTime(t *testing.T) {
	calendars := map[string]policy.Calendar{}
	for hour, schedule := range map[string]string{"12": "0 12 * * *", "13": "0 13 * * *", "14": "30 13 * * *"} {
		calendar, _, err := window.Compile(window.Spec{
			Windows: []window.Recurrence{{Schedule: schedule, Duration: time.Hour}},
		})
		if err != nil {
			t.Fatal(err)
		}
		calendars[hour] = policy.Calendar{Name: hour, Hours: calendar}
	}
	rapid.Check(t, func(t *rapid.T) {
		due := rapid.IntRange(1, 100).Draw(t, "deadline")
		f := build(fleet(0, 3), catchUp, concurrency(3), spread)
		f.HasCanaries, f.Calendars = false, calendars
		f.Waves[1].Deadline = time.Duration(due) * time.Minute
		yards := make([]yard, 3)
		for i := range yards {
			key := rapid.SampledFrom([]string{"12", "13", "14"}).Draw(t, "calendar")
			f.Clusters[i].Calendars = []string{key}
			f.Clusters[i].Intent, f.Clusters[i].Phase = policy.Run, policy.Progressing
			yards[i].hour = map[string]int{"12": 12 * 60, "13": 13 * 60, "14": 13*60 + 30}[key]
		}
		w := &world{fleet: f, now: noon, began: map[string]bool{}}
		var last policy.Decision
		worked := 0
		for minute := range 180 {
			w.now = noon.Add(time.Duration(minute) * time.Minute)
			changed := w.befall(t, yards)
			w.lookIn(changed || minute == 0, &last)
			if halted := w.fleet.Sticky == policy.PhaseHalted; halted != (worked >= due) {
				t.Fatalf("minute %d: worked %d of %d minutes, halted: %v", minute, worked, due, halted)
			}
			if worked >= due {
				return
			}
			if !w.fleet.Paused && anyOpen(yards, 12*60+minute) {
				worked++
			}
		}
	})
}

// spread gives each cluster a member of its own.
func spread(f *policy.Fleet) {
	f.Unreachable.MaxUnknown = 9
	for i := range f.Clusters {
		member := string(rune('a' + i))
		f.Clusters[i].Member = member
		f.Members[member] = policy.Member{Ready: true, Upgrade: true}
	}
	f.Members["z"] = policy.Member{Ready: true, Upgrade: true}
}

// befall draws what keeps each from work in this minute. Something unfinished is always left.
func (w *world) befall(t *rapid.T, yards []yard) (changed bool) {
	flips := func(name string) bool {
		flip := rapid.IntRange(0, 19).Draw(t, name) == 0
		changed = changed || flip
		return flip
	}
	if flips("paused") {
		w.fleet.Paused = !w.fleet.Paused
	}
	for i := range yards {
		y, c := &yards[i], &w.fleet.Clusters[i]
		if flips("silent") {
			y.silent = !y.silent
			w.fleet.Members[c.Member] = policy.Member{Ready: !y.silent, Upgrade: true, Since: w.now}
		}
		if flips("frozen") {
			y.frozen = !y.frozen
		}
		if i > 0 && flips("finished") && !y.finished {
			y.finished = true
			set(&w.fleet, i, done)
			c.EndedAt = w.now
		}
	}
	if changed {
		w.freeze(yards)
	}
	return changed
}

func (w *world) freeze(yards []yard) {
	before := w.fleet.Freezes
	w.fleet.Freezes = nil
	for i, y := range yards {
		if id := w.fleet.Clusters[i].ID; y.frozen {
			from := w.now
			for _, f := range before {
				if f.Clusters[id] {
					from = f.From
				}
			}
			w.fleet.Freezes = append(w.fleet.Freezes, policy.Freeze{Name: id, From: from, Clusters: map[string]bool{id: true}})
		}
	}
}

func anyOpen(yards []yard, minute int) bool {
	for _, y := range yards {
		if !y.silent && !y.frozen && !y.finished && minute >= y.hour && minute < y.hour+60 {
			return true
		}
	}
	return false
}
