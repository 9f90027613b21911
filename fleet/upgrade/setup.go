// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/policy"
)

// Indexes of ClusterUpgrades.
const (
	// placeField is where the Cluster of an upgrade that has not ended is.
	placeField = "place"
	// memberField is the ManagementCluster of an upgrade that has not ended.
	memberField = "member"
	// turnField is the Rollout of an upgrade that waits for something which depends on whether its wave is open.
	turnField = "turn"
)

// Setup adds the controller to the manager. It is woken by ClusterUpgrades and ManagementClusters on the hub, and by the
// objects of their clusters in every member: a machine that ends wakes its upgrade at once.
func (r *Reconciler) Setup(ctx context.Context, mgr mcmanager.Manager) error {
	local := mgr.GetLocalManager()
	for field, of := range map[string]func(*fleetv1.ClusterUpgrade) string{
		placeField: func(cu *fleetv1.ClusterUpgrade) string {
			at := types.NamespacedName{Namespace: cu.Spec.Cluster.Namespace, Name: cu.Spec.Cluster.Name}
			return place(member.Name(cu.Namespace, cu.Spec.ManagementCluster), at)
		},
		memberField: func(cu *fleetv1.ClusterUpgrade) string { return cu.Spec.ManagementCluster },
		turnField:   turn,
	} {
		err := local.GetFieldIndexer().IndexField(ctx, &fleetv1.ClusterUpgrade{}, field, func(o client.Object) []string {
			cu, ok := o.(*fleetv1.ClusterUpgrade)
			if !ok || over(cu) || of(cu) == "" {
				return nil
			}
			return []string{of(cu)}
		})
		if err != nil {
			return fmt.Errorf("indexing ClusterUpgrades by %s: %w", field, err)
		}
	}
	c, err := mccontroller.New("clusterupgrade", mgr, mccontroller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: 16,
		RecoverPanic:            new(true),
		Logger:                  local.GetLogger(),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[mcreconcile.Request](
			200*time.Millisecond, time.Minute),
	})
	if err != nil {
		return err
	}
	if err := c.MultiClusterWatch(r.Members.Watch(capi.Kinds.All, r.at)); err != nil {
		return err
	}
	if err := c.Watch(member.Local(local.GetCache(), &fleetv1.ClusterUpgrade{}, self)); err != nil {
		return err
	}
	if err := c.Watch(member.Local(local.GetCache(), &fleetv1.Rollout{}, r.turns)); err != nil {
		return err
	}
	return c.Watch(member.Local(local.GetCache(), &fleetv1.ManagementCluster{}, r.of))
}

// turn is the Rollout of an upgrade whose wait is timed from the opening of its wave; empty: it is not so.
func turn(cu *fleetv1.ClusterUpgrade) string {
	if r := cu.Status.Reason; r == policy.ReasonDeferredByOwner || r == policy.ReasonMemberUnreachable {
		return cu.Spec.Rollout.Name
	}
	return ""
}

// turns wakes the upgrades of a Rollout whose waits depend on whether their wave is open.
func (r *Reconciler) turns(ctx context.Context, ro *fleetv1.Rollout) []mcreconcile.Request {
	return r.list(ctx, ro.Namespace, client.MatchingFields{turnField: ro.Name})
}

func place(name multicluster.ClusterName, at types.NamespacedName) string {
	return string(name) + "/" + at.String()
}

func self(_ context.Context, cu *fleetv1.ClusterUpgrade) []mcreconcile.Request {
	return []mcreconcile.Request{local(client.ObjectKeyFromObject(cu))}
}

// at wakes the upgrades of the cluster that an object of a member belongs to.
func (r *Reconciler) at(ctx context.Context, name multicluster.ClusterName, o client.Object) []mcreconcile.Request {
	return r.list(ctx, member.Key(name).Namespace, client.MatchingFields{placeField: place(name, member.ClusterKey(o))})
}

// of wakes the upgrades of a member whose state changed.
func (r *Reconciler) of(ctx context.Context, mc *fleetv1.ManagementCluster) []mcreconcile.Request {
	return r.list(ctx, mc.Namespace, client.MatchingFields{memberField: mc.Name})
}

func (r *Reconciler) list(ctx context.Context, namespace string, by client.MatchingFields) []mcreconcile.Request {
	var list fleetv1.ClusterUpgradeList
	if err := r.Hub.List(ctx, &list, client.InNamespace(namespace), by); err != nil {
		return nil // a cached read fails only when the hub is going down
	}
	requests := make([]mcreconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, local(client.ObjectKeyFromObject(&list.Items[i])))
	}
	return requests
}

func local(key types.NamespacedName) mcreconcile.Request {
	return mcreconcile.Request{ClusterName: mcmanager.LocalCluster, Request: reconcile.Request{NamespacedName: key}}
}
