// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	restclient "k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/fleet/acts"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/test/env"
)

// People, and who one of them may act as.
const (
	jane = "jane@example.com" // asks for the change
	john = "john@example.com"
)

// It stands alone: while the admission policies are away, as another story has it, no Approval counts.
var _ = Describe("a wave that needs an approval", func() {
	It("begins by the word of another person on this very plan, and by nothing else", func(ctx SpecContext) {
		const name, first, second = "approval", "north/approval/eu-1", "south/approval/us-1"
		clusters(ctx, Default, name, first, second)
		before, err := world.Objects(ctx, first)
		Expect(err).NotTo(HaveOccurred())
		later, err := world.Objects(ctx, second)
		Expect(err).NotTo(HaveOccurred())
		people := map[string]client.Client{jane: person(ctx, jane), john: person(ctx, john)}
		p := policyFor(name)
		p.Spec.Change = &fleetv1.Change{RequestedBy: jane, Reference: "CHG0042"}
		last := rest(1)
		last.Approval = &fleetv1.ApprovalGate{Count: 1}
		p.Spec.Waves = []fleetv1.Wave{{Name: "early", Names: []string{first}, Approval: last.Approval}, last}
		apply(ctx, Default, p)
		ro := awaiting(ctx, name, "early")
		settled(ctx)

		By("the one who asked, another plan, another wave, another's name")
		own := say(ctx, people[jane], "own", jane, ro, "early")
		wrong := word("wrong", john, ro, "early")
		wrong.Spec.PlanDigest = "0123456789abcdef0123"
		Expect(people[john].Create(ctx, wrong)).To(Succeed())
		none := say(ctx, people[john], "none", john, ro, "late")
		forged := people[jane].Create(ctx, word("forged", john, ro, "early"))
		Expect(apierrors.IsForbidden(forged)).To(BeTrue(), "%v", forged)
		Expect(forged).To(MatchError(ContainSubstring(`"john@example.com" is not the caller`)))
		verdict(ctx, own, metav1.ConditionFalse, fleetv1.RequestedBySelfReason, Equal("jane@example.com is change.requestedBy of the policy"))
		verdict(ctx, wrong, metav1.ConditionFalse, fleetv1.DigestChangedReason, ContainSubstring(ro.Status.Digest))
		verdict(ctx, none, metav1.ConditionFalse, fleetv1.UnknownRolloutReason, ContainSubstring("has no wave late"))
		shut(ctx, name, "early")
		untouched(ctx, Default, before, first)

		By("another person")
		right := say(ctx, people[john], "right", john, ro, "early")
		verdict(ctx, right, metav1.ConditionTrue, fleetv1.CountedReason, BeEmpty())
		ro = awaiting(ctx, name, "rest")
		upgradedOnce(ctx, Default, nextTarget, nextVersion, first)

		By("nobody who would have refused a forged one")
		var unseen *fleetv1.Approval
		unguarded(ctx, Default, func() {
			unseen = say(ctx, people[john], "unseen", john, ro, "rest")
			verdict(ctx, unseen, metav1.ConditionUnknown, fleetv1.AuthorUnverifiedReason,
				ContainSubstring("windlass-acts is not bound; accepted: kubectl apply -k config/admission"))
			shut(ctx, name, "rest")
		})
		verdict(ctx, unseen, metav1.ConditionUnknown, fleetv1.AuthorUnverifiedReason, ContainSubstring("accepted: another Approval"))
		shut(ctx, name, "rest")
		untouched(ctx, Default, later, second)

		By("the same person again, now that the author is sure")
		settled(ctx)
		verdict(ctx, say(ctx, people[john], "seen", john, ro, "rest"), metav1.ConditionTrue, fleetv1.CountedReason, BeEmpty())
		phase(ctx, Default, name, fleetv1.RolloutSucceeded)
		upgradedOnce(ctx, Default, nextTarget, nextVersion, first, second)
	})

	It("C072: is no reason not to let a deleted rollout go, and nothing was done to its clusters", func(ctx SpecContext) {
		const name, path = "unapproved", "south/unapproved/us-1"
		clusters(ctx, Default, name, path)
		before, err := world.Objects(ctx, path)
		Expect(err).NotTo(HaveOccurred())
		p := policyFor(name)
		p.Spec.Waves[0].Approval = &fleetv1.ApprovalGate{Count: 1}
		apply(ctx, Default, p)
		ro := awaiting(ctx, name, "rest")
		Expect(world.Hub.Delete(ctx, &ro)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(world.Hub.Get(ctx, key(&ro), &fleetv1.Rollout{}))
		}).WithContext(ctx).WithTimeout(30 * time.Second).Should(BeTrue())
		untouched(ctx, Default, before, path)
	})
})

