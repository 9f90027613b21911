// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"github.com/windlass-dev/windlass/policy"
)

// react is what a machine that was granted by itself needs at once, whatever the intent: a request that failed is taken
// back before the provider sends it again, and again.
func (l look) react() (Step, bool) {
	for _, o := range l.o.inOrder() {
		for _, m := range o.Machines {
			if step, urgent := l.reactTo(o, m); urgent {
				return l.claimedFirst(step), true
			}
		}
	}
	return Step{}, false
}

// claimedFirst puts our claim before a step, and before one that takes nothing back the owner that is armed.
func (l look) claimedFirst(step Step) Step {
	if l.o.Claim.State != ClaimOurs {
		step.Action, step.Owner, step.Machine = TakeClaim, "", ""
		return step
	}
	standing, armed := l.armed()
	if armed && (step.Action == FollowMachine || step.Action == RecordRelease) {
		return l.retire(step, standing)
	}
	return step
}

func (l look) reactTo(o Owner, m Machine) (Step, bool) {
	t := l.trails[m.Name]
	switch t.stage {
	case failing:
		return l.lose(o, m, RevokeMachine, ""), true
	case asked:
		return l.unanswered(o, m, t.record)
	case moving:
		return l.endless(o, m, t.record)
	case adrift:
		return l.ended(o, m, t.record)
	case untouched, strange, resting, reached:
	}
	return Step{}, false
}

// unanswered takes back a request for which nothing has begun in time, or after machines may begin no longer.
func (l look) unanswered(o Owner, m Machine, r Record) (Step, bool) {
	switch {
	case !l.now.Before(r.At.Add(NoChange)):
		return l.lose(o, m, RevokeMachine, fmt.Sprintf("the provider has begun no change within %s", NoChange)), true
	case l.stops() && !l.now.Before(r.At.Add(Grace)):
		l.note(m, r.takenBack(m.Marks, l.now).unasked())
		return l.about(o, m, RevokeMachine, ReasonWithdrawing, "machine "+m.Name+" has not begun and is not to begin"), true
	}
	return Step{}, false
}

// unasked is the record of a request that was taken back without a failure.
func (r Record) unasked() Record {
	r.Seen = false
	return r
}

// endless looks at a change that the provider follows and that may never end: one with an empty id, and one that its
// snapd does not know. The version of the node decides (cases C099, C104).
func (l look) endless(o Owner, m Machine, r Record) (Step, bool) {
	limit, why := l.o.Limits.Timeout, "the change has not ended within "+l.o.Limits.Timeout.String()
	nothing := m.Marks.ChangeID == ""
	if nothing {
		limit, why = NoChange, "k8sd has started no change: there was nothing to do, and the version does not fit"
	}
	switch {
	case m.Marks.finished() && l.now.Before(r.At.Add(l.o.Limits.Timeout)):
		return Step{}, false
	case nothing && o.fits(m), !l.now.Before(r.At.Add(limit)) && o.arrived(m, r):
		return l.writeDown(o, m), !l.o.Paused
	case l.now.Before(r.At.Add(limit)):
		return Step{}, false
	}
	if nothing {
		r.Attempts, r.Put = r.Attempts+1, r.Put+1
		l.note(m, r)
	}
	return l.lose(o, m, ClearMachine, why), true
}

// ended looks at a change that nobody follows: one that is known to have ended well is written down.
func (l look) ended(o Owner, m Machine, r Record) (Step, bool) {
	switch {
	case l.o.Paused:
		return Step{}, false
	case m.Marks.finished():
		return l.about(o, m, FollowMachine, ReasonUpgrading, "machine "+m.Name+" is done; its request is put back to be closed"),
			true
	case o.arrived(m, r) && m.Health.Good():
		return l.writeDown(o, m), true
	}
	return Step{}, false
}

func (l look) writeDown(o Owner, m Machine) Step {
	return l.about(o, m, RecordRelease, ReasonUpgrading, "machine "+m.Name+" runs "+m.Kubelet+
		", what was asked for; that is written down")
}

// lose ends an attempt that failed.
func (l look) lose(o Owner, m Machine, action Action, why string) Step {
	r := l.trails[m.Name].record
	if action == RevokeMachine {
		r = r.takenBack(m.Marks, l.now)
	}
	l.note(m, r.lost(l.now, why))
	text := "machine " + m.Name + " failed; its request is taken back"
	if why != "" {
		text += ": " + why
	}
	return l.about(o, m, action, ReasonMachineFailed, text)
}

// note keeps a record for the caller to store.
func (l look) note(m Machine, r Record) { l.trails[m.Name] = trail{l.trails[m.Name].stage, r} }

// about is a step on a machine, in the phase in which the cluster is.
func (l look) about(o Owner, m Machine, action Action, reason, message string) Step {
	step := Step{Phase: policy.Progressing, Reason: reason, Message: message}
	switch {
	case Final(l.o.Phase):
		step = l.kept(false)
	case l.stops() || l.o.Paused:
		step.Phase = policy.Holding
	}
	step.Action, step.Owner, step.Machine, step.CurrentMachine = action, o.ID(), m.Name, m.Name
	return step
}

// stops: no machine begins any more.
func (l look) stops() bool {
	_, lost := l.o.quarantined()
	return l.o.Intent != policy.Run || l.over() || l.wished() || Final(l.o.Phase) || lost
}

// remember hands the records to the caller, as they are once the step is carried out.
func (l look) remember(before Observation, step *Step) {
	if t, found := l.trails[step.Machine]; found {
		if step.Action == GrantMachine || step.Action == FollowMachine {
			t.record = t.record.asked(l.now, l.kubelet(step.Machine), step.Action == FollowMachine)
			l.trails[step.Machine] = t
		}
	}
	changed := false
	for _, o := range before.Owners {
		for _, m := range o.Machines {
			r := l.trails[m.Name].record
			changed = changed || !r.equal(m.Record)
			if r.zero() {
				continue
			}
			if step.Records == nil {
				step.Records = map[string]Record{}
			}
			step.Records[m.Name] = r
		}
	}
	switch {
	case Final(step.Phase) && !l.marked() && step.Action == None:
		step.Records = nil // nothing of ours is left that they could tell of
	case step.Action != None:
	case changed:
		step.Recheck = l.now
	default:
		step.Recheck = sooner(step.Recheck, l.timers())
	}
}

func (l look) kubelet(name string) string {
	for _, o := range l.o.Owners {
		if m, found := find(o.Machines, func(m Machine) bool { return m.Name == name }); found {
			return m.Kubelet
		}
	}
	return ""
}

// onTheWay is a machine of ours that must end before anything is cleaned up.
func (l look) onTheWay() (string, bool) {
	for _, o := range l.o.inOrder() {
		m, found := find(o.Machines, func(m Machine) bool {
			switch t := l.trails[m.Name]; t.stage {
			case asked, moving, failing, adrift:
				return true
			case resting:
				return l.now.Before(t.record.answered())
			case untouched, strange, reached:
			}
			return false
		})
		if found {
			return m.Name, true
		}
	}
	return "", false
}

// leftovers are the machines that Settle clears.
func (l look) leftovers() []string {
	var names []string
	for _, o := range l.o.Owners {
		for _, m := range o.Machines {
			if m.Leftovers && !m.InFlight {
				names = append(names, m.Name)
			}
		}
	}
	return names
}
