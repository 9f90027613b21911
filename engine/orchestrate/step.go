// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// noPlan stands on machines of an owner without a plan: the plan of all defaults.
const noPlan = "{}"

// unlock gives back the lock of a holder that has no use for it.
func unlock(o Observation, _ time.Time) (Step, bool) {
	for _, h := range o.Holders {
		if o.released(h) {
			return Step{Action: Unlock, Holder: h}, true
		}
	}
	return Step{}, false
}

// retire takes from an owner what the existing controllers would go by, where those are not who we are: with an old
// release they would mark machines back to it.
func retire(o Observation, _ time.Time) (Step, bool) {
	provider := protocol.KeysFor(protocol.ProviderPrefix)
	if o.Keys == provider {
		return Step{}, false
	}
	p := member.Patch{}
	for _, key := range provider.OnOwner() {
		p[key] = nil
	}
	if len(p.Reduced(o.Subject.Annotations)) == 0 {
		return Step{}, false
	}
	return Step{Action: WriteOwner, Patch: p}, true
}

// settle brings marked machines in line with their owner.
func settle(o Observation, _ time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if m.Deleting {
			continue
		}
		if p := o.inLine(m).Reduced(m.Annotations); len(p) > 0 {
			return Step{Action: WriteMachine, Machine: m.Name, Patch: p}, true
		}
	}
	return Step{}, false
}

func (o Observation) inLine(m Machine) member.Patch {
	switch {
	case !m.Marked() && !m.Busy:
		return m.unprotected(member.Patch{})
	case !m.Marked():
		return nil
	case !m.Busy && o.proven(m).Good():
		return o.proof(m)
	case m.Marks.HasTo && m.Marks.To != o.Marks.To && !m.InFlight:
		return o.mark(m)
	case m.Marks.HasTo:
		return o.replan(m)
	}
	return nil
}

// unmark frees machines that were marked and are not in flight. A release stays: it is what the machine runs.
func unmark(o Observation, _ time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if m.InFlight || m.Deleting || !m.Marked() && !m.Protected() {
			continue
		}
		p := m.unprotected(member.Patch{protocol.PlanKey: nil, protocol.HolderKey: nil})
		if m.Marked() && m.Marks.Busy() {
			p[o.Keys.To], p[o.Keys.ChangeID], p[o.Keys.LastFailed] = nil, nil, nil
			p[protocol.AttemptKey] = nil
			if m.Marks.Status != protocol.StatusDone {
				p[o.Keys.Status] = nil
			}
		}
		if m.Marked() && m.Marks.Status == protocol.StatusDone && m.Marks.Release != "" {
			p[protocol.KeysFor(protocol.ProviderPrefix).Release] = m.Marks.Release // as its proof would have told
		}
		return Step{Action: WriteMachine, Machine: m.Name, Patch: p}, true
	}
	return Step{}, false
}

func finishing(o Observation, _ time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if m.Marked() && !m.Deleting {
			return wait(Withdrawing, "machine %s finishes", m.Name), true
		}
	}
	return Step{}, false
}

func unprogress(o Observation, _ time.Time) (Step, bool) {
	if o.Marks.Status != protocol.StatusInProgress {
		return Step{}, false
	}
	return Step{Action: WriteOwner, Patch: member.Patch{o.Keys.Status: nil, protocol.WaitingKey: nil}}, true
}

// begin marks a machine, and the owner as being at work.
func (o Observation) begin(m Machine) Step {
	began := member.Normal(protocol.EventInProgress, fmt.Sprintf("Machine %q is upgrading to %q", m.Name, o.Marks.To))
	began.Action, began.Machine = "BeginMachine", m.Name
	return Step{
		Action: Begin, Machine: m.Name, Patch: o.mark(m), OwnerPatch: o.goesOn(),
		Events: []member.Event{began, atWork(m.Name)},
	}
}

// goesOn shows an owner that is at work and waits for nothing.
func (o Observation) goesOn() member.Patch {
	p := o.inProgress()
	p[protocol.WaitingKey] = nil
	return p
}

