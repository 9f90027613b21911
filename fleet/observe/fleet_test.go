// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

// upgrade is one ClusterUpgrade of rollout ro-1 that has not started.
func upgrade(name string, change ...func(*fleetv1.ClusterUpgrade)) *fleetv1.ClusterUpgrade {
	cu := &fleetv1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: fleetv1.ClusterUpgradeSpec{
			Rollout: fleetv1.LocalRef{Name: "ro", UID: "ro-1"}, ManagementCluster: "mgmt-a", Wave: "early",
			Cluster: fleetv1.ObjectRef{Namespace: "shop", Name: name}, Intent: fleetv1.IntentWait,
		},
	}
	for _, c := range change {
		c(cu)
	}
	return cu
}

// intent is what the hub wrote last, as which generation, and which one was confirmed.
func intent(i fleetv1.Intent, generation, observed int64) func(*fleetv1.ClusterUpgrade) {
	return func(cu *fleetv1.ClusterUpgrade) {
		cu.Spec.Intent, cu.Generation, cu.Status.ObservedGeneration = i, generation, observed
	}
}

func phase(p fleetv1.UpgradePhase) func(*fleetv1.ClusterUpgrade) {
	return func(cu *fleetv1.ClusterUpgrade) { cu.Status.Phase = p }
}

func claimed(cu *fleetv1.ClusterUpgrade) { cu.Status.Claimed = true }
func settled(cu *fleetv1.ClusterUpgrade) { cu.Status.Settled = true }
func ineligible(cu *fleetv1.ClusterUpgrade) {
	cu.Spec.Ineligible = &fleetv1.Ineligible{Reason: fleetv1.DowngradeReason}
}

// TestASlotIsTakenFromTheWriteOnUntilItIsGivenBack: limits count what we wrote (law 4).
func TestASlotIsTakenFromTheWriteOnUntilItIsGivenBack(t *testing.T) {
	cases := map[string]struct {
		cu                  *fleetv1.ClusterUpgrade
		inFlight, returning bool
	}{
		"made, never asked for": {upgrade("a"), false, false},
		"put off, and still asked for": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeDeferred), settled), true, false,
		},
		"put off, and not confirmed that it is not asked for any more": {
			upgrade("a", intent(fleetv1.IntentWait, 3, 2), phase(fleetv1.UpgradeDeferred), settled), true, true,
		},
		"put off": {
			upgrade("a", intent(fleetv1.IntentWait, 3, 3), phase(fleetv1.UpgradeDeferred), settled), false, false,
		},
		"made, and looked at": {
			upgrade("a", intent(fleetv1.IntentWait, 1, 1), phase(fleetv1.UpgradePending)), false, false,
		},
		"made, not looked at":       {upgrade("a", intent(fleetv1.IntentWait, 1, 0)), false, false},
		"told to run, not yet seen": {upgrade("a", intent(fleetv1.IntentRun, 2, 1)), true, false},
		"running": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeProgressing)), true, false,
		},
		"running without a status": {upgrade("a", intent(fleetv1.IntentRun, 2, 0)), true, false},
		"on hold": {
			upgrade("a", intent(fleetv1.IntentHold, 3, 3), phase(fleetv1.UpgradeHolding)), true, false,
		},
		"told to withdraw": {upgrade("a", intent(fleetv1.IntentWithdraw, 3, 2)), true, false},
		"succeeded, marks still there": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeSucceeded)), true, false,
		},
		"succeeded and settled": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeSucceeded), settled), false, false,
		},
		"failed, marks still there": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeFailed)), true, false,
		},
		"failed and settled": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeFailed), settled), false, false,
		},
		"withdrawn and settled": {
			upgrade("a", intent(fleetv1.IntentWithdraw, 3, 3), phase(fleetv1.UpgradeSkipped), settled), false, false,
		},
		"removed: there is nothing to settle on": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeRemoved)), false, false,
		},
		"settled, and yet going on": {
			upgrade("a", intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeProgressing), settled), true, false,
		},
		"taken back, not yet seen": {upgrade("a", intent(fleetv1.IntentWait, 3, 2)), true, true},
		"taken back, and the claim still held": {
			upgrade("a", intent(fleetv1.IntentWait, 3, 3), claimed), true, true,
		},
		"taken back and given up":           {upgrade("a", intent(fleetv1.IntentWait, 3, 3)), false, false},
		"not suited, whatever stands there": {upgrade("a", intent(fleetv1.IntentRun, 2, 2), ineligible), false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := observe.InFlight(c.cu); got != c.inFlight {
				t.Errorf("in flight: %t", got)
			}
			f := observe.Fleet(observe.Hub{Rollout: rollout(), Upgrades: []*fleetv1.ClusterUpgrade{c.cu}})
			if len(f.Clusters) == 1 && f.Clusters[0].Returning != c.returning {
				t.Errorf("returning: %t", f.Clusters[0].Returning)
			}
		})
	}
}

