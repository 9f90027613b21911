// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package hub_test claims that the hub and its engines, run as the programs that they are, upgrade a fleet of real API
// servers in the order, at the pace and within the limits that a policy says, and that no crash, outage or failure on
// the way widens or repeats anything.
package hub_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/fleet"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// The members. The hub hosts the engine of north and east; south has one of its own.
const (
	north = "north"
	south = "south"
	east  = "east"
)

// What the clusters of this suite run at first, and what the world has released since.
const (
	oldTarget, oldVersion   = "channel=1.33-classic/old", "v1.33.4"
	nextTarget, nextVersion = "channel=1.33-classic/stable", "v1.33.9"
	laterTarget             = "channel=1.33-classic/candidate"
	laterVersion            = "v1.33.10"
)

// world is shared by all specs: each has clusters and policies of its own. It is written once, before the first spec.
var world *fleet.Fleet

func TestHub(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Hub")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(GinkgoLogr)
	patient(Default)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // the binaries may have to be built
	defer cancel()
	var err error
	world, err = fleet.Start(ctx, GinkgoWriter,
		fleet.Member{Name: north, Engine: fleetv1.EngineHub},
		fleet.Member{Name: south, Engine: fleetv1.EngineAgent},
		fleet.Member{Name: east, Engine: fleetv1.EngineHub},
	)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return world.Close() })
	world.World.Sim().Default(k8sd.Done(300 * time.Millisecond))
	world.World.Sim().Release(nextTarget, nextVersion)
	world.World.Sim().Release(laterTarget, laterVersion)
	Expect(world.StartHub()).To(Succeed())
})

// What the programs said is what a failure is understood from.
var _ = JustAfterEach(func() {
	if !CurrentSpecReport().Failed() {
		return
	}
	for _, name := range []string{"windlass-hub", "engine-" + south} {
		text, err := os.ReadFile(filepath.Join(world.World.Dir(), name+".log"))
		if err != nil {
			continue
		}
		lines := bytes.Split(text, []byte("\n"))
		const shown = 150
		lines = lines[max(0, len(lines)-shown):]
		GinkgoWriter.Printf("the last lines of %s:\n%s\n", name, bytes.Join(lines, []byte("\n")))
	}
})
