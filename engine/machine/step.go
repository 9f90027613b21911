// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// maxBackoff bounds the pause between attempts, unless the plan's first one is longer.
const maxBackoff = 30 * time.Minute

func wait(r Reason) Step { return Step{Action: Wait, Reason: r} }

func waitUntil(r Reason, at time.Time) Step { return Step{Action: Wait, Reason: r, Recheck: at} }

func write(p member.Patch) Step { return Step{Action: Write, Patch: p} }

// poll asks k8sd when it may be asked again.
func (o Observation) poll(now time.Time, meanwhile Reason) Step {
	if now.Before(o.NextPoll) {
		return waitUntil(meanwhile, o.NextPoll)
	}
	return Step{Action: Poll}
}

// done: k8sd, or the node's version, says that the change succeeded.
func (o Observation) done() Step {
	s := write(member.Patch{o.Keys.Status: protocol.StatusDone})
	s.Events = []member.Event{o.successful()}
	return s
}

// succeed: there is no change to wait for, and the node's version says that the upgrade succeeded.
func (o Observation) succeed() Step {
	s := o.finish()
	s.Events = []member.Event{o.successful()}
	return s
}

func (o Observation) successful() member.Event {
	return member.Normal(protocol.EventDone, "Successfully performed in place upgrade with "+o.target())
}

// finish records what the machine was refreshed to, which is not always what is asked for by now; a newer request
// stays.
func (o Observation) finish() Step {
	p := member.Patch{
		o.Keys.Status: protocol.StatusDone, o.Keys.Release: o.target(), o.Keys.ChangeID: nil,
		o.Keys.LastFailed: nil, protocol.AttemptKey: nil,
	}
	if o.Marks.To == o.target() {
		p[o.Keys.To] = nil
	}
	return write(p)
}

// fail ends the current attempt.
func (o Observation) fail(now time.Time, why string) Step {
	a := o.Attempt
	a.Quarantined = a.Count >= o.plan().MaxAttempts
	return o.failed(now, a, why, member.Patch{})
}

func (o Observation) failed(now time.Time, a protocol.Attempt, why string, p member.Patch) Step {
	if now.Before(a.SentAt) { // another process's clock is ahead
		now = a.SentAt
	}
	a.FailedAt, a.LastError = now.UTC(), why
	p[o.Keys.Status] = protocol.StatusFailed
	p[o.Keys.LastFailed] = protocol.FormatFailedAt(now)
	p[protocol.AttemptKey] = a.Format()
	s := write(p)
	failure := member.Warning(protocol.EventFailed, "Failed to perform in place upgrade with "+a.Target+": "+why)
	failure.Action = attemptAction(a)
	s.Events = []member.Event{failure}
	return s
}

// attemptAction keeps the events of each attempt: they differ in nothing else that the API compares.
func attemptAction(a protocol.Attempt) string { return fmt.Sprintf("Attempt-%d", a.Count) }

// forget drops the change of a failed attempt, so that the next one can be sent.
func (o Observation) forget() Step {
	return write(member.Patch{o.Keys.Status: nil, o.Keys.ChangeID: nil})
}

// clean removes what an upgrade left that nobody asks for any more.
func (o Observation) clean() Step {
	p := member.Patch{o.Keys.ChangeID: nil, o.Keys.LastFailed: nil, protocol.AttemptKey: nil}
	switch {
	case o.Marks.Status == protocol.StatusFailed && o.Marks.Release != "":
		p[o.Keys.Status] = protocol.StatusDone // the node has accepted nothing since
	case o.Marks.Status != protocol.StatusDone:
		p[o.Keys.Status] = nil
	}
	s := write(p)
	if o.Attempt.Target != "" {
		s.Events = []member.Event{member.Normal(protocol.EventCancelled,
			"In place upgrade with "+o.Attempt.Target+" is not asked for any more")}
	}
	return s
}

// adopt takes over a change whose attempt is not known: it is followed as if it had been sent now.
func (o Observation) adopt(now time.Time) Step {
	a := o.current()
	a.Target, a.SentAt, a.Count, a.Quarantined = o.Marks.To, now.UTC(), max(a.Count, 1), false
	if a.From == "" && !o.Marks.HasChangeID { // with a change, the version may be the one after it
		a.From = o.KubeletVersion
	}
	return write(member.Patch{protocol.AttemptKey: a.Format()})
}

// current is the attempt at what is asked for now; a new target starts anew.
func (o Observation) current() protocol.Attempt {
	if o.Attempt.Target != o.Marks.To {
		return protocol.Attempt{}
	}
	return o.Attempt
}

// target is what was sent, else what is asked for.
func (o Observation) target() string {
	if o.Attempt.Target != "" {
		return o.Attempt.Target
	}
	return o.Marks.To
}

// sent reports whether a refresh was sent, or may have been, and its attempt has not ended.
func (o Observation) sent() bool { return o.Attempt.FailedAt.Before(o.Attempt.SentAt) }

func (o Observation) plan() protocol.Plan { return o.Plan.WithDefaults() }

func (o Observation) timeout() time.Duration { return time.Duration(o.plan().Timeout) }

func (o Observation) deadline() time.Time { return o.Attempt.SentAt.Add(o.timeout()) }

// retryAt is when the attempt after a may be made: the back-off doubles with each that failed, and is spread a little.
func (o Observation) retryAt(a protocol.Attempt) time.Time {
	if a.FailedAt.IsZero() {
		return time.Time{}
	}
	pause := time.Duration(o.plan().Backoff)
	limit := max(pause, maxBackoff)
	for i := 1; i < a.Count && pause < limit; i++ {
		pause *= 2
	}
	pause = min(pause, limit)
	return a.FailedAt.Add(pause).Add(time.Duration(o.Spread * spreadShare * float64(pause)))
}

// permitted reports whether a machine may begin: permission that is there must not be over, and a machine of a hub
// needs it.
func (o Observation) permitted(now time.Time) bool {
	switch {
	case o.StartBeforeErr != nil:
		return false
	case o.StartBefore.IsZero():
		return !o.Managed
	}
	return now.Before(o.StartBefore)
}

// whilePermitted lets a machine that has not begun wait no longer than it is permitted to begin.
func (o Observation) whilePermitted(s Step, a protocol.Attempt) Step {
	if s.Action == Wait && a.SentAt.IsZero() {
		s.Recheck = earlier(s.Recheck, o.StartBefore)
	}
	return s
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
