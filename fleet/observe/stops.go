// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// freezes are those that touch a cluster of the rollout, by name.
func (b *builder) freezes() []policy.Freeze {
	var list []policy.Freeze
	for _, fz := range b.hub.Freezes {
		s := &fz.Spec
		f := policy.Freeze{
			Name: fz.Name, Reason: s.Reason, By: s.By, From: floor(s.From), Until: ceil(s.Until),
			Created: fz.CreationTimestamp.Time, NewClustersOnly: s.Effect == fleetv1.FreezeNoNewClusters,
		}
		if fz.Namespace != b.hub.Rollout.Namespace {
			f.Name = fz.Namespace + "/" + fz.Name
		}
		f.All, f.Clusters = b.covered(s)
		if f.All || len(f.Clusters) > 0 {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b policy.Freeze) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// covered is what a Freeze covers of the rollout: all of it, or some clusters.
func (b *builder) covered(s *fleetv1.FreezeSpec) (all bool, some map[string]bool) {
	scope := &s.Scope
	selects, err := selectorOf("spec.scope.selector", scope.Selector, false)
	switch {
	case err != nil, misspelt(s.Unknown, "spec.scope"), scope.Selector == nil && scopeless(scope):
		return true, nil // a brake whose scope cannot be read stops all (law 21)
	case value(scope.All), slices.Contains(scope.Policies, b.hub.Rollout.Spec.Policy.Name):
		return true, nil
	case scope.Selector == nil && len(scope.Clusters) == 0 && len(scope.ManagementClusters) == 0:
		return false, nil
	}
	some = map[string]bool{}
	clusters, members := set(scope.Clusters), set(scope.ManagementClusters)
	for _, cu := range b.mine {
		wc := b.recorded(cu)
		if members[cu.Spec.ManagementCluster] || (len(clusters) > 0 && clusters[cu.Path()]) ||
			(selects != nil && wc != nil && selects.Matches(labels.Set(wc.Labels))) {
			some[cu.Name] = true
		}
	}
	return false, some
}

func scopeless(s *fleetv1.FreezeScope) bool {
	return !value(s.All) && len(s.Policies) == 0 && len(s.Clusters) == 0 && len(s.ManagementClusters) == 0
}

// misspelt: the field, or one below it, is not known, or something could not be read, so that it may be missing.
func misspelt(unknown []string, field string) bool {
	return slices.ContainsFunc(unknown, func(path string) bool {
		return path == field || strings.HasPrefix(path, field+".") || strings.HasPrefix(path, fleetv1.UnreadablePrefix)
	})
}

// approvals are those that name the rollout, by name. One with a field that is not known does not count.
func (b *builder) approvals() []policy.Approval {
	var list []policy.Approval
	for _, a := range b.hub.Approvals {
		s := &a.Spec
		if a.Namespace != b.hub.Rollout.Namespace || s.Rollout != b.hub.Rollout.Name || len(s.Unknown) > 0 ||
			!a.DeletionTimestamp.IsZero() {
			continue
		}
		list = append(list, policy.Approval{
			Name: a.Name, By: s.By, Wave: s.Wave, Digest: s.PlanDigest, Rejected: s.Decision != fleetv1.DecisionApproved,
			Reason: s.Reason, At: a.CreationTimestamp.Time, ExpiresAt: floor(s.ExpiresAt),
			Verified: b.hub.AuthorsVerified != nil && b.hub.AuthorsVerified(a),
		})
	}
	slices.SortFunc(list, func(a, b policy.Approval) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// floor and ceil read an optional time in whole seconds, as statuses hold it, towards the earlier and the later side.
func floor(t *metav1.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Truncate(time.Second)
}

func ceil(t *metav1.Time) time.Time {
	at := floor(t)
	if !at.IsZero() && at.Before(t.Time) {
		at = at.Add(time.Second)
	}
	return at
}
