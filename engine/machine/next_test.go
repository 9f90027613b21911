// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"errors"
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// observed is a machine as it is in most rows: asked to upgrade, permitted, nothing begun.
func observed(change func(o *machine.Observation)) machine.Observation {
	o := machine.Observation{
		Keys: keys, Marks: protocol.Marks{To: target, HasTo: true}, NodeName: "node-0", KubeletVersion: oldVersion,
		Plan: protocol.Plan{ExpectedVersion: "v1.34"},
	}
	change(&o)
	return o
}

func inFlight(id string) func(o *machine.Observation) {
	return func(o *machine.Observation) {
		o.Marks.Status, o.Marks.ChangeID, o.Marks.HasChangeID = protocol.StatusInProgress, id, true
		o.Attempt = protocol.Attempt{Target: target, Count: 1, From: oldVersion, SentAt: start}
	}
}

func TestNextWaitsWithAReasonAndAnEnd(t *testing.T) {
	minute := start.Add(time.Minute)
	type wait struct {
		Reason  machine.Reason
		Recheck time.Time
	}
	for name, c := range map[string]struct {
		change func(o *machine.Observation)
		want   wait
	}{
		"nothing is asked for":      {func(o *machine.Observation) { o.Marks = protocol.Marks{} }, wait{Reason: machine.NothingToDo}},
		"the machine is going":      {func(o *machine.Observation) { o.Deleting = true }, wait{Reason: machine.Deleting}},
		"the machine stands still":  {func(o *machine.Observation) { o.Paused = true }, wait{Reason: machine.Paused}},
		"there is no node":          {func(o *machine.Observation) { o.NodeName = "" }, wait{Reason: machine.NoNode}},
		"the version is not known":  {func(o *machine.Observation) { o.KubeletVersion = "" }, wait{Reason: machine.NoVersion}},
		"a hub gave no permission":  {func(o *machine.Observation) { o.Managed = true }, wait{Reason: machine.NotPermitted}},
		"the permission is over":    {func(o *machine.Observation) { o.StartBefore = minute }, wait{Reason: machine.NotPermitted}},
		"the permission is garbled": {func(o *machine.Observation) { o.StartBeforeErr = errors.New("x") }, wait{Reason: machine.NotPermitted}},
		"the first pause": {func(o *machine.Observation) {
			o.Attempt = protocol.Attempt{Target: target, Count: 1, SentAt: start, FailedAt: minute}
		}, wait{machine.BackingOff, minute.Add(time.Minute)}},
		"the third pause": {func(o *machine.Observation) {
			o.Plan.MaxAttempts = 9
			o.Attempt = protocol.Attempt{Target: target, Count: 3, SentAt: start, FailedAt: minute}
		}, wait{machine.BackingOff, minute.Add(4 * time.Minute)}},
		"the longest pause": {func(o *machine.Observation) {
			o.Plan.MaxAttempts = 99
			o.Attempt = protocol.Attempt{Target: target, Count: 90, SentAt: start, FailedAt: minute}
		}, wait{machine.BackingOff, minute.Add(30 * time.Minute)}},
		"a pause that the plan wants longer": {func(o *machine.Observation) {
			o.Plan.Backoff = protocol.Duration(2 * time.Hour)
			o.Attempt = protocol.Attempt{Target: target, Count: 2, SentAt: start, FailedAt: minute}
		}, wait{machine.BackingOff, minute.Add(2 * time.Hour)}},
		"attempts are used up": {func(o *machine.Observation) {
			o.Attempt = protocol.Attempt{Target: target, Count: 3, SentAt: start, FailedAt: start, Quarantined: true}
		}, wait{Reason: machine.Quarantined}},
		"the answer was lost": {func(o *machine.Observation) {
			o.Attempt = protocol.Attempt{Target: target, Count: 1, From: oldVersion, SentAt: start}
		}, wait{machine.Undecided, start.Add(30 * time.Minute)}},
		"the change runs": {func(o *machine.Observation) {
			inFlight("1")(o)
			o.NextPoll = minute.Add(time.Second)
		}, wait{machine.Running, minute.Add(time.Second)}},
		"the change runs, near its deadline": {func(o *machine.Observation) {
			inFlight("1")(o)
			o.Plan.Timeout = protocol.Duration(65 * time.Second)
			o.Answer, o.NextPoll = &machine.Answer{Status: doing}, minute.Add(10*time.Second)
		}, wait{machine.Running, start.Add(65 * time.Second)}},
		"k8sd is silent": {func(o *machine.Observation) {
			inFlight("1")(o)
			o.Answer, o.NextPoll = &machine.Answer{Err: errors.New("EOF")}, minute.Add(time.Second)
		}, wait{machine.NodeSilent, minute.Add(time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			step := machine.Next(observed(c.change), minute)
			same(t, "action", machine.Wait, step.Action)
			same(t, "wait", c.want, wait{step.Reason, step.Recheck})
		})
	}
}

func TestALostStatusIsRestoredNotFailed(t *testing.T) {
	for _, status := range []string{"", "nonsense"} {
		step := machine.Next(observed(func(o *machine.Observation) {
			inFlight("1")(o)
			o.Marks.Status = status
		}), start)
		same(t, "patch", member.Patch{keys.Status: protocol.StatusInProgress}, step.Patch)
	}
}

func TestAnAttemptThatCannotBeReadCountsAsSent(t *testing.T) {
	step := machine.Next(observed(func(o *machine.Observation) { o.AttemptErr = errors.New("x") }), start)
	same(t, "action", machine.Write, step.Action)
	a, err := protocol.ParseAttempt(step.Patch[protocol.AttemptKey].(string))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "attempt", protocol.Attempt{Target: target, Count: 1, From: oldVersion, SentAt: start}, a)
}

