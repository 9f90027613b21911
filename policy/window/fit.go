// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import "time"

// Packing is how pieces of work fall into openings.
type Packing struct {
	// Start of the first piece, and End of the last.
	Start, End time.Time
	// Openings is how many openings they take.
	Openings int
}

// Fits is the first instant at or after t at which work that takes d fits entirely into an opening, and that opening;
// the instant is t if it fits now. Work may end when the opening does. It is false when no such instant lies within
// the Horizon.
func (s Set) Fits(t time.Time, d time.Duration) (at time.Time, in Span, ok bool) {
	if s.Always() {
		return t, Span{}, true
	}
	now := instant(t)
	fits, opening, ok := s.fits(now, int64(d))
	switch {
	case !ok:
		return time.Time{}, Span{}, false
	case fits == now:
		return t, opening.public(), true
	default:
		return moment(fits), opening.public(), true
	}
}

func (s Set) fits(from, d int64) (at int64, in span, ok bool) {
	if s.stretch(from).open {
		if left := (span{from, end(s, from)}); d <= left.room() {
			return from, span{start(s, from), left.end}, true
		}
	}
	at = from
	for range mostSteps {
		opening, found := nextSpan(s, at)
		if !found || opening.start > later(from, int64(Horizon)) {
			break
		}
		if d <= opening.room() {
			return opening.start, opening, true
		}
		at = opening.start
	}
	return 0, span{}, false
}

// Longest is how long the longest opening is of those that start after t, within the Horizon: zero if there is none, and
// without bound (the longest Duration) if one never closes.
func (s Set) Longest(t time.Time) time.Duration {
	from := instant(t)
	bound, longest := later(from, int64(Horizon)), int64(0)
	for at, steps := from, 0; steps < mostSteps; steps++ {
		opening, found := nextSpan(s, at)
		if !found || opening.start > bound {
			break
		}
		longest, at = max(longest, opening.room()), opening.start
	}
	return time.Duration(longest)
}

// Pack says when n pieces of work that take d each, done one after another, begin and end when none of them may cross
// a closing, and how many openings that takes. It is false when no opening within the Horizon after a piece is long
// enough for the next, or the end lies beyond the years that Next looks ahead. No pieces, or pieces that take no time,
// begin and end at t.
func (s Set) Pack(t time.Time, d time.Duration, n int) (Packing, bool) {
	if n <= 0 || d <= 0 {
		return Packing{Start: t, End: t}, true
	}
	now := instant(t)
	bound := later(now, farthest)
	var packing Packing
	for at, left := now, int64(n); left > 0; {
		begin, opening, found := s.fits(at, int64(d))
		if !found || packing.Openings >= mostSteps {
			return Packing{}, false
		}
		if packing.Openings == 0 {
			packing.Start = moment(begin)
		}
		packing.Openings++
		here := min(left, span{begin, opening.end}.room()/int64(d))
		if here > (bound-begin)/int64(d) {
			return Packing{}, false
		}
		at, left = begin+here*int64(d), left-here
		packing.End = moment(at)
	}
	return packing, true
}