// rollout is a Rollout with a committed plan of canaries and one wave.
func rollout(change ...func(*fleetv1.Rollout)) *fleetv1.Rollout {
	ro := &fleetv1.Rollout{
		ObjectMeta: metav1.ObjectMeta{Name: "ro", UID: "ro-1"},
		Spec:       fleetv1.RolloutSpec{Target: target},
		Status: fleetv1.RolloutStatus{
			Plan: &fleetv1.RolloutPlan{Hash: "h"},
			Waves: []fleetv1.WaveStatus{
				{Name: "canaries", Canary: true, Planned: 1, MaxConcurrency: 1, StartedAt: new(metav1.NewTime(now))},
				{Name: "early", Planned: 4, MaxConcurrency: 2, MaxFailures: 1},
			},
			Proven: []fleetv1.ProvenVersion{{Architecture: "amd64", Version: "v1.33.9"}},
		},
	}
	for _, c := range change {
		c(ro)
	}
	return ro
}

func TestFleetIsTheRolloutAsValues(t *testing.T) {
	at := func(position int32, wave string) func(*fleetv1.ClusterUpgrade) {
		return func(cu *fleetv1.ClusterUpgrade) { cu.Spec.Position, cu.Spec.Wave = position, wave }
	}
	of := func(uid types.UID) func(*fleetv1.ClusterUpgrade) {
		return func(cu *fleetv1.ClusterUpgrade) { cu.Spec.Rollout.UID = uid }
	}
	done := func(cu *fleetv1.ClusterUpgrade) {
		cu.Status.Phase, cu.Status.Reason, cu.Status.Message = fleetv1.UpgradeSucceeded, "Proven", "m"
		cu.Status.Since, cu.Status.EndedAt = new(metav1.NewTime(now)), new(metav1.NewTime(now.Add(time.Minute)))
		cu.Status.LastError, cu.Status.Settled = "once", true
		cu.Status.Versions = []fleetv1.ProvenVersion{{Architecture: "amd64", Version: "v1.33.9"}}
	}
	until := func(text string) func(*fleetv1.ClusterUpgrade) {
		return func(cu *fleetv1.ClusterUpgrade) { cu.Status.Until = text }
	}
	hub := observe.Hub{
		Rollout:  rollout(),
		Policy:   &fleetv1.RolloutPolicy{Spec: fleetv1.RolloutPolicySpec{Paused: true, AnyTime: new(true)}},
		Members:  map[string]*fleetv1.ManagementCluster{"mgmt-a": member("mgmt-a", nil)},
		Siblings: map[types.UID]bool{"ro-0": true},
		Upgrades: []*fleetv1.ClusterUpgrade{
			upgrade("c", at(3, "early"), until("2026-12-05T02:00:00Z")),
			upgrade("b", at(2, "early"), intent(fleetv1.IntentRun, 2, 2), phase(fleetv1.UpgradeProgressing)),
			upgrade("a", at(1, "canaries"), intent(fleetv1.IntentRun, 2, 2), done),
			upgrade("d", at(4, "a wave that is gone"), until(fleetv1.UntilAct)),
			upgrade("e", at(5, "early"), ineligible),
			upgrade("older", of("ro-0"), intent(fleetv1.IntentRun, 2, 2)),
			upgrade("older-done", of("ro-0"), done),
			upgrade("another-policy", of("ro-9"), intent(fleetv1.IntentRun, 2, 2)),
		},
		PlanReason: "r", PlanMessage: "m",
	}
	cluster := func(id string, wave int, i policy.Intent) policy.Cluster {
		return policy.Cluster{ID: id, Path: "mgmt-a/shop/" + id, Member: "mgmt-a", Wave: wave, Intent: i}
	}
	a, b := cluster("a", 0, policy.Run), cluster("b", 1, policy.Run)
	a.Phase, a.Reason, a.Message, a.LastError, a.Settled = policy.Succeeded, "Proven", "m", "once", true
	a.Since, a.EndedAt, a.Versions = now, now.Add(time.Minute), map[string]string{"amd64": "v1.33.9"}
	b.Phase, b.Versions = policy.Progressing, map[string]string{}
	c, d := cluster("c", 1, policy.Wait), cluster("d", -1, policy.Wait)
	c.Versions, d.Versions = map[string]string{}, map[string]string{}
	c.Until, d.Act = time.Date(2026, 12, 5, 2, 0, 0, 0, time.UTC), true
	want := policy.Fleet{
		Committed: true, PlanReason: "r", PlanMessage: "m", Paused: true, HasCanaries: true, OnMovedHalt: true,
		OtherActive: 1, Proven: map[string]string{"amd64": "v1.33.9"}, Clusters: []policy.Cluster{a, b, c, d},
		Waves: []policy.Wave{
			{Name: "canaries", Canary: true, Planned: 1, MaxConcurrency: 1, StartedAt: now},
			{Name: "early", Planned: 4, MaxConcurrency: 2, MaxFailures: 1},
			{Name: "catch-up", CatchUp: true, MaxConcurrency: 2, MaxFailures: 1},
		},
		Calendars:   map[string]policy.Calendar{},
		Unreachable: policy.Unreachable{Grace: 10 * time.Minute, MaxUnknown: -1}, CatchUpFor: 720 * time.Hour,
		Members: map[string]policy.Member{"mgmt-a": {
			Active: 3, Never: true, Reason: fleetv1.ConnectingReason, Message: "it has not been looked at yet",
		}},
	}
	got := observe.Fleet(hub)
	if len(got.Digest) != 20 {
		t.Errorf("digest %q", got.Digest)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Digest")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFleetIsCancelledWithoutItsPolicy(t *testing.T) {
	policyThere := &fleetv1.RolloutPolicy{}
	deleted := func(ro *fleetv1.Rollout) { ro.DeletionTimestamp = new(metav1.NewTime(now)) }
	cases := map[string]struct {
		hub  observe.Hub
		want bool
	}{
		"its policy stands":   {observe.Hub{Rollout: rollout(), Policy: policyThere}, false},
		"its policy is gone":  {observe.Hub{Rollout: rollout()}, true},
		"it is being deleted": {observe.Hub{Rollout: rollout(deleted), Policy: policyThere}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := observe.Fleet(c.hub).Cancelled; got != c.want {
				t.Errorf("cancelled: %t", got)
			}
		})
	}
}

