// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// state is a machine as text, as anybody may have written it.
type state struct {
	to, status, release, changeID, lastFailed, attempt, plan string
	// present tells for each of the seven, in this order, whether the key is there.
	present uint8
	version string
}

func (s state) annotations() map[string]string {
	all := map[string]string{}
	for i, a := range []struct{ key, value string }{
		{keys.To, s.to},
		{keys.Status, s.status},
		{keys.Release, s.release},
		{keys.ChangeID, s.changeID},
		{keys.LastFailed, s.lastFailed},
		{protocol.AttemptKey, s.attempt},
		{protocol.PlanKey, s.plan},
	} {
		if s.present&(1<<i) != 0 {
			all[a.key] = a.value
		}
	}
	return all
}

// FuzzMachineNext looks for texts that make the upgrader panic, send without a target that can be read, send while a
// change may be in flight, or go round without an end.
func FuzzMachineNext(f *testing.F) {
	sent := protocol.Attempt{Target: target, Count: 1, From: oldVersion, SentAt: start}
	lost := sent.Format()
	sent.FailedAt = start.Add(time.Minute)
	over := sent.Format()
	for _, attempt := range []string{"", "{", "null", "[]", lost, over, `{"sentAt":"x"}`, `{"count":-1}`, `{"count":9999999999999999999}`} {
		f.Add(target, "in-progress", "", "1", "", attempt, plan, uint8(0b1101111), oldVersion, "Done", true, "")
		f.Add(target, "", "", "", "", attempt, plan, uint8(0b1100001), oldVersion, "", false, "")
		f.Add("nonsense", "failed", target, "", "x", attempt, "{", uint8(0b1111111), newVersion, "Error", true, "no")
		f.Add("", "DONE", "", "\xff", "", attempt, `{"maxAttempts":-1,"timeout":"-1s"}`, uint8(0b1101011), "", "Wait", false, "")
	}
	f.Add(target, "done", target, "1", "", lost, `{"timeout":"9999999h"}`, uint8(0b1101011), "v1", "Hold", true, "")
	f.Add(target, "failed", target, "1", "", over, `{"backoff":"2562047h","maxAttempts":9223372036854775807}`, uint8(0b1111111), "v1.34", "Undo", false, "x")
	f.Fuzz(func(
		t *testing.T, to, status, release, changeID, lastFailed, attempt, plan string, present uint8, version,
		answered string, completed bool, message string,
	) {
		s := state{to, status, release, changeID, lastFailed, attempt, plan, present, version}
		answer := machine.Answer{Status: k8sd.Status{Status: answered, Completed: completed, ErrorMessage: message}}
		if message == "lost" {
			answer.Err = errors.New(message)
		}
		drive(t, s, answer)
	})
}

// drive carries out what is decided, on the annotations alone, until nothing is left to do.
func drive(t *testing.T, s state, answer machine.Answer) {
	t.Helper()
	annotations, now, sends := s.annotations(), start, 0
	for range 60 {
		o := read(annotations)
		o.KubeletVersion = s.version
		step := machine.Next(o, now)
		if step.Action == machine.Poll {
			if o.Marks.ChangeID == "" {
				t.Fatalf("asks about no change: %v", annotations)
			}
			o.Answer, o.NextPoll = &answer, now.Add(time.Minute)
			step = machine.Next(o, now)
		}
		switch step.Action {
		case machine.Send:
			sends++
			checkSend(t, o, step, now)
			if _, err := protocol.ParseTarget(s.to); err != nil || sends > max(o.Plan.WithDefaults().MaxAttempts, 1) {
				t.Fatalf("sends %q for the %d. time: %v", s.to, sends, annotations)
			}
			apply(annotations, step)
			o = read(annotations)
			o.Attempt, o.KubeletVersion = step.Attempt, s.version
			apply(annotations, machine.Sent(o, s.changeID, answer.Err, now))
		case machine.Write:
			before := len(annotations)
			apply(annotations, step)
			if _, err := protocol.ParseAttempt(annotations[protocol.AttemptKey]); err != nil && before == len(annotations) &&
				annotations[protocol.AttemptKey] != s.attempt {
				t.Fatalf("writes an attempt that it cannot read: %v", err)
			}
		case machine.Wait:
			if step.Recheck.IsZero() {
				return
			}
			if !step.Recheck.After(now) {
				t.Fatalf("looks again at once: %+v of %v", step, annotations)
			}
			now = step.Recheck
		case machine.Poll, machine.Drain, machine.Uncordon:
			t.Fatalf("asks twice: %+v", step)
		}
	}
}
