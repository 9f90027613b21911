// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// Next decides what to do with a machine. It is total: every observation has a step.
func Next(o Observation, now time.Time) Step { return o.release(o.next(now), now) }

func (o Observation) next(now time.Time) Step {
	switch {
	case o.Deleting:
		return wait(Deleting)
	case o.Paused:
		return wait(Paused)
	case o.AttemptErr != nil && o.Marks.HasTo:
		return o.adopt(now)
	}
	switch o.Marks.State() {
	case protocol.Requested, protocol.Retrying:
		return o.requested(now)
	case protocol.InProgress:
		return o.inProgress(now)
	case protocol.Finishing:
		return o.finish()
	case protocol.FailedAttempt:
		return o.failedAttempt(now)
	case protocol.Inconsistent:
		// The change is what counts; its status was lost.
		return write(member.Patch{o.Keys.Status: protocol.StatusInProgress})
	case protocol.Abandoned, protocol.Leftover, protocol.Idle:
		return o.unasked(now)
	}
	return wait(NothingToDo)
}

// Sent decides what an answer to a refresh means; err is of a class of k8sd.
func Sent(o Observation, changeID string, err error, now time.Time) Step {
	switch {
	case err == nil:
		s := write(member.Patch{
			o.Keys.Status: protocol.StatusInProgress, o.Keys.ChangeID: changeID, o.Keys.Release: nil,
		})
		began := member.Normal(protocol.EventInProgress, "Performing in place upgrade with "+o.Attempt.Target)
		began.Action = attemptAction(o.Attempt)
		s.Events = []member.Event{began}
		return s
	case k8sd.IsRejected(err) && nothingNewer(err) && o.plan().ExpectedVersion != "" && o.shows():
		return o.succeed()
	case k8sd.IsNotSent(err), k8sd.IsRejected(err):
		return o.fail(now, err.Error())
	}
	a := o.Attempt
	a.LastError = err.Error()
	s := write(member.Patch{protocol.AttemptKey: a.Format()})
	s.Recheck = o.deadline()
	return s
}

// requested: an upgrade is asked for and no change is known.
func (o Observation) requested(now time.Time) Step {
	if o.sent() {
		return o.byVersion(now, "k8sd's answer to the refresh was lost")
	}
	a := o.current()
	target, err := o.wanted()
	switch {
	case o.Withdrawn:
		return wait(Withdrawn)
	case o.Foreign: // of two refreshes of one machine the other's may be under way
		return wait(ForeignUpgrade)
	case err != nil:
		return o.refuse(now, a, err)
	case a.Quarantined && a.Count >= o.plan().MaxAttempts:
		return wait(Quarantined)
	case o.NodeName == "":
		return wait(NoNode)
	case o.KubeletVersion == "":
		return wait(NoVersion)
	case now.Before(o.retryAt(a)):
		return waitUntil(BackingOff, o.retryAt(a))
	case a.SentAt.IsZero() && !o.permitted(now):
		return wait(NotPermitted)
	}
	if step, draining := o.drain(now, a); draining {
		return o.whilePermitted(step, a)
	}
	return o.send(now, target, a)
}

// wanted is what is asked for, and what is wrong with that.
func (o Observation) wanted() (protocol.Target, error) {
	target, err := protocol.ParseTarget(o.Marks.To)
	if err == nil {
		err = o.PlanErr
	}
	if err == nil && o.Plan.Drain != nil && !o.Drain.Can {
		err = errCannotDrain
	}
	return target, err
}

// send records the intent and asks for the refresh.
func (o Observation) send(now time.Time, target protocol.Target, a protocol.Attempt) Step {
	if a.From == "" {
		a.From = o.KubeletVersion
	}
	a.Target, a.SentAt, a.Quarantined = o.Marks.To, now.UTC(), false
	a.Count++
	p := member.Patch{protocol.AttemptKey: a.Format()}
	if d := o.Drain.Record; d != nil { // the cordon stays, the drain has ended
		p[protocol.DrainKey] = protocol.NodeDrain{Node: d.Node, By: d.By, Target: a.Target}.Format()
	}
	return Step{Action: Send, Target: target, Attempt: a, Patch: p}
}

// refuse: the request cannot be carried out as it is; only another one is tried.
func (o Observation) refuse(now time.Time, a protocol.Attempt, err error) Step {
	if a.Quarantined {
		return wait(Quarantined)
	}
	a.Target, a.Quarantined = o.Marks.To, true
	return o.failed(now, a, err.Error(), member.Patch{})
}

