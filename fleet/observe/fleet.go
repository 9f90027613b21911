// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// Hub is what the hub knows when a rollout is decided on.
type Hub struct {
	Rollout *fleetv1.Rollout
	// Policy of the rollout; nil when it was deleted, or is another object of that name now.
	Policy *fleetv1.RolloutPolicy
	// Superseded: a newer Rollout of the policy exists.
	Superseded bool
	Members    map[string]*fleetv1.ManagementCluster
	// Upgrades are all ClusterUpgrades of the namespace, of every rollout: limits count them all (law 4).
	Upgrades []*fleetv1.ClusterUpgrade
	// Siblings are the UIDs of the other Rollouts of the same policy.
	Siblings map[types.UID]bool
	// PlanReason and PlanMessage say why planning waits.
	PlanReason, PlanMessage string
}

// Fleet is the rollout as values.
func Fleet(h Hub) policy.Fleet {
	ro := h.Rollout
	f := policy.Fleet{
		Committed:  ro.Status.Plan != nil,
		PlanReason: h.PlanReason, PlanMessage: h.PlanMessage,
		Paused:      h.Policy != nil && h.Policy.Spec.Paused,
		Cancelled:   !ro.DeletionTimestamp.IsZero() || h.Policy == nil,
		Superseded:  h.Superseded,
		Members:     map[string]policy.Member{},
		Proven:      Proven(ro.Status.Proven),
		OnMovedHalt: ro.Spec.Target.OnMoved != fleetv1.OnMovedContinue,
	}
	if h.Policy != nil {
		f.UnknownField = h.Policy.Spec.WhyUnknown()
	}
	f.Sticky, f.StickyReason, f.StickyMessage = sticky(ro)
	waves := map[string]int{}
	for i, w := range ro.Status.Waves {
		waves[w.Name] = i
		f.HasCanaries = f.HasCanaries || w.Canary
		f.Waves = append(f.Waves, policy.Wave{
			Name: w.Name, Canary: w.Canary, Planned: int(w.Planned), MaxConcurrency: int(w.MaxConcurrency),
			MaxFailures: int(w.MaxFailures), StartedAt: instant(w.StartedAt),
		})
	}
	active := map[string]int{}
	for _, cu := range inOrder(h.Upgrades) {
		if InFlight(cu) {
			active[cu.Spec.ManagementCluster]++
			if h.Siblings[cu.Spec.Rollout.UID] {
				f.OtherActive++
			}
		}
		if cu.Spec.Rollout.UID == ro.UID && cu.Spec.Ineligible == nil {
			wave, found := waves[cu.Spec.Wave]
			if !found {
				wave = -1
			}
			f.Clusters = append(f.Clusters, cluster(cu, wave))
		}
	}
	for name, mc := range h.Members {
		f.Members[name] = member(mc, active[name])
	}
	return f
}

// Proven reads proven versions.
func Proven(list []fleetv1.ProvenVersion) map[string]string {
	proven := map[string]string{}
	for _, p := range list {
		proven[p.Architecture] = p.Version
	}
	return proven
}

// sticky is a phase that only an act or a new target leaves (law 6).
func sticky(ro *fleetv1.Rollout) (phase policy.Phase, reason, message string) {
	lasting := [...]fleetv1.RolloutPhase{fleetv1.RolloutHalted, fleetv1.RolloutCancelled, fleetv1.RolloutSuperseded}
	if !slices.Contains(lasting[:], ro.Status.Phase) {
		return "", "", ""
	}
	if c := meta.FindStatusCondition(ro.Status.Conditions, fleetv1.ReadyCondition); c != nil {
		reason, message = c.Reason, c.Message
	}
	return policy.Phase(ro.Status.Phase), reason, message
}

// InFlight reports whether an upgrade holds a slot, by what the hub wrote and by what was reported (law 4).
func InFlight(cu *fleetv1.ClusterUpgrade) bool {
	if cu.Spec.Ineligible != nil {
		return false
	}
	ended := policy.ClusterPhase(cu.Status.Phase).Ended()
	if ended && (cu.Status.Settled || cu.Status.Phase == fleetv1.UpgradeRemoved) {
		return false
	}
	return cu.Spec.Intent != fleetv1.IntentWait || returning(cu)
}

// returning: the intent went back to Wait and the upgrade controller has not confirmed it. A spec that never changed
// never asked for anything.
func returning(cu *fleetv1.ClusterUpgrade) bool {
	return cu.Spec.Intent == fleetv1.IntentWait && cu.Generation > 1 &&
		(cu.Status.ObservedGeneration < cu.Generation || cu.Status.Claimed)
}

func cluster(cu *fleetv1.ClusterUpgrade, wave int) policy.Cluster {
	return policy.Cluster{
		ID: cu.Name, Path: cu.Path(), Member: cu.Spec.ManagementCluster, Wave: wave,
		Intent: policy.Intent(cu.Spec.Intent), Returning: returning(cu),
		Phase: policy.ClusterPhase(cu.Status.Phase), Reason: cu.Status.Reason, Message: cu.Status.Message,
		Since: instant(cu.Status.Since), LastError: cu.Status.LastError, Versions: Proven(cu.Status.Versions),
		EndedAt: instant(cu.Status.EndedAt), Settled: cu.Status.Settled,
	}
}

func member(mc *fleetv1.ManagementCluster, active int) policy.Member {
	m := policy.Member{Upgrade: mc.Spec.Access == fleetv1.AccessUpgrade, Active: active}
	if mc.Spec.MaxConcurrentClusters != nil {
		m.MaxConcurrentClusters = int(*mc.Spec.MaxConcurrentClusters)
	}
	if why := mc.Spec.WhyUnknown(); why != "" {
		m.Reason, m.Message = fleetv1.UnknownFieldReason, why
		return m
	}
	ready := meta.FindStatusCondition(mc.Status.Conditions, fleetv1.ReadyCondition)
	if ready == nil {
		m.Reason, m.Message = fleetv1.ConnectingReason, "it has not been looked at yet"
		return m
	}
	m.Ready = ready.Status == metav1.ConditionTrue
	if !m.Ready {
		m.Reason, m.Message, m.Since = ready.Reason, ready.Message, ready.LastTransitionTime.Time
	}
	return m
}

// instant reads an optional time.
func instant(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// inOrder sorts upgrades by their place in the plan.
func inOrder(upgrades []*fleetv1.ClusterUpgrade) []*fleetv1.ClusterUpgrade {
	return slices.SortedFunc(slices.Values(upgrades), func(a, b *fleetv1.ClusterUpgrade) int {
		return cmp.Or(cmp.Compare(a.Spec.Position, b.Spec.Position), cmp.Compare(a.Name, b.Name))
	})
}
