// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/test/env"
)

// storedBad is a calendar that is stored though nobody could write it today: it is closed and says why, as does the policy
// that names it, and no other policy minds.
func storedBad(ctx context.Context, g Gomega) {
	const bad, good, unlucky, lucky = "stored-bad", "stored-good", "south/stored/us-1", "north/stored/eu-1"
	clusters(ctx, g, bad, unlucky)
	clusters(ctx, g, good, lucky)
	before, err := world.Objects(ctx, unlucky)
	g.Expect(err).NotTo(HaveOccurred())
	cal := unchecked(ctx, g, bad, window{"* 7-24 * * 0-6", always.duration})
	calendar(ctx, g, good, always)
	apply(ctx, g, within(bad, bad))
	apply(ctx, g, within(good, good))

	says := func(reason string) OmegaMatcher {
		return HaveValue(SatisfyAll(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", reason), HaveField("Message",
			And(ContainSubstring("spec.windows[0].schedule"), ContainSubstring("* 7-24 * * 0-6"), ContainSubstring("accepted: ")))))
	}
	shut := func(g Gomega) {
		g.Expect(world.Hub.Get(ctx, key(cal), cal)).To(Succeed())
		g.Expect(meta.FindStatusCondition(cal.Status.Conditions, fleetv1.ReadyCondition)).To(says(fleetv1.InvalidReason))
		g.Expect(cal.Status.Open).To(Equal(fleetv1.CalendarIsClosed))
		g.Expect(cal.Status.Until).To(Equal(fleetv1.UntilAct))
		p := &fleetv1.RolloutPolicy{}
		g.Expect(world.Hub.Get(ctx, client.ObjectKey{Namespace: env.HubNamespace, Name: bad}, p)).To(Succeed())
		g.Expect(meta.FindStatusCondition(p.Status.Conditions, fleetv1.ReadyCondition)).To(says(policy.ReasonCalendarInvalid))
		ro := newest(ctx, g, bad)
		g.Expect(ro.Status.Plan).NotTo(BeNil())
		g.Expect(ro.Status.Waiting).To(HaveValue(HaveField("Reason", policy.ReasonCalendarInvalid)))
		g.Expect(ro.Status.Until).To(Equal(fleetv1.UntilAct))
		untouched(ctx, g, before, unlucky)
	}
	g.Eventually(shut).WithContext(ctx).Should(Succeed())
	phase(ctx, g, good, fleetv1.RolloutSucceeded)
	upgradedOnce(ctx, g, nextTarget, nextVersion, lucky)
	shut(g)
	said, err := os.ReadFile(filepath.Join(world.World.Dir(), "windlass-hub.log"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(said)).NotTo(ContainSubstring("Observed a panic"))

	move(ctx, g, cal, always)
	phase(ctx, g, bad, fleetv1.RolloutSucceeded)
	upgradedOnce(ctx, g, nextTarget, nextVersion, unlucky)
}

// unchecked stores a calendar while the API server checks none, as before it had checks. They are back when it returns.
func unchecked(ctx context.Context, g Gomega, name string, w window) *fleetv1.MaintenanceCalendar {
	GinkgoHelper()
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	crd.SetName("maintenancecalendars." + fleetv1.GroupVersion.Group)
	g.Expect(world.Hub.Get(ctx, key(crd), crd)).To(Succeed())
	set := func(versions any) {
		patch, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": versions}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(world.Hub.Patch(ctx, crd, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	}
	cal := &fleetv1.MaintenanceCalendar{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.HubNamespace, Name: name},
		Spec:       fleetv1.MaintenanceCalendarSpec{Windows: w.spec()},
	}
	other := cal.DeepCopy()
	other.Name += "-again"
	try := func() error { return world.Hub.Create(ctx, other.DeepCopy(), client.DryRunAll) }
	refused := Satisfy(apierrors.IsInvalid)
	g.Expect(try()).To(refused)

	checked, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	g.Expect(err).NotTo(HaveOccurred())
	loose := runtime.DeepCopyJSONValue(checked)
	unlimit(loose)
	set(loose)
	g.Eventually(ctx, try).Should(Succeed())
	g.Expect(world.Hub.Create(ctx, cal)).To(Succeed())
	set(checked)
	g.Eventually(ctx, try).Should(refused)
	return cal
}

// unlimit takes every CEL rule out of a part of a CustomResourceDefinition.
func unlimit(part any) {
	switch part := part.(type) {
	case map[string]any:
		delete(part, "x-kubernetes-validations")
		for _, p := range part {
			unlimit(p)
		}
	case []any:
		for _, p := range part {
			unlimit(p)
		}
	}
}