// inProgress: a change was started, or snapd had nothing to do (an empty id).
func (o Observation) inProgress(now time.Time) Step {
	if !o.sent() {
		return o.adopt(now)
	}
	if o.Marks.ChangeID == "" {
		return o.byVersion(now, "k8sd started no change")
	}
	if o.Answer == nil {
		return o.poll(now, Running)
	}
	status := o.Answer.Status
	switch {
	case o.Answer.Err != nil:
		if now.Before(o.deadline()) {
			return waitUntil(NodeSilent, earlier(o.NextPoll, o.deadline()))
		}
		return o.byVersion(now, o.Answer.Err.Error())
	case status.Completed && status.Status == k8sd.StatusDone:
		return o.ended(now)
	case status.Completed:
		return o.fail(now, reasonOf(status))
	case status.Status == "":
		s := o.byVersion(now, fmt.Sprintf("k8sd does not know change %q", o.Marks.ChangeID))
		s.Recheck = earlier(s.Recheck, o.NextPoll)
		return s
	case !now.Before(o.deadline()):
		return o.fail(now, fmt.Sprintf("change %q is still %s", o.Marks.ChangeID, status.Status))
	}
	return waitUntil(Running, earlier(o.NextPoll, o.deadline()))
}

// failedAttempt: the change failed; it is forgotten when the next attempt is due and it has certainly ended.
func (o Observation) failedAttempt(now time.Time) Step {
	a := o.current()
	switch {
	case a.Quarantined && a.Count >= o.plan().MaxAttempts:
		return wait(Quarantined)
	case now.Before(o.retryAt(a)):
		return waitUntil(BackingOff, o.retryAt(a))
	case o.Marks.ChangeID == "":
		return o.forget()
	case o.Answer == nil:
		return o.poll(now, OldChangeRunning)
	}
	status := o.Answer.Status
	switch {
	case o.Answer.Err != nil && now.Before(a.FailedAt.Add(o.timeout())):
		return waitUntil(NodeSilent, earlier(o.NextPoll, a.FailedAt.Add(o.timeout())))
	case o.Answer.Err != nil:
		return o.forget()
	case status.Completed && status.Status == k8sd.StatusDone && o.shows():
		return o.done() // late, past its deadline
	case !status.Completed && status.Status != "":
		return waitUntil(OldChangeRunning, o.NextPoll)
	}
	return o.forget()
}

// unasked: no upgrade is asked for. What is left of one of ours goes when it has ended.
func (o Observation) unasked(now time.Time) Step {
	switch {
	case o.AttemptErr != nil:
		return o.clean()
	case o.Attempt == (protocol.Attempt{}):
		return wait(NothingToDo) // whatever is left here is not ours
	case o.Marks.HasChangeID && o.Marks.Status == protocol.StatusDone:
		return o.finish()
	case !o.sent(), o.Marks.HasChangeID && o.Marks.Status != protocol.StatusInProgress:
		return o.clean()
	case o.Marks.ChangeID != "" && o.Answer == nil:
		return o.poll(now, Running)
	}
	return o.unaskedInFlight(now)
}

func (o Observation) unaskedInFlight(now time.Time) Step {
	answer := Answer{}
	if o.Answer != nil {
		answer = *o.Answer
	}
	done := answer.Status.Completed && answer.Status.Status == k8sd.StatusDone
	switch {
	case done && o.shows(), answer.Err == nil && answer.Status.Status == "" && o.reached():
		return o.succeed()
	case answer.Status.Completed && !done, !now.Before(o.deadline()):
		return o.clean()
	case o.Marks.ChangeID != "":
		return waitUntil(Running, earlier(o.NextPoll, o.deadline()))
	}
	return waitUntil(Undecided, o.deadline())
}

// byVersion lets the node's version decide: reached is success, the deadline is failure.
func (o Observation) byVersion(now time.Time, why string) Step {
	switch {
	case o.reached() && o.Marks.HasChangeID:
		return o.done()
	case o.reached():
		return o.succeed()
	case now.Before(o.deadline()):
		return waitUntil(Undecided, o.deadline())
	}
	return o.fail(now, fmt.Sprintf("%s, and the node still runs %s after %s", why, o.KubeletVersion, o.timeout()))
}

// reasonOf says how a change ended that did not end well.
func reasonOf(s k8sd.Status) string {
	switch {
	case s.Status == k8sd.StatusError && s.ErrorMessage == "":
		return "the change failed, and snapd says nothing more"
	case s.Status == k8sd.StatusError:
		return s.ErrorMessage
	}
	if s.ErrorMessage == "" {
		return "invalid refresh status " + s.Status
	}
	return "invalid refresh status " + s.Status + ": " + s.ErrorMessage
}
