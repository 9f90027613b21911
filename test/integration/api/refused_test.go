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
	err := try(ctx, strict, object(kind, least(kind), change))
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
	Expect(err).To(MatchError(And(ContainSubstring(field+": "), ContainSubstring("not supported yet"))))
},
	Entry(nil, "RolloutPolicy", "spec.catchUp.drift", `catchUp: {drift: Correct}`),
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
