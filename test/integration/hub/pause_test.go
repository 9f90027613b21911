// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"time"

	. "github.com/onsi/gomega"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/build"
)

// pause is Git's own brake: a policy that is paused from the start plans, one that is paused later stops at the next
// machine boundary.
func pause(ctx context.Context, g Gomega) {
	const name, path = "pause", "south/pause/us-1"
	clusters(ctx, g, name, path)
	open := gate(ctx, g, path, "us-1-cp-0", "us-1-cp-1", "us-1-cp-2")
	defer open()
	before, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())

	p := policyFor(name)
	p.Spec.Paused = true
	apply(ctx, g, p)
	ro := phase(ctx, g, name, fleetv1.RolloutPaused)
	g.Expect(ro.Status.Plan.Total).To(BeEquivalentTo(1))
	g.Consistently(func(g Gomega) {
		cu := upgrade(ctx, g, name, path)
		g.Expect(cu.Spec.Intent).To(Equal(fleetv1.IntentWait))
		untouched(ctx, g, before, path)
	}).WithContext(ctx).Should(Succeed())

	edit(ctx, g, p, func(s *fleetv1.RolloutPolicySpec) { s.Paused = false })
	begun, err := world.AwaitMachine(ctx, path, inFlight)
	g.Expect(err).NotTo(HaveOccurred())
	edit(ctx, g, p, func(s *fleetv1.RolloutPolicySpec) { s.Paused = true })
	phase(ctx, g, name, fleetv1.RolloutPaused)
	g.Eventually(func(g Gomega) { // the permission to begin machines has been taken back
		of, err := world.Objects(ctx, path)
		g.Expect(err).NotTo(HaveOccurred())
		until, err := protocol.ParseStartBefore(of.Cluster.GetAnnotations()[protocol.StartBeforeKey])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(until).NotTo(BeTemporally(">", time.Now()))
	}).WithContext(ctx).Should(Succeed())
	open()
	machines := map[string]int{"us-1-cp-0": 0, "us-1-cp-1": 0, "us-1-cp-2": 0, "us-1-a-0": 0}
	machines[begun.Name] = 1
	alone := func(g Gomega) {
		of, err := world.Objects(ctx, path)
		g.Expect(err).NotTo(HaveOccurred())
		for _, m := range of.Machines {
			if m.GetName() == begun.Name {
				g.Expect(m.GetAnnotations()).To(HaveKeyWithValue(build.Release, nextTarget))
			}
		}
		g.Expect(refreshes(ctx, g, path)).To(Equal(machines))
		g.Expect(upgrade(ctx, g, name, path).Status.Phase).To(Equal(fleetv1.UpgradeHolding))
	}
	g.Eventually(alone).WithContext(ctx).Should(Succeed())
	g.Consistently(alone).WithContext(ctx).Should(Succeed())

	edit(ctx, g, p, func(s *fleetv1.RolloutPolicySpec) { s.Paused = false })
	phase(ctx, g, name, fleetv1.RolloutSucceeded)
	upgradedOnce(ctx, g, nextTarget, nextVersion, path)
}
