// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror"
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
	RolloutLabel = observe.RolloutLabel
	WaveLabel    = observe.WaveLabel
)

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
	made, err := r.fit(ctx, h, observe.Committed(*h, inv, p, r.Clock.Now()))
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

// fit makes the ClusterUpgrades of the Rollout those that are wanted. It reports whether it wrote anything: the plan is
// committed only when a later look finds all of them.
func (r *Reconciler) fit(ctx context.Context, h *observe.Hub, wanted observe.Hub) (bool, error) {
	want := map[string]*fleetv1.ClusterUpgrade{}
	for _, cu := range wanted.Upgrades {
		if cu.Spec.Rollout.UID == h.Rollout.UID {
			want[cu.Name] = cu
		}
	}
	wrote := false
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID != h.Rollout.UID {
			continue
		}
		if w := want[cu.Name]; w != nil && same(w, cu) {
			delete(want, cu.Name)
			continue
		}
		wrote = true
		if err := r.Hub.Delete(ctx, cu, client.Preconditions{UID: &cu.UID}); client.IgnoreNotFound(err) != nil {
			return wrote, fmt.Errorf("deleting ClusterUpgrade %s, which the plan no longer has: %w", cu.Name, err)
		}
		delete(want, cu.Name) // made again when it is gone
	}
	if len(want) == 0 {
		return wrote, nil
	}
	observe.Foresee(wanted, r.Clock.Now())
	var errs *multierror.Error
	for _, cu := range want {
		if err := r.Hub.Create(ctx, cu); client.IgnoreAlreadyExists(err) != nil {
			errs = multierror.Append(errs, fmt.Errorf("making ClusterUpgrade %s: %w", cu.Name, err))
		}
	}
	return true, errs.ErrorOrNil()
}

// same: a ClusterUpgrade is as it is wanted. When it will probably be upgraded is no part of the plan.
func same(want, is *fleetv1.ClusterUpgrade) bool {
	spec := is.Spec
	spec.Predicted = want.Spec.Predicted
	return equality.Semantic.DeepEqual(want.Spec, spec)
}

// join makes the ClusterUpgrades of clusters that were selected after the plan was committed.
func (r *Reconciler) join(ctx context.Context, h observe.Hub, inv observe.Inventory) error {
	late, err := observe.LateJoiners(h, inv, r.Clock.Now())
	if err != nil {
		return fmt.Errorf("looking for late clusters: %w", err)
	}
	var errs *multierror.Error
	for _, cu := range late {
		if err := r.MayWrite(); err != nil {
			return fmt.Errorf("making ClusterUpgrades: %w", err)
		}
		// One that is there was made before; the cache has not seen it.
		if err := r.Hub.Create(ctx, cu); client.IgnoreAlreadyExists(err) != nil {
			errs = multierror.Append(errs, fmt.Errorf("making ClusterUpgrade %s: %w", cu.Name, err))
		}
	}
	return errs.ErrorOrNil()
}
