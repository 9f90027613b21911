// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/rollout"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/fleet"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// forSpec is the label by which the policy of a spec finds its clusters.
const forSpec = "spec"

// clusters makes small workload clusters for a spec, named by their paths, and returns when the hub knows them: three
// control plane machines and a worker each.
func clusters(ctx context.Context, g Gomega, spec string, paths ...string) {
	GinkgoHelper()
	var making errgroup.Group
	for _, path := range paths {
		making.Go(func() error { return create(ctx, spec, path) })
	}
	g.Expect(making.Wait()).To(Succeed())
	uids := make([]types.UID, len(paths))
	for i, path := range paths { // another cluster may have had the path before
		of, err := world.Objects(ctx, path)
		g.Expect(err).NotTo(HaveOccurred())
		uids[i] = of.Cluster.GetUID()
	}
	g.Eventually(func(g Gomega) {
		g.Expect(healthy(ctx, g)).To(ContainElements(uids))
	}).WithContext(ctx).Should(Succeed())
}

// create makes one of the clusters of a spec.
func create(ctx context.Context, spec, path string) error {
	part := strings.Split(path, "/")
	_, err := world.AddCluster(ctx, part[0], build.Cluster(part[1], part[2]).Label(forSpec, spec).
		ControlPlane(3).Pool("a", 1).At(oldVersion).Release(oldTarget))
	return err
}

// healthy are the UIDs of the Clusters that the hub has seen to be healthy.
func healthy(ctx context.Context, g Gomega) []types.UID {
	GinkgoHelper()
	var list fleetv1.WorkloadClusterList
	g.Expect(world.Hub.List(ctx, &list)).To(Succeed())
	var uids []types.UID
	for i := range list.Items {
		if meta.IsStatusConditionTrue(list.Items[i].Status.Conditions, fleetv1.HealthyCondition) {
			uids = append(uids, list.Items[i].Spec.Cluster.UID)
		}
	}
	return uids
}

// recorded is the WorkloadCluster of a cluster as it is now.
func recorded(ctx context.Context, g Gomega, path string) fleetv1.WorkloadCluster {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	var list fleetv1.WorkloadClusterList
	g.Expect(world.Hub.List(ctx, &list)).To(Succeed())
	i := slices.IndexFunc(list.Items, func(wc fleetv1.WorkloadCluster) bool {
		return wc.Path() == path && wc.Spec.Cluster.UID == of.Cluster.GetUID()
	})
	g.Expect(i).To(BeNumerically(">=", 0), "no WorkloadCluster of %s", path)
	return list.Items[i]
}

// policyFor takes the clusters of a spec to the next target in one wave, one at a time, without a canary. A machine has
// more time than anything here waits: one that a gate holds on a slow machine must not have failed meanwhile.
func policyFor(spec string) *fleetv1.RolloutPolicy {
	return &fleetv1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.HubNamespace, Name: spec},
		Spec: fleetv1.RolloutPolicySpec{
			Target:   to(nextTarget, nextVersion),
			Clusters: fleetv1.ClusterSelection{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{forSpec: spec}}},
			Canaries: fleetv1.Canaries{None: new(true)},
			Waves:    []fleetv1.Wave{rest(1)},
			AnyTime:  new(true),
			Upgrade: &fleetv1.PolicyUpgrade{Machine: &fleetv1.PolicyMachine{
				Timeout: &metav1.Duration{Duration: 10 * time.Minute}, Backoff: &metav1.Duration{Duration: time.Second},
				MaxAttempts: new(int32(2)),
			}},
		},
	}
}

func to(target, version string) fleetv1.Target {
	return fleetv1.Target{Channel: new(strings.TrimPrefix(target, "channel=")), Version: version}
}

func rest(maxConcurrency int) fleetv1.Wave {
	return fleetv1.Wave{Name: "rest", Rest: new(true), MaxConcurrency: new(intstr.FromInt(maxConcurrency))}
}

// apply creates a policy.
func apply(ctx context.Context, g Gomega, p *fleetv1.RolloutPolicy) {
	GinkgoHelper()
	g.Expect(world.Hub.Create(ctx, p)).To(Succeed())
}

// edit changes a policy as a person does.
func edit(ctx context.Context, g Gomega, p *fleetv1.RolloutPolicy, change func(*fleetv1.RolloutPolicySpec)) {
	GinkgoHelper()
	base := p.DeepCopy()
	change(&p.Spec)
	g.Expect(world.Hub.Patch(ctx, p, client.MergeFrom(base))).To(Succeed())
}

// rollouts of a policy, oldest first.
func rollouts(ctx context.Context, g Gomega, policy string) []fleetv1.Rollout {
	GinkgoHelper()
	var list fleetv1.RolloutList
	g.Expect(world.Hub.List(ctx, &list, client.MatchingLabels{rollout.PolicyLabel: policy})).To(Succeed())
	slices.SortFunc(list.Items, func(a, b fleetv1.Rollout) int { return cmp.Compare(a.Spec.Number, b.Spec.Number) })
	return list.Items
}

// newest is the last rollout of a policy.
func newest(ctx context.Context, g Gomega, policy string) fleetv1.Rollout {
	GinkgoHelper()
	all := rollouts(ctx, g, policy)
	g.Expect(all).NotTo(BeEmpty(), "policy %s has no Rollout", policy)
	return all[len(all)-1]
}

