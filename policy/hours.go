// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// almanac is what a decision knows of time.
type almanac struct {
	// now is the instant of the decision.
	now time.Time
	// recheck is the earliest instant known so far at which time alone changes the decision; zero: none.
	recheck time.Time
	// known hours by what makes them, and the bytes of the last key.
	known map[string]*hours
	key   []byte
	// flights are what is in flight; nil: not counted yet.
	flights *flying
}

// edge notes an instant at which time alone changes what was just found out. Past ones change nothing.
func (a *almanac) edge(at time.Time) {
	if at.After(a.now) && (a.recheck.IsZero() || at.Before(a.recheck)) {
		a.recheck = at
	}
}

// hours are when machines of a cluster may begin: while all of its calendars are open and no Freeze stops machines.
// Clusters of the same calendars and freezes share them (law 18).
type hours struct {
	calendars []Calendar
	freezes   []Freeze
	// calendar is when the calendars are open, and set is what the freezes leave of that.
	calendar, set window.Set
	// problem of a calendar that cannot be asked, which is closed (law 9).
	problem *Waiting
	// stopped is when freezes stopped machines, stop them now or will, as far as it is known when they were made; shutOut
	// is when those of new clusters did.
	stopped, shutOut []window.Span
	// noStart and noMachine are the freezes of now, for clusters that have not begun and for those that have.
	noStart, noMachine *Waiting
	// stops are the freezes of now and later that stop machines, by begin.
	stops []Freeze
	// open now, until closes (zero: for ever); else until next begins, if ever.
	open    bool
	closes  time.Time
	next    window.Span
	reopens bool
	// asked are the answers so far, by how long a machine takes.
	asked map[time.Duration]answer
	// longest is the longest opening within a year of the next edge, once it was looked for; zero: it was not.
	longest time.Duration
}

// leeway is how much longer an opening must be than a machine takes: nobody is there at its very first instant.
const leeway = time.Minute

// answer says whether a machine may begin now.
type answer struct {
	// why not; nil: it may.
	why *Waiting
	// last is the last instant at which it may; zero: there is none.
	last time.Time
}

// hoursOf finds the hours of a cluster.
func (b *board) hoursOf(c Cluster) *hours {
	key := b.key[:0]
	for _, name := range c.Calendars {
		key = append(append(key, 0, byte(len(name)), byte(len(name)>>8)), name...)
	}
	for i := range b.Freezes {
		if b.Freezes[i].covers(c.ID) {
			key = append(key, 1, byte(i), byte(i>>8))
		}
	}
	b.key = key
	if h, found := b.known[string(key)]; found {
		return h
	}
	h := b.makeHours(c)
	if b.known == nil {
		b.known = map[string]*hours{}
	}
	b.known[string(key)] = h
	return h
}

func (b *board) makeHours(c Cluster) *hours {
	h := &hours{asked: map[time.Duration]answer{}}
	var open []*window.Calendar
	for _, key := range c.Calendars {
		calendar, problem := b.calendar(key)
		if problem != nil && h.problem == nil {
			h.problem = problem
		}
		h.calendars = append(h.calendars, calendar)
		open = append(open, calendar.Hours)
	}
	h.calendar = window.NewSet(open...)
	h.set = h.calendar
	b.addFreezes(h, c)
	if h.open = h.set.Open(b.now); h.open {
		h.closes, _ = h.set.ClosesAt(b.now)
	} else {
		h.next, h.reopens = h.set.Next(b.now)
	}
	return h
}

// calendar finds one by its key, and says why it cannot be asked: losing a calendar never opens anything (law 9).
func (b *board) calendar(key string) (Calendar, *Waiting) {
	calendar, found := b.Calendars[key]
	switch {
	case !found:
		return Calendar{Name: key}, wait(ReasonCalendarNotFound, "calendar %s does not exist, which is closed", key)
	case calendar.Problem == "" && calendar.Hours != nil:
		return calendar, nil
	}
	calendar.Hours = nil
	reason := calendar.Problem
	if reason == "" {
		reason = ReasonCalendarInvalid
	}
	message := calendar.Message
	if message == "" {
		message = "it cannot be read"
	}
	return calendar, wait(reason, "calendar %s is closed: %s", calendar.Name, message)
}

// shut says why no machine that takes so long may begin now, nil if one may, and the last instant at which one may,
// zero if there is none. It is about clusters that have begun: see notFrozen for those that have not.
func (b *board) shut(h *hours, each time.Duration) (*Waiting, time.Time) {
	found, asked := h.asked[each]
	if !asked {
		found = b.ask(h, upToSecond(each))
		h.asked[each] = found
	}
	return found.why, found.last
}

