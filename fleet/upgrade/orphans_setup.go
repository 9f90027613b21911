// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	mccontroller "sigs.k8s.io/multicluster-runtime/pkg/controller"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
)

// Setup adds the controller to the manager. It is woken by ClusterUpgrades that go, by ManagementClusters, whose state tells
// when a member is back, and by every object of a member that names an upgrade which the cache does not hold.
func (o *Orphans) Setup(ctx context.Context, mgr mcmanager.Manager) error {
	local := mgr.GetLocalManager()
	err := local.GetFieldIndexer().IndexField(ctx, &fleetv1.ClusterUpgrade{}, uidField, func(o client.Object) []string {
		return []string{string(o.GetUID())}
	})
	if err != nil {
		return fmt.Errorf("indexing ClusterUpgrades by UID: %w", err)
	}
	c, err := mccontroller.New("orphan", mgr, mccontroller.Options{
		Reconciler:              o,
		MaxConcurrentReconciles: 4,
		RecoverPanic:            new(true),
		Logger:                  local.GetLogger(),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[mcreconcile.Request](
			time.Second, time.Minute),
	})
	if err != nil {
		return err
	}
	if err := c.MultiClusterWatch(o.Upgrades.Members.Watch(capi.Kinds.All, o.at)); err != nil {
		return err
	}
	gone := predicate.TypedFuncs[*fleetv1.ClusterUpgrade]{
		CreateFunc: func(event.TypedCreateEvent[*fleetv1.ClusterUpgrade]) bool { return false },
		UpdateFunc: func(event.TypedUpdateEvent[*fleetv1.ClusterUpgrade]) bool { return false },
	}
	err = c.Watch(source.TypedKind(local.GetCache(), &fleetv1.ClusterUpgrade{},
		handler.TypedEnqueueRequestsFromMapFunc(behind), gone))
	if err != nil {
		return err
	}
	return c.Watch(member.Local(local.GetCache(), &fleetv1.ManagementCluster{}, o.in))
}

// behind is the cluster of an upgrade that is gone.
func behind(_ context.Context, cu *fleetv1.ClusterUpgrade) []mcreconcile.Request {
	return []mcreconcile.Request{{
		ClusterName: member.Name(cu.Namespace, cu.Spec.ManagementCluster),
		Request:     request(cu.Spec.Cluster.Namespace, cu.Spec.Cluster.Name),
	}}
}

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
}

// at wakes the cluster of an object that names an upgrade which is not known, and one that is being cleared.
func (o *Orphans) at(ctx context.Context, name multicluster.ClusterName, object client.Object) []mcreconcile.Request {
	key := member.ClusterKey(object)
	req := mcreconcile.Request{ClusterName: name, Request: request(key.Namespace, key.Name)}
	if o.clearing(req) || o.strange(ctx, object) {
		return []mcreconcile.Request{req}
	}
	return nil
}

// strange: an object names an upgrade of this hub that the cache does not hold.
func (o *Orphans) strange(ctx context.Context, object client.Object) bool {
	for _, uid := range marksOf(o.Upgrades.HubID, object) {
		if known, err := o.known(ctx, uid); !known && err == nil {
			return true
		}
	}
	return false
}

// in wakes the clusters of a member that has changed on the hub: what its objects name is looked at once more.
func (o *Orphans) in(ctx context.Context, mc *fleetv1.ManagementCluster) []mcreconcile.Request {
	name := member.Name(mc.Namespace, mc.Name)
	m, engaged := o.Upgrades.Members.Member(name)
	if !engaged {
		return nil
	}
	var requests []mcreconcile.Request
	for _, kind := range m.Kinds.All() {
		list := capi.List(kind)
		if err := m.Cluster.GetCache().List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			continue // its cache has ended; the next status of the member wakes us again
		}
		for i := range list.Items {
			requests = append(requests, o.at(ctx, name, &list.Items[i])...)
		}
	}
	return requests
}
