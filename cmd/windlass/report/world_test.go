// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

const (
	oldRelease = "channel=1.33-classic/candidate"
	newRelease = "channel=1.33-classic/stable"
	oldKubelet = "v1.33.4"
	newKubelet = "v1.33.9"
)

// now is the instant of every report here.
var now = time.Date(2026, 7, 1, 2, 30, 0, 0, time.UTC)

// ago is an instant before now.
func ago(d time.Duration) *metav1.Time { return new(metav1.NewTime(now.Add(-d))) }

func member(name string, reachable metav1.ConditionStatus) fleetv1.ManagementCluster {
	mc := fleetv1.ManagementCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name},
		Spec:       fleetv1.ManagementClusterSpec{Engine: fleetv1.EngineHub, Access: fleetv1.AccessUpgrade},
		Status: fleetv1.ManagementClusterStatus{
			Clusters: new(int32(2)), Machines: new(int32(10)), LastProbeTime: ago(2 * time.Minute),
			Conditions: []metav1.Condition{
				{Type: fleetv1.ReachableCondition, Status: reachable, LastTransitionTime: *ago(time.Hour)},
				{Type: fleetv1.ReadyCondition, Status: reachable, LastTransitionTime: *ago(time.Hour)},
			},
		},
	}
	if reachable != metav1.ConditionTrue {
		mc.Status.LastProbeTime = ago(42 * time.Minute)
		for i := range mc.Status.Conditions {
			mc.Status.Conditions[i].Reason = fleetv1.UnreachableReason
			mc.Status.Conditions[i].Message = "dial tcp 10.0.0.7:6443: i/o timeout"
			mc.Status.Conditions[i].LastTransitionTime = *ago(40 * time.Minute)
		}
	}
	return mc
}

// tenant is one workload cluster with three control plane machines and two workers, and its upgrade.
type tenant struct {
	member, name string
	wave         string
	position     int32
	// done machines, counted from the first control plane machine.
	done   int
	status fleetv1.ClusterUpgradeStatus
	// states of machines that are not done, by their number from 0.
	states map[int]fleetv1.MachineProgress
}

func (t tenant) uid() types.UID { return types.UID("uid-" + t.name) }

func (t tenant) owners() []fleetv1.UpgradeOwner {
	return []fleetv1.UpgradeOwner{
		{
			Kind: "CK8sControlPlane", Name: t.name + "-cp", Role: fleetv1.RoleControlPlane, Target: newRelease,
			Version: newKubelet,
		},
		{
			Kind: "MachineDeployment", Name: t.name + "-md", Role: fleetv1.RoleWorkers, Target: newRelease, Version: newKubelet,
		},
	}
}

func (t tenant) machines() []fleetv1.MachineProgress {
	var list []fleetv1.MachineProgress
	for i := range 5 {
		m := fleetv1.MachineProgress{
			Name: fmt.Sprintf("%s-cp-%d", t.name, i+1), Owner: t.name + "-cp", State: "Idle", Release: oldRelease,
			Kubelet: oldKubelet, Architecture: "amd64",
		}
		if i >= 3 {
			m.Name, m.Owner = fmt.Sprintf("%s-md-%d", t.name, i-2), t.name+"-md"
		}
		if other, given := t.states[i]; given {
			m.State, m.Attempts, m.LastError = other.State, other.Attempts, other.LastError
			m.StartedAt, m.EndedAt = other.StartedAt, other.EndedAt
		}
		if i < t.done {
			m.Release, m.Kubelet, m.Attempts = newRelease, newKubelet, max(1, m.Attempts)
			m.StartedAt, m.EndedAt = ago(20*time.Minute), ago(10*time.Minute)
		}
		list = append(list, m)
	}
	return list
}

func (t tenant) recorded() fleetv1.WorkloadCluster {
	count := func(from, to int) ([]fleetv1.VersionCount, []fleetv1.VersionCount) {
		done := int32(min(max(t.done-from, 0), to-from))
		var release, kubelet []fleetv1.VersionCount
		if done > 0 {
			release = append(release, fleetv1.VersionCount{Name: newRelease, Count: done})
			kubelet = append(kubelet, fleetv1.VersionCount{Name: newKubelet, Count: done})
		}
		if left := int32(to-from) - done; left > 0 {
			release = append(release, fleetv1.VersionCount{Name: oldRelease, Count: left})
			kubelet = append(kubelet, fleetv1.VersionCount{Name: oldKubelet, Count: left})
		}
		return release, kubelet
	}
	wc := fleetv1.WorkloadCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: t.member + "-" + t.name + "-0123456789"},
		Spec: fleetv1.WorkloadClusterSpec{
			ManagementCluster: t.member, Cluster: fleetv1.ObjectRef{Namespace: "shop", Name: t.name, UID: t.uid()},
		},
		Status: fleetv1.WorkloadClusterStatus{
			Conditions: []metav1.Condition{{Type: fleetv1.HealthyCondition, Status: metav1.ConditionTrue}},
			Machines:   5,
		},
	}
	release, kubelet := count(0, 3)
	wc.Status.ControlPlane = &fleetv1.OwnerStatus{
		Kind: "CK8sControlPlane", Name: t.name + "-cp", Replicas: 3, Ready: 3, ByRelease: release, ByKubelet: kubelet,
	}
	release, kubelet = count(3, 5)
	wc.Status.Pools = []fleetv1.OwnerStatus{{
		Kind: "MachineDeployment", Name: t.name + "-md", Replicas: 2, Ready: 2, ByRelease: release, ByKubelet: kubelet,
	}}
	return wc
}

