// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/fleet"
)

var _ = Describe("a hub that is killed in mid-rollout, and its hosted engine with it", func() {
	It("goes on where it was, within the same limits, and refreshes no machine twice", func(ctx SpecContext) {
		const name, replaced = "crash", "north/crash/eu-9"
		paths := []string{"north/crash/eu-1", "north/crash/eu-2", "north/crash/eu-3"}
		clusters(ctx, Default, name, append(paths, replaced)...)
		witness, err := world.Watch(ctx, fleet.Rules{Limits: map[string]int{"rest": 2}, Policies: []string{name}})
		Expect(err).NotTo(HaveOccurred())

		p := policyFor(name)
		p.Spec.Waves = []fleetv1.Wave{rest(2)}
		p.Spec.CatchUp = &fleetv1.CatchUp{LateJoiners: fleetv1.LateJoinersIgnore} // the newcomer is left to the next rollout
		// Both clusters of the wave are in the middle of a refresh whenever the hub is killed.
		first := gate(ctx, Default, paths[0], "eu-1-cp-0", "eu-1-cp-1", "eu-1-cp-2")
		worker := gate(ctx, Default, paths[0], "eu-1-a-0")
		beside := gate(ctx, Default, paths[1], "eu-2-cp-0", "eu-2-cp-1", "eu-2-cp-2")
		apply(ctx, Default, p)
		await := func(path string, when func(*clusterv1.Machine) bool) {
			GinkgoHelper()
			limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
			defer cancel()
			_, err := world.AwaitMachine(limited, path, when)
			Expect(err).NotTo(HaveOccurred())
		}
		await(paths[0], inFlight)
		await(paths[1], inFlight)
		world.KillHub()
		first()
		Expect(world.StartHub()).To(Succeed())
		await(paths[0], func(m *clusterv1.Machine) bool { return inFlight(m) && !controlPlane(m) })
		world.KillHub()
		newcomer := replace(ctx, name, replaced)
		worker()
		Expect(world.StartHub()).To(Succeed())
		beside()
		phase(ctx, Default, name, fleetv1.RolloutSucceeded)

		Expect(witness.Broken()).To(BeEmpty())
		Expect(witness.Most("rest")).To(Equal(2), "clusters at once")
		upgradedOnce(ctx, Default, nextTarget, nextVersion, paths...)
		Expect(upgrade(ctx, Default, name, replaced).Status.Phase).To(Equal(fleetv1.UpgradeRemoved))
		untouched(ctx, Default, newcomer, replaced)
	})
})

// replace puts another cluster of the same name in the place of one that waits for its turn, while the hub is away: all
// that the hub can tell them apart by is the UID (law 1).
func replace(ctx context.Context, spec, path string) fleet.Objects {
	GinkgoHelper()
	Expect(world.Remove(ctx, path)).To(Succeed())
	Expect(create(ctx, spec, path)).To(Succeed())
	of, err := world.Objects(ctx, path)
	Expect(err).NotTo(HaveOccurred())
	return of
}
