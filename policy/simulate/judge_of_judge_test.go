// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// TestTheJudgeFindsWhatIsWrong plays a rollout that is right under a judge who is shown something else, so that each
// claim of the judge is seen to fail.
func TestTheJudgeFindsWhatIsWrong(t *testing.T) {
	fleets := func(edit func(*policy.Fleet)) func(*simulate.Moment) {
		return func(m *simulate.Moment) { edit(&m.Before); edit(&m.After) }
	}
	waves := func(edit func(*policy.Wave)) func(*simulate.Moment) {
		return fleets(func(f *policy.Fleet) {
			for i := range f.Waves {
				edit(&f.Waves[i])
			}
		})
	}
	machines := func(edit func(*simulate.Machines)) func(*simulate.Moment) {
		return func(m *simulate.Moment) {
			m.Began = slices.Clone(m.Began)
			for i := range m.Began {
				edit(&m.Began[i])
			}
		}
	}
	for want, tamper := range map[string]func(*simulate.Moment){
		"in flight in wave rest, and 1 may be":  waves(func(w *policy.Wave) { w.MaxConcurrency = 1 }),
		"goes on with 0 of 1 approvals":         waves(func(w *policy.Wave) { w.Approvals = 1 }),
		"soaks from":                            waves(func(w *policy.Wave) { w.Soak = time.Hour }),
		"before wave early is closed":           waves(func(w *policy.Wave) { w.ClosedAt = time.Time{} }),
		"closes and us/shop/1 is Progressing":   closing,
		"does not answer or is read only":       fleets(func(f *policy.Fleet) { f.Members = nil }),
		"begins in a rollout that is stopped":   fleets(func(f *policy.Fleet) { f.Paused = true }),
		"begins while it is closed":             fleets(func(f *policy.Fleet) { f.Calendars = nil }),
		"begins in freeze now":                  fleets(func(f *policy.Fleet) { f.Freezes = []policy.Freeze{{Name: "now", All: true}} }),
		"canary eu/shop/1 is Failed":            phases("eu/shop/1", policy.Failed),
		"begins, and 1 failed in wave canaries": phases("eu/shop/1", policy.Failed),
		"clusters succeeded, the waves say":     phases("us/shop/1", policy.Removed),
		"begins without a claim":                machines(func(m *simulate.Machines) { m.Claimed = false }),
		"closing is at":                         machines(func(m *simulate.Machines) { m.At = m.At.Add(150 * time.Minute) }),
		"workers before the control plane":      machines(func(m *simulate.Machines) { m.Work = 1 - m.Work }),
		"2 machines at once":                    machines(func(m *simulate.Machines) { m.Count = 2 }),
		"two batches of machines are at work":   machines(func(m *simulate.Machines) { m.Until = m.Until.Add(time.Minute) }),
		"without a reason":                      func(m *simulate.Moment) { m.Decision.Reason = "" },
		"nothing says why":                      silence,
		"a wait until an instant that has":      until(time.Time{}.Add(1)),
		"and looks again at":                    until(noon.AddDate(1, 0, 0)),
		"was for good, now":                     thaw,
	} {
		t.Run(want, func(t *testing.T) {
			s := six().hours("nights", nightly("UTC", 4*time.Hour))
			j := watch(&s.Input, map[string][]simulate.Machines{})
			s.Watch = func(m simulate.Moment) {
				tamper(&m)
				j.see(m)
			}
			r := simulate.Run(s.Input)
			if found := strings.Join(j.verdict(r), "\n"); !strings.Contains(found, want) {
				t.Errorf("the judge found:\n%s\n%s", found, r.Film())
			}
		})
	}
}

// closing shows a wave that closes while a cluster of it is at work.
func closing(m *simulate.Moment) {
	m.Before.Waves[1].ClosedAt = time.Time{}
	phases("us/shop/1", policy.Progressing)(m)
}

// phases shows a cluster in another phase once it has ended.
func phases(path string, phase policy.ClusterPhase) func(*simulate.Moment) {
	return func(m *simulate.Moment) {
		for i, c := range m.Before.Clusters {
			if c.Path == path && c.Phase.Ended() {
				m.Before.Clusters[i].Phase = phase
			}
		}
	}
}

// silence hides every wait and what is in flight.
func silence(m *simulate.Moment) {
	m.Decision = policy.Decision{Phase: policy.PhaseProgressing, Reason: "Progressing", Message: "on its way"}
	for i := range m.After.Clusters {
		c := &m.After.Clusters[i]
		c.Intent, c.Phase, c.Returning = policy.Wait, policy.Pending, false
	}
}

// until shows waits that end at another instant.
func until(at time.Time) func(*simulate.Moment) {
	return func(m *simulate.Moment) {
		if w := m.Decision.Waiting; w != nil {
			m.Decision.Waiting = &policy.Waiting{Reason: w.Reason, Message: w.Message, Until: at}
			m.Decision.Recheck = at.AddDate(1, 0, 0)
		}
	}
}

// thaw shows a rollout that was halted, and goes on.
func thaw(m *simulate.Moment) {
	if m.Decision.Phase == policy.PhaseProgressing && m.At.Day() == 1 {
		m.Decision.Phase = policy.PhaseHalted
	}
}
