// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// shift is a hub that decides a fleet now and then, and stores what it decided, as the real one does.
type shift struct {
	*world
	t    *testing.T
	last policy.Decision
}

// onShift begins at noon with a decision.
func onShift(t *testing.T, f policy.Fleet) *shift {
	t.Helper()
	s := &shift{t: t, world: &world{fleet: f, now: noon, began: map[string]bool{}}}
	s.last = s.decide()
	return s
}

// at decides some time after noon, after what has befallen the fleet by then.
func (s *shift) at(after time.Duration, befalls ...func(*policy.Fleet)) *shift {
	s.now = noon.Add(after)
	for _, happens := range befalls {
		happens(&s.fleet)
	}
	s.last = s.decide()
	return s
}

// wants checks phase, reason and the reason of the wait of the last decision, "" for none.
func (s *shift) wants(phase policy.Phase, reason, waits string) {
	s.t.Helper()
	got := digest(s.last)
	if got.Phase != phase || got.Reason != reason || got.Waiting != waits {
		s.t.Errorf("at %s: %s(%s) waiting for %q, want %s(%s) waiting for %q\n%+v", s.now.Format("15:04"), got.Phase, got.Reason,
			got.Waiting, phase, reason, waits, s.last.Waiting)
	}
}

// writes checks which intents the last decision writes.
func (s *shift) writes(intents string) {
	s.t.Helper()
	if got := digest(s.last).Intents; got != intents {
		s.t.Errorf("at %s: writes %q, want %q (%s)", s.now.Format("15:04"), got, intents, s.last)
	}
}

// catchUp adds the implicit last wave.
func catchUp(f *policy.Fleet) {
	f.Waves = append(f.Waves, policy.Wave{Name: "catch-up", CatchUp: true, MaxConcurrency: 1})
}

// inWave changes one wave.
func inWave(i int, change func(*policy.Wave)) func(*policy.Fleet) {
	return func(f *policy.Fleet) { change(&f.Waves[i]) }
}

// is makes a cluster what the words say (see set).
func is(i int, words string) func(*policy.Fleet) { return func(f *policy.Fleet) { set(f, i, words) } }

// succeeds ends a cluster well, so many minutes after noon.
func succeeds(i int, minute int) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		set(f, i, done)
		f.Clusters[i].EndedAt = noon.Add(time.Duration(minute) * time.Minute)
		f.Clusters[i].Health, f.Clusters[i].HealthSince = policy.Healthy, f.Clusters[i].EndedAt
	}
}

// fares gives a cluster a health since a minute after noon.
func fares(i int, health policy.Health, minute int) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		f.Clusters[i].Health, f.Clusters[i].HealthSince = health, noon.Add(time.Duration(minute)*time.Minute)
	}
}

func build(f policy.Fleet, edits ...func(*policy.Fleet)) policy.Fleet {
	for _, edit := range edits {
		edit(&f)
	}
	return f
}
