// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"fmt"
	"maps"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// model is an owner and its machines as plain values: what Next decides is carried out on them without a client.
type model struct {
	keys     protocol.Keys
	owner    orchestrate.Owner
	subject  orchestrate.Subject
	machines []capi.Machine
	cordoned map[string]bool
	holders  []lock.Holder
	rest     orchestrate.Observation // what is not derived from the above
}

// newModel is a control plane, or a pool, of n machines that are well and not at the target, with permission.
func newModel(serial bool, n int) *model {
	m := &model{keys: keys, owner: orchestrate.MachineDeployment{}, cordoned: map[string]bool{}}
	if serial {
		m.owner = orchestrate.ControlPlane{}
	}
	m.subject = orchestrate.Subject{
		Meta:    capi.Meta{Name: "a", Annotations: map[string]string{keys.To: target, protocol.PlanKey: plan}},
		Cluster: "eu", Serial: serial, Replicas: new(int32(n)), Ready: capi.Verdict{Status: capi.True},
	}
	m.rest.StartBefore = start.Add(time.Hour)
	for i := range n {
		m.machines = append(m.machines, capi.Machine{
			Meta:         capi.Meta{Name: fmt.Sprintf("a-%d", i), Annotations: map[string]string{}},
			ControlPlane: serial, KubeletVersion: oldVersion, NodeName: fmt.Sprintf("node-%d", i),
			NodeReady: capi.True, NodeHealthy: capi.True,
		})
		if !serial {
			m.machines[i].Deployment = "a"
		}
	}
	return m
}

func (m *model) observe() orchestrate.Observation {
	o := m.rest
	o.Keys, o.Subject, o.Holders = m.keys, m.subject, m.holders
	o.Marks = m.keys.Read(m.subject.Annotations)
	o.Plan, o.PlanErr = protocol.ParsePlan(m.subject.Annotations[protocol.PlanKey])
	o.Waiting, _ = protocol.ParseWaiting(m.subject.Annotations[protocol.WaitingKey])
	o.Look(m.owner, m.machines)
	for i := range o.Machines {
		o.Machines[i].Cordoned = m.cordoned[o.Machines[i].Name]
	}
	return o
}

// carryOut applies a step, and reports whether it changed anything.
func (m *model) carryOut(s orchestrate.Step) bool {
	changed := false
	machine := func(p member.Patch) {
		for i := range m.machines {
			if m.machines[i].Name == s.Machine {
				changed = apply(m.machines[i].Annotations, p) || changed
			}
		}
	}
	switch s.Action {
	case orchestrate.Begin:
		if m.subject.Serial && len(m.holders) == 0 {
			m.holders, changed = []lock.Holder{{Name: s.Machine}}, true
		}
		machine(s.Patch)
		changed = apply(m.subject.Annotations, s.OwnerPatch) || changed
	case orchestrate.WriteMachine:
		machine(s.Patch)
	case orchestrate.WriteOwner:
		changed = apply(m.subject.Annotations, s.Patch)
	case orchestrate.Unlock:
		m.holders, changed = nil, true
	case orchestrate.Wait:
	}
	return changed
}

func apply(annotations map[string]string, p member.Patch) bool {
	before := maps.Clone(annotations)
	for key, value := range p {
		if value == nil {
			delete(annotations, key)
			continue
		}
		annotations[key] = value.(string)
	}
	return !maps.Equal(before, annotations)
}

func (m *model) busy() int {
	n := 0
	for _, machine := range m.machines {
		if member.Busy(machine) {
			n++
		}
	}
	return n
}

