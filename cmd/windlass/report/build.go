// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Build makes the report of a fleet at an instant. It fails only with an *UnknownPolicyError.
func Build(in Input, now time.Time) (Report, error) {
	x := newIndex(in)
	if !x.knows(in.Policy) {
		return Report{}, &UnknownPolicyError{Policy: in.Policy, Namespace: in.Namespace, Known: x.policyNames()}
	}
	r := Report{
		APIVersion: APIVersion, Kind: Kind, Time: metav1.NewTime(now.UTC().Truncate(time.Second)),
		Namespace: in.Namespace, Policy: in.Policy,
		ManagementClusters: []ManagementCluster{}, Policies: x.policies(), Rollouts: x.rollouts(),
	}
	if in.Policy == "" {
		r.OtherClusters = x.others(r.Rollouts)
	}
	scope := x.scope(r)
	for _, mc := range in.ManagementClusters {
		if in.Policy == "" || scope.members[keyOf(&mc)] {
			r.ManagementClusters = append(r.ManagementClusters, managementCluster(mc))
		}
	}
	slices.SortFunc(r.ManagementClusters, func(a, b ManagementCluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	r.Fleet = sum(r, scope.clusters)
	return r, nil
}

// key names an object of one kind.
type key struct{ namespace, name string }

func keyOf(o metav1.Object) key { return key{o.GetNamespace(), o.GetName()} }

// index finds the objects of an input.
type index struct {
	Input
	members  map[key]*fleetv1.ManagementCluster
	clusters map[key]*fleetv1.WorkloadCluster
	// upgrades of a Rollout, in plan order.
	upgrades map[key][]*fleetv1.ClusterUpgrade
	// current is the name of the current Rollout of each policy that exists.
	current map[key]string
}

func newIndex(in Input) *index {
	x := &index{
		Input: in, members: map[key]*fleetv1.ManagementCluster{}, clusters: map[key]*fleetv1.WorkloadCluster{},
		upgrades: map[key][]*fleetv1.ClusterUpgrade{}, current: map[key]string{},
	}
	for i := range in.ManagementClusters {
		x.members[keyOf(&in.ManagementClusters[i])] = &in.ManagementClusters[i]
	}
	for i := range in.WorkloadClusters {
		x.clusters[keyOf(&in.WorkloadClusters[i])] = &in.WorkloadClusters[i]
	}
	for i := range in.ClusterUpgrades {
		cu := &in.ClusterUpgrades[i]
		of := key{cu.Namespace, cu.Spec.Rollout.Name}
		x.upgrades[of] = append(x.upgrades[of], cu)
	}
	for _, list := range x.upgrades {
		slices.SortFunc(list, func(a, b *fleetv1.ClusterUpgrade) int {
			return cmp.Or(cmp.Compare(a.Spec.Position, b.Spec.Position), cmp.Compare(a.Path(), b.Path()))
		})
	}
	for _, p := range in.Policies {
		x.current[keyOf(&p)] = x.currentOf(p)
	}
	return x
}

// currentOf names the current Rollout of a policy: the one its status names, else the newest.
func (x *index) currentOf(p fleetv1.RolloutPolicy) string {
	name, number := "", int64(-1)
	for _, ro := range x.Rollouts {
		if ro.Namespace != p.Namespace || ro.Spec.Policy.Name != p.Name || ro.Spec.Policy.UID != p.UID {
			continue
		}
		if ro.Name == p.Status.Rollout {
			return ro.Name
		}
		if ro.Spec.Number > number {
			name, number = ro.Name, ro.Spec.Number
		}
	}
	return name
}

// knows reports whether a policy of this name exists, or has left a Rollout; the empty name stands for all.
func (x *index) knows(policy string) bool {
	return policy == "" || slices.Contains(x.policyNames(), policy)
}

func (x *index) policyNames() []string {
	var names []string
	for _, p := range x.Policies {
		names = append(names, p.Name)
	}
	for _, ro := range x.Rollouts {
		names = append(names, ro.Spec.Policy.Name)
	}
	return names
}

func (x *index) asked(policy string) bool { return x.Policy == "" || x.Policy == policy }

func (x *index) policies() []Policy {
	list := []Policy{}
	for _, p := range x.Policies {
		if x.asked(p.Name) {
			list = append(list, policyOf(p, x.current[keyOf(&p)]))
		}
	}
	slices.SortFunc(list, func(a, b Policy) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func policyOf(p fleetv1.RolloutPolicy, current string) Policy {
	ready, why := condition(p.Status.Conditions, fleetv1.ReadyCondition)
	return Policy{
		Namespace: p.Namespace, Name: p.Name, Target: cmp.Or(p.Status.Target, target(p.Spec.Target)),
		Ready: ready, Paused: p.Spec.Paused, Settled: p.Status.ObservedGeneration >= p.Generation, Why: why,
		Rollout: current, Selected: int(p.Status.Selected), Canaries: int(p.Status.Canaries),
	}
}

func managementCluster(mc fleetv1.ManagementCluster) ManagementCluster {
	ready, why := condition(mc.Status.Conditions, fleetv1.ReadyCondition)
	m := ManagementCluster{
		Namespace: mc.Namespace, Name: mc.Name, Engine: string(mc.Spec.Engine), Access: string(mc.Spec.Access),
		Ready: ready, Why: why, Seen: mc.Status.LastProbeTime, ServerVersion: mc.Status.ServerVersion,
		CredentialExpiry: mc.Status.CredentialExpiry,
	}
	m.Reachable, _ = condition(mc.Status.Conditions, fleetv1.ReachableCondition)
	m.Clusters, m.Machines = number(mc.Status.Clusters), number(mc.Status.Machines)
	return m
}

// condition reads one condition: its status, and why unless it is True. Absent is Unknown.
func condition(list []metav1.Condition, kind string) (string, *Why) {
	c := meta.FindStatusCondition(list, kind)
	switch {
	case c == nil:
		return string(metav1.ConditionUnknown), nil
	case c.Status == metav1.ConditionTrue:
		return string(c.Status), nil
	}
	return string(c.Status), &Why{Reason: c.Reason, Message: c.Message, Since: instant(&c.LastTransitionTime)}
}

// target writes a target as the annotation carries it.
func target(t fleetv1.Target) string {
	switch {
	case t.Channel != nil:
		return protocol.Target{Option: protocol.Channel, Value: *t.Channel}.String()
	case t.Revision != nil:
		return protocol.Target{Option: protocol.Revision, Value: *t.Revision}.String()
	case t.LocalPath != nil:
		return protocol.Target{Option: protocol.LocalPath, Value: *t.LocalPath}.String()
	}
	return ""
}

func instant(t *metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return t
}

func number(n *int32) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
