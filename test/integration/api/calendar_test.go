// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/policy/window"
)

// Each entry changes the least calendar. The answer names the field, repeats the text, and says what is accepted.
var _ = DescribeTable("a MaintenanceCalendar is refused with the field and an accepted form",
	func(ctx SpecContext, change, field, words string) {
		err := try(ctx, strict, object("MaintenanceCalendar", leastCalendar, change))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(And(ContainSubstring(field+": "), ContainSubstring(words))))
	},

	Entry("C028: windows left out", `windows: null`, "spec.windows",
		"must say when it is open, no window means neither never nor always; accepted: [{schedule: 0 2 * * 6, duration: 4h}]"),
	Entry("C028: an empty list of windows", `windows: []`, "spec.windows", "no window means neither never nor always; accepted: "),
	Entry("C028: days, which there are none of", `windows: [{schedule: 0 2 * * 6, duration: 4h, days: []}]`, "spec.windows[]",
		`unknown field "days"; accepted: duration, rrule, schedule`),
	Entry("C028: days that are null", `windows: [{schedule: 0 2 * * 6, duration: 4h, days: null}]`, "spec.windows[]",
		`unknown field "days"; accepted: duration, rrule, schedule`),
	Entry("a window of nothing", `windows: [{duration: 4h}]`, "spec.windows[0]",
		"exactly one of schedule and rrule is needed; accepted: {schedule: 0 2 * * 6, duration: 4h}"),
	Entry("a window of two recurrences", `windows: [{schedule: 0 2 * * 6, rrule: "RRULE:FREQ=DAILY;BYHOUR=2", duration: 4h}]`,
		"spec.windows[0]", "exactly one of schedule and rrule is needed"),
	Entry("more windows than anybody reads",
		`windows: [`+strings.Repeat(`{schedule: 0 2 * * 6, duration: 4h},`, 21)+`]`, "spec.windows", "must have at most 20 items"),

	Entry("C035: no duration", `windows: [{schedule: 0 2 * * 6}]`, "spec.windows[0].duration",
		"must say how long it is open; accepted: 4h"),
	Entry("C035: a duration of zero", window1("0 2 * * 6", "0s"), "spec.windows[0].duration",
		"must be a duration of 15m to 744h; accepted: 4h, 90m"),
	Entry("C035: a duration below zero", window1("0 2 * * 6", "-1h"), "spec.windows[0].duration", "must be a duration of 15m to 744h"),
	Entry("C035: a duration below the floor", window1("0 2 * * 6", "30s"), "spec.windows[0].duration", "must be a duration of 15m to 744h"),
	Entry("C035: a duration above the ceiling", window1("0 2 * * 6", "10000h"), "spec.windows[0].duration", "must be a duration of 15m to 744h"),
	Entry("a duration in words", window1("0 2 * * 6", "4 hours"), "spec.windows[0].duration", "must be a duration of 15m to 744h"),

	Entry("C011: both day fields", window1("0 2 1-7 * 0", "2h"), "spec.windows[0].schedule",
		"restricts both day fields, which cron reads as either of them; accepted: one of them and * in the other, or rrule: "+
			"RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2 for the first Sunday"),
	Entry("C011: both day fields, one with a step", window1("0 2 */2 * 1-5", "2h"), "spec.windows[0].schedule", "restricts both day fields"),
	Entry("C012: SUN#1", window1("0 2 * * SUN#1", "2h"), "spec.windows[0].schedule",
		"day of the week takes 0 to 6 or sun to sat, 7 for Sunday outside a range, and no # or L; accepted: 0, mon-fri, 1-6,0 for 1-7, "+
			"or rrule: RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2 for the first Sunday"),
	Entry("C012: L", window1("0 2 L * *", "2h"), "spec.windows[0].schedule",
		"day of the month takes 1 to 31, and no L or W; accepted: *, 1, 1-7, or rrule: RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=2 for the last day"),
	Entry("C012: a macro", window1("@weekly", "2h"), "spec.windows[0].schedule",
		"macros are not taken; accepted: 0 0 * * 0 for @weekly"),
	Entry("C012: six fields", window1("0 0 2 * * 0", "2h"), "spec.windows[0].schedule",
		"must have five fields: minute, hour, day, month and weekday; accepted: 0 2 * * 6"),
	Entry("C012: a zone in the schedule", window1("TZ=EST 0 2 * * 0", "2h"), "spec.windows[0].schedule",
		"the time zone stands in spec.timeZone; accepted: 0 2 * * 6"),
	Entry("C012: a zone in the schedule, as cron's own", window1("CRON_TZ=UTC 0 2 * * 0", "2h"), "spec.windows[0].schedule",
		"the time zone stands in spec.timeZone"),
	Entry("C024: an hour of 24", window1("* 7-24 * * 0-6", "2h"), "spec.windows[0].schedule",
		"hour takes 0 to 23; accepted: 2, 22,23, 0-5"),
	Entry("a minute of 60", window1("60 2 * * *", "2h"), "spec.windows[0].schedule", "minute takes 0 to 59; accepted: 0, 0,30, */15"),
	Entry("a 32nd", window1("0 2 32 * *", "2h"), "spec.windows[0].schedule", "day of the month takes 1 to 31"),
	Entry("a month that is none", window1("0 2 * sept *", "2h"), "spec.windows[0].schedule",
		"month takes 1 to 12 or jan to dec; accepted: *, 6, jan-mar"),
	Entry("C025: a range of days that wraps", `
windows:
- {schedule: 0 2 * * 6, duration: 4h}
- {schedule: 0 2 * * 0, duration: 4h}
- {schedule: 0 0 * * sat-sun, duration: 4h}`, "spec.windows[2].schedule",
		`Invalid value: "0 0 * * sat-sun": schedule: a range of days or months runs backwards; accepted: sat,sun for sat-sun, nov,dec,jan for nov-jan`),
	Entry("C025: a range to the Sunday after", `
windows:
- {schedule: 0 2 * * 6, duration: 4h}
- {schedule: 0 2 * * 0, duration: 4h}
- {schedule: 30 10 * * 1-7, duration: 4h}`, "spec.windows[2].schedule",
		`Invalid value: "30 10 * * 1-7": schedule: day of the week takes 0 to 6 or sun to sat, 7 for Sunday outside a range, and no # or L; `+
			`accepted: 0, mon-fri, 1-6,0 for 1-7`),
	Entry("C025: a range of hours over midnight", window1("0 22-5 * * *", "1h"), "spec.windows[0].schedule",
		"a range runs backwards; accepted: 22,23,0-5 for 22-5"),
	Entry("an rrule that is none", `windows: [{rrule: every Sunday, duration: 2h}]`, "spec.windows[0].rrule",
		"must be a recurrence as RFC 5545 writes it, daily or rarer; accepted: RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2"),
	Entry("an rrule of hours", `windows: [{rrule: "RRULE:FREQ=HOURLY", duration: 2h}]`, "spec.windows[0].rrule", "daily or rarer"),

	Entry("C030: an empty zone", `timeZone: ""`, "spec.timeZone",
		"must be UTC or the name of a region in the IANA time zone database, since fixed offsets and abbreviations know no summer time; "+
			"accepted: UTC, Europe/Berlin, America/New_York"),
	Entry("C030: Local", `timeZone: Local`, "spec.timeZone", "accepted: UTC, Europe/Berlin, America/New_York"),
	Entry("C030: local", `timeZone: local`, "spec.timeZone", "accepted: UTC, Europe/Berlin, America/New_York"),
	Entry("C032: EST", `timeZone: EST`, "spec.timeZone", "since fixed offsets and abbreviations know no summer time"),
	Entry("C032: GMT+2", `timeZone: GMT+2`, "spec.timeZone", "since fixed offsets and abbreviations know no summer time"),
	Entry("C032: UTC+02:00", `timeZone: UTC+02:00`, "spec.timeZone", "since fixed offsets and abbreviations know no summer time"),
	Entry("C032: Etc/GMT-2", `timeZone: Etc/GMT-2`, "spec.timeZone", "since fixed offsets and abbreviations know no summer time"),
	Entry("a zone that is a path", `timeZone: /etc/passwd`, "spec.timeZone", "must be UTC or the name of a region"),
	Entry("a zone that climbs", `timeZone: Europe/../Local`, "spec.timeZone", "must be UTC or the name of a region"),
	Entry("a zone with a blank", `timeZone: "Europe/Berlin "`, "spec.timeZone", "must be UTC or the name of a region"),
	Entry("a zone with a line break", `timeZone: "Europe/Berlin\n"`, "spec.timeZone", "must be UTC or the name of a region"),
	Entry("a zone and where to take it from", `{timeZone: UTC, timeZoneFrom: Cluster}`, "spec.timeZone",
		"contradicts timeZoneFrom; accepted: one of them, or neither for UTC"),
	Entry("a zone from somewhere else", `timeZoneFrom: Node`, "spec.timeZoneFrom", `supported values: "Cluster"`),

	Entry("an exclusion of nothing", `exclusions: [{reason: holidays}]`, "spec.exclusions[0]",
		"exactly one of schedule, rrule, and from with to is needed; accepted: {from: 2026-12-24, to: 2026-12-26}"),
	Entry("an exclusion that recurs and does not",
		`exclusions: [{schedule: 0 0 1 * *, duration: 24h, from: 2026-12-24, to: 2026-12-26}]`, "spec.exclusions[0]",
		"exactly one of schedule, rrule, and from with to is needed"),
	Entry("an exclusion without an end", `exclusions: [{from: 2026-12-24}]`, "spec.exclusions[0]", "from and to belong together"),
	Entry("an exclusion without a beginning", `exclusions: [{to: 2026-12-24}]`, "spec.exclusions[0]", "from and to belong together"),
	Entry("an exclusion that recurs without a duration", `exclusions: [{schedule: 0 0 1 * *}]`, "spec.exclusions[0].duration",
		"stands beside schedule and rrule, and only there; accepted: {schedule: 0 0 1 * *, duration: 24h}"),
	Entry("an exclusion of dates with a duration", `exclusions: [{from: 2026-12-24, to: 2026-12-26, duration: 24h}]`,
		"spec.exclusions[0].duration", "stands beside schedule and rrule, and only there"),
	Entry("C027: 12-hour text", `exclusions: [{from: "04:00pm", to: "9:04pm"}]`, "spec.exclusions[0].from",
		"from and to must each be a date or an instant as RFC 3339 writes it; accepted: 2026-12-24, 2026-12-24T18:00:00+01:00"),
	Entry("C027: a bare hour", `exclusions: [{from: "4", to: 2026-12-26}]`, "spec.exclusions[0].from", "must each be a date or an instant"),
	Entry("C027: 24:00", `exclusions: [{from: "2026-12-24T24:00:00Z", to: "2026-12-26T00:00:00Z"}]`, "spec.exclusions[0].from",
		"must each be a date or an instant"),
	Entry("C027: a time without seconds", `exclusions: [{from: "2026-12-24T04:00Z", to: "2026-12-26T00:00:00Z"}]`,
		"spec.exclusions[0].from", "must each be a date or an instant"),
	Entry("C027: a time without a zone", `exclusions: [{from: "2026-12-24T04:00:00", to: "2026-12-26T00:00:00Z"}]`,
		"spec.exclusions[0].from", "must each be a date or an instant"),
	Entry("C027: a blank before it", `exclusions: [{from: " 2026-12-24", to: 2026-12-26}]`, "spec.exclusions[0].from",
		"must each be a date or an instant"),
	Entry("C027: a date as others write it", `exclusions: [{from: 24.12.2026, to: 26.12.2026}]`, "spec.exclusions[0].from",
		"must each be a date or an instant"),
	Entry("C027: a date that there is not", `exclusions: [{from: 2026-02-30, to: 2026-03-02}]`, "spec.exclusions[0].from",
		"must each be a date or an instant"),
	Entry("a date and an instant", `exclusions: [{from: 2026-12-24, to: "2026-12-26T00:00:00Z"}]`, "spec.exclusions[0].to",
		"from and to must be of one form; accepted: two dates, or two instants"),
	Entry("dates that run backwards", `exclusions: [{from: 2026-12-26, to: 2026-12-24}]`, "spec.exclusions[0].to",
		"is before from; accepted: the same date as from, which is one whole day, or a later one"),
	Entry("instants that run backwards, in their zones",
		`exclusions: [{from: "2026-12-24T18:00:00+01:00", to: "2026-12-24T17:00:00Z"}]`, "spec.exclusions[0].to",
		"is not after from; accepted: a later instant"),
	Entry("C025: a wrapping range in an exclusion", `exclusions: [{schedule: 0 0 * * fri-mon, duration: 24h}]`,
		"spec.exclusions[0].schedule", "a range of days or months runs backwards"),
)

