// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/windlass-dev/windlass/engine/protocol"
)

// slowTemplate is a machine template whose machines take their time to start.
func slowTemplate(namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{
		"spec": map[string]any{"backend": map[string]any{"inMemory": map[string]any{"vm": map[string]any{
			"provisioning": map[string]any{"startupDuration": "4s"},
		}}}},
	}}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "DevMachineTemplate",
	})
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

var _ = Describe("rollout of a template in mid-upgrade", func() {
	It("fault 2, C114: is waited for (RolloutRunning); then the machines that it made are upgraded, once each", func(ctx SpecContext) {
		workers := group{rollout, false}
		before := machines(ctx, workers)
		letGo := held(before[0].Name)
		Expect(stack.Client.Create(ctx, slowTemplate(rollout, "slow"))).To(Succeed())
		grant(ctx, pool(rollout))
		awaitRefresh(before[0].Name)

		patch(ctx, pool(rollout), map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"infrastructureRef": map[string]any{"name": "slow"},
		}}}})
		Eventually(func(g Gomega) {
			md := pool(rollout)
			g.Expect(marks(ctx, g, md).HasTo).To(BeTrue(), "it is not done before the rollout")
			waiting, err := protocol.ParseWaiting(md.Annotations[protocol.WaitingKey])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(waiting.Reason).To(Equal("RolloutRunning"))
		}).Should(Succeed())
		letGo()
		awaitDone(ctx, pool(rollout))

		expectUpgraded(ctx, workers, 2)
		after := names(machines(ctx, workers))
		for _, m := range before {
			Expect(after).NotTo(ContainElement(m.Name), "the rollout replaces all machines")
			Expect(stack.Sim().Refreshes(m.Name)).To(BeNumerically("<=", 1), "machine %s", m.Name)
		}
		Expect(stack.Sim().Refreshes(before[1].Name)).To(BeZero(), "no machine begins while the rollout runs")
		Expect(machines(ctx, workers)[0].Labels[clusterv1.MachineSetNameLabel]).
			NotTo(Equal(before[0].Labels[clusterv1.MachineSetNameLabel]), "a rollout has run")
	})
})
