// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// refused is what snapd says on a node that cannot reach the store.
const refused = `cannot refresh "k8s": store is unreachable`

// patience is how long it is looked on that nothing more happens: many looks of the controllers.
const patience = 5 * time.Second

var _ = Describe("engine: Provider, grant: Machine", func() {
	It("faults 3, 5, 9b, 15, 18: upgrades a cluster machine by machine, each refreshed once, and retires its owners",
		func(ctx SpecContext) {
			const name = "success"
			path := clusterFor(ctx, name, through)
			w := watch(ctx, through, name)
			Expect(world.Hub.Create(ctx, policyFor(name))).To(Succeed())
			phase(ctx, name, fleetv1.RolloutSucceeded)

			done := func(g Gomega) {
				g.Expect(posts(ctx, g, path)).To(HaveEach(1))
				finished(ctx, g, path)
				settled(ctx, g, path)
				w.nothingWrong(g)
			}
			Eventually(done).WithContext(ctx).Should(Succeed())
			cu := upgradeOf(ctx, Default, name).Status
			Expect(cu.Owners).To(HaveLen(2))
			for _, o := range cu.Owners {
				Expect(o.PreviousRelease).To(Equal(oldTarget), o.Name)
			}
			Consistently(done).WithContext(ctx).WithTimeout(patience).Should(Succeed())
		}, SpecTimeout(5*time.Minute))

	It("fault 1, C105: bounds the refreshes of a machine that always fails, keeps its last words and touches no other",
		func(ctx SpecContext) {
			const name, bad = "failure", "eu-1-cp-1"
			path := clusterFor(ctx, name, through)
			w := watch(ctx, through, name)
			failure := k8sd.Error(time.Second, refused)
			script(path, bad, failure, failure, failure, failure, failure, failure, failure, failure)
			Expect(world.Hub.Create(ctx, policyFor(name))).To(Succeed())
			phase(ctx, name, fleetv1.RolloutHalted)

			stopped := func(g Gomega) {
				cu := upgradeOf(ctx, g, name).Status
				g.Expect(cu.Phase).To(Equal(fleetv1.UpgradeFailed))
				g.Expect(cu.Reason).To(Equal(fleetv1.MachineQuarantinedReason))
				g.Expect(cu.LastError).To(ContainSubstring(refused))
				g.Expect(cu.Settled).To(BeTrue())
				settled(ctx, g, path)
			}
			Eventually(stopped).WithContext(ctx).Should(Succeed())
			counted := posts(ctx, Default, path)
			Expect(counted[bad]).To(BeNumerically("<=", 2+w.times()[bad]), "grants: %v", w.times())
			Expect(counted["eu-1-cp-0"]).To(Equal(1))
			for _, other := range []string{"eu-1-cp-2", "eu-1-a-0", "eu-1-a-1"} {
				Expect(counted[other]).To(BeZero(), other)
			}
			Consistently(func(g Gomega) {
				stopped(g)
				g.Expect(posts(ctx, g, path)).To(Equal(counted))
				w.nothingWrong(g)
			}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
		}, SpecTimeout(5*time.Minute))

	It("fault 4, C104: takes machines for done that have nothing to refresh and run what is wanted", func(ctx SpecContext) {
		const name = "nothing"
		path := clusterAt(ctx, name, through, nextVersion, oldTarget)
		for machine := range posts(ctx, Default, path) {
			script(path, machine, k8sd.NoChange())
		}
		Expect(world.Hub.Create(ctx, policyFor(name))).To(Succeed())
		phase(ctx, name, fleetv1.RolloutSucceeded)
		Eventually(func(g Gomega) { settled(ctx, g, path) }).WithContext(ctx).Should(Succeed())
		Expect(posts(ctx, Default, path)).To(HaveEach(1))
	}, SpecTimeout(5*time.Minute))

	It("fault 4, C099: takes a machine for done whose change is forgotten, by what its node runs", func(ctx SpecContext) {
		const name, stuck = "forgotten", "eu-1-cp-1"
		path := clusterFor(ctx, name, through)
		w := watch(ctx, through, name)
		script(path, stuck, k8sd.Pruned(time.Second))
		p := policyFor(name)
		p.Spec.Upgrade.Machine.Timeout = &metav1.Duration{Duration: 20 * time.Second}
		Expect(world.Hub.Create(ctx, p)).To(Succeed())
		phase(ctx, name, fleetv1.RolloutSucceeded)
		Expect(posts(ctx, Default, path)).To(HaveEach(1))
		finished(ctx, Default, path)
		settled(ctx, Default, path)
		w.nothingWrong(Default)
	}, SpecTimeout(5*time.Minute))

	It("laws 3, 11: refreshes machines that carry the release and run less, and gives the owners their release back",
		func(ctx SpecContext) {
			const name = "again"
			path := clusterAt(ctx, name, through, oldVersion, nextTarget)
			w := watch(ctx, through, name)
			Expect(world.Hub.Create(ctx, policyFor(name))).To(Succeed())
			phase(ctx, name, fleetv1.RolloutSucceeded)
			returned := func(g Gomega) {
				_, owners := releases(ctx, g, path, keys)
				g.Expect(owners).To(Equal(map[string]string{"eu-1-cp": nextTarget, "eu-1-a": nextTarget}))
				g.Expect(posts(ctx, g, path)).To(HaveEach(1))
				finished(ctx, g, path)
				w.nothingWrong(g)
			}
			Eventually(returned).WithContext(ctx).Should(Succeed())
			Consistently(returned).WithContext(ctx).WithTimeout(patience).Should(Succeed())
		}, SpecTimeout(5*time.Minute))

	DescribeTable("stops at a machine boundary and leaves nothing of ours", func(ctx SpecContext, name string,
		stop func(ctx context.Context),
	) {
		const machine = "eu-1-cp-0"
		path := clusterFor(ctx, name, through)
		w := watch(ctx, through, name)
		gate := make(chan struct{})
		script(path, machine, k8sd.Done(0).Until(gate))
		Expect(world.Hub.Create(ctx, policyFor(name))).To(Succeed())
		_, err := world.AwaitMachine(ctx, path, func(m *clusterv1.Machine) bool {
			return keys.Read(m.Annotations).State() == protocol.InProgress
		})
		Expect(err).NotTo(HaveOccurred())
		ro := rolloutOf(ctx, Default, name)
		stop(ctx)
		Eventually(func(g Gomega) { stops(ctx, g, ro.Name) }).WithContext(ctx).Should(Succeed())
		close(gate)

		stopped := func(g Gomega) {
			machines, owners := releases(ctx, g, path, keys)
			g.Expect(machines).To(Equal(map[string]string{
				machine: nextTarget, "eu-1-cp-1": oldTarget, "eu-1-cp-2": oldTarget, "eu-1-a-0": oldTarget, "eu-1-a-1": oldTarget,
			}))
			g.Expect(owners).To(HaveEach(""))
			g.Expect(posts(ctx, g, path)).To(Equal(map[string]int{
				machine: 1, "eu-1-cp-1": 0, "eu-1-cp-2": 0, "eu-1-a-0": 0, "eu-1-a-1": 0,
			}))
			settled(ctx, g, path)
			w.nothingWrong(g)
		}
		Eventually(stopped).WithContext(ctx).Should(Succeed())
		Consistently(stopped).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	},
		Entry("faults 3, 7, 8: when the rollout is cancelled half way", SpecTimeout(5*time.Minute), "cancel",
			func(ctx context.Context) {
				ro := rolloutOf(ctx, Default, "cancel")
				Expect(world.Hub.Delete(ctx, &ro)).To(Succeed())
			}),
		Entry("C115: when the policy is deleted in mid-upgrade", SpecTimeout(5*time.Minute), "delete",
			func(ctx context.Context) { Expect(world.Hub.Delete(ctx, policyFor("delete"))).To(Succeed()) }),
	)

	It("law 4: counts right and repeats nothing when the hub is killed half way", func(ctx SpecContext) {
		const name = "killed"
		path := clusterFor(ctx, name, through)
		w := watch(ctx, through, name)
		gate := make(chan struct{})
		script(path, "eu-1-cp-1", k8sd.Error(0, refused).Until(gate))
		Expect(world.Hub.Create(ctx, policyFor(name))).To(Succeed())
		await := func(machine string, is func(protocol.Marks) bool) {
			GinkgoHelper()
			_, err := world.AwaitMachine(ctx, path, func(m *clusterv1.Machine) bool {
				return m.Name == machine && is(keys.Read(m.Annotations))
			})
			Expect(err).NotTo(HaveOccurred())
		}
		asked := func(m protocol.Marks) bool { return m.HasTo }
		await("eu-1-cp-0", asked)
		world.KillHub()
		Expect(world.StartHub()).To(Succeed())
		await("eu-1-cp-1", asked)
		world.KillHub()
		close(gate)
		await("eu-1-cp-1", func(m protocol.Marks) bool { return m.Release == nextTarget }) // failed and tried again meanwhile
		Expect(world.StartHub()).To(Succeed())
		phase(ctx, name, fleetv1.RolloutSucceeded)
		counted := posts(ctx, Default, path)
		Expect(counted["eu-1-cp-1"]).To(BeNumerically(">=", 2))
		delete(counted, "eu-1-cp-1") // the controllers went on with it while no hub was there
		Expect(counted).To(HaveEach(1))
		finished(ctx, Default, path)
		settled(ctx, Default, path)
		w.nothingWrong(Default)
	}, SpecTimeout(5*time.Minute))
})
