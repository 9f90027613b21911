// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/build"
)

// stopsAfter claims law 10 of a cluster that must go no further: the machine that has begun, which open lets go on,
// finishes; no other begins, and the cluster holds. Nothing is opened before the permission to begin
// machines is known to have been taken back.
func stopsAfter(ctx context.Context, g Gomega, policy, path, begun string, open func()) {
	GinkgoHelper()
	g.Eventually(func(g Gomega) {
		of, err := world.Objects(ctx, path)
		g.Expect(err).NotTo(HaveOccurred())
		until, err := protocol.ParseStartBefore(of.Cluster.GetAnnotations()[protocol.StartBeforeKey])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(until).NotTo(BeTemporally(">", time.Now()))
	}).WithContext(ctx).Should(Succeed())
	open()
	alone := func(g Gomega) {
		of, err := world.Objects(ctx, path)
		g.Expect(err).NotTo(HaveOccurred())
		machines := map[string]int{}
		for _, m := range of.Machines {
			machines[m.GetName()] = 0
			if m.GetName() == begun {
				g.Expect(m.GetAnnotations()).To(HaveKeyWithValue(build.Release, nextTarget))
			}
		}
		machines[begun] = 1
		g.Expect(refreshes(ctx, g, path)).To(Equal(machines))
		cu := upgrade(ctx, g, policy, path)
		g.Expect(cu.Spec.Intent).To(Equal(fleetv1.IntentHold))
		g.Expect(cu.Status.Phase).To(Equal(fleetv1.UpgradeHolding))
		g.Expect(cu.Status.Reason).To(And(Equal(cu.Spec.Hold.Reason), Not(Equal("OnHold")))) // law 17: kubectl get cu says why
	}
	g.Eventually(alone).WithContext(ctx).Should(Succeed())
	g.Consistently(alone).WithContext(ctx).Should(Succeed())
}
