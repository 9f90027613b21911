// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// missed is the last opening of clusters that wait, if it passed without use: no cluster of the wave had leave to begin
// machines in it. What was shown meanwhile is why; a wait for that very opening, still shown, means that the hub was
// not there.
//
// It is told once, for the first wave that missed it: the waits that lasted through it begin anew at its end, and what
// began after an opening cannot have missed it. So all that has to be remembered is the wait that is shown.
func (b *board) missed(d *Decision) *Missed {
	var first *Missed
	for i, queued := range b.queues() {
		shown := b.shown(i)
		for _, h := range queued {
			b.edge(h.closes)
			b.edge(h.next.Start)
			b.edge(h.next.End)
		}
		span, h, passed := b.passed(queued, shown)
		if !passed || b.used(i, span) {
			continue
		}
		if first == nil {
			first = b.tell(i, h, span, *shown)
		}
		d.Waves[i].Waiting.beginAnew(span.End)
		if i == b.current {
			d.Waiting.beginAnew(span.End)
		}
	}
	return first
}

// beginAnew sets when a wait began, unless an input records it.
func (w *Waiting) beginAnew(at time.Time) {
	if w != nil && w.Since.IsZero() {
		w.Since = at
	}
}

// shown is the wait that was last reported for a wave.
func (b *board) shown(wave int) *Waiting {
	if w := b.Waves[wave].Shown; w != nil || wave != b.current {
		return w
	}
	return b.Shown
}

// queues are, by wave, the hours of the clusters that have not begun, where a wait was shown for that wave.
func (b *board) queues() [][]*hours {
	queues := make([][]*hours, len(b.Waves))
	for i := range b.Clusters {
		c, wave := &b.Clusters[i], b.waveOf(i)
		if len(c.Calendars) == 0 || wave < b.current || b.shown(wave) == nil || !c.untouched() {
			continue
		}
		if h := b.hoursOf(*c); !slices.Contains(queues[wave], h) {
			queues[wave] = append(queues[wave], h)
		}
	}
	return queues
}

// passed is the last opening that has passed since a wait was shown.
func (b *board) passed(queued []*hours, shown *Waiting) (span window.Span, h *hours, found bool) {
	for _, h := range queued {
		from := shown.Since
		if awaitsOpening(shown) {
			from = shown.Until
		}
		_, opening, ok := h.set.Fits(from, 0)
		if from.IsZero() || !ok || awaitsOpening(shown) && !opening.Start.Equal(shown.Until) {
			continue // the calendar was another one then
		}
		for !opening.End.IsZero() && !opening.End.After(b.now) {
			span, found = opening, true
			if opening, ok = h.set.Next(opening.Start); !ok {
				break
			}
		}
		return span, h, found
	}
	return window.Span{}, nil, false
}

// awaitsOpening: the wait was one for the clock, and ends when an opening begins.
func awaitsOpening(shown *Waiting) bool {
	return (shown.Reason == ReasonWindowClosed || shown.Reason == ReasonDoesNotFit) && !shown.Until.IsZero()
}

// used: a cluster of the wave had leave to begin machines within an opening.
func (b *board) used(wave int, span window.Span) bool {
	for i := range b.Clusters {
		last := b.Clusters[i].NotAfter
		if b.waveOf(i) == wave && !last.IsZero() && !last.Before(span.Start) && !last.After(span.End) {
			return true
		}
	}
	return false
}

func (b *board) tell(wave int, h *hours, span window.Span, shown Waiting) *Missed {
	missed := &Missed{Span: span, Reason: shown.Reason}
	why := shown.Reason
	switch {
	case awaitsOpening(&shown):
		missed.Reason = ReasonControllerDown
		why = "the hub did not run"
	case shown.Message != "":
		why += ": " + shown.Message
	}
	missed.Message = fmt.Sprintf("the opening from %s to %s has passed, and no cluster of wave %s began in it: %s",
		span.Start.Format(time.RFC3339), span.End.Format(time.RFC3339), b.Waves[wave].Name, why)
	if h.reopens {
		missed.Message += "; the next begins at " + h.when(h.next.Start)
	}
	return missed
}
