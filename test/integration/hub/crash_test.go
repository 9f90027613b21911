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
)

var _ = Describe("a hub that is killed in mid-rollout, and its hosted engine with it", func() {
	It("goes on where it was, within the same limits, and refreshes no machine twice", func(ctx SpecContext) {
		const name = "crash"
		paths := []string{"north/crash/eu-1", "north/crash/eu-2", "north/crash/eu-3"}
		clusters(ctx, Default, name, paths...)
		witness, err := world.Watch(ctx, map[string]int{"rest": 2}, name)
		Expect(err).NotTo(HaveOccurred())

		p := policyFor(name)
		p.Spec.Waves = []fleetv1.Wave{rest(2)}
		apply(ctx, Default, p)
		crash := func(when func(*clusterv1.Machine) bool) {
			GinkgoHelper()
			limited, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := world.AwaitMachine(limited, paths[0], when)
			Expect(err).NotTo(HaveOccurred())
			world.KillHub()
			Expect(world.StartHub()).To(Succeed())
		}
		crash(inFlight)
		crash(func(m *clusterv1.Machine) bool { return inFlight(m) && !controlPlane(m) })
		phase(ctx, Default, name, fleetv1.RolloutSucceeded)

		Expect(witness.Broken()).To(BeEmpty())
		Expect(witness.Most("rest")).To(Equal(2), "clusters at once")
		upgradedOnce(ctx, Default, nextTarget, nextVersion, paths...)
	})
})
