// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

// calendar is one that opens by a cron schedule for a while.
func calendar(name, schedule string, d time.Duration, change ...func(*fleetv1.MaintenanceCalendar)) *fleetv1.MaintenanceCalendar {
	cal := &fleetv1.MaintenanceCalendar{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec: fleetv1.MaintenanceCalendarSpec{Windows: []fleetv1.CalendarWindow{{
			Schedule: new(fleetv1.Schedule(schedule)), Duration: &metav1.Duration{Duration: d},
		}}},
	}
	for _, c := range change {
		c(cal)
	}
	return cal
}

func perCluster(cal *fleetv1.MaintenanceCalendar) {
	cal.Spec.TimeZoneFrom = fleetv1.TimeZoneFromCluster
}

func binds(s *metav1.LabelSelector) func(*fleetv1.MaintenanceCalendar) {
	return func(cal *fleetv1.MaintenanceCalendar) { cal.Spec.ClusterSelector = s }
}

// naming is a policy that names calendars.
func naming(names ...string) *fleetv1.RolloutPolicy {
	return &fleetv1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s", UID: "uid-k8s"},
		Spec:       fleetv1.RolloutPolicySpec{Calendars: names},
	}
}

func anyTime() *fleetv1.RolloutPolicy {
	p := naming()
	p.Spec.AnyTime = new(true)
	return p
}

// of is the upgrade of a recorded cluster.
func of(wc *fleetv1.WorkloadCluster, change ...func(*fleetv1.ClusterUpgrade)) *fleetv1.ClusterUpgrade {
	cu := upgrade(wc.Spec.Cluster.Name, change...)
	cu.Spec.WorkloadCluster = fleetv1.LocalRef{Name: wc.Name, UID: wc.UID}
	return cu
}

// hubOf is a hub with one rollout of some recorded clusters of mgmt-a.
func hubOf(p *fleetv1.RolloutPolicy, calendars []*fleetv1.MaintenanceCalendar, clusters ...*fleetv1.WorkloadCluster) observe.Hub {
	h := observe.Hub{
		Rollout: rollout(func(ro *fleetv1.Rollout) {
			ro.Namespace, ro.Spec.Policy = "fleet", fleetv1.LocalRef{Name: "k8s", UID: "uid-k8s"}
		}),
		Policy: p, Calendars: calendars, WorkloadClusters: clusters,
		Members: map[string]*fleetv1.ManagementCluster{"mgmt-a": member("mgmt-a", nil)},
	}
	for _, wc := range clusters {
		h.Upgrades = append(h.Upgrades, of(wc))
	}
	return h
}

// hoursOf are, by cluster, the calendars that apply, and their problems.
func hoursOf(f policy.Fleet) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, c := range f.Clusters {
		all[c.ID] = map[string]string{}
		for _, key := range c.Calendars {
			cal := f.Calendars[key]
			all[c.ID][key] = cal.Problem
			if (cal.Hours == nil) != (cal.Problem != "") {
				all[c.ID][key] = "hours and a problem, or neither"
			}
		}
	}
	return all
}

