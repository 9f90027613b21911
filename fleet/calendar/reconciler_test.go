// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/calendar"
)

const namespace = "fleet"

// world is a hub with one calendar.
type world struct {
	t     *testing.T
	hub   client.Client
	clock *clocktesting.FakeClock
	r     *calendar.Reconciler
	key   client.ObjectKey
}

func newWorld(t *testing.T, now string, cal *fleetv1.MaintenanceCalendar, others ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(others, cal)...).
		WithStatusSubresource(&fleetv1.MaintenanceCalendar{}).Build()
	c := clocktesting.NewFakeClock(instant(t, now))
	return &world{
		t: t, hub: hub, clock: c, r: &calendar.Reconciler{Hub: hub, Clock: c}, key: client.ObjectKeyFromObject(cal),
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// look reconciles once, and returns the status and when the controller wants to come back.
func (w *world) look() (fleetv1.MaintenanceCalendarStatus, time.Duration) {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: w.key})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.stored().Status, result.RequeueAfter
}

func (w *world) stored() *fleetv1.MaintenanceCalendar {
	w.t.Helper()
	cal := &fleetv1.MaintenanceCalendar{}
	if err := w.hub.Get(w.t.Context(), w.key, cal); err != nil {
		w.t.Fatal(err)
	}
	return cal
}

func cron(zone, schedule, duration string) *fleetv1.MaintenanceCalendar {
	d, _ := time.ParseDuration(duration)
	cal := &fleetv1.MaintenanceCalendar{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nights", Generation: 1}}
	cal.Spec.Windows = []fleetv1.CalendarWindow{{
		Schedule: new(fleetv1.Schedule(schedule)), Duration: &metav1.Duration{Duration: d},
	}}
	if zone != "" {
		cal.Spec.TimeZone = &zone
	}
	return cal
}

func ready(s fleetv1.MaintenanceCalendarStatus) metav1.Condition {
	if c := meta.FindStatusCondition(s.Conditions, fleetv1.ReadyCondition); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestTheNextFiveOpeningsStandInUTCAndInLocalTime(t *testing.T) {
	w := newWorld(t, "2026-10-20T12:00:00Z", cron("Europe/Berlin", "0 2 * * 6", "4h"))
	s, again := w.look()
	var local []string
	for _, o := range s.Zones[0].Next {
		local = append(local, o.OpensAt.UTC().Format(time.RFC3339)+" = "+o.Local)
	}
	want := []string{
		"2026-10-24T00:00:00Z = Sat 2026-10-24 02:00 CEST – 06:00 CEST",
		"2026-10-31T01:00:00Z = Sat 2026-10-31 02:00 CET – 06:00 CET",
		"2026-11-07T01:00:00Z = Sat 2026-11-07 02:00 CET – 06:00 CET",
		"2026-11-14T01:00:00Z = Sat 2026-11-14 02:00 CET – 06:00 CET",
		"2026-11-21T01:00:00Z = Sat 2026-11-21 02:00 CET – 06:00 CET",
	}
	if diff := cmp.Diff(want, local); diff != "" {
		t.Error(diff)
	}
	if s.Open != fleetv1.CalendarIsClosed || s.Until != "2026-10-24T00:00:00Z" || s.Zone != "Europe/Berlin" || s.ZoneData == "" {
		t.Errorf("open %s until %s in %s, zone data %q", s.Open, s.Until, s.Zone, s.ZoneData)
	}
	if again != 5*time.Minute { // the next edge is days away; a clock may be set meanwhile
		t.Errorf("looked at again after %s", again)
	}
}

func TestC023ItIsLookedAtAgainAtEachEdgeWithNoOtherEvent(t *testing.T) {
	w := newWorld(t, "2026-09-25T15:30:00Z", cron("", "0 16 * * *", "1h"))
	for _, want := range []struct {
		open  fleetv1.CalendarOpen
		until string
	}{
		{fleetv1.CalendarIsClosed, "2026-09-25T16:00:00Z"},
		{fleetv1.CalendarIsOpen, "2026-09-25T17:00:00Z"},
		{fleetv1.CalendarIsClosed, "2026-09-26T16:00:00Z"},
		{fleetv1.CalendarIsOpen, "2026-09-26T17:00:00Z"},
	} {
		s, again := w.look()
		if s.Open != want.open || s.Until != want.until {
			t.Errorf("%s until %s, want %s until %s", s.Open, s.Until, want.open, want.until)
		}
		until := instant(t, want.until)
		for w.clock.Now().Before(until) {
			if again <= 0 || again > until.Sub(w.clock.Now()) {
				t.Fatalf("at %s it is looked at again after %s", w.clock.Now(), again)
			}
			w.clock.Step(again)
			if w.clock.Now().Before(until) {
				_, again = w.look()
			}
		}
	}
}

func TestC017AHubThatStartsInTheMiddleOfAWindowFindsItOpen(t *testing.T) {
	s, _ := newWorld(t, "2026-09-26T03:15:00Z", cron("", "0 2 * * 6", "4h")).look()
	if s.Open != fleetv1.CalendarIsOpen || s.Until != "2026-09-26T06:00:00Z" {
		t.Errorf("%s until %s", s.Open, s.Until)
	}
}

func TestC031EditingOnlyTheZoneMovesTheNextOpeningAtOnce(t *testing.T) {
	w := newWorld(t, "2026-09-16T12:00:00Z", cron("Africa/Abidjan", "0 1 * * *", "1h"))
	if s, _ := w.look(); s.Until != "2026-09-17T01:00:00Z" {
		t.Errorf("in Abidjan until %s", s.Until)
	}
	cal := w.stored()
	cal.Spec.TimeZone = new("Asia/Kolkata")
	if err := w.hub.Update(t.Context(), cal); err != nil {
		t.Fatal(err)
	}
	if s, _ := w.look(); s.Until != "2026-09-16T19:30:00Z" || s.Zone != "Asia/Kolkata" {
		t.Errorf("in %s until %s", s.Zone, s.Until)
	}
}

func TestC024And146ACalendarThatCannotBeReadIsClosedAndSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		cal  *fleetv1.MaintenanceCalendar
		says []string
	}{
		"C024: an hour of 24":      {cron("", "* 7-24 * * 0-6", "1h"), []string{"spec.windows[0].schedule", "7-24"}},
		"C025: a range that wraps": {cron("", "0 0 * * sat-sun", "1h"), []string{"spec.windows[0].schedule", "sat-sun"}},
		"C146: no such zone":       {cron("Mars/Phobos", "0 0 * * *", "1h"), []string{"spec.timeZone", "Mars/Phobos"}},
		"C146: a path":             {cron("../../etc/passwd", "0 0 * * *", "1h"), []string{"spec.timeZone"}},
		"C035: no duration":        {cron("", "0 0 * * *", "0s"), []string{"spec.windows[0].duration"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, again := newWorld(t, "2026-09-16T12:00:00Z", c.cal).look()
			got := ready(s)
			if got.Status != metav1.ConditionFalse || got.Reason != fleetv1.InvalidReason {
				t.Errorf("Ready is %s(%s)", got.Status, got.Reason)
			}
			for _, text := range append(c.says, "closed", "accepted") {
				if !strings.Contains(got.Message, text) {
					t.Errorf("%q does not say %q", got.Message, text)
				}
			}
			if s.Open != fleetv1.CalendarIsClosed || s.Until != fleetv1.UntilAct || again != 0 || len(s.Zones) > 0 {
				t.Errorf("%s until %s, again after %s, zones %v", s.Open, s.Until, again, s.Zones)
			}
		})
	}
}

