// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// measured is law 10 with durations that were measured: the control plane of a cluster, three machines of which were seen to
// take seconds, begins in an opening that is too short for what is expected of a machine; its only worker does not.
func measured(ctx context.Context, g Gomega) {
	const name, path, worker = "measured", "south/measured/us-1", "us-1-a-0"
	machines := []string{"us-1-cp-0", "us-1-cp-1", "us-1-cp-2"}
	clusters(ctx, g, name, path)
	script(g, path, machines, k8sd.Done(2*time.Second)) // what took less than a second is not measured
	p := policyFor(name)
	apply(ctx, g, p)
	phase(ctx, g, name, fleetv1.RolloutSucceeded)
	var took time.Duration
	g.Eventually(func(g Gomega) {
		of := recorded(ctx, g, path).Status.Durations
		g.Expect(of).To(ContainElement(SatisfyAll(
			HaveField("Role", fleetv1.RoleControlPlane), HaveField("Samples", BeNumerically(">=", 3)))), "%+v", of)
		took = of[0].P90.Duration
	}).WithContext(ctx).Should(Succeed())
	g.Expect(took).To(BeNumerically(">=", time.Second))

	w, closes := closing(15 * time.Minute)
	cal := calendar(ctx, g, name, w)
	edit(ctx, g, p, func(s *fleetv1.RolloutPolicySpec) {
		s.Target, s.AnyTime, s.Calendars = to(laterTarget, laterVersion), nil, []string{name}
		s.Upgrade.Machine.Expected = &metav1.Duration{Duration: 40 * time.Minute}
		s.Upgrade.Machine.Timeout = &metav1.Duration{Duration: time.Hour}
	})
	g.Eventually(func(g Gomega) { g.Expect(rollouts(ctx, g, name)).To(HaveLen(2)) }).WithContext(ctx).Should(Succeed())
	open := gate(ctx, g, path, machines[0], machines[1], machines[2])
	defer open()
	_, err := world.AwaitMachine(ctx, path, inFlight)
	g.Expect(err).NotTo(HaveOccurred())
	begun := upgrade(ctx, g, name, path).Spec
	g.Expect(begun.NotAfter).To(HaveValue(HaveField("Time", BeTemporally("==", closes.Add(-took)))))
	g.Expect(begun.NotAfterFor).To(Equal(fleetv1.RoleControlPlane))
	open()

	held := func(g Gomega) {
		cu := upgrade(ctx, g, name, path)
		g.Expect(cu.Spec.Intent).To(Equal(fleetv1.IntentHold), "%s: %s", cu.Status.Reason, cu.Status.Message)
		g.Expect(cu.Status.Reason).To(Equal(policy.ReasonDoesNotFit))
		g.Expect(cu.Status.Summary).To(HaveValue(HaveField("CP", "3/3")))
		g.Expect(refreshes(ctx, g, path)).To(HaveKeyWithValue(worker, 1), "that of the first rollout")
	}
	g.Eventually(held).WithContext(ctx).Should(Succeed())
	g.Consistently(held).WithContext(ctx).Should(Succeed())

	move(ctx, g, cal, always)
	phase(ctx, g, name, fleetv1.RolloutSucceeded)
	g.Expect(refreshes(ctx, g, path)).To(HaveEach(2))
	atTarget(ctx, g, laterTarget, laterVersion, path)
}

// closing is a time of maintenance that is open and ends after a while, on a minute; it opened more than an hour ago.
func closing(after time.Duration) (w window, closes time.Time) {
	now := time.Now().UTC()
	opened := now.Truncate(time.Hour).Add(-time.Hour)
	closes = now.Add(after).Truncate(time.Minute)
	return window{fmt.Sprintf("0 %d * * *", opened.Hour()), closes.Sub(opened)}, closes
}
