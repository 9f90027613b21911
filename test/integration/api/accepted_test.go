// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Each entry changes the least object of its kind to another form that the hub understands.
var _ = DescribeTable("is accepted", func(ctx SpecContext, kind, change string) {
	Expect(try(ctx, strict, object(kind, least(kind), change))).To(Succeed())
},
	Entry("the least policy", "RolloutPolicy", ``),
	Entry("a channel with the version that must be reached", "RolloutPolicy", `target: {version: v1.33.9}`),
	Entry("a channel that is a track alone", "RolloutPolicy", `target: {channel: "1.33"}`),
	Entry("a channel with a branch", "RolloutPolicy", `target: {channel: 1.33-classic/stable/fix-1}`),
	Entry("a nameless track with a version", "RolloutPolicy", `target: {channel: latest/edge, version: v1.34.0-rc.1}`),
	Entry("a risk alone with a version", "RolloutPolicy", `target: {channel: stable, version: v1.34.1}`),
	Entry("a revision", "RolloutPolicy",
		`target: {channel: null, revision: "640", version: v1.33.9, architecture: amd64}`),
	Entry("a local path", "RolloutPolicy", `target: {channel: null, localPath: /var/snaps/k8s.snap, version: v1.33.9}`),
	Entry("a minor upgrade, and a moved target", "RolloutPolicy",
		`target: {minorUpgrade: Allow, onMoved: Continue}`),
	Entry("clusters of chosen management clusters", "RolloutPolicy",
		`clusters: {selector: null, managementClusterSelector: {matchLabels: {region: eu}}}`),
	Entry("clusters by both selectors", "RolloutPolicy",
		`clusters: {managementClusterSelector: {matchExpressions: [{key: region, operator: In, values: [eu]}]}}`),
	Entry("clusters by name", "RolloutPolicy", `clusters: {selector: null, names: [mgmt-a/shop/eu-1, mgmt-b/shop/eu.2]}`),
	Entry("all clusters", "RolloutPolicy", `clusters: {selector: null, all: true}`),
	Entry("an empty selector with all: true", "RolloutPolicy", `clusters: {selector: {matchLabels: null}, all: true}`),
	Entry("canaries by selector", "RolloutPolicy", `canaries: {names: null, selector: {matchLabels: {tier: canary}}}`),
	Entry("no canaries, said", "RolloutPolicy", `canaries: {names: null, none: true}`),
	Entry("every kind of wave", "RolloutPolicy", `
waves:
- {name: named, names: [mgmt-a/shop/eu-2], maxConcurrency: 1, maxFailures: 0}
- {name: chosen, selector: {matchLabels: {ring: early}}, maxConcurrency: 10%, maxFailures: 0%}
- {name: tenth, percent: 10, maxConcurrency: 100%, maxFailures: 100%}
- {name: all-but, percent: 90}
- {name: rest, rest: true, maxConcurrency: 25%, maxFailures: 2}`),
	Entry("waves without a rest", "RolloutPolicy", `waves: [{name: half, percent: 50}]`),
	Entry("a paused policy", "RolloutPolicy", `paused: true`),
	Entry("the budget that counts what was seen", "RolloutPolicy", `failureBudget: Observed`),
	Entry("every upgrade setting", "RolloutPolicy", `
upgrade:
  order: WorkersOnly
  maxConcurrentMachines: 4
  singleControlPlane: Allow
  machine: {timeout: 1h30m, maxAttempts: 5, backoff: 90s}`),
	Entry("durations as Go writes them", "RolloutPolicy", `upgrade: {machine: {timeout: 1h0m1.5s, backoff: 0s}}`),

	Entry("the least management cluster", "ManagementCluster", ``),
	Entry("one with the controllers that it has", "ManagementCluster", `{engine: Provider, grant: Machine}`),
	Entry("one whose engine is not said", "ManagementCluster", `{engine: null, grant: Machine}`),
	Entry("every setting of one", "ManagementCluster", `
engine: Hub
grant: Owner
access: Upgrade
namespaces: [shop]
maxConcurrentClusters: 3
policiesFrom: {from: Same}`),
)

var _ = Describe("what is left out", func() {
	It("gives a management cluster read-only access", func(ctx SpecContext) {
		mc := object("ManagementCluster", leastManagementCluster, ``)
		Expect(try(ctx, strict, mc)).To(Succeed())
		Expect(mc.Object["spec"]).To(HaveKeyWithValue("access", "ReadOnly"))
	})

	It("takes the controllers that a management cluster has", func(ctx SpecContext) {
		mc := object("ManagementCluster", leastManagementCluster, `engine: null`)
		Expect(try(ctx, strict, mc)).To(Succeed())
		Expect(mc.Object["spec"]).To(HaveKeyWithValue("engine", "Provider"))
	})

	It("is left out of a policy that the API server stores, so that Git and hub see the same", func(ctx SpecContext) {
		policy := object("RolloutPolicy", leastPolicy, `upgrade: {machine: {}}`)
		asked := policy.DeepCopy()
		Expect(try(ctx, strict, policy)).To(Succeed())
		Expect(policy.Object["spec"]).To(Equal(asked.Object["spec"]))
	})
})

var _ = Describe("the samples", func() {
	files, err := filepath.Glob("../../../config/samples/*.yaml")
	if err != nil {
		panic(err)
	}
	fleet500, err := filepath.Glob("../../../config/samples/fleet-500/*.yaml")
	if err != nil {
		panic(err)
	}
	for _, file := range slices.Concat(files, fleet500) {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		It("are accepted: "+filepath.Base(file), func(ctx SpecContext) {
			data, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			for document := range strings.SplitSeq(string(data), "\n---\n") {
				sample := &unstructured.Unstructured{}
				Expect(yaml.UnmarshalStrict([]byte(document), &sample.Object)).To(Succeed())
				Expect(try(ctx, strict, sample)).To(Succeed())
			}
		})
	}

	It("are there for each kind that people write", func() {
		Expect(files).To(ContainElements(
			HaveSuffix("/managementcluster.yaml"), HaveSuffix("/rolloutpolicy.yaml"), HaveSuffix("/maintenancecalendar.yaml"),
			HaveSuffix("/freeze.yaml"), HaveSuffix("/approval.yaml"), HaveSuffix("/kustomization.yaml")))
		Expect(fleet500).To(ContainElements(
			HaveSuffix("/policy.yaml"), HaveSuffix("/calendars.yaml"), HaveSuffix("/holiday.yaml")))
	})
})

// A typed client must be able to write what the types can say: nothing that Go adds on its own is refused.
var _ = It("accepts a policy from Go", func(ctx SpecContext) {
	policy := &fleetv1.RolloutPolicy{}
	policy.Namespace, policy.Name = "fleet", "typed"
	policy.Spec = fleetv1.RolloutPolicySpec{
		Target:   fleetv1.Target{Channel: new("1.33-classic/stable")},
		Clusters: fleetv1.ClusterSelection{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}},
		Canaries: fleetv1.Canaries{None: new(true)},
		Waves:    []fleetv1.Wave{{Name: "rest", Rest: new(true)}},
		AnyTime:  new(true),
	}
	Expect(try(ctx, strict, policy)).To(Succeed())
	policy.Spec.AnyTime = nil
	Expect(apierrors.IsInvalid(try(ctx, strict, policy))).To(BeTrue())
})
