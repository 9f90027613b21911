// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodeCache watches the Nodes of one workload API server.
type nodeCache struct {
	background

	cache    cache.Cache
	informer cache.Informer
}

const providerIDIndex = "spec.providerID"

// newCache watches the server, sharing what its client knows.
func (s *Server) newCache() (cache.Cache, error) {
	return cache.New(s.Config, cache.Options{
		Scheme: s.Client.Scheme(), HTTPClient: s.http, Mapper: s.Client.RESTMapper(),
	})
}

func startNodeCache(ctx context.Context, s *Server) (*nodeCache, error) {
	c, err := s.newCache()
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n := &nodeCache{background: background{cancel: cancel}, cache: c}
	n.work.Go(func() { _ = c.Start(life) }) // ends with life
	err = c.IndexField(ctx, &corev1.Node{}, providerIDIndex, func(o client.Object) []string {
		return []string{o.(*corev1.Node).Spec.ProviderID}
	})
	if err == nil {
		n.informer, err = c.GetInformer(ctx, &corev1.Node{})
	}
	if err != nil {
		n.stop()
		return nil, err
	}
	return n, nil
}

// onChange calls f with every Node that changes, until the returned function is called.
func (n *nodeCache) onChange(f func(client.Object)) (drop func()) {
	handle, err := n.informer.AddEventHandler(onAny(f))
	if err != nil {
		return func() {} // the informer has been stopped: nothing changes any more
	}
	return func() { _ = n.informer.RemoveEventHandler(handle) } // stopped already
}

// await returns when the watch has seen the Node with its status: a mirror never takes a new Node for a lost one.
func (n *nodeCache) await(ctx context.Context, name string) error {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		var node corev1.Node
		if err := n.cache.Get(ctx, client.ObjectKey{Name: name}, &node); client.IgnoreNotFound(err) != nil {
			return err
		}
		if len(node.Status.Conditions) > 0 {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("node %s does not show in the watch: %w", name, ctx.Err())
		}
	}
}

// byProviderID returns the Node of a machine, nil if there is none.
func (n *nodeCache) byProviderID(ctx context.Context, id string) (*corev1.Node, error) {
	var nodes corev1.NodeList
	if err := n.cache.List(ctx, &nodes, client.MatchingFields{providerIDIndex: id}); err != nil {
		return nil, err
	}
	if len(nodes.Items) == 0 {
		return nil, nil
	}
	return &nodes.Items[0], nil
}