// anyModel draws an owner with machines in any state that annotations and conditions can tell.
func anyModel(t *rapid.T) *model {
	m := newModel(rapid.Bool().Draw(t, "control plane"), rapid.IntRange(0, 5).Draw(t, "machines"))
	seldom := func(label string) bool { return rapid.IntRange(0, 15).Draw(t, label) == 11 } // small numbers are drawn more often
	if seldom("under our own prefix") {
		m.keys = protocol.KeysFor(protocol.OwnPrefix)
	}
	p := protocol.Plan{
		ExpectedVersion:         rapid.SampledFrom([]string{"", "v1.34", "v1.34.1"}).Draw(t, "expected"),
		MaxConcurrentMachines:   rapid.IntRange(0, 3).Draw(t, "at once"),
		AllowSingleControlPlane: rapid.Bool().Draw(t, "single"),
	}
	if m.subject.Annotations = anyMarks(t, m.keys, p); !seldom("not asked") {
		m.subject.Annotations[m.keys.To], m.subject.Annotations[protocol.PlanKey] = target, p.Format()
	}
	m.subject.Deleting, m.rest.Paused = seldom("owner deleting"), seldom("paused")
	if seldom("not ready") {
		m.subject.Ready = capi.Verdict{Status: capi.False, Message: "not ready"}
	}
	if seldom("rolls out") {
		m.rest.RollsOut = "rolls out"
	}
	if seldom("nodes unknown") {
		m.rest.NodesErr = errCrash
	}
	if !m.subject.Serial && seldom("control plane asked") {
		m.rest.ControlPlaneAsked = "cp"
	}
	if seldom("no permission") {
		m.rest.StartBefore = rapid.SampledFrom([]time.Time{{}, start}).Draw(t, "start before")
	}
	if !m.subject.Serial && seldom("control plane busy") {
		m.machines = append(m.machines, capi.Machine{
			Meta: capi.Meta{Name: "cp-0", Annotations: map[string]string{m.keys.To: target}}, ControlPlane: true,
		})
	}
	for i := range m.machines {
		if m.machines[i].Name != "cp-0" {
			m.anyMachine(t, i, p, seldom)
		}
	}
	if m.subject.Serial && len(m.machines) > 0 && seldom("locked") {
		h := lock.Holder{Name: rapid.SampledFrom(m.machines).Draw(t, "holder").Name, Gone: rapid.Bool().Draw(t, "gone")}
		m.holders = []lock.Holder{h}
	}
	return m
}

func (m *model) anyMachine(t *rapid.T, i int, p protocol.Plan, seldom func(string) bool) {
	machine := &m.machines[i]
	machine.Deleting, machine.Paused = seldom("deleting"), seldom("machine paused")
	m.cordoned[machine.Name] = seldom("cordoned")
	machine.KubeletVersion = rapid.SampledFrom([]string{oldVersion, newVersion, "v1.35.0", ""}).Draw(t, "kubelet")
	if seldom("ill") {
		machine.NodeReady = rapid.SampledFrom([]capi.Status{capi.False, capi.Unknown}).Draw(t, "ready")
	}
	if seldom("etcd") {
		machine.EtcdMember = capi.False
	}
	if rapid.IntRange(0, 7).Draw(t, "marks") < 6 {
		return
	}
	machine.Annotations = anyMarks(t, m.keys, p)
	a := protocol.Attempt{Target: rapid.SampledFrom([]string{target, other}).Draw(t, "attempt"), Count: 1}
	if rapid.Bool().Draw(t, "sent") {
		a.SentAt = start
	}
	if rapid.Bool().Draw(t, "failed") {
		a.FailedAt, a.Quarantined = start, rapid.Bool().Draw(t, "quarantined")
	}
	if rapid.Bool().Draw(t, "attempted") {
		machine.Annotations[protocol.AttemptKey] = a.Format()
	}
	if seldom("foreign") {
		machine.Annotations[protocol.KeysFor(protocol.OwnPrefix).ChangeID] = "7"
	}
	if seldom("protected") {
		machine.Annotations[protocol.SkipRemediationKey] = protocol.SkipRemediationSet
	}
}

// anyMarks draws any of the protocol's annotations under a prefix, with a plan.
func anyMarks(t *rapid.T, keys protocol.Keys, p protocol.Plan) map[string]string {
	a := map[string]string{}
	for _, mark := range []struct {
		key    string
		values []string
	}{
		{keys.To, []string{target, target, target, other, "", "1.34"}},
		{keys.ChangeID, []string{"1", ""}},
		{keys.Release, []string{target, other, "revision=1"}},
		{keys.Status, []string{"in-progress", "done", "failed", "", "DONE"}},
		{keys.LastFailed, []string{"Sat, 19 Oct 2024 20:30:00 +0400", "x"}},
		{protocol.PlanKey, []string{p.Format(), p.Format(), p.Format(), "{"}},
		{protocol.HolderKey, []string{"hub/1"}},
		{protocol.WaitingKey, []string{`{"reason":"NotReady"}`, "{"}},
	} {
		if rapid.Bool().Draw(t, "has "+mark.key) {
			a[mark.key] = rapid.SampledFrom(mark.values).Draw(t, mark.key)
		}
	}
	return a
}
