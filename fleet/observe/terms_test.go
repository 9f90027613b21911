// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

// approvedHub is a hub whose rollout has stored its digest, and an Approval of it.
func approvedHub(p *fleetv1.RolloutPolicy, calendars ...*fleetv1.MaintenanceCalendar) observe.Hub {
	h := hubOf(p, calendars, seen("mgmt-a/shop/a", func(wc *fleetv1.WorkloadCluster) { wc.Labels["tier"] = "prod" }))
	planned()(h.Upgrades[0])
	h.Policy.Spec.Waves = []fleetv1.Wave{{Name: "early", MaxConcurrency: new(intstr.FromInt32(2))}}
	digest, covered := observe.Terms(h, observe.Fleet(h))
	h.Rollout.Status.Digest, h.Rollout.Status.Settings = digest, covered.Text()
	h.Approvals = []*fleetv1.Approval{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"},
		Spec:       fleetv1.ApprovalSpec{Rollout: "ro", Wave: "early", PlanDigest: digest, Decision: fleetv1.DecisionApproved},
	}}
	return h
}

// TestAnEditThatOnlySlowsKeepsWhatWasApproved, and any other edit voids it.
func TestAnEditThatOnlySlowsKeepsWhatWasApproved(t *testing.T) {
	nights := func(schedule string) *fleetv1.MaintenanceCalendar { return calendar("nights", schedule, time.Hour) }
	bound := calendar("weekends", "0 0 * * 6", time.Hour, binds(selector("tier", "prod")))
	cases := map[string]struct {
		edit func(*observe.Hub)
		kept bool
	}{
		"nothing":              {func(*observe.Hub) {}, true},
		"a pause":              {func(h *observe.Hub) { h.Policy.Spec.Paused = true }, true},
		"a lower concurrency":  {func(h *observe.Hub) { h.Policy.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(1)) }, true},
		"a higher concurrency": {func(h *observe.Hub) { h.Policy.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(3)) }, false},
		"a limit more": {
			func(h *observe.Hub) { h.Policy.Spec.Limits = []fleetv1.Limit{{PerLabel: "site", Max: 1}} }, true,
		},
		"a soak":             {func(h *observe.Hub) { h.Policy.Spec.Waves[0].SoakDuration = lasting(time.Hour) }, true},
		"any time":           {func(h *observe.Hub) { h.Policy.Spec.Calendars, h.Policy.Spec.AnyTime = nil, new(true) }, false},
		"a calendar's hours": {func(h *observe.Hub) { h.Calendars[0] = nights("0 3 * * *") }, false},
		"a calendar's end":   {func(h *observe.Hub) { h.Calendars = nil }, true},
		"a calendar of its own": {
			func(h *observe.Hub) { h.Calendars = append(h.Calendars, bound) }, true,
		},
		"a label of a cluster": {func(h *observe.Hub) { h.WorkloadClusters[0].Labels["tier"] = "lab" }, true},
		"what is frozen at planning changes nothing": {
			func(h *observe.Hub) {
				h.Policy.Spec.Upgrade = &fleetv1.PolicyUpgrade{SingleControlPlane: fleetv1.SingleControlPlaneAllow}
			}, true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := approvedHub(naming("nights"), nights("0 2 * * *"))
			c.edit(&h)
			f := observe.Fleet(h)
			if kept := f.Digest == h.Rollout.Status.Digest; kept != c.kept {
				t.Errorf("kept: %t", kept)
			}
			if digest, covered := observe.Terms(h, f); c.kept && covered.Text() != h.Rollout.Status.Settings || digest != f.Digest {
				t.Errorf("digest %s of %s covers %s", digest, f.Digest, covered.Text())
			}
		})
	}
}

func TestTheDigestCoversCalendarsByTheirContents(t *testing.T) {
	bound := calendar("weekends", "0 0 * * 6", time.Hour, binds(selector("tier", "prod")))
	broken := calendar("broken", "0 24 * * *", time.Hour)
	elsewhere := calendar("elsewhere", "0 2 * * *", time.Hour, binds(selector("tier", "lab")))
	h := approvedHub(naming("nights", "broken", "absent"),
		calendar("nights", "0 2 * * *", time.Hour, perCluster), broken, bound, elsewhere)
	s := observe.Settings(h, observe.Fleet(h))
	for i := range s.Calendars {
		if s.Calendars[i].Hash != "" {
			s.Calendars[i].Hash = "hash"
		}
	}
	want := []policy.CalendarSettings{
		{Name: "nights", Hash: "hash"}, {Name: "broken"}, {Name: "absent"}, {Name: "weekends", Hash: "hash", Bound: true},
	}
	if diff := cmp.Diff(want, s.Calendars); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNothingIsToBeApprovedBeforeThePlan(t *testing.T) {
	h := hubOf(anyTime(), nil)
	h.Rollout.Status.Plan = nil
	if f := observe.Fleet(h); f.Digest != "" {
		t.Errorf("digest %s", f.Digest)
	}
}
