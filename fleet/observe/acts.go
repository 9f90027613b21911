// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// FreezeSpan is when a Freeze is in force, half-open, in whole seconds as decisions take it. A zero from: since ever; a zero
// until: until it is deleted.
func FreezeSpan(s *fleetv1.FreezeSpec) (from, until time.Time) { return floor(s.From), ceil(s.Until) }

// ApprovalExpiry is when an Approval counts no longer, as decisions take it; zero: never.
func ApprovalExpiry(s *fleetv1.ApprovalSpec) time.Time { return floor(s.ExpiresAt) }

// FreezeUnreadable: the scope of a Freeze cannot be read, so that it stops all (law 21).
func FreezeUnreadable(s *fleetv1.FreezeSpec) bool {
	_, err := selectorOf("spec.scope.selector", s.Scope.Selector, false)
	return err != nil || misspelt(s.Unknown, "spec.scope") || s.Scope.Selector == nil && scopeless(&s.Scope)
}

// Frozen counts the clusters that a Freeze covers: of those that are recorded, and of those that rollouts of the policies
// that it names are for, by the UID of their WorkloadClusters.
func Frozen(s *fleetv1.FreezeSpec, clusters []*fleetv1.WorkloadCluster, members map[string]map[types.UID]bool) int {
	if FreezeUnreadable(s) || value(s.Scope.All) {
		return len(clusters)
	}
	covered := map[types.UID]bool{}
	for _, policy := range s.Scope.Policies {
		for uid := range members[policy] {
			covered[uid] = true
		}
	}
	selects, _ := selectorOf("spec.scope.selector", s.Scope.Selector, false) // looked at above
	for _, wc := range clusters {
		if slices.Contains(s.Scope.ManagementClusters, wc.Spec.ManagementCluster) ||
			slices.Contains(s.Scope.Clusters, wc.Path()) || selects != nil && selects.Matches(labels.Set(wc.Labels)) {
			covered[wc.UID] = true
		}
	}
	return len(covered)
}
