// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestLaw18AnErrorThatIsTheSameReadsTheSame: our port is another with each connection, and a message that changes is a status
// that is written, of the member and of each of its clusters.
func TestLaw18AnErrorThatIsTheSameReadsTheSame(t *testing.T) {
	for text, want := range map[string]string{
		`Get "https://10.0.0.1:6443/version": read tcp 10.1.2.3:50924->10.0.0.1:6443: read: connection reset by peer`: `Get "https://10.0.0.1:6443/version": read tcp 10.0.0.1:6443: read: connection reset by peer`,
		"write tcp [fd00::1]:50924->[fd00::2]:6443: broken pipe":                                                      "write tcp [fd00::2]:6443: broken pipe",
		"lookup eu on 10.0.0.10:53: read udp 10.1.2.3:4567->10.0.0.10:53: i/o timeout":                                "lookup eu on 10.0.0.10:53: read udp 10.0.0.10:53: i/o timeout",
		"dial tcp 10.0.0.1:6443: connect: connection refused":                                                         "dial tcp 10.0.0.1:6443: connect: connection refused",
	} {
		if got := words(errors.New(text)); got != want {
			t.Errorf("%s\nreads %s", text, got)
		}
	}
}

// TestLaw18TheErrorsOfAMemberThatStaysAwayTakeNoTurns in what is said: every word is a status of each of its clusters.
func TestLaw18TheErrorsOfAMemberThatStaysAwayTakeNoTurns(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC))
	p := NewProvider(Options{Clock: clock})
	refused, expired := errors.New("connection refused"), errors.New("deadline exceeded")
	for i, c := range []struct {
		after time.Duration
		err   error
		want  string
		state State
	}{
		{0, refused, "connection refused", Unreachable},
		{10 * time.Second, expired, "connection refused", Unreachable},
		{10 * time.Second, refused, "connection refused", Unreachable},
		{10 * time.Second, apierrors.NewUnauthorized("no"), "no", Unauthorized},
		{10 * time.Second, expired, "deadline exceeded", Unreachable},
		{4 * time.Minute, refused, "deadline exceeded", Unreachable},
		{time.Minute, refused, "connection refused", Unreachable},
	} {
		clock.Step(c.after)
		p.failed("fleet/a", c.err)
		if h := p.Health("fleet/a"); h.Message != c.want || h.State != c.state || h.Failures != i+1 {
			t.Errorf("%d: %+v", i, h)
		}
	}
	p.answered("fleet/a", "v1")
	p.failed("fleet/a", expired)
	if h := p.Health("fleet/a"); h.Message != "deadline exceeded" {
		t.Errorf("after an answer: %+v", h)
	}
}
