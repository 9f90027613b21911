// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// leapDays is fresh: nothing of it is expanded yet.
func leapDays(b *testing.B) *window.Calendar {
	return compile(b, in("Europe/Berlin", cron("0 2 29 2 *", 4*hour)))
}

// BenchmarkNextLeapDay asks a calendar that was never asked for the leap day after 2096, eight years on.
func BenchmarkNextLeapDay(b *testing.B) {
	now := at("2096-03-01T00:00Z")
	for b.Loop() {
		b.StopTimer()
		calendar := leapDays(b)
		b.StartTimer()
		if _, found := calendar.Next(now); !found {
			b.Fatal("not found")
		}
	}
}

// BenchmarkNextLeapDayAgain asks the same of one that was.
func BenchmarkNextLeapDayAgain(b *testing.B) {
	calendar, now := leapDays(b), at("2096-03-01T00:00Z")
	for b.Loop() {
		if _, found := calendar.Next(now); !found {
			b.Fatal("not found")
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	calendar, now := nights(b), at("2026-09-26T03:00Z")
	for b.Loop() {
		now = now.Add(time.Minute)
		calendar.Open(now)
	}
}

func BenchmarkSetNext(b *testing.B) {
	now := at("2026-09-26T03:00Z")
	set := window.NewSet(nights(b), weekends(b)).Except(window.Span{Start: now, End: now.AddDate(0, 0, 20)})
	for b.Loop() {
		if _, found := set.Next(now); !found {
			b.Fatal("not found")
		}
	}
}

func BenchmarkSetPack(b *testing.B) {
	now := at("2026-09-26T03:00Z")
	set := window.NewSet(nights(b), weekends(b))
	for b.Loop() {
		if _, ok := set.Pack(now, hour, 40); !ok {
			b.Fatal("not packed")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	spec := in("Europe/Berlin", cron("0 2 * * 6", 4*hour), rrule("FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2", 4*hour))
	for b.Loop() {
		if _, _, err := window.Compile(spec); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSetNextNever asks again for calendars that never open together, as each decision does.
func BenchmarkSetNextNever(b *testing.B) {
	now, a, other := at("2026-09-26T03:00Z"), nights(b), mornings(b)
	for b.Loop() {
		now = now.Add(time.Minute)
		if _, found := window.NewSet(a, other).Next(now); found {
			b.Fatal("found")
		}
	}
}

// BenchmarkSetNextNeverFirst asks once.
func BenchmarkSetNextNeverFirst(b *testing.B) {
	now := at("2026-09-26T03:00Z")
	for b.Loop() {
		b.StopTimer()
		set := window.NewSet(nights(b), mornings(b))
		b.StartTimer()
		if _, found := set.Next(now); found {
			b.Fatal("found")
		}
	}
}
