// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

var _ = Describe("engine: Hub beside the existing controllers", func() {
	It("faults 3, 9b: has keys of its own, retires the owners, and refreshes each machine once", func(ctx SpecContext) {
		const name = "beside"
		path := clusterFor(ctx, name, beside)
		w := watch(ctx, beside, name)
		mc := &fleetv1.ManagementCluster{}
		Expect(world.Hub.Get(ctx, client.ObjectKey{Namespace: env.HubNamespace, Name: beside}, mc)).To(Succeed())
		Expect(mc.Status.Engine).To(Equal(&fleetv1.EngineStatus{ProviderPresent: true, KeyPrefix: protocol.OwnPrefix}))

		Expect(world.Hub.Create(ctx, policyFor(name))).To(Succeed())
		phase(ctx, name, fleetv1.RolloutSucceeded)
		done := func(g Gomega) {
			g.Expect(posts(ctx, g, path)).To(HaveEach(1))
			finished(ctx, g, path)
			settled(ctx, g, path)
			machines, _ := releases(ctx, g, path, ownKeys)
			g.Expect(machines).To(HaveEach(nextTarget))
			g.Expect(w.times()).To(BeEmpty(), "machines that were asked under the keys of the controllers")
			w.nothingWrong(g)
		}
		Eventually(done).WithContext(ctx).Should(Succeed())
		for _, o := range upgradeOf(ctx, Default, name).Status.Owners {
			Expect(o.PreviousRelease).To(Equal(oldTarget), o.Name)
		}
		Consistently(done).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}, SpecTimeout(5*time.Minute))
})
