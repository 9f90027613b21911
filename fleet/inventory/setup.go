// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
)

// PlaceField indexes WorkloadClusters by where their Cluster is; see Place.
const PlaceField = "place"

// clusterField indexes ClusterUpgrades by the UID of their Cluster.
const clusterField = "cluster"

// Place is a Cluster's place: the same for all that ever had its name there.
func Place(managementCluster string, key types.NamespacedName) string {
	return managementCluster + "/" + key.String()
}

// Setup adds the controller to the manager: it watches the Cluster API objects of every member, and the
// WorkloadClusters and ManagementClusters on the hub.
func (r *Reconciler) Setup(ctx context.Context, mgr mcmanager.Manager) error {
	local := mgr.GetLocalManager()
	err := local.GetFieldIndexer().IndexField(ctx, &fleetv1.WorkloadCluster{}, PlaceField, func(o client.Object) []string {
		wc, ok := o.(*fleetv1.WorkloadCluster)
		if !ok {
			return nil
		}
		key := types.NamespacedName{Namespace: wc.Spec.Cluster.Namespace, Name: wc.Spec.Cluster.Name}
		return []string{Place(wc.Spec.ManagementCluster, key)}
	})
	if err != nil {
		return fmt.Errorf("indexing WorkloadClusters: %w", err)
	}
	err = local.GetFieldIndexer().IndexField(ctx, &fleetv1.ClusterUpgrade{}, clusterField, func(o client.Object) []string {
		cu, ok := o.(*fleetv1.ClusterUpgrade)
		if !ok {
			return nil
		}
		return []string{string(cu.Spec.Cluster.UID)}
	})
	if err != nil {
		return fmt.Errorf("indexing ClusterUpgrades by cluster: %w", err)
	}
	c, err := mccontroller.New("inventory", mgr, mccontroller.Options{
		Reconciler:              r,
		MaxConcurrentReconciles: 8,
		RecoverPanic:            new(true),
		Logger:                  local.GetLogger(),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[mcreconcile.Request](
			time.Second, 2*time.Minute),
	})
	if err != nil {
		return err
	}
	if err := c.MultiClusterWatch(r.Members.Watch(capi.Kinds.All, holding)); err != nil {
		return err
	}
	if err := c.Watch(member.Local(local.GetCache(), &fleetv1.WorkloadCluster{}, recorded)); err != nil {
		return err
	}
	if err := c.Watch(member.Local(local.GetCache(), &fleetv1.ClusterUpgrade{}, upgraded)); err != nil {
		return err
	}
	return c.Watch(member.Local(local.GetCache(), &fleetv1.ManagementCluster{}, r.all))
}

// holding wakes the cluster that an object of a member belongs to.
func holding(_ context.Context, name multicluster.ClusterName, o client.Object) []mcreconcile.Request {
	return []mcreconcile.Request{request(name, member.ClusterKey(o))}
}

// recorded wakes the cluster of a WorkloadCluster: one whose Cluster went while the hub was away is noticed.
func recorded(_ context.Context, wc *fleetv1.WorkloadCluster) []mcreconcile.Request {
	key := types.NamespacedName{Namespace: wc.Spec.Cluster.Namespace, Name: wc.Spec.Cluster.Name}
	return []mcreconcile.Request{request(member.Name(wc.Namespace, wc.Spec.ManagementCluster), key)}
}

// upgraded wakes the cluster of a ClusterUpgrade that has measured a machine.
func upgraded(_ context.Context, cu *fleetv1.ClusterUpgrade) []mcreconcile.Request {
	ended := slices.ContainsFunc(cu.Status.Machines, func(m fleetv1.MachineProgress) bool {
		return m.StartedAt != nil && m.EndedAt != nil
	})
	if !ended {
		return nil
	}
	key := types.NamespacedName{Namespace: cu.Spec.Cluster.Namespace, Name: cu.Spec.Cluster.Name}
	return []mcreconcile.Request{request(member.Name(cu.Namespace, cu.Spec.ManagementCluster), key)}
}

// all wakes every cluster of a member that has changed on the hub: it may have come back, or been accepted. Those that are
// recorded are among them, which another member of that name may not have.
func (r *Reconciler) all(ctx context.Context, mc *fleetv1.ManagementCluster) []mcreconcile.Request {
	name := member.Name(mc.Namespace, mc.Name)
	m, engaged := r.Members.Member(name)
	if !engaged {
		return nil
	}
	clusters := capi.List(m.Kinds.Cluster)
	if err := m.Cluster.GetCache().List(ctx, clusters); err != nil {
		return nil // its cache has ended; the next status of the member wakes us again
	}
	var known fleetv1.WorkloadClusterList
	if err := r.Hub.List(ctx, &known, client.InNamespace(mc.Namespace),
		client.MatchingLabels{ManagementClusterLabel: mc.Name}); err != nil {
		return nil // a cached read fails only when the hub is going down
	}
	return every(ctx, name, clusters.Items, known.Items)
}

// every is each cluster that a member has, and each that is recorded of it.
func every(
	ctx context.Context, name multicluster.ClusterName, has []unstructured.Unstructured, known []fleetv1.WorkloadCluster,
) []mcreconcile.Request {
	requests := make([]mcreconcile.Request, 0, len(has)+len(known))
	for i := range has {
		requests = append(requests, request(name, client.ObjectKeyFromObject(&has[i])))
	}
	for i := range known {
		requests = append(requests, recorded(ctx, &known[i])...)
	}
	return requests
}

func request(name multicluster.ClusterName, key types.NamespacedName) mcreconcile.Request {
	return mcreconcile.Request{ClusterName: name, Request: reconcile.Request{NamespacedName: key}}
}
