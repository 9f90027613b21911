// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"

	. "github.com/onsi/gomega"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// removal is law 1: a cluster goes in the middle of its upgrade, and another takes its name at once.
func removal(ctx context.Context, g Gomega) {
	const name, gone, stays = "removal", "north/removal/eu-1", "north/removal/eu-2"
	clusters(ctx, g, name, gone, stays)
	open := gate(ctx, g, gone, "eu-1-cp-0", "eu-1-cp-1", "eu-1-cp-2")
	defer open()
	first := recorded(ctx, g, gone)
	p := policyFor(name)
	p.Spec.CatchUp = &fleetv1.CatchUp{LateJoiners: fleetv1.LateJoinersIgnore} // the newcomer is left to the next rollout
	apply(ctx, g, p)
	_, err := world.AwaitMachine(ctx, gone, inFlight)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(world.Remove(ctx, gone)).To(Succeed())
	open()
	clusters(ctx, g, name, gone)
	second := recorded(ctx, g, gone)
	g.Expect(second.Spec.Cluster.UID).NotTo(Equal(first.Spec.Cluster.UID))
	g.Expect(second.Name).NotTo(Equal(first.Name))
	newcomer, err := world.Objects(ctx, gone)
	g.Expect(err).NotTo(HaveOccurred())
	asked := refreshes(ctx, g, gone)

	ro := phase(ctx, g, name, fleetv1.RolloutSucceeded)
	g.Expect(ro.Status.Done).To(BeEquivalentTo(1))
	cu := upgrade(ctx, g, name, gone)
	g.Expect(cu.Spec.WorkloadCluster.UID).To(Equal(first.UID))
	g.Expect(cu.Status.Phase).To(Equal(fleetv1.UpgradeRemoved))
	upgradedOnce(ctx, g, nextTarget, nextVersion, stays)
	unwritten(ctx, g, newcomer, gone)
	g.Expect(refreshes(ctx, g, gone)).To(Equal(asked))
}
