// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
)

// gather reads the hub. It is not current while the cache has not seen our own last write; a new leader reads the
// Rollouts and ClusterUpgrades past the cache once (law 4).
func (r *Reconciler) gather(ctx context.Context, ro *fleetv1.Rollout) (h observe.Hub, inv observe.Inventory, current bool, err error) {
	h = observe.Hub{Rollout: ro, Siblings: map[types.UID]bool{}, Compiled: &r.compiled}
	if current, err = r.written(ctx, &h); err != nil || !current {
		return h, inv, false, err
	}
	if err := r.policies(ctx, &h); err != nil {
		return h, inv, false, err
	}
	if err := r.stops(ctx, &h); err != nil {
		return h, inv, false, err
	}
	inv, err = r.inventory(ctx, ro.Namespace)
	h.Members, h.WorkloadClusters = inv.Members, inv.Clusters
	return h, inv, true, err
}

// written reads what this controller writes itself, and tells whether all of it that was written is in it.
func (r *Reconciler) written(ctx context.Context, h *observe.Hub) (current bool, err error) {
	ro, reader := h.Rollout, client.Reader(r.Hub)
	primed := r.fresh.isPrimed(ro.Namespace)
	if !primed {
		reader = r.Live
	}
	seen := map[types.UID]string{}
	if h.Upgrades, err = upgradesIn(ctx, reader, ro.Namespace, seen); err != nil {
		return false, err
	}
	if h.Rollouts, err = rolloutsIn(ctx, reader, ro.Namespace, seen); err != nil {
		return false, err
	}
	if primed {
		seen[ro.UID] = ro.ResourceVersion
		return r.fresh.fresh(ro.Namespace, seen)
	}
	r.fresh.prime(ro.Namespace, seen)
	for _, live := range h.Rollouts {
		if live.UID == ro.UID {
			h.Rollout, current = live, true
		}
	}
	return current, nil
}

func upgradesIn(ctx context.Context, c client.Reader, namespace string, seen map[types.UID]string) (
	[]*fleetv1.ClusterUpgrade, error,
) {
	var list fleetv1.ClusterUpgradeList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing ClusterUpgrades: %w", err)
	}
	for i := range list.Items {
		seen[list.Items[i].UID] = list.Items[i].ResourceVersion
	}
	return pointers(list.Items), nil
}

func rolloutsIn(ctx context.Context, c client.Reader, namespace string, seen map[types.UID]string) ([]*fleetv1.Rollout, error) {
	var list fleetv1.RolloutList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing Rollouts: %w", err)
	}
	for i := range list.Items {
		seen[list.Items[i].UID] = list.Items[i].ResourceVersion
	}
	return pointers(list.Items), nil
}

// policies finds the policies, that of the Rollout among them, and the other Rollouts of it.
func (r *Reconciler) policies(ctx context.Context, h *observe.Hub) error {
	var list fleetv1.RolloutPolicyList
	if err := r.Hub.List(ctx, &list, client.InNamespace(h.Rollout.Namespace)); err != nil {
		return fmt.Errorf("listing RolloutPolicies: %w", err)
	}
	h.Policies = pointers(list.Items)
	own, p := h.Rollout.Spec.Policy, &fleetv1.RolloutPolicy{}
	err := r.Hub.Get(ctx, types.NamespacedName{Namespace: h.Rollout.Namespace, Name: own.Name}, p)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("reading RolloutPolicy %s: %w", own.Name, err)
	case err == nil && p.UID == own.UID && p.DeletionTimestamp.IsZero():
		h.Policy = p
	}
	for _, other := range h.Rollouts {
		if other.UID != h.Rollout.UID && other.Spec.Policy.UID == own.UID {
			h.Siblings[other.UID] = true
			h.Superseded = h.Superseded || other.Spec.Number > h.Rollout.Spec.Number
		}
	}
	return nil
}

// stops reads what keeps clusters from beginning: calendars, Freezes and Approvals.
func (r *Reconciler) stops(ctx context.Context, h *observe.Hub) (err error) {
	namespace := h.Rollout.Namespace
	if h.Calendars, err = calendarsIn(ctx, r.Hub, namespace); err != nil {
		return err
	}
	for _, from := range r.freezing(namespace) {
		var freezes fleetv1.FreezeList
		if err := r.Hub.List(ctx, &freezes, client.InNamespace(from)); err != nil {
			return fmt.Errorf("listing Freezes: %w", err)
		}
		h.Freezes = append(h.Freezes, pointers(freezes.Items)...)
	}
	var approvals fleetv1.ApprovalList
	if err := r.Hub.List(ctx, &approvals, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("listing Approvals: %w", err)
	}
	for i := range approvals.Items {
		if approvals.Items[i].Spec.Rollout == h.Rollout.Name {
			h.Approvals = append(h.Approvals, &approvals.Items[i])
		}
	}
	h.AuthorsVerified = r.authors(ctx, h.Approvals)
	return nil
}

// authors tells for whom the API server vouched. Where that cannot be told it did for nobody: a gate stays shut, and
// everything else goes on (law 3).
func (r *Reconciler) authors(ctx context.Context, approvals []*fleetv1.Approval) func(*fleetv1.Approval) bool {
	r.unsure = false
	if r.AuthorsVerified == nil || len(approvals) == 0 {
		return nil
	}
	verified, err := r.AuthorsVerified(ctx, approvals)
	r.unsure = err != nil
	if err != nil {
		log.FromContext(ctx).Error(err, "telling whether the authors of Approvals are verified")
		return nil
	}
	return verified
}

// freezing are the namespaces whose Freezes cover one: its own and the hub's.
func (r *Reconciler) freezing(namespace string) []string {
	if r.HubNamespace == "" || r.HubNamespace == namespace {
		return []string{namespace}
	}
	return []string{namespace, r.HubNamespace}
}

func calendarsIn(ctx context.Context, c client.Reader, namespace string) ([]*fleetv1.MaintenanceCalendar, error) {
	var list fleetv1.MaintenanceCalendarList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing MaintenanceCalendars: %w", err)
	}
	return pointers(list.Items), nil
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
	inv.Clusters = pointers(clusters.Items)
	return inv, nil
}

func pointers[T any](items []T) []*T {
	list := make([]*T, len(items))
	for i := range items {
		list[i] = &items[i]
	}
	return list
}
