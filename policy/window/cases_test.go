// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy/window"
)

const hour = time.Hour

// TestOpenness probes the reports about when a calendar is open.
func TestOpenness(t *testing.T) {
	tests := map[string]struct {
		spec   window.Spec
		probes [][]probe
	}{
		"C005: a start in the spring gap opens after it, from an rrule": {
			in("America/New_York", rrule("DTSTART;TZID=America/New_York:20260301T023000\nRRULE:FREQ=WEEKLY;BYDAY=SU", hour)),
			[][]probe{
				closed("2026-03-08T06:30Z", "2026-03-08T06:45Z", "2026-03-08T07:29:59Z"),
				open("2026-03-08T07:30Z", "2026-03-08T07:45Z"), closed("2026-03-08T08:30Z", "2026-03-08T08:45Z"),
			},
		},
		"C005: a start in the spring gap opens after it, from cron": {
			in("America/New_York", cron("30 2 * * 0", hour)),
			[][]probe{closed("2026-03-08T06:45Z"), open("2026-03-08T07:45Z"), closed("2026-03-08T08:45Z")},
		},
		"C006: an ambiguous start is the first pass, from an rrule": {
			in("Europe/Berlin", rrule("DTSTART;TZID=Europe/Berlin:20261018T023000\nRRULE:FREQ=WEEKLY;BYDAY=SU", hour/2)),
			[][]probe{
				open("2026-10-18T00:30Z", "2026-10-25T00:30Z", "2026-10-25T00:45Z"),
				closed("2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-25T01:45Z"),
			},
		},
		"C006: an ambiguous start is the first pass, from cron": {
			in("Europe/Berlin", cron("30 2 * * 0", hour/2)),
			[][]probe{open("2026-10-25T00:45Z"), closed("2026-10-25T01:45Z")},
		},
		"C008: a gap of two hours shifts by two": {
			in("Antarctica/Troll", cron("30 1 * * *", hour)),
			[][]probe{
				closed("2026-03-29T00:45Z", "2026-03-29T01:29:59Z"), open("2026-03-29T01:30Z", "2026-03-29T01:45Z", "2026-03-29T02:29Z"),
				closed("2026-03-29T02:30Z"),
			},
		},
		"C014: the weekday is that of the zone, from an rrule": {
			in("Asia/Tokyo", rrule("DTSTART;TZID=Asia/Tokyo:20260907T003000\nRRULE:FREQ=WEEKLY;BYDAY=MO", hour/2)),
			[][]probe{open("2026-09-06T15:45Z"), closed("2026-09-07T15:45Z")},
		},
		"C014: the weekday is that of the zone, from cron": {
			in("Asia/Tokyo", cron("30 0 * * 1", hour/2)),
			[][]probe{open("2026-09-06T15:45Z"), closed("2026-09-07T15:45Z")},
		},
		"C015: each occurrence has the offset of its own date": {
			in("America/New_York", rrule("DTSTART;TZID=America/New_York:20261023T090000\nRRULE:FREQ=WEEKLY;BYDAY=FR", hour)),
			[][]probe{open("2026-10-30T13:30Z"), closed("2026-11-06T13:30Z"), open("2026-11-06T14:30Z")},
		},
		"C016: the first occurrence counts": {
			in("", rrule("DTSTART:20260926T020000Z\nRRULE:FREQ=WEEKLY;BYDAY=SA", 2*hour)),
			[][]probe{closed("2026-09-26T01:59:30Z"), open("2026-09-26T02:00:00Z", "2026-09-26T03:00Z"), closed("2026-09-19T03:00Z")},
		},
		"C017: it is open also for who comes in the middle": {
			in("UTC", cron("0 2 * * 6", 4*hour)),
			[][]probe{open("2026-09-26T03:15Z"), closed("2026-09-26T06:30Z", "2026-09-26T06:00Z")},
		},
		"C018: it is open every week": {
			in("UTC", rrule("DTSTART:20260926T020000Z\nRRULE:FREQ=WEEKLY;BYDAY=SA", hour)),
			[][]probe{open("2026-10-03T02:30Z", "2026-10-10T02:30Z", "2027-06-26T02:30Z")},
		},
		"C030: without a zone it is UTC, whatever the machine's": {
			in("", cron("0 2 * * 6", hour)),
			[][]probe{open("2026-09-26T02:30Z"), closed("2026-09-26T07:30Z")},
		},
		"C031: another zone moves it": {
			in("Asia/Kolkata", cron("0 1 * * *", hour)),
			[][]probe{open("2026-09-16T19:45Z"), closed("2026-09-17T01:15Z")},
		},
		"C032: a region follows its clock": {
			in("America/New_York", cron("0 2 * * 6", hour)),
			[][]probe{open("2026-07-04T06:30Z"), closed("2026-07-04T07:30Z")},
		},
		"C033: a window of ten days is open to its end": {
			in("UTC", cron("0 0 1 * *", 240*hour)),
			[][]probe{open("2026-10-09T00:00Z", "2026-10-10T23:59:59Z"), closed("2026-10-11T00:00Z")},
		},
		"C033: a leap day is open": {
			in("UTC", cron("0 2 29 2 *", 4*hour)),
			[][]probe{open("2028-02-29T03:00Z"), closed("2028-03-01T03:00Z", "2027-03-01T03:00Z", "2100-03-01T03:00Z")},
		},
		"C037: an excepted date is closed": {
			in("UTC", rrule("DTSTART;TZID=UTC:20261204T020000\nRRULE:FREQ=WEEKLY;BYDAY=FR\nEXDATE;TZID=UTC:20261225T020000", 2*hour)),
			[][]probe{open("2026-12-18T02:30Z"), closed("2026-12-25T02:30Z"), open("2027-01-01T02:30Z")},
		},
		"C037: an exception that is a date takes the whole local day": {
			in("Asia/Tokyo", rrule("RRULE:FREQ=DAILY;BYHOUR=1,23\nEXDATE;VALUE=DATE:20261225", hour)),
			[][]probe{
				open("2026-12-24T14:30Z"), closed("2026-12-24T16:30Z", "2026-12-25T14:30Z"), open("2026-12-25T16:30Z"),
			},
		},
		"C049: every third month": {
			in("UTC", rrule("DTSTART:20261004T020000\nRRULE:FREQ=MONTHLY;INTERVAL=3;BYDAY=1SU", hour)),
			[][]probe{open("2026-10-04T02:30Z", "2027-01-03T02:30Z"), closed("2026-11-01T02:30Z", "2026-12-06T02:30Z")},
		},
		"C147: Mexico has no summer time any more": {
			in("America/Mexico_City", cron("0 2 * * 6", 2*hour)),
			[][]probe{open("2026-07-04T08:30Z"), closed("2026-07-04T07:30Z")},
		},
		"C147: Egypt has it again": {
			in("Africa/Cairo", cron("0 2 * * 6", hour)),
			[][]probe{open("2026-07-03T23:30Z"), closed("2026-07-04T00:30Z")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, compile(t, tc.spec), slices.Concat(tc.probes...)...)
		})
	}
}

