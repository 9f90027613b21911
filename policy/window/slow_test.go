// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The slow evaluator: what a schedule means, computed the long way. It shares nothing with the package. Dates are tried
// one by one; a zone's clock is watched minute by minute.

// slowRule is a recurrence before it is written as text.
type slowRule struct {
	freq     string
	interval int
	// weekStart and weekdays: 0 is Sunday.
	weekStart time.Weekday
	// start is the first wall-clock time; zero: the rule has always been.
	start                                    time.Time
	months, monthDays, weekdays, nth         []int
	hours, minutes, positions                []int
	count                                    int
	until                                    time.Time // a wall-clock time
	exceptTimes, exceptDates, includingTimes []time.Time
}

var slowDays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// text writes it as RFC 5545 does. An element of nth is ten times the number plus the weekday.
func (r slowRule) text() string {
	const layout = "20060102T150405"
	var lines []string
	if !r.start.IsZero() {
		lines = append(lines, "DTSTART:"+r.start.Format(layout))
	}
	parts := []string{"RRULE:FREQ=" + r.freq}
	if r.interval > 1 {
		parts = append(parts, fmt.Sprintf("INTERVAL=%d", r.interval))
	}
	parts = append(parts, "WKST="+slowDays[r.weekStart])
	var days []string
	for _, day := range r.weekdays {
		days = append(days, slowDays[day])
	}
	for _, code := range r.nth {
		n, day := split(code)
		days = append(days, fmt.Sprintf("%d%s", n, slowDays[day]))
	}
	if len(days) > 0 {
		parts = append(parts, "BYDAY="+strings.Join(days, ","))
	}
	for _, list := range []struct {
		name string
		list []int
	}{
		{"BYMONTH", r.months},
		{"BYMONTHDAY", r.monthDays},
		{"BYHOUR", r.hours},
		{"BYMINUTE", r.minutes},
		{"BYSETPOS", r.positions},
	} {
		if len(list.list) > 0 {
			parts = append(parts, list.name+"="+commas(list.list))
		}
	}
	switch {
	case r.count > 0:
		parts = append(parts, fmt.Sprintf("COUNT=%d", r.count))
	case !r.until.IsZero():
		parts = append(parts, "UNTIL="+r.until.Format(layout))
	}
	lines = append(lines, strings.Join(parts, ";"))
	for _, t := range r.exceptTimes {
		lines = append(lines, "EXDATE:"+t.Format(layout))
	}
	for _, t := range r.exceptDates {
		lines = append(lines, "EXDATE;VALUE=DATE:"+t.Format("20060102"))
	}
	for _, t := range r.includingTimes {
		lines = append(lines, "RDATE:"+t.Format(layout))
	}
	return strings.Join(lines, "\n")
}

func split(code int) (n, day int) {
	day = (code%10 + 10) % 10
	return (code - day) / 10, day
}

