// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Each entry changes the least act of its kind.
var _ = DescribeTable("an act is refused with the field and an accepted form",
	func(ctx SpecContext, kind, change, field, words string) {
		err := try(ctx, strict, object(kind, least(kind), change))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(And(ContainSubstring(field+": "), ContainSubstring(words))))
	},

	Entry("a Freeze of nothing", "Freeze", `scope: null`, "spec.scope",
		"must say what is stopped; accepted: {all: true}, {policies: [k8s-1-33]}, {clusters: [mgmt-a/shop/eu-1]}"),
	Entry("a Freeze of an empty scope", "Freeze", `scope: {all: null}`, "spec.scope",
		"exactly one of all, policies, clusters, selector and managementClusters is needed; accepted: {all: true}, {policies: [k8s-1-33]}"),
	Entry("a Freeze of two things", "Freeze", `scope: {policies: [k8s-1-33]}`, "spec.scope", "exactly one of all, policies, clusters"),
	Entry("a Freeze of not all", "Freeze", `scope: {all: false}`, "spec.scope.all", "false means nothing; accepted: all: true"),
	Entry("a Freeze of no policies", "Freeze", `scope: {all: null, policies: []}`, "spec.scope.policies",
		"is empty and takes nothing; accepted: [k8s-1-33]"),
	Entry("a Freeze of what is no policy's name", "Freeze", `scope: {all: null, policies: [K8s!]}`, "spec.scope.policies[0]",
		"each must be the name of a RolloutPolicy; accepted: k8s-1-33"),
	Entry("a Freeze of no clusters", "Freeze", `scope: {all: null, clusters: []}`, "spec.scope.clusters",
		"is empty and takes nothing; accepted: [mgmt-a/shop/eu-1]"),
	Entry("a Freeze of a cluster without its management cluster", "Freeze", `scope: {all: null, clusters: [eu-1]}`,
		"spec.scope.clusters[0]", "each must be <management cluster>/<namespace>/<name>; accepted: mgmt-a/shop/eu-1"),
	Entry("a Freeze of no management clusters", "Freeze", `scope: {all: null, managementClusters: []}`,
		"spec.scope.managementClusters", "is empty and takes nothing; accepted: [mgmt-a]"),
	Entry("an unknown effect", "Freeze", `effect: Everything`, "spec.effect", `supported values: "NoNewMachines", "NoNewClusters"`),
	Entry("a Freeze without a reason", "Freeze", `reason: null`, "spec.reason", "must say why; accepted: Christmas holidays"),
	Entry("a Freeze with a reason of blanks", "Freeze", `reason: "  "`, "spec.reason", "must not be empty; accepted: Christmas holidays"),
	Entry("a Freeze without an author", "Freeze", `by: null`, "spec.by",
		"must say who acts; accepted: what kubectl auth whoami prints"),
	Entry("a Freeze with an empty author", "Freeze", `by: ""`, "spec.by",
		"must be who you are to the API server; accepted: what kubectl auth whoami prints"),
	Entry("an empty reference", "Freeze", `reference: ""`, "spec.reference", "must not be empty; accepted: CHG0042, or leave it out"),
	Entry("a beginning that is a date", "Freeze", `from: "2026-12-24"`, "spec.from",
		"must be an instant as RFC 3339 writes it; accepted: 2026-12-18T16:00:00Z, 2026-12-01T02:00:00+01:00"),
	Entry("a beginning that only some programs read", "Freeze", `from: "2026-12-24t00:00:00z"`, "spec.from", "must be an instant as RFC 3339"),
	Entry("an end that there is not", "Freeze", `until: "2027-02-30T00:00:00Z"`, "spec.until",
		`Invalid value: "2027-02-30T00:00:00Z": spec.until: must be an instant as RFC 3339 writes it`),
	Entry("an end in no leap year", "Freeze", `until: "2100-02-29T00:00:00Z"`, "spec.until",
		`Invalid value: "2100-02-29T00:00:00Z": spec.until: must be an instant as RFC 3339 writes it`),
	Entry("an end in the year 1, which would be none", "Freeze", `until: "0001-01-01T00:00:00Z"`, "spec.until", "must be an instant as RFC 3339"),
	Entry("an end before its beginning", "Freeze", `{from: "2026-12-24T00:00:00+02:00", until: "2026-12-23T22:00:00Z"}`, "spec.until",
		"is not after from; accepted: a later instant"),

	Entry("an Approval of no Rollout", "Approval", `rollout: null`, "spec.rollout", "must say which Rollout; accepted: k8s-1-33-7c2f1"),
	Entry("an Approval of what is no Rollout's name", "Approval", `rollout: K8S`, "spec.rollout",
		"must be the name of a Rollout; accepted: k8s-1-33-7c2f1"),
	Entry("an Approval of no wave", "Approval", `wave: null`, "spec.wave", "must say which wave of it; accepted: canaries, early"),
	Entry("an Approval of what is no wave's name", "Approval", `wave: Early`, "spec.wave",
		"must be the name of a wave; accepted: canaries, early"),
	Entry("an Approval of no plan", "Approval", `planDigest: null`, "spec.planDigest",
		"must say which plan; accepted: what status.digest of the Rollout holds"),
	Entry("an Approval of what is no digest", "Approval", `planDigest: "any plan"`, "spec.planDigest",
		"must be a digest; accepted: what status.digest of the Rollout holds"),
	Entry("an Approval that decides nothing", "Approval", `decision: null`, "spec.decision",
		"must say what is decided; accepted: Approved, Rejected"),
	Entry("an Approval that is unsure", "Approval", `decision: Maybe`, "spec.decision", `supported values: "Approved", "Rejected"`),
	Entry("an Approval without a reason", "Approval", `reason: null`, "spec.reason",
		"must say why; accepted: canaries looked at, no alarms"),
	Entry("an Approval without an author", "Approval", `by: null`, "spec.by", "must say who acts; accepted: what kubectl auth whoami prints"),
	Entry("an expiry that is a date", "Approval", `expiresAt: "2026-12-24"`, "spec.expiresAt",
		"must be an instant as RFC 3339 writes it; accepted: 2026-12-01T00:00:00Z"),
)

