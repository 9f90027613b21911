// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"errors"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// LateJoiners are the ClusterUpgrades, in the order in which they are made, of clusters that the policy has selected
// since the plan was committed: they are caught up. Those that the target does not suit, and those that have not been
// seen well enough, are left out and looked at again. Leavers stay as they were planned (law 15).
func LateJoiners(h Hub, inv Inventory, now time.Time) ([]*fleetv1.ClusterUpgrade, error) {
	if !takesLate(h, now) {
		return nil, nil
	}
	planned, last := map[fleetv1.LocalRef]bool{}, int32(0)
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID == h.Rollout.UID {
			planned[cu.Spec.WorkloadCluster] = true
			last = max(last, cu.Spec.Position)
		}
	}
	unplanned := func(wc *fleetv1.WorkloadCluster) bool {
		return !planned[fleetv1.LocalRef{Name: wc.Name, UID: wc.UID}] && behind(wc, h)
	}
	late := Inventory{Members: inv.Members}
	for _, wc := range inv.Clusters {
		if unplanned(wc) {
			late.Clusters = append(late.Clusters, wc)
		}
	}
	if len(late.Clusters) == 0 {
		return nil, nil
	}
	p, err := latePlan(h, late)
	if err != nil || len(p.Waves) == 0 {
		return nil, err
	}
	p.Ineligible = nil
	list := Upgrades(h, late, p)
	for i, cu := range list {
		cu.Spec.Position = last + int32(i) + 1
	}
	return list, nil
}

// latePlan puts late clusters into catch-up, by the rules of every plan.
func latePlan(h Hub, late Inventory) (policy.Plan, error) {
	in, err := PlanInput(&h.Policy.Spec, h.Rollout.Spec.Target, late)
	if err != nil {
		return policy.Plan{}, err
	}
	in.Candidates = slices.DeleteFunc(in.Candidates, func(c policy.Candidate) bool { return !c.Known })
	in.NoCanaries, in.AbsentCanaries, in.AbsentNames = true, nil, nil
	in.Waves = []policy.WaveSpec{{Name: fleetv1.WaveCatchUp, Rest: true}}
	p, err := policy.MakePlan(in)
	if problem := (*policy.PlanError)(nil); errors.As(err, &problem) {
		return policy.Plan{}, nil // none of them, or none that is known well enough
	}
	return p, err
}

// takesLate: the rollout is committed, nothing has ended it, its policy wants late clusters, and catch-up is not over.
func takesLate(h Hub, now time.Time) bool {
	ro, p := h.Rollout, h.Policy
	if ro.Status.Plan == nil || !ro.DeletionTimestamp.IsZero() || p == nil || h.Superseded || len(p.Spec.Unknown) > 0 {
		return false
	}
	if phase, _, _ := sticky(ro); phase != "" {
		return false
	}
	if c := p.Spec.CatchUp; c != nil && c.LateJoiners == fleetv1.LateJoinersIgnore {
		return false
	}
	until := fleetv1.DefaultCatchUpUntil
	if p.Spec.CatchUp != nil {
		override(&until, p.Spec.CatchUp.Until)
	}
	over, left := lastClosed(ro)
	return left || now.Before(over.Add(until))
}

// lastClosed is when the last wave of the plan was closed; left: one is open yet.
func lastClosed(ro *fleetv1.Rollout) (at time.Time, left bool) {
	for i := range ro.Status.Waves {
		w := &ro.Status.Waves[i]
		switch {
		case w.Name == fleetv1.WaveCatchUp:
		case w.ClosedAt == nil:
			return time.Time{}, true
		case w.ClosedAt.After(at):
			at = w.ClosedAt.Time
		}
	}
	return at, false
}

// behind: some machine is seen not to be at the target, or was refreshed who knows when. Health alone puts no cluster behind.
func behind(wc *fleetv1.WorkloadCluster, h Hub) bool {
	target := h.Rollout.Spec.Target
	text, order := Text(target), policy.Order(h.Policy.Spec.Upgrade.Settings().Order)
	return target.RefreshedAfter != nil || slices.ContainsFunc(OwnersOf(wc, order), func(o fleetv1.OwnerStatus) bool {
		return !all(o.ByRelease, func(release string) bool { return release == text }) ||
			!all(o.ByKubelet, func(kubelet string) bool { return capi.Fits(kubelet, target.Version) })
	})
}

// Matters reports whether a change of a WorkloadCluster is one that a committed rollout decides on: who it is, how it
// fares, what is left to do. Most changes are of probes and instants.
func Matters(before, after *fleetv1.WorkloadCluster) bool {
	a, b := &before.Status, &after.Status
	return !maps.Equal(before.Labels, after.Labels) || a.TimeZone != b.TimeZone || a.Unsupported != b.Unsupported ||
		(a.ObservedTime == nil) != (b.ObservedTime == nil) ||
		healthOf(before) != healthOf(after) ||
		!equality.Semantic.DeepEqual(a.ControlPlane, b.ControlPlane) ||
		!equality.Semantic.DeepEqual(a.Pools, b.Pools) ||
		!equality.Semantic.DeepEqual(a.Durations, b.Durations)
}

func healthOf(wc *fleetv1.WorkloadCluster) metav1.ConditionStatus {
	if c := meta.FindStatusCondition(wc.Status.Conditions, fleetv1.HealthyCondition); c != nil {
		return c.Status
	}
	return metav1.ConditionUnknown
}
