// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"sync"
	"time"
)

// Shortest and Longest bound the duration of a window or a recurring exclusion.
const (
	Shortest = 15 * time.Minute
	Longest  = 31 * 24 * time.Hour
)

// Spec is a calendar as people write it.
type Spec struct {
	// TimeZone is an IANA region name, such as Europe/Berlin; empty means UTC.
	TimeZone string
	// Windows are when it is open, together; at least one.
	Windows []Recurrence
	// Exclusions are when it is closed in spite of that.
	Exclusions []Exclusion
}

// Recurrence is a schedule of starts, in the calendar's time zone, each followed by a duration. It has exactly one of
// Schedule and RRule.
type Recurrence struct {
	// Schedule is a cron expression of five fields.
	Schedule string
	// RRule is a recurrence of RFC 5545: a line RRULE, and where wanted DTSTART, EXDATE and RDATE, such as
	//
	//	DTSTART;TZID=Europe/Berlin:20261018T023000
	//	RRULE:FREQ=WEEKLY;BYDAY=SU
	//
	// DTSTART may be left out where the rule says all: BYHOUR and the day, no COUNT and no INTERVAL.
	RRule string
	// Duration is elapsed time from each start, from Shortest to Longest.
	Duration time.Duration
}

// Exclusion is a recurrence, or one stretch of time.
type Exclusion struct {
	// Recurrence, for one that recurs.
	Recurrence
	// From and To, for one that does not: instants such as 2026-12-24T18:00:00Z, of which To is the first instant
	// after it, or local dates such as 2026-12-24, both included.
	From, To string
}

// Calendar says when maintenance is allowed. It is immutable and safe for concurrent use. It answers for the years
// 1900 to 2200 and is closed before and after.
type Calendar struct {
	location   *time.Location
	windows    []recurrence
	exclusions []recurrence
	// out are the exclusions that do not recur.
	out []span

	mu     sync.RWMutex
	blocks map[int64][]span
	cached int
	// apart are where it and others are never open together, for long; oldest is the one to be replaced next.
	apart  []apart
	oldest int
}

// Location is the time zone of the calendar.
func (c *Calendar) Location() *time.Location { return c.location }

// Open says whether maintenance is allowed at t.
func (c *Calendar) Open(t time.Time) bool { return c.stretch(instant(t)).open }

// ClosesAt is the end of the opening that contains t: of the union, not of one window. It is false when it is closed at
// t, or does not close within the years that Next looks ahead.
func (c *Calendar) ClosesAt(t time.Time) (time.Time, bool) { return closesAt(c, t) }

// Next is the first opening that starts after t; one that starts at t is not after it. Its End is the zero time when
// it never closes. It is false when there is none within the next 45 years.
func (c *Calendar) Next(t time.Time) (Span, bool) { return next(c, t) }

// blockLength is how much of a calendar is expanded at once.
const blockLength = 32 * 24 * int64(time.Hour)

// cacheSize is how many spans of expanded blocks, and how many blocks, a calendar keeps.
const cacheSize = 1 << 16

// stretch around an instant, within a block.
func (c *Calendar) stretch(at int64) stretch {
	switch {
	case at < dawn:
		return stretch{from: always, until: dawn}
	case at >= dusk:
		return stretch{from: dusk, until: never}
	}
	number := floorDiv(at, blockLength)
	within := span{max(dawn, number*blockLength), min(dusk, (number+1)*blockLength)}
	return around(at, c.block(number, within), within)
}

// block is what is open within a span, expanded when it is asked for first.
func (c *Calendar) block(number int64, within span) []span {
	c.mu.RLock()
	spans, found := c.blocks[number]
	c.mu.RUnlock()
	if found {
		return spans
	}
	spans = c.expand(within)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocks == nil || c.cached > cacheSize {
		c.blocks, c.cached = map[int64][]span{}, 0
	}
	c.blocks[number] = spans
	c.cached += len(spans) + 1
	return spans
}

// expand computes what is open within a span. What it gives may reach beyond it.
func (c *Calendar) expand(within span) []span {
	var open []span
	for i := range c.windows {
		open = c.windows[i].appendSpans(open, within)
	}
	open = union(open)
	if len(open) == 0 {
		return nil
	}
	out := append([]span(nil), c.out...)
	for i := range c.exclusions {
		out = c.exclusions[i].appendSpans(out, within)
	}
	return minus(open, union(out))
}
