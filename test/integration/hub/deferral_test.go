// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// deferral is the word of a cluster's owner, on their own Cluster: the wave goes on without it and is complete, and the
// cluster has its turn when they take it back.
func deferral(ctx context.Context, g Gomega) {
	const name, willing, busy = "deferral", "north/deferral/eu-1", "south/deferral/us-1"
	clusters(ctx, g, name, willing, busy)
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
	annotate(ctx, g, busy, fleetv1.DeferUntilAnnotation, new(until+"; a sale is on"))
	before, err := world.Objects(ctx, busy)
	g.Expect(err).NotTo(HaveOccurred())
	p := policyFor(name)
	p.Spec.Waves = []fleetv1.Wave{rest(2)}
	apply(ctx, g, p)

	deferred := func(g Gomega) {
		ro := newest(ctx, g, name)
		g.Expect(ro.Status.Phase).To(Equal(fleetv1.RolloutCatchingUp), "waiting: %+v", ro.Status.Waiting)
		g.Expect(ro.Status.Waves[0].CompletedAt).NotTo(BeNil())
		g.Expect(ro.Status.Failed).To(BeZero())
		g.Expect(ro.Status.DeferredClusters).To(ConsistOf(SatisfyAll(
			HaveField("Name", busy), HaveField("Reason", policy.ReasonDeferredByOwner))))
		cu := upgrade(ctx, g, name, busy).Status
		g.Expect(cu.Phase).To(Equal(fleetv1.UpgradeDeferred))
		g.Expect(cu.Reason).To(Equal(policy.ReasonDeferredByOwner))
		g.Expect(cu.Message).To(And(ContainSubstring(until), ContainSubstring("a sale is on")))
		g.Expect(cu.Claimed).To(BeFalse())
		untouched(ctx, g, before, busy)
	}
	g.Eventually(deferred).WithContext(ctx).Should(Succeed())
	upgradedOnce(ctx, g, nextTarget, nextVersion, willing)
	g.Consistently(deferred).WithContext(ctx).Should(Succeed())

	annotate(ctx, g, busy, fleetv1.DeferUntilAnnotation, nil)
	ro := phase(ctx, g, name, fleetv1.RolloutSucceeded)
	g.Expect(ro.Status.Progress).To(Equal("2/2"))
	upgradedOnce(ctx, g, nextTarget, nextVersion, willing, busy)
}

// annotate sets an annotation of the Cluster in its member, as its owner does; nil: takes it away.
func annotate(ctx context.Context, g Gomega, path, annotation string, text *string) {
	GinkgoHelper()
	of, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotation: text}}})
	g.Expect(err).NotTo(HaveOccurred())
	member := world.Members[strings.Split(path, "/")[0]]
	g.Expect(member.Client.Patch(ctx, of.Cluster, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}
