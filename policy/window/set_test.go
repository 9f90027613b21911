// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy/window"
)

// nights and weekends overlap on Saturday and Sunday from 02:00 to 06:00.
func nights(t testing.TB) *window.Calendar {
	return compile(t, in("UTC", cron("0 2 * * *", 4*hour)))
}

func weekends(t testing.TB) *window.Calendar {
	return compile(t, in("UTC", cron("0 0 * * 6", 48*hour)))
}

func TestTheZeroSetIsAlwaysOpen(t *testing.T) {
	for name, set := range map[string]window.Set{"zero": {}, "of none": window.NewSet(), "except nothing": window.Set{}.Except()} {
		now := at("2026-09-26T12:00Z")
		if !set.Always() || !set.Open(now) || !set.Open(time.Time{}) || !set.Open(now.AddDate(5000, 0, 0)) {
			t.Errorf("%s: not always open", name)
		}
		if closes, found := set.ClosesAt(now); found {
			t.Errorf("%s: closes at %s", name, closes)
		}
		if opening, found := set.Next(now); found {
			t.Errorf("%s: opens at %s", name, opening.Start)
		}
		if got := set.OpenTime(now, now.Add(hour)); got != hour {
			t.Errorf("%s: open for %s of an hour", name, got)
		}
		if at, in, ok := set.Fits(now, 1000*hour); !ok || !at.Equal(now) || in != (window.Span{}) {
			t.Errorf("%s: fits at %s in %v, %t", name, at, in, ok)
		}
		if got, ok := set.Pack(now, hour, 5); !ok || !got.End.Equal(now.Add(5*hour)) || got.Openings != 1 {
			t.Errorf("%s: packed as %v, %t", name, got, ok)
		}
	}
}

func TestASetWithANilCalendarIsClosedForEver(t *testing.T) {
	set := window.NewSet(nights(t), nil)
	now := at("2026-09-26T03:00Z")
	_, closes := set.ClosesAt(now)
	_, opens := set.Next(now)
	_, _, fits := set.Fits(now, time.Minute)
	_, packs := set.Pack(now, time.Minute, 1)
	if set.Always() || set.Open(now) || closes || opens || fits || packs || set.OpenTime(now, now.AddDate(1, 0, 0)) != 0 {
		t.Error("it is open at some time")
	}
}

func TestASetIsOpenWhenEveryCalendarIs(t *testing.T) {
	set := window.NewSet(nights(t), weekends(t))
	want := []string{
		"2026-09-26T02:00Z..2026-09-26T06:00Z", "2026-09-27T02:00Z..2026-09-27T06:00Z", "2026-10-03T02:00Z..2026-10-03T06:00Z",
	}
	if diff := cmp.Diff(want, text(set.Openings(at("2026-09-21T00:00Z"), 3)...)); diff != "" {
		t.Errorf("openings (-want +got):\n%s", diff)
	}
	if closes, found := set.ClosesAt(at("2026-09-26T03:00Z")); !found || !closes.Equal(at("2026-09-26T06:00Z")) {
		t.Errorf("closes at %s, %t", closes, found)
	}
}

func TestCalendarsThatNeverMeetHaveNoOpening(t *testing.T) {
	mondays, tuesdays := compile(t, in("UTC", cron("0 2 * * 1", hour))), compile(t, in("UTC", cron("0 2 * * 2", hour)))
	if opening, found := window.NewSet(mondays, tuesdays).Next(at("2026-09-26T03:00Z")); found || opening != (window.Span{}) {
		t.Errorf("opens at %s, %t", opening.Start, found)
	}
}