var _ = DescribeTable("a MaintenanceCalendar is accepted", func(ctx SpecContext, change string) {
	Expect(try(ctx, strict, object("MaintenanceCalendar", leastCalendar, change))).To(Succeed())
},
	Entry("C030: without a zone, which is UTC", ``),
	Entry("C030: of UTC, said", `timeZone: UTC`),
	Entry("C032: of a region", `timeZone: America/New_York`),
	Entry("of a region in three parts", `timeZone: America/Argentina/Buenos_Aires`),
	Entry("of each cluster's zone", `timeZoneFrom: Cluster`),
	Entry("C012: with 7 for Sunday", window1("0 2 * * 7", "2h")),
	Entry("C011: with the first Sunday as an rrule", `windows: [{rrule: "RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2", duration: 2h}]`),
	Entry("with an rrule of several lines",
		`windows: [{rrule: "DTSTART;TZID=Europe/Berlin:20261018T023000\nRRULE:FREQ=WEEKLY;BYDAY=SU\nEXDATE:20261101T023000", duration: 2h}]`),
	Entry("C035: from the floor", window1("0 2 * * 6", "15m")),
	Entry("C035: to the ceiling", window1("0 2 * * 6", "744h")),
	Entry("with one whole day off", `exclusions: [{from: 2026-12-24, to: 2026-12-24}]`),
	Entry("with hours off", `exclusions: [{from: "2026-12-24T18:00:00+01:00", to: "2026-12-24T17:00:01Z", reason: handover}]`),
	Entry("that binds clusters by itself", `clusterSelector: {matchLabels: {tier: prod}}`),
)

