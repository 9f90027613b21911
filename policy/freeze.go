// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// covers says whether a Freeze is about a cluster.
func (f Freeze) covers(id string) bool { return f.All || f.Clusters[id] }

// inForce says whether it stops anything at an instant.
func (f Freeze) inForce(at time.Time) bool {
	return !at.Before(f.From) && (f.Until.IsZero() || at.Before(f.Until))
}

// addFreezes puts into hours what the freezes of a cluster take away, now and later. Stops add up (law 22).
func (b *board) addFreezes(h *hours, c Cluster) {
	var spans []window.Span
	for _, f := range b.Freezes {
		// The hub stores instants in seconds; a stop is rounded so that it is not shorter.
		f.From = f.From.Truncate(time.Second)
		if !f.covers(c.ID) || !f.Until.IsZero() && !f.Until.After(f.From) {
			continue
		}
		if !f.NewClustersOnly {
			// One that is over counts, too: an opening that it took was not missed.
			spans = append(spans, window.Span{Start: f.From, End: f.Until})
		}
		h.stop(f)
		if !f.Until.IsZero() && !f.Until.After(b.now) {
			continue
		}
		h.freezes = append(h.freezes, f)
		if f.NewClustersOnly {
			continue
		}
		h.stops = append(h.stops, f)
	}
	slices.SortStableFunc(h.stops, func(x, y Freeze) int { return x.From.Compare(y.From) })
	h.noStart, h.noMachine = frozen(h.freezes, b.now), frozen(h.stops, b.now)
	if len(spans) > 0 {
		h.set = h.set.Except(spans...)
	}
}

// stop notes when a Freeze stops machines, or new clusters: not before it was made.
func (h *hours) stop(f Freeze) {
	span := window.Span{Start: latest(f.From, f.Created), End: f.Until}
	switch {
	case span.Start.IsZero(), !span.End.IsZero() && !span.Start.Before(span.End):
	case f.NewClustersOnly:
		h.shutOut = append(h.shutOut, span)
	default:
		h.stopped = append(h.stopped, span)
	}
}

// frozen is the wait for the end of the freezes in force, named by the one that ends last; nil: none is.
func frozen(freezes []Freeze, now time.Time) *Waiting {
	last := endsLast(freezes, now)
	if last == nil {
		return nil
	}
	until := last.Until
	for next := last; next != nil && !until.IsZero(); next = endsLast(freezes, until) {
		until = next.Until
	}
	hold := wait(ReasonFrozen, "frozen until %s by %s", until.UTC().Format(time.RFC3339), last.name())
	hold.Until = until
	if until.IsZero() {
		hold.Message = "frozen until it is removed by " + last.name()
		hold.Act = true
	}
	return hold
}

// endsLast is the Freeze in force at an instant that ends last; nil: none is in force.
func endsLast(freezes []Freeze, at time.Time) *Freeze {
	var last *Freeze
	for i := range freezes {
		f := &freezes[i]
		if f.inForce(at) && (last == nil || !last.Until.IsZero() && (f.Until.IsZero() || f.Until.After(last.Until))) {
			last = f
		}
	}
	return last
}

// name is a Freeze for people.
func (f Freeze) name() string {
	text := "Freeze " + f.Name
	if f.By != "" {
		text += " of " + f.By
	}
	if f.Reason != "" {
		text += fmt.Sprintf(" (%s)", f.Reason)
	}
	return text
}

// wouldFinish is whether all machines of a cluster would be done, each within an opening, before the next Freeze that
// stops them: a cluster that would not is not begun, since it would stand half-way as long as that lasts (law 10). It is
// said as soon as it is so, also while no machine may begin for another reason.
func wouldFinish(b *board, c Cluster) *Waiting {
	h := b.hoursOf(c)
	freeze := h.stopAfter(b.now)
	if freeze == nil || h.problem != nil || c.machines() == 0 || h.done(c, b.now, freeze.From) {
		return nil
	}
	if why, _ := b.shut(h, c.nextMachine()); why != nil && why.Act && !h.wereRoom(c, freeze.From) {
		return nil // no Freeze is why
	}
	hold := wait(ReasonWouldNotFinishBeforeFreeze, "in its openings its %d machines would not be done before %s begins at %s",
		c.machines(), freeze.name(), stamp(freeze.From))
	hold.Until = h.beginsAfter(c, freeze)
	hold.Act = hold.Until.IsZero()
	return hold
}

