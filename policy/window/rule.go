// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import "slices"

// frequency is the length of a rule's periods.
type frequency int

const (
	daily frequency = iota
	weekly
	monthly
	yearly
)

// rule is which dates and times of a local calendar occur. Cron expressions and RRULEs become the same rules, so that
// one window written both ways is one window.
type rule struct {
	freq frequency
	// interval counts periods from the one of anchor; those before it do not occur.
	interval int64
	anchor   int64
	// weekStart is the first day of a week; 0 is Sunday.
	weekStart int
	// The rest limits the dates of a period. What is empty limits nothing.
	months    numbers
	monthDays numbers
	yearDays  numbers
	weeks     numbers
	weekdays  numbers
	nth       []nthDay
	// times are seconds of the day, in order.
	times []int64
	// positions pick occurrences of a period: 1 is its first, -1 its last.
	positions []int
}

// numbers is a set in which -1 stands for the last, -2 for the last but one.
type numbers []int

// has says whether n is in the set, where the last is of that number.
func (s numbers) has(n, last int) bool { return slices.Contains(s, n) || slices.Contains(s, n-last-1) }

// allows is has for a set in which empty means all.
func (s numbers) allows(n, last int) bool { return len(s) == 0 || s.has(n, last) }

// nthDay is the nth such weekday of a month or year, counted from its end where it is negative.
type nthDay struct{ n, weekday int }

func (d nthDay) is(weekday, day, length int) bool {
	if d.weekday != weekday {
		return false
	}
	if d.n > 0 {
		return (day-1)/7+1 == d.n
	}
	return (length-day)/7+1 == -d.n
}

// each calls visit for the dates from first to last that occur, in order, each with its times, until visit says no.
func (r *rule) each(first, last int64, visit func(day int64, times []int64) bool) {
	for day := first; day <= last; {
		begin, end, active := r.period(day)
		switch {
		case !active:
		case len(r.positions) > 0:
			if !r.eachPosition(begin, end, first, last, visit) {
				return
			}
		case !r.eachDate(day, min(end, last+1), visit):
			return
		}
		day = end
	}
}

// eachDate visits the dates of an active period from day to before end.
func (r *rule) eachDate(day, end int64, visit func(int64, []int64) bool) bool {
	for ; day < end; day++ {
		if r.matches(day) && !visit(day, r.times) {
			return false
		}
	}
	return true
}

// eachPosition visits the occurrences of a period that positions pick, those from first to last.
func (r *rule) eachPosition(begin, end, first, last int64, visit func(int64, []int64) bool) bool {
	var dates []int64
	r.eachDate(begin, end, func(day int64, _ []int64) bool {
		dates = append(dates, day)
		return true
	})
	perDate := len(r.times)
	var picked []int
	for _, position := range r.positions {
		if position < 0 {
			position += len(dates)*perDate + 1
		}
		if position >= 1 && position <= len(dates)*perDate {
			picked = append(picked, position-1)
		}
	}
	slices.Sort(picked)
	picked = slices.Compact(picked)
	for i := 0; i < len(picked); {
		date := picked[i] / perDate
		var times []int64
		for ; i < len(picked) && picked[i]/perDate == date; i++ {
			times = append(times, r.times[picked[i]%perDate])
		}
		day := dates[date]
		if day >= first && day <= last && !visit(day, times) {
			return false
		}
	}
	return true
}

// period is the one of the day, from begin to before end, and whether the interval lets it occur.
func (r *rule) period(day int64) (begin, end int64, active bool) {
	var index int64
	switch r.freq {
	case daily:
		begin, end, index = day, day+1, day-r.anchor
	case weekly:
		begin = r.weekOf(day)
		end, index = begin+7, (begin-r.weekOf(r.anchor))/7
	case monthly:
		date, anchor := civilOf(day), civilOf(r.anchor)
		begin = day - int64(date.day-1)
		end = begin + int64(date.monthLength)
		index = int64((date.year-anchor.year)*12 + date.month - anchor.month)
	case yearly:
		date := civilOf(day)
		begin = day - int64(date.yearDay-1)
		end, index = begin+int64(date.yearLength), int64(date.year-civilOf(r.anchor).year)
	}
	return begin, end, index >= 0 && index%r.interval == 0
}

// weekOf is the first day of the day's week.
func (r *rule) weekOf(day int64) int64 { return day - int64((weekdayOf(day)-r.weekStart+7)%7) }

// matches says whether a date of an active period occurs, positions apart.
func (r *rule) matches(day int64) bool {
	if len(r.nth) == 0 && len(r.weekdays) > 0 && !slices.Contains(r.weekdays, weekdayOf(day)) {
		return false // most days of most schedules, without working out their date
	}
	date := civilOf(day)
	return r.months.allows(date.month, 12) &&
		r.monthDays.allows(date.day, date.monthLength) &&
		r.yearDays.allows(date.yearDay, date.yearLength) &&
		r.onWeekday(date) &&
		(len(r.weeks) == 0 || r.inWeek(day))
}

func (r *rule) onWeekday(date civil) bool {
	if len(r.weekdays) == 0 && len(r.nth) == 0 {
		return true
	}
	if slices.Contains(r.weekdays, date.weekday) {
		return true
	}
	day, length := date.day, date.monthLength
	if r.freq == yearly && len(r.months) == 0 {
		day, length = date.yearDay, date.yearLength
	}
	return slices.ContainsFunc(r.nth, func(d nthDay) bool { return d.is(date.weekday, day, length) })
}

// inWeek says whether the number of the day's week is among the rule's. Week 1 is the first with four days or more in
// its year.
func (r *rule) inWeek(day int64) bool {
	middle := r.weekOf(day) + 3
	year := civilOf(middle)
	number := (year.yearDay-1)/7 + 1
	// The last week holds the last date whose week has its middle in this year.
	lastMiddle := r.weekOf(dayOf(year.year, 12, 31)) + 3
	if civilOf(lastMiddle).year != year.year {
		lastMiddle -= 7
	}
	return r.weeks.has(number, (civilOf(lastMiddle).yearDay-1)/7+1)
}
