// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package provider_test claims that the hub upgrades clusters whose management cluster runs the existing controllers:
// through them, machine by machine, or beside them with an engine of its own, and that in neither case one of their
// faults shows. The controllers are those of test/provider, with the faults that they have.
package provider_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/fleet"
	"github.com/windlass-dev/windlass/test/k8sd"
	"github.com/windlass-dev/windlass/test/provider"
)

// The members: the controllers run in both. The hub grants machines to those of through, and hosts an engine of its own
// beside those of beside.
const (
	through = "through"
	beside  = "beside"
)

// What the clusters of this suite run at first, and what the world has released since.
const (
	oldTarget, oldVersion   = "channel=1.33-classic/old", "v1.33.4"
	nextTarget, nextVersion = "channel=1.33-classic/stable", "v1.33.9"
)

// world is shared by all specs: each has clusters and policies of its own. It is written once, before the first spec.
var world *fleet.Fleet

func TestProvider(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Provider")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(GinkgoLogr)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(3 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // the binaries may have to be built
	defer cancel()
	var err error
	world, err = fleet.Start(ctx, GinkgoWriter,
		fleet.Member{Name: through, Engine: fleetv1.EngineProvider}, fleet.Member{Name: beside, Engine: fleetv1.EngineHub},
	)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return world.Close() })
	for _, member := range []string{through, beside} {
		run(member)
		leads(ctx, member)
	}
	world.World.Sim().Default(k8sd.Done(300 * time.Millisecond))
	world.World.Sim().Release(nextTarget, nextVersion)
	world.World.Sim().Release(oldTarget, oldVersion)
	Expect(world.StartHub()).To(Succeed())
})

// run lets the existing controllers live in a member until the suite ends.
func run(member string) {
	GinkgoHelper()
	p := provider.New(world.Members[member].Config, provider.Options{Requeue: 200 * time.Millisecond, Logger: GinkgoLogr})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		defer GinkgoRecover()
		Expect(p.Run(ctx)).To(Succeed())
	})
	DeferCleanup(func() {
		stop()
		running.Wait()
	})
}

// leads waits until the controllers of a member have their leader Leases, by which the hub knows them.
func leads(ctx context.Context, member string) {
	GinkgoHelper()
	leases := coordinationv1client.NewForConfigOrDie(world.Members[member].Config)
	for _, key := range provider.Leases() {
		Eventually(func() error {
			_, err := leases.Leases(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
			return err
		}).WithContext(ctx).Should(Succeed())
	}
}

// What the hub said is what a failure is understood from.
var _ = JustAfterEach(func() {
	if !CurrentSpecReport().Failed() {
		return
	}
	text, err := os.ReadFile(filepath.Join(world.World.Dir(), "windlass-hub.log"))
	if err != nil {
		return
	}
	lines := bytes.Split(text, []byte("\n"))
	const shown = 200
	GinkgoWriter.Printf("the last lines of the hub:\n%s\n", bytes.Join(lines[max(0, len(lines)-shown):], []byte("\n")))
})
