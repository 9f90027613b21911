// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"maps"
	"math"
	"slices"
	"time"
)

// So many starts, within so many seconds, are looked at for a duration that goes on past the next of them.
const (
	reviewed      = 100
	reviewedRange = 2 * 366 * daySeconds
)

// reviewFrom is where a schedule without a first start is looked at: a year before a leap day.
var reviewFrom = dayOf(2027, 1, 1) * daySeconds

// each calls visit for the starts from a wall-clock time on, exceptions left out, until visit says no. RDATEs come
// last.
func (s *starts) each(location *time.Location, from int64, visit func(wall int64) bool) {
	from = max(from, s.first)
	goOn := true
	ask := func(wall int64) bool {
		at := firstPass(location, wall)
		if wall >= from && wall <= s.last && at <= s.lastAt && !s.excepts(wall, at) {
			goOn = visit(wall)
		}
		return goOn
	}
	last := min(lastDay, floorDiv(s.last, daySeconds), floorDiv(s.lastAt, daySeconds)+2)
	s.rule.each(max(firstDay, floorDiv(from, daySeconds)), last, func(day int64, times []int64) bool {
		for _, time := range times {
			if !ask(day*daySeconds + time) {
				return false
			}
		}
		return true
	})
	if !goOn {
		return
	}
	for _, wall := range s.more {
		if !s.excepts(wall, firstPass(location, wall)) && !visit(wall) {
			return
		}
	}
	for _, at := range s.moreAt {
		if wall := at + periodAt(location, at).offset; !s.excepts(wall, at) && !visit(wall) {
			return
		}
	}
}

// review refuses a schedule that has no start at all, and warns about one that is hardly meant.
func (c *compiler) review(field string, spec Recurrence, s *starts) {
	name, text := ".schedule", spec.Schedule
	if spec.RRule != "" {
		name, text = ".rrule", spec.RRule
	}
	found := false
	s.each(c.zone, math.MinInt64, func(int64) bool {
		found = true
		return false
	})
	if !found {
		c.refuse(field+name, complain(text, "", "never occurs"))
		return
	}
	if s.first != math.MinInt64 && !s.includes(s.first) {
		c.warn(field+name, complain(text, "a DTSTART that is an occurrence of its rule",
			"begins at %s, which is no occurrence of its rule and does not open anything", wallText(s.first)))
	}
	for _, wall := range slices.Sorted(maps.Keys(s.less)) {
		if len(s.moreAt) == 0 && !s.includes(wall) {
			c.warn(field+name, complain(text, "the start of an occurrence", "excepts %s, at which nothing would begin",
				wallText(wall)))
		}
	}
}

// includes says whether a wall-clock time is a start, exceptions apart.
func (s *starts) includes(wall int64) bool {
	if slices.Contains(s.more, wall) {
		return true
	}
	found := false
	day := floorDiv(wall, daySeconds)
	s.rule.each(day, day, func(day int64, times []int64) bool {
		found = slices.Contains(times, wall-day*daySeconds)
		return false
	})
	return found && wall >= s.first && wall <= s.last
}

// reviewDuration warns where a duration goes on past the next start (C020).
func (c *compiler) reviewDuration(field string, r *recurrence) {
	duration := time.Duration(r.duration)
	seen := 0
	var first, before int64
	r.each(c.zone, r.reviewFrom(), func(wall int64) bool {
		apart := time.Duration(wall-before) * time.Second
		if seen > 0 && apart > 0 && apart < duration {
			c.warn(field+".duration", complain(hours(duration), "up to "+hours(apart),
				"goes on past the next start: from %s it is %s to %s, and the windows are one opening",
				wallText(before), hours(apart), wallText(wall)))
			return false
		}
		if seen == 0 {
			first = wall
		}
		before = wall
		seen++
		return seen < reviewed && wall-first < reviewedRange
	})
}

// reviewFrom is where starts are looked at: from the first one on, or from a recent day.
func (s *starts) reviewFrom() int64 {
	switch end := min(s.last, s.lastAt); {
	case s.first != math.MinInt64:
		return s.first
	case end < reviewFrom:
		return end - 9*366*daySeconds
	default:
		return reviewFrom
	}
}

// reviewOpenings warns where exclusions leave nothing of the windows.
func (c *compiler) reviewOpenings(calendar *Calendar) {
	if len(calendar.exclusions)+len(calendar.out) == 0 {
		return
	}
	for i := range calendar.windows {
		// Leap days are at most eight years apart.
		from := (calendar.windows[i].reviewFrom() - 2*daySeconds) * second
		for at := from; at < from+9*366*daySeconds*second; {
			state := calendar.stretch(at)
			if state.open {
				return
			}
			at = state.until
		}
	}
	c.warn("exclusions", complain("", "exclusions that leave an opening", "leave no opening of the windows"))
}
