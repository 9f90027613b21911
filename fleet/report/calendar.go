// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy/window"
)

// Bounds of a calendar's status.
const (
	// nextOpenings are shown of each time zone.
	nextOpenings = 5
	// mostZones are shown, those that open next first.
	mostZones = 40
)

// Hours are a calendar in one time zone.
type Hours struct {
	// Zone is the name of the time zone.
	Zone string
	// Calendar, nil where it cannot be read, for the reason of Err.
	Calendar *window.Calendar
	Err      error
}

// Calendar is the status of a MaintenanceCalendar, and when it changes next by time alone, zero: never.
// warnings do not close it.
func Calendar(
	cal *fleetv1.MaintenanceCalendar, zones []Hours, warnings error, now time.Time,
) (s fleetv1.MaintenanceCalendarStatus, next time.Time) {
	s = *cal.Status.DeepCopy()
	s.ObservedGeneration, s.ZoneData = cal.Generation, window.ZoneData()
	s.Open, s.Until, s.Zone, s.Zones = fleetv1.CalendarIsClosed, "", "", nil
	at := metav1.NewTime(now.Truncate(time.Second))
	wrong := firstWrong(zones)
	readable := readableOf(zones)
	for _, h := range readable {
		z, edge := zoneOf(h, now)
		s.Zones = append(s.Zones, z)
		next = sooner(next, edge)
	}
	slices.SortStableFunc(s.Zones, opensFirst)
	s.Open, s.Zone = opennessOf(s.Zones), zoneText(cal, zones)
	switch {
	case len(readable) == 0 || next.IsZero():
		s.Until = fleetv1.UntilAct
	default:
		s.Until = fleetv1.UntilText(new(metav1.NewTime(next)))
	}
	if len(s.Zones) > mostZones {
		s.Zones = s.Zones[:mostZones]
	}
	s.Conditions = slices.Clone(s.Conditions)
	meta.SetStatusCondition(&s.Conditions, calendarReady(cal, wrong, len(readable), warnings, at))
	return s, next
}

// firstWrong is the first time zone in which the calendar cannot be read.
func firstWrong(zones []Hours) *Hours {
	for i := range zones {
		if zones[i].Err != nil {
			return &zones[i]
		}
	}
	return nil
}

func readableOf(zones []Hours) []Hours {
	return slices.DeleteFunc(slices.Clone(zones), func(h Hours) bool { return h.Err != nil || h.Calendar == nil })
}

func calendarReady(
	cal *fleetv1.MaintenanceCalendar, wrong *Hours, readable int, warnings error, at metav1.Time,
) metav1.Condition {
	c := metav1.Condition{
		Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: fleetv1.AcceptedReason,
		ObservedGeneration: cal.Generation, LastTransitionTime: at,
	}
	why := cal.Spec.WhyUnknown()
	switch {
	case why != "":
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, fleetv1.UnknownFieldReason, fleetv1.Bound(why+"; it is closed")
	case wrong != nil:
		c.Status, c.Reason = metav1.ConditionFalse, fleetv1.InvalidReason
		c.Message = fleetv1.Bound(fmt.Sprintf("it is closed: %v", wrong.Err))
		if readable > 0 {
			c.Message = fleetv1.Bound(fmt.Sprintf("in time zone %q it is closed: %v", wrong.Zone, wrong.Err))
		}
	case warnings != nil:
		c.Message = fleetv1.Bound("careful: " + warnings.Error())
	case readable == 0:
		c.Message = "it takes the time zone of each cluster, and no cluster has one yet"
	}
	return c
}

// zoneOf is a calendar in a time zone, and when that changes by time alone.
func zoneOf(h Hours, now time.Time) (z fleetv1.CalendarZone, edge time.Time) {
	z = fleetv1.CalendarZone{TimeZone: h.Zone, Open: h.Calendar.Open(now)}
	if closes, is := h.Calendar.ClosesAt(now); is {
		z.ClosesAt, edge = new(metav1.NewTime(closes)), closes
	}
	for _, span := range window.NewSet(h.Calendar).Openings(now, nextOpenings) {
		if !z.Open {
			edge = sooner(edge, span.Start)
		}
		opening := fleetv1.CalendarOpening{OpensAt: metav1.NewTime(span.Start), Local: localText(span, h.Calendar.Location())}
		if !span.End.IsZero() {
			opening.ClosesAt = new(metav1.NewTime(span.End))
		}
		z.Next = append(z.Next, opening)
	}
	return z, edge
}

// localText is an opening in local time, such as "Sat 2026-12-05 02:00 CET – 06:00 CET".
func localText(s window.Span, zone *time.Location) string {
	const day, hour = "Mon 2006-01-02", "15:04 MST"
	from, to := s.Start.In(zone), s.End.In(zone)
	switch {
	case s.End.IsZero():
		return from.Format(day + " " + hour)
	case from.Format(day) == to.Format(day):
		return from.Format(day+" "+hour) + " – " + to.Format(hour)
	}
	return from.Format(day+" "+hour) + " – " + to.Format(day+" "+hour)
}

// opensFirst puts open zones first, then those that open next.
func opensFirst(a, b fleetv1.CalendarZone) int {
	rank := func(z fleetv1.CalendarZone) int64 {
		switch {
		case z.Open:
			return 0
		case len(z.Next) > 0:
			return z.Next[0].OpensAt.Unix()
		}
		const never = 1 << 62
		return never
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.TimeZone, b.TimeZone))
}

func opennessOf(zones []fleetv1.CalendarZone) fleetv1.CalendarOpen {
	open := 0
	for _, z := range zones {
		if z.Open {
			open++
		}
	}
	switch {
	case open == 0:
		return fleetv1.CalendarIsClosed
	case open == len(zones):
		return fleetv1.CalendarIsOpen
	}
	return fleetv1.CalendarIsPartlyOpen
}

// zoneText is what the ZONE column shows.
func zoneText(cal *fleetv1.MaintenanceCalendar, zones []Hours) string {
	switch {
	case cal.Spec.TimeZoneFrom == fleetv1.TimeZoneFromCluster && len(zones) != 1:
		return fmt.Sprintf("%d zones", len(zones))
	case len(zones) == 1:
		const longest = 64
		return zones[0].Zone[:min(longest, len(zones[0].Zone))]
	}
	return ""
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
