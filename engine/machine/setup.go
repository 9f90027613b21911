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
	return []schema.GroupVersionKind{r.Member.Kinds.Cluster, r.Member.Kinds.Machine}
}

// Watches are what wakes the reconciler: the machine itself, and a change of its cluster's pause or permission.
func (r *Reconciler) Watches() []member.Watch[reconcile.Request] {
	return []member.Watch[reconcile.Request]{
		{GVK: r.Member.Kinds.Machine, Requests: itself},
		{GVK: r.Member.Kinds.Cluster, Requests: r.unsettled, Matters: member.PermissionChanged},
	}
}

func itself(_ context.Context, o *unstructured.Unstructured) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}}
}

// unsettled names the machines of a cluster that have something to do.
func (r *Reconciler) unsettled(ctx context.Context, o *unstructured.Unstructured) []reconcile.Request {
	cluster := capi.ParseCluster(o)
	machines, err := r.Member.Machines(ctx, r.Member.Cache, cluster.Key())
	if err != nil {
		log.FromContext(ctx).Error(err, "machines of a changed cluster are not looked at")
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
