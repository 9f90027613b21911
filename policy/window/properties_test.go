// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy/window"
)

// drawRecurrence draws a cron expression or an RRULE, with a duration.
func drawRecurrence(t *rapid.T) window.Recurrence {
	duration := rapid.SampledFrom(durations).Draw(t, "duration")
	if rapid.Bool().Draw(t, "cron") {
		text, _ := drawCron(t)
		return cron(text, duration)
	}
	return rrule(drawRule(t).text(), duration)
}

// drawCalendar draws a calendar of up to three windows, with exclusions or without.
func drawCalendar(t *rapid.T) *window.Calendar {
	spec := window.Spec{TimeZone: rapid.SampledFrom(zones).Draw(t, "zone")}
	for range rapid.IntRange(1, 3).Draw(t, "windows") {
		spec.Windows = append(spec.Windows, drawRecurrence(t))
	}
	if rapid.Bool().Draw(t, "excluding") {
		spec.Exclusions = append(spec.Exclusions, window.Exclusion{Recurrence: drawRecurrence(t)})
		from := drawInstant(t)
		to := from.AddDate(0, 0, rapid.IntRange(0, 20).Draw(t, "days"))
		spec.Exclusions = append(spec.Exclusions, window.Exclusion{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly)})
	}
	calendar, _, err := window.Compile(spec)
	if err != nil {
		t.Skip(err)
	}
	return calendar
}

func drawInstant(t *rapid.T) time.Time {
	return firstDate.Add(time.Duration(rapid.IntRange(0, 600*24*60).Draw(t, "minute")) * time.Minute)
}

func drawSet(t *rapid.T) window.Set {
	set := window.NewSet(drawCalendar(t))
	if rapid.Bool().Draw(t, "two") {
		set = window.NewSet(drawCalendar(t), drawCalendar(t))
	}
	if rapid.Bool().Draw(t, "frozen") {
		set = set.Except(drawSpan(t))
	}
	return set
}

func drawSpan(t *rapid.T) window.Span {
	start := drawInstant(t)
	return window.Span{Start: start, End: start.Add(time.Duration(rapid.IntRange(1, 60*24*60).Draw(t, "length")) * time.Minute)}
}

// opener is what calendars and sets have in common.
type opener interface {
	Open(t time.Time) bool
	ClosesAt(t time.Time) (time.Time, bool)
	Next(t time.Time) (window.Span, bool)
}

// failer is a test of either kind.
type failer interface {
	Fatalf(format string, args ...any)
}

// edges holds what must be true of the edges after an instant.
func edges(t failer, o opener, now time.Time) {
	closes, closing := o.ClosesAt(now)
	if !o.Open(now) && closing {
		t.Fatalf("closed at %s, and closes at %s", now, closes)
	}
	if closing && (!closes.After(now) || o.Open(closes) || !o.Open(closes.Add(-1))) {
		t.Fatalf("at %s it closes at %s, which is no end of an opening", now, closes)
	}
	opening, found := o.Next(now)
	if !found {
		return
	}
	if !opening.Start.After(now) || !o.Open(opening.Start) || o.Open(opening.Start.Add(-1)) {
		t.Fatalf("after %s it opens at %s, which is no start of an opening", now, opening.Start)
	}
	if closing && !closes.Before(opening.Start) {
		t.Fatalf("it closes at %s, and opens again at %s", closes, opening.Start)
	}
	end, ends := o.ClosesAt(opening.Start)
	if ends == opening.End.IsZero() || ends && !end.Equal(opening.End) {
		t.Fatalf("the opening at %s ends at %s, and closes at %s", opening.Start, opening.End, end)
	}
}

func TestEdgesAreWhereOpennessChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, now := drawSet(t), drawInstant(t)
		edges(t, set, now)
		// Between an instant and the edge after it nothing changes.
		open := set.Open(now)
		edge, found := set.ClosesAt(now)
		if !open {
			opening, opens := set.Next(now)
			edge, found = opening.Start, opens
		}
		if !found {
			edge = now.AddDate(3, 0, 0)
		}
		between := now.Add(time.Duration(rapid.Int64Range(0, int64(edge.Sub(now))-1).Draw(t, "between")))
		if set.Open(between) != open {
			t.Fatalf("at %s it is open: %t, and the edge after it is at %s; yet not at %s", now, open, edge, between)
		}
	})
}

