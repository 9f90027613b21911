// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// calendar is open from each time of a cron schedule for a while.
func calendar(name, schedule string, d time.Duration) *fleetv1.MaintenanceCalendar {
	return &fleetv1.MaintenanceCalendar{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec: fleetv1.MaintenanceCalendarSpec{Windows: []fleetv1.CalendarWindow{{
			Schedule: new(fleetv1.Schedule(schedule)), Duration: &metav1.Duration{Duration: d},
		}}},
	}
}

// bound is the standing policy k8s within calendars, whose machines take five minutes each.
func bound(calendars ...string) *fleetv1.RolloutPolicy {
	p := standing("k8s")
	p.Spec.AnyTime, p.Spec.Calendars = nil, calendars
	p.Spec.Upgrade = &fleetv1.PolicyUpgrade{Machine: &fleetv1.PolicyMachine{
		Expected: &metav1.Duration{Duration: 5 * time.Minute},
	}}
	return p
}

// within is a hub at an instant with policy k8s, its Rollout, and two clusters of one member.
func within(t *testing.T, at string, p *fleetv1.RolloutPolicy, calendars ...client.Object) (h *hub, name string) {
	t.Helper()
	h = newHub(t, append(calendars, p, member("mgmt-a", 2), recorded("a"), recorded("b"))...)
	h.at(at)
	h.turn()
	return h, h.allRollouts()[0].Name
}

// at sets the clock.
func (h *hub) at(text string) {
	h.t.Helper()
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		h.t.Fatal(err)
	}
	h.clock.SetTime(now)
}

// status is that of a Rollout.
func (h *hub) status(name string) fleetv1.RolloutStatus {
	h.t.Helper()
	ro := &fleetv1.Rollout{}
	h.get(name, ro)
	return ro.Status
}

// edit changes an object as a person does, which is another generation of it.
func edit[T client.Object](h *hub, o T, change func(T)) {
	h.t.Helper()
	h.get(o.GetName(), o)
	change(o)
	o.SetGeneration(o.GetGeneration() + 1)
	if err := h.live.Update(h.t.Context(), o); err != nil {
		h.t.Fatal(err)
	}
}

// policy edits policy k8s.
func (h *hub) policy(change func(*fleetv1.RolloutPolicySpec)) {
	h.t.Helper()
	edit(h, standing("k8s"), func(p *fleetv1.RolloutPolicy) { change(&p.Spec) })
}