// phase waits until the last rollout of a policy is in a phase, and returns it.
func phase(ctx context.Context, g Gomega, policy string, want fleetv1.RolloutPhase) fleetv1.Rollout {
	GinkgoHelper()
	var ro fleetv1.Rollout
	g.Eventually(func(g Gomega) {
		ro = newest(ctx, g, policy)
		g.Expect(ro.Status.Phase).To(Equal(want), "waiting: %+v, waves: %+v", ro.Status.Waiting, ro.Status.Waves)
	}).WithContext(ctx).Should(Succeed())
	return ro
}

// upgrade is the ClusterUpgrade of a cluster in the last rollout of a policy.
func upgrade(ctx context.Context, g Gomega, policy, path string) fleetv1.ClusterUpgrade {
	GinkgoHelper()
	ro := newest(ctx, g, policy)
	var list fleetv1.ClusterUpgradeList
	g.Expect(world.Hub.List(ctx, &list, client.MatchingLabels{rollout.RolloutLabel: ro.Name})).To(Succeed())
	i := slices.IndexFunc(list.Items, func(cu fleetv1.ClusterUpgrade) bool { return cu.Path() == path })
	g.Expect(i).To(BeNumerically(">=", 0), "no ClusterUpgrade of %s in %s", path, ro.Name)
	return list.Items[i]
}

// refreshes counts, by machine, the refreshes that the nodes of a cluster were asked for.
func refreshes(ctx context.Context, g Gomega, path string) map[string]int {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(of.Machines).NotTo(BeEmpty())
	counts := map[string]int{}
	for _, m := range of.Machines {
		counts[m.GetName()] = world.World.Sim().Refreshes(node(g, path, m.GetName()))
	}
	return counts
}

// script sets what the next refreshes of each machine of a cluster do, or of the named ones.
func script(g Gomega, path string, machines []string, steps ...k8sd.Step) {
	GinkgoHelper()
	for _, m := range machines {
		g.Expect(world.World.Sim().Script(node(g, path, m), steps...)).To(Succeed())
	}
}

// gate keeps every machine of a cluster in its refresh until it is opened. It is opened when ctx ends, too.
func gate(ctx context.Context, g Gomega, path string, machines ...string) (open func()) {
	GinkgoHelper()
	held, open := context.WithCancel(ctx)
	script(g, path, machines, k8sd.Done(0).Until(held.Done()))
	return open
}

func node(g Gomega, path, machine string) string {
	GinkgoHelper()
	name, err := world.Node(path, machine)
	g.Expect(err).NotTo(HaveOccurred())
	return name
}

// inFlight: a refresh of the machine is running, as the annotations say.
func inFlight(m *clusterv1.Machine) bool {
	return protocol.KeysFor(protocol.ProviderPrefix).Read(m.Annotations).State() == protocol.InProgress
}

// upgradedOnce claims that clusters are at a target, each machine after exactly one refresh, and that nothing but the
// release is left behind on any of their objects.
func upgradedOnce(ctx context.Context, g Gomega, target, version string, paths ...string) {
	GinkgoHelper()
	for _, path := range paths {
		g.Expect(refreshes(ctx, g, path)).To(HaveEach(1), path)
		atTarget(ctx, g, target, version, path)
	}
}

// atTarget claims that a cluster is at a target and that nothing but the release is left behind on its objects.
func atTarget(ctx context.Context, g Gomega, target, version, path string) {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	clean(g, of.Cluster)
	lock := &corev1.ConfigMap{}
	at := client.ObjectKey{Namespace: of.Cluster.GetNamespace(), Name: protocol.LockName(of.Cluster.GetName())}
	err = world.Members[strings.Split(path, "/")[0]].Client.Get(ctx, at, lock)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the lock of %s is left: %v %v", path, lock.Data, err)
	for _, o := range append(of.Owners, of.Machines...) {
		clean(g, o)
		g.Expect(o.GetAnnotations()).To(HaveKeyWithValue(build.Release, target), "%s %s", o.GetKind(), o.GetName())
	}
	for _, m := range of.Machines {
		g.Expect(world.World.Sim().Version(node(g, path, m.GetName()))).To(Equal(version), m.GetName())
	}
}

// clean claims that an object carries nothing that an upgrade in progress needs.
func clean(g Gomega, o client.Object) {
	GinkgoHelper()
	keys := protocol.KeysFor(protocol.ProviderPrefix)
	for key := range o.GetAnnotations() {
		g.Expect(key).NotTo(Or(HavePrefix("windlass.dev/"), HavePrefix("fleet.windlass.dev/"),
			BeElementOf(keys.To, keys.ChangeID, keys.LastFailed)), "an annotation of %s", o.GetName())
	}
}

// untouched claims that nothing was written to a cluster and that nothing was asked of its nodes.
func untouched(ctx context.Context, g Gomega, before fleet.Objects, path string) {
	GinkgoHelper()
	g.Expect(refreshes(ctx, g, path)).To(HaveEach(0), path)
	unwritten(ctx, g, before, path)
}

// unwritten claims that the annotations of a cluster's objects are as they were.
func unwritten(ctx context.Context, g Gomega, before fleet.Objects, path string) {
	GinkgoHelper()
	now, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	annotations := func(of fleet.Objects) map[string]map[string]string {
		all := map[string]map[string]string{}
		for _, o := range of.All() {
			all[o.GetKind()+" "+o.GetName()] = o.GetAnnotations()
		}
		return all
	}
	g.Expect(annotations(now)).To(Equal(annotations(before)))
}

func controlPlane(m *clusterv1.Machine) bool {
	_, is := m.Labels[clusterv1.MachineControlPlaneLabel]
	return is
}

func key(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }
