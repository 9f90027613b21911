// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// refused is what snapd says on a node that cannot reach the store.
const refused = `cannot refresh "k8s": store is unreachable`

var _ = Describe("a canary one of whose machines always fails", func() {
	It("halts the rollout for good with the words of k8sd, and no other cluster is touched", func(ctx SpecContext) {
		const (
			name          = "halt"
			canary, other = "north/halt/eu-1", "south/halt/us-1"
			bad           = "eu-1-cp-1"
		)
		clusters(ctx, Default, name, canary, other)
		failure := k8sd.Error(100*time.Millisecond, refused)
		script(Default, canary, []string{bad}, failure, failure)
		before, err := world.Objects(ctx, other)
		Expect(err).NotTo(HaveOccurred())

		p := policyFor(name)
		p.Spec.Canaries = fleetv1.Canaries{Names: []string{canary}}
		apply(ctx, Default, p)
		first := phase(ctx, Default, name, fleetv1.RolloutHalted)
		halted := func(g Gomega) {
			ro := newest(ctx, g, name)
			g.Expect(ro.UID).To(Equal(first.UID))
			g.Expect(ro.Status.Phase).To(Equal(fleetv1.RolloutHalted))
			stalled := meta.FindStatusCondition(ro.Status.Conditions, fleetv1.StalledCondition)
			g.Expect(stalled.Reason).To(Equal(fleetv1.CanaryFailedReason))
			g.Expect(stalled.Message).To(And(ContainSubstring(canary), ContainSubstring(refused)))
			cu := upgrade(ctx, g, name, canary).Status
			g.Expect(cu.Phase).To(Equal(fleetv1.UpgradeFailed))
			g.Expect(cu.Reason).To(Equal(fleetv1.MachineQuarantinedReason))
			g.Expect(cu.LastError).To(ContainSubstring(refused))
			g.Expect(cu.Attempts).To(BeEquivalentTo(2))
			g.Expect(cu.Settled).To(BeTrue())
			g.Expect(refreshes(ctx, g, canary)[bad]).To(Equal(2))
			untouched(ctx, g, before, other)
		}
		Eventually(halted).WithContext(ctx).Should(Succeed())

		By("restarting the hub and widening every limit")
		world.KillHub()
		Expect(world.StartHub()).To(Succeed())
		edit(ctx, Default, p, func(s *fleetv1.RolloutPolicySpec) {
			s.Waves[0].MaxConcurrency, s.Waves[0].MaxFailures = new(intstr.FromInt(5)), new(intstr.FromInt(5))
			s.Upgrade.Machine.MaxAttempts = new(int32(9))
		})
		Eventually(func(g Gomega) { // the hub that was started has seen the edit
			g.Expect(world.Hub.Get(ctx, key(p), p)).To(Succeed())
			g.Expect(p.Status.ObservedGeneration).To(Equal(p.Generation))
		}).WithContext(ctx).Should(Succeed())
		Consistently(halted).WithContext(ctx).WithTimeout(3 * time.Second).Should(Succeed())

		By("naming a new target")
		edit(ctx, Default, p, func(s *fleetv1.RolloutPolicySpec) { s.Target = to(laterTarget, laterVersion) })
		Eventually(func(g Gomega) { g.Expect(rollouts(ctx, g, name)).To(HaveLen(2)) }).WithContext(ctx).Should(Succeed())
		phase(ctx, Default, name, fleetv1.RolloutSucceeded)
		Expect(rollouts(ctx, Default, name)[0].Status.Phase).To(Equal(fleetv1.RolloutSuperseded))
		atTarget(ctx, Default, laterTarget, laterVersion, canary)
		upgradedOnce(ctx, Default, laterTarget, laterVersion, other)
	})
})

// retry is a machine that fails once and succeeds when it is tried again. The second attempt goes on until it has been
// counted: of attempts, nothing is left on a machine that succeeded.
func retry(ctx context.Context, g Gomega) {
	const name, path, once = "retry", "south/retry/us-1", "us-1-cp-1"
	clusters(ctx, g, name, path)
	held, open := context.WithCancel(ctx)
	defer open()
	script(g, path, []string{once}, k8sd.Error(100*time.Millisecond, refused), k8sd.Done(0).Until(held.Done()))
	apply(ctx, g, policyFor(name))
	g.Eventually(func(g Gomega) {
		g.Expect(upgrade(ctx, g, name, path).Status.Attempts).To(BeEquivalentTo(2))
	}).WithContext(ctx).Should(Succeed())
	open()
	phase(ctx, g, name, fleetv1.RolloutSucceeded)

	cu := upgrade(ctx, g, name, path).Status
	g.Expect(cu.Phase).To(Equal(fleetv1.UpgradeSucceeded))
	g.Expect(cu.Attempts).To(BeEquivalentTo(2))
	g.Expect(refreshes(ctx, g, path)).To(Equal(map[string]int{"us-1-cp-0": 1, once: 2, "us-1-cp-2": 1, "us-1-a-0": 1}))
	atTarget(ctx, g, nextTarget, nextVersion, path)
}
