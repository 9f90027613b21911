// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy/window"
)

// mornings never meet nights.
func mornings(t testing.TB) *window.Calendar {
	return compile(t, in("Europe/Berlin", cron("0 8 * * *", 2*hour)))
}

// TestCalendarsThatNeverMeetAreSearchedOnce: a search of 45 years looks at thousands of stretches, and decisions ask all the
// time.
func TestCalendarsThatNeverMeetAreSearchedOnce(t *testing.T) {
	now := at("2026-09-26T03:00Z")
	frozen := window.Span{Start: now.AddDate(0, 0, -1), End: now.AddDate(0, 0, 20)}
	for name, set := range map[string]window.Set{
		"closed now":              window.NewSet(nights(t), mornings(t)),
		"frozen beside that":      window.NewSet(nights(t), mornings(t)).Except(frozen),
		"frozen in the last ones": window.NewSet(nights(t), last(t)).Except(frozen),
		"three that meet in twos": window.NewSet(nights(t), weekends(t), mornings(t)),
	} {
		t.Run(name, func(t *testing.T) {
			if steps := window.Steps(set, now); steps < 1000 {
				t.Fatalf("the first search is short, of %d stretches: this tests nothing", steps)
			}
			if opening, found := set.Next(now); found {
				t.Fatalf("opens at %s", opening.Start)
			}
			const questions, few = 500, 32
			for k := range questions {
				later := now.Add(time.Duration(k) * time.Minute)
				if _, found := set.Next(later); found {
					t.Fatal("the second answer is another")
				}
				if steps := window.Steps(set, later); steps > few {
					t.Fatalf("%s later it is looked for again: %d stretches", later.Sub(now), steps)
				}
			}
		})
	}
}

// last is open with nights until the end of September.
func last(t testing.TB) *window.Calendar {
	return compile(t, in("UTC", cron("0 8 * * *", hour), rrule("DTSTART:20260901T030000\nRRULE:FREQ=DAILY;UNTIL=20260930T030000", hour)))
}

// TestWhatASetRemembersChangesNoAnswer: sets that were asked much answer as new ones do.
func TestWhatASetRemembersChangesNoAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		specs := []window.Spec{drawRare(t), drawRare(t)}
		anew := func() window.Set {
			var calendars []*window.Calendar
			for _, spec := range specs {
				calendar, _, err := window.Compile(spec)
				if err != nil {
					t.Skip(err)
				}
				calendars = append(calendars, calendar)
			}
			return window.NewSet(calendars...)
		}
		used := anew()
		for range rapid.IntRange(2, 6).Draw(t, "questions") {
			now, set, fresh := drawInstant(t), used, anew()
			if rapid.Bool().Draw(t, "frozen") {
				out := drawSpan(t)
				set, fresh = set.Except(out), fresh.Except(out)
			}
			if diff := cmp.Diff(answers(fresh, now), answers(set, now)); diff != "" {
				t.Fatalf("at %s (-new +used):\n%s", now, diff)
			}
		}
	})
}

// drawRare draws a calendar that is open a day, some days, or some hours of a year or of a day.
func drawRare(t *rapid.T) window.Spec {
	schedule := rapid.SampledFrom([]string{
		"0 2 * * *", "0 8 * * *", "0 2 29 2 *", "0 3 * 12 *", "0 2 * * 1", "0 2 13 * *", "30 23 31 * *", "0 5 1 6 *",
	}).Draw(t, "schedule")
	return in(rapid.SampledFrom(zones).Draw(t, "zone"), cron(schedule, rapid.SampledFrom(durations).Draw(t, "duration")))
}

type answered struct {
	Open, Closes, Opens, Fits bool
	ClosesAt, FitsAt          time.Time
	Next                      window.Span
}

func answers(s window.Set, now time.Time) answered {
	var a answered
	a.Open = s.Open(now)
	a.ClosesAt, a.Closes = s.ClosesAt(now)
	a.Next, a.Opens = s.Next(now)
	a.FitsAt, _, a.Fits = s.Fits(now, 3*hour)
	return a
}

// TestASetIsAskedInParallel has something to find for the race detector.
func TestASetIsAskedInParallel(t *testing.T) {
	now, a, b, c := at("2026-09-26T03:00Z"), nights(t), mornings(t), weekends(t)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			set := window.NewSet(a, b)
			if k%2 == 0 {
				set = window.NewSet(a, b, c)
			}
			for i := range 20 {
				if _, found := set.Next(now.AddDate(0, 0, i)); found {
					t.Error("it opens")
				}
			}
		})
	}
	wg.Wait()
}

// TestACalendarDoesNotKeepOthersAlive: those that were edited since go.
func TestACalendarDoesNotKeepOthersAlive(t *testing.T) {
	now, first := at("2026-09-26T03:00Z"), nights(t)
	gone := make(chan struct{})
	func() {
		other := mornings(t)
		runtime.AddCleanup(other, func(ch chan struct{}) { close(ch) }, gone)
		window.NewSet(first, other).Next(now)
	}()
	for range 10 {
		runtime.GC()
		select {
		case <-gone:
			return
		default:
		}
	}
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("it is still there")
	}
	runtime.KeepAlive(first)
}
