// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/rollout"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// forSpec is the label by which the policy of a spec finds its cluster.
const forSpec = "spec"

var keys, ownKeys = protocol.KeysFor(protocol.ProviderPrefix), protocol.KeysFor(protocol.OwnPrefix)

// clusterFor makes a cluster of three control plane machines and two workers for a spec, whose owners carry the release
// of an earlier upgrade, as the controllers leave it, and returns its path when the hub knows it to be healthy.
func clusterFor(ctx context.Context, spec, member string) string {
	GinkgoHelper()
	return clusterAt(ctx, spec, member, oldVersion, oldTarget)
}

// clusterAt is a cluster whose nodes run a version and whose objects carry a release.
func clusterAt(ctx context.Context, spec, member, version, release string) string {
	GinkgoHelper()
	path, err := world.AddCluster(ctx, member, build.Cluster(spec, "eu-1").Label(forSpec, spec).
		ControlPlane(3).Pool("a", 2).At(version).Release(release).OwnerRelease(release))
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		var list fleetv1.WorkloadClusterList
		g.Expect(world.Hub.List(ctx, &list)).To(Succeed())
		i := slices.IndexFunc(list.Items, func(wc fleetv1.WorkloadCluster) bool { return wc.Path() == path })
		g.Expect(i).To(BeNumerically(">=", 0), "no WorkloadCluster of %s", path)
		g.Expect(meta.IsStatusConditionTrue(list.Items[i].Status.Conditions, fleetv1.HealthyCondition)).To(BeTrue())
	}).WithContext(ctx).Should(Succeed())
	return path
}

// policyFor takes the cluster of a spec to the next target.
func policyFor(spec string) *fleetv1.RolloutPolicy {
	return &fleetv1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.HubNamespace, Name: spec},
		Spec: fleetv1.RolloutPolicySpec{
			Target: fleetv1.Target{Channel: new(strings.TrimPrefix(nextTarget, "channel=")), Version: nextVersion},
			Clusters: fleetv1.ClusterSelection{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{forSpec: spec}},
			},
			Canaries: fleetv1.Canaries{None: new(true)},
			Waves:    []fleetv1.Wave{{Name: "rest", Rest: new(true), MaxConcurrency: new(intstr.FromInt(1))}},
			AnyTime:  new(true),
			Upgrade: &fleetv1.PolicyUpgrade{Machine: &fleetv1.PolicyMachine{
				Timeout: &metav1.Duration{Duration: 30 * time.Second}, Backoff: &metav1.Duration{Duration: time.Second},
				MaxAttempts: new(int32(2)),
			}},
		},
	}
}

// rolloutOf is the last rollout of a policy.
func rolloutOf(ctx context.Context, g Gomega, policy string) fleetv1.Rollout {
	GinkgoHelper()
	var list fleetv1.RolloutList
	g.Expect(world.Hub.List(ctx, &list, client.MatchingLabels{rollout.PolicyLabel: policy})).To(Succeed())
	g.Expect(list.Items).NotTo(BeEmpty(), "policy %s has no Rollout", policy)
	slices.SortFunc(list.Items, func(a, b fleetv1.Rollout) int { return cmp.Compare(a.Spec.Number, b.Spec.Number) })
	return list.Items[len(list.Items)-1]
}

// phase waits until the last rollout of a policy is in a phase.
func phase(ctx context.Context, policy string, want fleetv1.RolloutPhase) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		ro := rolloutOf(ctx, g, policy)
		g.Expect(ro.Status.Phase).To(Equal(want), "waiting: %+v, waves: %+v\nits cluster: %+v", ro.Status.Waiting,
			ro.Status.Waves, upgradeOf(ctx, g, policy).Status)
	}).WithContext(ctx).Should(Succeed())
}

// upgradeOf is the ClusterUpgrade in the last rollout of a policy.
func upgradeOf(ctx context.Context, g Gomega, policy string) fleetv1.ClusterUpgrade {
	GinkgoHelper()
	var list fleetv1.ClusterUpgradeList
	err := world.Hub.List(ctx, &list, client.MatchingLabels{rollout.RolloutLabel: rolloutOf(ctx, g, policy).Name})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list.Items).To(HaveLen(1))
	return list.Items[0]
}

// stops claims that no cluster of a rollout is to begin a machine any more.
func stops(ctx context.Context, g Gomega, name string) {
	GinkgoHelper()
	var list fleetv1.ClusterUpgradeList
	g.Expect(world.Hub.List(ctx, &list, client.MatchingLabels{rollout.RolloutLabel: name})).To(Succeed())
	for _, cu := range list.Items {
		g.Expect(cu.DeletionTimestamp != nil || cu.Spec.Intent == fleetv1.IntentWithdraw).To(BeTrue(), "intent %s", cu.Spec.Intent)
	}
}

// script sets what the next refreshes of a machine do.
func script(path, machine string, steps ...k8sd.Step) {
	GinkgoHelper()
	node, err := world.Node(path, machine)
	Expect(err).NotTo(HaveOccurred())
	Expect(world.World.Sim().Script(node, steps...)).To(Succeed())
}

// posts counts, by machine, the refreshes that the nodes of a cluster were asked for.
func posts(ctx context.Context, g Gomega, path string) map[string]int {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	counts := map[string]int{}
	for _, m := range of.Machines {
		node, err := world.Node(path, m.GetName())
		g.Expect(err).NotTo(HaveOccurred())
		counts[m.GetName()] = world.World.Sim().Refreshes(node)
	}
	return counts
}

// releases are those of the machines and owners of a cluster, by name, under some keys.
func releases(ctx context.Context, g Gomega, path string, under protocol.Keys) (machines, owners map[string]string) {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	machines, owners = map[string]string{}, map[string]string{}
	for _, m := range of.Machines {
		machines[m.GetName()] = m.GetAnnotations()[under.Release]
	}
	for _, o := range of.Owners {
		owners[o.GetName()] = o.GetAnnotations()[under.Release]
	}
	return machines, owners
}

// settled claims that nothing of an upgrade is left on the objects of a cluster: nothing of ours, and nothing that asks
// the controllers for anything.
func settled(ctx context.Context, g Gomega, path string) {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	for _, o := range of.All() {
		for key := range o.GetAnnotations() {
			of := o.GetKind() + " " + o.GetName()
			g.Expect(key).NotTo(BeElementOf(keys.To, keys.ChangeID, keys.LastFailed, ownKeys.To, ownKeys.ChangeID), of)
			g.Expect(key).NotTo(HavePrefix("fleet.windlass.dev/"), of)
			if key != ownKeys.Release && key != ownKeys.Status {
				g.Expect(key).NotTo(HavePrefix(protocol.OwnPrefix), of)
			}
		}
	}
	for _, o := range of.Owners {
		g.Expect(o.GetAnnotations()).NotTo(Or(HaveKey(keys.Release), HaveKey(keys.Status)), o.GetName())
	}
}

// finished claims that every machine of a cluster is at the next target.
func finished(ctx context.Context, g Gomega, path string) {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	for _, m := range of.Machines {
		g.Expect(m.GetAnnotations()).To(HaveKeyWithValue(keys.Release, nextTarget), m.GetName())
		node, err := world.Node(path, m.GetName())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(world.World.Sim().Version(node)).To(Equal(nextVersion), m.GetName())
	}
}

func controlPlane(m *clusterv1.Machine) bool {
	_, is := m.Labels[clusterv1.MachineControlPlaneLabel]
	return is
}
