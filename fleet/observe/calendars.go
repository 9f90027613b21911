// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// maxCompiled bounds the calendars that are kept compiled.
const maxCompiled = 4096

// Calendars keeps calendars compiled, by object, generation and time zone. The zero value is ready for use, and so is
// nil, which keeps nothing. It is safe for concurrent use.
type Calendars struct {
	mu   sync.Mutex
	kept map[compiledKey]compiled
}

type compiledKey struct {
	uid  types.UID
	zone string
}

type compiled struct {
	generation int64
	hours      *window.Calendar
	err        error
}

// Compile reads a calendar in a time zone, which counts only for one with timeZoneFrom: Cluster. The error names each
// field that is wrong, its text and an accepted form; such a calendar is closed.
func (c *Calendars) Compile(cal *fleetv1.MaintenanceCalendar, zone string) (*window.Calendar, error) {
	if c == nil || cal.UID == "" {
		return compile(cal, zone)
	}
	if cal.Spec.TimeZoneFrom != fleetv1.TimeZoneFromCluster {
		zone = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := compiledKey{cal.UID, zone}
	if found, ok := c.kept[key]; ok && found.generation == cal.Generation {
		return found.hours, found.err
	}
	if c.kept == nil || len(c.kept) >= maxCompiled {
		c.kept = map[compiledKey]compiled{}
	}
	hours, err := compile(cal, zone)
	c.kept[key] = compiled{cal.Generation, hours, err}
	return hours, err
}

func compile(cal *fleetv1.MaintenanceCalendar, zone string) (*window.Calendar, error) {
	s := &cal.Spec
	switch {
	case s.WhyUnknown() != "":
		return nil, errors.New(s.WhyUnknown())
	case s.TimeZoneFrom != "" && s.TimeZoneFrom != fleetv1.TimeZoneFromCluster:
		return nil, fmt.Errorf("spec.timeZoneFrom: %q is nothing to take a zone from; accepted: Cluster", s.TimeZoneFrom)
	case s.TimeZoneFrom != "" && s.TimeZone != nil:
		return nil, errors.New("spec.timeZone: contradicts timeZoneFrom; accepted: one of them, or neither for UTC")
	case s.TimeZone != nil && *s.TimeZone == "":
		return nil, errors.New("spec.timeZone: is empty; accepted: UTC, Europe/Berlin, or leave it out for UTC")
	}
	if _, err := selectorOf("spec.clusterSelector", s.ClusterSelector, false); err != nil {
		return nil, err
	}
	hours, _, err := window.Compile(WindowSpec(s, zone))
	if problems := (window.Problems)(nil); errors.As(err, &problems) {
		for i := range problems {
			problems[i].Field = "spec." + problems[i].Field
		}
		return nil, problems
	}
	return hours, err
}

// WindowSpec is a calendar as package window reads it. zone is the time zone of one with timeZoneFrom: Cluster.
func WindowSpec(s *fleetv1.MaintenanceCalendarSpec, zone string) window.Spec {
	spec := window.Spec{TimeZone: zone}
	if s.TimeZoneFrom != fleetv1.TimeZoneFromCluster {
		spec.TimeZone = value(s.TimeZone)
	}
	for _, w := range s.Windows {
		spec.Windows = append(spec.Windows, window.Recurrence{
			Schedule: string(value(w.Schedule)), RRule: string(value(w.RRule)), Duration: value(w.Duration).Duration,
		})
	}
	for _, x := range s.Exclusions {
		spec.Exclusions = append(spec.Exclusions, window.Exclusion{
			Recurrence: window.Recurrence{
				Schedule: string(value(x.Schedule)), RRule: string(value(x.RRule)), Duration: value(x.Duration).Duration,
			},
			From: string(value(x.From)), To: string(value(x.To)),
		})
	}
	return spec
}

// WrongCalendar says why a policy's calendars do not all resolve: a reason of a RolloutPolicy, and for the first that does
// not its field, its text and what to do. Empty: they do.
func (c *Calendars) WrongCalendar(
	spec *fleetv1.RolloutPolicySpec, namespace string, calendars []*fleetv1.MaintenanceCalendar,
) (reason, message string) {
	if len(spec.Calendars) == 0 && !value(spec.AnyTime) {
		return policy.ReasonCalendarNotFound, noCalendar
	}
	byName := named(calendars)
	for i, name := range spec.Calendars {
		cal := byName[name]
		if cal == nil {
			return policy.ReasonCalendarNotFound, fmt.Sprintf("spec.calendars[%d]: %s", i, notFound(name, namespace))
		}
		if _, err := c.Compile(cal, ""); err != nil {
			return policy.ReasonCalendarInvalid, fmt.Sprintf("spec.calendars[%d]: %s", i, invalid(name, err))
		}
	}
	return "", ""
}

// noCalendar is what is said of a policy that was stored without saying when.
const noCalendar = "spec.calendars: is empty and anyTime is not given, which is never; accepted: [eu-nights], or " +
	"anyTime: true in place of calendars"

func notFound(name, namespace string) string {
	return fmt.Sprintf("there is no MaintenanceCalendar %q in namespace %q, so it is closed; make it, or name another",
		name, namespace)
}

func invalid(name string, err error) string {
	return fmt.Sprintf("MaintenanceCalendar %s cannot be read, so it is closed: %v", name, err)
}

func named(calendars []*fleetv1.MaintenanceCalendar) map[string]*fleetv1.MaintenanceCalendar {
	byName := make(map[string]*fleetv1.MaintenanceCalendar, len(calendars))
	for _, cal := range calendars {
		byName[cal.Name] = cal
	}
	return byName
}

// value is what a pointer points to, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}
