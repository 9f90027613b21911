// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy/window"
)

// refusal compiles a Spec that is wrong, and gives what is said about it.
func refusal(t *testing.T, spec window.Spec) window.Problems {
	t.Helper()
	calendar, _, err := window.Compile(spec)
	if err == nil || calendar != nil {
		t.Fatalf("accepted: %+v", spec)
	}
	var problems window.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("no Problems: %v", err)
	}
	return problems
}

// TestSchedulesRefused: each cron expression that is not accepted, with what is said about it.
func TestSchedulesRefused(t *testing.T) {
	const ranged = ` runs backwards; accepted: `
	tests := map[string]struct{ schedule, want string }{
		"C011: both day fields": {
			"0 2 1-7 * 0", "restricts day of month and day of week, which cron reads as either, not as both" +
				"; accepted: rrule " +
				"RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2;BYMINUTE=0",
		},
		"C011: Friday the 13th": {
			"30 2,4 13 6,7 FRI", "restricts day of month and day of week, which cron reads as either, not as both" +
				"; accepted: rrule " +
				"RRULE:FREQ=MONTHLY;BYMONTH=6,7;BYMONTHDAY=13;BYDAY=FR;BYHOUR=2,4;BYMINUTE=30",
		},
		"C011: both day fields every minute": {
			"* * 8-14 * 1", "restricts day of month and day of week, which cron reads as either, not as both" +
				"; accepted: rrule " +
				"RRULE:FREQ=MONTHLY;BYDAY=2MO;BYHOUR=2",
		},
		"C012: #": {
			"0 2 * * SUN#1", `day of week "SUN#1" counts weekdays of the month, which is not cron's; accepted: rrule ` +
				"RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2;BYMINUTE=0",
		},
		"C012: L as a day": {
			"0 2 L * *", `day of month "L" means the last one, which is not cron's; accepted: rrule ` +
				"RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=2;BYMINUTE=0",
		},
		"C012: L as a weekday": {
			"0 2 * * 5L", `day of week "5L" means the last one, which is not cron's; accepted: rrule ` +
				"RRULE:FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=2;BYMINUTE=0",
		},
		"C012: W": {
			"0 2 15W * *", `day of month "15W" means the nearest weekday, which is not cron's` +
				`; accepted: an rrule with BYSETPOS`,
		},
		"C012: ?": {"0 2 ? * 0", `day of month "?" is another dialect's word for *; accepted: *`},
		"C012: H": {"H 2 * * 0", `minute "H" means a time chosen at random, which is not cron's; accepted: 0-59`},
		"C012: @weekly": {
			"@weekly", "is a macro, which hides the time of day; accepted: 0 0 * * 0",
		},
		"C012: six fields": {
			"0 0 2 * * 0", "has 6 fields, not five: minute, hour, day of month, month and day of week" +
				"; accepted: 0 2 * * 0 (there is " +
				"no field for seconds)",
		},
		"C012: four fields": {
			"2 * * 0", "has 4 fields, not five: minute, hour, day of month, month and day of week" +
				"; accepted: 0 2 * * 0",
		},
		"C012: a zone": {
			"TZ=EST 0 2 * * 0", "names a time zone, which belongs in timeZone" +
				"; accepted: timeZone beside it",
		},
		"C012: a zone for robots": {
			"CRON_TZ=EST 0 2 * * 0", "names a time zone, which belongs in timeZone" +
				"; accepted: timeZone beside it",
		},
		"C024: an hour of 24": {"* 7-24 * * 0-6", `hour "24" is out of range; accepted: 0-23`},
		"C025: a wrapping weekend": {
			"0 0 * * sat-sun", `day of week "sat-sun"` + ranged + `6,0`,
		},
		"C025: to the Sunday after": {
			"30 10 * * 1-7", `day of week "1-7" ends a range with 7, which stands for Sunday only alone` +
				`; accepted: * (every day), or ` +
				`a list such as 1-6,0`,
		},
		"C025: the end of the week": {
			"0 0 * * 5-7", `day of week "5-7" ends a range with 7, which stands for Sunday only alone; accepted: 5-6,0`,
		},
		"C025: from the Sunday after": {
			"0 0 * * 7-2", `day of week "7-2" begins a range with 7, which stands for Sunday only alone; accepted: 0-2`,
		},
		"C025: over New Year": {"0 0 1 NOV-feb *", `month "NOV-feb"` + ranged + `11-12,1-2`},
		"C025: over midnight": {"0 22-4 * * *", `hour "22-4"` + ranged + `22-23,0-4`},
		"nothing":             {" ", "is empty; accepted: 0 2 * * 0"},
		"a line break": {
			"0 2 * * 0\n0 3 * * 0", "holds a line break or another character that is none of cron's" +
				"; accepted: 0 2 * * 0",
		},
		"an empty item":      {"0,,5 2 * * 0", `minute "" is an empty item of a list; accepted: 0-59`},
		"a sign":             {"0 +2 * * 0", `hour "+2" is not a number; accepted: 0-23`},
		"a word":             {"0 2 * * caturday", `day of week "caturday" is not a number; accepted: 0-6 or SUN-SAT`},
		"a step of no range": {"5/15 2 * * *", `minute "5/15" has a step without a range; accepted: 5-59/15`},
		"a step of zero": {
			"*/0 2 * * *", `minute "*/0" has a step that leads nowhere` +
				`; accepted: a step from 1 to 59`,
		},
		"a step too far": {
			"*/90 2 * * *", `minute "*/90" has a step that leads nowhere` +
				`; accepted: a step from 1 to 59`,
		},
		"day 0":             {"0 2 0 * *", `day of month "0" is out of range; accepted: 1-31`},
		"month 13":          {"0 2 1 13 *", `month "13" is out of range; accepted: 1-12 or JAN-DEC`},
		"weekday 8":         {"0 2 * * 8", `day of week "8" is out of range; accepted: 0-6 or SUN-SAT`},
		"a date of no year": {"0 2 30 2 *", "names a date that no year has"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ok := cron("0 2 * * *", hour)
			got := refusal(t, in("UTC", ok, ok, cron(tc.schedule, hour)))
			want := window.Problems{{Field: "windows[2].schedule", Text: tc.schedule, Message: tc.want}}
			want[0].Message, want[0].Accepted, _ = strings.Cut(tc.want, "; accepted: ")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestC025_TheMessageNamesWindowTextAndAnAcceptedForm(t *testing.T) {
	ok := cron("0 2 * * *", hour)
	const want = `windows[2].schedule: "0 0 * * sat-sun": day of week "sat-sun" runs backwards; accepted: 6,0; ` +
		`windows[3].schedule: "30 10 * * 1-7": day of week "1-7" ends a range with 7, which stands for Sunday only alone; ` +
		`accepted: * (every day), or a list such as 1-6,0`
	got := refusal(t, in("UTC", ok, ok, cron("0 0 * * sat-sun", hour), cron("30 10 * * 1-7", hour))).Error()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

// TestSchedulesAccepted: expressions that are unusual and clear.
func TestSchedulesAccepted(t *testing.T) {
	for schedule, same := range map[string]string{
		"0 2 * * 7":         "0 2 * * 0",
		"0 2 * * 6,7":       "0 2 * * 0,6",
		"0 2 * * Mon-FRI":   "0 2 * * 1-5",
		"0 2 1 jan-Mar *":   "0 2 1 1,2,3 *",
		"  0\t2  *  * SUN ": "0 2 * * 0",
		"*/30 2 * * *":      "0,30 2 * * *",
		"10-50/20 2 * * *":  "10,30,50 2 * * *",
		"00 02 * * *":       "0 2 * * *",
		"0 2 * * 0-6":       "0 2 * * *",
		"0 2 * JUL *":       "0 2 * 7 *",
	} {
		t.Run(schedule, func(t *testing.T) {
			want := openings(compile(t, in("Europe/Berlin", cron(same, 15*time.Minute))), "2026-01-01T00:00Z", 50)
			got := openings(compile(t, in("Europe/Berlin", cron(schedule, 15*time.Minute))), "2026-01-01T00:00Z", 50)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("openings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestZonesRefused: no text but the name of a region reaches the loader.
func TestZonesRefused(t *testing.T) {
	const (
		region = "is not the name of a region; names are case-sensitive"
		fixed  = "is a fixed offset or an abbreviation, which does not follow the clock of a place"
		local  = "the zone of whatever machine the hub runs on is no zone to plan with"
	)
	for name, tc := range map[string]struct{ zone, want string }{
		"C030: Local":           {"Local", local},
		"C030: local":           {"local", local},
		"C032: EST":             {"EST", fixed},
		"C032: GMT+2":           {"GMT+2", fixed},
		"C032: UTC+02:00":       {"UTC+02:00", fixed},
		"C032: Etc/GMT-2":       {"Etc/GMT-2", fixed},
		"C032: EST5EDT":         {"EST5EDT", fixed},
		"C032: +02:00":          {"+02:00", fixed},
		"C146: a schedule":      {"UTC 0 2 * * *", region},
		"C146: a path up":       {"../../etc/passwd", region},
		"C146: a path inside":   {"Europe/../../etc/passwd", region},
		"C146: a path from /":   {"/etc/localtime", region},
		"C146: lower case":      {"europe/berlin", region},
		"C146: a line break":    {"Europe/Berlin\n", region},
		"C146: a blank":         {" Europe/Berlin", region},
		"C146: leap seconds":    {"right/Europe/Berlin", region},
		"C146: utc":             {"utc", region},
		"C146: a country":       {"Japan", region},
		"C146: an empty half":   {"Europe/", region},
		"C146: a backslash":     {`Europe\Berlin`, region},
		"C146: another planet":  {"Mars/Phobos", region},
		"C146: a city of fable": {"Europe/Atlantis", "is not in the zone data (" + window.ZoneData() + "); names are case-sensitive"},
	} {
		t.Run(name, func(t *testing.T) {
			want := window.Problems{{Field: "timeZone", Text: tc.zone, Message: tc.want, Accepted: "a region such as Europe/Berlin, or UTC"}}
			if diff := cmp.Diff(want, refusal(t, in(tc.zone, cron("0 2 * * *", hour)))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestC146_ALongZoneIsCutInTheMessage(t *testing.T) {
	got := refusal(t, in(strings.Repeat("Europe/", 1500), cron("0 2 * * *", hour))).Error()
	if len(got) > 400 || !strings.Contains(got, "…") {
		t.Errorf("a message of %d bytes: %.400s", len(got), got)
	}
}

func TestC035_ADurationIsNeededAndBounded(t *testing.T) {
	const accepted = "; accepted: from 15m to 744h"
	for text, want := range map[string]string{
		"0s":     `windows[0].duration: is missing: a schedule says when a window begins, not how long it lasts` + accepted,
		"-1h":    `windows[0].duration: "-1h": is negative` + accepted,
		"30s":    `windows[0].duration: "30s": is too short to do anything in` + accepted,
		"14m59s": `windows[0].duration: "14m59s": is too short to do anything in` + accepted,
		"10000h": `windows[0].duration: "10000h": is too long` + accepted,
	} {
		t.Run("C035: "+text, func(t *testing.T) {
			duration, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, refusal(t, in("UTC", cron("0 2 * * *", duration))).Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
	compile(t, in("UTC", cron("0 2 * * *", window.Shortest), cron("0 2 * * *", window.Longest)))
}

// TestEmptyRefused: nothing that is left out means always.
func TestEmptyRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		spec window.Spec
		want string
	}{
		"C029: no windows": {
			in("UTC"), "windows: is empty, and a calendar without a window would never open" +
				"; accepted: at least one window",
		},
		"C028: windows that are an empty list": {
			window.Spec{Windows: []window.Recurrence{}},
			"windows: is empty, and a calendar without a window would never open; accepted: at least one window",
		},
		"C028: an rrule without its days": {
			in("UTC", rrule("RRULE:FREQ=WEEKLY;BYDAY=;BYHOUR=2", hour)),
			`windows[0].rrule: "BYDAY=": is no part of a rule; accepted: NAME=value, joined by semicolons`,
		},
		"C029: a window without a schedule": {
			in("UTC", cron("", hour)), "windows[0]: has neither schedule nor rrule" +
				"; accepted: one of schedule and rrule",
		},
		"a window with both": {
			in("UTC", window.Recurrence{Schedule: "0 2 * * *", RRule: "FREQ=DAILY;BYHOUR=2", Duration: hour}),
			"windows[0]: has both schedule and rrule; accepted: one of schedule and rrule",
		},
		"an exclusion that says nothing": {
			window.Spec{Windows: []window.Recurrence{cron("0 2 * * *", hour)}, Exclusions: []window.Exclusion{{}}},
			"exclusions[0]: says not when; accepted: schedule or rrule with duration, or from and to",
		},
		"an exclusion that says both": {
			window.Spec{Windows: []window.Recurrence{cron("0 2 * * *", hour)}, Exclusions: []window.Exclusion{
				{Recurrence: cron("0 2 * * *", hour), From: "2026-12-24", To: "2026-12-24"},
			}},
			"exclusions[0]: both recurs and does not; accepted: schedule or rrule with duration, or from and to",
		},
		"all that is wrong, not the first": {
			window.Spec{
				TimeZone: "EST", Windows: []window.Recurrence{cron("x 2 * * *", 0), cron("0 2 * * *", hour)},
				Exclusions: []window.Exclusion{{From: "4", To: "24:00"}},
			},
			`timeZone: "EST": is a fixed offset or an abbreviation, which does not follow the clock of a place` +
				`; accepted: a region ` +
				`such as Europe/Berlin, or UTC; windows[0].schedule: "x 2 * * *": minute "x" is not a number` +
				`; accepted: 0-59; ` +
				`windows[0].duration: is missing: a schedule says when a window begins, not how long it lasts` +
				`; accepted: from 15m to ` +
				`744h; exclusions[0].from: "4": is neither an instant nor a date; accepted: an instant such as ` +
				`2026-12-24T18:00:00Z, or a date such as 2026-12-24; exclusions[0].to: "24:00": is neither an instant nor a date; ` +
				`accepted: an instant such as 2026-12-24T18:00:00Z, or a date such as 2026-12-24`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, refusal(t, tc.spec).Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}
