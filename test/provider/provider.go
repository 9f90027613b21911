// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package provider stands in for the existing controllers: the three that answer the annotations v1beta2.k8sd.io/… in a
// member, with their order of writes, their pauses, their events, their lock, and their faults (PROTOCOL.md 2, 3, 5.2).
// It is what our engine and the hub must get along with.
//
// Not played: the CK8sConfig of a machine (its microclusterPort is the default), the preparation of new machines, and
// the election between several of their processes.
package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-dev/windlass/engine/capi"
)

// Defaults of Options, which are the existing controllers' own.
const (
	DefaultRequeue = 5 * time.Second
	DefaultResync  = 10 * time.Minute
	DefaultRenew   = 2 * time.Second
)

// Names of the controllers as sources of events.
const (
	machineSource      = "ck8s-in-place-upgrade-controller"
	deploymentSource   = "ck8s-md-orchestrated-inplace-upgrade-controller"
	controlPlaneSource = "ck8s-cp-orchestrated-inplace-upgrade-controller"
)

// fieldOwner is the manager of what they write.
const fieldOwner = "manager"

// Options of a Provider. The zero value is valid and behaves as in production.
type Options struct {
	// Requeue is the pause between two looks at what is under way. Default 5s.
	Requeue time.Duration
	// Resync is how often everything is looked at without a change. Default 10m.
	Resync time.Duration
	// Renew is how often the leader Leases are renewed. Default 2s.
	Renew time.Duration
	// Cached makes the controllers read their cache, as they do in production, where a look that is too early asks a node
	// twice. Default: they read past it, so that what they do depends on what was written alone.
	Cached bool
	// Logger of the controllers. Default: none.
	Logger logr.Logger
}

// Provider is the controllers of one member. Run may be called again after it has returned.
type Provider struct {
	cfg  *rest.Config
	opts Options
}

// New returns the controllers of the member that cfg leads to; they do nothing before Run.
func New(cfg *rest.Config, opts Options) *Provider {
	opts.Requeue = orDefault(opts.Requeue, DefaultRequeue)
	opts.Resync = orDefault(opts.Resync, DefaultResync)
	opts.Renew = orDefault(opts.Renew, DefaultRenew)
	if opts.Logger.GetSink() == nil {
		opts.Logger = logr.Discard()
	}
	return &Provider{cfg: rest.CopyConfig(cfg), opts: opts}
}

// Run plays the controllers until ctx ends, and then returns nil. Their leader Leases are there before anything else is
// done, and stay when it ends: nobody renews them any more.
func (p *Provider) Run(ctx context.Context) error {
	mgr, err := ctrl.NewManager(p.cfg, ctrl.Options{
		Scheme: scheme.Scheme, Logger: p.opts.Logger,
		Cache:   cache.Options{SyncPeriod: &p.opts.Resync},
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return fmt.Errorf("preparing the connection: %w", err)
	}
	m, err := p.member(mgr)
	if err != nil {
		return err
	}
	if err := addControllers(mgr, m); err != nil {
		return err
	}
	leases := leases{client: m.client, every: p.opts.Renew}
	if err := leases.renew(ctx); err != nil {
		return fmt.Errorf("taking the leader Leases: %w", err)
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { leases.run(ctx); return nil })
	both.Go(func() error { return mgr.Start(ctx) })
	return both.Wait()
}

// member is what the controllers share.
type member struct {
	client client.Client
	// reader is the cache or the API server, live always the API server.
	reader, live client.Reader
	kinds        capi.Kinds
	pause        time.Duration
}

func (p *Provider) member(mgr manager.Manager) (member, error) {
	kinds, err := capi.Discover(mgr.GetRESTMapper(), capi.DefaultControlPlanes())
	if err != nil {
		return member{}, fmt.Errorf("finding the kinds of Cluster API: %w", err)
	}
	if len(kinds.ControlPlanes) == 0 {
		return member{}, errors.New("the member serves no kind of control plane")
	}
	m := member{
		client: client.WithFieldOwner(mgr.GetClient(), fieldOwner), live: mgr.GetAPIReader(),
		kinds: kinds, pause: p.opts.Requeue,
	}
	m.reader = m.live
	if p.opts.Cached {
		m.reader = mgr.GetCache()
	}
	return m, nil
}

func addControllers(mgr manager.Manager, m member) error {
	err := ctrl.NewControllerManagedBy(mgr).Named("provider-machine").For(capi.Object(m.kinds.Machine)).
		WithOptions(oneWorker()).Complete(&machines{m, recorder(mgr, machineSource)})
	if err != nil {
		return fmt.Errorf("preparing the machine controller: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("provider-deployment").For(capi.Object(m.kinds.MachineDeployment)).
		Owns(capi.Object(m.kinds.Machine)). // never fires: MachineSets control the machines
		WithOptions(oneWorker()).Complete(&deployments{owners{m, recorder(mgr, deploymentSource)}})
	if err != nil {
		return fmt.Errorf("preparing the MachineDeployment controller: %w", err)
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("provider-controlplane").For(capi.Object(m.kinds.ControlPlanes[0])).
		Owns(capi.Object(m.kinds.Machine)).
		WithOptions(oneWorker()).Complete(&controlPlanes{owners{m, recorder(mgr, controlPlaneSource)}})
	if err != nil {
		return fmt.Errorf("preparing the control plane controller: %w", err)
	}
	return nil
}

func oneWorker() controller.Options {
	return controller.Options{MaxConcurrentReconciles: 1, SkipNameValidation: new(true)}
}

func recorder(mgr manager.Manager, source string) record.EventRecorder {
	return mgr.GetEventRecorderFor(source) // they record events of the older API
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
