// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

const selector = `{matchLabels: {tier: prod}, matchExpressions: [{key: region, operator: In, values: [eu]}]}`

// full are objects that are accepted and say, together, everything that they can.
func full() map[string][]string {
	return map[string][]string{
		"ManagementCluster": {`
kubeconfigSecretRef: {name: mgmt-a}
engine: Hub
grant: Owner
access: Upgrade
namespaces: [shop]
maxConcurrentClusters: 3
policiesFrom: {from: Same}`},
		"RolloutPolicy": {`
target: {channel: 1.33-classic/stable, version: v1.33.9, minorUpgrade: Allow, onMoved: Halt, refreshedAfter: "2026-12-01T00:00:00Z"}
clusters: {selector: ` + selector + `, managementClusterSelector: ` + selector + `}
canaries: {selector: ` + selector + `, soakDuration: 30m, deadline: 2h, approval: {count: 1}}
waves:
- name: early
  selector: ` + selector + `
  maxConcurrency: 10%
  maxFailures: 1
  soakDuration: 1h
  deadline: 8h
  onDeadline: Continue
  approval: {count: 2}
- {name: rest, rest: true}
limits: [{per: ManagementCluster, max: 3}, {perLabel: example.com/site, max: 1}]
failureBudget: Reserved
upgrade:
  order: WorkersOnly
  maxConcurrentMachines: 4
  progressDeadline: 4h
  singleControlPlane: AllowMarked
  machine: {timeout: 1h, expected: 10m, maxAttempts: 5, backoff: 90s}
unreachable: {grace: 10m, beforeStart: Wait, maxUnknown: 3}
deferral: {max: 168h}
catchUp: {lateJoiners: Ignore, drift: Report, until: 720h}
priority: 10
change: {reference: CHG0042, requestedBy: jane@example.com}
paused: true
calendars: [eu-nights, us-nights]`, `
target: {revision: "640", version: v1.33.9, architecture: amd64}
clusters: {names: [mgmt-a/shop/eu-1, mgmt-a/shop/eu-2]}
canaries: {names: [mgmt-a/shop/eu-1]}
waves: [{name: named, names: [mgmt-a/shop/eu-2], maxConcurrency: 1, maxFailures: 10%}]
anyTime: true`, `
target: {localPath: /var/snaps/k8s.snap, version: v1.33.9}
clusters: {all: true}
canaries: {none: true}
waves: [{name: half, percent: 50}, {name: rest, rest: true}]
anyTime: true`},
		"MaintenanceCalendar": {`
timeZone: Europe/Berlin
windows:
- {schedule: 0 2 * * 6, duration: 4h}
- {rrule: "RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=1;BYMINUTE=0", duration: 6h}
exclusions:
- {from: 2026-12-24, to: 2026-12-26, reason: Christmas}
- {schedule: 0 0 1 * *, duration: 24h}
- {rrule: "RRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31;BYHOUR=0;BYMINUTE=0", duration: 24h}
clusterSelector: ` + selector, `
timeZoneFrom: Cluster
windows: [{schedule: 0 2 * * *, duration: 90m}]`},
		"Freeze": {`
scope: {selector: ` + selector + `}
effect: NoNewClusters
from: "2026-12-18T16:00:00Z"
until: "2027-01-07T06:00:00Z"
reason: Christmas holidays
by: ` + admin + `
reference: CHG0042`},
		"Approval": {`
rollout: k8s-1-33-7c2f1
wave: early
planDigest: 5f0c1d9e27b34a68c1d2
decision: Approved
expiresAt: "2026-12-12T00:00:00Z"
reason: canaries looked at
by: ` + admin + `
reference: CHG0042`},
	}
}

// made is an object of a spec.
func made(kind string, spec map[string]any) *unstructured.Unstructured {
	o := object(kind, "", "")
	o.Object["spec"] = runtime.DeepCopyJSON(spec)
	return o
}

// refuse claims that neither a strict client nor a lenient one may write an object, and that both are told one of the
// names.
func refuse(ctx SpecContext, o *unstructured.Unstructured, names ...string) {
	GinkgoHelper()
	for how, c := range map[string]client.Client{"strict": strict, "lenient": lenient} {
		err := try(ctx, c, o.DeepCopy())
		Expect(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)).To(BeTrue(), "%s, %v: %v", how, names, err)
		Expect(names).To(ContainElement(Satisfy(func(name string) bool { return strings.Contains(err.Error(), name) })),
			"%s: %v", how, err)
	}
}