func TestC020AWindowThatReachesTheNextStartIsReadyWithAWarning(t *testing.T) {
	s, _ := newWorld(t, "2026-09-26T12:00:00Z", cron("", "0 5 * * 6,0", "38h")).look()
	if got := ready(s); got.Status != metav1.ConditionTrue || !strings.Contains(got.Message, "careful: spec.windows[0]") {
		t.Errorf("Ready is %s: %s", got.Status, got.Message)
	}
	if s.Until != "2026-09-28T19:00:00Z" {
		t.Errorf("closes at %s", s.Until)
	}
}

func TestOneCalendarForManyZonesShowsEachZoneThatItsClustersAreIn(t *testing.T) {
	cal := cron("", "0 2 * * *", "1h")
	cal.Spec.TimeZoneFrom = fleetv1.TimeZoneFromCluster
	cal.Spec.ClusterSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}
	mc := &fleetv1.ManagementCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "mgmt", Annotations: map[string]string{fleetv1.TimeZoneAnnotation: "Asia/Tokyo"},
	}}
	cluster := func(name, zone, tier string) client.Object {
		wc := &fleetv1.WorkloadCluster{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{"tier": tier},
		}}
		wc.Spec.ManagementCluster, wc.Status.TimeZone = "mgmt", zone
		return wc
	}
	w := newWorld(t, "2026-09-16T17:30:00Z", cal, mc, cluster("a", "Europe/Berlin", "prod"), cluster("b", "", "prod"),
		cluster("c", "America/New_York", "test"), cluster("d", "Europe/Berlin", "prod"))
	s, again := w.look()
	var zones []string
	for _, z := range s.Zones {
		zones = append(zones, z.TimeZone)
	}
	if diff := cmp.Diff([]string{"Asia/Tokyo", "Europe/Berlin"}, zones); diff != "" {
		t.Error(diff)
	}
	// 17:30 UTC is 02:30 in Tokyo, where it closes in half an hour; it opens in Berlin at midnight UTC.
	if s.Open != fleetv1.CalendarIsPartlyOpen || s.Zone != "2 zones" || again != 5*time.Minute {
		t.Errorf("%s in %s, again after %s", s.Open, s.Zone, again)
	}
}

func TestWhatDoesNotChangeIsNotWrittenAgain(t *testing.T) {
	w := newWorld(t, "2026-09-16T12:00:00Z", cron("", "0 2 * * *", "1h"))
	w.look()
	before := w.stored().ResourceVersion
	w.clock.Step(time.Hour)
	w.look()
	if after := w.stored().ResourceVersion; after != before {
		t.Error("an hour later, with nothing new to say, the status was written again")
	}
}