func TestASpanThatIsExceptedIsClosed(t *testing.T) {
	freeze := func(from, until string) window.Span {
		span := window.Span{}
		if from != "" {
			span.Start = at(from)
		}
		if until != "" {
			span.End = at(until)
		}
		return span
	}
	tests := map[string]struct {
		set    window.Set
		except []window.Span
		want   []string
	}{
		"in the middle of an opening": {
			window.NewSet(nights(t)),
			[]window.Span{freeze("2026-09-26T03:00Z", "2026-09-26T03:30Z")},
			[]string{"2026-09-26T02:00Z..2026-09-26T03:00Z", "2026-09-26T03:30Z..2026-09-26T06:00Z"},
		},
		"several, that overlap and touch": {
			window.NewSet(nights(t)),
			[]window.Span{
				freeze("2026-09-26T05:00Z", "2026-09-28T00:00Z"), freeze("2026-09-26T03:00Z", "2026-09-26T04:00Z"),
				freeze("2026-09-26T04:00Z", "2026-09-26T05:00Z"),
			},
			[]string{"2026-09-26T02:00Z..2026-09-26T03:00Z", "2026-09-28T02:00Z..2026-09-28T06:00Z"},
		},
		"one that ends before it starts": {
			window.NewSet(nights(t)),
			[]window.Span{freeze("2026-09-26T05:00Z", "2026-09-26T03:00Z")},
			[]string{"2026-09-26T02:00Z..2026-09-26T06:00Z", "2026-09-27T02:00Z..2026-09-27T06:00Z"},
		},
		"one without an end": {
			window.NewSet(nights(t)), []window.Span{freeze("2026-09-26T05:00Z", "")}, []string{"2026-09-26T02:00Z..2026-09-26T05:00Z"},
		},
		"one without a start": {
			window.NewSet(nights(t)),
			[]window.Span{freeze("", "2026-10-26T05:00Z")},
			[]string{"2026-10-26T05:00Z..2026-10-26T06:00Z", "2026-10-27T02:00Z..2026-10-27T06:00Z"},
		},
		"at any time but this": {
			window.Set{}, []window.Span{freeze("2026-09-26T05:00Z", "2026-09-27T05:00Z")}, []string{"2026-09-27T05:00Z..never"},
		},
		"everything": {window.Set{}, []window.Span{{}}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := tc.set.Except(tc.except...)
			if diff := cmp.Diff(tc.want, text(set.Openings(at("2026-09-25T12:00Z"), 2)...)); diff != "" {
				t.Errorf("openings (-want +got):\n%s", diff)
			}
			if set.Always() {
				t.Error("it is always open")
			}
		})
	}
	always := window.Set{}.Except(freeze("2026-09-26T05:00Z", "2026-09-27T05:00Z"))
	if closes, found := always.ClosesAt(at("2026-09-01T00:00Z")); !found || !closes.Equal(at("2026-09-26T05:00Z")) {
		t.Errorf("closes at %s, %t", closes, found)
	}
	if closes, found := always.ClosesAt(at("2026-10-01T00:00Z")); found {
		t.Errorf("closes at %s", closes)
	}
}

func TestExceptLeavesTheSetItself(t *testing.T) {
	set := window.NewSet(nights(t)).Except(window.Span{Start: at("2026-09-26T03:00Z"), End: at("2026-09-26T04:00Z")})
	set.Except(window.Span{Start: at("2026-09-26T04:00Z"), End: at("2026-09-26T05:00Z")})
	if !set.Open(at("2026-09-26T04:30Z")) {
		t.Error("a set that was made from it has closed it")
	}
}