// FuzzNext looks for an observation that panics, sends beside a change in flight, asks k8sd too early, or changes its
// mind before the instant that it named.
func FuzzNext(f *testing.F) {
	for seed := range int64(2_000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		r := rand.New(rand.NewSource(seed))
		o, now := anything(r), start.Add(time.Duration(r.Intn(7200))*time.Second)
		step := machine.Next(o, now)
		switch step.Action {
		case machine.Send:
			checkSend(t, o, step, now)
		case machine.Poll:
			if o.Marks.ChangeID == "" || o.Answer != nil || now.Before(o.NextPoll) {
				t.Errorf("polls %+v", o)
			}
		case machine.Drain, machine.Uncordon:
			if o.Drain.Record == nil || !o.Drain.Can || o.Deleting || o.Paused || now.Before(o.Drain.NextLook) {
				t.Errorf("%ss %+v", step.Action, o)
			}
		case machine.Write:
			if len(step.Patch) == 0 || o.Deleting || o.Paused {
				t.Errorf("writes %v for %+v", step.Patch, o)
			}
		case machine.Wait:
			later := now.Add(time.Duration(r.Intn(1000)) * time.Hour)
			if !step.Recheck.IsZero() {
				later = now.Add(step.Recheck.Sub(now) / 2)
			}
			if step.Recheck.IsZero() && o.Answer != nil {
				return // an answer holds for the look in which it was given
			}
			if diff := cmp.Diff(step, machine.Next(o, later)); diff != "" && later.After(now) {
				t.Errorf("changes its mind at %s (-%s):\n%s\n%+v", later, now, diff, o)
			}
		default:
			t.Errorf("no action %q", step.Action)
		}
	})
}

