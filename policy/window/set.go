// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"
	"time"
)

// Horizon is how far ahead Fits looks for an opening that is long enough.
const Horizon = 366 * 24 * time.Hour

// Set is the intersection of calendars: open when every one of them is. The zero value is always open.
type Set struct {
	calendars []*Calendar
	// out is never open, whatever the calendars say.
	out []span
}

// NewSet makes the intersection of calendars; of none it is always open. A nil calendar is closed for ever: a calendar
// that is named and absent or invalid opens nothing.
func NewSet(calendars ...*Calendar) Set {
	if slices.Contains(calendars, nil) {
		return Set{out: []span{{always, never}}}
	}
	return Set{calendars: slices.Clone(calendars)}
}

// Except is the set without some spans, such as freezes. A span without a Start or an End reaches without bound on that
// side; one that ends before it starts takes nothing away.
func (s Set) Except(spans ...Span) Set {
	out := slices.Clone(s.out)
	for _, except := range spans {
		out = append(out, bounds(except))
	}
	s.out = union(out)
	return s
}

// Always says whether the set is open at all times.
func (s Set) Always() bool { return len(s.calendars) == 0 && len(s.out) == 0 }

// Open says whether maintenance is allowed at t.
func (s Set) Open(t time.Time) bool { return s.stretch(instant(t)).open }

// ClosesAt is the end of the opening that contains t. It is false when it is closed at t or never closes.
func (s Set) ClosesAt(t time.Time) (time.Time, bool) { return closesAt(s, t) }

// Next is the first opening that starts after t, as Calendar.Next.
func (s Set) Next(t time.Time) (Span, bool) { return next(s, t) }

// Openings are the next n openings that start after t, fewer if there are no more.
func (s Set) Openings(t time.Time, n int) []Span {
	var openings []Span
	for at := instant(t); len(openings) < n; {
		opening, found := nextSpan(s, at)
		if !found {
			break
		}
		openings = append(openings, opening.public())
		at = opening.start
	}
	return openings
}

// OpenTime is how much of [from, to) is open. It looks at no more than the 45 years after from.
func (s Set) OpenTime(from, to time.Time) time.Duration {
	if s.Always() {
		return max(0, to.Sub(from))
	}
	var open int64
	at, last := instant(from), instant(to)
	last = min(last, later(at, farthest))
	for steps := 0; at < last && steps < mostSteps; steps++ {
		state := s.stretch(at)
		until := min(state.until, last)
		if state.open {
			open += until - at
		}
		at = until
	}
	return time.Duration(open)
}

// stretch is open while all are, and closed as long as one of those is that are.
func (s Set) stretch(at int64) stretch {
	all := span{always, never}
	state := stretch{open: true, from: always, until: never}
	if len(s.out) > 0 {
		state = around(at, s.out, all)
		state.open = !state.open
	}
	for _, calendar := range s.calendars {
		state = state.and(calendar.stretch(at))
	}
	return state
}

// and is the stretch in which both are open, or in which one keeps it closed.
func (s stretch) and(other stretch) stretch {
	switch {
	case s.open && other.open:
		return stretch{open: true, from: max(s.from, other.from), until: min(s.until, other.until)}
	case s.open:
		return other
	case other.open:
		return s
	default:
		return stretch{from: min(s.from, other.from), until: max(s.until, other.until)}
	}
}
