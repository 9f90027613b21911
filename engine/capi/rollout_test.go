// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-dev/windlass/engine/capi"
)

func set(name string, wanted *int32, there int32) capi.MachineSet {
	return capi.MachineSet{Meta: capi.Meta{Name: name}, Replicas: wanted, StatusReplicas: there}
}

func of(set string, deleting bool) capi.Machine {
	return capi.Machine{Meta: capi.Meta{Deleting: deleting}, Set: set}
}

func TestAPoolRollsOutWhileMachinesOfMoreThanOneSetAreThereOrWanted(t *testing.T) {
	none, one := new(int32(0)), new(int32(1))
	cases := map[string]struct {
		pool     capi.MachineDeployment
		sets     []capi.MachineSet
		machines []capi.Machine
		want     string
	}{
		"nothing is known":               {},
		"one set":                        {sets: []capi.MachineSet{set("new", one, 1)}},
		"an old set that is kept, empty": {sets: []capi.MachineSet{set("old", none, 0), set("new", one, 1)}},
		"a new set that has no machine yet": {
			sets: []capi.MachineSet{set("old", one, 1), set("new", one, 0)},
			want: "pool a has machines in 2 MachineSets: new, old",
		},
		"an old set that loses its last machine": {
			sets: []capi.MachineSet{set("old", none, 1), set("new", one, 1)},
			want: "pool a has machines in 2 MachineSets: new, old",
		},
		"a machine of an old set is being deleted": {
			sets:     []capi.MachineSet{set("old", none, 0), set("new", one, 1)},
			machines: []capi.Machine{of("old", true), of("new", false)},
			want:     "pool a has machines in 2 MachineSets: new, old",
		},
		"a machine of the only set is being deleted": {
			sets: []capi.MachineSet{set("new", one, 1)}, machines: []capi.Machine{of("new", true), of("new", false)},
		},
		"a condition says so": {
			pool: capi.MachineDeployment{RollingOut: capi.True}, want: "pool a is replacing its machines",
		},
		"a condition denies it": {pool: capi.MachineDeployment{RollingOut: capi.False}},
		"the spec has just changed": {
			pool: capi.MachineDeployment{Unseen: true},
			want: "the spec of pool a has changed and no controller has looked at it yet",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.pool.Name = "a"
			if diff := cmp.Diff(c.want, c.pool.RollsOut(c.sets, c.machines)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAControlPlaneRollsOutWhereItSaysSo(t *testing.T) {
	cases := map[string]struct {
		c    capi.ControlPlane
		want string
	}{
		"nothing is served": {capi.ControlPlane{StatusReplicas: 3}, ""},
		"all is well": {capi.ControlPlane{
			StatusReplicas: 3, UpToDateReplicas: new(int32(3)), RollingOut: capi.False, SpecUpToDate: capi.True,
		}, ""},
		"it rolls out": {capi.ControlPlane{RollingOut: capi.True}, "control plane cp is replacing its machines"},
		"it rolls out, in the words of v1beta1": {
			capi.ControlPlane{SpecUpToDate: capi.False}, "control plane cp is replacing its machines",
		},
		"a machine has an old spec": {
			capi.ControlPlane{StatusReplicas: 3, UpToDateReplicas: new(int32(2))},
			"2 of 3 machines of control plane cp have the spec that they should have",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.c.Name = "cp"
			if diff := cmp.Diff(c.want, c.c.RollsOut(nil)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatTellsOfARolloutIsRead(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"generation": int64(2), "ownerReferences": []any{
			map[string]any{"kind": "MachineSet", "name": "other"},
			map[string]any{"kind": "MachineSet", "name": "s", "controller": true},
		}},
		"status": map[string]any{
			"replicas": int64(3), "updatedReplicas": int64(1), "observedGeneration": int64(1),
			"conditions": []any{
				map[string]any{"type": "EtcdMemberHealthy", "status": "False"},
				map[string]any{"type": "EtcdPodHealthy", "status": "True"},
				map[string]any{"type": "EtcdClusterHealthy", "status": "False"},
				map[string]any{"type": "RollingOut", "status": "True"},
			},
		},
	}}
	m, cp, md := capi.ParseMachine(u), capi.ParseControlPlane(u), capi.ParseMachineDeployment(u)
	got := []any{m.Set, m.EtcdMember, m.EtcdPod, cp.EtcdHealthy, cp.RollingOut, *cp.UpToDateReplicas, md.Unseen, md.RollingOut}
	want := []any{"s", capi.False, capi.True, capi.False, capi.True, int32(1), true, capi.True}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	u.SetGeneration(1)
	if capi.ParseMachineDeployment(u).Unseen {
		t.Error("a spec that has been seen is taken for one that has not")
	}
}

// TestEtcdIsJudgedWhereItIsVisible: k8s-dqlite has no such conditions.
func TestEtcdIsJudgedWhereItIsVisible(t *testing.T) {
	check(t, capi.Machine{}.Etcd(), capi.True)
	check(t, capi.ControlPlane{}.Etcd(), capi.True)
	check(t, capi.Machine{EtcdMember: capi.True, EtcdPod: capi.True}.Etcd(), capi.True)
	check(t, capi.Machine{EtcdMember: capi.False}.Etcd(), capi.False)
	check(t, capi.Machine{EtcdPod: capi.False}.Etcd(), capi.False)
	check(t, capi.ControlPlane{EtcdHealthy: capi.False}.Etcd(), capi.False)
}

func TestNewerIsALaterMinorOnly(t *testing.T) {
	for _, c := range []struct {
		kubelet, want string
		newer         bool
	}{
		{"v1.34.0", "v1.33", true},
		{"v1.34.0", "v1.33.9", true},
		{"v2.0.0", "v1.33", true},
		{"v1.33.9", "v1.33.4", false},
		{"v1.33.9", "v1.34", false},
		{"v1.9.0", "v1.10", false},
		{"v1.34.0", "", false},
		{"", "v1.33", false},
		{"x", "v1.33", false},
	} {
		if got := capi.Newer(c.kubelet, c.want); got != c.newer {
			t.Errorf("%q is newer than %q: %t", c.kubelet, c.want, got)
		}
	}
}
