// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/go-multierror"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/fleet/acts"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/calendar"
	"github.com/windlass-dev/windlass/fleet/inventory"
	"github.com/windlass-dev/windlass/fleet/lease"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/rollout"
	"github.com/windlass-dev/windlass/fleet/upgrade"
)

// leaseName is the hub's leader Lease.
const leaseName = "windlass-hub"

// run starts every controller of the hub and waits for the end of ctx.
func run(ctx context.Context, o options) error {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("reading the hub's kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = 100, 200
	watched, err := leaderLease(cfg, o)
	if err != nil {
		return err
	}
	kinds, err := o.kinds()
	if err != nil {
		return err
	}
	members := member.NewProvider(member.Options{
		Scheme: clientgoscheme.Scheme, ControlPlanes: kinds, QPS: o.memberQPS, Burst: o.memberBurst, Clock: clock.RealClock{},
	})
	mgr, err := mcmanager.New(cfg, members, managerOptions(o, watched))
	if err != nil {
		return err
	}
	if err := controllers(ctx, mgr, members, watched.MayWrite, o); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// controllers is everything that runs in the hub.
func controllers(ctx context.Context, mgr mcmanager.Manager, members *member.Provider, mayWrite func() error, o options) error {
	local, now := mgr.GetLocalManager(), clock.RealClock{}
	hub, live := local.GetClient(), local.GetAPIReader()
	guard := &acts.Guard{Hub: hub, Live: live}
	upgrades := &upgrade.Reconciler{
		Hub: hub, Members: members, Clock: now, HubID: o.hubID, MayWrite: mayWrite,
		Pace: &pace.Pace[types.UID]{Clock: now},
	}
	var errs *multierror.Error
	errs = multierror.Append(errs,
		(&member.Reconciler{
			Hub: hub, Live: live, Provider: members, Clock: now, ProbeInterval: o.probeInterval,
		}).Setup(local),
		(&inventory.Reconciler{
			Hub: hub, Members: members, Clock: now, Pace: &pace.Pace[mcreconcile.Request]{Clock: now},
		}).Setup(ctx, mgr),
		(&calendar.Reconciler{Hub: hub, Clock: now}).Setup(local),
		(&acts.FreezeReconciler{
			Hub: hub, Clock: now, Pace: &pace.Pace[types.UID]{Clock: now}, HubNamespace: o.leaseNamespace,
		}).Setup(local),
		(&acts.ApprovalReconciler{Hub: hub, Clock: now, Guard: guard, Pace: &pace.Pace[types.UID]{Clock: now}}).Setup(local),
		(&rollout.PolicyReconciler{Hub: hub, Live: live, Clock: now}).Setup(local),
		(&rollout.Reconciler{
			Hub: hub, Live: live, Clock: now, MayWrite: mayWrite, Pace: &pace.Pace[types.UID]{Clock: now},
			HubNamespace: o.leaseNamespace, AuthorsVerified: guard.Verified, Events: local.GetEventRecorder("windlass-hub"),
		}).Setup(local),
		upgrades.Setup(ctx, mgr),
		(&upgrade.Orphans{Upgrades: upgrades, Live: live}).Setup(ctx, mgr),
		mgr.Add(&engines{members: members, mayWrite: mayWrite, namespace: o.engineNamespace, hubID: o.hubID}),
	)
	return errs.ErrorOrNil()
}

// leaderLease is the hub's Lease, watched so that every member write can ask how old it is.
func leaderLease(cfg *rest.Config, o options) (*lease.Watched, error) {
	leases, err := coordinationclient.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this process: %w", err)
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, o.leaseNamespace, leaseName, nil, leases,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())})
	if err != nil {
		return nil, err
	}
	return lease.Watch(lock, o.renewDeadline, clock.RealClock{}), nil
}

func managerOptions(o options, watched *lease.Watched) mcmanager.Options {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(fleetv1.AddToScheme(scheme))
	options := mcmanager.Options{
		Scheme:                              scheme,
		Logger:                              ctrl.Log,
		Cache:                               cache.Options{ByObject: acts.CacheOnly()},
		Client:                              client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Controller:                          config.Controller{RecoverPanic: new(true)},
		LeaderElection:                      true,
		LeaderElectionResourceLockInterface: watched,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       &o.leaseDuration,
		RenewDeadline:                       &o.renewDeadline,
		RetryPeriod:                         &o.retryPeriod,
		HealthProbeBindAddress:              o.healthAddress,
		Metrics:                             metricsserver.Options{BindAddress: o.metricsAddress},
	}
	if o.metricsAddress != "0" {
		options.Metrics.SecureServing = true
		options.Metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}