var _ = Describe("law 21: a misspelt field", func() {
	for _, p := range places() {
		It("is refused by its name whatever the client, in "+p.path()+" of a "+p.kind, func(ctx SpecContext) {
			tried := 0
			for _, text := range full()[p.kind] {
				spec := parsed(text)
				for _, field := range p.fields {
					wrong := p.misspelling(field)
					beside, absent := p.spoilt(spec, func(at map[string]any) { at[wrong] = "x" })
					if absent {
						continue
					}
					tried++
					refuse(ctx, made(p.kind, beside), p.path()+`: unknown field "`+wrong+`"; accepted: `)

					renamed, _ := p.spoilt(spec, func(at map[string]any) {
						if value, found := at[field]; found {
							at[wrong] = value
							delete(at, field)
						}
					})
					if !equality.Semantic.DeepEqual(renamed, spec) {
						refuse(ctx, made(p.kind, renamed), `unknown field "`+wrong+`"`, field)
					}
				}
			}
			if tried > 0 {
				return
			}
			// No accepted object has it: what would lead there is not supported yet, and refused by its own name.
			nowhere, _ := p.spoilt(parsed(full()[p.kind][0]), func(at map[string]any) { at["misspelt"] = "x" })
			refuse(ctx, made(p.kind, nowhere), `unknown field "misspelt"`, p.name())
		})
	}

	It("is what the full objects have none of", func(ctx SpecContext) {
		for kind, specs := range full() {
			for _, text := range specs {
				Expect(try(ctx, strict, made(kind, parsed(text)))).To(Succeed())
			}
		}
	})

	DescribeTable("is refused in words that help", func(ctx SpecContext, change, words string) {
		refuse(ctx, object("RolloutPolicy", leastPolicy, change), words)
	},
		Entry(nil, `clusters: {managmentClusterSelector: {matchLabels: {region: eu}}}`,
			`spec.clusters: unknown field "managmentClusterSelector"; accepted: all, managementClusterSelector, names, selector`),
		Entry(nil, `clusters: {selector: {matchExpresions: []}}`,
			`spec.clusters.selector: unknown field "matchExpresions"; accepted: matchExpressions, matchLabels`),
		Entry(nil, `waves: [{name: a, percent: 10}, {name: b, percent: 20, maxConcurency: 1}]`,
			`spec.waves[]: unknown field "maxConcurency"; accepted: approval, deadline, maxConcurrency, maxFailures, `),
		Entry(nil, `upgrade: {oder: WorkersOnly}`, `spec.upgrade: unknown field "oder"; accepted: machine, `),
		Entry("every wave's", `waves: [{name: a, percent: 10, max: 1}, {name: b, rest: true, soak: 1h}]`,
			`spec.waves[]: unknown field "max", "soak"; accepted: `),
		Entry("a name of another case", `Paused: true`, `spec: unknown field "Paused"; accepted: `),
		Entry("a name that CEL would read", `{"a' + \"b": true}`, `spec: unknown field "a' + "b"; accepted: `),
	)

	It("is no label, whose names are free", func(ctx SpecContext) {
		Expect(try(ctx, strict, object("RolloutPolicy", leastPolicy,
			`clusters: {selector: {matchLabels: {selectr: prod}}}`))).To(Succeed())
	})
})

