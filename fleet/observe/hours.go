// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// hours finds the calendars of each cluster: those that the policy names, and those that bind it by themselves.
type hours struct {
	hub    *Hub
	byName map[string]*fleetv1.MaintenanceCalendar
	named  []string
	bound  []binding
	// all that apply to some cluster, by key.
	all map[string]policy.Calendar
	// shared holds the lists of keys, so that clusters with the same calendars have the same list.
	shared map[string][]string
}

// binding is a calendar that binds the clusters that it selects.
type binding struct {
	name string
	// selects nil: what it selects cannot be read, so that it may be any cluster.
	selects labels.Selector
}

func newHours(h *Hub) *hours {
	x := &hours{
		hub: h, byName: named(h.Calendars), all: map[string]policy.Calendar{}, shared: map[string][]string{},
	}
	if h.Policy == nil {
		return x // it is cancelled
	}
	x.named = h.Policy.Spec.Calendars
	if len(x.named) == 0 && !value(h.Policy.Spec.AnyTime) {
		// An object that says neither was stored past its rules: that is never, not always (law 21).
		x.named = []string{""}
		x.all[""] = policy.Calendar{Problem: policy.ReasonCalendarNotFound, Message: noCalendar}
	}
	for _, cal := range h.Calendars {
		if cal.Spec.ClusterSelector == nil {
			continue
		}
		selects, err := selectorOf("spec.clusterSelector", cal.Spec.ClusterSelector, false)
		if err != nil {
			selects = nil
		}
		x.bound = append(x.bound, binding{cal.Name, selects})
	}
	return x
}

// of are the keys of the calendars that apply to a cluster.
func (x *hours) of(cu *fleetv1.ClusterUpgrade, wc *fleetv1.WorkloadCluster) []string {
	names := slices.Clone(x.named)
	for _, b := range x.bound {
		if b.selects == nil || (wc != nil && b.selects.Matches(labels.Set(wc.Labels))) {
			names = append(names, b.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	for i, name := range names {
		names[i] = x.add(name, cu, wc)
	}
	names = distinct(names)
	joined := strings.Join(names, "\n")
	if _, found := x.shared[joined]; !found {
		x.shared[joined] = names
	}
	return x.shared[joined]
}

// add adds a calendar as it is for a cluster, and gives its key.
func (x *hours) add(name string, cu *fleetv1.ClusterUpgrade, wc *fleetv1.WorkloadCluster) string {
	cal, key, zone := x.byName[name], name, ""
	zoned := cal != nil && cal.Spec.TimeZoneFrom == fleetv1.TimeZoneFromCluster
	if zoned {
		zone = x.zone(cu, wc)
		key += "@" + zone
	}
	if _, found := x.all[key]; found {
		return key
	}
	c := policy.Calendar{Name: name}
	switch {
	case cal == nil:
		c.Problem, c.Message = policy.ReasonCalendarNotFound, notFound(name, x.hub.Rollout.Namespace)
	case zoned && zone == "":
		c.Problem = policy.ReasonTimeZoneMissing
		c.Message = fmt.Sprintf("calendar %s takes the time zone of each cluster, and there is none; accepted: the annotation "+
			"%s: Europe/Berlin on the Cluster or its ManagementCluster", name, fleetv1.TimeZoneAnnotation)
	default:
		c = x.compiled(cal, zone)
	}
	x.all[key] = c
	return key
}

func (x *hours) compiled(cal *fleetv1.MaintenanceCalendar, zone string) policy.Calendar {
	c := policy.Calendar{Name: cal.Name}
	var err error
	if c.Hours, err = x.hub.Compiled.Compile(cal, zone); err == nil {
		return c
	}
	c.Hours, c.Problem, c.Message = nil, policy.ReasonCalendarInvalid, invalid(cal.Name, err)
	if zone == "" {
		return c
	}
	if _, inUTC := x.hub.Compiled.Compile(cal, ""); inUTC == nil {
		c.Problem = policy.ReasonTimeZoneMissing
		c.Message = fmt.Sprintf("calendar %s takes the time zone of each cluster, and the annotation %s does not name one: %v",
			cal.Name, fleetv1.TimeZoneAnnotation, err)
	}
	return c
}

// zone of a cluster: as it was at planning, else as it is.
func (x *hours) zone(cu *fleetv1.ClusterUpgrade, wc *fleetv1.WorkloadCluster) string {
	return cmp.Or(cu.Spec.TimeZone, Zone(wc, x.hub.Members[cu.Spec.ManagementCluster]))
}

// Zone is the time zone of a cluster: its own, else that of its management cluster; empty: there is none.
func Zone(wc *fleetv1.WorkloadCluster, mc *fleetv1.ManagementCluster) string {
	zone := ""
	if wc != nil {
		zone = wc.Status.TimeZone
	}
	if zone == "" && mc != nil {
		zone = mc.Annotations[fleetv1.TimeZoneAnnotation]
	}
	return zone
}
