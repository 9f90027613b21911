// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine_test claims that the engine and the existing controllers can live on the same member: exactly one of
// them refreshes a machine, and neither undoes what the other did.
package engine_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
	"github.com/windlass-dev/windlass/test/provider"
)

// What clusters run at first, what the others are asked for, and what the engine is asked for.
const (
	oldTarget, oldVersion     = "channel=1.33-classic/old", "v1.33.4"
	theirTarget, theirVersion = "channel=1.33-classic/stable", "v1.33.9"
	ourTarget, ourVersion     = "channel=1.34-classic/stable", "v1.34.1"
)

const (
	// theirPause is how long the existing controllers wait between two looks at what is under way.
	theirPause = 100 * time.Millisecond
	// theirResync is how often they look at everything.
	theirResync = time.Second
	// theirChance is long enough for them to look at everything several times, and to act on it.
	theirChance = 3 * theirResync
)

// A lease that a busy machine does not lose: nobody else wants it here.
const (
	leaseDuration = 2 * time.Minute
	renewDeadline = time.Minute
)

// world is one member on which both live. It is written once, before the first spec.
var world struct { //nolint:gochecknoglobals // BeforeSuite has no other way to hand it on
	*env.World

	member *env.Management
	watch  client.WithWatch
	kinds  capi.Kinds
}

func TestEngineBesideTheExistingControllers(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Engine")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(GinkgoLogr)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(3 * time.Minute) // on a busy machine
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(theirChance)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // the binaries may have to be built
	defer cancel()
	var err error
	world.World, err = env.Start(ctx, env.Options{Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(world.Close)
	world.Sim().Default(k8sd.Done(200 * time.Millisecond))
	world.Sim().Release(oldTarget, oldVersion)
	world.Sim().Release(theirTarget, theirVersion)
	world.Sim().Release(ourTarget, ourVersion)
	world.member, err = world.Management(ctx, "member")
	Expect(err).NotTo(HaveOccurred())
	world.watch, err = client.NewWithWatch(world.member.Config, client.Options{Scheme: world.member.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	world.kinds, err = capi.Discover(world.member.Client.RESTMapper(), capi.DefaultControlPlanes())
	Expect(err).NotTo(HaveOccurred())
	playProvider(ctx)
	hostEngine()
})

// running runs something until the suite ends, and claims that it ends well.
func running(run func(context.Context) error) {
	GinkgoHelper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	DeferCleanup(func() {
		stop()
		Expect(<-ended).To(Succeed())
	})
}

func playProvider(ctx context.Context) {
	GinkgoHelper()
	p := provider.New(world.member.Config, provider.Options{
		Requeue: theirPause, Resync: theirResync, Logger: GinkgoLogr.WithName("provider"),
	})
	running(p.Run)
	Eventually(func(g Gomega) {
		for _, key := range provider.Leases() {
			g.Expect(world.member.Client.Get(ctx, key, &coordinationv1.Lease{})).To(Succeed())
		}
	}).WithContext(ctx).Should(Succeed())
}

// hostEngine lets the engine find out itself that it is not alone.
func hostEngine() {
	GinkgoHelper()
	cl, err := cluster.New(world.member.Config, func(o *cluster.Options) {
		o.Cache = cache.Options{DefaultTransform: capi.Trim}
	})
	Expect(err).NotTo(HaveOccurred())
	running(cl.Start)
	running(func(ctx context.Context) error {
		return engine.Host(ctx, cl, engine.Options{
			LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, Logger: GinkgoLogr.WithName("engine"),
		})
	})
}
