// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/report"
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=freezes;rollouts;clusterupgrades;workloadclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=freezes/status,verbs=patch

// FreezeReconciler writes the status of Freezes.
type FreezeReconciler struct {
	// Hub is the hub's cached client.
	Hub   client.Client
	Clock clock.PassiveClock
	// Pace of status writes.
	Pace *pace.Pace[types.UID]
	// HubNamespace is the hub's own: Freezes in it cover every namespace. Empty: there is none.
	HubNamespace string
}

// Reconcile reports a Freeze, and comes back when it begins or ends.
func (r *FreezeReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	fz := &fleetv1.Freeze{}
	if err := r.Hub.Get(ctx, req.NamespacedName, fz); err != nil || !fz.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	count, err := r.count(ctx, fz)
	if err != nil {
		return reconcile.Result{}, err
	}
	from, until := observe.FreezeSpan(&fz.Spec)
	now := r.Clock.Now()
	status, next := report.Freeze(fz, report.Frost{
		From: from, Until: until, Unreadable: observe.FreezeUnreadable(&fz.Spec), Clusters: count,
	}, now)
	if !equality.Semantic.DeepEqual(status, fz.Status) {
		if wait := r.Pace.Wait(fz.UID); wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
		base := fz.DeepCopy()
		fz.Status = status
		if err := r.Hub.Status().Patch(ctx, fz, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("writing the status of Freeze %s: %w", fz.Name, err)
		}
		r.Pace.Wrote(fz.UID)
	}
	return reconcile.Result{RequeueAfter: again(next, now)}, nil
}

// count is how many clusters a Freeze covers.
func (r *FreezeReconciler) count(ctx context.Context, fz *fleetv1.Freeze) (int, error) {
	var where []client.ListOption
	if fz.Namespace != r.HubNamespace {
		where = append(where, client.InNamespace(fz.Namespace))
	}
	var clusters fleetv1.WorkloadClusterList
	if err := r.Hub.List(ctx, &clusters, where...); err != nil {
		return 0, fmt.Errorf("listing WorkloadClusters: %w", err)
	}
	list := make([]*fleetv1.WorkloadCluster, 0, len(clusters.Items))
	for i := range clusters.Items {
		list = append(list, &clusters.Items[i])
	}
	var members map[string]map[types.UID]bool
	if len(fz.Spec.Scope.Policies) > 0 {
		var err error
		if members, err = r.members(ctx, where); err != nil {
			return 0, err
		}
	}
	return observe.Frozen(&fz.Spec, list, members), nil
}

// members are the clusters that open rollouts are for, by policy.
func (r *FreezeReconciler) members(ctx context.Context, where []client.ListOption) (map[string]map[types.UID]bool, error) {
	var rollouts fleetv1.RolloutList
	if err := r.Hub.List(ctx, &rollouts, where...); err != nil {
		return nil, fmt.Errorf("listing Rollouts: %w", err)
	}
	policies := map[types.UID]string{}
	for i := range rollouts.Items {
		if ro := &rollouts.Items[i]; !report.Ended(ro.Status.Phase) {
			policies[ro.UID] = ro.Spec.Policy.Name
		}
	}
	var upgrades fleetv1.ClusterUpgradeList
	if err := r.Hub.List(ctx, &upgrades, where...); err != nil {
		return nil, fmt.Errorf("listing ClusterUpgrades: %w", err)
	}
	members := map[string]map[types.UID]bool{}
	for i := range upgrades.Items {
		cu := &upgrades.Items[i].Spec
		policy, open := policies[cu.Rollout.UID]
		if !open || cu.Ineligible != nil {
			continue
		}
		if members[policy] == nil {
			members[policy] = map[types.UID]bool{}
		}
		members[policy][cu.WorkloadCluster.UID] = true
	}
	return members, nil
}

// again is how long until an instant; 0: there is none.
func again(at, now time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return pace.Timer(at.Sub(now))
}
