// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
)

// settleWithin bounds every wait of these tests; what is waited for takes milliseconds.
const settleWithin = 20 * time.Second

func cluster(t *testing.T, m *env.Management, spec build.ClusterSpec) *env.Cluster {
	t.Helper()
	c, err := m.Cluster(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func machine(namespace, name string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// await reads o until it is as wanted.
func await[O client.Object](t *testing.T, c client.Client, o O, wanted func(O) bool) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	tooLate := time.After(settleWithin)
	for {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		if wanted(o) {
			return
		}
		select {
		case <-again.C:
		case <-tooLate:
			t.Fatalf("%s is not as wanted: %+v", o.GetName(), o)
		}
	}
}

func controlPlane(namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(build.ControlPlaneGVK())
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// status is some of what people and programs read, as one value.
type status struct {
	Machines     map[string]string // name → NodeHealthy, kubelet version
	Pool         [3]int32          // replicas, ready, available
	Set          [3]int32
	ControlPlane [3]int64 // replicas, ready, unavailable
	Cluster      metav1.ConditionStatus
}

func TestNewClusterIsHealthyInAllItsStatuses(t *testing.T) {
	ns := namespace("healthy")
	cluster(t, shared.current, build.Cluster(ns, "eu-1").ControlPlane(3).Pool("a", 2))
	want := status{
		Machines: map[string]string{
			"eu-1-cp-0": "True v1.33.4", "eu-1-cp-1": "True v1.33.4", "eu-1-cp-2": "True v1.33.4",
			"eu-1-a-0": "True v1.33.4", "eu-1-a-1": "True v1.33.4",
		},
		Pool: [3]int32{2, 2, 2}, Set: [3]int32{2, 2, 2}, ControlPlane: [3]int64{3, 3, 0}, Cluster: metav1.ConditionTrue,
	}
	if diff := cmp.Diff(want, read(t, ns)); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

// read returns the statuses of cluster eu-1 in one namespace of the current member.
func read(t *testing.T, namespace string) status {
	t.Helper()
	var machines clusterv1.MachineList
	var pools clusterv1.MachineDeploymentList
	var sets clusterv1.MachineSetList
	var clusters clusterv1.ClusterList
	for _, list := range []client.ObjectList{&machines, &pools, &sets, &clusters} {
		if err := shared.current.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
	}
	cp := controlPlane(namespace, "eu-1-cp")
	if err := shared.current.Client.Get(t.Context(), client.ObjectKeyFromObject(cp), cp); err != nil {
		t.Fatal(err)
	}
	got := status{Machines: map[string]string{}}
	for _, m := range machines.Items {
		healthy := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineNodeHealthyCondition)
		got.Machines[m.Name] = string(healthy.Status) + " " + m.Status.NodeInfo.KubeletVersion
	}
	for _, md := range pools.Items {
		got.Pool = [3]int32{*md.Status.Replicas, *md.Status.ReadyReplicas, *md.Status.AvailableReplicas}
	}
	for _, ms := range sets.Items {
		got.Set = [3]int32{*ms.Status.Replicas, *ms.Status.ReadyReplicas, *ms.Status.AvailableReplicas}
	}
	for i, field := range []string{"replicas", "readyReplicas", "unavailableReplicas"} {
		got.ControlPlane[i], _, _ = unstructured.NestedInt64(cp.Object, "status", field)
	}
	for _, c := range clusters.Items {
		got.Cluster = meta.FindStatusCondition(c.Status.Conditions, clusterv1.ClusterAvailableCondition).Status
	}
	return got
}

func TestLostNodeReadinessShowsInMachineAndOwners(t *testing.T) {
	ns := namespace("unready")
	ctx := t.Context()
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1").ControlPlane(3).Pool("a", 2))
	for _, name := range []string{"eu-1-cp-1", "eu-1-a-0"} {
		if err := c.SetNodeReady(ctx, name, false); err != nil {
			t.Fatal(err)
		}
	}
	await(t, shared.current.Client, controlPlane(ns, "eu-1-cp"), func(u *unstructured.Unstructured) bool {
		ready, _, _ := unstructured.NestedInt64(u.Object, "status", "readyReplicas")
		return ready == 2
	})
	one := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "eu-1"}}
	await(t, shared.current.Client, one, func(c *clusterv1.Cluster) bool {
		return meta.IsStatusConditionFalse(c.Status.Conditions, clusterv1.ClusterAvailableCondition) &&
			*c.Status.Workers.ReadyReplicas == 1
	})
	want := status{
		Machines: map[string]string{
			"eu-1-cp-0": "True v1.33.4", "eu-1-cp-1": "False v1.33.4", "eu-1-cp-2": "True v1.33.4",
			"eu-1-a-0": "False v1.33.4", "eu-1-a-1": "True v1.33.4",
		},
		Pool: [3]int32{2, 1, 1}, Set: [3]int32{2, 1, 1}, ControlPlane: [3]int64{3, 2, 1}, Cluster: metav1.ConditionFalse,
	}
	if diff := cmp.Diff(want, read(t, ns)); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	m := machine(ns, "eu-1-a-0")
	if err := shared.current.Client.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
		t.Fatal(err)
	}
	ready := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineReadyCondition)
	if diff := cmp.Diff("* NodeHealthy:\n  * Node.Ready: kubelet is restarting", ready.Message); diff != "" {
		t.Errorf("message of Ready (-want +got):\n%s", diff)
	}
}

