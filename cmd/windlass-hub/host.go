// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/fleet/member"
)

// engines hosts the engine once for every engaged member that asks for it (engine: Hub), on the caches that the hub has
// of it anyway.
type engines struct {
	members   *member.Provider
	mayWrite  func() error
	namespace string
	hubID     string
}

// Start has nothing to do: engines start when members are engaged.
func (e *engines) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Engage hosts an engine until the member is disengaged. It does not block.
func (e *engines) Engage(ctx context.Context, name multicluster.ClusterName, cl cluster.Cluster) error {
	m, found := e.members.Member(name)
	if !found || !m.HostEngine {
		return nil
	}
	go wait.UntilWithContext(ctx, func(ctx context.Context) {
		prefix, err := e.members.KeyPrefix(ctx, name, "")
		if err != nil {
			return // the member is disengaged
		}
		err = e.host(ctx, m, cl, prefix)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "the hosted engine ended; it is started again", "member", name)
		}
	}, 5*time.Second)
	return nil
}

// host hosts an engine for as long as the member's keys have a prefix.
func (e *engines) host(ctx context.Context, m member.Member, cl cluster.Cluster, prefix string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		if other, err := e.members.KeyPrefix(ctx, m.Name, prefix); err == nil {
			log.FromContext(ctx).Info("the engine is hosted anew with other keys", "member", m.Name, "prefix", other)
			stop()
		}
	}()
	return engine.Host(ctx, cl, engine.Options{
		Kinds: m.Kinds, LeaseNamespace: e.namespace, Identity: "hub-" + e.hubID, MayWrite: e.mayWrite, KeyPrefix: prefix,
	})
}