var _ = Describe("law 21: an object that is there already", Ordered, func() {
	var policy *unstructured.Unstructured
	lenientPatch := func(ctx SpecContext, patch client.Patch, options ...client.PatchOption) error {
		return lenient.Patch(ctx, policy.DeepCopy(), patch, options...)
	}

	BeforeAll(func(ctx SpecContext) {
		policy = object("RolloutPolicy", leastPolicy, `paused: true`)
		Expect(strict.Create(ctx, policy)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(hub.Delete(ctx, policy)).To(Succeed()) })
	})

	It("gets no misspelt field by a patch", func(ctx SpecContext) {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"puased":true}}`))
		Expect(lenientPatch(ctx, patch)).To(MatchError(ContainSubstring(`spec: unknown field "puased"`)))
	})

	It("gets none by server-side apply", func(ctx SpecContext) {
		applied := object("RolloutPolicy", leastPolicy, `waves: [{name: rest, rest: true, maxFailure: 1}]`)
		err := lenient.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("git"))
		Expect(err).To(MatchError(ContainSubstring(`spec.waves[]: unknown field "maxFailure"`)))
	})

	It("merges its waves by name in server-side apply", func(ctx SpecContext) {
		applied := object("RolloutPolicy", `waves: [{name: rest, maxFailures: 2}]`, "")
		Expect(strict.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("git"))).To(Succeed())
		got := policy.DeepCopy()
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(policy), got)).To(Succeed())
		Expect(got.Object["spec"]).To(HaveKeyWithValue("waves",
			ConsistOf(map[string]any{"name": "rest", "rest": true, "maxFailures": int64(2)})))
	})
})

// Should the policies be missing, what they would have refused is stored as it was written, and the hub says so.
var _ = Describe("law 21: an object with a misspelt field from before the policies", Ordered, Serial, func() {
	var policy *unstructured.Unstructured

	BeforeAll(func(ctx SpecContext) {
		var bindings admissionv1.ValidatingAdmissionPolicyBindingList
		Expect(hub.List(ctx, &bindings)).To(Succeed())
		Expect(bindings.Items).To(HaveLen(6))
		for i := range bindings.Items {
			Expect(hub.Delete(ctx, &bindings.Items[i])).To(Succeed())
		}
		Expect(server.Unguarded(ctx)).To(Succeed())
		policy = object("RolloutPolicy", leastPolicy,
			`{puased: true, clusters: {selector: {matchExpresions: [{key: a}]}}}`)
		Expect(lenient.Create(ctx, policy)).To(Succeed())
		for i := range bindings.Items {
			bindings.Items[i].ResourceVersion = ""
			Expect(hub.Create(ctx, &bindings.Items[i])).To(Succeed())
		}
		Expect(server.Guarded(ctx)).To(Succeed())
	})

	stored := func(ctx SpecContext) map[string]any {
		got := policy.DeepCopy()
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(policy), got)).To(Succeed())
		return got.Object["spec"].(map[string]any)
	}

	It("is read with its path", func(ctx SpecContext) {
		var read fleetv1.RolloutPolicy
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(policy), &read)).To(Succeed())
		Expect(read.Spec.Unknown).To(ConsistOf("spec.puased", "spec.clusters.selector.matchExpresions"))
		var list fleetv1.RolloutPolicyList
		Expect(hub.List(ctx, &list, client.InNamespace(env.HubNamespace))).To(Succeed())
		Expect(list.Items).To(ContainElement(HaveField("Spec.Unknown", HaveLen(2))))
	})

	It("keeps the field through what the hub writes", func(ctx SpecContext) {
		before := maps.Clone(stored(ctx))
		var p fleetv1.RolloutPolicy
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(policy), &p)).To(Succeed())
		base := p.DeepCopy()
		meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
			Type: fleetv1.ReadyCondition, Status: metav1.ConditionFalse, Reason: fleetv1.UnknownFieldReason,
		})
		Expect(hub.Status().Patch(ctx, &p, client.MergeFrom(base))).To(Succeed())
		Expect(stored(ctx)).To(Equal(before))
		Expect(p.Spec.Unknown).To(HaveLen(2))
	})

	It("can be labelled, let go by a finalizer, and put right, but not spoilt further", func(ctx SpecContext) {
		patch := func(text string) error {
			return lenient.Patch(ctx, policy.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)))
		}
		Expect(patch(`{"metadata":{"labels":{"a":"b"},"finalizers":["test/hold"]}}`)).To(Succeed())
		Expect(patch(`{"metadata":{"finalizers":null}}`)).To(Succeed())
		Expect(patch(`{"spec":{"paused":true}}`)).To(MatchError(ContainSubstring("unknown field")))
		Expect(patch(`{"spec":{"puased":null,"paused":true,"clusters":{"selector":{"matchExpresions":null}}}}`)).To(Succeed())
		Expect(hub.Delete(ctx, policy)).To(Succeed())
	})
})
