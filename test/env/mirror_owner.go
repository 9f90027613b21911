// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// counts sums up some Machines.
type counts struct {
	all, ready, available, upToDate int32
	versions                        []clusterv1.StatusVersion // oldest first
}

func count(machines []clusterv1.Machine, which func(*clusterv1.Machine) bool) counts {
	var c counts
	at := map[string]int32{}
	for i := range machines {
		m := &machines[i]
		if !which(m) {
			continue
		}
		isTrue := func(kind string) int32 {
			if meta.IsStatusConditionTrue(m.Status.Conditions, kind) {
				return 1
			}
			return 0
		}
		c.all++
		c.ready += isTrue(clusterv1.MachineReadyCondition)
		c.available += isTrue(clusterv1.MachineAvailableCondition)
		c.upToDate += isTrue(clusterv1.MachineUpToDateCondition)
		version := m.Spec.Version
		if m.Status.NodeInfo != nil {
			version = m.Status.NodeInfo.KubeletVersion
		}
		at[version]++
	}
	for version, n := range at {
		c.versions = append(c.versions, clusterv1.StatusVersion{Version: version, Replicas: n})
	}
	slices.SortFunc(c.versions, func(a, b clusterv1.StatusVersion) int { return compareVersions(a.Version, b.Version) })
	return c
}

func compareVersions(a, b string) int {
	va, errA := semver.NewVersion(a)
	vb, errB := semver.NewVersion(b)
	if errA != nil || errB != nil {
		return cmp.Compare(a, b)
	}
	return va.Compare(vb)
}

func isControlPlane(m *clusterv1.Machine) bool {
	_, ok := m.Labels[clusterv1.MachineControlPlaneLabel]
	return ok
}

func isWorker(m *clusterv1.Machine) bool { return !isControlPlane(m) }

// mirrorSet writes a MachineSet's status.
func mirrorSet(ms *clusterv1.MachineSet, machines []clusterv1.Machine, now time.Time) {
	n := count(machines, func(m *clusterv1.Machine) bool { return metav1.IsControlledBy(m, ms) })
	s := &ms.Status
	s.ObservedGeneration, s.Selector = ms.Generation, metav1.FormatLabelSelector(&ms.Spec.Selector)
	s.Replicas, s.ReadyReplicas = new(n.all), new(n.ready)
	s.AvailableReplicas, s.UpToDateReplicas, s.Versions = new(n.available), new(n.upToDate), n.versions
	c := conditions{&s.Conditions, ms.Generation, now}
	c.machines(clusterv1.MachinesReadyCondition, clusterv1.MachinesUpToDateCondition, n)
	c.calm(clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition,
		clusterv1.RemediatingCondition, clusterv1.PausedCondition)
	c.deleting(ms)
}

// mirrorPool writes a MachineDeployment's status.
func mirrorPool(md *clusterv1.MachineDeployment, machines []clusterv1.Machine, now time.Time) {
	n := count(machines, func(m *clusterv1.Machine) bool {
		return m.Labels[clusterv1.MachineDeploymentNameLabel] == md.Name
	})
	s := &md.Status
	s.ObservedGeneration, s.Selector = md.Generation, metav1.FormatLabelSelector(&md.Spec.Selector)
	s.Replicas, s.ReadyReplicas = new(n.all), new(n.ready)
	s.AvailableReplicas, s.UpToDateReplicas, s.Versions = new(n.available), new(n.upToDate), n.versions
	s.Phase = string(clusterv1.MachineDeploymentPhaseRunning)
	c := conditions{&s.Conditions, md.Generation, now}
	c.judge(clusterv1.MachineDeploymentAvailableCondition, n.available == n.all,
		clusterv1.MachineDeploymentAvailableReason, clusterv1.MachineDeploymentNotAvailableReason,
		fmt.Sprintf("%d available replicas, at least %d required", n.available, n.all))
	c.machines(clusterv1.MachinesReadyCondition, clusterv1.MachinesUpToDateCondition, n)
	c.calm(clusterv1.RollingOutCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition,
		clusterv1.RemediatingCondition, clusterv1.PausedCondition)
	c.deleting(md)
	legacyPool(md, n, now)
}

// machines writes whether all machines are ready and up to date.
func (c conditions) machines(ready, upToDate string, n counts) {
	if n.all == 0 {
		c.good(ready, clusterv1.NoReplicasReason)
		c.good(upToDate, clusterv1.NoReplicasReason)
		return
	}
	c.judge(ready, n.ready == n.all, clusterv1.ReadyReason, clusterv1.NotReadyReason,
		fmt.Sprintf("%d of %d machines are ready", n.ready, n.all))
	c.judge(upToDate, n.upToDate == n.all, clusterv1.UpToDateReason, clusterv1.NotUpToDateReason,
		fmt.Sprintf("%d of %d machines are up to date", n.upToDate, n.all))
}

func legacyPool(md *clusterv1.MachineDeployment, n counts, now time.Time) {
	if md.Status.Deprecated == nil {
		md.Status.Deprecated = &clusterv1.MachineDeploymentDeprecatedStatus{}
	}
	if md.Status.Deprecated.V1Beta1 == nil {
		md.Status.Deprecated.V1Beta1 = &clusterv1.MachineDeploymentV1Beta1DeprecatedStatus{}
	}
	old := md.Status.Deprecated.V1Beta1
	old.ReadyReplicas, old.AvailableReplicas = n.ready, n.available
	old.UpdatedReplicas, old.UnavailableReplicas = n.all, n.all-n.available
	legacy{&old.Conditions, now}.judge(clusterv1.MachineDeploymentAvailableV1Beta1Condition, n.available == n.all,
		clusterv1.WaitingForAvailableMachinesV1Beta1Reason, "")
}