var _ = DescribeTable("an act is accepted", func(ctx SpecContext, kind, change string) {
	Expect(try(ctx, strict, object(kind, least(kind), change))).To(Succeed())
},
	Entry("the least Freeze", "Freeze", ``),
	Entry("a Freeze of policies", "Freeze", `scope: {all: null, policies: [k8s-1-33, k8s-1-34]}`),
	Entry("a Freeze of clusters", "Freeze", `scope: {all: null, clusters: [mgmt-a/shop/eu-1]}`),
	Entry("a Freeze of a label's clusters", "Freeze", `scope: {all: null, selector: {matchLabels: {tier: prod}}}`),
	Entry("a Freeze of management clusters", "Freeze", `scope: {all: null, managementClusters: [mgmt-a]}`),
	Entry("a Freeze of machines, said", "Freeze", `effect: NoNewMachines`),
	Entry("a Freeze with an end alone", "Freeze", `until: "2027-01-07T06:00:00Z"`),
	Entry("a Freeze in local time", "Freeze", `{from: "2026-12-18T17:00:00+01:00", until: "2026-12-18T17:00:01.5+01:00"}`),
	Entry("the least Approval", "Approval", ``),
	Entry("a refusal", "Approval", `decision: Rejected`),
	Entry("an Approval of the canaries that expires", "Approval", `{wave: canaries, expiresAt: "2026-12-12T00:00:00Z"}`),
)

var _ = Describe("what was done stays as it was", func() {
	patched := func(ctx SpecContext, kind, change string) error {
		o := object(kind, full()[kind][0], ``)
		o.SetName("unchanging")
		create(ctx, o)
		return strict.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":`+change+`}`)))
	}

	DescribeTable("in a Freeze", func(ctx SpecContext, change string) {
		err := patched(ctx, "Freeze", change)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(
			"a Freeze never changes but for from, until and reason; accepted: another Freeze, and then to delete this one")))
	},
		Entry("its scope", `{"scope":{"selector":{"matchLabels":{"tier":"test"}}}}`),
		Entry("its scope, to another kind of scope", `{"scope":{"selector":null,"policies":["k8s-1-33"]}}`),
		Entry("its effect", `{"effect":"NoNewMachines"}`),
		Entry("its effect, left out", `{"effect":null}`),
		Entry("its author", `{"by":"jane@example.com"}`),
		Entry("its reference", `{"reference":"CHG0043"}`),
		Entry("its reference, left out", `{"reference":null}`),
	)

	DescribeTable("but for a Freeze's", func(ctx SpecContext, change string) {
		Expect(patched(ctx, "Freeze", change)).To(Succeed())
	},
		Entry("beginning", `{"from":"2026-12-19T16:00:00Z"}`),
		Entry("beginning, left out", `{"from":null}`),
		Entry("end", `{"until":"2027-01-08T06:00:00Z"}`),
		Entry("end, left out", `{"until":null}`),
		Entry("reason", `{"reason":"Christmas holidays, longer"}`),
	)

	DescribeTable("in an Approval", func(ctx SpecContext, change string) {
		err := patched(ctx, "Approval", change)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("an Approval never changes; accepted: another Approval")))
	},
		Entry("its rollout", `{"rollout":"other"}`),
		Entry("its wave", `{"wave":"rest"}`),
		Entry("its digest", `{"planDigest":"other"}`),
		Entry("its decision", `{"decision":"Rejected"}`),
		Entry("its expiry", `{"expiresAt":"2027-12-12T00:00:00Z"}`),
		Entry("its expiry, left out", `{"expiresAt":null}`),
		Entry("its author", `{"by":"jane@example.com"}`),
		Entry("its reason", `{"reason":"another"}`),
		Entry("its reference, left out", `{"reference":null}`),
	)
})

