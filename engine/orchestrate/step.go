// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"fmt"
	"time"

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

// settle brings marked machines in line with their owner.
func settle(o Observation, _ time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if !m.Marked() || m.Deleting {
			continue
		}
		var p member.Patch
		switch {
		case !m.Busy && o.proven(m).Good():
			p = o.proof()
		case m.Marks.HasTo && m.Marks.To != o.Marks.To && !m.InFlight:
			p = o.mark(m)
		case m.Marks.HasTo:
			p = o.replan(m)
		}
		if p = p.Reduced(m.Annotations); len(p) > 0 {
			return Step{Action: WriteMachine, Machine: m.Name, Patch: p}, true
		}
	}
	return Step{}, false
}

// unmark frees machines that were marked and are not in flight. A release stays: it is what the machine runs.
func unmark(o Observation, _ time.Time) (Step, bool) {
	for _, m := range o.Machines {
		if !m.Marked() || m.InFlight || m.Deleting {
			continue
		}
		p := member.Patch{protocol.PlanKey: nil, protocol.HolderKey: nil}
		if m.Marks.Busy() {
			p[o.Keys.To], p[o.Keys.ChangeID], p[o.Keys.LastFailed] = nil, nil, nil
			p[protocol.AttemptKey] = nil
			if m.Marks.Status != protocol.StatusDone {
				p[o.Keys.Status] = nil
			}
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
	return Step{Action: WriteOwner, Patch: member.Patch{o.Keys.Status: nil}}, true
}

// begin marks a machine, and the owner as being at work.
func (o Observation) begin(m Machine) Step {
	began := member.Normal(protocol.EventInProgress, fmt.Sprintf("Machine %q is upgrading to %q", m.Name, o.Marks.To))
	began.Action, began.Machine = "BeginMachine", m.Name
	return Step{
		Action: Begin, Machine: m.Name, Patch: o.mark(m), OwnerPatch: o.inProgress(),
		Events: []member.Event{began, atWork(m.Name)},
	}
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
	return p
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
	return p
}

// proof ends a machine's upgrade: what was copied from the owner goes. Beside other controllers the release is shown
// to them too, since they read it when they prepare a machine.
func (o Observation) proof() member.Patch {
	return member.Patch{
		protocol.PlanKey: nil, protocol.HolderKey: nil,
		protocol.KeysFor(protocol.ProviderPrefix).Release: o.Marks.To,
	}
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

func (o Observation) fail(note, machine string) Step {
	e := member.Warning(protocol.EventFailed, note)
	e.Machine = machine
	return Step{
		Action: WriteOwner,
		Patch:  member.Patch{o.Keys.Status: protocol.StatusFailed, o.Keys.Release: nil},
		Events: []member.Event{e},
	}
}

func (o Observation) finish() Step {
	return Step{
		Action: WriteOwner,
		Patch: member.Patch{
			o.Keys.To: nil, o.Keys.Status: protocol.StatusDone, o.Keys.Release: o.Marks.To,
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
