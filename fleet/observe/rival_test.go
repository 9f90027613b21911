// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

// contest is policy k8s, made at noon, and another of the given name, priority and age, whose rollout wants cluster a.
type contest struct {
	hub     observe.Hub
	policy  *fleetv1.RolloutPolicy
	rollout *fleetv1.Rollout
	upgrade *fleetv1.ClusterUpgrade
}

func against(name string, priority int32, minutes int) *contest {
	wc := seen("mgmt-a/shop/a")
	own := anyTime()
	own.CreationTimestamp = metav1.NewTime(now)
	other := anyTime()
	other.Name, other.UID, other.Spec.Priority = name, types.UID("uid-"+name), &priority
	other.CreationTimestamp = metav1.NewTime(now.Add(time.Duration(minutes) * time.Minute))
	ro := rollout(func(ro *fleetv1.Rollout) {
		ro.Namespace, ro.Name, ro.UID = "fleet", "theirs", "ro-9"
		ro.Spec.Policy = fleetv1.LocalRef{Name: name, UID: other.UID}
		ro.Status.Phase, ro.Status.Wave = fleetv1.RolloutProgressing, "early"
	})
	cu := of(wc)
	cu.Spec.Rollout = fleetv1.LocalRef{Name: ro.Name, UID: ro.UID}
	h := hubOf(own, nil, wc)
	h.Policies, h.Rollouts = []*fleetv1.RolloutPolicy{own, other}, []*fleetv1.Rollout{h.Rollout, ro}
	h.Upgrades = append(h.Upgrades, cu)
	return &contest{h, other, ro, cu}
}

// TestWhoGoesFirstForACluster: the higher priority, then the older policy, then by name; and only who wants it now.
func TestWhoGoesFirstForACluster(t *testing.T) {
	with := func(c *contest, change func(*contest)) *contest {
		change(c)
		return c
	}
	higher := func() *contest { return against("z", 1, 5) }
	cases := map[string]struct {
		contest *contest
		rival   bool
	}{
		"a higher priority":                      {higher(), true},
		"a lower one of an older policy":         {against("a", -1, -5), false},
		"the same, and the older policy":         {against("z", 0, -5), true},
		"the same, and the younger policy":       {against("a", 0, 5), false},
		"the same age, and a name before ours":   {against("a", 0, 0), true},
		"the same age, and a name after ours":    {against("z", 0, 0), false},
		"its policy is paused":                   {with(higher(), func(c *contest) { c.policy.Spec.Paused = true }), false},
		"its policy is not acted on":             {with(higher(), func(c *contest) { c.policy.Spec.Unknown = []string{"spec.x"} }), false},
		"its policy is being deleted":            {with(higher(), func(c *contest) { c.policy.DeletionTimestamp = &c.policy.CreationTimestamp }), false},
		"its policy was made anew":               {with(higher(), func(c *contest) { c.policy.UID = "anew" }), false},
		"it is halted":                           {with(higher(), func(c *contest) { c.rollout.Status.Phase = fleetv1.RolloutHalted }), false},
		"it waits for an approval":               {with(higher(), func(c *contest) { c.rollout.Status.Phase = fleetv1.RolloutAwaitingApproval }), false},
		"it has ended":                           {with(higher(), func(c *contest) { c.rollout.Status.Phase = fleetv1.RolloutSucceeded }), false},
		"it is being deleted":                    {with(higher(), func(c *contest) { c.rollout.DeletionTimestamp = &c.policy.CreationTimestamp }), false},
		"it works on another wave":               {with(higher(), func(c *contest) { c.rollout.Status.Wave = "canaries" }), false},
		"it catches up":                          {with(higher(), func(c *contest) { c.rollout.Status.Phase, c.rollout.Status.Wave = "CatchingUp", "catch-up" }), true},
		"it is done with the cluster":            {with(higher(), func(c *contest) { c.upgrade.Status.Phase = fleetv1.UpgradeSucceeded }), false},
		"the cluster does not suit it":           {with(higher(), func(c *contest) { ineligible(c.upgrade) }), false},
		"it wants another cluster":               {with(higher(), func(c *contest) { c.upgrade.Spec.WorkloadCluster.UID = "another" }), false},
		"its calendars are closed":               {with(higher(), func(c *contest) { c.rollout.Status.Waiting = &fleetv1.Waiting{Reason: "WindowClosed"} }), false},
		"it waits for a slot":                    {with(higher(), func(c *contest) { c.rollout.Status.Waiting = &fleetv1.Waiting{Reason: "MaxConcurrency"} }), true},
		"ours is nobody's any more, and cancels": {with(higher(), func(c *contest) { c.hub.Policy = nil }), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var want *policy.Rival
			if c.rival {
				want = &policy.Rival{Rollout: "fleet/theirs", Priority: int(*c.contest.policy.Spec.Priority)}
			}
			if diff := cmp.Diff(want, observe.Fleet(c.contest.hub).Clusters[0].Rival); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
