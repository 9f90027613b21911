// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/protocol"
)

func TestFault26_WaitingIsWrittenInWholeSecondsOfUTC(t *testing.T) {
	w := protocol.Waiting{
		Reason: "NotReady", Message: "2 of 3", Since: time.Date(2026, 12, 1, 3, 0, 0, 987654321, time.FixedZone("", 3600)),
	}
	want := `{"reason":"NotReady","message":"2 of 3","since":"2026-12-01T02:00:00Z"}`
	if diff := cmp.Diff(want, w.Format()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := protocol.ParseWaiting(want)
	if err != nil {
		t.Fatal(err)
	}
	w.Since = w.Since.UTC().Truncate(time.Second)
	if diff := cmp.Diff(w, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestAWaitingMessageIsBounded(t *testing.T) {
	got, err := protocol.ParseWaiting(protocol.Waiting{Reason: "Invalid", Message: strings.Repeat("ä", 2000)}.Format())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Message) > 512 || !utf8.ValidString(got.Message) || !strings.HasSuffix(got.Message, "ä...") {
		t.Errorf("%d bytes: %s", len(got.Message), got.Message)
	}
}

func TestParseWaitingRefuses(t *testing.T) {
	if got, err := protocol.ParseWaiting(""); err != nil || got != (protocol.Waiting{}) {
		t.Errorf("nothing was read as %+v, %v", got, err)
	}
	for _, text := range []string{"x", `{"why":"so"}`} {
		if _, err := protocol.ParseWaiting(text); err == nil || !strings.Contains(err.Error(), protocol.WaitingKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