func commas(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

// starts are the wall-clock times from a date to another, in minutes since 1970 as if they were in UTC.
func (r slowRule) starts(from, to time.Time) map[int64]bool {
	begin := r.start
	if begin.IsZero() {
		begin = from.AddDate(0, 0, -40)
	}
	out := map[int64]bool{}
	keep := func(t time.Time) {
		if slices.Contains(r.exceptTimes, t) || slices.Contains(r.exceptDates, t.Truncate(24*time.Hour)) {
			return
		}
		out[t.Unix()/60] = true
	}
	n := 0
	period, set := -1, []time.Time(nil)
	finish := func() {
		for _, t := range pick(set, r.positions) {
			n++
			if t.Before(r.start) {
				n--
				continue
			}
			if (r.count == 0 || n <= r.count) && (r.until.IsZero() || !t.After(r.until)) {
				keep(t)
			}
		}
		set = nil
	}
	first := begin.Truncate(24*time.Hour).AddDate(0, 0, -370)
	for date := first; !date.After(to.AddDate(0, 0, 370)); date = date.AddDate(0, 0, 1) {
		index := r.period(begin, date)
		if index < 0 || index%r.interval != 0 {
			continue
		}
		if index != period {
			finish()
			period = index
		}
		if r.on(date, begin) {
			for _, hour := range or(r.hours, begin.Hour()) {
				for _, minute := range or(r.minutes, begin.Minute()) {
					set = append(set, date.Add(time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute))
				}
			}
		}
	}
	finish()
	for _, t := range r.includingTimes {
		keep(t)
	}
	return out
}

func or(list []int, n int) []int {
	if len(list) > 0 {
		return list
	}
	return []int{n}
}

// pick takes the times at some positions, all where there are none.
func pick(set []time.Time, positions []int) []time.Time {
	slices.SortFunc(set, time.Time.Compare)
	if len(positions) == 0 {
		return set
	}
	var out []time.Time
	for i, t := range set {
		if slices.Contains(positions, i+1) || slices.Contains(positions, i-len(set)) {
			out = append(out, t)
		}
	}
	return out
}

// period counts the periods from that of begin to that of date.
func (r slowRule) period(begin, date time.Time) int {
	begin = begin.Truncate(24 * time.Hour)
	switch r.freq {
	case "YEARLY":
		return date.Year() - begin.Year()
	case "MONTHLY":
		return (date.Year()-begin.Year())*12 + int(date.Month()) - int(begin.Month())
	case "WEEKLY":
		for begin.Weekday() != r.weekStart {
			begin = begin.AddDate(0, 0, -1)
		}
		for date.Weekday() != r.weekStart {
			date = date.AddDate(0, 0, -1)
		}
		return int(date.Sub(begin).Hours()) / (7 * 24)
	}
	return int(date.Sub(begin).Hours()) / 24
}

// on says whether a date occurs, periods and positions apart.
func (r slowRule) on(date, begin time.Time) bool {
	months, monthDays, weekdays := r.months, r.monthDays, r.weekdays
	if len(monthDays)+len(weekdays)+len(r.nth) == 0 {
		switch r.freq {
		case "YEARLY":
			months, monthDays = or(months, int(begin.Month())), []int{begin.Day()}
		case "MONTHLY":
			monthDays = []int{begin.Day()}
		case "WEEKLY":
			weekdays = []int{int(begin.Weekday())}
		}
	}
	fromEnd := date.Day() - time.Date(date.Year(), date.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() - 1
	switch {
	case len(months) > 0 && !slices.Contains(months, int(date.Month())):
		return false
	case len(monthDays) > 0 && !slices.Contains(monthDays, date.Day()) && !slices.Contains(monthDays, fromEnd):
		return false
	case len(weekdays)+len(r.nth) == 0, slices.Contains(weekdays, int(date.Weekday())):
		return true
	}
	ofYear := r.freq == "YEARLY" && len(months) == 0
	return slices.ContainsFunc(r.nth, func(code int) bool {
		n, day := split(code)
		return int(date.Weekday()) == day && (n == nthOf(date, -1, ofYear) || -n == nthOf(date, 1, ofYear))
	})
}

// nthOf counts such weekdays of a month or year up to a date, walking back to its first or forth to its last.
func nthOf(date time.Time, direction int, ofYear bool) int {
	n := 0
	for d := date; d.Year() == date.Year() && (ofYear || d.Month() == date.Month()); d = d.AddDate(0, 0, 7*direction) {
		n++
	}
	return n
}

// slowOpen watches a zone's clock from some time before one instant to another, and says for each minute from the first
// whether a span of a duration is open that began at one of the wall-clock times.
func slowOpen(location *time.Location, starts map[int64]bool, duration time.Duration, from, to time.Time) []bool {
	// All in minutes since 1970.
	first, last, length := from.Unix()/60, to.Unix()/60, int64(duration/time.Minute)
	var began []int64
	shown := map[int64]bool{}
	var out []bool
	at := first - length - 4*60 // no clock is changed by more
	before := wallAt(location, at-1)
	for ; at < last; at++ {
		wall := wallAt(location, at)
		for skipped := before + 1; skipped < wall; skipped++ {
			if starts[skipped] {
				began = append(began, at-1+skipped-before)
			}
		}
		if starts[wall] && !shown[wall] {
			began = append(began, at)
		}
		shown[wall] = true
		before = wall
		if at >= first {
			out = append(out, slices.ContainsFunc(began, func(start int64) bool { return start <= at && at < start+length }))
		}
	}
	return out
}

// wallAt is what the clock of a zone shows at a minute.
func wallAt(location *time.Location, at int64) int64 {
	_, offset := time.Unix(at*60, 0).In(location).Zone()
	return at + int64(offset/60)
}