// person is a client of one who may edit the fleet.
func person(ctx context.Context, name string) client.Client {
	GinkgoHelper()
	Expect(world.Hub.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "editor-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "windlass-editor"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})).To(Succeed())
	impersonating := restclient.CopyConfig(world.Server.Config)
	impersonating.Impersonate = restclient.ImpersonationConfig{UserName: name}
	c, err := client.New(impersonating, client.Options{Scheme: world.Hub.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// settled waits until the admission policies have been as they are for so long that an Approval counts under them.
func settled(ctx context.Context) {
	GinkgoHelper()
	b := &admissionv1.ValidatingAdmissionPolicyBinding{}
	Expect(world.Hub.Get(ctx, client.ObjectKey{Name: acts.PolicyName}, b)).To(Succeed())
	// The API server tells time in whole seconds.
	enough := b.CreationTimestamp.Add(acts.Settling + time.Second)
	Eventually(time.Now).WithContext(ctx).Should(BeTemporally(">=", enough))
}

// word is an Approval of a wave of a rollout as it is.
func word(name, by string, ro fleetv1.Rollout, wave string) *fleetv1.Approval {
	return &fleetv1.Approval{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.HubNamespace, Name: name},
		Spec: fleetv1.ApprovalSpec{
			Rollout: ro.Name, Wave: wave, PlanDigest: ro.Status.Digest, Decision: fleetv1.DecisionApproved, By: by,
			Reason: "no alarms",
		},
	}
}

// say makes an Approval as a person.
func say(ctx context.Context, c client.Client, name, by string, ro fleetv1.Rollout, wave string) *fleetv1.Approval {
	GinkgoHelper()
	a := word(name, by, ro, wave)
	Expect(c.Create(ctx, a)).To(Succeed())
	return a
}

// verdict waits until it is said of an Approval whether it counts, and why.
func verdict(
	ctx context.Context, a *fleetv1.Approval, status metav1.ConditionStatus, reason string, message gomegatypes.GomegaMatcher,
) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(world.Hub.Get(ctx, key(a), a)).To(Succeed())
		g.Expect(meta.FindStatusCondition(a.Status.Conditions, fleetv1.ValidCondition)).To(HaveValue(SatisfyAll(
			HaveField("Status", status), HaveField("Reason", reason), HaveField("Message", message))))
	}).WithContext(ctx).Should(Succeed())
}

// awaiting waits until a rollout waits for the approval of a wave, and returns it.
func awaiting(ctx context.Context, policyName, wave string) fleetv1.Rollout {
	GinkgoHelper()
	var ro fleetv1.Rollout
	Eventually(func(g Gomega) { ro = gated(ctx, g, policyName, wave) }).WithContext(ctx).Should(Succeed())
	return ro
}

// gated claims that a rollout waits for the approval of a wave, of which it has none.
func gated(ctx context.Context, g Gomega, policyName, wave string) fleetv1.Rollout {
	GinkgoHelper()
	ro := newest(ctx, g, policyName)
	g.Expect(ro.Status.Phase).To(Equal(fleetv1.RolloutAwaitingApproval), "waiting: %+v", ro.Status.Waiting)
	g.Expect(ro.Status.Wave).To(Equal(wave))
	g.Expect(ro.Status.Digest).NotTo(BeEmpty())
	g.Expect(ro.Status.Waiting).To(HaveValue(HaveField("Reason", policy.ReasonAwaitingApproval)))
	g.Expect(ro.Status.Until).To(Equal(fleetv1.UntilAct))
	return ro
}

// shut claims that a gate stays shut.
func shut(ctx context.Context, policyName, wave string) {
	GinkgoHelper()
	Consistently(func(g Gomega) { gated(ctx, g, policyName, wave) }).WithContext(ctx).Should(Succeed())
}
