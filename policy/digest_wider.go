// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
)

// Widens reports whether settings allow more than those that a digest covers, or something else: what was approved is then
// void. Settings that only slow do not widen.
func Widens(covered, now Settings) bool { return len(Wider(covered, now)) > 0 }

// Wider says what of the settings is wider than covered ones, one sentence each: "wave early: maxConcurrency 5, was 2".
func Wider(covered, now Settings) []string {
	d := difference{was: covered.canonical(), is: now.canonical()}
	if reflect.DeepEqual(d.was, d.is) {
		return nil
	}
	d.waves()
	d.limits()
	d.calendars()
	d.stops()
	d.clusters()
	return d.wider
}

// difference collects what is wider.
type difference struct {
	was, is canonical
	wider   []string
}

func (d *difference) say(wider bool, format string, args ...any) {
	if wider {
		d.wider = append(d.wider, fmt.Sprintf(format, args...))
	}
}

func (d *difference) waves() {
	if !slices.EqualFunc(d.was.Waves, d.is.Waves, func(a, b WaveSettings) bool { return a.Name == b.Name }) {
		d.say(true, "the waves are others")
		return
	}
	for i, is := range d.is.Waves {
		d.wave(d.was.Waves[i], is)
		before, now := d.was.MaxUnknowns[i], d.is.MaxUnknowns[i]
		d.say(now > before, "wave %s: maxUnknown %d, was %d", is.Name, now, before)
	}
}

func (d *difference) wave(was, is WaveSettings) {
	d.say(is.MaxConcurrency > was.MaxConcurrency, "wave %s: maxConcurrency %d, was %d", is.Name, is.MaxConcurrency,
		was.MaxConcurrency)
	d.say(is.MaxFailures > was.MaxFailures, "wave %s: maxFailures %d, was %d", is.Name, is.MaxFailures, was.MaxFailures)
	d.say(is.Soak < was.Soak, "wave %s: soakDuration %s, was %s", is.Name, is.Soak, was.Soak)
	d.say(is.Approvals < was.Approvals, "wave %s: %d approvals, was %d", is.Name, is.Approvals, was.Approvals)
	// Past a deadline with Continue the next wave begins, so that an earlier one is no slower, nor is a later one.
	same := is.Deadline == was.Deadline && is.DeadlineContinue == was.DeadlineContinue
	d.say(!same && (is.DeadlineContinue || longer(is.Deadline, was.Deadline)), "wave %s: deadline %s, was %s", is.Name,
		is.deadline(), was.deadline())
}

func (w WaveSettings) deadline() string {
	switch {
	case w.Deadline == 0:
		return "none"
	case w.DeadlineContinue:
		return w.Deadline.String() + " (Continue)"
	}
	return w.Deadline.String() + " (Halt)"
}

// longer compares durations of which zero is for ever.
func longer(a, b time.Duration) bool {
	forever := func(d time.Duration) time.Duration {
		if d == 0 {
			return math.MaxInt64
		}
		return d
	}
	return forever(a) > forever(b)
}

func (d *difference) limits() {
	for _, was := range d.was.Limits {
		per := was.Label
		if per == "" {
			per = "ManagementCluster"
		}
		i := slices.IndexFunc(d.is.Limits, func(l LimitSettings) bool { return l.Label == was.Label })
		if i < 0 {
			d.say(true, "limit per %s: none, was %d", per, was.Max)
			continue
		}
		d.say(d.is.Limits[i].Max > was.Max, "limit per %s: %d, was %d", per, d.is.Limits[i].Max, was.Max)
	}
	d.say(d.was.ReserveBudget && !d.is.ReserveBudget, "failureBudget Observed, was Reserved")
}

// calendars: one that is added, or lost, closes more. Whether other contents close more or less is not looked into.
func (d *difference) calendars() {
	unsaid := func(c canonical) bool { return !c.AnyTime && !named(c.Calendars) }
	d.say(unsaid(d.was) || unsaid(d.is), "neither calendars nor anyTime is said")
	for _, was := range d.was.Calendars {
		if slices.ContainsFunc(d.is.Calendars, func(is CalendarSettings) bool { return is.restricts(was) }) {
			continue
		}
		i := slices.IndexFunc(d.is.Calendars, func(is CalendarSettings) bool { return is.Name == was.Name })
		switch {
		case i < 0:
			d.say(true, "calendar %s applies no longer", was.Name)
		case d.is.Calendars[i].Bound && !was.Bound:
			d.say(true, "calendar %s applies to fewer clusters", was.Name)
		default:
			d.say(true, "calendar %s has other contents", was.Name)
		}
	}
}

// stops are what keeps clusters from beginning when something is not as it should be.
func (d *difference) stops() {
	was, is := d.was, d.is
	d.say(is.Grace < was.Grace, "unreachable.grace %s, was %s", is.Grace, was.Grace)
	slower := is.BeforeStart == was.BeforeStart || was.BeforeStart == beforeStartCatchUp &&
		(is.BeforeStart == beforeStartWait || is.BeforeStart == beforeStartFail)
	d.say(!slower, "unreachable.beforeStart %s, was %s", is.BeforeStart, was.BeforeStart)
	d.say(is.DeferralMax < was.DeferralMax, "deferral.max %s, was %s", is.DeferralMax, was.DeferralMax)
	d.say(is.LateJoiners && !was.LateJoiners, "catchUp.lateJoiners Include, was Ignore")
	d.say(longer(is.CatchUpFor, was.CatchUpFor), "catchUp.until %s, was %s", lasting(is.CatchUpFor), lasting(was.CatchUpFor))
	d.say(was.OnMovedHalt && !is.OnMovedHalt, "target.onMoved Continue, was Halt")
	d.say(is.Priority > was.Priority, "priority %d, was %d", is.Priority, was.Priority)
	d.say(is.RequestedBy != was.RequestedBy && was.RequestedBy != "", "change.requestedBy %q, was %q", is.RequestedBy,
		was.RequestedBy)
}

func lasting(d time.Duration) string {
	if d == 0 {
		return "for ever"
	}
	return d.String()
}

// clusters is what goes on inside one cluster.
func (d *difference) clusters() {
	was, is := d.was, d.is
	d.say(is.Order != was.Order, "upgrade.order %s, was %s", is.Order, was.Order)
	d.say(is.MachinesAtOnce > was.MachinesAtOnce, "upgrade.maxConcurrentMachines %d, was %d", is.MachinesAtOnce,
		was.MachinesAtOnce)
	slower := is.SingleControlPlane == was.SingleControlPlane || is.SingleControlPlane == singleRefuse ||
		was.SingleControlPlane == singleAllow && is.SingleControlPlane == singleAllowMarked
	d.say(!slower, "upgrade.singleControlPlane %s, was %s", is.SingleControlPlane, was.SingleControlPlane)
}
