// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/protocol"
)

// simPatience is more than any single wait of the engine: an attempt's timeout and all back-offs.
const simPatience = 12 * time.Hour

// upgrade is the world of the crash tests: three control plane machines, three workers, two of them at once, and one
// worker whose first refresh fails.
func upgrade(t failer) *simulation {
	t.Helper()
	s := newSimulation(t, 3, 3)
	s.nodes["a-1"].outcomes = []simOutcome{fails, succeeds}
	s.start()
	s.grant()
	return s
}

// pointsOf is how many points an upgrade has that nothing disturbs: two for each write and each refresh.
func pointsOf(t *testing.T) int {
	t.Helper()
	s := upgrade(t)
	s.run(simPatience)
	s.wantUpgraded(simPlan)
	s.wantPosts(once("a-1"))
	if s.points < 80 || s.points%2 != 0 {
		t.Fatalf("%d points: the upgrade is not what this test is about", s.points)
	}
	return s.points
}

// marks are the annotations of an object that the engine or the hub may have written.
func (s *simulation) marks(name string) map[string]string {
	found := maps.Clone(s.get(simKindOf(name), name).GetAnnotations())
	if found == nil {
		found = map[string]string{}
	}
	return found
}

// wantUpgraded compares the world with the end of an upgrade: all is at the target, and nothing else is left.
func (s *simulation) wantUpgraded(plan string) {
	s.t.Helper()
	got, want := map[string]any{}, map[string]any{}
	for _, m := range s.machines() {
		got[m.Name], want[m.Name] = s.marks(m.Name), finished()
		got[m.Name+" runs"], want[m.Name+" runs"] = m.KubeletVersion, version
	}
	for _, owner := range []string{"cp", "a"} {
		got[owner] = s.marks(owner)
		end := finished()
		end[protocol.PlanKey], end[protocol.HolderKey] = plan, "hub/1"
		want[owner] = end
	}
	got["lock"], want["lock"] = s.lockHolder(), ""
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("end of the upgrade (-want +got):\n%s", diff)
	}
	s.wantUnbroken()
}

func (s *simulation) wantUnbroken() {
	s.t.Helper()
	if len(s.broken) > 0 {
		s.t.Errorf("broken:\n%s", strings.Join(s.broken, "\n"))
	}
}

func (s *simulation) posts() map[string]int {
	posts := map[string]int{}
	for name, n := range s.nodes {
		posts[name] = len(n.posts)
	}
	return posts
}

func (s *simulation) wantPosts(want map[string]int) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.posts()); diff != "" {
		s.t.Errorf("refreshes (-want +got):\n%s", diff)
	}
}

// The process dies at each point once, with all that it remembers, and another takes over. No machine is refreshed more often than without a death, also where the answer to a refresh is lost with it:
// the node's version tells what came of it, and the attempt's timeout where it tells nothing.
func TestC130_AnEngineThatDiesBeforeOrAfterAnyWriteLeavesWhatTheNextOneFinishes(t *testing.T) {
	t.Parallel()
	for point := range pointsOf(t) {
		t.Run(fmt.Sprintf("point %d", point+1), func(t *testing.T) {
			s, died := upgrade(t), 0
			s.at = func(p int, e *simEngine) {
				if p == point+1 {
					e.dead = true
					died++
				}
			}
			s.run(simPatience)
			s.wantUpgraded(simPlan)
			s.wantPosts(once("a-1"))
			if died != 1 {
				t.Errorf("the engine died %d times", died)
			}
		})
	}
}

// Lives end soon after they have begun, at random. An attempt that dies before its refresh is sent counts as one, so
// the plan allows more of them here.
func TestC130_AnEngineThatDiesAgainAndAgainGetsThere(t *testing.T) {
	t.Parallel()
	plan := protocol.Plan{ExpectedVersion: version, MaxConcurrentMachines: simAtOnce, MaxAttempts: 1000}.Format()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0)) // the same lives in each run
		s, born, life := upgrade(t), 0, 0
		for _, owner := range []string{"cp", "a"} {
			s.annotate(simKindOf(owner), owner, map[string]any{protocol.PlanKey: plan})
		}
		s.at = func(p int, e *simEngine) {
			if p-born > life {
				e.dead, born, life = true, p, random.IntN(30)
			}
		}
		s.run(1000 * time.Hour)
		s.wantUpgraded(plan)
		s.wantPosts(once("a-1"))
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// once is one refresh of each machine, and another one of those that fail once.
func once(failing ...string) map[string]int {
	posts := map[string]int{"cp-0": 1, "cp-1": 1, "cp-2": 1, "a-0": 1, "a-1": 1, "a-2": 1}
	for _, name := range failing {
		posts[name] = 2
	}
	return posts
}
