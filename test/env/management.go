// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"sync"
	"time"

	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Management is a management cluster: an API server with Cluster API's kinds and the control plane kind
// CK8sControlPlane, and a mirror that plays Cluster API's controllers.
type Management struct {
	*Server

	// CAPIVersion is the version of cluster.x-k8s.io that it serves: v1beta2, or v1beta1 of an older member.
	CAPIVersion string

	world   *World
	dialect dialect
	mirror  *mirror
}

// ManagementOption changes a management cluster before it starts.
type ManagementOption func(*managementOptions)

type managementOptions struct {
	version string
	delay   time.Duration
}

// ServingV1Beta1 makes a member of Cluster API v1.9 or v1.10: v1beta1 is all it serves.
func ServingV1Beta1() ManagementOption {
	return func(o *managementOptions) { o.version = clusterv1beta1.GroupVersion.Version }
}

// MirrorDelay sets how long the mirror waits before it copies what it saw.
func MirrorDelay(d time.Duration) ManagementOption {
	return func(o *managementOptions) { o.delay = d }
}

// Management starts a management cluster. Its name must be new in this world. It serves Cluster API v1beta2 alone
// unless told otherwise: nothing converts between versions here.
func (w *World) Management(ctx context.Context, name string, options ...ManagementOption) (*Management, error) {
	o := managementOptions{version: clusterv1.GroupVersion.Version}
	for _, set := range options {
		set(&o)
	}
	crds, err := clusterAPICRDs(ctx, w.root, o.version)
	if err != nil {
		return nil, err
	}
	s, err := w.APIServer(ctx, name, clusterv1.AddToScheme, clusterv1beta1.AddToScheme)
	if err != nil {
		return nil, err
	}
	if err := s.install(ctx, crds); err != nil {
		return nil, fmt.Errorf("installing Cluster API's kinds in %s: %w", name, err)
	}
	m := &Management{
		Server: s, CAPIVersion: o.version, world: w, dialect: dialect{old: o.version == clusterv1beta1.GroupVersion.Version},
	}
	m.mirror, err = startMirror(ctx, s, m.dialect, o.delay)
	if err != nil {
		return nil, fmt.Errorf("starting the mirror of %s: %w", name, err)
	}
	w.onClose(func() error { m.mirror.stop(); return nil })
	return m, nil
}

// SetMirrorDelay sets how long the mirror waits, from now on, before it copies what it sees.
func (m *Management) SetMirrorDelay(d time.Duration) { m.mirror.delay.Store(int64(d)) }

// workload is an API server of workload clusters with a watch on its Nodes.
type workload struct {
	*Server

	nodes *nodeCache
}

func (w *World) startWorkload(ctx context.Context, name string) (*workload, error) {
	s, err := w.APIServer(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.ensureNamespace(ctx, proxyNamespace); err != nil {
		return nil, err
	}
	nodes, err := startNodeCache(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("watching the Nodes of %s: %w", name, err)
	}
	w.onClose(func() error { nodes.stop(); return nil })
	return &workload{Server: s, nodes: nodes}, nil
}

// background runs something until stopped, under a context of its own.
type background struct {
	cancel context.CancelFunc
	work   sync.WaitGroup
}

func (b *background) stop() {
	b.cancel()
	b.work.Wait()
}
