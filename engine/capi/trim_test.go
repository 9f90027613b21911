// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/capi"
)

// parsed is all that this package reads of one object.
type parsed struct {
	Cluster      capi.Cluster
	ControlPlane capi.ControlPlane
	Deployment   capi.MachineDeployment
	Set          capi.MachineSet
	Machine      capi.Machine
}

func parse(u *unstructured.Unstructured) parsed {
	return parsed{
		capi.ParseCluster(u), capi.ParseControlPlane(u), capi.ParseMachineDeployment(u), capi.ParseMachineSet(u),
		capi.ParseMachine(u),
	}
}

// anyObject draws an object with any of the fields that are read, some of a wrong type, and others beside them.
func anyObject(t *rapid.T) *unstructured.Unstructured {
	conditions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
			return "no condition"
		}
		c := map[string]any{"reason": "R", "message": "m"}
		c["type"] = rapid.SampledFrom([]any{
			"Available", "RemoteConnectionProbe", "NodeReady", "NodeHealthy", "HealthCheckSucceeded", "Ready",
			"RollingOut", "MachinesSpecUpToDate", "EtcdClusterHealthy", "EtcdMemberHealthy", "EtcdPodHealthy",
		}).Draw(t, "type")
		c["status"] = rapid.SampledFrom([]any{"True", "False", "Unknown", true, nil}).Draw(t, "status")
		return c
	}), 0, 6)
	text := rapid.SampledFrom([]any{"v1.33.4", "x", "", int64(3), nil})
	number := rapid.SampledFrom([]any{int64(0), int64(3), "3", nil})
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
		"metadata": map[string]any{
			"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "1",
			"labels":      map[string]any{capi.ClusterNameLabel: "l", capi.DeploymentNameLabel: "d"},
			"annotations": map[string]any{"windlass.dev/plan": "{}"},
			"generation":  int64(2),
			"ownerReferences": []any{
				map[string]any{"kind": "MachineDeployment", "name": "d", "controller": true},
				map[string]any{"kind": "MachineSet", "name": "s", "controller": true},
			},
			"managedFields": []any{map[string]any{"manager": "x"}},
		},
	}}
	set := func(value any, path ...string) {
		if rapid.Bool().Draw(t, path[len(path)-1]) {
			_ = unstructured.SetNestedField(u.Object, value, path...)
		}
	}
	for _, path := range [][]string{
		{"spec", "version"},
		{"spec", "clusterName"},
		{"spec", "template", "spec", "version"},
		{"spec", "providerID"},
		{"spec", "controlPlaneRef", "apiGroup"},
		{"spec", "controlPlaneRef", "apiVersion"},
		{"spec", "controlPlaneRef", "kind"},
		{"spec", "controlPlaneRef", "name"},
		{"status", "phase"},
		{"status", "nodeRef", "name"},
		{"status", "nodeInfo", "kubeletVersion"},
		{"status", "nodeInfo", "architecture"},
		{"status", "nodeInfo", "osImage"},
	} {
		set(text.Draw(t, "text"), path...)
	}
	for _, path := range [][]string{
		{"spec", "replicas"},
		{"status", "replicas"},
		{"status", "readyReplicas"},
		{"status", "upToDateReplicas"},
		{"status", "updatedReplicas"},
		{"status", "observedGeneration"},
	} {
		set(number.Draw(t, "number"), path...)
	}
	set(rapid.SampledFrom([]any{true, false, "true"}).Draw(t, "paused"), "spec", "paused")
	set(conditions.Draw(t, "conditions"), "status", "conditions")
	set(conditions.Draw(t, "conditions of v1beta2"), "status", "v1beta2", "conditions")
	return u
}

func TestTrimKeepsAllThatIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := anyObject(t)
		want := parse(u)
		got, err := capi.Trim(u.DeepCopy())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, parse(got.(*unstructured.Unstructured))); diff != "" {
			t.Fatalf("(-whole +trimmed):\n%s", diff)
		}
	})
}

func TestTrimDropsTheRest(t *testing.T) {
	got, err := capi.Trim(read(t, machineV1beta2))
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, machineV1beta2)
	want.SetManagedFields(nil)
	want.Object["spec"] = map[string]any{"clusterName": "eu-1", "version": "v1.33.4"}
	want.Object["status"] = map[string]any{
		"phase":    "Running",
		"nodeRef":  map[string]any{"name": "node-1"},
		"nodeInfo": map[string]any{"kubeletVersion": "v1.33.9", "architecture": "arm64"},
		"conditions": []any{
			map[string]any{"type": "NodeReady", "status": "True"},
			map[string]any{"type": "NodeHealthy", "status": "False"},
			map[string]any{"type": "HealthCheckSucceeded", "status": "Unknown"},
		},
	}
	if diff := cmp.Diff(want.Object, got.(*unstructured.Unstructured).Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTrimTwiceIsTrimOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, _ := capi.Trim(anyObject(t))
		whole := once.(*unstructured.Unstructured).DeepCopy()
		twice, _ := capi.Trim(once)
		if diff := cmp.Diff(whole.Object, twice.(*unstructured.Unstructured).Object); diff != "" {
			t.Fatalf("(-once +twice):\n%s", diff)
		}
	})
}

func TestTrimLeavesOtherTypesAlone(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{"value": []byte("x")}}
	got, err := capi.Trim(secret)
	if err != nil || got != any(secret) || len(secret.Data) != 1 {
		t.Errorf("it became %v, %v", got, err)
	}
}