func TestASetIsTheIntersection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, frozen := drawCalendar(t), drawCalendar(t), drawSpan(t)
		set := window.NewSet(a, b)
		except := set.Except(frozen)
		for range 50 {
			now := drawInstant(t)
			if got, want := set.Open(now), a.Open(now) && b.Open(now); got != want {
				t.Fatalf("open at %s: %t, want %t", now, got, want)
			}
			if got, want := except.Open(now), set.Open(now) && !frozen.Contains(now); got != want {
				t.Fatalf("open at %s, except %v: %t, want %t", now, frozen, got, want)
			}
		}
	})
}

func TestOpenTimeIsTheSumOfTheOpenings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, span, frozen := drawSet(t), drawSpan(t), drawSpan(t)
		var sum time.Duration
		add := func(opening window.Span) {
			if end := opening.End; end.IsZero() || end.After(span.End) {
				opening.End = span.End
			}
			sum += max(0, opening.End.Sub(opening.Start))
		}
		if set.Open(span.Start) {
			end, _ := set.ClosesAt(span.Start)
			add(window.Span{Start: span.Start, End: end})
		}
		for at := span.Start; ; {
			opening, found := set.Next(at)
			if !found || !opening.Start.Before(span.End) {
				break
			}
			add(opening)
			at = opening.Start
		}
		total := set.OpenTime(span.Start, span.End)
		if total != sum {
			t.Fatalf("open for %s, and the openings sum up to %s", total, sum)
		}
		// What a freeze takes is what was open in it.
		taken := total - set.Except(frozen).OpenTime(span.Start, span.End)
		from, to := frozen.Start, frozen.End
		if from.Before(span.Start) {
			from = span.Start
		}
		if to.After(span.End) {
			to = span.End
		}
		if want := set.OpenTime(from, to); taken != want {
			t.Fatalf("a freeze took %s, and %s was open in it", taken, want)
		}
	})
}

func TestWorkFitsAtTheFirstInstantItCan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, now := drawSet(t), drawInstant(t)
		takes := time.Duration(rapid.IntRange(1, 30*60).Draw(t, "takes")) * time.Minute
		at, in, ok := set.Fits(now, takes)
		if ok {
			if closes, closing := set.ClosesAt(at); at.Before(now) || !set.Open(at) || closing && closes.Before(at.Add(takes)) {
				t.Fatalf("%s does not fit at %s, which closes at %s", takes, at, closes)
			}
			if !in.Contains(at) || !in.Start.IsZero() && set.Open(in.Start.Add(-1)) || !in.End.IsZero() && set.Open(in.End) {
				t.Fatalf("%v is not the opening at %s", in, at)
			}
		}
		if ok && at.Equal(now) {
			return
		}
		if closes, _ := set.ClosesAt(now); set.Open(now) && !closes.Before(now.Add(takes)) {
			t.Fatalf("it would have fitted at %s already", now)
		}
		for _, opening := range set.Openings(now, 20) {
			if opening.Start.After(now.Add(window.Horizon)) || ok && !opening.Start.Before(at) {
				return
			}
			if opening.End.IsZero() || opening.End.Sub(opening.Start) >= takes {
				t.Fatalf("%s would have fitted into %v already", takes, opening)
			}
		}
	})
}

func TestPiecesArePackedOneAfterAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, now := drawSet(t), drawInstant(t)
		takes := time.Duration(rapid.IntRange(1, 5*60).Draw(t, "takes")) * time.Minute
		pieces := rapid.IntRange(1, 30).Draw(t, "pieces")
		var want window.Packing
		var last window.Span
		at, fits := now, true
		for n := 0; n < pieces && fits; n++ {
			var in window.Span
			if at, in, fits = set.Fits(at, takes); !fits {
				break
			}
			if n == 0 {
				want.Start = at
			}
			if n == 0 || in != last {
				want.Openings++
			}
			at, last = at.Add(takes), in
			want.End = at
		}
		got, ok := set.Pack(now, takes, pieces)
		if ok != fits || ok && (got != want) {
			t.Fatalf("packed as %v, %t; one by one: %v, %t", got, ok, want, fits)
		}
	})
}
