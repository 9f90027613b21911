// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/k8sd"
)

func pool(c build.ClusterSpec) build.ClusterSpec { return c.Pool("a", 3) }

var poolMachines = []string{"eu-a-0", "eu-a-1", "eu-a-2"}

var _ = Describe("an owner with a release that the existing controllers go by", func() {
	It("fault 3: is upgraded with one refresh of each machine, and none is marked back to the older release", func(ctx SpecContext) {
		s := given(ctx, func(c build.ClusterSpec) build.ClusterSpec { return c.ControlPlane(3).Pool("a", 2) })
		machines := []string{"eu-cp-0", "eu-cp-1", "eu-cp-2", "eu-a-0", "eu-a-1"}
		s.ask(ctx, "eu-cp", "eu-a")
		s.finished(ctx, "eu-cp", "eu-a")

		s.retired(ctx, Default, "eu-cp", "eu-a")
		for _, m := range machines {
			Expect(s.refreshes(m)).To(Equal([]string{ourTarget}), m)
			Expect(world.Sim().Version(s.Node(m))).To(Equal(ourVersion), m)
			proven := protocol.Marks{Status: protocol.StatusDone, Release: ourTarget}
			Expect(s.marks(ctx, Default, ours, m)).To(Equal(proven), m)
			Expect(s.marks(ctx, Default, theirs, m).Release).To(Equal(ourTarget), "%s: what prepares machines reads this", m)
		}
		s.stays(ctx, machines...)
		s.unlocked(ctx)
	})

	It("fault 3: is left alone by both when it is cancelled half way", func(ctx SpecContext) {
		s := given(ctx, pool)
		letGo := s.held(poolMachines...)
		s.ask(ctx, "eu-a")
		first := s.inFlight(ctx, ours, poolMachines...)
		s.annotate(ctx, "eu-a", map[string]any{ours.To: nil, protocol.PlanKey: nil})
		letGo()

		Eventually(func(g Gomega) {
			g.Expect(s.marks(ctx, g, ours, first)).To(Equal(protocol.Marks{Status: protocol.StatusDone, Release: ourTarget}))
			g.Expect(s.object(ctx, g, first).GetAnnotations()).NotTo(HaveKey(protocol.PlanKey))
			g.Expect(s.marks(ctx, g, ours, "eu-a").Status).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
		s.stays(ctx, poolMachines...)
		s.retired(ctx, Default, "eu-a")
		for _, m := range poolMachines {
			want := []string{}
			if m == first {
				want = []string{ourTarget}
			}
			Expect(s.refreshes(m)).To(Equal(want), m)
		}
	})

	It("fault 1, fault 3: is left alone by both when a machine has used up its attempts", func(ctx SpecContext) {
		s := given(ctx, pool)
		s.script("eu-a-1", k8sd.Error(0, "no space left on device"), k8sd.Undone(0))
		s.ask(ctx, "eu-a")
		Eventually(func(g Gomega) {
			g.Expect(s.marks(ctx, g, ours, "eu-a").Status).To(Equal(protocol.StatusFailed))
		}).WithContext(ctx).Should(Succeed())

		s.stays(ctx, poolMachines...)
		s.retired(ctx, Default, "eu-a")
		Expect(s.refreshes("eu-a-0")).To(Equal([]string{ourTarget}))
		Expect(s.refreshes("eu-a-1")).To(Equal([]string{ourTarget, ourTarget}), "as many attempts as the plan allows")
		Expect(s.refreshes("eu-a-2")).To(BeEmpty())
	})

	It("fault 3: is left alone by the others when a machine in flight is deleted", func(ctx SpecContext) {
		s := given(ctx, pool)
		s.script("eu-a-0", k8sd.Doing())
		s.ask(ctx, "eu-a")
		Expect(s.inFlight(ctx, ours, poolMachines...)).To(Equal("eu-a-0"))
		Expect(world.member.Client.Delete(ctx, s.object(ctx, Default, "eu-a-0"))).To(Succeed())

		Eventually(func(g Gomega) {
			for _, m := range []string{"eu-a-1", "eu-a-2"} {
				g.Expect(s.marks(ctx, g, ours, m)).To(Equal(protocol.Marks{Status: protocol.StatusDone, Release: ourTarget}), m)
			}
		}).WithContext(ctx).Should(Succeed())
		s.stays(ctx, poolMachines...)
		s.retired(ctx, Default, "eu-a")
		for _, m := range poolMachines {
			Expect(s.refreshes(m)).To(Equal([]string{ourTarget}), m)
		}
	})

	It("is not touched by the engine while nobody asks the engine", func(ctx SpecContext) {
		s := given(ctx, pool)
		s.annotate(ctx, "eu-a", map[string]any{theirs.To: theirTarget})
		Eventually(func(g Gomega) {
			g.Expect(s.marks(ctx, g, theirs, "eu-a")).To(Equal(protocol.Marks{Status: protocol.StatusDone, Release: theirTarget}))
		}).WithContext(ctx).Should(Succeed())
		for _, m := range poolMachines {
			Expect(s.refreshes(m)).To(Equal([]string{theirTarget}), m)
			Expect(s.marks(ctx, Default, ours, m)).To(Equal(protocol.Marks{}), m)
		}
	})
})

// unlocked claims that nobody holds the control plane's lock.
func (s *scene) unlocked(ctx context.Context) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: s.Namespace, Name: protocol.LockName(s.Name)}
	Eventually(func() bool {
		return apierrors.IsNotFound(world.member.Client.Get(ctx, key, &corev1.ConfigMap{}))
	}).WithContext(ctx).Should(BeTrue())
}
