// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// missed is the last opening that has passed without use by a wave whose clusters wait: no cluster of the wave that has
// begun had leave to begin machines in it. What was shown meanwhile is why; a wait for that very opening that is still
// shown means that the hub was not there. Of waves that missed the same one the first is told.
func (b *board) missed() *Missed {
	var last *Missed
	for i, queued := range b.queues() {
		shown := b.shown(i)
		if shown == nil {
			continue
		}
		for _, h := range queued {
			b.edge(h.closes)
			b.edge(h.next.Start)
			b.edge(h.next.End)
		}
		h, span := b.passed(queued, shown)
		if h != nil && (last == nil || span.End.After(last.Span.End)) && !b.used(i, span) {
			last = b.tell(i, h, span, shown)
		}
	}
	return last
}

// queues are, by wave, the hours of the clusters that have not begun.
func (b *board) queues() [][]*hours {
	queues := make([][]*hours, len(b.Waves))
	for i := range b.Clusters {
		c, wave := &b.Clusters[i], b.waveOf(i)
		if len(c.Calendars) == 0 || wave < b.current || !c.untouched() {
			continue
		}
		if h := b.hoursOf(*c); !slices.Contains(queues[wave], h) {
			queues[wave] = append(queues[wave], h)
		}
	}
	return queues
}

// shown is the wait that was last reported for a wave: the rollout's for the current one; later ones have waited for
// their turn since the first wave began.
func (b *board) shown(wave int) *Waiting {
	if wave == b.current {
		return b.Shown
	}
	var began time.Time
	if b.Shown != nil {
		began = b.Shown.Since
	}
	for i := range b.Waves {
		began = sooner(began, b.Waves[i].StartedAt)
	}
	if began.IsZero() {
		return nil
	}
	hold := wait(ReasonWaitingForWave, "wave %s is not complete", b.Waves[b.current].Name)
	hold.Since = began
	return hold
}

// passed is the last opening that has passed since a wait was shown, and whose it is; nil: none has.
func (b *board) passed(queued []*hours, shown *Waiting) (*hours, window.Span) {
	for _, h := range queued {
		from, exact := shown.Since, awaitsOpening(shown)
		if exact {
			from = shown.Until
		}
		if h.open && !exact {
			continue // who had leave in the opening before may have it in this one, which is what is stored
		}
		_, opening, ok := h.set.Fits(from, 0)
		if from.IsZero() || !ok || exact && !opening.Start.Equal(from) {
			continue // another cluster's, or the calendar was another one then
		}
		var last window.Span
		for ok && !opening.End.IsZero() && !opening.End.After(b.now) {
			last = opening
			opening, ok = h.set.Next(opening.Start)
		}
		if last.End.IsZero() {
			return nil, last
		}
		return h, last
	}
	return nil, window.Span{}
}

// awaitsOpening: the wait is one for the clock, and ends when an opening begins.
func awaitsOpening(shown *Waiting) bool {
	return (shown.Reason == ReasonWindowClosed || shown.Reason == ReasonDoesNotFit) && !shown.Until.IsZero()
}

// used: a cluster of the wave that has begun had leave to begin machines within an opening.
func (b *board) used(wave int, span window.Span) bool {
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if b.waveOf(i) == wave && !c.pending() && !c.NotAfter.IsZero() && !c.NotAfter.Before(span.Start) &&
			!c.NotAfter.After(span.End) {
			return true
		}
	}
	return false
}

func (b *board) tell(wave int, h *hours, span window.Span, shown *Waiting) *Missed {
	missed := &Missed{Span: span, Reason: shown.Reason}
	why := shown.Reason
	switch {
	case awaitsOpening(shown):
		missed.Reason = ReasonControllerDown
		why = "the hub did not run"
	case shown.Message != "":
		why += ": " + shown.Message
	}
	missed.Message = fmt.Sprintf("the opening from %s to %s has passed, and no cluster of wave %s began in it: %s",
		stamp(span.Start), stamp(span.End), b.Waves[wave].Name, why)
	if h.reopens {
		missed.Message += "; the next begins at " + h.when(h.next.Start)
	}
	return missed
}

// sooner is the earlier of two instants, of which the zero one stands for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
