// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
)

// Reads are the kinds that must be cached for the reconciler.
func (r *Reconciler) Reads() []schema.GroupVersionKind {
	k := r.Member.Kinds
	return append([]schema.GroupVersionKind{k.Cluster, k.Machine, k.MachineDeployment}, k.ControlPlanes...)
}

// Watches are what wakes the reconciler: the machine itself, a change of its cluster's pause or permission, and an owner
// that is asked again.
func (r *Reconciler) Watches() []member.Watch[reconcile.Request] {
	k := r.Member.Kinds
	watches := []member.Watch[reconcile.Request]{
		{GVK: k.Machine, Requests: itself},
		{GVK: k.Cluster, Requests: r.unsettled, Matters: member.PermissionChanged},
	}
	for _, gvk := range append([]schema.GroupVersionKind{k.MachineDeployment}, k.ControlPlanes...) {
		watches = append(watches,
			member.Watch[reconcile.Request]{GVK: gvk, Requests: r.marked, Matters: r.askedAnew})
	}
	return watches
}

func itself(_ context.Context, o *unstructured.Unstructured) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}}
}

// unsettled names the machines of a cluster that have something to do.
func (r *Reconciler) unsettled(ctx context.Context, o *unstructured.Unstructured) []reconcile.Request {
	return r.unsettledOf(ctx, capi.ParseCluster(o).Key())
}

func (r *Reconciler) unsettledOf(ctx context.Context, cluster types.NamespacedName) []reconcile.Request {
	machines, err := r.Member.Machines(ctx, r.Member.Cache, cluster)
	if err != nil {
		log.FromContext(ctx).Error(err, "machines of a changed cluster are not looked at", "cluster", cluster)
		return nil
	}
	var requests []reconcile.Request
	for _, m := range machines {
		if member.Busy(m) {
			requests = append(requests, reconcile.Request{NamespacedName: m.Key()})
		}
	}
	return requests
}
