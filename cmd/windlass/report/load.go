// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Input is what a report is built from: the hub's objects of one namespace or of all, in any order.
type Input struct {
	// Namespace that was read; empty: all. Policy to report on; empty: all.
	Namespace, Policy string
	// The objects.
	ManagementClusters []fleetv1.ManagementCluster
	WorkloadClusters   []fleetv1.WorkloadCluster
	Policies           []fleetv1.RolloutPolicy
	Rollouts           []fleetv1.Rollout
	ClusterUpgrades    []fleetv1.ClusterUpgrade
}

// Load reads the hub's objects of a namespace; an empty one reads all. It writes nothing and reads no member.
func Load(ctx context.Context, hub client.Reader, namespace string) (Input, error) {
	var (
		members  fleetv1.ManagementClusterList
		clusters fleetv1.WorkloadClusterList
		policies fleetv1.RolloutPolicyList
		rollouts fleetv1.RolloutList
		upgrades fleetv1.ClusterUpgradeList
	)
	for _, of := range []struct {
		kind string
		list client.ObjectList
	}{
		{"ManagementClusters", &members},
		{"WorkloadClusters", &clusters},
		{"RolloutPolicies", &policies},
		{"Rollouts", &rollouts},
		{"ClusterUpgrades", &upgrades},
	} {
		if err := hub.List(ctx, of.list, client.InNamespace(namespace)); err != nil {
			return Input{}, fmt.Errorf("listing %s: %w", of.kind, err)
		}
	}
	return Input{
		Namespace: namespace, ManagementClusters: members.Items, WorkloadClusters: clusters.Items,
		Policies: policies.Items, Rollouts: rollouts.Items, ClusterUpgrades: upgrades.Items,
	}, nil
}
