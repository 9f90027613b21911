// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/protocol"
)

func TestFault01_C105_ANodeThatAlwaysFailsIsRefreshedThreeTimesInAnHour(t *testing.T) {
	for name, outcome := range map[string]simOutcome{
		"its change fails at once": failsAtOnce, "its change fails": fails, "k8sd refuses": refused,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSimulation(t, 1, 1)
			s.nodes["a-0"].outcomes = []simOutcome{outcome}
			s.start()
			s.grant()
			s.run(time.Hour)
			s.wantUnbroken()
			if got := len(s.nodes["a-0"].posts); got != protocol.DefaultMaxAttempts {
				t.Errorf("%d refreshes, want %d", got, protocol.DefaultMaxAttempts)
			}
			if got := len(s.events["a-0"]); got > 2*protocol.DefaultMaxAttempts {
				t.Errorf("%d events of %d attempts: %q", got, protocol.DefaultMaxAttempts, s.events["a-0"])
			}
			posts := s.nodes["a-0"].posts
			for i := 1; i < len(posts); i++ {
				if pause := posts[i].Sub(posts[i-1]); pause < protocol.DefaultBackoff<<(i-1) {
					t.Errorf("attempt %d came %s after the one before", i+1, pause)
				}
			}
			if got := s.marks("a")[keys.Status]; got != protocol.StatusFailed {
				t.Errorf("the owner's status is %q", got)
			}
			writes := s.points
			s.run(24 * time.Hour)
			if s.points != writes {
				t.Errorf("%d writes and refreshes after the last attempt", (s.points-writes)/2)
			}
		})
	}
}

func TestFault01_04_NodesThatFailInOtherWaysEndWithoutASecondRefreshBesideARunningOne(t *testing.T) {
	for name, outcome := range map[string]simOutcome{
		"the answer to its refresh is lost": losesAnswer, "snapd does not know its change": forgotten,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSimulation(t, 3, 3)
			for _, n := range s.nodes {
				n.outcomes = []simOutcome{outcome}
			}
			s.start()
			s.grant()
			s.run(time.Hour)
			s.wantUpgraded(simPlan)
			s.wantPosts(once())
		})
	}
}

func TestC128_AnOwnersCopyOfItsMachinesThatIsLateBeginsNothingTwice(t *testing.T) {
	s := upgrade(t)
	s.lag = 30 * time.Second // longer than a refresh
	s.run(simPatience)
	s.wantUpgraded(simPlan)
	events := map[string]int{}
	for name, about := range s.events {
		events[name] = len(about)
	}
	want := map[string]int{"cp": 7, "a": 7, "cp-0": 2, "cp-1": 2, "cp-2": 2, "a-0": 2, "a-1": 4, "a-2": 2}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