func (b *board) ask(h *hours, each time.Duration) answer {
	for _, f := range h.freezes {
		b.edge(f.From)
		b.edge(f.Until)
	}
	switch {
	case h.noMachine != nil:
		return answer{why: h.noMachine}
	case h.problem != nil:
		return answer{why: h.problem}
	case !h.open:
		return answer{why: b.closed(h, each)}
	case h.closes.IsZero():
		return answer{}
	}
	b.edge(h.closes)
	last := h.closes.Add(-each)
	if !b.now.After(last) && h.roomy(b.now, each) {
		b.edge(last.Add(1))
		return answer{last: last}
	}
	at, fits := h.soon(h.closes, each)
	if !fits {
		return answer{why: h.tooShort(h.closes, each)}
	}
	hold := wait(ReasonDoesNotFit, "the opening ends at %s, too soon for a machine that takes %s; one that is long enough "+
		"begins at %s", h.say(h.closes), each, h.when(at))
	hold.Until = at
	return answer{why: hold}
}

// roomy: the opening of an instant is long enough for a machine that takes so long.
func (h *hours) roomy(at time.Time, each time.Duration) bool {
	if each <= 0 || !at.Add(roomFor(each)).After(h.closes) {
		return true
	}
	_, opening, _ := h.set.Fits(at, 0)
	return opening.Start.IsZero() || opening.End.Sub(opening.Start) >= roomFor(each)
}

// fits is the first instant from an edge on at which a machine that takes so long may begin.
func (h *hours) fits(edge time.Time, each time.Duration) (time.Time, bool) {
	at, _, ok := h.set.Fits(edge, roomFor(each))
	return at, ok
}

// soon is fits for the next edge.
func (h *hours) soon(edge time.Time, each time.Duration) (time.Time, bool) {
	if h.longest > 0 && roomFor(each) > h.longest {
		return time.Time{}, false
	}
	return h.fits(edge, each)
}

// roomFor is how long an opening has to be.
func roomFor(each time.Duration) time.Duration {
	if each <= 0 {
		return 0
	}
	return each + leeway
}

// closed is the wait for the next opening that is long enough for a machine.
func (b *board) closed(h *hours, each time.Duration) *Waiting {
	if !h.reopens {
		hold := wait(ReasonWindowClosed, "closed, and no opening is left%s, %s", h.forGood(), h.names())
		hold.Act = true
		return hold
	}
	b.edge(h.next.Start)
	at, fits := h.soon(h.next.Start, each)
	if !fits {
		return h.tooShort(h.next.Start, each)
	}
	hold := wait(ReasonWindowClosed, "closed until %s", h.when(h.next.Start))
	if at.After(h.next.Start) {
		hold.Message += fmt.Sprintf("; one that is long enough for a machine that takes %s begins at %s", each, h.say(at))
	}
	hold.Until = at
	return hold
}

// tooShort is said a year ahead of the next edge, not of now, so that it stays the same until that edge.
func (h *hours) tooShort(edge time.Time, each time.Duration) *Waiting {
	if h.longest == 0 {
		// The opening that begins at the edge counts, too.
		h.longest = h.set.Longest(edge.Add(-1))
	}
	hold := wait(ReasonWindowTooShort, "no opening within a year is long enough for a machine that takes %s and %s to begin in",
		each, leeway)
	if h.longest > 0 {
		hold.Message += fmt.Sprintf(": the longest lasts %s", h.longest)
	}
	hold.Message += h.forGood()
	if names := h.names(); names != "" {
		hold.Message += ", " + names
	}
	return hold
}

// when is an instant of the calendars, with their names.
func (h *hours) when(at time.Time) string {
	text := h.say(at)
	if names := h.names(); names != "" {
		text += ", " + names
	}
	return text
}

// say is an instant in UTC and, as people of the place would say it, in the zone of the first calendar that is closed
// right before it.
func (h *hours) say(at time.Time) string {
	text := at.UTC().Format(time.RFC3339)
	for _, c := range h.calendars {
		if c.Hours != nil && (len(h.calendars) == 1 || !c.Hours.Open(at) || !c.Hours.Open(at.Add(-1))) {
			zone := c.Hours.Location()
			return fmt.Sprintf("%s (%s %s)", text, at.In(zone).Format("Mon 15:04"), zone)
		}
	}
	return text
}

// names of the calendars.
func (h *hours) names() string {
	names := make([]string, 0, len(h.calendars))
	for _, c := range h.calendars {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "calendar " + names[0]
	default:
		return "calendars " + strings.Join(names, ", ")
	}
}

// upToSecond rounds up: the hub stores instants in seconds, and a permission that is stored must not be another than
// the one that was meant.
func upToSecond(d time.Duration) time.Duration {
	if part := d % time.Second; part > 0 {
		return d - part + time.Second
	}
	return max(0, d)
}
