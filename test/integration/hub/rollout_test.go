// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

var _ = Describe("a rollout over two members", func() {
	It("upgrades the canary alone, then wave after wave, each machine once, and leaves nothing behind", func(ctx SpecContext) {
		const name = "waves"
		canary := "north/waves/eu-1"
		early := []string{"north/waves/eu-2", "south/waves/us-1"}
		late := []string{"north/waves/eu-3", "south/waves/us-2", "south/waves/us-3"}
		all := append(append([]string{canary}, early...), late...)
		clusters(ctx, name, all...)
		witness, err := world.Watch(ctx, map[string]int{"canaries": 1, "early": 2, "rest": 2}, name)
		Expect(err).NotTo(HaveOccurred())

		p := policy(name)
		p.Spec.Canaries = fleetv1.Canaries{Names: []string{canary}}
		p.Spec.Waves = []fleetv1.Wave{
			{Name: "early", Names: early, MaxConcurrency: new(intstr.FromInt(2))},
			rest(2),
		}
		apply(ctx, p)
		ro := phase(ctx, name, fleetv1.RolloutSucceeded)

		Expect(ro.Status.Progress).To(Equal("6/6"))
		Expect(witness.Broken()).To(BeEmpty())
		Expect(witness.Began()[0]).To(Equal(canary))
		Expect(witness.Began()[1:3]).To(ConsistOf(early))
		Expect(witness.Began()[3:]).To(ConsistOf(late))
		Expect(witness.Most("early")).To(Equal(2), "clusters of the wave early at once")
		Expect(witness.Most("rest")).To(Equal(2), "clusters of the wave rest at once")
		upgradedOnce(ctx, nextTarget, nextVersion, all...)
	})
})