func checkSend(t *testing.T, o machine.Observation, s machine.Step, now time.Time) {
	t.Helper()
	switch {
	case o.Marks.InFlight(o.Attempt), o.Marks.HasChangeID, o.AttemptErr != nil:
		t.Errorf("sends beside a change in flight: %+v", o)
	case o.Deleting, o.Paused, o.Withdrawn, o.Foreign, o.NodeName == "", !o.Marks.HasTo, o.PlanErr != nil:
		t.Errorf("sends where it must not: %+v", o)
	case s.Attempt.Count > o.Plan.WithDefaults().MaxAttempts && o.Attempt.Quarantined:
		t.Errorf("sends attempt %d of %d", s.Attempt.Count, o.Plan.WithDefaults().MaxAttempts)
	case s.Target.String() != o.Marks.To || s.Attempt.Target != o.Marks.To:
		t.Errorf("sends %s for %s", s.Target, o.Marks.To)
	}
	intent := member.Patch{protocol.AttemptKey: s.Attempt.Format()}
	if d := o.Drain.Record; d != nil {
		intent[protocol.DrainKey] = protocol.NodeDrain{Node: d.Node, By: d.By, Target: o.Marks.To}.Format()
	}
	same(t, "intent", intent, s.Patch)
	if o.Plan.Drain != nil && (o.Drain.Drained == nil || o.Drain.Drained.Err != nil || len(o.Drain.Drained.Left) > 0) {
		t.Errorf("sends to a node that is not known to be empty: %+v", o.Drain)
	}
	same(t, "sent at", true, s.Attempt.SentAt.Equal(now))
}

// anything is any machine, with the interesting values often.
func anything(r *rand.Rand) machine.Observation {
	instant := func() time.Time {
		return oneOf(r, time.Time{}, start, start.Add(time.Duration(r.Intn(7200))*time.Second))
	}
	maybe := func() error { return oneOf(r, nil, nil, nil, errors.New("x")) }
	o := machine.Observation{
		Keys: keys,
		Marks: protocol.Marks{
			To: oneOf(r, target, target, "revision=1", "", "nonsense"), Status: oneOf(r, "", "in-progress", "done", "failed", "?"),
			ChangeID: oneOf(r, "", "1"), LastFailed: oneOf(r, "", "x"), HasTo: r.Intn(4) > 0, HasChangeID: r.Intn(2) == 0,
		},
		Attempt: oneOf(r, protocol.Attempt{}, protocol.Attempt{
			Target: oneOf(r, target, "revision=1"), Count: r.Intn(5), From: oneOf(r, "", oldVersion, newVersion),
			SentAt: instant(), FailedAt: instant(), Quarantined: r.Intn(3) == 0,
		}),
		AttemptErr: maybe(), PlanErr: maybe(), Managed: r.Intn(2) == 0, StartBefore: instant(), StartBeforeErr: maybe(),
		Plan:     protocol.Plan{ExpectedVersion: oneOf(r, "", "v1.34", "v1.33"), MaxAttempts: r.Intn(4)},
		NodeName: oneOf(r, "node-0", "node-0", ""), KubeletVersion: oneOf(r, oldVersion, newVersion, ""),
		Deleting: r.Intn(9) == 0, Paused: r.Intn(9) == 0, Withdrawn: r.Intn(9) == 0, Foreign: r.Intn(9) == 0, NextPoll: instant(),
		Answer: oneOf(r, nil, &machine.Answer{
			Status: oneOf(r, doing, done, failed, undone, unknown, k8sd.Status{Completed: true}), Err: maybe(),
		}),
	}
	if r.Intn(2) == 0 {
		o.Plan.Drain, o.Drain = &protocol.Drain{}, anyDrain(r, instant)
	}
	if !o.Marks.HasTo {
		o.Marks.To = ""
	}
	if !o.Marks.HasChangeID {
		o.Marks.ChangeID, o.Answer = "", nil
	}
	return o
}

func anyDrain(r *rand.Rand, instant func() time.Time) machine.Draining {
	return machine.Draining{
		Can: r.Intn(9) > 0, By: "uid-m0", Healthy: r.Intn(2) == 0, NextLook: instant(),
		Record: oneOf(r, nil, &protocol.NodeDrain{
			Node: oneOf(r, "node-0", "node-0", "node-1"), By: "uid-m0", Target: oneOf(r, target, "revision=1"),
			Since: instant(), Failed: r.Intn(3) == 0, Blocked: oneOf(r, "", "x"),
		}),
		Drained: oneOf(r, nil, &machine.Drained{
			Left: oneOf(r, nil, []machine.Left{{Pod: "p"}, {Pod: "q", Why: "x"}}), Err: oneOf(r, nil, errors.New("x")),
		}),
		Freed: oneOf(r, nil, &machine.Freed{Err: oneOf(r, nil, errors.New("x"))}),
	}
}

func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.Intn(len(of))] }
