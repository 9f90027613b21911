// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// upgraded is a cluster in a rollout. Its machines come from the ClusterUpgrade, its counts from the inventory.
func (x *index) upgraded(cu *fleetv1.ClusterUpgrade, ofWave *Why) Cluster {
	s := cu.Status
	c := x.seen(key{cu.Namespace, cu.Spec.ManagementCluster}, x.recorded(cu))
	c.Name, c.Wave, c.Position = cu.Path(), cu.Spec.Wave, int(cu.Spec.Position)
	c.Phase = cmp.Or(string(s.Phase), string(fleetv1.UpgradePending))
	c.Why = upgradeWhy(cu, ofWave)
	if cu.Spec.Ineligible != nil {
		c.Phase = string(fleetv1.UpgradeIneligible)
	}
	c.Attempts, c.MaxAttempts = int(s.Attempts), int(cu.Spec.Upgrade.Machine.MaxAttempts)
	c.Machine, c.LastError = s.CurrentMachine, s.LastError
	c.StartedAt, c.EndedAt = instant(s.StartedAt), instant(s.EndedAt)
	c.Owners = owners(cu, c.Owners)
	c.Machines = machines(cu, c.Owners)
	known := 0
	for _, o := range c.Owners {
		known += o.Total
		of := &c.Workers
		if o.Role == string(fleetv1.RoleControlPlane) {
			of = &c.ControlPlane
		}
		of.Done, of.Total = of.Done+o.Done, of.Total+o.Total
	}
	c.MachinesLeftOff = max(0, known-len(c.Machines))
	return c
}

// recorded finds the WorkloadCluster of an upgrade; one of another identity is another cluster (law 1).
func (x *index) recorded(cu *fleetv1.ClusterUpgrade) *fleetv1.WorkloadCluster {
	wc := x.clusters[key{cu.Namespace, cu.Spec.WorkloadCluster.Name}]
	if wc == nil || wc.Spec.Cluster.UID != cu.Spec.Cluster.UID {
		return nil
	}
	return wc
}

// upgradeWhy is an upgrade's own reason, or that of its wave while its turn has not come.
func upgradeWhy(cu *fleetv1.ClusterUpgrade, ofWave *Why) *Why {
	if no := cu.Spec.Ineligible; no != nil {
		return &Why{Reason: no.Reason, Message: no.Message}
	}
	s := cu.Status
	turn := s.Reason == "" || s.Reason == cluster.ReasonWaiting
	pending := s.Phase == "" || s.Phase == fleetv1.UpgradePending
	switch {
	case turn && pending && ofWave != nil:
		return ofWave.of(OfWave)
	case s.Reason == "":
		return nil
	}
	return &Why{Reason: s.Reason, Message: s.Message, Since: instant(s.Since), Until: s.Until}
}

// seen is what the inventory knows of a cluster. What its member does not show now is Unknown (law 3).
func (x *index) seen(member key, wc *fleetv1.WorkloadCluster) Cluster {
	unknown := string(metav1.ConditionUnknown)
	c := Cluster{
		Namespace: member.namespace, ManagementCluster: member.name, Healthy: unknown, Reachable: unknown,
		Owners: []Owner{}, Machines: []Machine{},
	}
	if mc := x.members[member]; mc != nil {
		c.Reachable, _ = condition(mc.Status.Conditions, fleetv1.ReachableCondition)
	}
	if wc == nil {
		return c
	}
	if c.Reachable == string(metav1.ConditionTrue) {
		c.Healthy, _ = condition(wc.Status.Conditions, fleetv1.HealthyCondition)
	}
	paused, _ := condition(wc.Status.Conditions, fleetv1.PausedCondition)
	c.Paused = paused == string(metav1.ConditionTrue)
	c.ClaimedBy = wc.Status.ClaimedBy
	if cp := wc.Status.ControlPlane; cp != nil {
		c.Owners = append(c.Owners, ownerOf(*cp, fleetv1.RoleControlPlane))
	}
	for _, pool := range wc.Status.Pools {
		c.Owners = append(c.Owners, ownerOf(pool, fleetv1.RoleWorkers))
	}
	return c
}

func ownerOf(o fleetv1.OwnerStatus, role fleetv1.OwnerRole) Owner {
	owner := Owner{
		Kind: o.Kind, Name: o.Name, Role: string(role), ByRelease: counts(o.ByRelease), ByKubelet: counts(o.ByKubelet),
	}
	for _, c := range owner.ByKubelet {
		owner.Total += c.Count
	}
	return owner
}

func counts(list []fleetv1.VersionCount) []Count {
	all := []Count{}
	for _, c := range list {
		all = append(all, Count{Name: c.Name, Count: int(c.Count)})
	}
	return all
}

// owners merges how far a rollout is into what the inventory counted. An owner that the inventory lacks is listed too.
func owners(cu *fleetv1.ClusterUpgrade, counted []Owner) []Owner {
	list := slices.Clone(counted)
	find := func(kind, name, role string) *Owner {
		for i := range list {
			if list[i].Kind == kind && list[i].Name == name {
				return &list[i]
			}
		}
		list = append(list, Owner{Kind: kind, Name: name, Role: role, ByRelease: []Count{}, ByKubelet: []Count{}})
		return &list[len(list)-1]
	}
	for _, o := range cu.Spec.Owners {
		find(o.Kind, o.Name, string(o.Role)).Target = o.Target
	}
	for _, p := range cu.Status.Owners {
		o := find(p.Kind, p.Name, string(p.Role))
		o.Done, o.Total = int(p.Done), int(p.Total)
	}
	return list
}

// machines lists what a ClusterUpgrade knows of single machines: by owner, then by name.
func machines(cu *fleetv1.ClusterUpgrade, of []Owner) []Machine {
	list := []Machine{}
	rank := map[string]int{}
	for i, o := range of {
		rank[o.Name] = i
	}
	for _, m := range cu.Status.Machines {
		row := Machine{
			Name: m.Name, Owner: m.Owner, Release: m.Release, Kubelet: m.Kubelet, Architecture: m.Architecture,
			Attempts: int(m.Attempts), LastError: m.LastError,
			StartedAt: instant(m.StartedAt), EndedAt: instant(m.EndedAt),
		}
		want := ""
		if i, known := rank[m.Owner]; known {
			row.Role, want = of[i].Role, of[i].Target
		}
		row.State = machineState(m, want, cu.Status)
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(rank[a.Owner], rank[b.Owner]), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// machineState is one word for a machine. One that ended without the release asked for was given up, and so was the one
// for which its cluster failed.
func machineState(m fleetv1.MachineProgress, want string, s fleetv1.ClusterUpgradeStatus) string {
	blamed := s.Phase == fleetv1.UpgradeFailed && s.CurrentMachine == m.Name
	switch {
	case m.EndedAt != nil && m.Release == want && want != "" && !blamed:
		return MachineDone
	case m.EndedAt != nil && want != "":
		return MachineQuarantined
	case m.State == "":
		return MachineUnknown
	case m.State == string(protocol.Idle) && m.StartedAt == nil:
		return MachineWaiting
	}
	return m.State
}
