// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
)

// Labels of a ClusterUpgrade.
const (
	RolloutLabel = "fleet.windlass.dev/rollout"
	WaveLabel    = "fleet.windlass.dev/wave"
)

// noWave stands where a cluster that the target does not suit has no wave.
const noWave = "none"

// ReasonInventoryIncomplete means that a member has more clusters than are recorded, or has never been looked at.
const ReasonInventoryIncomplete = "InventoryIncomplete"

// plan makes the ClusterUpgrades of a Rollout and then commits the plan. Until the commit the set is made to fit on each
// try; after it, never again (law 15). A crash before the commit starts over; it repeats nothing.
func (r *Reconciler) plan(ctx context.Context, h *observe.Hub, inv observe.Inventory) (committed bool, err error) {
	ro := h.Rollout
	if why := h.Policy.Spec.WhyUnknown(); why != "" {
		h.PlanReason, h.PlanMessage = policy.ReasonUnknownField, why
		return false, nil
	}
	if why := incomplete(inv); why != "" {
		h.PlanReason, h.PlanMessage = ReasonInventoryIncomplete, why
		return false, nil
	}
	in, err := observe.PlanInput(&h.Policy.Spec, ro.Spec.Target, inv)
	if err != nil {
		h.PlanReason, h.PlanMessage = fleetv1.InvalidReason, err.Error()
		return false, nil //nolint:nilerr // a policy that cannot be read is a state of it, not of ours
	}
	p, err := policy.MakePlan(in)
	if problem := (*policy.PlanError)(nil); errors.As(err, &problem) {
		h.PlanReason, h.PlanMessage = problem.Reason, problem.Message
		return false, nil
	}
	if err != nil {
		return false, err
	}
	made, err := r.fit(ctx, h, upgrades(h, inv, p))
	if err != nil || made {
		return false, err
	}
	return true, r.write(ctx, ro, report.Committed(ro.Status, p, r.Clock.Now()))
}

// incomplete says whose clusters are not all recorded yet.
func incomplete(inv observe.Inventory) string {
	recorded := map[string]int32{}
	for _, wc := range inv.Clusters {
		if wc.Status.ObservedTime != nil {
			recorded[wc.Spec.ManagementCluster]++
		}
	}
	var missing []string
	for name, mc := range inv.Members {
		ready := meta.FindStatusCondition(mc.Status.Conditions, fleetv1.ReadyCondition)
		switch {
		case ready == nil:
			missing = append(missing, name+" (not looked at yet)")
		case ready.Status == metav1.ConditionTrue && mc.Status.Clusters != nil && recorded[name] < *mc.Status.Clusters:
			missing = append(missing, fmt.Sprintf("%s (%d of %d recorded)", name, recorded[name], *mc.Status.Clusters))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	slices.Sort(missing)
	const shown = 10
	return "waiting for the clusters of " + strings.Join(missing[:min(len(missing), shown)], ", ")
}

// upgrades are the ClusterUpgrades of a plan: those to do, and those that the target does not suit.
func upgrades(h *observe.Hub, inv observe.Inventory, p policy.Plan) map[string]*fleetv1.ClusterUpgrade {
	byID := map[string]*fleetv1.WorkloadCluster{}
	for _, wc := range inv.Clusters {
		byID[wc.Name] = wc
	}
	want := map[string]*fleetv1.ClusterUpgrade{}
	last := int32(0)
	for _, w := range p.Waves {
		for _, placed := range w.Clusters {
			cu := upgrade(h, byID[placed.ID], w.Name)
			cu.Spec.Canary, cu.Spec.Position = w.Canary, int32(placed.Position)
			last = max(last, cu.Spec.Position)
			want[cu.Name] = cu
		}
	}
	for _, refused := range p.Ineligible {
		cu := upgrade(h, byID[refused.ID], noWave)
		last++
		cu.Spec.Position = last
		cu.Spec.Ineligible = &fleetv1.Ineligible{Reason: refused.Reason, Message: fleetv1.Bound(refused.Message)}
		want[cu.Name] = cu
	}
	return want
}

func upgrade(h *observe.Hub, wc *fleetv1.WorkloadCluster, wave string) *fleetv1.ClusterUpgrade {
	ro, settings := h.Rollout, h.Policy.Spec.Upgrade.Settings()
	cu := &fleetv1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ro.Namespace, Name: ro.Name + "-" + wc.Name[strings.LastIndex(wc.Name, "-")+1:],
			Labels: map[string]string{
				RolloutLabel: ro.Name, WaveLabel: wave, PolicyLabel: ro.Spec.Policy.Name,
			},
			Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"},
		},
		Spec: fleetv1.ClusterUpgradeSpec{
			Rollout:           fleetv1.LocalRef{Name: ro.Name, UID: ro.UID},
			WorkloadCluster:   fleetv1.LocalRef{Name: wc.Name, UID: wc.UID},
			ManagementCluster: wc.Spec.ManagementCluster, Cluster: wc.Spec.Cluster,
			Wave: wave, Upgrade: settings, Intent: fleetv1.IntentWait,
		},
	}
	for i, o := range observe.OwnersOf(wc, policy.Order(settings.Order)) {
		role := fleetv1.RoleWorkers
		if i == 0 && settings.Order != fleetv1.OrderWorkersOnly {
			role = fleetv1.RoleControlPlane
		}
		cu.Spec.Owners = append(cu.Spec.Owners, fleetv1.UpgradeOwner{
			Kind: o.Kind, Name: o.Name, Role: role, Target: observe.Text(ro.Spec.Target), Version: ro.Spec.Target.Version,
		})
	}
	return cu
}

// fit makes the ClusterUpgrades of the Rollout those that are wanted. It reports whether it wrote anything: the plan is
// committed only when a later look finds all of them.
func (r *Reconciler) fit(ctx context.Context, h *observe.Hub, want map[string]*fleetv1.ClusterUpgrade) (bool, error) {
	wrote := false
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID != h.Rollout.UID {
			continue
		}
		if w := want[cu.Name]; w != nil && equality.Semantic.DeepEqual(w.Spec, cu.Spec) {
			delete(want, cu.Name)
			continue
		}
		wrote = true
		if err := r.Hub.Delete(ctx, cu, client.Preconditions{UID: &cu.UID}); client.IgnoreNotFound(err) != nil {
			return wrote, fmt.Errorf("deleting ClusterUpgrade %s, which the plan no longer has: %w", cu.Name, err)
		}
		delete(want, cu.Name) // made again when it is gone
	}
	for _, cu := range want {
		wrote = true
		if err := r.Hub.Create(ctx, cu); client.IgnoreAlreadyExists(err) != nil {
			return wrote, fmt.Errorf("making ClusterUpgrade %s: %w", cu.Name, err)
		}
	}
	return wrote, nil
}
