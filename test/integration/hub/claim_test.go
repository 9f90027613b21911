// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/k8sd"
)

var _ = Describe("two policies that match one cluster", func() {
	It("are carried out one after the other, and both sides say who holds the cluster", func(ctx SpecContext) {
		const path = "north/claim/eu-1"
		names := []string{"claim-a", "claim-b"}
		clusters(ctx, "claim", path)
		script(path, []string{"eu-1-cp-0", "eu-1-cp-1", "eu-1-cp-2"}, k8sd.Done(2*time.Second))
		for _, name := range names {
			p := policy("claim")
			p.Name = name
			apply(ctx, p)
		}

		Eventually(func(g Gomega) {
			of := map[bool][]fleetv1.ClusterUpgrade{}
			for _, name := range names {
				cu := upgrade(ctx, g, name, path)
				of[cu.Status.Claimed] = append(of[cu.Status.Claimed], cu)
			}
			g.Expect(of[true]).To(HaveLen(1), "holders")
			holder := "fleet/" + of[true][0].Spec.Rollout.Name
			other := of[false][0].Status
			g.Expect(other.Phase).To(Equal(fleetv1.UpgradePending))
			g.Expect(other.Reason).To(Equal(fleetv1.ClaimedByOtherReason))
			g.Expect(other.Message).To(ContainSubstring(holder))
			g.Expect(recorded(ctx, g, path).Status.ClaimedBy).To(ContainSubstring(holder))
		}).WithContext(ctx).Should(Succeed())

		for _, name := range names {
			phase(ctx, name, fleetv1.RolloutSucceeded)
		}
		upgradedOnce(ctx, nextTarget, nextVersion, path)
		Eventually(func(g Gomega) {
			g.Expect(recorded(ctx, g, path).Status.ClaimedBy).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
	})
})
