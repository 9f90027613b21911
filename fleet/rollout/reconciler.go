// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout carries a RolloutPolicy out: it makes a Rollout for each target, commits its plan, decides which
// clusters may start, and writes that as the intents of their ClusterUpgrades. It reads and writes the hub only.
package rollout

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
)

// Waits of the controller itself.
const (
	// behind is how soon to look again when the cache has not seen our own last write; its event comes sooner.
	behind = time.Second
	// letGo is how long the deletion of a Rollout waits for withdrawals (law 20).
	letGo = 20 * time.Second
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=rollouts,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=rollouts/status,verbs=patch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=clusterupgrades,verbs=get;list;watch;create;patch;delete

// Reconciler decides Rollouts, one at a time: limits that rollouts share are then counted once.
type Reconciler struct {
	// Hub is the hub's cached client; Live reads past it.
	Hub   client.Client
	Live  client.Reader
	Clock clock.PassiveClock
	// MayWrite refuses starts of a hub that may no longer lead.
	MayWrite func() error
	// Pace of status writes.
	Pace *pace.Pace[types.UID]

	fresh freshness
}

// Reconcile plans a Rollout that has no plan, else decides on it.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	ro, err := r.read(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	h, inv, current, err := r.gather(ctx, ro)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !current {
		return reconcile.Result{RequeueAfter: behind}, nil
	}
	if ro.Status.Plan == nil && h.Policy != nil && !h.Superseded && ro.DeletionTimestamp.IsZero() {
		committed, err := r.plan(ctx, &h, inv)
		if err != nil || committed {
			return reconcile.Result{}, err // the event of what was written goes on
		}
	}
	return r.decide(ctx, h)
}

// read reads a Rollout. One without a plan is read past the cache: were its plan committed already, by this process or by
// the leader before, planning again would take back what runs (law 15).
func (r *Reconciler) read(ctx context.Context, key types.NamespacedName) (*fleetv1.Rollout, error) {
	ro := &fleetv1.Rollout{}
	if err := r.Hub.Get(ctx, key, ro); err != nil || ro.Status.Plan != nil {
		return ro, err
	}
	ro = &fleetv1.Rollout{}
	return ro, r.Live.Get(ctx, key, ro)
}

// decide decides, writes the intents that change, and reports.
func (r *Reconciler) decide(ctx context.Context, h observe.Hub) (reconcile.Result, error) {
	ro, now, f := h.Rollout, r.Clock.Now(), observe.Fleet(h)
	d := policy.Decide(f, now)
	err := r.drive(ctx, h, d)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: behind}, nil // decided on an object that has changed since
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	status := report.Rollout(ro, f, d, now)
	if wait := r.Pace.Wait(ro.UID); wait > 0 && status.Phase == ro.Status.Phase && status.Wave == ro.Status.Wave {
		return reconcile.Result{RequeueAfter: wait}, nil // details can wait a moment; intents did not
	}
	if err := r.write(ctx, ro, status); err != nil {
		return reconcile.Result{}, err
	}
	if !ro.DeletionTimestamp.IsZero() {
		return r.release(ctx, ro, h, now)
	}
	if d.Recheck.IsZero() {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(d.Recheck.Sub(now), time.Millisecond)}, nil
}

// drive writes the intents that change. A start is on the hub before anything is written to a member (law 4); what was
// written is remembered, so that the next decision sees it.
func (r *Reconciler) drive(ctx context.Context, h observe.Hub, d policy.Decision) error {
	if len(d.Intents) == 0 {
		return nil
	}
	log.FromContext(ctx).Info("deciding", "decision", d.String())
	byName := map[string]*fleetv1.ClusterUpgrade{}
	for _, cu := range h.Upgrades {
		byName[cu.Name] = cu
	}
	for _, change := range d.Intents {
		if err := r.MayWrite(); err != nil {
			return fmt.Errorf("writing intents: %w", err)
		}
		cu := byName[change.ID].DeepCopy()
		base := cu.DeepCopy()
		cu.Spec.Intent = fleetv1.Intent(change.Intent)
		patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
		if err := r.Hub.Patch(ctx, cu, patch); err != nil {
			return fmt.Errorf("writing the intent of ClusterUpgrade %s: %w", cu.Name, err)
		}
		r.fresh.note(cu.Namespace, cu.UID, cu.ResourceVersion)
	}
	return nil
}

// write reports, where there is anything new to say.
func (r *Reconciler) write(ctx context.Context, ro *fleetv1.Rollout, s fleetv1.RolloutStatus) error {
	if equality.Semantic.DeepEqual(ro.Status, s) {
		return nil
	}
	base := ro.DeepCopy()
	ro.Status = s
	if err := r.Hub.Status().Patch(ctx, ro, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("writing the status of Rollout %s: %w", ro.Name, err)
	}
	r.Pace.Wrote(ro.UID)
	return nil
}

