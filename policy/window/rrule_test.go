// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy/window"
)

// TestRRulesRefused: each recurrence that is not accepted, in a calendar of Berlin, with what is said about it.
func TestRRulesRefused(t *testing.T) {
	const start = "DTSTART:20261018T023000\n"
	tests := map[string]struct{ rrule, want string }{
		"nothing but a start": {
			"DTSTART:20261018T023000",
			`"DTSTART:20261018T023000": has no line RRULE` +
				`; accepted: a line such as RRULE:FREQ=WEEKLY;BYDAY=SU;BYHOUR=2`,
		},
		"a zone that is not the calendar's": {
			"DTSTART;TZID=Asia/Tokyo:20261018T023000\nRRULE:FREQ=DAILY",
			`"DTSTART;TZID=Asia/Tokyo:20261018T023000": is in another zone than the calendar, whose timeZone is Europe/Berlin; ` +
				`accepted: no TZID, or timeZone: Asia/Tokyo`,
		},
		"a zone that is none": {
			"DTSTART;TZID=EST:20261018T023000\nRRULE:FREQ=DAILY",
			`"DTSTART;TZID=EST:20261018T023000": is in another zone than the calendar, whose timeZone is Europe/Berlin` +
				`; accepted: no TZID`,
		},
		"a start in UTC": {
			"DTSTART:20261018T003000Z\nRRULE:FREQ=DAILY",
			`"DTSTART:20261018T003000Z": is in UTC, and the calendar in Europe/Berlin` +
				`; accepted: DTSTART:20261018T023000`,
		},
		"a start without a time": {
			"DTSTART;VALUE=DATE:20261018\nRRULE:FREQ=DAILY",
			`"DTSTART;VALUE=DATE:20261018": has no time of day; accepted: DTSTART:20261018T020000`,
		},
		"two starts": {
			start + start + "RRULE:FREQ=DAILY", `"DTSTART:20261018T023000": is a second DTSTART` +
				`; accepted: one DTSTART`,
		},
		"two rules": {
			start + "RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", `"RRULE:FREQ=WEEKLY": is a second rule, or no plain one` +
				`; accepted: one RRULE:FREQ=…; another window for another rule`,
		},
		"an old rule": {
			start + "RRULE:FREQ=DAILY\nEXRULE:FREQ=WEEKLY", `"EXRULE:FREQ=WEEKLY": is obsolete` +
				`; accepted: an exclusion that recurs`,
		},
		"an end": {
			start + "DURATION:PT1H\nRRULE:FREQ=DAILY", `"DURATION:PT1H": is not read here` +
				`; accepted: duration beside rrule`,
		},
		"another line": {
			start + "RRULE:FREQ=DAILY\nSUMMARY:nights", `"SUMMARY:nights": is no line of a recurrence` +
				`; accepted: DTSTART, RRULE, EXDATE and RDATE`,
		},
		"a period": {
			start + "RRULE:FREQ=DAILY\nRDATE;VALUE=PERIOD:20261018T023000/PT1H", `"RDATE;VALUE=PERIOD:20261018T023000/PT1H": has values that are not read here` +
				`; accepted: VALUE=DATE or VALUE=DATE-TIME`,
		},
		"a date more": {
			start + "RRULE:FREQ=DAILY\nRDATE:20261018", `"20261018": has no time of day` +
				`; accepted: 20261018T020000`,
		},
		"a date of no year": {
			"DTSTART:20260229T023000\nRRULE:FREQ=DAILY", `"20260229T023000": is no date or time as RFC 5545 writes them` +
				`; accepted: a local time such as 20261018T023000`,
		},
		"an instant with a zone": {
			start + "RRULE:FREQ=DAILY\nEXDATE;TZID=Europe/Berlin:20261018T003000Z",
			`"20261018T003000Z": is not what the parameters before it say` +
				`; accepted: a local time such as 20261018T023000`,
		},
		"a year far away": {
			"DTSTART:22000101T023000\nRRULE:FREQ=DAILY", `"22000101T023000": is too far away` +
				`; accepted: a year from 1900 to 2199`,
		},
		"hourly": {
			start + "RRULE:FREQ=HOURLY;INTERVAL=6", `"FREQ=HOURLY": counts elapsed time, not times of a day` +
				`; accepted: FREQ=DAILY with BYHOUR and BYMINUTE`,
		},
		"no such frequency": {
			start + "RRULE:FREQ=FORTNIGHTLY", `"FREQ=FORTNIGHTLY": is no frequency` +
				`; accepted: DAILY, WEEKLY, MONTHLY or YEARLY`,
		},
		"no frequency": {
			start + "RRULE:BYDAY=SU", `"BYDAY=SU": has no FREQ` +
				`; accepted: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY`,
		},
		"a part twice": {
			start + "RRULE:FREQ=DAILY;FREQ=WEEKLY", `"FREQ=WEEKLY": is given twice` +
				`; accepted: one FREQ`,
		},
		"an interval of zero": {
			start + "RRULE:FREQ=DAILY;INTERVAL=0", `"INTERVAL=0": is out of range` +
				`; accepted: 1-99999`,
		},
		"an hour of 24": {
			start + "RRULE:FREQ=DAILY;BYHOUR=24", `"BYHOUR=24": holds a number that is out of range, or none` +
				`; accepted: 0 to 23`,
		},
		"day 0": {
			start + "RRULE:FREQ=MONTHLY;BYMONTHDAY=0", `"BYMONTHDAY=0": holds a number that is out of range, or none` +
				`; accepted: 1 to 31, or -31 to -1 from the end`,
		},
		"a weekday of fable": {
			start + "RRULE:FREQ=WEEKLY;BYDAY=SUN", `"BYDAY=SUN": holds what is no weekday` +
				`; accepted: SU, MO, TU, WE, TH, FR and SA, with a number such as 1SU or -1SU in a month or year`,
		},
		"a first Sunday of a week": {
			start + "RRULE:FREQ=WEEKLY;BYDAY=1SU", `"FREQ=WEEKLY;BYDAY=1SU": has BYDAY=1SU, whose number does not go with FREQ=WEEKLY or BYWEEKNO` +
				`; accepted: it with FREQ=MONTHLY`,
		},
		"a sixth Sunday": {
			start + "RRULE:FREQ=MONTHLY;BYDAY=6SU", `"FREQ=MONTHLY;BYDAY=6SU": has BYDAY=6SU, and no month has so many weeks` +
				`; accepted: 1 to 5, or -5 to -1`,
		},
		"a week of a month": {
			start + "RRULE:FREQ=MONTHLY;BYWEEKNO=3", `"FREQ=MONTHLY;BYWEEKNO=3": has BYWEEKNO or BYYEARDAY, which do not go with FREQ=MONTHLY` +
				`; accepted: it with FREQ=YEARLY`,
		},
		"a day of the month of a week": {
			start + "RRULE:FREQ=WEEKLY;BYMONTHDAY=3", `"FREQ=WEEKLY;BYMONTHDAY=3": has BYMONTHDAY, which does not go with FREQ=WEEKLY` +
				`; accepted: it with FREQ=MONTHLY`,
		},
		"a position of nothing": {
			start + "RRULE:FREQ=MONTHLY;BYSETPOS=1", `"FREQ=MONTHLY;BYSETPOS=1": has BYSETPOS and nothing to pick from` +
				`; accepted: BYSETPOS beside BYDAY or another`,
		},
		"UNTIL and COUNT": {
			start + "RRULE:FREQ=DAILY;COUNT=3;UNTIL=20261224", `"FREQ=DAILY;COUNT=3;UNTIL=20261224": has both UNTIL and COUNT` +
				`; accepted: one of UNTIL and COUNT`,
		},
		"an end before the start": {
			start + "RRULE:FREQ=DAILY;UNTIL=20261017", `"DTSTART:20261018T023000\nRRULE:FREQ=DAILY;UNTIL=20261017": never occurs`,
		},
		"all excepted": {
			start + "RRULE:FREQ=DAILY;COUNT=1\nEXDATE:20261018T023000", `"DTSTART:20261018T023000\nRRULE:FREQ=DAILY;COUNT=1\nEXDATE:20261018T023000": never occurs`,
		},
		"no time of day": {
			"RRULE:FREQ=DAILY", `"FREQ=DAILY": has no time of day` +
				`; accepted: a line such as DTSTART:20261018T023000 before it, or BYHOUR`,
		},
		"no day": {
			"RRULE:FREQ=WEEKLY;BYHOUR=2", `"FREQ=WEEKLY;BYHOUR=2": does not say on which day` +
				`; accepted: a line such as DTSTART:20261018T023000 before it, or BYDAY`,
		},
		"nothing to count from": {
			"RRULE:FREQ=DAILY;BYHOUR=2;INTERVAL=2", `"FREQ=DAILY;BYHOUR=2;INTERVAL=2": has INTERVAL or COUNT, and nothing to count from` +
				`; accepted: a line such as DTSTART:20261018T023000 before it`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := refusal(t, in("Europe/Berlin", rrule(tc.rrule, hour))).Error()
			if diff := cmp.Diff("windows[0].rrule: "+tc.want, got); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRRules lists the openings of recurrences in Berlin, by their starts there.
func TestRRules(t *testing.T) {
	const start = "DTSTART;TZID=Europe/Berlin:20260105T220000\n" // a Monday
	tests := map[string]struct {
		rrule string
		want  []string
	}{
		"what the rule leaves open is the start's": {start + "RRULE:FREQ=WEEKLY", []string{"01-05 22:00", "01-12 22:00", "01-19 22:00"}},
		"a rule may do without a start":            {"FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=20;BYMINUTE=15", []string{"01-30 20:15", "02-27 20:15", "03-27 20:15"}},
		"every other week begins on Monday": {
			start + "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO", []string{"01-05 22:00", "01-11 22:00", "01-19 22:00", "01-25 22:00"},
		},
		"or on Sunday": {
			start + "RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,MO", []string{"01-05 22:00", "01-18 22:00", "01-19 22:00", "02-01 22:00"},
		},
		"the last workday of a month": {
			start + "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", []string{"01-30 22:00", "02-27 22:00", "03-31 22:00"},
		},
		"the first and last time of two weeks": {
			start + "RRULE:FREQ=WEEKLY;BYDAY=TU,WE;BYHOUR=1,3,5;BYSETPOS=1,-1", []string{"01-06 01:00", "01-07 05:00", "01-13 01:00", "01-14 05:00"},
		},
		"a count counts excepted dates": {
			start + "RRULE:FREQ=DAILY;COUNT=3\nEXDATE:20260106T220000", []string{"01-05 22:00", "01-07 22:00"},
		},
		"until a date, included":       {start + "RRULE:FREQ=DAILY;UNTIL=20260106", []string{"01-05 22:00", "01-06 22:00"}},
		"until a local time, included": {start + "RRULE:FREQ=DAILY;UNTIL=20260106T220000", []string{"01-05 22:00", "01-06 22:00"}},
		"until an instant, included":   {start + "RRULE:FREQ=DAILY;UNTIL=20260106T210000Z", []string{"01-05 22:00", "01-06 22:00"}},
		"until an instant before":      {start + "RRULE:FREQ=DAILY;UNTIL=20260106T205959Z", []string{"01-05 22:00"}},
		"dates more, and one less": {
			start + "RRULE:FREQ=YEARLY;COUNT=1\nRDATE:20260110T030000,20260111T030000\nRDATE:20260112T020000Z\nEXDATE:20260111T030000",
			[]string{"01-05 22:00", "01-10 03:00", "01-12 03:00"},
		},
		"an exception by its instant": {
			start + "RRULE:FREQ=DAILY;COUNT=2\nEXDATE:20260106T210000Z", []string{"01-05 22:00"},
		},
		"a month without a 31st has none": {
			"DTSTART:20260131T020000\nRRULE:FREQ=MONTHLY", []string{"01-31 02:00", "03-31 02:00", "05-31 02:00"},
		},
		"the last day but one": {"RRULE:FREQ=MONTHLY;BYMONTHDAY=-2;BYHOUR=2", []string{"01-30 02:00", "02-27 02:00", "03-30 02:00"}},
		"a week of the year, on the start's weekday": {
			start + "RRULE:FREQ=YEARLY;BYWEEKNO=10,20", []string{"03-02 22:00", "05-11 22:00"},
		},
		"a day of the year": {start + "RRULE:FREQ=YEARLY;BYYEARDAY=100,-1", []string{"04-10 22:00", "12-31 22:00"}},
		"a Sunday of the year": {
			start + "RRULE:FREQ=YEARLY;BYDAY=2SU,-1SU", []string{"01-11 22:00", "12-27 22:00"},
		},
		"a Sunday of some months": {
			start + "RRULE:FREQ=YEARLY;BYMONTH=3,4;BYDAY=2SU", []string{"03-08 22:00", "04-12 22:00"},
		},
		"Friday the 13th": {
			start + "RRULE:FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", []string{"02-13 22:00", "03-13 22:00", "11-13 22:00"},
		},
		"in lower case": {"rrule:freq=weekly;byday=we;byhour=4", []string{"01-07 04:00", "01-14 04:00"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			calendar := compile(t, in("Europe/Berlin", rrule(tc.rrule, hour)))
			var got []string
			for _, opening := range window.NewSet(calendar).Openings(at("2026-01-01T00:00Z"), len(tc.want)) {
				got = append(got, opening.Start.In(calendar.Location()).Format("01-02 15:04"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("starts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWarnings: what is accepted, and hardly meant.
func TestWarnings(t *testing.T) {
	const start = "DTSTART:20261018T023000\n" // a Sunday
	excluded := func(spec window.Spec, exclusions ...window.Exclusion) window.Spec {
		spec.Exclusions = exclusions
		return spec
	}
	tests := map[string]struct {
		spec window.Spec
		want string
	}{
		"C020: a duration past the next start": {
			in("UTC", rrule("DTSTART:20260926T050000\nRRULE:FREQ=WEEKLY;BYDAY=SA,SU", 38*hour)),
			`windows[0].duration: "38h": goes on past the next start: from Sat 2026-09-26 05:00 it is 24h to Sun 2026-09-27 05:00, and ` +
				`the windows are one opening; accepted: up to 24h`,
		},
		"C020: from cron": {
			in("UTC", cron("30 3,4 * * *", 2*hour)),
			`windows[0].duration: "2h": goes on past the next start: from Fri 2027-01-01 03:30 it is 1h to Fri 2027-01-01 04:30, and ` +
				`the windows are one opening; accepted: up to 1h`,
		},
		"C026: whole days meet and do not overlap": {in("Europe/Berlin", cron("0 0 * * *", 24*hour)), ""},
		"a start that is no occurrence": {
			in("UTC", rrule(start+"RRULE:FREQ=WEEKLY;BYDAY=MO", hour)),
			`windows[0].rrule: "DTSTART:20261018T023000\nRRULE:FREQ=WEEKLY;BYDAY=MO": begins at Sun 2026-10-18 02:30, which is no ` +
				`occurrence of its rule and does not open anything` +
				`; accepted: a DTSTART that is an occurrence of its rule`,
		},
		"an exception of nothing": {
			in("UTC", rrule(start+"RRULE:FREQ=WEEKLY\nEXDATE:20261025T023001", hour)),
			`windows[0].rrule: "DTSTART:20261018T023000\nRRULE:FREQ=WEEKLY\nEXDATE:20261025T023001": excepts Sun 2026-10-25 02:30:01, ` +
				`at which nothing would begin; accepted: the start of an occurrence`,
		},
		"exclusions that leave nothing": {
			excluded(in("UTC", cron("0 2 * * *", hour)), window.Exclusion{Recurrence: cron("0 1 * * *", 3*hour)}),
			"exclusions: leave no opening of the windows; accepted: exclusions that leave an opening",
		},
		"exclusions that leave something": {
			excluded(in("UTC", rrule("RRULE:FREQ=DAILY;BYHOUR=2;UNTIL=20251231", hour)), window.Exclusion{From: "2026-01-01", To: "2026-12-31"}), "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := window.Compile(tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, warnings.Error()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
