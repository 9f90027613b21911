// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// others lists the recorded clusters that are in none of the rollouts shown.
func (x *index) others(shown []Rollout) []Cluster {
	taken := map[*fleetv1.WorkloadCluster]bool{}
	for _, ro := range shown {
		for _, cu := range x.upgrades[key{ro.Namespace, ro.Name}] {
			taken[x.recorded(cu)] = true
		}
	}
	var list []Cluster
	for i := range x.WorkloadClusters {
		wc := &x.WorkloadClusters[i]
		if taken[wc] {
			continue
		}
		c := x.seen(key{wc.Namespace, wc.Spec.ManagementCluster}, wc)
		c.Name = wc.Path()
		for _, o := range c.Owners {
			c.MachinesLeftOff += o.Total
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// scope is what a report covers: each cluster once, whatever the number of rollouts it is in.
type scope struct {
	members  map[key]bool
	clusters []Cluster
}

func (x *index) scope(r Report) scope {
	s := scope{members: map[key]bool{}, clusters: slices.Clone(r.OtherClusters)}
	known := map[key]bool{}
	for _, ro := range r.Rollouts {
		for _, w := range ro.Waves {
			for _, c := range w.Clusters {
				s.members[key{c.Namespace, c.ManagementCluster}] = true
				if id := (key{c.Namespace, c.Name}); !known[id] {
					known[id] = true
					s.clusters = append(s.clusters, c)
				}
			}
		}
	}
	return s
}

// sum adds up a report.
func sum(r Report, clusters []Cluster) Fleet {
	f := Fleet{ManagementClusters: len(r.ManagementClusters), WorkloadClusters: len(clusters)}
	for _, mc := range r.ManagementClusters {
		if mc.Reachable == string(metav1.ConditionTrue) {
			f.Reachable++
		}
	}
	release, kubelet := map[string]int{}, map[string]int{}
	for _, c := range clusters {
		switch metav1.ConditionStatus(c.Healthy) {
		case metav1.ConditionTrue:
			f.Healthy++
		case metav1.ConditionFalse:
			f.Unhealthy++
		case metav1.ConditionUnknown:
			f.Unknown++
		}
		for _, o := range c.Owners {
			f.Machines += add(kubelet, o.ByKubelet)
			add(release, o.ByRelease)
		}
	}
	f.ByRelease, f.ByKubelet = ranked(release), ranked(kubelet)
	for _, ro := range r.Rollouts {
		if u := ro.Upgrades; ro.Current {
			f.Upgrades = Upgrades{
				Done: f.Upgrades.Done + u.Done, Total: f.Upgrades.Total + u.Total, Active: f.Upgrades.Active + u.Active,
				Failed: f.Upgrades.Failed + u.Failed, Deferred: f.Upgrades.Deferred + u.Deferred,
			}
		}
	}
	return f
}

func add(to map[string]int, counts []Count) int {
	all := 0
	for _, c := range counts {
		to[c.Name] += c.Count
		all += c.Count
	}
	return all
}

// ranked lists counts, most first, then by name.
func ranked(of map[string]int) []Count {
	list := []Count{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, Count{Name: name, Count: of[name]})
	}
	slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(b.Count, a.Count) })
	return list
}