// release lets a deleted Rollout go once nothing of it is in flight, or after letGo: a member that is away must not keep
// an object for ever.
func (r *Reconciler) release(ctx context.Context, ro *fleetv1.Rollout, h observe.Hub, now time.Time) (reconcile.Result, error) {
	left := ro.DeletionTimestamp.Add(letGo).Sub(now)
	var mine []*fleetv1.ClusterUpgrade
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID != ro.UID {
			continue
		}
		if observe.InFlight(cu) && left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
		mine = append(mine, cu)
	}
	for _, cu := range mine {
		if err := r.Hub.Delete(ctx, cu, client.Preconditions{UID: &cu.UID}); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("deleting ClusterUpgrade %s: %w", cu.Name, err)
		}
	}
	base := ro.DeepCopy()
	if !controllerutil.RemoveFinalizer(ro, finalizer) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(r.Hub.Patch(ctx, ro, client.MergeFrom(base)))
}

// gather reads the hub. It is not current while the cache has not seen our own last write; a new leader reads the
// ClusterUpgrades past the cache once (law 4).
func (r *Reconciler) gather(ctx context.Context, ro *fleetv1.Rollout) (h observe.Hub, inv observe.Inventory, current bool, err error) {
	h = observe.Hub{Rollout: ro, Members: map[string]*fleetv1.ManagementCluster{}, Siblings: map[types.UID]bool{}}
	reader := client.Reader(r.Hub)
	primed := r.fresh.isPrimed(ro.Namespace)
	if !primed {
		reader = r.Live
	}
	here := client.InNamespace(ro.Namespace)
	var upgrades fleetv1.ClusterUpgradeList
	if err := reader.List(ctx, &upgrades, here); err != nil {
		return h, inv, false, fmt.Errorf("listing ClusterUpgrades: %w", err)
	}
	seen := map[types.UID]string{}
	for i := range upgrades.Items {
		h.Upgrades = append(h.Upgrades, &upgrades.Items[i])
		seen[upgrades.Items[i].UID] = upgrades.Items[i].ResourceVersion
	}
	if !primed {
		r.fresh.prime(ro.Namespace, seen)
	} else if current, err = r.fresh.fresh(ro.Namespace, seen); err != nil || !current {
		return h, inv, false, err
	}
	if err := r.siblings(ctx, &h); err != nil {
		return h, inv, false, err
	}
	inv, err = r.inventory(ctx, ro.Namespace)
	h.Members = inv.Members
	return h, inv, true, err
}

// siblings finds the policy and the other Rollouts of it.
func (r *Reconciler) siblings(ctx context.Context, h *observe.Hub) error {
	ro := h.Rollout
	p := &fleetv1.RolloutPolicy{}
	err := r.Hub.Get(ctx, types.NamespacedName{Namespace: ro.Namespace, Name: ro.Spec.Policy.Name}, p)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return err
	case err == nil && p.UID == ro.Spec.Policy.UID && p.DeletionTimestamp.IsZero():
		h.Policy = p
	}
	var rollouts fleetv1.RolloutList
	err = r.Hub.List(ctx, &rollouts, client.InNamespace(ro.Namespace), client.MatchingLabels{PolicyLabel: ro.Spec.Policy.Name})
	if err != nil {
		return fmt.Errorf("listing Rollouts: %w", err)
	}
	for i := range rollouts.Items {
		other := &rollouts.Items[i]
		if other.UID == ro.UID || other.Spec.Policy.UID != ro.Spec.Policy.UID {
			continue
		}
		h.Siblings[other.UID] = true
		h.Superseded = h.Superseded || other.Spec.Number > ro.Spec.Number
	}
	return nil
}

func (r *Reconciler) inventory(ctx context.Context, namespace string) (observe.Inventory, error) {
	inv := observe.Inventory{Members: map[string]*fleetv1.ManagementCluster{}}
	var members fleetv1.ManagementClusterList
	if err := r.Hub.List(ctx, &members, client.InNamespace(namespace)); err != nil {
		return inv, fmt.Errorf("listing ManagementClusters: %w", err)
	}
	for i := range members.Items {
		inv.Members[members.Items[i].Name] = &members.Items[i]
	}
	var clusters fleetv1.WorkloadClusterList
	if err := r.Hub.List(ctx, &clusters, client.InNamespace(namespace)); err != nil {
		return inv, fmt.Errorf("listing WorkloadClusters: %w", err)
	}
	for i := range clusters.Items {
		inv.Clusters = append(inv.Clusters, &clusters.Items[i])
	}
	return inv, nil
}
