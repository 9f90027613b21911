// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine carries out upgrades inside one management cluster: it hosts the orchestrator and the single-machine
// upgrader on a cluster.Cluster, for as long as it holds that cluster's Lease. An agent in the cluster and a hub that
// hosts the engine compete for the same Lease, so one of them works.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/drain"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
)

// LeaseName is the Lease that decides which engine works in a management cluster.
const LeaseName = "windlass-engine"

// ErrLeaseLost: another engine may work in this cluster now.
var ErrLeaseLost = errors.New("the engine's lease is lost")

// Options of Host. The zero value is valid.
type Options struct {
	// Identity begins the name of this holder in the Lease; each call of Host adds a random id, so that no two holders
	// ever take themselves for one. Default: the host name.
	Identity string
	// LeaseNamespace is where the Lease is. Default kube-system.
	LeaseNamespace string
	// LeaseDuration, RenewDeadline and RetryPeriod of the Lease. Default 15s, 10s, 2s.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// KeyPrefix of the protocol's annotations that the engine answers here. Default: protocol.OwnPrefix while other
	// controllers answer the other one (one of their leader Leases was renewed within a minute), and until what was asked
	// under it is finished, else protocol.ProviderPrefix. That is found out when work begins, and every 30s from then on.
	KeyPrefix string
	// Kinds that the cluster serves, where the caller has found them already. Default: found by ControlPlaneKinds.
	Kinds capi.Kinds
	// ControlPlaneKinds are the kinds of control planes that it drives. Default capi.DefaultControlPlanes.
	ControlPlaneKinds []schema.GroupKind
	// Workers of each controller: as many calls to nodes may hang without delaying another machine. Default 32.
	Workers int
	// MayWrite is asked before each write and each refresh, beside the Lease. Default: always.
	MayWrite func() error
	// Clock of all decisions. Default: the real one.
	Clock clock.WithDelayedExecution
	// Jitter returns a number in [0, 1) that spreads polls. Default: random.
	Jitter func() float64
	// K8sd makes the client for nodes; secrets reads past every cache. One with a method Close is closed at the end.
	// Default: the real one.
	K8sd func(secrets client.Reader) machine.K8sd
	// Drain makes the client that drains nodes; secrets reads past every cache, mayWrite must be asked before each write.
	// Default: the real one.
	Drain func(secrets client.Reader, mayWrite func() error) Drainer
	// Logger. Default: the one of the context.
	Logger logr.Logger
}

// Drainer drains nodes and knows which are cordoned.
type Drainer interface {
	machine.Drainer
	// Cordoned reports whether a node takes no pods, whoever wants it so.
	Cordoned(ctx context.Context, cluster types.NamespacedName, node string) (bool, error)
}

// Defaults of Options.
const (
	DefaultLeaseNamespace = "kube-system"
	DefaultLeaseDuration  = 15 * time.Second
	DefaultRenewDeadline  = 10 * time.Second
	DefaultRetryPeriod    = 2 * time.Second
	DefaultWorkers        = 32
)

// Host runs the engine on one management cluster until ctx ends (nil), the Lease is lost (ErrLeaseLost) or, without a
// KeyPrefix, it must answer other annotations (ErrProviderChanged). It may be called for several clusters at once, and
// again after it has returned. cl must be started by the caller; its cache must be able to read what Reads lists, and its
// scheme must know the core kinds.
func Host(ctx context.Context, cl cluster.Cluster, opts Options) error {
	opts = opts.withDefaults(ctx)
	kinds := opts.Kinds
	if kinds.Machine.Empty() {
		var err error
		if kinds, err = capi.Discover(cl.GetRESTMapper(), opts.ControlPlaneKinds); err != nil {
			return fmt.Errorf("finding the kinds of Cluster API: %w", err)
		}
	}
	l, err := newLease(cl.GetConfig(), opts)
	if err != nil {
		return fmt.Errorf("preparing the lease: %w", err)
	}
	ctx = log.IntoContext(ctx, opts.Logger)
	return l.hold(ctx, func(ctx context.Context) error {
		return run(ctx, cl, kinds, opts.gatedBy(l.MayWrite))
	})
}

// Reads lists what the engine needs in a cluster's cache: Cluster API's kinds, and the kinds of control planes that
// are served. The error is meta.IsNoMatchError where Cluster API is not installed.
func Reads(mapper meta.RESTMapper, controlPlaneKinds ...schema.GroupKind) ([]client.Object, error) {
	if len(controlPlaneKinds) == 0 {
		controlPlaneKinds = capi.DefaultControlPlanes()
	}
	kinds, err := capi.Discover(mapper, controlPlaneKinds)
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, gvk := range kinds.All() {
		objects = append(objects, capi.Object(gvk))
	}
	return objects, nil
}

func (o Options) withDefaults(ctx context.Context) Options {
	o.Identity = orElse(o.Identity, hostname) + "_" + string(uuid.NewUUID())
	o.LeaseNamespace = orElse(o.LeaseNamespace, func() string { return DefaultLeaseNamespace })
	o.LeaseDuration = orElse(o.LeaseDuration, func() time.Duration { return DefaultLeaseDuration })
	o.RenewDeadline = orElse(o.RenewDeadline, func() time.Duration { return DefaultRenewDeadline })
	o.RetryPeriod = orElse(o.RetryPeriod, func() time.Duration { return DefaultRetryPeriod })
	o.Workers = orElse(o.Workers, func() int { return DefaultWorkers })
	if len(o.ControlPlaneKinds) == 0 {
		o.ControlPlaneKinds = capi.DefaultControlPlanes()
	}
	if o.MayWrite == nil {
		o.MayWrite = func() error { return nil }
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Jitter == nil {
		o.Jitter = jitter
	}
	if o.K8sd == nil {
		c := o.Clock
		o.K8sd = func(r client.Reader) machine.K8sd { return k8sd.New(k8sd.Options{Reader: r, Clock: c}) }
	}
	if o.Drain == nil {
		o.Drain = func(r client.Reader, mayWrite func() error) Drainer {
			return drain.New(drain.Options{Reader: r, MayWrite: mayWrite})
		}
	}
	if o.Logger.GetSink() == nil {
		o.Logger = log.FromContext(ctx).WithName("engine")
	}
	return o
}

// gatedBy adds a second condition to MayWrite.
func (o Options) gatedBy(lease func() error) Options {
	caller := o.MayWrite
	o.MayWrite = func() error {
		if err := lease(); err != nil {
			return err
		}
		return caller()
	}
	return o
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return LeaseName
	}
	return host
}

func orElse[T comparable](value T, otherwise func() T) T {
	var zero T
	if value == zero {
		return otherwise()
	}
	return value
}
