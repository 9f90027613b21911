// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
)

// predictions are the starts that are foreseen, by the last part of a ClusterUpgrade's name.
func (h *hub) predictions(rollout string) map[string]time.Time {
	h.t.Helper()
	all := map[string]time.Time{}
	for _, cu := range h.upgrades() {
		if p := cu.Spec.Predicted; p != nil {
			all[cu.Name[len(rollout)+1:]] = p.StartAt.UTC()
		}
	}
	return all
}

// TestAPausedPolicyPlansAndForesees: the plan can be read with its windows before anything may begin.
func TestAPausedPolicyPlansAndForesees(t *testing.T) {
	p := bound("nights")
	p.Spec.Paused = true
	h, name := within(t, "2026-11-30T12:00:00Z", p, calendar("nights", "0 22 * * *", time.Hour))
	h.settle(name)
	s := h.status(name)
	if s.Phase != fleetv1.RolloutPaused || s.Plan == nil || len(h.asked(name)) != 0 {
		t.Errorf("%s, plan %+v, %v", s.Phase, s.Plan, h.asked(name))
	}
	cu := &fleetv1.ClusterUpgrade{}
	h.get(name+"-a", cu)
	if p := cu.Spec.Predicted; p == nil || p.Window != "Mon 2026-11-30 22:00 UTC – 23:00 UTC" ||
		!p.StartAt.Equal(new(metav1.NewTime(time.Date(2026, 11, 30, 22, 0, 0, 0, time.UTC)))) {
		t.Errorf("foreseen: %+v", p)
	}
	if s.ETA == nil {
		t.Error("it is not said when it will be through")
	}
}

// TestAnEditIsForeseenWithinAMinute, and what is foreseen takes no slot.
func TestAnEditIsForeseenWithinAMinute(t *testing.T) {
	nights := calendar("nights", "0 22 * * *", time.Hour)
	h, name := within(t, "2026-11-30T12:00:00Z", bound("nights"), nights)
	h.settle(name)
	before := h.predictions(name)
	edit(h, nights, func(cal *fleetv1.MaintenanceCalendar) { cal.Spec.TimeZone = new("Asia/Tokyo") })
	h.settle(name)
	h.clock.Step(time.Minute)
	h.settle(name)
	after := h.predictions(name)
	for _, c := range []string{"a", "b"} {
		if before[c].Sub(after[c]) != 9*time.Hour {
			t.Errorf("%s was foreseen for %s, then for %s", c, before[c], after[c])
		}
	}
	for _, cu := range h.upgrades() {
		if cu.Annotations[observe.ForeseenAnnotation] == "" {
			t.Errorf("%s does not say that nothing but its prediction was written", cu.Name)
		}
		cu.Generation++ // as an API server counts
		if observe.InFlight(&cu) {
			t.Errorf("%s holds a slot", cu.Name)
		}
	}
	versions := h.versions()
	h.settle(name)
	h.clock.Step(30 * time.Minute)
	h.settle(name)
	if diff := cmp.Diff(versions, h.versions()); diff != "" {
		t.Errorf("predictions are written again, though nothing has moved:\n%s", diff)
	}
}

// versions are those of all ClusterUpgrades.
func (h *hub) versions() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	for _, cu := range h.upgrades() {
		all[cu.Name] = cu.ResourceVersion
	}
	return all
}

// TestWhatWasForeseenAndDidNotHappenIsForeseenAnew: a cluster that is kept back does not stay foreseen for yesterday.
func TestWhatWasForeseenAndDidNotHappenIsForeseenAnew(t *testing.T) {
	h, name := started(t)
	h.begin(name + "-a")
	first, eta := h.predictions(name), h.status(name).ETA
	h.clock.SetTime(first["b"].Add(10 * time.Minute))
	h.settle(name)
	next := h.predictions(name)
	if !next["b"].After(first["b"]) || !next["a"].Equal(first["a"]) {
		t.Errorf("first foreseen for %s, and at %s for %s", first, h.clock.Now(), next)
	}
	h.settle(name)
	if later := h.status(name).ETA; !later.After(eta.Time) {
		t.Errorf("it was to be through at %s, and still is to at %s", eta, later)
	}
	for _, cu := range h.upgrades() {
		if cu.Name == name+"-a" && (cu.Annotations[observe.ForeseenAnnotation] != "" || !cu.Spec.Predicted.EndAt.After(h.clock.Now())) {
			t.Errorf("a, which is at work, is foreseen until %s, %v", cu.Spec.Predicted.EndAt, cu.Annotations)
		}
	}
}