func TestUpgradedWorkerIsNotUpToDateWithItsSpec(t *testing.T) {
	ns := namespace("uptodate")
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1").Pool("a", 1))
	setVersion(t, c, "eu-1-a-0", "v1.33.9")
	m := machine(ns, "eu-1-a-0")
	await(t, shared.current.Client, m, func(m *clusterv1.Machine) bool {
		return m.Status.NodeInfo.KubeletVersion == "v1.33.9"
	})
	got := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineUpToDateCondition)
	if got.Status != metav1.ConditionFalse || got.Reason != clusterv1.MachineUpToDateUpdatingReason {
		t.Errorf("UpToDate is %s/%s, want False/Updating", got.Status, got.Reason)
	}
	if !meta.IsStatusConditionTrue(m.Status.Conditions, clusterv1.MachineReadyCondition) {
		t.Error("the machine is not Ready, though its node is")
	}
}

func setVersion(t *testing.T, c *env.Cluster, machine, version string) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Node(machine)}}
	body := []byte(`{"status":{"nodeInfo":{"kubeletVersion":"` + version + `"}}}`)
	patch := client.RawPatch(types.MergePatchType, body)
	if err := c.Server.Client.Status().Patch(t.Context(), n, patch); err != nil {
		t.Fatal(err)
	}
}

