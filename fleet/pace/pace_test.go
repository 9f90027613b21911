// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package pace_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/windlass-dev/windlass/fleet/pace"
)

func TestWritesOfOneObjectAreASecondApart(t *testing.T) {
	now := clocktesting.NewFakeClock(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	p := pace.Pace[string]{Clock: now}
	for _, step := range []struct {
		what   string
		after  time.Duration
		writes bool
		want   time.Duration
	}{
		{what: "nothing was written yet", writes: true, want: 0},
		{what: "just after a write", want: pace.Every},
		{what: "a little later", after: 300 * time.Millisecond, want: 700 * time.Millisecond},
		{what: "a second after the write", after: 700 * time.Millisecond, writes: true, want: 0},
		{what: "just after the second write", want: pace.Every},
	} {
		now.Step(step.after)
		if got := p.Wait("a"); got != step.want {
			t.Errorf("%s: wait %s, want %s", step.what, got, step.want)
		}
		if got := p.Wait("b"); got != 0 {
			t.Errorf("%s: another object waits %s", step.what, got)
		}
		if step.writes {
			p.Wrote("a")
		}
	}
}

func TestATimerEndsSoonAndBringsAnotherLook(t *testing.T) {
	for away, want := range map[time.Duration]time.Duration{
		-time.Hour: time.Millisecond, 0: time.Millisecond, time.Minute: time.Minute, 24 * time.Hour: 5 * time.Minute,
	} {
		if got := pace.Timer(away); got != want {
			t.Errorf("%s away: a timer of %s, want %s", away, got, want)
		}
	}
}
