// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

func TestAWaveIsOpenFromItsTurnOn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fleetv1.Rollout)
		want   bool
	}{
		"its turn has come":    {func(ro *fleetv1.Rollout) { ro.Status.Wave = "two" }, true},
		"it has not":           {func(*fleetv1.Rollout) {}, false},
		"a later one's has":    {func(ro *fleetv1.Rollout) { ro.Status.Wave = "three" }, true},
		"it had begun":         {func(ro *fleetv1.Rollout) { ro.Status.Waves[1].StartedAt = new(metav1.NewTime(start)) }, true},
		"catch-up":             {func(ro *fleetv1.Rollout) { ro.Status.Phase, ro.Status.Wave = fleetv1.RolloutCatchingUp, "" }, true},
		"the rollout halted":   {func(ro *fleetv1.Rollout) { ro.Status.Phase, ro.Status.Wave = fleetv1.RolloutHalted, "two" }, false},
		"it is paused":         {func(ro *fleetv1.Rollout) { ro.Status.Phase, ro.Status.Wave = fleetv1.RolloutPaused, "two" }, false},
		"another rollout":      {func(ro *fleetv1.Rollout) { ro.UID, ro.Status.Wave = "ro-2", "two" }, false},
		"a wave nobody knows":  {func(ro *fleetv1.Rollout) { ro.Status.Wave = "two"; ro.Status.Waves[1].Name = "2" }, false},
		"the hub is cut off":   {func(ro *fleetv1.Rollout) { ro.Status.Wave, ro.Status.Waiting.Reason = "two", policy.ReasonHubIsolated }, false},
		"no rollout was found": {func(ro *fleetv1.Rollout) { *ro = fleetv1.Rollout{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cu := planned("v1.33.9")
			cu.Spec.Wave, cu.Spec.Rollout.UID = "two", "ro-1"
			ro := &fleetv1.Rollout{Status: fleetv1.RolloutStatus{
				Phase: fleetv1.RolloutProgressing, Wave: "one", Waiting: &fleetv1.Waiting{Reason: policy.ReasonMaxConcurrency},
				Waves: []fleetv1.WaveStatus{{Name: "one"}, {Name: "two"}, {Name: "three"}},
			}}
			ro.UID = "ro-1"
			c.change(ro)
			if got := open(ro, cu); got != c.want {
				t.Errorf("open: %t", got)
			}
		})
	}
}

