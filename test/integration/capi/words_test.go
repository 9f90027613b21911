// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
	simulated "github.com/windlass-dev/windlass/test/k8sd"
)

var keys = protocol.KeysFor(protocol.ProviderPrefix)

func controlPlane(cluster string) *controlplanev1.KubeadmControlPlane {
	o := &controlplanev1.KubeadmControlPlane{}
	o.Namespace, o.Name = cluster, cluster+"-cp"
	return o
}

func pool(cluster string) *clusterv1.MachineDeployment {
	o := &clusterv1.MachineDeployment{}
	o.Namespace, o.Name = cluster, cluster+"-md"
	return o
}

// patch changes an object by merge patch.
func patch(ctx context.Context, o client.Object, change map[string]any) {
	GinkgoHelper()
	text, err := json.Marshal(change)
	Expect(err).NotTo(HaveOccurred())
	Expect(stack.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, text))).To(Succeed())
}

func annotations(set map[string]string) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": set}}
}

func replicas(n int) map[string]any { return map[string]any{"spec": map[string]any{"replicas": n}} }

// grant asks owners for the target, as the hub does: with its permission on the Cluster and a plan on the owner.
func grant(ctx context.Context, owners ...client.Object) {
	GinkgoHelper()
	c := &clusterv1.Cluster{}
	c.Namespace, c.Name = owners[0].GetNamespace(), owners[0].GetNamespace()
	patch(ctx, c, annotations(map[string]string{
		protocol.StartBeforeKey: protocol.FormatStartBefore(time.Now().Add(time.Hour)),
	}))
	for _, o := range owners {
		patch(ctx, o, annotations(map[string]string{
			keys.To: target, protocol.PlanKey: protocol.Plan{ExpectedVersion: version}.Format(),
		}))
	}
}

// marks are the protocol's annotations of an object that is read now.
func marks(ctx context.Context, g Gomega, o client.Object) protocol.Marks {
	g.Expect(stack.Client.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
	return keys.Read(o.GetAnnotations())
}

// awaitDone waits until owners say that all their machines are at the target.
func awaitDone(ctx context.Context, owners ...client.Object) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, o := range owners {
			m := marks(ctx, g, o)
			g.Expect(m.HasTo).To(BeFalse(), "%s: %v", o.GetName(), o.GetAnnotations())
			g.Expect(m.Status).To(Equal(protocol.StatusDone))
			g.Expect(m.Release).To(Equal(target))
		}
	}).Should(Succeed())
}

// machines are those of a cluster's control plane or pool, by name.
func machines(ctx context.Context, of group) []clusterv1.Machine {
	GinkgoHelper()
	var list clusterv1.MachineList
	Expect(stack.Client.List(ctx, &list, client.InNamespace(of.cluster))).To(Succeed())
	all := slices.DeleteFunc(list.Items, func(m clusterv1.Machine) bool {
		_, isControlPlane := m.Labels[clusterv1.MachineControlPlaneLabel]
		return isControlPlane != of.controlPlane
	})
	slices.SortFunc(all, func(a, b clusterv1.Machine) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// staying are the machines that are not being deleted.
func staying(all []clusterv1.Machine) []clusterv1.Machine {
	return slices.DeleteFunc(all, func(m clusterv1.Machine) bool { return m.DeletionTimestamp != nil })
}

func names(all []clusterv1.Machine) []string {
	var n []string
	for _, m := range all {
		n = append(n, m.Name)
	}
	return n
}

// expectUpgraded claims of every machine that it is at the target, by the word of Cluster API, after one refresh.
func expectUpgraded(ctx context.Context, of group, count int) {
	GinkgoHelper()
	all := machines(ctx, of)
	Expect(all).To(HaveLen(count))
	for _, m := range all {
		got := keys.Read(m.Annotations)
		Expect(got.Release).To(Equal(target), "machine %s: %v", m.Name, m.Annotations)
		Expect(got.HasTo || got.HasChangeID).To(BeFalse(), "machine %s: %v", m.Name, m.Annotations)
		Expect(m.Annotations).NotTo(HaveKey(clusterv1.MachineSkipRemediationAnnotation), "machine %s", m.Name)
		Expect(m.Status.NodeInfo.KubeletVersion).To(Equal(version), "machine %s", m.Name)
		Expect(stack.Sim().Refreshes(m.Name)).To(Equal(1), "refreshes of machine %s", m.Name)
	}
	Expect(seen.mostAtOnce(of)).To(Equal(1), "machines marked at once")
}

// expectUnlocked claims that no machine holds the lock of a cluster's control plane.
func expectUnlocked(ctx context.Context, cluster string) {
	GinkgoHelper()
	err := stack.Client.Get(ctx, types.NamespacedName{Namespace: cluster, Name: protocol.LockName(cluster)}, &corev1.ConfigMap{})
	Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the lock: %v", err)
}

// held keeps the next refresh of a machine going until it is let go, so that what happens meanwhile happens meanwhile.
func held(machine string) (letGo func()) {
	GinkgoHelper()
	gate := make(chan struct{})
	Expect(stack.Sim().Script(machine, simulated.Done(0).Until(gate))).To(Succeed())
	return func() { close(gate) }
}

// awaitRefresh waits until a machine's node has been asked to refresh.
func awaitRefresh(machine string) {
	GinkgoHelper()
	Eventually(func() int { return stack.Sim().Refreshes(machine) }).Should(Equal(1))
}