// TestTheCalendarsOfACluster are those of the policy and those that bind it by themselves; what cannot be read is closed
// (law 9).
func TestTheCalendarsOfACluster(t *testing.T) {
	prod := seen("mgmt-a/shop/a", func(wc *fleetv1.WorkloadCluster) { wc.Labels["tier"] = "prod" })
	lab := seen("mgmt-a/shop/b")
	nights, weekends := calendar("nights", "0 2 * * *", 4*time.Hour), calendar("weekends", "0 0 * * 6", 48*time.Hour)
	misspelt := calendar("nights", "0 2 * * *", time.Hour, func(cal *fleetv1.MaintenanceCalendar) {
		cal.Spec.Unknown = []string{"spec.exclusion"}
	})
	unreadable := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Is"}}}
	type hours = map[string]map[string]string
	cases := map[string]struct {
		policy    *fleetv1.RolloutPolicy
		calendars []*fleetv1.MaintenanceCalendar
		want      hours
	}{
		"C029: anyTime: true is any time": {
			anyTime(), []*fleetv1.MaintenanceCalendar{nights}, hours{"a": {}, "b": {}},
		},
		"C029: neither calendars nor anyTime is never": {
			naming(), nil, hours{"a": {"": "CalendarNotFound"}, "b": {"": "CalendarNotFound"}},
		},
		"C029: an empty list is never": {
			naming([]string{}...), nil, hours{"a": {"": "CalendarNotFound"}, "b": {"": "CalendarNotFound"}},
		},
		"those that the policy names": {
			naming("weekends", "nights"),
			[]*fleetv1.MaintenanceCalendar{nights, weekends},
			hours{"a": {"nights": "", "weekends": ""}, "b": {"nights": "", "weekends": ""}},
		},
		"one that is absent is closed": {
			naming("nights"),
			[]*fleetv1.MaintenanceCalendar{weekends},
			hours{"a": {"nights": "CalendarNotFound"}, "b": {"nights": "CalendarNotFound"}},
		},
		"C024: one that cannot be read is closed, and the other is as it was": {
			naming("nights", "weekends"),
			[]*fleetv1.MaintenanceCalendar{calendar("nights", "* 7-24 * * 0-6", time.Hour), weekends},
			hours{"a": {"nights": "CalendarInvalid", "weekends": ""}, "b": {"nights": "CalendarInvalid", "weekends": ""}},
		},
		"law 21: one with a misspelt field is closed": {
			naming("nights"),
			[]*fleetv1.MaintenanceCalendar{misspelt},
			hours{"a": {"nights": "CalendarInvalid"}, "b": {"nights": "CalendarInvalid"}},
		},
		"one that binds clusters by its selector": {
			anyTime(),
			[]*fleetv1.MaintenanceCalendar{calendar("nights", "0 2 * * *", time.Hour, binds(selector("tier", "prod")))},
			hours{"a": {"nights": ""}, "b": {}},
		},
		"one that binds clusters beside one that the policy names": {
			naming("weekends"),
			[]*fleetv1.MaintenanceCalendar{calendar("nights", "0 2 * * *", time.Hour, binds(selector("tier", "prod"))), weekends},
			hours{"a": {"nights": "", "weekends": ""}, "b": {"weekends": ""}},
		},
		"one that binds clusters and cannot be read closes these": {
			anyTime(),
			[]*fleetv1.MaintenanceCalendar{calendar("nights", "0 24 * * *", time.Hour, binds(selector("tier", "prod")))},
			hours{"a": {"nights": "CalendarInvalid"}, "b": {}},
		},
		"one whose selector cannot be read may bind any, and closes all": {
			anyTime(),
			[]*fleetv1.MaintenanceCalendar{calendar("nights", "0 2 * * *", time.Hour, binds(unreadable))},
			hours{"a": {"nights": "CalendarInvalid"}, "b": {"nights": "CalendarInvalid"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := hoursOf(observe.Fleet(hubOf(c.policy, c.calendars, prod, lab)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOneCalendarForManyZones: timeZoneFrom: Cluster means 02:00 local everywhere.
func TestOneCalendarForManyZones(t *testing.T) {
	zoned := func(zone string) func(*fleetv1.WorkloadCluster) {
		return func(wc *fleetv1.WorkloadCluster) { wc.Status.TimeZone = zone }
	}
	frozen := func(zone string) func(*fleetv1.ClusterUpgrade) {
		return func(cu *fleetv1.ClusterUpgrade) { cu.Spec.TimeZone = zone }
	}
	of := func(wc *fleetv1.WorkloadCluster, change ...func(*fleetv1.ClusterUpgrade)) observe.Hub {
		h := hubOf(naming("nights"), []*fleetv1.MaintenanceCalendar{calendar("nights", "0 2 * * *", time.Hour, perCluster)}, wc)
		for _, c := range change {
			c(h.Upgrades[0])
		}
		return h
	}
	annotated := of(seen("mgmt-a/shop/a"))
	annotated.Members["mgmt-a"].Annotations = map[string]string{fleetv1.TimeZoneAnnotation: "Asia/Tokyo"}
	cases := map[string]struct {
		hub     observe.Hub
		key     string
		problem string
		opens   string
	}{
		"the zone of the cluster": {
			of(seen("mgmt-a/shop/a", zoned("Europe/Berlin"))), "nights@Europe/Berlin", "", "2026-12-01T01:00:00Z",
		},
		"else that of its management cluster": {annotated, "nights@Asia/Tokyo", "", "2026-11-30T17:00:00Z"},
		"as it was at planning": {
			of(seen("mgmt-a/shop/a", zoned("Europe/Berlin")), frozen("America/New_York")), "nights@America/New_York", "",
			"2026-11-30T07:00:00Z",
		},
		"none is closed": {of(seen("mgmt-a/shop/a")), "nights@", policy.ReasonTimeZoneMissing, ""},
		"one that is none is closed, and the calendar is not to blame": {
			of(seen("mgmt-a/shop/a", zoned("Mars/Olympus"))), "nights@Mars/Olympus", policy.ReasonTimeZoneMissing, "",
		},
		"C146: one that looks like a path is closed": {
			of(seen("mgmt-a/shop/a", zoned("../../etc/passwd"))), "nights@../../etc/passwd", policy.ReasonTimeZoneMissing, "",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := observe.Fleet(c.hub)
			if !slices.Equal(f.Clusters[0].Calendars, []string{c.key}) {
				t.Fatalf("calendars %q", f.Clusters[0].Calendars)
			}
			cal := f.Calendars[c.key]
			if cal.Problem != c.problem || cal.Name != "nights" {
				t.Fatalf("%s: %s %s", cal.Name, cal.Problem, cal.Message)
			}
			if c.problem != "" {
				if !strings.Contains(cal.Message, fleetv1.TimeZoneAnnotation) {
					t.Errorf("it does not say what to do: %s", cal.Message)
				}
				return
			}
			if next, _ := cal.Hours.Next(now); next.Start.UTC().Format(time.RFC3339) != c.opens {
				t.Errorf("it opens at %s", next.Start.UTC())
			}
		})
	}
}

// TestC031_EditingOnlyTheTimeZoneMovesTheNextOpeningAtOnce, though calendars are kept compiled.
func TestC031_EditingOnlyTheTimeZoneMovesTheNextOpeningAtOnce(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	cal := calendar("nights", "0 1 * * *", time.Hour)
	kept := &observe.Calendars{}
	h := hubOf(naming("nights"), []*fleetv1.MaintenanceCalendar{cal}, seen("mgmt-a/shop/a"))
	h.Compiled = kept
	look := func(zone string, generation int64) policy.Calendar {
		cal.Spec.TimeZone, cal.Generation = &zone, generation
		return observe.Fleet(h).Calendars["nights"]
	}
	from := at("2026-09-16T12:00:00Z")
	if next, _ := look("Africa/Abidjan", 1).Hours.Next(from); !next.Start.Equal(at("2026-09-17T01:00:00Z")) {
		t.Errorf("in Abidjan it opens at %s", next.Start.UTC())
	}
	india := look("Asia/Kolkata", 2).Hours
	if next, _ := india.Next(from); !next.Start.Equal(at("2026-09-16T19:30:00Z")) {
		t.Errorf("in Kolkata it opens at %s", next.Start.UTC())
	}
	if !india.Open(at("2026-09-16T19:45:00Z")) || india.Open(at("2026-09-17T01:15:00Z")) {
		t.Error("it is not open when it should be, or open when it should not")
	}
}

func TestCalendarsAreCompiledOncePerObjectGenerationAndZone(t *testing.T) {
	kept := &observe.Calendars{}
	compile := func(cal *fleetv1.MaintenanceCalendar, zone string) any {
		hours, err := kept.Compile(cal, zone)
		if err != nil {
			t.Fatal(err)
		}
		return hours
	}
	cal := calendar("nights", "0 2 * * *", time.Hour)
	first := compile(cal, "")
	if compile(cal.DeepCopy(), "Asia/Tokyo") != first {
		t.Error("compiled twice, for a zone that does not count")
	}
	edited := calendar("nights", "0 3 * * *", time.Hour)
	edited.Generation = 2
	if compile(edited, "") == first {
		t.Error("an edit was not seen")
	}
	other := calendar("nights", "0 2 * * *", time.Hour)
	other.UID = "made anew"
	if compile(other, "") == first {
		t.Error("one of the same name was taken for another (law 1)")
	}
	cal = calendar("nights", "0 2 * * *", time.Hour, perCluster)
	cal.UID = "per cluster"
	berlin := compile(cal, "Europe/Berlin")
	if compile(cal, "Asia/Tokyo") == berlin || compile(cal, "Europe/Berlin") != berlin {
		t.Error("zones are mixed up")
	}
	unsaved := calendar("nights", "0 2 * * *", time.Hour)
	unsaved.UID = ""
	if compile(unsaved, "") == compile(unsaved, "") {
		t.Error("one that is in no API server was kept: nothing tells it from the next")
	}
}

// TestC024_WhatIsWrongWithACalendarIsSaid: field, text and an accepted form, for objects that were stored past the rules.
func TestC024_WhatIsWrongWithACalendarIsSaid(t *testing.T) {
	stored := func(change func(*fleetv1.MaintenanceCalendarSpec)) []*fleetv1.MaintenanceCalendar {
		cal := calendar("nights", "0 2 * * *", time.Hour)
		change(&cal.Spec)
		return []*fleetv1.MaintenanceCalendar{cal}
	}
	cases := map[string]struct {
		calendars []*fleetv1.MaintenanceCalendar
		reason    string
		says      []string
	}{
		"it is fine": {stored(func(*fleetv1.MaintenanceCalendarSpec) {}), "", nil},
		"it is not there": {
			nil, "CalendarNotFound", []string{"spec.calendars[0]", `"nights"`, `"fleet"`, "make it"},
		},
		"C024: an hour of 24": {
			[]*fleetv1.MaintenanceCalendar{calendar("nights", "* 7-24 * * 0-6", time.Hour)},
			"CalendarInvalid",
			[]string{"spec.calendars[0]", "nights", "spec.windows[0].schedule", "7-24", "accepted"},
		},
		"no window": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) { s.Windows = nil }), "CalendarInvalid", []string{"spec.windows"},
		},
		"C146: a zone that is none": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) { s.TimeZone = new("../../etc/passwd") }), "CalendarInvalid",
			[]string{"spec.timeZone", "../../etc/passwd", "accepted"},
		},
		"C030: an empty zone": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) { s.TimeZone = new("") }), "CalendarInvalid",
			[]string{"spec.timeZone", "accepted: UTC"},
		},
		"two zones": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) { s.TimeZone, s.TimeZoneFrom = new("UTC"), "Cluster" }),
			"CalendarInvalid",
			[]string{"spec.timeZone", "contradicts"},
		},
		"a zone from somewhere": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) { s.TimeZoneFrom = "Moon" }), "CalendarInvalid",
			[]string{"spec.timeZoneFrom", "Moon", "accepted: Cluster"},
		},
		"a window without a duration": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) { s.Windows[0].Duration = nil }), "CalendarInvalid",
			[]string{"spec.windows[0].duration"},
		},
		"an exclusion that cannot be read": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) {
				s.Exclusions = []fleetv1.CalendarExclusion{{From: new(fleetv1.CalendarMoment("24.12.")), To: new(fleetv1.CalendarMoment("26.12."))}}
			}),
			"CalendarInvalid",
			[]string{"spec.exclusions[0].from", "24.12."},
		},
		"a selector that takes all": {
			stored(func(s *fleetv1.MaintenanceCalendarSpec) { s.ClusterSelector = &metav1.LabelSelector{} }), "CalendarInvalid",
			[]string{"spec.clusterSelector", "accepted"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			spec := &fleetv1.RolloutPolicySpec{Calendars: []string{"nights"}}
			reason, message := (&observe.Calendars{}).WrongCalendar(spec, "fleet", c.calendars)
			if reason != c.reason {
				t.Fatalf("%s: %s", reason, message)
			}
			for _, part := range c.says {
				if !strings.Contains(message, part) {
					t.Errorf("it does not say %q: %s", part, message)
				}
			}
		})
	}
}
