// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package capi_test claims that the engine upgrades machines in place beside the real controllers of Cluster API: what
// those do meanwhile to owners and machines breaks neither an upgrade nor a cluster.
package capi_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/test/capistack"
	"github.com/windlass-dev/windlass/test/env"
	simulated "github.com/windlass-dev/windlass/test/k8sd"
)

// What the machines run at first, and what they are asked for.
const (
	oldVersion      = "v1.34.3"
	target, version = "channel=1.35-classic/stable", "v1.35.1"
)

// The clusters, one for each story, in namespaces of their names. They are made at the same time.
const (
	whole   = "whole"
	grow    = "grow"
	shrink  = "shrink"
	loss    = "loss"
	rollout = "rollout"
	sick    = "sick"
)

func clusters() []capistack.ClusterSpec {
	spec := func(name string, controlPlane, workers int32) capistack.ClusterSpec {
		return capistack.ClusterSpec{
			Namespace: name, Name: name, Version: oldVersion, ControlPlane: controlPlane, Workers: workers,
		}
	}
	return []capistack.ClusterSpec{
		spec(whole, 3, 2), spec(grow, 1, 2), spec(shrink, 1, 3), spec(loss, 3, 0), spec(rollout, 1, 2), spec(sick, 1, 2),
	}
}

// What all specs share; written once, before the first.
var (
	world *env.World
	stack *capistack.Stack
	seen  *witness
)

func TestCapi(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Cluster API")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(3 * time.Minute) // on a busy machine
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(100 * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // the binaries may have to be built
	defer cancel()
	begin := time.Now()
	var err error
	world, err = env.Start(ctx, env.Options{Log: os.Stderr})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return world.Close() })
	stack, err = capistack.Start(ctx, world, "management")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return stack.Close() })
	stack.Sim().Release(target, version)
	stack.Sim().Default(simulated.Done(300 * time.Millisecond))
	fmt.Fprintf(os.Stderr, "Cluster API ready in %s\n", time.Since(begin).Round(100*time.Millisecond))

	making, cancelMaking := context.WithTimeout(ctx, 30*time.Minute) // on a busy machine
	defer cancelMaking()
	var made errgroup.Group
	for _, spec := range clusters() {
		made.Go(func() error { return stack.Cluster(making, spec) })
	}
	Expect(made.Wait()).To(Succeed())
	fmt.Fprintf(os.Stderr, "%d clusters ready in %s\n", len(clusters()), time.Since(begin).Round(100*time.Millisecond))
	startEngine()
})

// startEngine hosts the engine on the management cluster as an agent does, until the suite ends.
func startEngine() {
	cl, err := cluster.New(stack.Config, func(o *cluster.Options) {
		o.Cache = cache.Options{DefaultTransform: capi.Trim}
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.Background())
	started, hosted := make(chan error, 1), make(chan error, 1)
	go func() { started <- cl.Start(ctx) }()
	seen, err = watch(ctx, cl.GetCache())
	Expect(err).NotTo(HaveOccurred())
	go func() {
		hosted <- engine.Host(ctx, cl, engine.Options{
			LeaseDuration: 2 * time.Minute, RenewDeadline: time.Minute, RetryPeriod: time.Second, // not to be lost here
			ControlPlaneKinds: []schema.GroupKind{{Group: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane"}},
			// The way to a node is the real one, but for an API server in memory that forwards no ports.
			K8sd: func(live client.Reader) machine.K8sd {
				return k8sd.New(k8sd.Options{Reader: stack.Secrets(live), Clock: clock.RealClock{}})
			},
			Logger: GinkgoLogr,
		})
	}()
	DeferCleanup(func() {
		stop()
		Expect(<-hosted).To(Succeed())
		Expect(<-started).To(Succeed())
	})
}

// What the controllers said is what a failure is understood from.
var _ = JustAfterEach(func() {
	Expect(stack.Ended()).To(Succeed(), "no controller of Cluster API has ended")
	if !CurrentSpecReport().Failed() {
		return
	}
	logs, err := filepath.Glob(filepath.Join(world.Dir(), "management-*.log"))
	Expect(err).NotTo(HaveOccurred())
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			continue
		}
		lines := bytes.Split(text, []byte("\n"))
		const shown = 60
		lines = lines[max(0, len(lines)-shown):]
		GinkgoWriter.Printf("the last lines of %s:\n%s\n", filepath.Base(log), bytes.Join(lines, []byte("\n")))
	}
})
