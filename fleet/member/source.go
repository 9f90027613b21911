// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
	mcsource "sigs.k8s.io/multicluster-runtime/pkg/source"

	"github.com/windlass-dev/windlass/engine/capi"
)

// Map tells which requests an object of a member wakes.
type Map func(ctx context.Context, name multicluster.ClusterName, object client.Object) []mcreconcile.Request

// Watch is a source of the events of some kinds in every member, in the version that the member serves. Unlike
// multicluster-runtime's own Kind it never blocks: a member that does not answer is retried in the background.
func (p *Provider) Watch(pick func(capi.Kinds) []schema.GroupVersionKind, wake Map) mcsource.Source {
	return kinds{provider: p, pick: pick, wake: wake}
}

type kinds struct {
	provider *Provider
	pick     func(capi.Kinds) []schema.GroupVersionKind
	wake     Map
}

// ForCluster makes the source of one member.
func (k kinds) ForCluster(name multicluster.ClusterName, cl cluster.Cluster) (
	source.TypedSource[mcreconcile.Request], bool, error,
) {
	m, found := k.provider.Member(name)
	if !found {
		return nil, false, fmt.Errorf("management cluster %s: %w", name, multicluster.ErrClusterNotFound)
	}
	h := handler.TypedEnqueueRequestsFromMapFunc[client.Object, mcreconcile.Request](
		func(ctx context.Context, object client.Object) []mcreconcile.Request {
			return k.wake(ctx, name, object)
		})
	var all together
	for _, gvk := range k.pick(m.Kinds) {
		all = append(all, source.TypedKind[client.Object](cl.GetCache(), capi.Object(gvk), h))
	}
	return all, true, nil
}

// together starts several sources as one.
type together []source.TypedSource[mcreconcile.Request]

// Start starts every source; those of controller-runtime return at once.
func (s together) Start(ctx context.Context, q workqueue.TypedRateLimitingInterface[mcreconcile.Request]) error {
	for _, one := range s {
		if err := one.Start(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// Local is a source of a kind on the hub, for controllers whose requests name a member.
func Local[T client.Object](c cache.Cache, object T, wake func(context.Context, T) []mcreconcile.Request) source.TypedSource[mcreconcile.Request] {
	return source.TypedKind(c, object, handler.TypedEnqueueRequestsFromMapFunc(wake))
}
