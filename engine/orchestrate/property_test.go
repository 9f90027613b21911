// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// forbids names what keeps a machine of an observation from beginning, independently of Next's order; empty: nothing.
func forbids(o orchestrate.Observation, name string, now time.Time) string {
	_, targetErr := protocol.ParseTarget(o.Marks.To)
	limit := o.Plan.WithDefaults().MaxConcurrentMachines
	if o.Subject.Serial {
		limit = 1
	}
	busy, found := 0, false
	for _, m := range o.Machines {
		if m.Busy {
			busy++
		}
		if m.Quarantined() {
			return "a quarantined machine"
		}
		if o.Subject.Serial && (m.Deleting || m.Cordoned || !m.Health().Good() || !m.Etcd().Good()) {
			return "another machine of the control plane"
		}
		if m.Name == name {
			found = true
			if m.Busy || m.Deleting || m.Paused || m.Cordoned || !m.Health().Good() {
				return "the machine itself"
			}
			if capi.Newer(m.KubeletVersion, o.Plan.ExpectedVersion) {
				return "a downgrade"
			}
		}
	}
	_, planned := o.Subject.Annotations[protocol.PlanKey]
	n := len(o.Machines)
	switch {
	case !found, o.Subject.Deleting, o.Paused, !o.Marks.HasTo, targetErr != nil, o.PlanErr != nil:
		return "the owner"
	case busy >= limit, o.ControlPlaneBusy != "", o.ControlPlaneAsked != "":
		return "machines at work"
	case o.RollsOut != "", !o.Subject.Ready.Good(), o.NodesErr != nil:
		return "the owner's state"
	case o.Subject.Serial && !o.Plan.AllowSingleControlPlane && 2*(n-1) <= n:
		return "the quorum"
	case o.StartBefore.IsZero() && planned, !o.StartBefore.IsZero() && !now.Before(o.StartBefore):
		return "the permission"
	}
	for _, h := range o.Holders {
		if !h.Gone && h.Name != name {
			return "the lock"
		}
	}
	return ""
}

// TestNoRuleIsPassedByABeginningMachine: whatever is observed, a machine begins only where nothing forbids it; what is
// paused or going gets no write; and no write changes nothing.
func TestNoRuleIsPassedByABeginningMachine(t *testing.T) {
	begun := 0
	rapid.Check(t, func(t *rapid.T) {
		m := anyModel(t)
		o, before := m.observe(), m.busy()
		step := orchestrate.Next(o, start)
		if step.Action == orchestrate.Begin {
			begun++
			if why := forbids(o, step.Machine, start); why != "" {
				t.Fatalf("machine %s begins against %s", step.Machine, why)
			}
		}
		if (o.Subject.Deleting || o.Paused) && step.Action != orchestrate.Wait {
			t.Fatalf("%s where nothing may be written", step.Action)
		}
		if step.Action == orchestrate.Wait && step.Reason == "" {
			t.Fatal("it waits without a reason")
		}
		if changed := m.carryOut(step); changed == (step.Action == orchestrate.Wait) {
			t.Fatalf("%s %s%s: changed is %t", step.Action, step.Machine, step.Holder.Name, changed)
		}
		if grown := m.busy() - before; grown > 1 || o.Subject.Serial && grown > 0 && before > 0 {
			t.Fatalf("%d machines at work, then %d", before, m.busy())
		}
	})
	t.Logf("%d began", begun)
	if begun == 0 {
		t.Error("no machine ever began, so nothing was tested")
	}
}

// TestC117_AnyAnnotationsLeadToAWait: decided and carried out again and again, every combination comes to rest.
func TestC117_AnyAnnotationsLeadToAWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyModel(t)
		m.rest.NodesErr = nil
		rest(t, m)
	})
}

func rest(t interface{ Fatalf(string, ...any) }, m *model) orchestrate.Step {
	for range 60 {
		step := orchestrate.Next(m.observe(), start)
		if step.Action == orchestrate.Wait {
			return step
		}
		m.carryOut(step)
	}
	t.Fatalf("the owner never comes to rest: %v, %v", m.subject.Annotations, m.machines)
	return orchestrate.Step{}
}

