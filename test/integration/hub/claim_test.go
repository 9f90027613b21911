// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"

	. "github.com/onsi/gomega"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// oneHolder is law 2: two policies match one cluster, and are carried out one after the other.
func oneHolder(ctx context.Context, g Gomega) {
	const path = "north/claim/eu-1"
	names := []string{"claim-a", "claim-b"}
	clusters(ctx, g, "claim", path)
	open := gate(ctx, g, path, "eu-1-cp-0", "eu-1-cp-1", "eu-1-cp-2")
	defer open()
	policies := make([]*fleetv1.RolloutPolicy, len(names))
	for i, name := range names {
		policies[i] = policyFor("claim")
		policies[i].Name, policies[i].Spec.Paused = name, true
		apply(ctx, g, policies[i])
	}
	for _, name := range names { // both have the cluster in their plan before either begins
		phase(ctx, g, name, fleetv1.RolloutPaused)
	}
	for _, p := range policies {
		edit(ctx, g, p, func(s *fleetv1.RolloutPolicySpec) { s.Paused = false })
	}

	g.Eventually(func(g Gomega) {
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

	open()
	for _, name := range names {
		phase(ctx, g, name, fleetv1.RolloutSucceeded)
	}
	upgradedOnce(ctx, g, nextTarget, nextVersion, path)
	g.Eventually(func(g Gomega) {
		g.Expect(recorded(ctx, g, path).Status.ClaimedBy).To(BeEmpty())
	}).WithContext(ctx).Should(Succeed())
}