// told are the events since the last time.
func (h *hub) told() []string {
	var all []string
	for {
		select {
		case e := <-h.events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// TestC023_NothingButTheClockWakesIt: a cluster that waits for a window begins when it opens, without any other event.
func TestC023_NothingButTheClockWakesIt(t *testing.T) {
	h, name := within(t, "2026-11-30T15:30:00Z", bound("afternoon"), calendar("afternoon", "0 16 * * *", time.Hour))
	h.settle(name)
	s := h.status(name)
	if w := s.Waiting; h.running() != 0 || w == nil || w.Reason != "WindowClosed" || s.Until != "2026-11-30T16:00:00Z" {
		t.Fatalf("%d run, waiting %+v until %s", h.running(), w, s.Until)
	}
	opens := time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC)
	for looks := 0; h.running() == 0; looks++ {
		result, err := h.rollouts.Reconcile(t.Context(), request(name))
		if err != nil || result.RequeueAfter == 0 || looks > 20 {
			t.Fatalf("look %d at %s: again after %s, %v", looks, h.clock.Now(), result.RequeueAfter, err)
		}
		if h.running() > 0 {
			break
		}
		h.clock.Step(result.RequeueAfter)
	}
	if now := h.clock.Now(); now.Before(opens) || now.Sub(opens) >= time.Minute {
		t.Errorf("it began at %s", now)
	}
	for _, cu := range h.upgrades() {
		// The last machine may begin when five minutes are left.
		if cu.Spec.Intent == fleetv1.IntentRun && !cu.Spec.NotAfter.Equal(new(metav1.NewTime(opens.Add(55*time.Minute)))) {
			t.Errorf("%s may begin machines until %s", cu.Name, cu.Spec.NotAfter)
		}
	}
}

// TestC024_ABadCalendarStopsItsPolicyAndNoOther, and says so on the policy.
func TestC024_ABadCalendarStopsItsPolicyAndNoOther(t *testing.T) {
	other := standing("other")
	other.Spec.Priority = new(int32(-1))
	h, name := within(t, "2026-11-30T02:00:00Z", bound("bad"), calendar("bad", "* 7-24 * * 0-6", time.Hour), other)
	h.settle(name)
	h.turn()
	p := &fleetv1.RolloutPolicy{}
	h.get("k8s", p)
	c := meta.FindStatusCondition(p.Status.Conditions, fleetv1.ReadyCondition)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != "CalendarInvalid" ||
		!strings.Contains(c.Message, "spec.windows[0].schedule") || !strings.Contains(c.Message, "7-24") {
		t.Errorf("the policy says %+v", c)
	}
	if s := h.status(name); h.running() != 0 || s.Plan == nil || s.Waiting == nil || s.Waiting.Reason != "CalendarInvalid" {
		t.Errorf("%d run, plan %+v, waiting %+v", h.running(), s.Plan, s.Waiting)
	}
	if _, err := h.policies.Reconcile(t.Context(), request("other")); err != nil {
		t.Fatal(err)
	}
	for _, ro := range h.allRollouts() {
		if ro.Spec.Policy.Name == "other" {
			h.settle(ro.Name)
		}
	}
	if h.running() != 1 {
		t.Errorf("%d clusters of the other policy run", h.running())
	}
	edit(h, calendar("bad", "", 0), func(cal *fleetv1.MaintenanceCalendar) {
		cal.Spec.Windows[0].Schedule = new(fleetv1.Schedule("* 7-23 * * 0-6"))
	})
	h.turn()
	h.get("k8s", p)
	if !meta.IsStatusConditionTrue(p.Status.Conditions, fleetv1.ReadyCondition) {
		t.Errorf("put right: %+v", p.Status.Conditions)
	}
}

// TestLaw9_LosingACalendarOpensNothing: what is in flight holds, and goes on when the calendar is back.
func TestLaw9_LosingACalendarOpensNothing(t *testing.T) {
	nights := calendar("nights", "0 2 * * *", 4*time.Hour)
	h, name := within(t, "2026-11-30T02:00:00Z", bound("nights"), nights)
	h.settle(name)
	if h.running() != 1 {
		t.Fatalf("%d run", h.running())
	}
	h.begin(name + "-a")
	if err := h.live.Delete(t.Context(), nights); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	h.turn()
	p := &fleetv1.RolloutPolicy{}
	h.get("k8s", p)
	if c := meta.FindStatusCondition(p.Status.Conditions, fleetv1.ReadyCondition); c.Reason != "CalendarNotFound" {
		t.Errorf("the policy says %s: %s", c.Reason, c.Message)
	}
	if h.running() != 0 || h.holding() != 1 {
		t.Errorf("%d run, %d hold", h.running(), h.holding())
	}
	if err := h.live.Create(t.Context(), calendar("nights", "0 2 * * *", 4*time.Hour)); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	if h.running() != 1 || h.holding() != 0 {
		t.Errorf("once it is back: %d run, %d hold", h.running(), h.holding())
	}
}

// holding counts the clusters whose intent is Hold.
func (h *hub) holding() int {
	h.t.Helper()
	n := 0
	for _, cu := range h.upgrades() {
		if cu.Spec.Intent == fleetv1.IntentHold {
			n++
		}
	}
	return n
}

// TestC029_TakingTheLastCalendarAwayIsSaid, once, while clusters have not begun.
func TestC029_TakingTheLastCalendarAwayIsSaid(t *testing.T) {
	h, name := within(t, "2026-11-30T12:00:00Z", bound("nights"), calendar("nights", "0 2 * * *", 4*time.Hour))
	h.settle(name)
	if h.running() != 0 {
		t.Fatalf("%d run by day", h.running())
	}
	h.policy(func(s *fleetv1.RolloutPolicySpec) { s.Calendars, s.AnyTime = nil, new(true) })
	h.settle(name)
	told := h.told()
	if h.running() != 1 || len(told) != 1 || !strings.HasPrefix(told[0], "Warning AnyTime") || !strings.Contains(told[0], "2 clusters") {
		t.Errorf("%d run, told %q", h.running(), told)
	}
}

// TestC029_APolicyThatSaysNoTimeIsClosed, however it was stored.
func TestC029_APolicyThatSaysNoTimeIsClosed(t *testing.T) {
	for name, calendars := range map[string][]string{"absent": nil, "an empty list": {}} {
		t.Run(name, func(t *testing.T) {
			h, name := within(t, "2026-11-30T02:00:00Z", bound(calendars...))
			h.settle(name)
			h.turn()
			p := &fleetv1.RolloutPolicy{}
			h.get("k8s", p)
			c := meta.FindStatusCondition(p.Status.Conditions, fleetv1.ReadyCondition)
			if h.running() != 0 || c.Reason != "CalendarNotFound" || !strings.Contains(c.Message, "anyTime: true") {
				t.Errorf("%d run; %s: %s", h.running(), c.Reason, c.Message)
			}
		})
	}
}

// TestC031_EditingOnlyTheTimeZoneMovesTheNextOpeningAtOnce.
func TestC031_EditingOnlyTheTimeZoneMovesTheNextOpeningAtOnce(t *testing.T) {
	nights := calendar("nights", "0 1 * * *", time.Hour)
	nights.Spec.TimeZone = new("Africa/Abidjan")
	h, name := within(t, "2026-09-16T12:00:00Z", bound("nights"), nights)
	h.settle(name)
	if until := h.status(name).Until; until != "2026-09-17T01:00:00Z" {
		t.Errorf("until %s", until)
	}
	edit(h, nights, func(cal *fleetv1.MaintenanceCalendar) { cal.Spec.TimeZone = new("Asia/Kolkata") })
	h.settle(name)
	if until := h.status(name).Until; until != "2026-09-16T19:30:00Z" {
		t.Errorf("after the edit until %s", until)
	}
	h.at("2026-09-16T19:45:00Z")
	h.settle(name)
	if h.running() != 1 {
		t.Errorf("%d run when it is open", h.running())
	}
}

// TestC042_AWindowThatPassedWhileTheHubWasDownIsSaidOnce.
func TestC042_AWindowThatPassedWhileTheHubWasDownIsSaidOnce(t *testing.T) {
	h, name := within(t, "2026-11-30T01:00:00Z", bound("nights"), calendar("nights", "0 2 * * *", 4*time.Hour))
	h.settle(name)
	h.at("2026-11-30T07:00:00Z")
	h.restart()
	h.settle(name)
	told := h.told()
	if len(told) != 1 || !strings.HasPrefix(told[0], "Warning WindowMissed") || !strings.Contains(told[0], "ControllerDown") ||
		!strings.Contains(told[0], "2026-11-30T02:00:00Z to 2026-11-30T06:00:00Z") {
		t.Errorf("told %q", told)
	}
	h.restart()
	h.settle(name)
	if again := h.told(); len(again) != 0 || h.running() != 0 {
		t.Errorf("%d run; after another restart it told %q", h.running(), again)
	}
}

// TestC042_ARestartInsideTheWindowRepeatsNothing.
func TestC042_ARestartInsideTheWindowRepeatsNothing(t *testing.T) {
	h, name := within(t, "2026-11-30T02:00:00Z", bound("nights"), calendar("nights", "0 2 * * *", 4*time.Hour))
	h.settle(name)
	h.at("2026-11-30T02:20:00Z")
	h.succeed(name + "-a")
	h.settle(name)
	before := h.intents()
	h.at("2026-11-30T02:40:00Z")
	h.restart()
	h.settle(name)
	if diff := h.changed(before); diff != "" || h.running() != 2 {
		t.Errorf("%d run; written again: %s", h.running(), diff)
	}
}