// TestC117_EveryCombinationOfMarks walks through all of them on an owner and on one of its machines.
func TestC117_EveryCombinationOfMarks(t *testing.T) {
	statuses := []string{"in-progress", "done", "failed", "", "DONE"}
	values := func(bits int, status string) map[string]string {
		a := map[string]string{}
		for i, kv := range [][2]string{
			{keys.To, target}, {keys.Release, target}, {keys.ChangeID, "17"}, {keys.LastFailed, "x"}, {keys.Status, status},
		} {
			if bits&(1<<i) != 0 {
				a[kv[0]] = kv[1]
			}
		}
		return a
	}
	for _, serial := range []bool{true, false} {
		for bits := range 1 << 5 {
			for _, status := range statuses {
				t.Run(fmt.Sprintf("%t %05b %s", serial, bits, status), func(t *testing.T) {
					ofMachine := newModel(serial, 3)
					ofMachine.machines[0].Annotations = values(bits, status)
					first := orchestrate.Next(ofMachine.observe(), start)
					rest(t, ofMachine)
					asked := bits&1 != 0 || bits&4 != 0
					if begins := first.Action == orchestrate.Begin && first.Machine == "a-0"; asked && begins {
						t.Error("a machine begins that is at work")
					}
					if serial && asked && ofMachine.busy() > 1 {
						t.Error("a second control plane machine begins")
					}

					ofOwner := newModel(serial, 3)
					ofOwner.subject.Annotations = values(bits, status)
					rest(t, ofOwner)
					if marked := ofOwner.busy(); marked != bits&1 {
						t.Errorf("asked: %d, machines at work: %d", bits&1, marked)
					}
				})
			}
		}
	}
}

// TestAsManyAtOnceAsMayBe plays machines that begin, end, fail, fall ill and are asked by hand, in any order: a control
// plane never has a second one at work, a pool never more than its limit, beyond what others asked for.
func TestAsManyAtOnceAsMayBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		serial := rapid.Bool().Draw(t, "control plane")
		m := newModel(serial, rapid.IntRange(3, 6).Draw(t, "machines"))
		limit := rapid.IntRange(1, 4).Draw(t, "at once")
		m.subject.Annotations[protocol.PlanKey] = protocol.Plan{
			ExpectedVersion: "v1.34", MaxConcurrentMachines: limit,
		}.Format()
		if serial {
			limit = 1
		}
		most := 0
		for range 60 {
			m.anyEvent(t)
			before := m.busy()
			step := orchestrate.Next(m.observe(), start)
			m.carryOut(step)
			if after := m.busy(); after > before && after > limit {
				t.Fatalf("%d at work, then %d, where %d may be", before, after, limit)
			}
			most = max(most, m.busy())
		}
	})
}

// anyEvent lets one thing happen to a machine or the owner that is not the orchestrator's.
func (m *model) anyEvent(t *rapid.T) {
	i := rapid.IntRange(0, len(m.machines)-1).Draw(t, "machine")
	machine := &m.machines[i]
	a := machine.Annotations
	switch rapid.IntRange(0, 9).Draw(t, "event") {
	case 0, 1, 2:
		m.upgrader(machine)
	case 3:
		machine.KubeletVersion = newVersion
	case 4:
		machine.NodeReady = rapid.SampledFrom([]capi.Status{capi.True, capi.True, capi.False}).Draw(t, "ready")
	case 5:
		m.subject.Annotations[keys.To] = rapid.SampledFrom([]string{target, other}).Draw(t, "to")
	case 6:
		delete(m.subject.Annotations, keys.To)
	case 7:
		if rapid.IntRange(0, 3).Draw(t, "by hand") == 0 {
			a[keys.To] = target
		}
	case 8:
		m.cordoned[machine.Name] = rapid.Bool().Draw(t, "cordoned")
	}
}

// upgrader takes one step of a machine's upgrade.
func (m *model) upgrader(machine *capi.Machine) {
	a := machine.Annotations
	attempt, _ := protocol.ParseAttempt(a[protocol.AttemptKey])
	switch keys.Read(a).State() {
	case protocol.Requested, protocol.Retrying:
		a[keys.Status], a[keys.ChangeID] = protocol.StatusInProgress, "1"
		a[protocol.AttemptKey] = protocol.Attempt{Target: a[keys.To], Count: 1, SentAt: start}.Format()
	case protocol.InProgress:
		a[keys.Status], a[keys.Release] = protocol.StatusDone, attempt.Target
		delete(a, keys.ChangeID)
		delete(a, protocol.AttemptKey)
		if a[keys.To] == attempt.Target {
			delete(a, keys.To)
		}
	default:
	}
}

// TestAPoolFillsItsLimit: where nothing is in the way, as many begin as may.
func TestAPoolFillsItsLimit(t *testing.T) {
	for limit := 1; limit <= 6; limit++ {
		for _, serial := range []bool{true, false} {
			m := newModel(serial, 5)
			m.subject.Annotations[protocol.PlanKey] = protocol.Plan{ExpectedVersion: "v1.34", MaxConcurrentMachines: limit}.Format()
			step := rest(t, m)
			want := min(limit, 5)
			if serial {
				want = 1
			}
			same(t, "machines at work", want, m.busy())
			same(t, "reason", orchestrate.MachineInFlight, step.Reason)
		}
	}
}
