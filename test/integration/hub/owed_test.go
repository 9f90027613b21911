// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/test/build"
)

// debt is law 20: a rollout that is deleted while the member of its only cluster, one machine of which is in flight, cannot
// be reached. What it has left there is owed to the cluster.
type debt struct {
	name, path string
	// begun is the machine in flight, which open lets go on.
	begun string
	open  func()
}

// owe begins a rollout in a member, and returns when a machine is in flight.
func owe(ctx context.Context, g Gomega) debt {
	GinkgoHelper()
	d := debt{name: "owed", path: "east/owed/ea-2"}
	clusters(ctx, g, d.name, d.path)
	d.open = gate(ctx, g, d.path, "ea-2-cp-0", "ea-2-cp-1", "ea-2-cp-2")
	p := policyFor(d.name)
	p.Spec.Upgrade.Machine.Timeout = &metav1.Duration{Duration: time.Hour} // it is in flight all the while that nobody sees it
	apply(ctx, g, p)
	begun, err := world.AwaitMachine(ctx, d.path, inFlight)
	g.Expect(err).NotTo(HaveOccurred())
	d.begun = begun.Name
	return d
}

// disown deletes the policy and its rollout. The member is away, and the deletion does not wait for it for ever.
func (d debt) disown(ctx context.Context, g Gomega) {
	GinkgoHelper()
	ro := newest(ctx, g, d.name)
	cu := upgrade(ctx, g, d.name, d.path)
	g.Expect(world.Hub.Delete(ctx, policyFor(d.name))).To(Succeed())
	g.Expect(world.Hub.Delete(ctx, &ro)).To(Succeed())
	g.Eventually(func(g Gomega) {
		g.Expect(world.Hub.Get(ctx, key(&ro), &ro)).To(Satisfy(apierrors.IsNotFound))
		g.Expect(world.Hub.Get(ctx, key(&cu), &cu)).To(Satisfy(apierrors.IsNotFound))
	}).WithContext(ctx).Should(Succeed())
}

// settled claims that the member, once it is back, is rid of what was left: its owner is not asked for anything while the
// machine in flight goes on, no other machine begins, and at the end nothing but the release of that machine stays.
func (d debt) settled(ctx context.Context, g Gomega) {
	GinkgoHelper()
	keys := protocol.KeysFor(protocol.ProviderPrefix)
	g.Eventually(func(g Gomega) {
		of, err := world.Objects(ctx, d.path)
		g.Expect(err).NotTo(HaveOccurred())
		for _, o := range of.Owners {
			g.Expect(o.GetAnnotations()).NotTo(Or(HaveKey(keys.To), HaveKey(protocol.HolderKey)))
		}
		g.Expect(of.Cluster.GetAnnotations()).To(HaveKey(drive.ClaimKey), "a machine is in flight")
	}).WithContext(ctx).Should(Succeed())
	d.open()
	asked := map[string]int{"ea-2-cp-0": 0, "ea-2-cp-1": 0, "ea-2-cp-2": 0, "ea-2-a-0": 0}
	asked[d.begun] = 1
	gone := func(g Gomega) {
		of, err := world.Objects(ctx, d.path)
		g.Expect(err).NotTo(HaveOccurred())
		for _, o := range of.All() {
			clean(g, o)
			if o.GetName() == d.begun {
				g.Expect(o.GetAnnotations()).To(HaveKeyWithValue(build.Release, nextTarget))
			}
		}
		g.Expect(refreshes(ctx, g, d.path)).To(Equal(asked))
	}
	g.Eventually(gone).WithContext(ctx).Should(Succeed())
	g.Consistently(gone).WithContext(ctx).Should(Succeed())
}
