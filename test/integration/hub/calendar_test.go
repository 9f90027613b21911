// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/test/env"
)

// window is a time of maintenance as a calendar says it, in UTC.
type window struct {
	schedule string
	duration time.Duration
}

// always is every day, all day: one opening without an end.
var always = window{"0 0 * * *", 24 * time.Hour}

// farOff is an hour in half a year: whatever the day, it is not today.
func farOff() (w window, opens time.Time) {
	now := time.Now().UTC()
	const halfAYear = 6
	opens = time.Date(now.Year(), now.Month()+halfAYear, 1, 2, 0, 0, 0, time.UTC)
	return window{fmt.Sprintf("0 2 1 %d *", opens.Month()), time.Hour}, opens
}

func (w window) spec() []fleetv1.CalendarWindow {
	return []fleetv1.CalendarWindow{{
		Schedule: new(fleetv1.Schedule(w.schedule)), Duration: &metav1.Duration{Duration: w.duration},
	}}
}

// calendar makes a MaintenanceCalendar.
func calendar(ctx context.Context, g Gomega, name string, w window) *fleetv1.MaintenanceCalendar {
	GinkgoHelper()
	cal := &fleetv1.MaintenanceCalendar{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.HubNamespace, Name: name},
		Spec:       fleetv1.MaintenanceCalendarSpec{Windows: w.spec()},
	}
	g.Expect(world.Hub.Create(ctx, cal)).To(Succeed())
	return cal
}

// move gives a calendar another window, which is an edit that a person makes.
func move(ctx context.Context, g Gomega, cal *fleetv1.MaintenanceCalendar, w window) {
	GinkgoHelper()
	base := cal.DeepCopy()
	cal.Spec.Windows = w.spec()
	g.Expect(world.Hub.Patch(ctx, cal, client.MergeFrom(base))).To(Succeed())
}

// within is policyFor a spec, in calendars.
func within(spec string, calendars ...string) *fleetv1.RolloutPolicy {
	p := policyFor(spec)
	p.Spec.AnyTime, p.Spec.Calendars = nil, calendars
	return p
}

// waits is over when the last rollout of a policy waits for a reason; it returns it.
func waits(ctx context.Context, g Gomega, policy, reason string) fleetv1.Rollout {
	GinkgoHelper()
	var ro fleetv1.Rollout
	g.Eventually(func(g Gomega) {
		ro = newest(ctx, g, policy)
		g.Expect(ro.Status.Waiting).To(HaveValue(HaveField("Reason", reason)), "phase %s", ro.Status.Phase)
	}).WithContext(ctx).Should(Succeed())
	return ro
}

// closed is a policy whose calendar is closed: it plans, starts nothing and says until when. An edit that opens the
// calendar starts it, with no other event; one that closes it again stops it at the next machine.
func closed(ctx context.Context, g Gomega) {
	const name, path = "closed", "south/closed/us-1"
	clusters(ctx, g, name, path)
	open := gate(ctx, g, path, "us-1-cp-0", "us-1-cp-1", "us-1-cp-2")
	defer open()
	before, err := world.Objects(ctx, path)
	g.Expect(err).NotTo(HaveOccurred())
	later, opens := farOff()
	cal := calendar(ctx, g, name, later)
	apply(ctx, g, within(name, name))

	until := opens.Format(time.RFC3339)
	shut := func(g Gomega) {
		ro := newest(ctx, g, name)
		g.Expect(ro.Status.Plan).To(HaveValue(HaveField("Total", BeEquivalentTo(1))))
		g.Expect(ro.Status.Waiting).To(HaveValue(HaveField("Reason", policy.ReasonWindowClosed)))
		g.Expect(ro.Status.Until).To(Equal(until))
		g.Expect(upgrade(ctx, g, name, path).Spec.Intent).To(Equal(fleetv1.IntentWait))
		g.Expect(world.Hub.Get(ctx, key(cal), cal)).To(Succeed())
		g.Expect(meta.IsStatusConditionTrue(cal.Status.Conditions, fleetv1.ReadyCondition)).To(BeTrue())
		g.Expect(cal.Status.Open).To(Equal(fleetv1.CalendarIsClosed))
		g.Expect(cal.Status.Until).To(Equal(until))
		g.Expect(cal.Status.Zones).To(HaveLen(1))
		g.Expect(cal.Status.Zones[0].Next[0].Local).To(Equal(opens.Format("Mon 2006-01-02") + " 02:00 UTC – 03:00 UTC"))
		untouched(ctx, g, before, path)
	}
	g.Eventually(shut).WithContext(ctx).Should(Succeed())
	g.Consistently(shut).WithContext(ctx).Should(Succeed())

	move(ctx, g, cal, always)
	begun, err := world.AwaitMachine(ctx, path, inFlight)
	g.Expect(err).NotTo(HaveOccurred())
	move(ctx, g, cal, later)
	waits(ctx, g, name, policy.ReasonWindowClosed)
	stopsAfter(ctx, g, name, path, begun.Name, open)

	move(ctx, g, cal, always)
	phase(ctx, g, name, fleetv1.RolloutSucceeded)
	upgradedOnce(ctx, g, nextTarget, nextVersion, path)
	g.Eventually(func(g Gomega) {
		g.Expect(world.Hub.Get(ctx, key(cal), cal)).To(Succeed())
		g.Expect(cal.Status.Open).To(Equal(fleetv1.CalendarIsOpen))
	}).WithContext(ctx).Should(Succeed())
}
