// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// matching says which clusters a policy means. Names are looked up and labels are matched, each once per cluster, however
// many names there are.
type matching struct {
	all               bool
	names             map[string]bool
	clusters, members labels.Selector
	canaryNames       map[string]bool
	canaries          labels.Selector
	// namedWaves are the waves that name a cluster, ascending; perWave are their selectors, nil where there is none.
	namedWaves map[string][]int
	perWave    []labels.Selector
}

func matchers(spec *fleetv1.RolloutPolicySpec) (*matching, error) {
	m := &matching{
		all: spec.Clusters.All != nil && *spec.Clusters.All, names: set(spec.Clusters.Names),
		canaryNames: set(spec.Canaries.Names), namedWaves: map[string][]int{},
	}
	var err error
	if m.clusters, err = selectorOf("spec.clusters.selector", spec.Clusters.Selector, m.all); err != nil {
		return nil, err
	}
	m.members, err = selectorOf("spec.clusters.managementClusterSelector", spec.Clusters.ManagementClusterSelector, m.all)
	if err != nil {
		return nil, err
	}
	if m.canaries, err = selectorOf("spec.canaries.selector", spec.Canaries.Selector, false); err != nil {
		return nil, err
	}
	for i := range spec.Waves {
		s, err := selectorOf(fmt.Sprintf("spec.waves[%d].selector", i), spec.Waves[i].Selector, false)
		if err != nil {
			return nil, err
		}
		m.perWave = append(m.perWave, s)
		for name := range set(spec.Waves[i].Names) {
			m.namedWaves[name] = append(m.namedWaves[name], i)
		}
	}
	return m, nil
}

// selectorOf reads a selector; without one it is nil. An empty one would take every cluster, which nobody is taken to
// mean unless all is said (law 21).
func selectorOf(field string, s *metav1.LabelSelector, all bool) (labels.Selector, error) {
	if s == nil {
		return nil, nil
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 && !all {
		return nil, fmt.Errorf("%s: {} is empty and would take every cluster; accepted: matchLabels: {tier: prod}", field)
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; accepted: matchLabels: {tier: prod}", field, err)
	}
	return selector, nil
}

// selects: by name, or all, or by the selectors that are given; none given selects nothing (law 21).
func (m *matching) selects(wc *fleetv1.WorkloadCluster, mc *fleetv1.ManagementCluster, path string) bool {
	switch {
	case m.all, m.names[path]:
		return true
	case m.clusters == nil && m.members == nil:
		return false
	}
	return (m.clusters == nil || m.clusters.Matches(labels.Set(wc.Labels))) &&
		(m.members == nil || m.members.Matches(labels.Set(mc.Labels)))
}

func (m *matching) canary(wc *fleetv1.WorkloadCluster, path string) bool {
	return m.canaryNames[path] || (m.canaries != nil && m.canaries.Matches(labels.Set(wc.Labels)))
}

// waves are the indices of those that match, ascending.
func (m *matching) waves(wc *fleetv1.WorkloadCluster, path string) []int {
	named := m.namedWaves[path]
	matches := slices.Clone(named)
	for i, s := range m.perWave {
		if s != nil && s.Matches(labels.Set(wc.Labels)) && !slices.Contains(named, i) {
			matches = append(matches, i)
		}
	}
	slices.Sort(matches)
	return matches
}

func set(names []string) map[string]bool {
	if len(names) == 0 {
		return nil
	}
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}
