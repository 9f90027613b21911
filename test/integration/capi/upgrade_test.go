// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	simulated "github.com/windlass-dev/windlass/test/k8sd"
)

var _ = Describe("in-place upgrade", func() {
	It("upgrades a control plane of three, one machine at a time, and then its pool, with one refresh each", func(ctx SpecContext) {
		cp, workers := group{whole, true}, group{whole, false}
		before := append(machines(ctx, cp), machines(ctx, workers)...)

		grant(ctx, controlPlane(whole))
		awaitDone(ctx, controlPlane(whole))
		grant(ctx, pool(whole))
		awaitDone(ctx, pool(whole))

		expectUpgraded(ctx, cp, 3)
		expectUpgraded(ctx, workers, 2)
		expectUnlocked(ctx, whole)
		for i, m := range append(machines(ctx, cp), machines(ctx, workers)...) {
			Expect(m.UID).To(Equal(before[i].UID), "no machine is replaced")
			Expect(m.Spec.Version).To(Equal(oldVersion), "what Cluster API asked for is left alone")
		}
	})

	It("C092: upgrades a machine that joins a pool in mid-upgrade, in its turn", func(ctx SpecContext) {
		workers := group{grow, false}
		first := machines(ctx, workers)[0]
		letGo := held(first.Name)
		grant(ctx, pool(grow))
		awaitRefresh(first.Name)

		patch(ctx, pool(grow), replicas(3))
		Eventually(func() []clusterv1.Machine { return machines(ctx, workers) }).Should(HaveLen(3))
		letGo()
		awaitDone(ctx, pool(grow))

		expectUpgraded(ctx, workers, 3)
	})

	It("forgets a machine that leaves a pool in mid-upgrade, and refreshes it never", func(ctx SpecContext) {
		workers := group{shrink, false}
		before := machines(ctx, workers)
		first, last := before[0], before[2]
		letGo := held(first.Name)
		patch(ctx, &last, annotations(map[string]string{clusterv1.DeleteMachineAnnotation: ""}))
		grant(ctx, pool(shrink))
		awaitRefresh(first.Name)

		patch(ctx, pool(shrink), replicas(2))
		Eventually(func() []string { return names(staying(machines(ctx, workers))) }).ShouldNot(ContainElement(last.Name))
		letGo()
		awaitDone(ctx, pool(shrink))

		expectUpgraded(ctx, workers, 2)
		Expect(names(machines(ctx, workers))).NotTo(ContainElement(last.Name))
		Expect(stack.Sim().Refreshes(last.Name)).To(BeZero())
	})

	It("frees the lock of a machine that is deleted in mid-upgrade, and upgrades its replacement", func(ctx SpecContext) {
		cp := group{loss, true}
		lost := machines(ctx, cp)[0]
		Expect(stack.Sim().Script(lost.Name, simulated.Doing())).To(Succeed(), "it would never end")
		grant(ctx, controlPlane(loss))
		awaitRefresh(lost.Name)

		Expect(stack.Client.Delete(ctx, &lost)).To(Succeed())
		awaitDone(ctx, controlPlane(loss))

		expectUpgraded(ctx, cp, 3)
		expectUnlocked(ctx, loss)
		Expect(names(machines(ctx, cp))).NotTo(ContainElement(lost.Name))
		Expect(stack.Sim().Refreshes(lost.Name)).To(Equal(1))
	})
})
