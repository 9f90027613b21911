// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/inventory"
)

// TestC103_MachinesThatMovedWithoutARolloutAreReported: m1 and m2 go from 1.32.8 to 1.33.4 without an annotation.
func TestC103_MachinesThatMovedWithoutARolloutAreReported(t *testing.T) {
	seen := metav1.NewTime(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
	pool := func(versions ...fleetv1.VersionCount) fleetv1.WorkloadClusterStatus {
		return fleetv1.WorkloadClusterStatus{
			ObservedTime: &seen,
			ControlPlane: &fleetv1.OwnerStatus{Kind: "CK8sControlPlane", Name: "cp", ByKubelet: []fleetv1.VersionCount{at("v1.33.4", 3)}},
			Pools:        []fleetv1.OwnerStatus{{Kind: "MachineDeployment", Name: "md", ByKubelet: versions}},
		}
	}
	claimed := func(s fleetv1.WorkloadClusterStatus) fleetv1.WorkloadClusterStatus {
		s.ClaimedBy = "hub/fleet/k8s-1-33"
		return s
	}
	first := pool(at("v1.32.8", 3))
	first.ObservedTime = nil
	for name, c := range map[string]struct {
		before, now fleetv1.WorkloadClusterStatus
		says        string
	}{
		"two of three moved": {
			pool(at("v1.32.8", 3)), pool(at("v1.33.4", 2), at("v1.32.8", 1)),
			"2 machines changed their kubelet version while no rollout drove the cluster: MachineDeployment md: 2 at v1.33.4, " +
				"1 at v1.32.8, before 3 at v1.32.8",
		},
		"nothing moved":                 {pool(at("v1.32.8", 3)), pool(at("v1.32.8", 3)), ""},
		"a rollout drives the cluster":  {claimed(pool(at("v1.32.8", 3))), claimed(pool(at("v1.33.4", 3))), ""},
		"one has just taken it":         {pool(at("v1.32.8", 3)), claimed(pool(at("v1.33.4", 3))), ""},
		"one has just given it back":    {claimed(pool(at("v1.32.8", 3))), pool(at("v1.33.4", 3)), ""},
		"it is seen for the first time": {first, pool(at("v1.33.4", 3)), ""},
		"a machine came":                {pool(at("v1.32.8", 2)), pool(at("v1.32.8", 1), at("v1.33.4", 2)), ""},
		"a machine went":                {pool(at("v1.32.8", 3)), pool(at("v1.32.8", 2)), ""},
		"a machine says nothing now":    {pool(at("v1.32.8", 3)), pool(at("v1.32.8", 2), at(inventory.Unknown, 1)), ""},
		"a new machine begins to say":   {pool(at("v1.32.8", 2), at(inventory.Unknown, 1)), pool(at("v1.32.8", 2), at("v1.33.4", 1)), ""},
		"an owner is new":               {fleetv1.WorkloadClusterStatus{ObservedTime: &seen}, pool(at("v1.33.4", 3)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			condition, found := inventory.Moved(c.before, c.now)
			if found != (c.says != "") {
				t.Fatalf("reported: %t (%s)", found, condition.Message)
			}
			if !found {
				return
			}
			want := metav1.Condition{
				Type: "ExternalChange", Status: metav1.ConditionTrue, Reason: "ExternalChange", Message: c.says,
			}
			if diff := cmp.Diff(want, condition); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func at(version string, count int32) fleetv1.VersionCount {
	return fleetv1.VersionCount{Name: version, Count: count}
}
