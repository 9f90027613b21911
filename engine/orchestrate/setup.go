// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
)

// Reads are the kinds that must be cached for the reconciler.
func (r *Reconciler) Reads() []schema.GroupVersionKind {
	k := r.Member.Kinds
	return append([]schema.GroupVersionKind{k.Cluster, k.Machine, k.MachineSet, k.MachineDeployment},
		k.ControlPlanes...)
}

// Watches are what wakes the reconciler: the owner itself, each of its machines, so that the next begins as soon as
// one has ended, the MachineSets of a pool, so that it goes on when a rollout is over, and a change of the cluster's
// pause or permission.
func (r *Reconciler) Watches() []member.Watch[Request] {
	k := r.Member.Kinds
	watches := []member.Watch[Request]{
		{GVK: k.MachineDeployment, Requests: itself},
		{GVK: k.Machine, Requests: r.ownersOfMachine},
		{GVK: k.MachineSet, Requests: r.poolOfSet, Matters: sizeChanged},
		{GVK: k.Cluster, Requests: r.ownersOfCluster, Matters: member.PermissionChanged},
	}
	for _, gvk := range k.ControlPlanes {
		watches = append(watches,
			member.Watch[Request]{GVK: gvk, Requests: itself},
			member.Watch[Request]{GVK: gvk, Requests: r.poolsOfControlPlane, Matters: r.askedChanged})
	}
	return watches
}

func itself(_ context.Context, o *unstructured.Unstructured) []Request {
	return []Request{{
		GroupKind:      o.GroupVersionKind().GroupKind(),
		NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()},
	}}
}

// ownersOfMachine names the pool of a worker; for a control plane machine all owners of its cluster, since workers
// wait for it too.
func (r *Reconciler) ownersOfMachine(ctx context.Context, o *unstructured.Unstructured) []Request {
	m := capi.ParseMachine(o)
	if !m.ControlPlane {
		if m.Deployment == "" {
			return nil
		}
		return []Request{r.pool(m.Namespace, m.Deployment)}
	}
	key := types.NamespacedName{Namespace: m.Namespace, Name: m.Cluster}
	c, found, err := r.Member.Cluster(ctx, r.Member.Cache, key)
	if err != nil {
		log.FromContext(ctx).Error(err, "owners of a changed machine are not looked at", "machine", m.Key())
	}
	if !found {
		return nil
	}
	return r.owners(ctx, c)
}

func (r *Reconciler) poolOfSet(_ context.Context, o *unstructured.Unstructured) []Request {
	s := capi.ParseMachineSet(o)
	if s.Deployment == "" {
		return nil
	}
	return []Request{r.pool(s.Namespace, s.Deployment)}
}

func (r *Reconciler) pool(namespace, name string) Request {
	return Request{
		GroupKind:      r.Member.Kinds.MachineDeployment.GroupKind(),
		NamespacedName: types.NamespacedName{Namespace: namespace, Name: name},
	}
}

// sizeChanged reports whether a change of a MachineSet can begin or end a rollout.
func sizeChanged(before, after *unstructured.Unstructured) bool {
	a, b := capi.ParseMachineSet(before), capi.ParseMachineSet(after)
	empty := func(s capi.MachineSet) bool {
		return s.StatusReplicas == 0 && (s.Replicas == nil || *s.Replicas == 0)
	}
	return empty(a) != empty(b)
}

// poolsOfControlPlane names the pools that wait for a control plane.
func (r *Reconciler) poolsOfControlPlane(ctx context.Context, o *unstructured.Unstructured) []Request {
	return r.pools(ctx, types.NamespacedName{Namespace: o.GetNamespace(), Name: capi.ParseControlPlane(o).Cluster})
}

// askedChanged reports whether a control plane has begun or ceased to be asked.
func (r *Reconciler) askedChanged(before, after *unstructured.Unstructured) bool {
	return r.Member.Keys.Read(before.GetAnnotations()).HasTo != r.Member.Keys.Read(after.GetAnnotations()).HasTo
}

func (r *Reconciler) ownersOfCluster(ctx context.Context, o *unstructured.Unstructured) []Request {
	return r.owners(ctx, capi.ParseCluster(o))
}

func (r *Reconciler) owners(ctx context.Context, c capi.Cluster) []Request {
	var requests []Request
	if gvk, found := r.Member.Kinds.ControlPlane(c.ControlPlaneRef); found {
		requests = append(requests, Request{
			GroupKind:      gvk.GroupKind(),
			NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: c.ControlPlaneRef.Name},
		})
	}
	return append(requests, r.pools(ctx, c.Key())...)
}

func (r *Reconciler) pools(ctx context.Context, cluster types.NamespacedName) []Request {
	var requests []Request
	list := capi.List(r.Member.Kinds.MachineDeployment)
	err := r.Member.Cache.List(ctx, list, client.InNamespace(cluster.Namespace),
		client.MatchingLabels{capi.ClusterNameLabel: cluster.Name})
	if err != nil {
		log.FromContext(ctx).Error(err, "pools of a changed cluster are not looked at", "cluster", cluster)
	}
	for i := range list.Items {
		requests = append(requests, itself(ctx, &list.Items[i])...)
	}
	return requests
}
