// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
)

// deploy adds a running pod of a controller to a node, and a budget that lets none of them go.
func deploy(t *testing.T, s *env.Server, node string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web-" + node, Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid-web", Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if err := s.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	if err := s.Client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

func budget(t *testing.T, s *env.Server) *policyv1.PodDisruptionBudget {
	t.Helper()
	pdb := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}
	if err := s.Client.Create(t.Context(), pdb); err != nil {
		t.Fatal(err)
	}
	pdb.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: pdb.Generation, DesiredHealthy: 2, CurrentHealthy: 2, ExpectedPods: 2,
	}
	if err := s.Client.Status().Update(t.Context(), pdb); err != nil {
		t.Fatal(err)
	}
	return pdb
}

// kubelets let the pods that are going go.
func kubelets(ctx context.Context, s *env.Server) error {
	var pods corev1.PodList
	if err := s.Client.List(ctx, &pods, client.InNamespace("default")); err != nil {
		return err
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			continue
		}
		err := s.Client.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0))
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// cordonedNodes names the machines whose nodes are cordoned, or say that we have cordoned them.
func cordonedNodes(t *testing.T, c *env.Cluster, machines []string) []string {
	t.Helper()
	var found []string
	for _, machine := range machines {
		var n corev1.Node
		if err := c.Server.Client.Get(t.Context(), types.NamespacedName{Name: c.Node(machine)}, &n); err != nil {
			t.Fatal(err)
		}
		if _, ours := n.Annotations[protocol.CordonedKey]; ours || n.Spec.Unschedulable {
			found = append(found, machine)
		}
	}
	return found
}

func TestHostDrainsEachNodeBeforeItsRefresh(t *testing.T) {
	g := NewWithT(t)
	w, m := world(t, nil)
	c, err := m.Cluster(t.Context(), build.Cluster("shop", "eu").ControlPlane(3).Pool("a", 2).At("v1.33.4"))
	g.Expect(err).NotTo(HaveOccurred())
	cl := connected(t, agent(t, m))
	kinds, err := capi.Discover(cl.GetRESTMapper(), capi.DefaultControlPlanes())
	g.Expect(err).NotTo(HaveOccurred())
	first := c.Node("eu-a-0")
	deploy(t, c.Server, first)
	deploy(t, c.Server, c.Node("eu-a-1"))
	pdb := budget(t, c.Server)
	annotate(t, m.Client, kinds.Cluster, "eu", map[string]string{
		protocol.StartBeforeKey: protocol.FormatStartBefore(time.Now().Add(time.Hour)),
	})
	asked := map[string]string{
		keys.To: target, protocol.PlanKey: protocol.Plan{ExpectedVersion: version, Drain: &protocol.Drain{}}.Format(),
	}
	annotate(t, m.Client, kinds.MachineDeployment, "eu-a", asked)
	stop := hosted(t, cl, quick())

	node := func() corev1.Node {
		var n corev1.Node
		g.Expect(c.Server.Client.Get(t.Context(), types.NamespacedName{Name: first}, &n)).To(Succeed())
		return n
	}
	g.Eventually(func() string {
		record, err := protocol.ParseNodeDrain(get(t, m.Client, kinds.Machine, "eu-a-0").GetAnnotations()[protocol.DrainKey])
		g.Expect(err).NotTo(HaveOccurred())
		return record.Blocked
	}, patient, often).Should(ContainSubstring("PodDisruptionBudget"), "what is in the way is told")
	g.Expect(node().Spec.Unschedulable).To(BeTrue())
	g.Expect(node().Annotations).To(HaveKey(protocol.CordonedKey))
	g.Expect(w.Sim().Log()).To(BeEmpty(), "nothing is refreshed while the node is drained")

	g.Expect(c.Server.Client.Delete(t.Context(), pdb)).To(Succeed())
	annotate(t, m.Client, kinds.ControlPlanes[0], "eu-cp", asked)
	machines := []string{"eu-cp-0", "eu-cp-1", "eu-cp-2", "eu-a-0", "eu-a-1"}
	g.Eventually(func(g Gomega) {
		g.Expect(kubelets(t.Context(), c.Server)).To(Succeed())
		if cordoned := cordonedNodes(t, c, machines[:3]); len(cordoned) > 1 {
			t.Errorf("control plane nodes %v are cordoned at once", cordoned)
		}
		for _, machine := range machines {
			g.Expect(cmp.Diff(finished(), ours(get(t, m.Client, kinds.Machine, machine)))).To(BeEmpty())
		}
	}, 3*patient, often).Should(Succeed())
	g.Expect(stop()).To(Succeed())
	g.Expect(w.Sim().Log()).To(HaveLen(len(machines)))
	g.Expect(cordonedNodes(t, c, machines)).To(BeEmpty())
	var pods corev1.PodList
	g.Expect(c.Server.Client.List(t.Context(), &pods, client.InNamespace("default"))).To(Succeed())
	g.Expect(pods.Items).To(BeEmpty())
	wantEvents(t, m.Client, "eu-a-0", protocol.EventDraining, protocol.EventInProgress, protocol.EventDone)
}
