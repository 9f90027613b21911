// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy/window"
)

// zones are places whose clocks differ in every way there is: by an hour, half an hour and two; at midnight, before it
// and after it; south and north; by Ramadan; not at all.
var zones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Moscow", "Atlantic/Azores", "America/New_York",
	"America/Los_Angeles", "America/St_Johns", "America/Havana", "America/Nuuk", "America/Sao_Paulo", "America/Asuncion",
	"America/Santiago", "America/Mexico_City", "Pacific/Easter", "Pacific/Chatham", "Pacific/Auckland", "Pacific/Apia",
	"Pacific/Kiritimati", "Australia/Lord_Howe", "Australia/Adelaide", "Antarctica/Troll", "Africa/Cairo",
	"Africa/Casablanca", "Asia/Gaza", "Asia/Beirut", "Asia/Jerusalem", "Asia/Kathmandu", "Asia/Tokyo",
}

// The two years that are looked at.
var (
	firstDate = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDate  = time.Date(2027, 12, 31, 0, 0, 0, 0, time.UTC)
)

// place is a zone with the dates on which its clock is changed.
type place struct {
	zone     string
	location *time.Location
	changes  []time.Time
}

func places(t *testing.T) []place {
	t.Helper()
	out := make([]place, len(zones))
	for i, zone := range zones {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = place{zone, location, changes(location)}
	}
	return out
}

// changes are the dates of the two years on which a zone's clock is changed.
func changes(location *time.Location) []time.Time {
	var dates []time.Time
	for date := firstDate; date.Before(lastDate); date = date.AddDate(0, 0, 1) {
		_, before := date.In(location).Zone()
		_, after := date.AddDate(0, 0, 1).In(location).Zone()
		if before != after {
			dates = append(dates, date)
		}
	}
	return dates
}

func list(t *rapid.T, low, high, most int, label string) []int {
	return rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, most, rapid.ID[int]).Draw(t, label)
}

func maybe(t *rapid.T, low, high, most int, label string) []int {
	if rapid.IntRange(0, 2).Draw(t, label+"?") > 0 {
		return nil
	}
	return list(t, low, high, most, label)
}

// times of a day, those that clocks skip and repeat more often.
func clockTimes(t *rapid.T) (hours, minutes []int) {
	hours = list(t, 0, 23, 3, "hours")
	if rapid.Bool().Draw(t, "at night") {
		hours = []int{rapid.SampledFrom([]int{0, 1, 2, 3, 23}).Draw(t, "hour")}
	}
	return hours, []int{rapid.SampledFrom([]int{0, 30, 15, 59, 1, 45}).Draw(t, "minute")}
}

// drawCron draws an expression, and the same as a rule.
func drawCron(t *rapid.T) (string, slowRule) {
	r := slowRule{freq: "DAILY", interval: 1}
	r.hours, r.minutes = clockTimes(t)
	r.months = maybe(t, 1, 12, 6, "months")
	switch rapid.IntRange(0, 3).Draw(t, "days") {
	case 0:
		r.monthDays = list(t, 1, 28, 5, "month days")
	case 1:
		r.weekdays = list(t, 0, 6, 4, "weekdays")
	}
	star := func(list []int) string {
		if len(list) == 0 {
			return "*"
		}
		return commas(list)
	}
	fields := []string{star(r.minutes), star(r.hours), star(r.monthDays), star(r.months), star(r.weekdays)}
	return strings.Join(fields, " "), r
}

func drawRule(t *rapid.T) slowRule {
	r := slowRule{
		freq:      rapid.SampledFrom([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}).Draw(t, "freq"),
		interval:  rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "interval"),
		weekStart: time.Weekday(rapid.IntRange(0, 6).Draw(t, "week start")),
	}
	hours, minutes := clockTimes(t)
	r.start = firstDate.AddDate(0, 0, rapid.IntRange(-200, 200).Draw(t, "start")).
		Add(time.Duration(hours[0])*time.Hour + time.Duration(minutes[0])*time.Minute)
	if rapid.Bool().Draw(t, "times") {
		r.hours, r.minutes = hours, minutes
	}
	r.months = maybe(t, 1, 12, 6, "months")
	if r.freq != "WEEKLY" {
		r.monthDays = maybe(t, -31, -1, 3, "month days from the end")
		r.monthDays = append(r.monthDays, maybe(t, 1, 31, 4, "month days")...)
	}
	switch kind := rapid.IntRange(0, 2).Draw(t, "weekdays"); {
	case kind == 0:
		r.weekdays = list(t, 0, 6, 4, "weekdays")
	case kind == 1 && (r.freq == "MONTHLY" || r.freq == "YEARLY"):
		n := rapid.SampledFrom([]int{1, 2, 3, 4, 5, -1, -2, -5}).Draw(t, "nth")
		r.nth = []int{n*10 + rapid.IntRange(0, 6).Draw(t, "nth weekday")}
	}
	if len(r.months)+len(r.monthDays)+len(r.weekdays)+len(r.nth)+len(r.hours) > 0 {
		r.positions = maybe(t, -3, -1, 1, "positions from the end")
		r.positions = append(r.positions, maybe(t, 1, 3, 2, "positions")...)
	}
	drawBounds(t, &r)
	return r
}