// wereRoom: without freezes a machine of a cluster could begin after an instant.
func (h *hours) wereRoom(c Cluster, after time.Time) bool {
	_, _, fits := h.calendar.Fits(after, roomFor(upToSecond(c.nextMachine())))
	return fits
}

// inTime notes until when a cluster that may begin now would be done before the next Freeze.
func inTime(b *board, c Cluster) *Waiting {
	h := b.hoursOf(c)
	if freeze := h.stopAfter(b.now); freeze != nil && c.machines() > 0 {
		b.edge(b.tooLate(h, c, freeze.From))
	}
	return nil
}

// stopAfter is the first Freeze that stops machines and begins after an instant; nil: none is known.
func (h *hours) stopAfter(at time.Time) *Freeze {
	for i := range h.stops {
		if h.stops[i].From.After(at) {
			return &h.stops[i]
		}
	}
	return nil
}

// beginsAfter is the first instant after a Freeze at which a cluster may begin and would be done before the next one;
// zero: none is known.
func (h *hours) beginsAfter(c Cluster, freeze *Freeze) time.Time {
	for freeze != nil && !freeze.Until.IsZero() {
		at, fits := h.fits(freeze.Until, upToSecond(c.nextMachine()))
		if !fits {
			break
		}
		if freeze = endsLast(h.freezes, at); freeze != nil {
			continue // one that only keeps clusters from beginning
		}
		if freeze = h.stopAfter(at); freeze == nil || h.done(c, at, freeze.From) {
			return at
		}
	}
	return time.Time{}
}

// forGood names the first Freeze that has no end, if there is one.
func (h *hours) forGood() string {
	for i := range h.stops {
		if f := &h.stops[i]; f.Until.IsZero() {
			return fmt.Sprintf(", since %s stays from %s until it is removed", f.name(), stamp(f.From))
		}
	}
	return ""
}

// past is a wait for an opening in which, as is known, a Freeze keeps clusters from beginning.
func (h *hours) past(hold Waiting, c Cluster) *Waiting {
	freeze := endsLast(h.freezes, hold.Until)
	if freeze == nil {
		return &hold
	}
	hold.Message += fmt.Sprintf("; by then %s keeps it from beginning", freeze.name())
	hold.Until = h.beginsAfter(c, freeze)
	hold.Act = hold.Until.IsZero()
	return &hold
}

// done is whether all machines of a cluster that begins at an instant are done by another.
func (h *hours) done(c Cluster, start, by time.Time) bool {
	at := start
	for _, w := range c.Work {
		packing, ok := h.set.Pack(at, upToSecond(w.Each), w.rounds())
		if !ok {
			return false
		}
		at = packing.End
	}
	return !at.After(by)
}

// tooLate is the first instant at which a cluster that would be done by another one no longer would, or an edge that
// comes before it. Who begins later is not done earlier.
func (b *board) tooLate(h *hours, c Cluster, by time.Time) time.Time {
	if !b.recheck.IsZero() && b.recheck.Before(by) && h.done(c, b.recheck, by) {
		return b.recheck
	}
	late := sort.Search(int(by.Sub(b.now)), func(k int) bool {
		return !h.done(c, b.now.Add(time.Duration(k)), by)
	})
	return b.now.Add(time.Duration(late))
}

// machines that are left.
func (c Cluster) machines() int {
	sum := 0
	for _, w := range c.Work {
		sum += max(0, w.Machines)
	}
	return sum
}

// rounds in which machines of one role are done.
func (w Work) rounds() int {
	atOnce := max(1, w.AtOnce)
	return (max(0, w.Machines) + atOnce - 1) / atOnce
}
