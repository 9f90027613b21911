// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math"
	"slices"
	"time"
)

// Span is the half-open interval [Start, End). A zero Start or End means that it has none: it has always been, or it
// never ends.
type Span struct{ Start, End time.Time }

// Contains says whether t is in it.
func (s Span) Contains(t time.Time) bool {
	return (s.Start.IsZero() || !t.Before(s.Start)) && (s.End.IsZero() || t.Before(s.End))
}

// Instants are counted here in nanoseconds since 1970, as far as calendars answer: from 1900 to 2200.
var (
	dawn = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	dusk = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
)

// always and never are the instants before and after all others.
const (
	always = math.MinInt64
	never  = math.MaxInt64
)

const second = int64(time.Second)

// instant counts t. What lies before 1900 or after 2200 is counted as the last instant before, or the first after.
func instant(t time.Time) int64 {
	switch seconds := t.Unix(); {
	case seconds < dawn/second:
		return dawn - 1
	case seconds >= dusk/second:
		return dusk
	default:
		return t.UnixNano()
	}
}

// moment is the time of an instant; the zero time stands for always and never.
func moment(at int64) time.Time {
	if at == always || at == never {
		return time.Time{}
	}
	return time.Unix(0, at).UTC()
}

// span is a Span in instants.
type span struct{ start, end int64 }

// room is how long it is, without bound where it has no end.
func (s span) room() int64 {
	if s.start == always || s.end == never {
		return math.MaxInt64
	}
	return s.end - s.start
}

func (s span) public() Span { return Span{Start: moment(s.start), End: moment(s.end)} }

// bounds of a Span, in instants.
func bounds(s Span) span {
	out := span{start: always, end: never}
	if !s.Start.IsZero() {
		out.start = instant(s.Start)
	}
	if !s.End.IsZero() {
		out.end = instant(s.End)
	}
	return out
}

// union sorts spans and merges those that touch, in place. Empty ones go.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
	merged := spans[:0]
	for _, s := range spans {
		if s.start >= s.end {
			continue
		}
		if last := len(merged) - 1; last >= 0 && s.start <= merged[last].end {
			merged[last].end = max(merged[last].end, s.end)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// minus is what the spans leave of one another: those of from without those of out. Both are unions.
func minus(from, out []span) []span {
	if len(out) == 0 {
		return from
	}
	left := make([]span, 0, len(from))
	for _, s := range from {
		for len(out) > 0 && out[0].end <= s.start {
			out = out[1:]
		}
		for _, o := range out {
			if o.start >= s.end {
				break
			}
			if s.start < o.start {
				left = append(left, span{s.start, o.start})
			}
			s.start = max(s.start, o.end)
		}
		if s.start < s.end {
			left = append(left, s)
		}
	}
	return left
}

// stretch is how long a state lasts around an instant: at least the half-open interval [from, until).
type stretch struct {
	open        bool
	from, until int64
}

// around finds the stretch of a union around an instant, no wider than within, which contains the instant.
func around(at int64, spans []span, within span) stretch {
	i, _ := slices.BinarySearchFunc(spans, at, func(s span, at int64) int {
		if s.end <= at {
			return -1
		}
		return 1
	})
	// spans[i] is the first that ends after the instant.
	out := stretch{from: within.start, until: within.end}
	if i > 0 {
		out.from = max(out.from, spans[i-1].end)
	}
	if i == len(spans) {
		return out
	}
	if spans[i].start > at {
		out.until = min(out.until, spans[i].start)
		return out
	}
	return stretch{open: true, from: max(within.start, spans[i].start), until: min(within.end, spans[i].end)}
}
