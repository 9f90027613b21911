// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math"
	"time"
)

// Wall-clock times are counted here in seconds since 1970-01-01 00:00 of the local calendar, days since that date: as
// if there were no zones. Only this file knows how they meet instants.

const daySeconds = 24 * 60 * 60

// farthestOffset is more than any zone's distance from UTC, in seconds.
const farthestOffset = 26 * 60 * 60

// period is a stretch of time [start, end), in seconds since 1970, in which a zone keeps one offset from UTC. The next
// period may have the same.
type period struct{ start, end, offset int64 }

// periodAt finds the period around an instant.
func periodAt(location *time.Location, at int64) period {
	t := time.Unix(at, 0).In(location)
	_, offset := t.Zone()
	p := period{start: math.MinInt64, end: math.MaxInt64, offset: int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = start.Unix()
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	if p.end <= at {
		// Past the table of a zone ZoneBounds takes every year for one of 365 days: on the last day of a longer one it
		// gives that day's beginning as the end.
		p.end = (floorDiv(at, daySeconds) + 1) * daySeconds
	}
	return p
}

// clock is the periods around some wall-clock times, in order; neighbours differ in their offset.
type clock []period

// clockAround is enough to find any instant at which the clock shows a time from first to last.
func clockAround(location *time.Location, first, last int64) clock {
	var periods clock
	p := periodAt(location, first-farthestOffset)
	for p.end < last+farthestOffset {
		following := periodAt(location, p.end)
		if following.offset == p.offset {
			p.end = following.end
			continue
		}
		periods, p = append(periods, p), following
	}
	return append(periods, p)
}

// firstPass is the instant at which the clock first shows a wall-clock time. For a time that the clock skips it is the
// instant by the offset in force before the gap, so that half past two becomes half past three (RFC 5545, 3.3.5).
func (c clock) firstPass(wall int64) int64 {
	for i, p := range c {
		at := wall - p.offset
		// Before the period it can only be in the gap that began it, which the period before has answered.
		if at < p.end || i+1 < len(c) && wall-c[i+1].offset < p.end {
			return at
		}
	}
	return wall - c[len(c)-1].offset
}

// lastPass is the last instant at which the clock shows a wall-clock time, or the end of the gap that skips it.
func (c clock) lastPass(wall int64) int64 {
	for i := len(c) - 1; i > 0; i-- {
		switch p := c[i]; {
		case wall-p.offset >= p.start:
			return wall - p.offset
		case wall-c[i-1].offset >= p.start:
			return p.start
		}
	}
	return wall - c[0].offset
}

func firstPass(location *time.Location, wall int64) int64 {
	return clockAround(location, wall, wall).firstPass(wall)
}

func lastPass(location *time.Location, wall int64) int64 {
	return clockAround(location, wall, wall).lastPass(wall)
}

// dayStart is the first instant of a local date, even where the clock skips midnight.
func dayStart(location *time.Location, day int64) int64 {
	at := firstPass(location, day*daySeconds)
	if p := periodAt(location, at); at+p.offset > day*daySeconds {
		return p.start
	}
	return at
}

// dayEnd is the first instant after the last of a local date, even where the clock shows midnight twice.
func dayEnd(location *time.Location, day int64) int64 {
	return lastPass(location, (day+1)*daySeconds)
}

// weekdayOf a day; 0 is Sunday.
func weekdayOf(day int64) int { return int(((day+4)%7 + 7) % 7) }

// civil is a date with what rules ask of it.
type civil struct {
	year, month, day int
	// yearDay counts from 1.
	yearDay int
	// monthLength and yearLength are in days.
	monthLength, yearLength int
	weekday                 int
}

func civilOf(day int64) civil {
	t := time.Unix(day*daySeconds, 0).UTC()
	year, month, date := t.Date()
	return civil{
		year: year, month: int(month), day: date, yearDay: t.YearDay(), weekday: weekdayOf(day),
		monthLength: monthLength(year, int(month)), yearLength: yearLength(year),
	}
}

func dayOf(year, month, day int) int64 {
	return floorDiv(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix(), daySeconds)
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func yearLength(year int) int {
	if leap(year) {
		return 366
	}
	return 365
}

func monthLength(year, month int) int {
	switch month {
	case 2:
		return yearLength(year) - 337
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// wallText writes a wall-clock time as a person reads it.
func wallText(wall int64) string {
	layout := "Mon 2006-01-02 15:04"
	if wall%60 != 0 {
		layout += ":05"
	}
	return time.Unix(wall, 0).UTC().Format(layout)
}
