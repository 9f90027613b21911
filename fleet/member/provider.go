// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package member turns each ManagementCluster on the hub into an engaged cluster of multicluster-runtime, and says
// how it is. A member that is dead, mute or forbidden never blocks another: every connection is made by its own
// reconcile within a budget, and no watch is started synchronously.
package member

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/windlass-dev/windlass/engine/capi"
)

// Options of a Provider. Zero fields mean the defaults named here.
type Options struct {
	// Scheme of the member clients: client-go's kinds suffice, Cluster API is read as unstructured.
	Scheme *runtime.Scheme
	// ControlPlanes are the control plane kinds to watch where they are served. Default CK8sControlPlane.
	ControlPlanes []schema.GroupKind
	// ConnectTimeout bounds one Connect. Default 30 s.
	ConnectTimeout time.Duration
	// ProbeTimeout bounds one probe. Default 5 s.
	ProbeTimeout time.Duration
	// RequestTimeout bounds every request that is not a watch. Default 10 s.
	RequestTimeout time.Duration
	// QPS and Burst limit the client of each member on its own. Default 50 and 100.
	QPS   float32
	Burst int
	Clock clock.PassiveClock
}

func (o Options) withDefaults() Options {
	if len(o.ControlPlanes) == 0 {
		o.ControlPlanes = capi.DefaultControlPlanes()
	}
	o.ConnectTimeout = orDefault(o.ConnectTimeout, 30*time.Second)
	o.ProbeTimeout = orDefault(o.ProbeTimeout, 5*time.Second)
	o.RequestTimeout = orDefault(o.RequestTimeout, 10*time.Second)
	o.QPS = orDefault(o.QPS, 50)
	o.Burst = orDefault(o.Burst, 100)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

// Member is one engaged management cluster.
type Member struct {
	Name    multicluster.ClusterName
	Cluster cluster.Cluster
	// Kinds are the Cluster API kinds and versions that it serves.
	Kinds capi.Kinds
	// HostEngine: the hub runs the engine for it.
	HostEngine bool
}

// entry is a member with what keeps it running.
type entry struct {
	Member
	hash string
	// run is the context of its caches and watches, which cancel ends.
	run    context.Context //nolint:containedctx // the member's life, derived from the provider's
	cancel context.CancelFunc
	probe  rest.Interface
}

// Provider holds the engaged members. It implements multicluster.Provider and multicluster.ProviderRunnable; the
// manager starts it on the leader.
type Provider struct {
	opts    Options
	started chan struct{}
	// spawn and aware are set before started is closed and never after.
	spawn func() (context.Context, context.CancelFunc)
	aware multicluster.Aware

	mu      sync.RWMutex
	members map[multicluster.ClusterName]*entry
	health  map[multicluster.ClusterName]Health
	indexes []index
	// prefixes of the keys in use, where they are known; found is closed and replaced when one of them changes.
	prefixes map[multicluster.ClusterName]string
	found    chan struct{}
}

type index struct {
	object  client.Object
	field   string
	extract client.IndexerFunc
}

var (
	_ multicluster.Provider         = &Provider{}
	_ multicluster.ProviderRunnable = &Provider{}
)

// NewProvider returns a Provider without members.
func NewProvider(opts Options) *Provider {
	return &Provider{
		opts:    opts.withDefaults(),
		started: make(chan struct{}),
		members: map[multicluster.ClusterName]*entry{},
		health:  map[multicluster.ClusterName]Health{},

		prefixes: map[multicluster.ClusterName]string{},
		found:    make(chan struct{}),
	}
}

// Start waits for the end of ctx, from which the context of every member derives.
func (p *Provider) Start(ctx context.Context, aware multicluster.Aware) error {
	p.aware = aware
	p.spawn = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	close(p.started)
	<-ctx.Done()
	return nil
}

// Get returns an engaged cluster, or multicluster.ErrClusterNotFound.
func (p *Provider) Get(_ context.Context, name multicluster.ClusterName) (cluster.Cluster, error) {
	m, found := p.Member(name)
	if !found {
		return nil, fmt.Errorf("management cluster %s: %w", name, multicluster.ErrClusterNotFound)
	}
	return m.Cluster, nil
}

// Member returns an engaged member, whether it answers at this moment or not (see Health).
func (p *Provider) Member(name multicluster.ClusterName) (Member, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	e, found := p.members[name]
	if !found {
		return Member{}, false
	}
	return e.Member, true
}

// Members returns all engaged members by name.
func (p *Provider) Members() []Member {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := make([]Member, 0, len(p.members))
	for _, e := range p.members {
		all = append(all, e.Member)
	}
	slices.SortFunc(all, func(a, b Member) int { return compare(a.Name, b.Name) })
	return all
}

// IndexField adds a field index to the caches of all members, present and future.
func (p *Provider) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	p.mu.Lock()
	p.indexes = append(p.indexes, index{object, field, extract})
	p.mu.Unlock()
	var errs []error
	for _, m := range p.Members() {
		errs = append(errs, m.Cluster.GetFieldIndexer().IndexField(ctx, object, field, extract))
	}
	return errors.Join(errs...)
}

// Disconnect stops the watches, caches and engagement of a member and forgets it.
func (p *Provider) Disconnect(name multicluster.ClusterName) {
	p.mu.Lock()
	e := p.members[name]
	delete(p.members, name)
	delete(p.health, name)
	delete(p.prefixes, name)
	p.mu.Unlock()
	if e != nil {
		e.cancel()
	}
}
