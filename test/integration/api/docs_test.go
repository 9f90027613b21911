// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// block is an example of a page: an object, or parts of a status.
type block struct{ page, text string }

func examples() []block {
	pages, err := filepath.Glob("../../../docs/spec/*.md")
	if err != nil {
		panic(err)
	}
	var all []block
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			panic(err)
		}
		for _, rest := range strings.Split(string(data), "```yaml\n")[1:] {
			text, _, _ := strings.Cut(rest, "```")
			all = append(all, block{filepath.Base(page), text})
		}
	}
	return all
}

var _ = Describe("docs/spec", func() {
	for i, example := range examples() {
		It(fmt.Sprintf("has examples that hold: %d, in %s", i, example.page), func(ctx SpecContext) {
			if strings.HasPrefix(example.text, "apiVersion: ") {
				o := &unstructured.Unstructured{}
				Expect(yaml.UnmarshalStrict([]byte(example.text), &o.Object)).To(Succeed())
				Expect(try(ctx, strict, o)).To(Succeed())
				return
			}
			var status struct {
				Conditions []metav1.Condition    `json:"conditions"`
				Engine     *fleetv1.EngineStatus `json:"engine"`
			}
			Expect(yaml.UnmarshalStrict([]byte(example.text), &status)).To(Succeed())
			Expect(len(status.Conditions) > 0 || status.Engine != nil).To(BeTrue(), "an example shows something")
			words, err := os.ReadFile("../../../docs/status.md")
			Expect(err).NotTo(HaveOccurred())
			for _, c := range status.Conditions {
				Expect(c.Status).To(BeElementOf(metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown))
				Expect(string(words)).To(ContainSubstring("| `"+c.Reason+"` |"), "docs/status.md explains every reason")
			}
		})
	}

	It("shows every condition type of each kind", func() {
		for page, types := range map[string][]string{
			"managementclusters.md":   {"Ready", "Reachable", "Authorized", "ClusterAPIInstalled"},
			"workloadclusters.md":     {"Healthy", "Paused"},
			"rolloutpolicies.md":      {"Ready"},
			"rollouts.md":             {"Ready", "Reconciling", "Stalled"},
			"clusterupgrades.md":      {"Ready", "Reconciling", "Stalled"},
			"maintenancecalendars.md": {"Ready"},
			"freezes.md":              {"Active"},
			"approvals.md":            {"Valid"},
		} {
			data, err := os.ReadFile(filepath.Join("../../../docs/spec", page))
			Expect(err).NotTo(HaveOccurred())
			for _, kind := range types {
				Expect(string(data)).To(ContainSubstring("{type: "+kind+", "), page)
			}
		}
	})
})