// mirrorControlPlane writes the status of a CK8sControlPlane, as its provider does: contract v1beta1.
func mirrorControlPlane(cp *unstructured.Unstructured, machines []clusterv1.Machine, now time.Time) error {
	n := count(machines, isControlPlane)
	status := map[string]any{
		"initialized": true, "ready": n.ready > 0,
		"replicas": int64(n.all), "readyReplicas": int64(n.ready), "updatedReplicas": int64(n.all),
		"unavailableReplicas": int64(n.all - n.ready),
		"selector": fmt.Sprintf("%s=%s,%s=", clusterv1.ClusterNameLabel, cp.GetLabels()[clusterv1.ClusterNameLabel],
			clusterv1.MachineControlPlaneLabel),
	}
	if len(n.versions) > 0 {
		status["version"] = n.versions[0].Version
	}
	for field, value := range status {
		if err := unstructured.SetNestedField(cp.Object, value, "status", field); err != nil {
			return err
		}
	}
	if _, found, err := unstructured.NestedSlice(cp.Object, "status", "conditions"); found || err != nil {
		return err // once available, this provider never takes it back
	}
	at := now.UTC().Format(time.RFC3339)
	return unstructured.SetNestedSlice(cp.Object, []any{
		map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": at},
		map[string]any{"type": "Available", "status": "True", "lastTransitionTime": at},
	}, "status", "conditions")
}

// mirrorCluster writes a Cluster's status. RemoteConnectionProbe is written once: a test that plays a lost connection
// is not contradicted.
func mirrorCluster(cluster *clusterv1.Cluster, m members, now time.Time) {
	cp, workers := count(m.machines, isControlPlane), count(m.machines, isWorker)
	s := &cluster.Status
	s.ObservedGeneration, s.Phase = cluster.Generation, string(clusterv1.ClusterPhaseProvisioned)
	s.Initialization.InfrastructureProvisioned, s.Initialization.ControlPlaneInitialized = new(true), new(true)
	if cluster.Spec.ControlPlaneRef.IsDefined() {
		s.ControlPlane = &clusterv1.ClusterControlPlaneStatus{
			DesiredReplicas: new(cp.all), Replicas: new(cp.all), ReadyReplicas: new(cp.ready),
			AvailableReplicas: new(cp.available), UpToDateReplicas: new(cp.all), Versions: cp.versions,
		}
	}
	s.Workers = &clusterv1.WorkersStatus{
		DesiredReplicas: new(workers.all), Replicas: new(workers.all), ReadyReplicas: new(workers.ready),
		AvailableReplicas: new(workers.available), UpToDateReplicas: new(workers.upToDate), Versions: workers.versions,
	}
	c := conditions{&s.Conditions, cluster.Generation, now}
	if meta.FindStatusCondition(s.Conditions, clusterv1.ClusterRemoteConnectionProbeCondition) == nil {
		c.good(clusterv1.ClusterRemoteConnectionProbeCondition, clusterv1.ClusterRemoteConnectionProbeSucceededReason)
	}
	c.good(clusterv1.ClusterInfrastructureReadyCondition, clusterv1.ClusterInfrastructureReadyReason)
	c.good(clusterv1.ClusterControlPlaneInitializedCondition, clusterv1.ClusterControlPlaneInitializedReason)
	c.good(clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterControlPlaneAvailableReason)
	// UpToDate of control plane machines is their provider's to write, and this one does not.
	c.machines(clusterv1.ClusterControlPlaneMachinesReadyCondition, clusterv1.ClusterControlPlaneMachinesUpToDateCondition,
		counts{all: cp.all, ready: cp.ready, upToDate: cp.all})
	c.machines(clusterv1.ClusterWorkerMachinesReadyCondition, clusterv1.ClusterWorkerMachinesUpToDateCondition, workers)
	c.calm(clusterv1.RollingOutCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition,
		clusterv1.RemediatingCondition)
	c.deleting(cluster)
	c.cluster(cluster, m.pools)
}

// cluster writes the conditions that sum the cluster up, and Paused.
func (c conditions) cluster(cluster *clusterv1.Cluster, pools []clusterv1.MachineDeployment) {
	message := ""
	for _, md := range pools {
		a := meta.FindStatusCondition(md.Status.Conditions, clusterv1.MachineDeploymentAvailableCondition)
		if a != nil && a.Status != metav1.ConditionTrue {
			message += fmt.Sprintf("* MachineDeployment %s: %s\n", md.Name, a.Message)
		}
	}
	workers := clusterv1.ClusterWorkersAvailableReason
	if len(pools) == 0 {
		workers = clusterv1.ClusterWorkersAvailableNoWorkersReason
	}
	c.judge(clusterv1.ClusterWorkersAvailableCondition, message == "", workers,
		clusterv1.ClusterWorkersNotAvailableReason, message)
	connected := meta.IsStatusConditionTrue(*c.list, clusterv1.ClusterRemoteConnectionProbeCondition)
	if !connected {
		message += "* RemoteConnectionProbe: Remote connection probe failed\n"
	}
	c.judge(clusterv1.ClusterAvailableCondition, message == "", clusterv1.ClusterAvailableReason,
		clusterv1.ClusterNotAvailableReason, message)
	c.judge(clusterv1.PausedCondition, cluster.Spec.Paused != nil && *cluster.Spec.Paused,
		clusterv1.PausedReason, clusterv1.NotPausedReason, "")
}
