// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/protocol"
)

// The request is taken back at each point once. Machines that have begun finish, nothing else begins, and nothing but
// what machines have reached is left: no request, change, plan, holder, attempt or lock. The hub ends the permission
// too; a person takes back the owner's request only, and a machine that was marked does not begin either (law 11).
func TestFault08_13_C115_AWithdrawalAtAnyPointStopsAtAMachineBoundaryAndLeavesNothing(t *testing.T) {
	t.Parallel()
	points := pointsOf(t)
	for name, c := range map[string]struct {
		byHand, dies bool
		every        int // of how many points one is tried
	}{
		"by the hub":                      {false, false, 1},
		"by the hub, and the engine dies": {false, true, 2},
		"by hand":                         {true, false, 2},
		"by hand, and the engine dies":    {true, true, 3},
	} {
		for point := c.every - 1; point < points; point += c.every {
			t.Run(fmt.Sprintf("%s, point %d", name, point+1), func(t *testing.T) {
				s := upgrade(t)
				var before map[string]int
				begun := map[string]bool{}
				s.at = func(p int, e *simEngine) {
					if p != point+1 {
						return
					}
					s.withdraw()
					if !c.byHand {
						s.endPermission()
					}
					e.dead = c.dies
					before, begun = s.posts(), s.begun()
					begun[e.writing] = true // decided before
				}
				s.run(simPatience)
				s.wantWithdrawn(before, begun)
			})
		}
	}
}

// begun are the machines that have an attempt, whose refresh may be on its way.
func (s *simulation) begun() map[string]bool {
	begun := map[string]bool{}
	for _, m := range s.machines() {
		a, err := protocol.ParseAttempt(m.Annotations[protocol.AttemptKey])
		if err != nil {
			s.t.Fatalf("machine %s: %v", m.Name, err)
		}
		begun[m.Name] = a.Count > 0
	}
	return begun
}

// wantWithdrawn compares the world with what a withdrawal must leave.
func (s *simulation) wantWithdrawn(before map[string]int, begun map[string]bool) {
	s.t.Helper()
	got, want := map[string]any{}, map[string]any{}
	for _, m := range s.machines() {
		got[m.Name], want[m.Name] = s.marks(m.Name), map[string]string{}
		if m.KubeletVersion == version {
			want[m.Name] = finished()
		}
		if s.nodes[m.Name].running() {
			s.t.Errorf("machine %s is still being refreshed", m.Name)
		}
		if posts := len(s.nodes[m.Name].posts); posts > before[m.Name] && !begun[m.Name] {
			s.t.Errorf("machine %s began after the withdrawal: %d refreshes before, %d now", m.Name, before[m.Name], posts)
		}
	}
	for _, owner := range []string{"cp", "a"} {
		got[owner], want[owner] = s.marks(owner), map[string]string{}
		if s.marks(owner)[keys.Status] == protocol.StatusDone { // it had ended before
			want[owner] = finished()
		}
	}
	got["lock"], want["lock"] = s.lockHolder(), ""
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("after the withdrawal (-want +got):\n%s", diff)
	}
	s.wantUnbroken()
}

// A machine goes at each point at which it is at work, and another takes its place: the lock of a machine that is gone
// holds nothing up.
func TestFault13_AMachineThatGoesAtAnyPointFreesTheLockAndItsPlace(t *testing.T) {
	t.Parallel()
	for points, point := pointsOf(t), 1; point < points; point += 2 { // after each write
		s := upgrade(t)
		gone, replacement := "", ""
		s.at = func(p int, _ *simEngine) {
			if p != point+1 {
				return
			}
			gone = s.atWork()
			if gone == "" {
				return
			}
			s.leave(gone)
			replacement = map[bool]string{true: "cp-9", false: "a-9"}[gone[:2] == "cp"]
			s.after(simRefresh, func() {
				if holder := s.lockHolder(); holder == gone {
					t.Errorf("point %d: the lock is held by %s, which is gone", p, gone)
				}
				s.join(replacement)
			})
		}
		s.run(simPatience)
		if gone == "" {
			continue
		}
		if !t.Run(fmt.Sprintf("point %d, machine %s", point+1, gone), func(t *testing.T) {
			s.t = t
			s.wantUpgraded(simPlan)
			if got := len(s.nodes[replacement].posts); got != 1 {
				t.Errorf("%d refreshes of the machine that took its place", got)
			}
		}) {
			return
		}
	}
}

// atWork is a machine that is asked to upgrade, one of the control plane if there is one.
func (s *simulation) atWork() string {
	name := ""
	for _, m := range s.machines() {
		if keys.Read(m.Annotations).Busy() && (name == "" || m.ControlPlane) {
			name = m.Name
		}
	}
	return name
}