func TestLaw14AMemberIsSilentSinceThatWasFound(t *testing.T) {
	ready := func(status metav1.ConditionStatus) *fleetv1.ManagementCluster {
		mc := &fleetv1.ManagementCluster{}
		mc.UID = "mc"
		mc.Status.Conditions = []metav1.Condition{
			{Type: fleetv1.ReadyCondition, Status: status, LastTransitionTime: metav1.NewTime(start)},
		}
		return mc
	}
	cu := planned("v1.33.9")
	cu.Status.Reason, cu.Status.Since = policy.ReasonMemberUnreachable, new(metav1.NewTime(start.Add(time.Hour)))
	fresh := &fleetv1.ManagementCluster{}
	fresh.UID = "mc"
	for name, c := range map[string]struct {
		mc   *fleetv1.ManagementCluster
		cu   *fleetv1.ClusterUpgrade
		want time.Time
	}{
		"not ready":                      {ready(metav1.ConditionFalse), cu, start},
		"ready":                          {ready(metav1.ConditionTrue), cu, time.Time{}},
		"not looked at yet":              {fresh, cu, time.Time{}},
		"gone, and not said yet":         {&fleetv1.ManagementCluster{}, planned("v1.33.9"), time.Time{}},
		"gone, since that was said once": {&fleetv1.ManagementCluster{}, cu, start.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, silentSince(c.mc, c.cu)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestC155AMarkOnTheMembersClusterPutsItOff and it goes on when the mark is gone, in an upgrade whose status is stored
// between any two looks.
func TestC155AMarkOnTheMembersClusterPutsItOff(t *testing.T) {
	cu := planned("v1.33.9")
	cu.Spec.Upgrade.DeferralMax = &metav1.Duration{Duration: 48 * time.Hour}
	cu.Spec.Intent = fleetv1.IntentWait
	w := shown(healthy("cp-1", "", "v1.33.4", nil), healthy("cp-2", "", "v1.33.4", nil), healthy("cp-3", "", "v1.33.4", nil),
		healthy("md-1", "md", "v1.33.4", nil), healthy("md-2", "md", "v1.33.4", nil))
	reach := reachable
	look := func(hours int, annotations map[string]string) fleetv1.ClusterUpgradeStatus {
		w.Cluster.Annotations = annotations
		now := start.Add(time.Duration(hours) * time.Hour)
		s := observe(cu, reach, w, ours)
		step := cluster.Next(s.observation, now)
		cu.Status = report.Upgrade(cu, report.Look{Owners: s.observation.Owners, Step: step, Seen: true}, now)
		return cu.Status
	}
	deferred := map[string]string{fleetv1.DeferUntilAnnotation: "2026-12-01T02:00Z; sale"}
	held := map[string]string{fleetv1.HoldAnnotation: "audit"}
	type shows struct {
		Phase         fleetv1.UpgradePhase
		Reason, Until string
		Honoured      bool
	}
	waits := shows{fleetv1.UpgradePending, "Waiting", "", false}
	for _, c := range []struct {
		hour  int
		open  bool
		marks map[string]string
		want  shows
		why   string
	}{
		{0, false, deferred, shows{fleetv1.UpgradeDeferred, "DeferredByOwner", "2026-12-01T02:00:00Z", false}, "before its turn"},
		{1, true, deferred, shows{fleetv1.UpgradeDeferred, "DeferredByOwner", "2026-12-01T02:00:00Z", true}, "its wave is open"},
		{24, true, deferred, waits, "the instant has come"},
		{25, true, held, shows{fleetv1.UpgradeDeferred, "DeferredByOwner", "", true}, "it is held"},
		{72, true, held, shows{fleetv1.UpgradeDeferred, "DeferredByOwner", "2026-12-03T03:00:00Z", true}, "for long"},
		{73, true, held, shows{fleetv1.UpgradePending, "Waiting", "", true}, "for longer than deferral.max"},
		{74, true, nil, waits, "the mark is gone"},
	} {
		reach.Open = c.open
		s := look(c.hour, c.marks)
		if diff := cmp.Diff(c.want, shows{s.Phase, s.Reason, s.Until, s.DeferredSince != nil}); diff != "" {
			t.Errorf("hour %d, %s (-want +got):\n%s", c.hour, c.why, diff)
		}
	}
}

// TestC109MarkedClustersMayLoseTheirAPIForAWhile: with AllowMarked those alone.
func TestC109MarkedClustersMayLoseTheirAPIForAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		answer fleetv1.SingleControlPlane
		mark   string
		want   bool
	}{
		"Refuse": {fleetv1.SingleControlPlaneRefuse, "true", false}, "Allow": {fleetv1.SingleControlPlaneAllow, "", true},
		"AllowMarked, marked":      {fleetv1.SingleControlPlaneAllowMarked, "true", true},
		"AllowMarked, not marked":  {fleetv1.SingleControlPlaneAllowMarked, "", false},
		"AllowMarked, marked else": {fleetv1.SingleControlPlaneAllowMarked, "yes", false},
	} {
		t.Run(name, func(t *testing.T) {
			cu, w := planned("v1.33.9"), shown()
			cu.Spec.Upgrade.SingleControlPlane = c.answer
			w.Cluster.Annotations = map[string]string{fleetv1.AllowSingleControlPlaneAnnotation: c.mark}
			got := observe(cu, reachable, w, ours).observation.AllowSingleControlPlane
			if plan := planFor(cu, cu.Spec.Owners[0], w).AllowSingleControlPlane; got != c.want || plan != c.want {
				t.Errorf("allowed: %t, to the engine: %t", got, plan)
			}
		})
	}
}

// TestLaw3WhatAMachineCarriesProvesNothingUntilItsReleaseCameOff where refreshedAfter is given.
func TestLaw3WhatAMachineCarriesProvesNothingUntilItsReleaseCameOff(t *testing.T) {
	w := shown(healthy("cp-1", "", "v1.33.9", release(target)), healthy("cp-2", "", "v1.33.9", nil),
		healthy("md-1", "md", "v1.33.9", release(target)))
	proven := func(cu *fleetv1.ClusterUpgrade) map[string]cluster.Status {
		of := map[string]cluster.Status{}
		for _, o := range observe(cu, reachable, w, ours).observation.Owners {
			for _, m := range o.Machines {
				of[m.Name] = m.Proven.Status
			}
		}
		return of
	}
	cu := planned("v1.33.9")
	if diff := cmp.Diff(map[string]cluster.Status{"cp-1": "True", "cp-2": "False", "md-1": "True"}, proven(cu)); diff != "" {
		t.Errorf("without refreshedAfter (-want +got):\n%s", diff)
	}
	cu.Spec.Upgrade.RefreshedAfter = new(metav1.NewTime(start))
	if diff := cmp.Diff(map[string]cluster.Status{"cp-1": "False", "cp-2": "False", "md-1": "False"}, proven(cu)); diff != "" {
		t.Errorf("with it (-want +got):\n%s", diff)
	}
	s := observe(cu, reachable, w, ours)
	const cp = "CK8sControlPlane/cp"
	step := cluster.Step{Phase: policy.Progressing, Action: cluster.GrantOwner, Owner: cp, Cleared: cp}
	for range 2 { // it is stored once, and kept
		cu.Status = report.Upgrade(cu, report.Look{Owners: s.observation.Owners, Step: step, Seen: true}, start)
		step.Action, step.Owner, step.Cleared = cluster.None, "", ""
	}
	if diff := cmp.Diff(map[string]cluster.Status{"cp-1": "True", "cp-2": "False", "md-1": "False"}, proven(cu)); diff != "" {
		t.Errorf("after the releases of the control plane came off (-want +got):\n%s", diff)
	}
	var names []string
	for _, m := range s.carrying(cp) {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff([]string{"cp-1"}, names); diff != "" {
		t.Errorf("those that carry it (-want +got):\n%s", diff)
	}
}
