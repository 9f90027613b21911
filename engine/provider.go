// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// ErrProviderChanged: the existing controllers have come or gone, so the engine must answer other keys. Host may be called
// again at once, and then does.
var ErrProviderChanged = errors.New("the controllers beside the engine have come or gone")

// providerLook is how often the Leases are looked at.
const providerLook = 30 * time.Second

// prefix is the prefix that the engine answers, and the look-out for a reason to answer the other one.
type prefix struct {
	live, cache client.Reader
	kinds       capi.Kinds
	clock       clock.Clock

	// is the prefix; fixed: the caller has said so.
	is    string
	fixed bool
	// changed is closed when it must be the other one.
	changed chan struct{}
	once    sync.Once
}

// findPrefix returns the prefix of opts, or finds it.
func findPrefix(ctx context.Context, cl cluster.Cluster, kinds capi.Kinds, opts Options) (*prefix, error) {
	p := &prefix{
		live: cl.GetAPIReader(), cache: cl.GetCache(), kinds: kinds, clock: opts.Clock,
		is: opts.KeyPrefix, fixed: opts.KeyPrefix != "", changed: make(chan struct{}),
	}
	if p.fixed {
		return p, nil
	}
	var err error
	if p.is, err = p.find(ctx); err != nil {
		return nil, fmt.Errorf("looking for other controllers: %w", err)
	}
	log.FromContext(ctx).Info("answering annotations", "prefix", p.is)
	return p, nil
}

// find decides for the own prefix beside other controllers, and until all that was asked under it is finished: nobody
// else would.
func (p *prefix) find(ctx context.Context) (string, error) {
	for _, look := range [...]func(context.Context) (bool, error){p.provided, p.inUse} {
		if found, err := look(ctx); err != nil || found {
			return protocol.OwnPrefix, err
		}
	}
	return protocol.ProviderPrefix, nil
}

// provided reports whether the existing controllers are alive; it reads past every cache.
func (p *prefix) provided(ctx context.Context) (bool, error) {
	for _, name := range protocol.ProviderLeases() {
		var leases coordinationv1.LeaseList
		if err := p.live.List(ctx, &leases, client.MatchingFields{"metadata.name": name}); err != nil {
			return false, fmt.Errorf("reading Lease %s: %w", name, err)
		}
		for i := range leases.Items {
			renewed := leases.Items[i].Spec.RenewTime
			if renewed != nil && p.clock.Since(renewed.Time) < protocol.ProviderFresh {
				return true, nil
			}
		}
	}
	return false, nil
}

// inUse reports whether anything is asked, or under way, under the own prefix.
func (p *prefix) inUse(ctx context.Context) (bool, error) {
	keys := protocol.KeysFor(protocol.OwnPrefix)
	kinds := append([]schema.GroupVersionKind{p.kinds.Machine, p.kinds.MachineDeployment}, p.kinds.ControlPlanes...)
	for _, gvk := range kinds {
		list := capi.List(gvk)
		if err := p.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("listing %s: %w", gvk.Kind, err)
		}
		for i := range list.Items {
			if keys.Read(list.Items[i].GetAnnotations()).Busy() {
				return true, nil
			}
		}
	}
	return false, nil
}

// watch looks again and again, until ctx ends (nil) or the prefix must be the other one (ErrProviderChanged). What was
// seen last holds for as long as a Lease does.
func (p *prefix) watch(ctx context.Context) error {
	if p.fixed {
		<-ctx.Done()
		return nil
	}
	seen := p.clock.Now()
	for {
		next := p.clock.NewTimer(providerLook)
		select {
		case <-ctx.Done():
			next.Stop()
			return nil
		case <-p.changed:
			next.Stop()
			return p.change()
		case <-next.C():
		}
		found, err := p.find(ctx)
		switch {
		case err != nil && ctx.Err() == nil && p.clock.Since(seen) > protocol.ProviderFresh:
			return fmt.Errorf("looking for other controllers: %w", err)
		case err != nil:
			log.FromContext(ctx).Info("looking for other controllers failed; it is tried again", "error", err.Error())
			continue
		case found != p.is:
			return p.change()
		}
		seen = p.clock.Now()
	}
}

// change ends the work under this prefix.
func (p *prefix) change() error {
	p.once.Do(func() { close(p.changed) })
	return fmt.Errorf("annotations %s… are answered no longer: %w", p.is, ErrProviderChanged)
}

// mayRefresh looks once more before a node is asked for a refresh: of those who answer the same keys, one may. That they
// do now is an error of no class: the machine is theirs, with nothing written on it that they would read as a failure.
func (p *prefix) mayRefresh(ctx context.Context) error {
	if p.fixed || p.is == protocol.OwnPrefix {
		return nil
	}
	provided, err := p.provided(ctx)
	switch {
	case err != nil:
		return &k8sd.Error{Class: k8sd.NotSent, Err: err}
	case provided:
		return p.change()
	}
	return nil
}
