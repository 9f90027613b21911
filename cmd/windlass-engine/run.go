// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/engine/capi"
)

// run hosts the engine until ctx ends. The manager brings cache, health and metrics; the election is the engine's own,
// since a hub may compete in it.
func run(ctx context.Context, o options) error {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = o.qps, o.burst
	mgr, err := ctrl.NewManager(cfg, managerOptions(o))
	if err != nil {
		return fmt.Errorf("preparing the connection: %w", err)
	}
	for name, add := range map[string]func(string, healthz.Checker) error{
		"healthz": mgr.AddHealthzCheck, "readyz": mgr.AddReadyzCheck,
	} {
		if err := add(name, healthz.Ping); err != nil {
			return err
		}
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return host(ctx, mgr, o.engine) }))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// host starts the engine over when it must answer other annotations.
func host(ctx context.Context, mgr manager.Manager, o engine.Options) error {
	for {
		err := engine.Host(ctx, mgr, o)
		if !errors.Is(err, engine.ErrProviderChanged) || ctx.Err() != nil {
			return err
		}
		mgr.GetLogger().Info("the engine starts over", "reason", err.Error())
	}
}

func managerOptions(o options) ctrl.Options {
	metrics := metricsserver.Options{BindAddress: o.metricsAddress}
	if o.metricsAddress != "0" {
		metrics.SecureServing = true
		metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return ctrl.Options{
		Scheme:                 clientgoscheme.Scheme,
		Cache:                  cache.Options{DefaultTransform: capi.Trim},
		Metrics:                metrics,
		HealthProbeBindAddress: o.healthAddress,
	}
}
