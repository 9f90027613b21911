// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// limits are those of the policy, each with what other rollouts have in flight.
func (b *builder) limits() []policy.Limit {
	if b.hub.Policy == nil {
		return nil
	}
	var list []policy.Limit
	for _, s := range b.hub.Policy.Spec.Limits {
		l := policy.Limit{Label: s.PerLabel, Max: int(s.Max), Elsewhere: map[string]int{}}
		for _, cu := range b.elsewhere {
			l.Elsewhere[b.group(s, cu)]++
		}
		list = append(list, l)
	}
	return list
}

// groups are those that the limits count a cluster under.
func (b *builder) groups(cu *fleetv1.ClusterUpgrade) []string {
	if b.hub.Policy == nil || len(b.hub.Policy.Spec.Limits) == 0 {
		return nil
	}
	list := make([]string, len(b.hub.Policy.Spec.Limits))
	for i, s := range b.hub.Policy.Spec.Limits {
		list[i] = b.group(s, cu)
	}
	return list
}

// group is the management cluster, or the value of the label; clusters without the label are one group.
func (b *builder) group(s fleetv1.Limit, cu *fleetv1.ClusterUpgrade) string {
	if s.PerLabel == "" {
		return cu.Spec.ManagementCluster
	}
	if wc := b.recorded(cu); wc != nil {
		return wc.Labels[s.PerLabel]
	}
	return ""
}
