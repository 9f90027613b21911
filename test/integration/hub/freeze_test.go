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

// freeze is the brake of a person on call: it stops what it covers at the next machine, nothing else, and what goes on
// when it is gone is what was stopped.
func freeze(ctx context.Context, g Gomega) {
	const name, frozen, free = "freeze", "south/freeze/us-1", "north/freeze/eu-1"
	clusters(ctx, g, name, frozen, free)
	open := gate(ctx, g, frozen, "us-1-cp-0", "us-1-cp-1", "us-1-cp-2")
	defer open()
	p := policyFor(name)
	p.Spec.Waves = []fleetv1.Wave{rest(2)}
	apply(ctx, g, p)
	begun, err := world.AwaitMachine(ctx, frozen, inFlight)
	g.Expect(err).NotTo(HaveOccurred())

	fz := &fleetv1.Freeze{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.HubNamespace, Name: name},
		Spec: fleetv1.FreezeSpec{
			Scope: fleetv1.FreezeScope{Clusters: []string{frozen}}, Reason: "disks are lost", By: env.FieldOwner,
		},
	}
	g.Expect(world.Hub.Create(ctx, fz)).To(Succeed())
	stopsAfter(ctx, g, name, frozen, begun.Name, open)
	g.Eventually(func(g Gomega) { // the other cluster of the wave was not in its scope
		g.Expect(upgrade(ctx, g, name, free).Status.Phase).To(Equal(fleetv1.UpgradeSucceeded))
	}).WithContext(ctx).Should(Succeed())
	g.Eventually(func(g Gomega) {
		g.Expect(world.Hub.Get(ctx, key(fz), fz)).To(Succeed())
		g.Expect(meta.FindStatusCondition(fz.Status.Conditions, fleetv1.ActiveCondition)).To(HaveValue(SatisfyAll(
			HaveField("Status", metav1.ConditionTrue), HaveField("Reason", fleetv1.InForceReason),
			HaveField("Message", "no machine begins until it is deleted: disks are lost (windlass-test)"))))
		g.Expect(fz.Status.Clusters).To(HaveValue(BeEquivalentTo(1)))
		g.Expect(fz.Status.Scope).To(Equal("clusters " + frozen))
		g.Expect(fz.Status.Until).To(Equal(fleetv1.UntilAct))
	}).WithContext(ctx).Should(Succeed())

	g.Expect(world.Hub.Delete(ctx, fz)).To(Succeed())
	phase(ctx, g, name, fleetv1.RolloutSucceeded)
	upgradedOnce(ctx, g, nextTarget, nextVersion, frozen, free)
}
