// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math"
	"time"
)

// firstDay and lastDay are the days that rules are asked for.
var (
	firstDay = dayOf(1900, 1, 1)
	lastDay  = dayOf(2199, 12, 31)
)

// occurs says whether a rule has a date on or after a day.
func (r *rule) occurs(day int64) bool {
	found := false
	r.each(day, lastDay, func(int64, []int64) bool {
		found = true
		return false
	})
	return found
}

// starts are wall-clock times: those of a rule between two bounds, and more, and less.
type starts struct {
	rule *rule
	// first and last bound the rule's own starts, both included; lastAt bounds them by instant, in seconds.
	first, last, lastAt int64
	// more starts: wall-clock times, and instants.
	more, moreAt []int64
	// less are the exceptions: wall-clock times, days and instants; oddDays are the days around any of them.
	less, lessDays, lessAt, oddDays map[int64]bool
}

// unbounded are all starts of a rule.
func unbounded(r *rule) starts {
	return starts{rule: r, first: math.MinInt64, last: math.MaxInt64, lastAt: math.MaxInt64}
}

// recurrence is a schedule of spans in a zone.
type recurrence struct {
	starts

	location *time.Location
	// duration in nanoseconds.
	duration int64
	// pattern are the spans of a date on which nothing is special, in seconds from its midnight.
	pattern []span
}

func newRecurrence(s starts, location *time.Location, duration time.Duration) recurrence {
	r := recurrence{starts: s, location: location, duration: int64(duration)}
	if len(s.rule.positions) == 0 {
		r.pattern = r.patternOf(s.rule.times)
	}
	return r
}

// patternOf is the union of the spans that begin at some times of a day, in nanoseconds from its midnight.
func (r *recurrence) patternOf(times []int64) []span {
	spans := make([]span, len(times))
	for i, time := range times {
		spans[i] = span{time * second, time*second + r.duration}
	}
	return union(spans)
}

// appendSpans appends the spans that overlap one, and some beside it.
func (r *recurrence) appendSpans(spans []span, within span) []span {
	// Offsets and gaps move a start by less than two days.
	first := max(firstDay, floorDiv(within.start-r.duration, daySeconds*second)-2)
	last := min(lastDay, floorDiv(within.end, daySeconds*second)+2)
	clocks := dayClocks{location: r.location}
	from, to := max(first, floorDiv(r.first, daySeconds)), min(last, floorDiv(r.last, daySeconds))
	r.rule.each(from, to, func(day int64, times []int64) bool {
		spans = r.appendDay(spans, day, times, &clocks)
		return true
	})
	for _, wall := range r.more {
		day := floorDiv(wall, daySeconds)
		if day < first || day > last {
			continue
		}
		if at := firstPass(r.location, wall); !r.excepts(wall, at) {
			spans = append(spans, r.from(at))
		}
	}
	for _, at := range r.moreAt {
		if !r.excepts(at+periodAt(r.location, at).offset, at) {
			spans = append(spans, r.from(at))
		}
	}
	return spans
}

// appendDay appends the spans that begin on a date at some times.
func (r *recurrence) appendDay(spans []span, day int64, times []int64, clocks *dayClocks) []span {
	midnight := day * daySeconds
	clock := clocks.around(day)
	offset := clock[0].offset
	inside := midnight >= r.first && midnight+daySeconds <= r.last && midnight-offset+daySeconds <= r.lastAt
	if len(clock) > 1 || !inside || r.oddDays[day] {
		for _, time := range times {
			wall := midnight + time
			at := clock.firstPass(wall)
			if wall >= r.first && wall <= r.last && at <= r.lastAt && !r.excepts(wall, at) {
				spans = append(spans, r.from(at))
			}
		}
		return spans
	}
	pattern := r.pattern
	if pattern == nil {
		pattern = r.patternOf(times)
	}
	shift := (midnight - offset) * second
	for _, s := range pattern {
		spans = append(spans, span{s.start + shift, s.end + shift})
	}
	return spans
}

// from is the span that begins at an instant, in seconds.
func (r *recurrence) from(at int64) span { return span{at * second, at*second + r.duration} }

// excepts says whether a start is an exception.
func (s *starts) excepts(wall, at int64) bool {
	return s.less[wall] || s.lessDays[floorDiv(wall, daySeconds)] || s.lessAt[at]
}

// dayClocks finds the clocks of days that are asked for in order. On most days it is a single period.
type dayClocks struct {
	location *time.Location
	last     clock
}

// around is the clock around a day.
func (d *dayClocks) around(day int64) clock {
	first, last := day*daySeconds, (day+1)*daySeconds
	if len(d.last) == 1 && first-farthestOffset >= d.last[0].start && last+farthestOffset <= d.last[0].end {
		return d.last
	}
	d.last = clockAround(d.location, first, last)
	return d.last
}