func TestConditionsOfOthersAreKeptAndHeeded(t *testing.T) {
	ns := namespace("others")
	ctx := t.Context()
	cluster(t, shared.current, build.Cluster(ns, "eu-1"))
	m := machine(ns, "eu-1-cp-0")
	await(t, shared.current.Client, m, func(m *clusterv1.Machine) bool {
		m.Annotations = map[string]string{"example.com/mine": "1"}
		return shared.current.Client.Update(ctx, m) == nil
	})
	await(t, shared.current.Client, m, func(m *clusterv1.Machine) bool {
		meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{
			Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse, Reason: "UnhealthyNode",
		})
		return shared.current.Client.Status().Update(ctx, m) == nil
	})
	await(t, shared.current.Client, m, func(m *clusterv1.Machine) bool {
		return meta.IsStatusConditionFalse(m.Status.Conditions, clusterv1.MachineReadyCondition)
	})
	if diff := cmp.Diff(map[string]string{"example.com/mine": "1"}, maps.Clone(m.Annotations)); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestMirrorWritesOnlyWhatChanged(t *testing.T) {
	ns := namespace("still")
	ctx := t.Context()
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1").ControlPlane(2))
	still, moving := machine(ns, "eu-1-cp-0"), machine(ns, "eu-1-cp-1")
	if err := shared.current.Client.Get(ctx, client.ObjectKeyFromObject(still), still); err != nil {
		t.Fatal(err)
	}
	before := still.ResourceVersion
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Node("eu-1-cp-0")}}
	touch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/touched":"1"}}}`))
	if err := c.Server.Client.Patch(ctx, n, touch); err != nil {
		t.Fatal(err)
	}
	setVersion(t, c, "eu-1-cp-1", "v1.33.9")
	await(t, shared.current.Client, moving, func(m *clusterv1.Machine) bool {
		return m.Status.NodeInfo.KubeletVersion == "v1.33.9"
	})
	if err := shared.current.Client.Get(ctx, client.ObjectKeyFromObject(still), still); err != nil {
		t.Fatal(err)
	}
	if still.ResourceVersion != before {
		t.Errorf("a Node that only got an annotation led to a write: %+v", still.Status)
	}
}

func TestDelayedMirrorShowsTheOldStatusMeanwhile(t *testing.T) {
	ns := namespace("delayed")
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1"))
	m := machine(ns, "eu-1-cp-0")
	const delay = 500 * time.Millisecond
	shared.current.SetMirrorDelay(delay)
	defer shared.current.SetMirrorDelay(0)
	begin := time.Now()
	setVersion(t, c, "eu-1-cp-0", "v1.33.9")
	await(t, shared.current.Client, m, func(m *clusterv1.Machine) bool {
		return m.Status.NodeInfo.KubeletVersion == "v1.33.9"
	})
	if took := time.Since(begin); took < delay {
		t.Errorf("copied after %s, want not before %s", took, delay)
	}
}

func TestOlderMemberShowsHealthInBothOfItsForms(t *testing.T) {
	ns := namespace("old")
	ctx := t.Context()
	c := cluster(t, shared.old, build.Cluster(ns, "eu-1").ControlPlane(1).Pool("a", 1))
	m := &clusterv1beta1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "eu-1-a-0"}}
	nodeHealthy := func(m *clusterv1beta1.Machine) (old, current string) {
		for _, c := range m.Status.Conditions {
			if c.Type == clusterv1beta1.MachineNodeHealthyCondition {
				old = string(c.Status)
			}
		}
		return old, string(meta.FindStatusCondition(m.Status.V1Beta2.Conditions, "NodeHealthy").Status)
	}
	if err := shared.old.Client.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
		t.Fatal(err)
	}
	if old, current := nodeHealthy(m); old != "True" || current != "True" {
		t.Errorf("NodeHealthy is %q and %q, want True twice", old, current)
	}
	if m.Spec.InfrastructureRef.APIVersion == "" || m.Status.NodeRef.Name != c.Node("eu-1-a-0") {
		t.Errorf("references are incomplete: %+v, %+v", m.Spec.InfrastructureRef, m.Status.NodeRef)
	}
	if err := c.SetNodeReady(ctx, "eu-1-a-0", false); err != nil {
		t.Fatal(err)
	}
	md := &clusterv1beta1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "eu-1-a"}}
	await(t, shared.old.Client, md, func(md *clusterv1beta1.MachineDeployment) bool {
		return md.Status.ReadyReplicas == 0 && md.Status.UnavailableReplicas == 1
	})
	await(t, shared.old.Client, m, func(m *clusterv1beta1.Machine) bool {
		old, current := nodeHealthy(m)
		return old == "False" && current == "False"
	})
	var err error
	if err = shared.old.Client.List(ctx, &clusterv1.MachineList{}); err == nil {
		t.Error("the older member serves v1beta2 too")
	}
}