var _ = Describe("the author of an act", Ordered, func() {
	// Jane and John may act; the Git controller may also act for others.
	as := func(user string) client.Client {
		GinkgoHelper()
		impersonating := rest.CopyConfig(config)
		impersonating.Impersonate = rest.ImpersonationConfig{UserName: user}
		c, err := client.New(impersonating, client.Options{Scheme: hub.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		return c
	}

	BeforeAll(func(ctx SpecContext) {
		rules := map[string][]string{"acts-act": {"create", "patch"}, "acts-attest": {"create", "attest"}}
		for name, verbs := range rules {
			create(ctx, &rbacv1.ClusterRole{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Rules: []rbacv1.PolicyRule{{
					APIGroups: []string{fleetv1.GroupVersion.Group}, Resources: []string{"approvals", "freezes"}, Verbs: verbs,
				}},
			})
		}
		for user, role := range map[string]string{
			"jane@example.com": "acts-act", "john@example.com": "acts-act", "git": "acts-attest",
		} {
			create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "acts-"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
			})
			freeze := object("Freeze", leastFreeze, `by: `+user)
			Eventually(func() error { return try(ctx, as(user), freeze.DeepCopy()) }).Should(Succeed(), user)
		}
	})

	for kind, resource := range map[string]string{"Freeze": "freezes", "Approval": "approvals"} {
		It("is the caller, in a "+kind, func(ctx SpecContext) {
			Expect(try(ctx, as("jane@example.com"), object(kind, least(kind), `by: jane@example.com`))).To(Succeed())
			Expect(try(ctx, as("john@example.com"), object(kind, least(kind), `by: john@example.com`))).To(Succeed())
		})

		It("is nobody else, in a "+kind, func(ctx SpecContext) {
			err := try(ctx, as("john@example.com"), object(kind, least(kind), `by: jane@example.com`))
			Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(`spec.by: "jane@example.com" is not the caller; accepted: "john@example.com" ` +
				`(who holds the verb attest on ` + resource + ` may name somebody else, with a spec.reference)`)))
		})

		It("is nobody else with a reference alone, in a "+kind, func(ctx SpecContext) {
			err := try(ctx, as("john@example.com"), object(kind, least(kind), `{by: jane@example.com, reference: CHG0042}`))
			Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(`spec.by: "jane@example.com" is not the caller`)))
		})

		It("is whom a Git controller names that attests, with a reference, in a "+kind, func(ctx SpecContext) {
			Expect(try(ctx, as("git"), object(kind, least(kind), `{by: jane@example.com, reference: 9e0f2c1}`))).To(Succeed())
			err := try(ctx, as("git"), object(kind, least(kind), `by: jane@example.com`))
			Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(`spec.reference: must say where the act of "jane@example.com", who is not the ` +
				`caller, can be looked up; accepted: a commit, or spec.by: "git"`)))
		})
	}

	It("stays the author of a Freeze that somebody else prolongs", func(ctx SpecContext) {
		freeze := object("Freeze", leastFreeze, `by: jane@example.com`)
		freeze.SetName("of-jane")
		Expect(as("jane@example.com").Create(ctx, freeze)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) error { return client.IgnoreNotFound(hub.Delete(ctx, freeze)) })
		patch := func(text string) error {
			return as("john@example.com").Patch(ctx, freeze.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)))
		}
		Expect(patch(`{"spec":{"until":"2027-01-07T06:00:00Z"}}`)).To(Succeed())
		Expect(patch(`{"spec":{"by":"john@example.com"}}`)).To(MatchError(ContainSubstring("a Freeze never changes but for from")))
	})
})

// What the API server stores must be readable: one object that Go cannot decode would hide every other of its kind.
var _ = DescribeTable("an instant that is accepted can be read", func(ctx SpecContext, instant string) {
	freeze := object("Freeze", leastFreeze, `from: "`+instant+`"`)
	freeze.SetName("read")
	create(ctx, freeze)
	var read fleetv1.Freeze
	Expect(hub.Get(ctx, client.ObjectKeyFromObject(freeze), &read)).To(Succeed())
	Expect(read.Spec.From.IsZero()).To(BeFalse())
},
	Entry(nil, "2026-12-18T16:00:00Z"),
	Entry(nil, "2026-12-18T16:00:00.123456789+01:00"),
	Entry(nil, "2028-02-29T23:59:59-23:59"),
	Entry(nil, "2000-02-29T00:00:00Z"),
	Entry(nil, "2199-12-31T23:59:59Z"),
)
