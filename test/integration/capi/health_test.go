// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	simulated "github.com/windlass-dev/windlass/test/k8sd"
)

// impatience is how long a node may be not ready before the health check replaces its machine.
const impatience = time.Second

func healthCheck(cluster string) *clusterv1.MachineHealthCheck {
	return &clusterv1.MachineHealthCheck{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: cluster},
		Spec: clusterv1.MachineHealthCheckSpec{
			ClusterName: cluster,
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{
				clusterv1.MachineDeploymentNameLabel: cluster + "-md",
			}},
			Checks: clusterv1.MachineHealthCheckChecks{
				UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{{
					Type: corev1.NodeReady, Status: corev1.ConditionFalse,
					TimeoutSeconds: new(int32(impatience.Seconds())),
				}},
			},
		},
	}
}

var _ = Describe("MachineHealthCheck", func() {
	It("fault 16: does not replace a machine whose node is not ready while it is upgraded, and does so afterwards", func(ctx SpecContext) {
		workers := group{sick, false}
		before := machines(ctx, workers)
		first := before[0].Name
		Expect(stack.Client.Create(ctx, healthCheck(sick))).To(Succeed())
		Expect(stack.Sim().Script(first, simulated.Done(time.Second).Blip(6*impatience))).To(Succeed())

		grant(ctx, pool(sick))
		awaitDone(ctx, pool(sick))

		expectUpgraded(ctx, workers, 2)
		Expect(seen.wasUnready(first)).To(BeTrue(), "it was not ready for longer than the health check waits")
		Expect(names(machines(ctx, workers))).To(Equal(names(before)))

		Expect(stack.SetReady(ctx, first, false)).To(Succeed())
		Eventually(func() []string { return names(machines(ctx, workers)) }).
			Should(And(HaveLen(2), Not(ContainElement(first))), "the check is at work")
	})
})