func TestOpenTimeCountsWhatIsOpen(t *testing.T) {
	set := window.NewSet(nights(t))
	for name, tc := range map[string]struct {
		from, to string
		want     time.Duration
	}{
		"a week":             {"2026-09-21T00:00Z", "2026-09-28T00:00Z", 28 * hour},
		"from the middle":    {"2026-09-26T05:00Z", "2026-09-27T03:00Z", 2 * hour},
		"within one opening": {"2026-09-26T03:00Z", "2026-09-26T03:00:01Z", time.Second},
		"nothing":            {"2026-09-26T07:00Z", "2026-09-27T02:00Z", 0},
		"backwards":          {"2026-09-28T00:00Z", "2026-09-21T00:00Z", 0},
		"five years":         {"2026-01-01T00:00Z", "2031-01-01T00:00Z", 4 * 1826 * hour},
	} {
		if got := set.OpenTime(at(tc.from), at(tc.to)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestWorkFitsWhereItEndsBeforeTheClosing(t *testing.T) {
	set := window.NewSet(nights(t))
	for name, tc := range map[string]struct {
		now      string
		takes    time.Duration
		want, in string
	}{
		"now":                 {"2026-09-26T03:00Z", 2 * hour, "2026-09-26T03:00Z", "2026-09-26T02:00Z..2026-09-26T06:00Z"},
		"to the closing":      {"2026-09-26T03:00Z", 3 * hour, "2026-09-26T03:00Z", "2026-09-26T02:00Z..2026-09-26T06:00Z"},
		"not past it":         {"2026-09-26T03:00Z", 3*hour + 1, "2026-09-27T02:00Z", "2026-09-27T02:00Z..2026-09-27T06:00Z"},
		"from closed":         {"2026-09-26T07:00Z", 4 * hour, "2026-09-27T02:00Z", "2026-09-27T02:00Z..2026-09-27T06:00Z"},
		"at the very opening": {"2026-09-26T02:00Z", 4 * hour, "2026-09-26T02:00Z", "2026-09-26T02:00Z..2026-09-26T06:00Z"},
	} {
		at, in, ok := set.Fits(at(tc.now), tc.takes)
		if got := text(in)[0]; !ok || short(at) != tc.want || got != tc.in {
			t.Errorf("%s: fits at %s in %s, %t", name, short(at), got, ok)
		}
	}
	if at, _, ok := set.Fits(at("2026-09-26T03:00Z"), 5*hour); ok {
		t.Errorf("5 h fit at %s", at)
	}
}

func TestFitsLooksOneYearAhead(t *testing.T) {
	set := window.NewSet(compile(t, in("UTC", cron("0 2 29 2 *", hour))))
	if got, _, ok := set.Fits(at("2027-02-28T02:00Z"), hour); !ok || !got.Equal(at("2028-02-29T02:00Z")) {
		t.Errorf("366 days ahead: %s, %t", got, ok)
	}
	if got, _, ok := set.Fits(at("2027-02-28T01:59Z"), hour); ok {
		t.Errorf("further ahead: %s", got)
	}
}

func TestWorkFitsAlsoBefore1970(t *testing.T) {
	set := window.Set{}.Except(window.Span{End: at("1950-01-01T00:00Z")})
	if got, in, ok := set.Fits(at("1960-01-01T00:00Z"), hour); !ok || short(got) != "1960-01-01T00:00Z" || !in.End.IsZero() {
		t.Errorf("fits at %s in %v, %t", got, in, ok)
	}
}

func TestPack(t *testing.T) {
	set := window.NewSet(nights(t))
	for name, tc := range map[string]struct {
		now      string
		takes    time.Duration
		pieces   int
		from, to string
		openings int
	}{
		"all in one":        {"2026-09-26T02:00Z", hour, 4, "2026-09-26T02:00Z", "2026-09-26T06:00Z", 1},
		"one more":          {"2026-09-26T02:00Z", hour, 5, "2026-09-26T02:00Z", "2026-09-27T03:00Z", 2},
		"from the middle":   {"2026-09-26T04:30Z", hour, 5, "2026-09-26T04:30Z", "2026-09-27T06:00Z", 2},
		"one each":          {"2026-09-26T07:00Z", 3 * hour, 3, "2026-09-27T02:00Z", "2026-09-29T05:00Z", 3},
		"none":              {"2026-09-26T07:00Z", hour, 0, "2026-09-26T07:00Z", "2026-09-26T07:00Z", 0},
		"pieces of no time": {"2026-09-26T07:00Z", 0, 3, "2026-09-26T07:00Z", "2026-09-26T07:00Z", 0},
	} {
		got, ok := set.Pack(at(tc.now), tc.takes, tc.pieces)
		want := window.Packing{Start: at(tc.from), End: at(tc.to), Openings: tc.openings}
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %t (-want +got):\n%s", name, ok, diff)
		}
	}
	for name, tc := range map[string]struct {
		takes  time.Duration
		pieces int
	}{"too long": {5 * hour, 1}, "too many": {hour, 1 << 40}} {
		if got, ok := set.Pack(at("2026-09-26T07:00Z"), tc.takes, tc.pieces); ok {
			t.Errorf("%s: packed as %v", name, got)
		}
	}
	if got, ok := (window.Set{}).Pack(at("2026-09-26T07:00Z"), 300*24*hour, 1<<40); ok {
		t.Errorf("more time than there is: packed as %v", got)
	}
}

func TestACalendarIsClosedOutsideItsYears(t *testing.T) {
	calendar := compile(t, in("Pacific/Kiritimati", cron("0 0 * * *", 24*hour)))
	for text, want := range map[string]bool{
		"0001-01-01T00:00Z": false, "1899-12-31T23:59:59Z": false, "1979-01-03T00:00Z": true, "2199-12-30T00:00Z": true,
		"2200-01-01T00:00Z": false, "9999-12-31T00:00Z": false,
	} {
		if got := calendar.Open(at(text)); got != want {
			t.Errorf("open at %s: %t", text, got)
		}
	}
	if _, found := calendar.Next(at("9999-12-31T00:00Z")); found {
		t.Error("it opens in the year 10000")
	}
}

func TestACalendarMayBeAskedFromManySides(t *testing.T) {
	calendar := nights(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for day := range 400 {
				if !calendar.Open(at("2026-01-01T03:00Z").AddDate(i, 0, day)) {
					t.Errorf("closed at night %d", day)
				}
			}
		})
	}
	wait.Wait()
}

// TestTheLongestOpening is that of the openings of a year that start later.
func TestTheLongestOpening(t *testing.T) {
	now := at("2026-09-24T12:00Z")
	both := compile(t, in("UTC", cron("0 2 * * *", hour), cron("0 2 * * 6", 4*hour)))
	once := compile(t, in("UTC", cron("0 2 29 2 *", 4*hour)))
	for name, tc := range map[string]struct {
		set  window.Set
		from time.Time
		want time.Duration
	}{
		"of two kinds":               {window.NewSet(both), now, 4 * hour},
		"what freezes leave of them": {window.NewSet(both).Except(window.Span{Start: at("2026-09-26T00:00Z")}), now, hour},
		"not one that has begun":     {window.NewSet(once), at("2028-02-29T03:00Z"), 0},
		"one that begins right then": {window.NewSet(once), at("2028-02-29T02:00Z").Add(-1), 4 * hour},
		"none within a year":         {window.NewSet(once), now, 0},
		"none at all":                {window.NewSet(nights(t), nil), now, 0},
		"one that never closes":      {window.Set{}.Except(window.Span{End: now.Add(hour)}), now, math.MaxInt64},
		"always open":                {window.Set{}, now, 0},
	} {
		if got := tc.set.Longest(tc.from); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
