// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kubectl asks for strict validation unless told otherwise: the misspelt field is named.
var _ = DescribeTable("a misspelt field is refused by its name where the client is strict",
	func(ctx SpecContext, change, field string) {
		err := try(ctx, strict, object("RolloutPolicy", leastPolicy, change))
		Expect(apierrors.IsBadRequest(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(`unknown field "` + field + `"`)))
	},
	Entry(nil, `maxConcurency: 1`, "spec.maxConcurency"),
	Entry(nil, `target: {chanel: 1.34-classic/stable}`, "spec.target.chanel"),
	Entry(nil, `clusters: {managmentClusterSelector: {matchLabels: {region: eu}}}`,
		"spec.clusters.managmentClusterSelector"),
	Entry(nil, `clusters: {selector: {matchExpresions: []}}`, "spec.clusters.selector.matchExpresions"),
	Entry(nil, `canaries: {name: [mgmt-a/shop/eu-1]}`, "spec.canaries.name"),
	Entry(nil, `waves: [{name: a, percent: 10, maxConcurency: 1}]`, "spec.waves[0].maxConcurency"),
	Entry(nil, `puased: true`, "spec.puased"),
	Entry(nil, `upgrade: {maxConcurrentMachine: 1}`, "spec.upgrade.maxConcurrentMachine"),
)

// A lenient client's misspelt field is dropped. What then is left is refused where it would mean more clusters, more at
// once or any time.
var _ = DescribeTable("a misspelt field that said which, how many or when is refused where the client is lenient",
	func(ctx SpecContext, change, field string) {
		err := try(ctx, lenient, object("RolloutPolicy", leastPolicy, change))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(field + ": ")))
	},
	Entry(nil, `{target: null, tarqet: {channel: 1.33-classic/stable}}`, "spec.target"),
	Entry(nil, `target: {channel: null, chanel: 1.33-classic/stable}`, "spec.target"),
	Entry(nil, `target: {channel: null, revision: "640", version: v1.33.9, architcture: amd64}`,
		"spec.target.architecture"),
	Entry(nil, `{clusters: null, cluster: {names: [mgmt-a/shop/eu-1]}}`, "spec.clusters"),
	Entry(nil, `clusters: {selector: null, selctor: {matchLabels: {tier: prod}}}`, "spec.clusters"),
	Entry(nil, `clusters: {selector: null, name: [mgmt-a/shop/eu-1]}`, "spec.clusters"),
	Entry(nil, `clusters: {selector: {matchLabels: null, matchLables: {tier: prod}}}`, "spec.clusters.selector"),
	Entry(nil, `{canaries: null, canarys: {names: [mgmt-a/shop/eu-1]}}`, "spec.canaries"),
	Entry(nil, `canaries: {names: null, name: [mgmt-a/shop/eu-1]}`, "spec.canaries"),
	Entry(nil, `canaries: {names: null, selector: {matchLabel: {tier: canary}}}`, "spec.canaries.selector"),
	Entry(nil, `{waves: null, wave: [{name: rest, rest: true}]}`, "spec.waves"),
	Entry(nil, `waves: [{name: early, precent: 10}, {name: rest, rest: true}]`, "spec.waves[0]"),
	Entry(nil, `waves: [{name: early, selector: {matchLabel: {ring: early}}}]`, "spec.waves[0].selector"),
	Entry(nil, `{anyTime: null, calender: [eu-nights]}`, "spec.anyTime"),
)

// Elsewhere it has the slowest value, which is what was left out means.
var _ = DescribeTable("a misspelt field that said how fast leaves the slowest value where the client is lenient",
	func(ctx SpecContext, change string, gone ...string) {
		policy := object("RolloutPolicy", leastPolicy, change)
		Expect(try(ctx, lenient, policy)).To(Succeed())
		spec := policy.Object["spec"].(map[string]any)
		if waves, found := spec["waves"].([]any); found && gone[0] == "waves" {
			spec, gone = waves[0].(map[string]any), gone[1:]
		}
		_, found, err := unstructured.NestedFieldNoCopy(spec, gone...)
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(BeFalse())
	},
	Entry("one cluster at a time", `waves: [{name: a, rest: true, maxConcurency: 50%}]`, "waves", "maxConcurrency"),
	Entry("no failure", `waves: [{name: a, rest: true, maxFailure: 5}]`, "waves", "maxFailures"),
	Entry("one worker at a time", `upgrade: {maxConcurrentMachine: 9}`, "upgrade", "maxConcurrentMachines"),
	Entry("no minor upgrade", `target: {minorUpgrad: Allow}`, "target", "minorUpgrade"),
	Entry("a halt where the target moves", `target: {onMove: Continue}`, "target", "onMoved"),
	Entry("no upgrade of a single control plane", `upgrade: {singleControlPlan: Allow}`, "upgrade", "singleControlPlane"),
)

// The same for a management cluster: what is dropped leaves it read-only, or refused.
var _ = Describe("a misspelt field of a management cluster", func() {
	It("leaves it read-only where it was the access", func(ctx SpecContext) {
		mc := object("ManagementCluster", leastManagementCluster, `acess: Upgrade`)
		Expect(try(ctx, lenient, mc)).To(Succeed())
		Expect(mc.Object["spec"]).To(HaveKeyWithValue("access", "ReadOnly"))
	})

	It("is refused where it was the engine", func(ctx SpecContext) {
		err := try(ctx, lenient, object("ManagementCluster", leastManagementCluster, `{engine: null, engin: Hub}`))
		Expect(err).To(MatchError(ContainSubstring("spec.engine: ")))
	})
})
