// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

// silence is law 14: a member stops answering while one of its machines is in flight. It is frozen, not stopped: every
// connection to it stays open and is answered by nothing.
func silence(ctx context.Context, g Gomega) {
	const name, silent, well = "silence", "east/silence/ea-1", "north/silence/eu-1"
	clusters(ctx, g, name, silent, well)
	open := gate(ctx, g, silent, "ea-1-cp-0", "ea-1-cp-1", "ea-1-cp-2")
	defer open()
	p := policyFor(name)
	p.Spec.Waves = []fleetv1.Wave{rest(2)}
	apply(ctx, g, p)
	_, err := world.AwaitMachine(ctx, silent, inFlight)
	g.Expect(err).NotTo(HaveOccurred())
	left := owe(ctx, g)
	defer left.open()
	g.Expect(world.Members[east].Freeze()).To(Succeed())
	open() // the node goes on; only nobody can see it

	g.Eventually(func(g Gomega) {
		mc := &fleetv1.ManagementCluster{ObjectMeta: metav1.ObjectMeta{Namespace: env.HubNamespace, Name: east}}
		g.Expect(world.Hub.Get(ctx, key(mc), mc)).To(Succeed())
		g.Expect(meta.IsStatusConditionFalse(mc.Status.Conditions, fleetv1.ReachableCondition)).To(BeTrue())
		g.Expect(upgrade(ctx, g, name, well).Status.Phase).To(Equal(fleetv1.UpgradeSucceeded))
		unseen := upgrade(ctx, g, name, silent).Status
		g.Expect(unseen.Phase).To(Equal(fleetv1.UpgradeHolding))
		g.Expect(unseen.EndedAt).To(BeNil())
		g.Expect(unseen.Message).To(ContainSubstring(east))
	}).WithContext(ctx).Should(Succeed())
	ro := newest(ctx, g, name)
	g.Expect(ro.Status.Phase).To(Equal(fleetv1.RolloutProgressing))
	g.Expect(ro.Status.Failed).To(BeZero())

	left.disown(ctx, g)

	g.Expect(world.Members[east].Thaw()).To(Succeed())
	left.settled(ctx, g)
	phase(ctx, g, name, fleetv1.RolloutSucceeded)
	upgradedOnce(ctx, g, nextTarget, nextVersion, silent, well)
}
