// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
)

var _ = Describe("a machine that the existing controllers work on", func() {
	It("fault 9b: is waited for and not touched, and then upgraded once", func(ctx SpecContext) {
		s := given(ctx, pool)
		letGo := s.held("eu-a-1")
		s.annotate(ctx, "eu-a-1", map[string]any{theirs.To: theirTarget})
		s.inFlight(ctx, theirs, "eu-a-1")
		s.ask(ctx, "eu-a")

		Eventually(func(g Gomega) {
			a := s.object(ctx, g, "eu-a").GetAnnotations()
			g.Expect(a).To(HaveKeyWithValue(protocol.WaitingKey, ContainSubstring("ForeignUpgrade")))
		}).WithContext(ctx).Should(Succeed())
		Expect(s.marks(ctx, Default, theirs, "eu-a-1").State()).To(Equal(protocol.InProgress), "it is still at work")
		Expect(s.refreshes("eu-a-0")).To(BeEmpty(), "it counts as at work")
		Expect(s.marks(ctx, Default, ours, "eu-a-1")).To(Equal(protocol.Marks{}))
		letGo()
		s.finished(ctx, "eu-a")

		Expect(s.refreshes("eu-a-0")).To(Equal([]string{ourTarget}))
		Expect(s.refreshes("eu-a-1")).To(Equal([]string{theirTarget, ourTarget}))
		Expect(s.refreshes("eu-a-2")).To(Equal([]string{ourTarget}))
		s.retired(ctx, Default, "eu-a")
	})

	It("is waited for as long as it keeps a change-id of theirs, whether or not they go on with it", func(ctx SpecContext) {
		s := given(ctx, pool)
		s.annotate(ctx, "eu-a-1", map[string]any{theirs.ChangeID: "7", theirs.Status: protocol.StatusInProgress})
		before := s.object(ctx, Default, "eu-a-1").GetAnnotations()
		s.ask(ctx, "eu-a")

		Consistently(func(g Gomega) {
			g.Expect(s.object(ctx, g, "eu-a-1").GetAnnotations()).To(Equal(before))
			for _, m := range poolMachines {
				g.Expect(s.refreshes(m)).To(BeEmpty(), m)
			}
		}).WithContext(ctx).Should(Succeed())
		s.annotate(ctx, "eu-a-1", map[string]any{theirs.ChangeID: nil, theirs.Status: nil})
		s.finished(ctx, "eu-a")
		for _, m := range poolMachines {
			Expect(s.refreshes(m)).To(Equal([]string{ourTarget}), m)
		}
	})

	It("fault 13, fault 14: is the boundary at which an owner is taken over, its lock included", func(ctx SpecContext) {
		s := given(ctx, func(c build.ClusterSpec) build.ClusterSpec { return c.ControlPlane(3) })
		machines := []string{"eu-cp-0", "eu-cp-1", "eu-cp-2"}
		letGo := s.held(machines...)
		s.annotate(ctx, "eu-cp", map[string]any{theirs.To: theirTarget})
		first := s.inFlight(ctx, theirs, machines...)
		s.ask(ctx, "eu-cp")
		Eventually(func(g Gomega) { s.retired(ctx, g, "eu-cp") }).WithContext(ctx).Should(Succeed())
		letGo()
		s.finished(ctx, "eu-cp")

		s.retired(ctx, Default, "eu-cp")
		s.unlocked(ctx)
		Expect(s.refreshes(first)).To(Equal([]string{theirTarget, ourTarget}))
		for _, m := range machines {
			Expect(s.refreshes(m)).To(Or(Equal([]string{ourTarget}), Equal([]string{theirTarget, ourTarget})), m)
			Expect(world.Sim().Version(s.Node(m))).To(Equal(ourVersion), m)
		}
		Consistently(func(g Gomega) {
			for _, m := range machines {
				g.Expect(s.refreshes(m)).To(HaveEach(BeElementOf(theirTarget, ourTarget)), m)
				g.Expect(world.Sim().Version(s.Node(m))).To(Equal(ourVersion), m)
			}
		}).WithContext(ctx).Should(Succeed())
	})
})
