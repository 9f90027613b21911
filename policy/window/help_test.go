// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// at reads an instant such as 2026-03-08T06:45Z or 2026-03-08T06:45:59Z.
func at(text string) time.Time {
	for _, layout := range []string{"2006-01-02T15:04Z07:00", time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	panic(fmt.Sprintf("%q is no instant", text))
}

func cron(schedule string, duration time.Duration) window.Recurrence {
	return window.Recurrence{Schedule: schedule, Duration: duration}
}

func rrule(text string, duration time.Duration) window.Recurrence {
	return window.Recurrence{RRule: text, Duration: duration}
}

// in is a calendar of windows in a zone.
func in(zone string, windows ...window.Recurrence) window.Spec {
	return window.Spec{TimeZone: zone, Windows: windows}
}

func compile(t testing.TB, spec window.Spec) *window.Calendar {
	t.Helper()
	calendar, _, err := window.Compile(spec)
	if err != nil {
		t.Fatalf("compiling %+v: %v", spec, err)
	}
	return calendar
}

// probe says what a calendar is at an instant.
type probe struct {
	at   string
	open bool
}

func open(texts ...string) []probe   { return probes(true, texts) }
func closed(texts ...string) []probe { return probes(false, texts) }

func probes(open bool, texts []string) []probe {
	out := make([]probe, len(texts))
	for i, text := range texts {
		out[i] = probe{text, open}
	}
	return out
}

func expect(t *testing.T, calendar *window.Calendar, probes ...probe) {
	t.Helper()
	for _, p := range probes {
		if got := calendar.Open(at(p.at)); got != p.open {
			t.Errorf("open at %s: %t, want %t", p.at, got, p.open)
		}
	}
}

// text writes spans shortly.
func text(spans ...window.Span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, short(s.Start)+".."+short(s.End))
	}
	return out
}

func short(t time.Time) string {
	switch {
	case t.IsZero():
		return "never"
	case t.Second() == 0:
		return t.Format("2006-01-02T15:04Z07:00")
	}
	return t.Format(time.RFC3339Nano)
}

// openings are the next n of a calendar, shortly.
func openings(calendar *window.Calendar, from string, n int) []string {
	return text(window.NewSet(calendar).Openings(at(from), n)...)
}