// mark hands the target to a machine. Its release stays, unlike there: what a machine runs is not forgotten before
// the node has accepted something else.
func (o Observation) mark(m Machine) member.Patch {
	p := member.Patch{
		o.Keys.To: o.Marks.To, o.Keys.Status: nil, o.Keys.ChangeID: nil, o.Keys.LastFailed: nil,
		protocol.AttemptKey: nil, protocol.PlanKey: o.planText(), protocol.HolderKey: o.holder(),
	}
	if m.Marks.HasChangeID { // whether it has ended is the upgrader's to find out
		delete(p, o.Keys.Status)
		delete(p, o.Keys.ChangeID)
		delete(p, protocol.AttemptKey)
	}
	return m.protected(p)
}

// replan renews the copy of plan and holder. Another plan gives a machine that used up its attempts new ones.
func (o Observation) replan(m Machine) member.Patch {
	p := member.Patch{protocol.PlanKey: o.planText(), protocol.HolderKey: o.holder()}
	if m.Annotations[protocol.PlanKey] != o.planText() && m.Quarantined() {
		p[protocol.AttemptKey] = protocol.Attempt{
			Target: m.Attempt.Target, From: m.Attempt.From, LastError: m.Attempt.LastError,
		}.Format()
		p[o.Keys.LastFailed] = nil
	}
	return m.protected(p)
}

// protected adds to a patch that no MachineHealthCheck replaces the machine: from its mark to its proof or withdrawal
// it may look unhealthy for good reasons, and a quarantined one is somebody's to look at. What a person has set stays
// a person's.
func (m Machine) protected(p member.Patch) member.Patch {
	if _, found := m.Annotations[capi.SkipRemediationAnnotation]; !found && !m.Protected() {
		p[capi.SkipRemediationAnnotation], p[protocol.SkipRemediationKey] = "", protocol.SkipRemediationSet
	}
	return p
}

// unprotected adds to a patch that what protected added goes. A value that is not ours has become a person's.
func (m Machine) unprotected(p member.Patch) member.Patch {
	if !m.Protected() {
		return p
	}
	p[protocol.SkipRemediationKey] = nil
	if m.Annotations[capi.SkipRemediationAnnotation] == "" {
		p[capi.SkipRemediationAnnotation] = nil
	}
	return p
}

// proof ends a machine's upgrade: what was copied from the owner goes. Beside other controllers the release is shown
// to them too, since they read it when they prepare a machine.
func (o Observation) proof(m Machine) member.Patch {
	return m.unprotected(member.Patch{
		protocol.PlanKey: nil, protocol.HolderKey: nil,
		protocol.KeysFor(protocol.ProviderPrefix).Release: o.Marks.To,
	})
}

func (o Observation) inProgress() member.Patch {
	return member.Patch{
		o.Keys.Status: protocol.StatusInProgress, o.Keys.To: o.Marks.To, o.Keys.Release: nil,
	}
}

// show marks the owner as being at work where a crash came between a machine's mark and the owner's.
func (o Observation) show(machine string) Step {
	return Step{Action: WriteOwner, Patch: o.inProgress(), Events: []member.Event{atWork(machine)}}
}

func (o Observation) fail(note, machine string, why Step, now time.Time) Step {
	e := member.Warning(protocol.EventFailed, note)
	e.Machine = machine
	return Step{
		Action: WriteOwner,
		Patch: member.Patch{
			o.Keys.Status: protocol.StatusFailed, o.Keys.Release: nil, protocol.WaitingKey: waiting(why, now),
		},
		Events: []member.Event{e},
	}
}

func (o Observation) finish() Step {
	return Step{
		Action: WriteOwner,
		Patch: member.Patch{
			o.Keys.To: nil, o.Keys.Status: protocol.StatusDone, o.Keys.Release: o.Marks.To,
			protocol.WaitingKey: nil,
		},
		Events: []member.Event{member.Normal(protocol.EventDone, "In-place upgrade is done")},
	}
}

func atWork(machine string) member.Event {
	e := member.Normal(protocol.EventInProgress, fmt.Sprintf("In-place upgrade is in-progress for %q", machine))
	e.Machine = machine
	return e
}

func (o Observation) planText() string {
	if text, found := o.Subject.Annotations[protocol.PlanKey]; found {
		return text
	}
	return noPlan
}

// holder is the owner's, or nil where it has none.
func (o Observation) holder() any {
	if text, found := o.Subject.Annotations[protocol.HolderKey]; found {
		return text
	}
	return nil
}
