// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/windlass-dev/windlass/engine/capi"
)

// errNotStarted is returned while the manager has not started the provider: this replica does not lead yet.
var errNotStarted = errors.New("the member provider has not started")

// Connection says how to reach a member and what to do with it. Two equal connections are one.
type Connection struct {
	Config *rest.Config
	// Hash changes when the credential or anything else of the connection does.
	Hash string
	// Namespaces to watch; empty: all.
	Namespaces []string
	// HostEngine: the hub runs the engine for this member.
	HostEngine bool
}

// Connect makes sure that the member is engaged by this connection. It is idempotent and blocks for
// Options.ConnectTimeout at most; it must not be called twice at once for one name. A member whose connection changed
// stays engaged by the old one until the new one has synced.
func (p *Provider) Connect(ctx context.Context, name multicluster.ClusterName, c Connection) error {
	select {
	case <-p.started:
	default:
		return errNotStarted
	}
	p.mu.RLock()
	old := p.members[name]
	p.mu.RUnlock()
	if old != nil && old.hash == c.Hash {
		return nil
	}
	e, version, err := p.dial(ctx, name, c)
	if err != nil {
		p.failed(name, err)
		return err
	}
	if err := p.engage(name, e); err != nil {
		p.failed(name, err)
		return err
	}
	p.answered(name, version)
	if old != nil {
		old.cancel()
	}
	return nil
}

// dial builds the clients and caches of a member and waits until they have synced.
func (p *Provider) dial(ctx context.Context, name multicluster.ClusterName, c Connection) (*entry, string, error) {
	ctx, done := context.WithTimeout(ctx, p.opts.ConnectTimeout)
	defer done()
	long := rest.CopyConfig(c.Config)
	long.UserAgent, long.QPS, long.Burst = "windlass-hub", p.opts.QPS, p.opts.Burst
	long.Timeout = 0 // it would cut watches too
	short := rest.CopyConfig(long)
	short.Timeout = p.opts.RequestTimeout

	watching, err := rest.HTTPClientFor(long)
	if err != nil {
		return nil, "", err
	}
	asking, err := rest.HTTPClientFor(short)
	if err != nil {
		return nil, "", err
	}
	probe, err := discovery.NewDiscoveryClientForConfigAndClient(short, asking)
	if err != nil {
		return nil, "", err
	}
	version, err := p.ask(ctx, probe.RESTClient())
	if err != nil {
		return nil, "", err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(short, asking)
	if err != nil {
		return nil, "", err
	}
	kinds, err := capi.Discover(mapper, p.opts.ControlPlanes)
	if err != nil {
		return nil, "", err
	}
	cl, err := cluster.New(short, func(o *cluster.Options) {
		o.Scheme, o.HTTPClient = p.opts.Scheme, asking
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil }
		o.Cache = p.cacheOptions(name, c.Namespaces, watching)
		o.Client.Cache = &client.CacheOptions{Unstructured: true}
	})
	if err != nil {
		return nil, "", err
	}
	e := &entry{
		Member: Member{Name: name, Cluster: cl, Kinds: kinds, HostEngine: c.HostEngine},
		hash:   c.Hash, probe: probe.RESTClient(),
	}
	return e, version, p.sync(ctx, e)
}

func (p *Provider) cacheOptions(name multicluster.ClusterName, namespaces []string, watching *http.Client) cache.Options {
	o := cache.Options{
		HTTPClient:                  watching,
		DefaultTransform:            capi.Trim,
		ReaderFailOnMissingInformer: true, // a stray read must not start a watch, nor block on a dead member
		DefaultWatchErrorHandler: func(ctx context.Context, r *toolscache.Reflector, err error) {
			p.watchFailed(name, err)
			toolscache.DefaultWatchErrorHandler(ctx, r, err)
		},
	}
	for _, ns := range namespaces {
		if o.DefaultNamespaces == nil {
			o.DefaultNamespaces = map[string]cache.Config{}
		}
		o.DefaultNamespaces[ns] = cache.Config{}
	}
	return o
}

// sync starts the caches of a member and waits until they hold what it has. On an error they are stopped again.
func (p *Provider) sync(ctx context.Context, e *entry) error {
	run, cancel := p.spawn()
	e.run, e.cancel = run, cancel
	err := p.startCaches(ctx, e)
	if err != nil {
		cancel()
	}
	return err
}

func (p *Provider) startCaches(ctx context.Context, e *entry) error {
	p.mu.RLock()
	indexes := slices.Clone(p.indexes)
	p.mu.RUnlock()
	for _, i := range indexes {
		if err := e.Cluster.GetFieldIndexer().IndexField(ctx, i.object, i.field, i.extract); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- e.Cluster.Start(e.run) }()
	var synced []toolscache.InformerSynced
	for _, gvk := range e.Kinds.All() {
		informer, err := e.Cluster.GetCache().GetInformer(ctx, capi.Object(gvk), cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		synced = append(synced, informer.HasSynced)
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), synced...) {
		select {
		case err := <-ended:
			return fmt.Errorf("caches ended: %w", err)
		default:
		}
		return fmt.Errorf("caches have not synced within %s%s", p.opts.ConnectTimeout, p.lastWatchError(e.Name))
	}
	return nil
}

// engage publishes a member before the controllers hear of it, so that they find it.
func (p *Provider) engage(name multicluster.ClusterName, e *entry) error {
	p.mu.Lock()
	old := p.members[name]
	p.members[name] = e
	p.mu.Unlock()
	err := p.aware.Engage(e.run, name, e.Cluster)
	if err == nil {
		return nil
	}
	e.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if old != nil {
		p.members[name] = old
	} else {
		delete(p.members, name)
	}
	return fmt.Errorf("engaging: %w", err)
}

func compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

func orDefault[T comparable](v, otherwise T) T { return cmp.Or(v, otherwise) }
