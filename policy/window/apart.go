// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import "weak"

// A search is long from so many steps on: what it finds is remembered.
const longSearch = 64

// mostApart is how many long stretches a calendar remembers.
const mostApart = 64

// apart is a long stretch in which a calendar and others are never all open. It does not keep the others alive.
type apart struct {
	others []weak.Pointer[Calendar]
	closed span
}

func (a *apart) from(others []*Calendar) bool {
	if len(a.others) != len(others) {
		return false
	}
	for i, other := range others {
		if a.others[i].Value() != other {
			return false
		}
	}
	return true
}

// skips is a set that remembers where it is closed for long, since decisions ask for the same sets again and again.
type skips interface {
	stretcher
	// skip is the end of a long stretch that is closed at an instant, as far as is remembered: at least the instant.
	skip(at int64) int64
	// remember that it is closed in a long stretch.
	remember(closed span)
}

// skip as in skips. What keeps the calendars apart keeps the set closed, whatever it is without.
func (s Set) skip(at int64) int64 {
	if len(s.calendars) < 2 {
		return at
	}
	first, others := s.calendars[0], s.calendars[1:]
	first.mu.RLock()
	defer first.mu.RUnlock()
	for i := range first.apart {
		if a := &first.apart[i]; a.closed.start <= at && at < a.closed.end && a.from(others) {
			return a.closed.end
		}
	}
	return at
}

// remember as in skips. Only what the calendars keep closed is remembered, not what the set is without.
func (s Set) remember(closed span) {
	switch {
	case len(s.calendars) < 2:
	case len(s.out) == 0:
		s.calendars[0].keepApart(s.calendars[1:], closed)
	default:
		// From the last of what it is without, it is the calendars that keep it closed.
		whole, at := Set{calendars: s.calendars}, closed.start
		for _, out := range s.out {
			if at < out.end && out.end < closed.end {
				at = out.end
			}
		}
		if !whole.stretch(at).open {
			end(whole, at)
		}
	}
}

// keepApart remembers a stretch, together with what was known of the same calendars where the two touch.
func (c *Calendar) keepApart(others []*Calendar, closed span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.apart {
		if a := &c.apart[i]; a.from(others) {
			if a.closed.start <= closed.end && closed.start <= a.closed.end {
				closed = span{min(a.closed.start, closed.start), max(a.closed.end, closed.end)}
			}
			a.closed = closed
			return
		}
	}
	kept := apart{closed: closed}
	for _, other := range others {
		kept.others = append(kept.others, weak.Make(other))
	}
	if len(c.apart) < mostApart {
		c.apart = append(c.apart, kept)
		return
	}
	c.apart[c.oldest] = kept
	c.oldest = (c.oldest + 1) % mostApart
}
