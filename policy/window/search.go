// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import "time"

// farthest is how far a search looks, forth and back: the leap days of one weekday may be 40 years apart.
const farthest = 45 * 366 * 24 * int64(time.Hour)

// mostSteps bounds a search where openings are many: several years of the densest calendars that never meet.
const mostSteps = 1 << 18

// skipSteps is after how many steps a search looks whether it knows the way.
const skipSteps = 16

// stretcher tells the state around an instant.
type stretcher interface{ stretch(at int64) stretch }

// end follows a state from at to the first instant at which it differs, and gives never when there is none.
func end(s stretcher, at int64) int64 {
	bound, found := later(at, farthest), int64(never)
	first := s.stretch(at)
	memory, remembers := s.(skips)
	remembers = remembers && !first.open
	steps := 0
	for ; first.until < bound && steps < mostSteps; steps++ {
		if remembers && steps%skipSteps == 0 {
			if first.until = memory.skip(first.until); first.until >= bound {
				break
			}
		}
		following := s.stretch(first.until)
		if following.open != first.open {
			found = first.until
			break
		}
		first.until = following.until
	}
	if remembers && steps >= longSearch {
		memory.remember(span{at, first.until})
	}
	return found
}

// start follows a state from at back to its first instant, and gives always when there is none.
func start(s stretcher, at int64) int64 {
	bound := later(at, -farthest)
	first := s.stretch(at)
	for steps := 0; first.from > bound && steps < mostSteps; steps++ {
		before := s.stretch(first.from - 1)
		if before.open != first.open {
			return first.from
		}
		first.from = before.from
	}
	return always
}

// later adds to an instant without overflow.
func later(at, by int64) int64 {
	switch {
	case by > 0 && at > never-by:
		return never
	case by < 0 && at < always-by:
		return always
	}
	return at + by
}

func closesAt(s stretcher, t time.Time) (time.Time, bool) {
	at := instant(t)
	if !s.stretch(at).open {
		return time.Time{}, false
	}
	closes := end(s, at)
	return moment(closes), closes != never
}

func next(s stretcher, t time.Time) (Span, bool) {
	opening, found := nextSpan(s, instant(t))
	if !found {
		return Span{}, false
	}
	return opening.public(), true
}

// nextSpan is the first opening that starts after an instant.
func nextSpan(s stretcher, at int64) (span, bool) {
	if s.stretch(at).open {
		at = end(s, at)
	}
	if at == never {
		return span{}, false
	}
	opens := end(s, at)
	if opens == never {
		return span{}, false
	}
	return span{opens, end(s, opens)}, true
}