var _ = It("C029: the last window of a calendar cannot be taken out", func(ctx SpecContext) {
	calendar := object("MaintenanceCalendar", leastCalendar, ``)
	calendar.SetName("last-window")
	create(ctx, calendar)
	for _, windows := range []string{`[]`, `null`} {
		err := strict.Patch(ctx, calendar.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"windows":`+windows+`}}`)))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%s: %v", windows, err)
		Expect(err).To(MatchError(ContainSubstring("spec.windows: must say when it is open")))
	}
})

// window1 is a change to one window.
func window1(schedule, duration string) string {
	return `windows: [{schedule: "` + schedule + `", duration: ` + duration + `}]`
}

// What the API server takes and the hub does not would sit there, accepted and shut.
var _ = Describe("the API server and the hub agree", func() {
	DescribeTable("on schedules", func(ctx SpecContext, schedules ...string) {
		for _, schedule := range schedules {
			calendar := made("MaintenanceCalendar", map[string]any{
				"windows": []any{map[string]any{"schedule": schedule, "duration": "1h"}},
			})
			agree(ctx, calendar, window.Spec{Windows: []window.Recurrence{{Schedule: schedule, Duration: time.Hour}}}, schedule)
		}
	},
		Entry("of numbers and stars", "* * * * *", "0 2 * * 6", "00 02 01 01 *", "59 23 31 12 *", "0 24 * * *", "60 0 * * *", "0 0 0 * *",
			"0 0 32 * *", "0 0 * 0 *", "0 0 * 13 *", "0 0 * * 7", "0 0 * * 8", "-1 0 * * *", "0 0 1.5 * *", "0 123 * * *"),
		Entry("of lists", "0,30 2 * * *", "0 2,3,4 * * 1,3", "0, 2 * * *", ",0 2 * * *", "0,,1 2 * * *", "0 2 * * sat,0", "0 2 * * 0,7"),
		Entry("of ranges", "0 2-4 * * *", "0 2-2 * * *", "0 4-2 * * *", "0 2 * * mon-fri", "0 2 * * fri-mon", "0 2 * * 5-7", "0 2 * * 0-7",
			"0 2 * * 1-7", "0 2 * * 7-1", "0 2- * * *", "0 -2 * * *", "0 1-2-3 * * *", "0 2 9-10 * *", "0 2 10-9 * *", "0 2 * feb-jan *"),
		Entry("of steps", "*/15 2 * * *", "0-30/10 2 * * *", "5/15 2 * * *", "*/0 2 * * *", "*/ 2 * * *", "*/-1 2 * * *", "0 */2 * * *"),
		Entry("of names", "0 2 * jan-mar *", "0 2 * JAN *", "0 2 * sept *", "0 2 * * Monday", "0 2 * * Mon", "jan 2 * * *", "0 2 * * jan"),
		Entry("of both day fields", "0 2 1 * 1", "0 2 */2 * 1", "0 2 1 * */2", "0 2 1-7 * sun", "0 2 1 * *", "0 2 * * 1"),
		Entry("of other dialects", "", " ", "@daily", "@every 1h", "0 0 2 * * 0", "0 2 * *", "0 2 ? * 1", "0 2 L * *", "0 2 1W * *",
			"0 2 * * 5L", "0 2 * * 1#2", "H 2 * * *", "TZ=UTC 0 2 * * *", "CRON_TZ=UTC 0 2 * * *", "0 2 * * *\n", "0 2 * * é"),
	)

	It("on zones", func(ctx SpecContext) {
		for _, zone := range []string{
			"UTC", "Etc/UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Australia/Lord_Howe", "US/Eastern",
			"", "Local", "local", "LOCAL", "EST", "CET", "EST5EDT", "GMT", "GMT+2", "UTC+02:00", "+02:00", "Etc/GMT-2", "Etc/Zulu", "Zulu", "Japan",
			"europe/berlin", "EUROPE/BERLIN", "Europe/Berlin ", " Europe/Berlin", "Europe/Berlin\n", "/etc/localtime", "../Europe/Berlin",
			"Europe/../UTC", "Europe//Berlin", "posix/Europe/Berlin", "right/Europe/Berlin", "Factory", "Europe",
		} {
			windows := []any{map[string]any{"schedule": "0 2 * * 6", "duration": "1h"}}
			spec := window.Spec{TimeZone: zone, Windows: []window.Recurrence{{Schedule: "0 2 * * 6", Duration: time.Hour}}}
			if zone == "" { // left out it is UTC, which the hub reads as the empty text; said, it is refused
				Expect(try(ctx, strict, made("MaintenanceCalendar", map[string]any{"timeZone": zone, "windows": windows}))).NotTo(Succeed())
				continue
			}
			agree(ctx, made("MaintenanceCalendar", map[string]any{"timeZone": zone, "windows": windows}), spec, zone)
		}
	})
})

var _ = Describe("the API server and the hub agree too", func() {
	week := func() []any { return []any{map[string]any{"schedule": "0 2 * * 6", "duration": "1h"}} }
	weekly := []window.Recurrence{{Schedule: "0 2 * * 6", Duration: time.Hour}}

	It("on exclusions", func(ctx SpecContext) {
		for _, ends := range [][2]string{
			{"2026-12-24", "2026-12-26"},
			{"2026-12-24", "2026-12-24"},
			{"2026-12-26", "2026-12-24"},
			{"2028-02-29", "2028-02-29"},
			{"2026-02-29", "2026-03-01"},
			{"2026-13-01", "2026-13-02"},
			{"2026-1-1", "2026-1-2"},
			{"2026-12-24 ", "2026-12-26"},
			{"24.12.2026", "26.12.2026"},
			{"2026-12-24", "2026-12-26T00:00:00Z"},
			{"2026-12-24T00:00:00Z", "2026-12-26"},
			{"2026-12-24T00:00:00Z", "2026-12-24T00:00:00Z"},
			{"2026-12-24T00:00:00Z", "2026-12-24T00:00:01Z"},
			{"2026-12-24T18:00:00+01:00", "2026-12-24T17:00:00Z"},
			{"2026-12-24T18:00:00+01:00", "2026-12-24T17:30:00Z"},
			{"2026-12-24T18:00:00", "2026-12-24T19:00:00"},
			{"2026-12-24T18:00Z", "2026-12-24T19:00Z"},
			{"2026-12-24t18:00:00z", "2026-12-24t19:00:00z"},
			{"2026-12-24 18:00:00Z", "2026-12-24 19:00:00Z"},
			{"2026-12-24T24:00:00Z", "2026-12-25T01:00:00Z"},
			{"2026-12-24T23:59:60Z", "2026-12-25T01:00:00Z"},
			{"2026-12-24T18:00:00.5Z", "2026-12-24T18:00:00.6Z"},
			{"2100-02-29", "2100-03-01"},
			{"2000-02-29", "2000-02-29"},
			{"2096-02-29", "2096-02-29"},
			{"2026-04-31", "2026-05-01"},
			{"2026-11-30", "2026-11-30"},
			{"2026-12-31", "2026-12-31"},
			{"1900-01-01", "1900-01-01"},
			{"1899-12-31", "2026-01-01"},
			{"2199-12-31", "2199-12-31"},
			{"2200-01-01", "2200-01-01"},
			{"9999-01-01", "9999-01-01"},
			{"0000-01-01", "2026-01-01"},
		} {
			calendar := made("MaintenanceCalendar", map[string]any{
				"windows": week(), "exclusions": []any{map[string]any{"from": ends[0], "to": ends[1]}},
			})
			spec := window.Spec{Windows: weekly, Exclusions: []window.Exclusion{{From: ends[0], To: ends[1]}}}
			agree(ctx, calendar, spec, ends[0]+" to "+ends[1])
		}
	})

	It("on durations", func(ctx SpecContext) {
		for text, d := range map[string]time.Duration{
			"15m": 15 * time.Minute, "899s": 899 * time.Second, "14m59.999s": 15*time.Minute - time.Millisecond, "0s": 0, "1h30m": 90 * time.Minute,
			"744h": 744 * time.Hour, "744h0m1s": 744*time.Hour + time.Second, "10000h": 10000 * time.Hour,
		} {
			calendar := made("MaintenanceCalendar", map[string]any{
				"windows": []any{map[string]any{"rrule": "RRULE:FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYHOUR=0", "duration": text}},
			})
			spec := window.Spec{Windows: []window.Recurrence{{RRule: "RRULE:FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYHOUR=0", Duration: d}}}
			agree(ctx, calendar, spec, text)
		}
	})

	// The grammar of an rrule is more than the API server can check; but nothing that the hub reads is refused.
	It("on rrules that can be read", func(ctx SpecContext) {
		for _, rrule := range []string{
			"RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2", "FREQ=DAILY;BYHOUR=2", "rrule:freq=daily;byhour=2", "RRULE:BYHOUR=2;FREQ=WEEKLY;BYDAY=SA",
			"RRULE:BYDAY=SA;BYHOUR=2;FREQ=WEEKLY", "DTSTART:20261018T023000\nRRULE:FREQ=WEEKLY;BYDAY=SU\nEXDATE:20261101T023000",
			"DTSTART:20261018T023000\r\nRRULE:FREQ=YEARLY\r\n", "\n  RRULE:FREQ=DAILY;BYHOUR=2\n", "DTSTART:20261018T023000\nFREQ=DAILY",
		} {
			calendar := made("MaintenanceCalendar", map[string]any{"windows": []any{map[string]any{"rrule": rrule, "duration": "1h"}}})
			agree(ctx, calendar, window.Spec{Windows: []window.Recurrence{{RRule: rrule, Duration: time.Hour}}}, rrule)
		}
	})
})

// agree claims that a calendar is accepted by the API server exactly where the hub can read it.
func agree(ctx SpecContext, calendar *unstructured.Unstructured, spec window.Spec, text string) {
	GinkgoHelper()
	_, _, read := window.Compile(spec)
	stored := try(ctx, strict, calendar)
	Expect(stored == nil).To(Equal(read == nil), "%q: API server: %v; hub: %v", text, stored, read)
}