func (t tenant) upgrade() fleetv1.ClusterUpgrade {
	wc := t.recorded()
	cu := fleetv1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33-7xk2p-" + t.name},
		Spec: fleetv1.ClusterUpgradeSpec{
			Rollout:           fleetv1.LocalRef{Name: "k8s-1-33-7xk2p", UID: "uid-rollout"},
			WorkloadCluster:   fleetv1.LocalRef{Name: wc.Name, UID: "uid-wc-" + t.uid()},
			ManagementCluster: t.member, Cluster: wc.Spec.Cluster, Wave: t.wave, Canary: t.wave == fleetv1.WaveCanaries,
			Position: t.position, Owners: t.owners(), Upgrade: (*fleetv1.PolicyUpgrade)(nil).Settings(),
		},
		Status: t.status,
	}
	if t.status.Phase == "" || t.status.Phase == fleetv1.UpgradePending {
		return cu
	}
	cu.Status.Machines = t.machines()
	cu.Status.Owners = []fleetv1.OwnerProgress{
		{
			Kind: "CK8sControlPlane", Name: t.name + "-cp", Role: fleetv1.RoleControlPlane, Total: 3,
			Done: int32(min(t.done, 3)),
		},
		{
			Kind: "MachineDeployment", Name: t.name + "-md", Role: fleetv1.RoleWorkers, Total: 2,
			Done: int32(max(t.done-3, 0)),
		},
	}
	return cu
}

func policyObject() fleetv1.RolloutPolicy {
	return fleetv1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33", UID: "uid-policy", Generation: 2},
		Spec: fleetv1.RolloutPolicySpec{
			Target: fleetv1.Target{Channel: new("1.33-classic/stable"), Version: newKubelet},
		},
		Status: fleetv1.RolloutPolicyStatus{
			ObservedGeneration: 2, Target: newRelease, Rollout: "k8s-1-33-7xk2p", Selected: 4, Canaries: 1,
			Conditions: []metav1.Condition{
				{Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: fleetv1.PlannedReason},
			},
		},
	}
}

func rolloutObject(s fleetv1.RolloutStatus) fleetv1.Rollout {
	s.Plan = &fleetv1.RolloutPlan{Hash: "h", CommittedAt: *ago(2 * time.Hour), Total: 4, Patch: 4}
	s.Total, s.StartedAt = 4, ago(2*time.Hour)
	return fleetv1.Rollout{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33-7xk2p", UID: "uid-rollout"},
		Spec: fleetv1.RolloutSpec{
			Policy: fleetv1.LocalRef{Name: "k8s-1-33", UID: "uid-policy"}, Number: 3,
			Target: fleetv1.Target{Channel: new("1.33-classic/stable"), Version: newKubelet},
		},
		Status: s,
	}
}

// world puts a rollout of four clusters in two members together.
func world(s fleetv1.RolloutStatus, memberB metav1.ConditionStatus, tenants ...tenant) report.Input {
	in := report.Input{
		Namespace: "fleet", Policy: "k8s-1-33",
		ManagementClusters: []fleetv1.ManagementCluster{member("mgmt-b", memberB), member("mgmt-a", metav1.ConditionTrue)},
		Policies:           []fleetv1.RolloutPolicy{policyObject()},
		Rollouts:           []fleetv1.Rollout{rolloutObject(s)},
	}
	for _, t := range tenants {
		in.WorkloadClusters = append(in.WorkloadClusters, t.recorded())
		in.ClusterUpgrades = append(in.ClusterUpgrades, t.upgrade())
	}
	return in
}

func succeeded(member, name, wave string, position int32) tenant {
	return tenant{
		member: member, name: name, wave: wave, position: position, done: 5,
		status: fleetv1.ClusterUpgradeStatus{
			Phase: fleetv1.UpgradeSucceeded, Reason: "Proven", Message: "5 of 5 machines are proven in two reads",
			Since: ago(10 * time.Minute), Attempts: 1, MaxAttempts: 3, StartedAt: ago(time.Hour), EndedAt: ago(10 * time.Minute),
		},
	}
}

func pending(member, name, wave string, position int32) tenant {
	return tenant{
		member: member, name: name, wave: wave, position: position,
		status: fleetv1.ClusterUpgradeStatus{
			Phase: fleetv1.UpgradePending, Reason: "Waiting", Message: "its turn has not come",
		},
	}
}
