// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/build"
)

// refreshedAgain is a cluster that is at the target, each machine of which is to be refreshed once more (refreshedAfter).
func refreshedAgain(ctx context.Context, g Gomega) {
	const name, path = "refreshed", "north/refreshed/eu-1"
	_, err := world.AddCluster(ctx, north, build.Cluster(name, "eu-1").Label(forSpec, name).ControlPlane(3).Pool("a", 1).
		At(nextVersion).Release(nextTarget))
	g.Expect(err).NotTo(HaveOccurred())
	before, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func(g Gomega) {
		g.Expect(healthy(ctx, g)).To(ContainElement(before.Cluster.GetUID()))
	}).WithContext(ctx).Should(Succeed())
	p := policyFor(name)
	apply(ctx, g, p)
	first := phase(ctx, g, name, fleetv1.RolloutSucceeded)
	g.Expect(first.Status.Plan).To(HaveValue(HaveField("AtTarget", BeEquivalentTo(1))))
	untouched(ctx, g, before, path)

	edit(ctx, g, p, func(s *fleetv1.RolloutPolicySpec) {
		s.Target.RefreshedAfter = new(metav1.NewTime(time.Now().Add(-time.Second).Truncate(time.Second)))
	})
	g.Eventually(func(g Gomega) { g.Expect(rollouts(ctx, g, name)).To(HaveLen(2)) }).WithContext(ctx).Should(Succeed())
	ro := phase(ctx, g, name, fleetv1.RolloutSucceeded)
	g.Expect(ro.Status.Progress).To(Equal("1/1"))
	upgradedOnce(ctx, g, nextTarget, nextVersion, path)
}