func drawBounds(t *rapid.T, r *slowRule) {
	day := func(label string) time.Time {
		return r.start.AddDate(0, 0, rapid.IntRange(0, 700).Draw(t, label))
	}
	switch rapid.IntRange(0, 3).Draw(t, "bound") {
	case 0:
		r.count = rapid.IntRange(1, 200).Draw(t, "count")
	case 1:
		r.until = day("until")
	}
	if rapid.Bool().Draw(t, "exceptions") {
		r.exceptTimes = []time.Time{day("except"), day("except")}
		r.exceptDates = []time.Time{day("except date").Truncate(24 * time.Hour)}
	}
	if rapid.Bool().Draw(t, "more") {
		r.includingTimes = []time.Time{day("including"), day("including").Add(90 * time.Minute)}
	}
}

var durations = []time.Duration{
	15 * time.Minute, 30 * time.Minute, time.Hour, 61 * time.Minute, 3 * time.Hour, 23 * time.Hour, 24 * time.Hour, 25 * time.Hour,
	40 * time.Hour,
}

// agrees compares a recurrence with the slow evaluator in every fifth zone: on a date on which the clock is changed, if there
// is one, and on another.
func agrees(t *rapid.T, places []place, recurrence window.Recurrence, rule slowRule) {
	starts := rule.starts(firstDate, lastDate)
	inside := rapid.IntRange(3, 700)
	n := inside.Draw(t, "which change")
	date := firstDate.AddDate(0, 0, inside.Draw(t, "date"))
	which := rapid.IntRange(0, 4).Draw(t, "zones")
	for i, place := range places {
		if i%5 != which {
			continue
		}
		calendar, _, err := window.Compile(in(place.zone, recurrence))
		if err != nil {
			if len(starts) == 0 && strings.Contains(err.Error(), "never occurs") {
				return
			}
			t.Fatalf("%+v: %v", recurrence, err)
		}
		dates := []time.Time{date}
		if len(place.changes) > 0 {
			dates = append(dates, place.changes[n%len(place.changes)])
		}
		for _, date := range dates {
			// A change at local midnight may be on the UTC date before or after.
			from, to := date.Add(-6*time.Hour), date.Add(30*time.Hour)
			for m, want := range slowOpen(place.location, starts, recurrence.Duration, from, to) {
				minute := from.Add(time.Duration(m) * time.Minute)
				if got := calendar.Open(minute); got != want {
					t.Fatalf("%s, %+v: open at %s: %t, want %t", place.zone, recurrence, minute.In(place.location), got, want)
				}
				if calendar.Open(minute.Add(time.Minute-1)) != want {
					t.Fatalf("%s, %+v: not the same to the end of the minute %s", place.zone, recurrence, minute)
				}
			}
		}
	}
}

func TestCronAgreesWithAClockThatIsWatched(t *testing.T) {
	places := places(t)
	rapid.Check(t, func(t *rapid.T) {
		text, rule := drawCron(t)
		duration := rapid.SampledFrom(durations).Draw(t, "duration")
		agrees(t, places, cron(text, duration), rule)
	})
}

func TestRRulesAgreeWithAClockThatIsWatched(t *testing.T) {
	places := places(t)
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t)
		duration := rapid.SampledFrom(durations).Draw(t, "duration")
		agrees(t, places, rrule(rule.text(), duration), rule)
	})
}

// TestCronAndRRulesAreTheSameWindows: both forms of one window have the same openings.
func TestCronAndRRulesAreTheSameWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, rule := drawCron(t)
		rule.start = firstDate.AddDate(0, 0, -10)
		duration := rapid.SampledFrom(durations).Draw(t, "duration")
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		var got [2]string
		for i, recurrence := range []window.Recurrence{cron(text, duration), rrule(rule.text(), duration)} {
			calendar, _, err := window.Compile(in(zone, recurrence))
			if err != nil {
				t.Fatal(err)
			}
			got[i] = fmt.Sprint(openings(calendar, "2026-01-05T00:00Z", 30))
		}
		if got[0] != got[1] {
			t.Fatalf("%s in %s:\n%s\n%s", text, zone, got[0], got[1])
		}
	})
}
