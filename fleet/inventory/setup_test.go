// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// TestLaw1AMemberOfTheSameNameInheritsNoClusters: what is recorded of one that was registered before is looked for in the
// new one, and forgotten where it is not there.
func TestLaw1AMemberOfTheSameNameInheritsNoClusters(t *testing.T) {
	has := make([]unstructured.Unstructured, 1)
	has[0].SetNamespace("shop")
	has[0].SetName("new")
	known := make([]fleetv1.WorkloadCluster, 1)
	known[0].Namespace = "fleet"
	known[0].Spec.ManagementCluster = "a"
	known[0].Spec.Cluster = fleetv1.ObjectRef{Namespace: "shop", Name: "old", UID: "u"}
	var got []string
	for _, r := range every(t.Context(), "fleet/a", has, known) {
		got = append(got, string(r.ClusterName)+": "+r.String())
	}
	want := []string{"fleet/a: cluster://fleet/a/shop/new", "fleet/a: cluster://fleet/a/shop/old"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