// TestOpenings lists openings as a whole: their starts, ends and number.
func TestOpenings(t *testing.T) {
	weekend := "DTSTART:20260926T050000\nRRULE:FREQ=WEEKLY;BYDAY=SA,SU"
	tests := map[string]struct {
		spec window.Spec
		from string
		want []string
	}{
		"C008: one occurrence on the date of the gap": {
			in("Antarctica/Troll", cron("30 1 * * *", hour)), "2026-03-28T12:00Z",
			[]string{"2026-03-29T01:30Z..2026-03-29T02:30Z", "2026-03-29T23:30Z..2026-03-30T00:30Z"},
		},
		"C006: one occurrence on the date of the second pass": {
			in("Europe/Berlin", cron("30 2 * * *", hour/2)), "2026-10-24T12:00Z",
			[]string{"2026-10-25T00:30Z..2026-10-25T01:00Z", "2026-10-26T01:30Z..2026-10-26T02:00Z"},
		},
		"C010: three hours are three hours in spring": {
			in("Europe/Berlin", cron("0 1 * * 0", 3*hour)), "2026-03-28T00:00Z", []string{"2026-03-29T00:00Z..2026-03-29T03:00Z"},
		},
		"C010: and in autumn": {
			in("Europe/Berlin", cron("0 1 * * 0", 3*hour)), "2026-10-24T00:00Z", []string{"2026-10-24T23:00Z..2026-10-25T02:00Z"},
		},
		"C011: the first Sunday of a month": {
			in("UTC", rrule("DTSTART:20260901T020000\nRRULE:FREQ=MONTHLY;BYDAY=1SU", 2*hour)), "2026-09-01T00:00Z",
			[]string{"2026-09-06T02:00Z..2026-09-06T04:00Z", "2026-10-04T02:00Z..2026-10-04T04:00Z", "2026-11-01T02:00Z..2026-11-01T04:00Z"},
		},
		"C012: 7 alone is Sunday": {
			in("UTC", cron("0 2 * * 7", hour)), "2026-09-01T00:00Z", []string{"2026-09-06T02:00Z..2026-09-06T03:00Z"},
		},
		"C017: the next opening is next week's": {
			in("UTC", cron("0 2 * * 6", 4*hour)), "2026-09-26T06:30Z", []string{"2026-10-03T02:00Z..2026-10-03T06:00Z"},
		},
		"C019: overlapping windows are one opening": {
			in("UTC", cron("0 0 * * 6", 12*hour), cron("0 2 * * 6", hour)), "2026-09-25T00:00Z",
			[]string{"2026-09-26T00:00Z..2026-09-26T12:00Z", "2026-10-03T00:00Z..2026-10-03T12:00Z"},
		},
		"C020: a duration past the next start joins them": {
			in("UTC", rrule(weekend, 38*hour)), "2026-09-25T00:00Z",
			[]string{"2026-09-26T05:00Z..2026-09-28T19:00Z", "2026-10-03T05:00Z..2026-10-05T19:00Z"},
		},
		"C023: the end of an exclusion is an opening": {
			window.Spec{
				Windows: []window.Recurrence{cron("0 0 * * *", 24*hour)}, Exclusions: []window.Exclusion{
					{Recurrence: cron("0 0 * * *", 16*hour)}, {Recurrence: cron("0 17 * * *", 7*hour)},
				},
			},
			"2026-09-16T15:30Z",
			[]string{"2026-09-16T16:00Z..2026-09-16T17:00Z", "2026-09-17T16:00Z..2026-09-17T17:00Z"},
		},
		"C031: in one zone": {
			in("Africa/Abidjan", cron("0 1 * * *", hour)), "2026-09-16T12:00Z", []string{"2026-09-17T01:00Z..2026-09-17T02:00Z"},
		},
		"C031: in another": {
			in("Asia/Kolkata", cron("0 1 * * *", hour)), "2026-09-16T12:00Z", []string{"2026-09-16T19:30Z..2026-09-16T20:30Z"},
		},
		"C033: the next leap day": {
			in("UTC", cron("0 2 29 2 *", 4*hour)), "2026-09-01T00:00Z", []string{"2028-02-29T02:00Z..2028-02-29T06:00Z"},
		},
		"C033: the leap day after 2100, which has none": {
			in("UTC", cron("0 2 29 2 *", 4*hour)), "2096-03-01T00:00Z", []string{"2104-02-29T02:00Z..2104-02-29T06:00Z"},
		},
		"C033: a leap day that is a Sunday": {
			in("UTC", rrule("RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU;BYHOUR=2", hour)), "2088-03-01T00:00Z",
			[]string{"2128-02-29T02:00Z..2128-02-29T03:00Z"},
		},
		"C037: holidays as local dates, both included": {
			window.Spec{
				TimeZone: "Europe/Berlin", Windows: []window.Recurrence{cron("0 22 * * *", 4*hour)},
				Exclusions: []window.Exclusion{{From: "2026-12-24", To: "2026-12-26"}},
			},
			"2026-12-23T00:00Z",
			[]string{"2026-12-23T21:00Z..2026-12-23T23:00Z", "2026-12-26T23:00Z..2026-12-27T01:00Z", "2026-12-27T21:00Z..2026-12-28T01:00Z"},
		},
		"an opening that starts at the instant is not after it": {
			in("UTC", cron("0 2 * * *", hour)), "2026-09-16T02:00Z", []string{"2026-09-17T02:00Z..2026-09-17T03:00Z"},
		},
		"a local date that there was not": {
			in("Pacific/Apia", cron("0 2 * * *", hour)), "2011-12-29T00:00Z",
			[]string{"2011-12-29T12:00Z..2011-12-29T13:00Z", "2011-12-30T12:00Z..2011-12-30T13:00Z", "2011-12-31T12:00Z..2011-12-31T13:00Z"},
		},
		"a midnight that the clock skips": {
			in("Africa/Cairo", cron("0 0 * * 5", hour)), "2026-04-23T00:00Z",
			[]string{"2026-04-23T22:00Z..2026-04-23T23:00Z", "2026-04-30T21:00Z..2026-04-30T22:00Z"},
		},
		"a midnight that comes again after a minute": {
			in("America/St_Johns", cron("0 0 * * *", hour/4)), "2010-11-06T12:00Z",
			[]string{"2010-11-07T02:30Z..2010-11-07T02:45Z", "2010-11-08T03:30Z..2010-11-08T03:45Z"},
		},
		"a window that never closes any more": {
			in("UTC", rrule("DTSTART:20261201T000000\nRRULE:FREQ=DAILY", 24*hour)), "2026-09-01T00:00Z",
			[]string{"2026-12-01T00:00Z..never"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, openings(compile(t, tc.spec), tc.from, len(tc.want))); diff != "" {
				t.Errorf("openings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestC030_TheZoneOfTheMachineDoesNotMatter(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	time.Local = chicago
	calendar := compile(t, in("", cron("0 2 * * 6", hour)))
	expect(t, calendar, slices.Concat(open("2026-09-26T02:30Z"), closed("2026-09-26T07:30Z"))...)
	if got := calendar.Location(); got != time.UTC {
		t.Errorf("its zone is %s", got)
	}
}

func TestC019_ClosesAtIsTheEndOfTheUnionInEveryOrder(t *testing.T) {
	long, brief := cron("0 0 * * 6", 12*hour), cron("0 2 * * 6", hour)
	for _, spec := range []window.Spec{in("UTC", long, brief), in("UTC", brief, long)} {
		if got, closes := compile(t, spec).ClosesAt(at("2026-09-26T03:30Z")); !closes || !got.Equal(at("2026-09-26T12:00Z")) {
			t.Errorf("closes at %s, %t", got, closes)
		}
	}
}

func TestC017_ClosesAtDoesNotNeedTheStart(t *testing.T) {
	calendar := compile(t, in("UTC", cron("0 2 * * 6", 4*hour)))
	if got, closes := calendar.ClosesAt(at("2026-09-26T03:15Z")); !closes || !got.Equal(at("2026-09-26T06:00Z")) {
		t.Errorf("closes at %s, %t", got, closes)
	}
	if got, closes := calendar.ClosesAt(at("2026-09-26T06:00Z")); closes {
		t.Errorf("it is closed, and closes at %s", got)
	}
}

func TestC020_ClosesAtSaysHowFarItReaches(t *testing.T) {
	calendar := compile(t, in("UTC", rrule("DTSTART:20260926T050000\nRRULE:FREQ=WEEKLY;BYDAY=SA,SU", 38*hour)))
	if got, closes := calendar.ClosesAt(at("2026-09-28T08:49Z")); !closes || !got.Equal(at("2026-09-28T19:00Z")) {
		t.Errorf("closes at %s, %t", got, closes)
	}
}

// TestC026_WholeDaysAreOneOpening: 24 h daily joins at midnight. On the day of 25 hours the last one is open only if
// something else covers it: elapsed time ends the occurrence of that date at 23:00 local.
func TestC026_WholeDaysAreOneOpening(t *testing.T) {
	calendar := compile(t, in("Europe/Berlin", cron("0 0 * * *", 24*hour)))
	for _, midnight := range []string{"2026-09-16T22:00Z", "2026-03-28T23:00Z", "2026-03-29T22:00Z", "2026-10-24T22:00Z"} {
		for offset := -10 * time.Second; offset <= 10*time.Second; offset += time.Second {
			if probed := at(midnight).Add(offset); !calendar.Open(probed) {
				t.Errorf("closed at %s", probed)
			}
		}
	}
	expect(t, calendar, slices.Concat(
		open("2026-10-25T21:59:59Z"), closed("2026-10-25T22:00Z", "2026-10-25T22:30Z", "2026-10-25T22:59:59Z"), open("2026-10-25T23:00Z"),
	)...)
	if closes, found := calendar.ClosesAt(at("2026-04-01T00:00Z")); !found || !closes.Equal(at("2026-10-25T22:00Z")) {
		t.Errorf("closes at %s, %t", closes, found)
	}
}

func TestC036_FortyMachinesTakeFortyWindows(t *testing.T) {
	set := window.NewSet(compile(t, in("UTC", cron("0 2 1 * *", 15*time.Minute))))
	got, ok := set.Pack(at("2026-09-15T00:00Z"), 8*time.Minute, 40)
	want := window.Packing{Start: at("2026-10-01T02:00Z"), End: at("2030-01-01T02:08Z"), Openings: 40}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("packed %t (-want +got):\n%s", ok, diff)
	}
}

func TestC036_NoMachineBeginsThatCannotFinish(t *testing.T) {
	set := window.NewSet(compile(t, in("UTC", cron("0 2 1 * *", 15*time.Minute))))
	tests := map[string]string{
		"2026-10-01T02:01Z": "2026-10-01T02:01Z",
		"2026-10-01T02:07Z": "2026-10-01T02:07Z",
		"2026-10-01T02:08Z": "2026-11-01T02:00Z",
	}
	for from, want := range tests {
		if got, _, ok := set.Fits(at(from), 8*time.Minute); !ok || !got.Equal(at(want)) {
			t.Errorf("at %s it fits at %s, %t; want %s", from, got, ok, want)
		}
	}
}
