// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command inmemory is Cluster API's in-memory infrastructure provider and nothing else of the development provider: its
// clusters and machines are objects in this process, with API servers and etcd that answer. Unlike the provider that
// Cluster API builds, it takes its ports from flags, so that several run on one machine.
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/webhooks"
	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

func main() {
	o := parse()
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	mgr, err := newManager(o)
	if err != nil {
		return fmt.Errorf("making the manager: %w", err)
	}
	if err := reconcilers(ctx, mgr, o); err != nil {
		return err
	}
	if err := admission(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// reconcilers are those of clusters and machines that exist in memory. The container runtime is asked for by their
// constructors, and never called.
func reconcilers(ctx context.Context, mgr ctrl.Manager, o options) error {
	memory := inmemory.NewManager(workloadScheme())
	if err := memory.Start(ctx); err != nil {
		return fmt.Errorf("starting the memory: %w", err)
	}
	mux, err := server.NewWorkloadClustersMux(memory, o.host, server.CustomPorts{
		DebugPort: o.port, MinPort: o.port + 1, MaxPort: o.port + ports,
	})
	if err != nil {
		return fmt.Errorf("serving workload clusters: %w", err)
	}
	containers, err := container.NewDockerClient()
	if err != nil {
		return fmt.Errorf("preparing the container runtime: %w", err)
	}
	workloads, err := workloadClients(ctx, mgr)
	if err != nil {
		return fmt.Errorf("preparing clients of workload clusters: %w", err)
	}
	options := controller.Options{MaxConcurrentReconciles: 10}
	clusters := &controllers.DevClusterReconciler{
		Client: mgr.GetClient(), ContainerRuntime: containers, InMemoryManager: memory, APIServerMux: mux,
	}
	if err := clusters.SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("setting up DevCluster: %w", err)
	}
	machines := &controllers.DevMachineReconciler{
		Client: mgr.GetClient(), ContainerRuntime: containers, ClusterCache: workloads, InMemoryManager: memory,
		APIServerMux: mux,
	}
	if err := machines.SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("setting up DevMachine: %w", err)
	}
	return nil
}

func admission(mgr ctrl.Manager) error {
	for kind, setUp := range map[string]func(ctrl.Manager) error{
		"DevCluster":         (&webhooks.DevCluster{}).SetupWebhookWithManager,
		"DevClusterTemplate": (&webhooks.DevClusterTemplate{}).SetupWebhookWithManager,
		"DevMachine":         (&webhooks.DevMachine{}).SetupWebhookWithManager,
		"DevMachineTemplate": (&webhooks.DevMachineTemplate{}).SetupWebhookWithManager,
	} {
		if err := setUp(mgr); err != nil {
			return fmt.Errorf("setting up the webhooks of %s: %w", kind, err)
		}
	}
	return mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker())
}
