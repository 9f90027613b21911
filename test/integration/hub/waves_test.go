// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"slices"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/fleet"
)

// waves is the main job: a canary and two waves over two members, one with the engine hosted by the hub.
func waves(ctx context.Context, g Gomega) {
	const name, canary = "waves", "north/waves/eu-1"
	early := []string{"north/waves/eu-2", "south/waves/us-1"}
	late := []string{"north/waves/eu-3", "south/waves/us-2", "south/waves/us-3"}
	all := slices.Concat([]string{canary}, early, late)
	clusters(ctx, g, name, all...)
	witness, err := world.Watch(ctx, fleet.Rules{
		Limits: map[string]int{"canaries": 1, "early": 2, "rest": 2}, Policies: []string{name},
		Members: []string{north, south}, // another story freezes east
	})
	g.Expect(err).NotTo(HaveOccurred())

	p := policyFor(name)
	p.Spec.Canaries = fleetv1.Canaries{Names: []string{canary}}
	p.Spec.Waves = []fleetv1.Wave{{Name: "early", Names: early, MaxConcurrency: new(intstr.FromInt(2))}, rest(2)}
	apply(ctx, g, p)
	ro := phase(ctx, g, name, fleetv1.RolloutSucceeded)

	g.Expect(ro.Status.Progress).To(Equal("6/6"))
	g.Expect(witness.Broken()).To(BeEmpty())
	g.Expect(witness.Began()).To(HaveLen(len(all)))
	g.Expect(witness.Began()[0]).To(Equal(canary))
	g.Expect(witness.Began()[1:3]).To(ConsistOf(early))
	g.Expect(witness.Began()[3:]).To(ConsistOf(late))
	g.Expect(witness.Most("early")).To(Equal(2), "clusters of the wave early at once")
	g.Expect(witness.Most("rest")).To(Equal(2), "clusters of the wave rest at once")
	upgradedOnce(ctx, g, nextTarget, nextVersion, all...)
}
