// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// No field is accepted and ignored: each that is not built yet is refused by its name.
var _ = DescribeTable("is not supported yet", func(ctx SpecContext, kind, field, change string) {
	least := map[string]string{"RolloutPolicy": leastPolicy, "ManagementCluster": leastManagementCluster}[kind]
	err := try(ctx, strict, object(kind, least, change))
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
	Expect(err).To(MatchError(And(ContainSubstring(field+": "), ContainSubstring("not supported yet"))))
},
	Entry(nil, "RolloutPolicy", "spec.target.refreshedAfter", `target: {refreshedAfter: "2026-12-01T00:00:00Z"}`),
	Entry(nil, "RolloutPolicy", "spec.canaries.soakDuration", `canaries: {soakDuration: 30m}`),
	Entry(nil, "RolloutPolicy", "spec.canaries.deadline", `canaries: {deadline: 2h}`),
	Entry(nil, "RolloutPolicy", "spec.canaries.approval", `canaries: {approval: {count: 1}}`),
	Entry(nil, "RolloutPolicy", "spec.waves[0].soakDuration", `waves: [{name: a, rest: true, soakDuration: 1h}]`),
	Entry(nil, "RolloutPolicy", "spec.waves[0].deadline", `waves: [{name: a, rest: true, deadline: 8h}]`),
	Entry(nil, "RolloutPolicy", "spec.waves[0].onDeadline", `waves: [{name: a, rest: true, onDeadline: Halt}]`),
	Entry(nil, "RolloutPolicy", "spec.waves[0].approval", `waves: [{name: a, rest: true, approval: {count: 1}}]`),
	Entry(nil, "RolloutPolicy", "spec.limits", `limits: [{per: ManagementCluster, max: 3}]`),
	Entry(nil, "RolloutPolicy", "spec.limits", `limits: []`),
	Entry(nil, "RolloutPolicy", "spec.failureBudget", `failureBudget: Reserved`),
	Entry(nil, "RolloutPolicy", "spec.calendars", `{calendars: [eu-nights], anyTime: null}`),
	Entry(nil, "RolloutPolicy", "spec.calendars", `calendars: [eu-nights]`),
	Entry(nil, "RolloutPolicy", "spec.upgrade.machine.expected", `upgrade: {machine: {expected: 10m}}`),
	Entry(nil, "RolloutPolicy", "spec.upgrade.progressDeadline", `upgrade: {progressDeadline: 4h}`),
	Entry(nil, "RolloutPolicy", "spec.upgrade.singleControlPlane", `upgrade: {singleControlPlane: AllowMarked}`),
	Entry(nil, "RolloutPolicy", "spec.unreachable", `unreachable: {grace: 10m}`),
	Entry(nil, "RolloutPolicy", "spec.deferral", `deferral: {max: 168h}`),
	Entry(nil, "RolloutPolicy", "spec.catchUp", `catchUp: {lateJoiners: Include}`),
	Entry(nil, "RolloutPolicy", "spec.priority", `priority: 0`),
	Entry(nil, "RolloutPolicy", "spec.change", `change: {reference: CHG0042}`),
	Entry(nil, "RolloutPolicy", "spec.historyLimit", `historyLimit: 5`),
	Entry(nil, "ManagementCluster", "spec.grant", `{engine: Provider, grant: Owner}`),
	Entry(nil, "ManagementCluster", "spec.grant", `{engine: null, grant: Owner}`),
	Entry(nil, "ManagementCluster", "spec.policiesFrom.from", `policiesFrom: {from: All}`),
	Entry(nil, "ManagementCluster", "spec.policiesFrom.from", `policiesFrom: {from: Selector}`),
)

var _ = DescribeTable("a ManagementCluster is refused with the field and an accepted form",
	func(ctx SpecContext, change, field, words string) {
		err := try(ctx, strict, object("ManagementCluster", leastManagementCluster, change))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(And(ContainSubstring(field+": "), ContainSubstring(words))))
	},
	Entry("no kubeconfig", `kubeconfigSecretRef: null`, "spec.kubeconfigSecretRef", "Required value"),
	Entry("an unknown engine", `engine: Robot`, "spec.engine", `"Agent", "Hub"`),
	Entry("machines for an engine that is asked by owner", `{engine: Agent, grant: Machine}`, "spec.grant", "accepted: Owner"),
	Entry("machines for a hosted engine", `{engine: Hub, grant: Machine}`, "spec.grant", "accepted: Owner"),
	Entry("an unknown access", `access: Write`, "spec.access", `"ReadOnly", "Upgrade"`),
	Entry("no concurrent cluster", `maxConcurrentClusters: 0`, "spec.maxConcurrentClusters", "must be 1 to 10000"),
)

var _ = DescribeTable("a name is refused", func(ctx SpecContext, kind, least, name, words string) {
	o := object(kind, least, ``)
	o.SetName(name)
	Expect(try(ctx, strict, o)).To(MatchError(ContainSubstring(words)))
	o.SetName(strings.Repeat("a", 40))
	Expect(try(ctx, strict, o)).To(Succeed())
},
	Entry("that is too long for a management cluster", "ManagementCluster", leastManagementCluster,
		strings.Repeat("a", 41), "must be a DNS label of at most 40 characters; accepted: mgmt-eu-1"),
	Entry("that would not split as <management cluster>/…", "ManagementCluster", leastManagementCluster,
		"mgmt.eu", "must be a DNS label of at most 40 characters"),
	Entry("that is too long for a policy", "RolloutPolicy", leastPolicy,
		strings.Repeat("a", 41), "metadata.name: must be at most 40 characters; accepted: k8s-1-33"),
)