// TestStickyPhasesCarryTheirReason (law 6); the others are decided anew.
func TestStickyPhasesCarryTheirReason(t *testing.T) {
	for p, want := range map[fleetv1.RolloutPhase]policy.Phase{
		fleetv1.RolloutPlanning: "", fleetv1.RolloutProgressing: "", fleetv1.RolloutPaused: "",
		fleetv1.RolloutSucceeded: "", fleetv1.RolloutCompletedWithFailures: "",
		fleetv1.RolloutHalted: policy.PhaseHalted, fleetv1.RolloutCancelled: policy.PhaseCancelled,
		fleetv1.RolloutSuperseded: policy.PhaseSuperseded,
	} {
		f := observe.Fleet(observe.Hub{Rollout: rollout(func(ro *fleetv1.Rollout) {
			ro.Status.Phase = p
			ro.Status.Conditions = []metav1.Condition{{Type: fleetv1.ReadyCondition, Reason: "CanaryFailed", Message: "m"}}
		})})
		reason, message := "", ""
		if want != "" {
			reason, message = "CanaryFailed", "m"
		}
		if f.Sticky != want || f.StickyReason != reason || f.StickyMessage != message {
			t.Errorf("%s: %q %q %q", p, f.Sticky, f.StickyReason, f.StickyMessage)
		}
	}
}

func TestMemberIsReadyOnlyWhereItSaysSo(t *testing.T) {
	ready := func(status metav1.ConditionStatus, reason string) *fleetv1.ManagementCluster {
		mc := member("mgmt-a", nil)
		mc.Spec.Access, mc.Spec.MaxConcurrentClusters = fleetv1.AccessUpgrade, new(int32(3))
		mc.Status.ClusterID = "a-uid"
		mc.Status.Conditions = []metav1.Condition{{
			Type: fleetv1.ReadyCondition, Status: status, Reason: reason, Message: "m",
			LastTransitionTime: metav1.NewTime(now),
		}}
		return mc
	}
	cases := map[string]struct {
		mc   *fleetv1.ManagementCluster
		want policy.Member
	}{
		"never looked at": {member("mgmt-a", nil), policy.Member{
			Never: true, Reason: fleetv1.ConnectingReason, Message: "it has not been looked at yet",
		}},
		"never answered": {
			func() *fleetv1.ManagementCluster {
				mc := ready(metav1.ConditionFalse, "Unreachable")
				mc.Status.ClusterID = ""
				return mc
			}(),
			policy.Member{Never: true, Upgrade: true, MaxConcurrentClusters: 3, Reason: "Unreachable", Message: "m", Since: now},
		},
		"ready": {
			ready(metav1.ConditionTrue, "Available"), policy.Member{Ready: true, Upgrade: true, MaxConcurrentClusters: 3},
		},
		"not ready": {ready(metav1.ConditionFalse, "Unreachable"), policy.Member{
			Upgrade: true, MaxConcurrentClusters: 3, Reason: "Unreachable", Message: "m", Since: now,
		}},
		"law 21: ready at the last look, with an unknown field since": {
			func() *fleetv1.ManagementCluster {
				mc := ready(metav1.ConditionTrue, "Available")
				mc.Spec.Unknown = []string{"spec.maxConcurentClusters"}
				return mc
			}(),
			policy.Member{
				Upgrade: true, MaxConcurrentClusters: 3, Reason: "UnknownField", Message: "unknown field " +
					"spec.maxConcurentClusters; accepted: what kubectl explain managementcluster.spec lists",
			},
		},
		"not known": {ready(metav1.ConditionUnknown, "Connecting"), policy.Member{
			Upgrade: true, MaxConcurrentClusters: 3, Reason: "Connecting", Message: "m", Since: now,
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := observe.Fleet(observe.Hub{
				Rollout: rollout(), Members: map[string]*fleetv1.ManagementCluster{"mgmt-a": c.mc},
			})
			if diff := cmp.Diff(c.want, f.Members["mgmt-a"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
