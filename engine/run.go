// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// Names of the controllers, in logs and metrics.
const (
	machineController = "windlass-machine"
	ownerController   = "windlass-owner"
	eventSource       = "windlass-engine"
)

// Pauses between tries after an error.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = time.Minute
)

// run runs the engine's controllers until ctx ends or one of them fails.
func run(ctx context.Context, cl cluster.Cluster, kinds capi.Kinds, opts Options) error {
	keys, err := findPrefix(ctx, cl, kinds, opts)
	if err != nil {
		return err
	}
	m := member.Member{
		Cache: cl.GetCache(), Live: cl.GetAPIReader(), Writer: member.Gate(cl.GetClient(), opts.MayWrite),
		Events: cl.GetEventRecorder(eventSource), Kinds: kinds, Keys: protocol.KeysFor(keys.is), Clock: opts.Clock,
	}
	nodes := opts.K8sd(m.Live)
	if c, ok := nodes.(interface{ Close() }); ok {
		defer c.Close()
	}
	drainer := opts.Drain(m.Live, opts.MayWrite)
	machines := &machine.Reconciler{
		Member: m, K8sd: gatedK8sd{nodes, opts.MayWrite, keys.mayRefresh}, Pace: &machine.Pace{Jitter: opts.Jitter},
		Spread: machine.Spread, Drainer: drainer,
	}
	owners := &orchestrate.Reconciler{Member: m, Lock: lock.Lock{Member: m}, Nodes: drainer}
	return together(ctx, keys.watch,
		func(ctx context.Context) error {
			return control(ctx, cl, opts, setup[reconcile.Request]{machineController, machines, machines.Watches()})
		},
		func(ctx context.Context) error {
			return control(ctx, cl, opts, setup[orchestrate.Request]{ownerController, owners, owners.Watches()})
		},
	)
}

// setup is one controller as data.
type setup[R comparable] struct {
	name       string
	reconciler reconcile.TypedReconciler[R]
	watches    []member.Watch[R]
}

func control[R comparable](ctx context.Context, cl cluster.Cluster, opts Options, s setup[R]) error {
	c, err := controller.NewTypedUnmanaged(s.name, controller.TypedOptions[R]{
		Reconciler:              s.reconciler,
		MaxConcurrentReconciles: opts.Workers,
		SkipNameValidation:      new(true), // the same controllers run once for each member
		RecoverPanic:            new(true),
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[R](firstRetry, lastRetry),
		Logger:                  opts.Logger,
	})
	if err != nil {
		return fmt.Errorf("preparing controller %s: %w", s.name, err)
	}
	for _, w := range s.watches {
		if err := c.Watch(&kindSource[R]{cache: cl.GetCache(), watch: w}); err != nil {
			return fmt.Errorf("controller %s: watching %s: %w", s.name, w.GVK.Kind, err)
		}
	}
	if err := c.Start(ctx); err != nil {
		return fmt.Errorf("controller %s: %w", s.name, err)
	}
	return nil
}

// together runs all until ctx ends; the first that fails ends the others.
func together(ctx context.Context, all ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failures := make([]error, len(all))
	var running sync.WaitGroup
	for i, f := range all {
		running.Go(func() {
			defer stop()
			failures[i] = f(ctx)
		})
	}
	running.Wait()
	return errors.Join(failures...)
}

// gatedK8sd refuses to start a refresh when this process may no longer lead, or answers keys that are no longer its own.
type gatedK8sd struct {
	machine.K8sd

	may   func() error
	still func(context.Context) error
}

func (g gatedK8sd) Refresh(ctx context.Context, n k8sd.Node, t protocol.Target) (string, error) {
	if err := g.still(ctx); err != nil {
		return "", err
	}
	if err := g.may(); err != nil {
		return "", &k8sd.Error{Class: k8sd.NotSent, Err: err}
	}
	return g.K8sd.Refresh(ctx, n, t)
}

func jitter() float64 { return rand.Float64() } //nolint:gosec // spreads load, guards nothing
