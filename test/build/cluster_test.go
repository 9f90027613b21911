// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/windlass-dev/windlass/test/build"
)

// tree is who owns whom, as "kind name" → "kind name" of the only owner.
func tree(t *testing.T, spec build.ClusterSpec) map[string]string {
	t.Helper()
	names := map[types.UID]string{}
	got := map[string]string{}
	for _, o := range spec.Objects() {
		name := fmt.Sprintf("%s %s", o.GetObjectKind().GroupVersionKind().Kind, o.GetName())
		if names[o.GetUID()] != "" {
			t.Errorf("%s and %s have one UID", name, names[o.GetUID()])
		}
		names[o.GetUID()] = name
		if o.GetNamespace() != spec.Namespace() {
			t.Errorf("%s is in namespace %q", name, o.GetNamespace())
		}
		owner := ""
		for _, r := range o.GetOwnerReferences() {
			owner = names[r.UID] // empty if the owner comes later
		}
		got[name] = owner
	}
	return got
}

func TestObjectsAreOwnedAsClusterAPIOwnsThem(t *testing.T) {
	spec := build.Cluster("shop", "eu-1").ControlPlane(2).Pool("a", 1).Pool("b", 2)
	want := map[string]string{
		"Cluster eu-1":             "",
		"CK8sControlPlane eu-1-cp": "Cluster eu-1",
		"Machine eu-1-cp-0":        "CK8sControlPlane eu-1-cp",
		"Machine eu-1-cp-1":        "CK8sControlPlane eu-1-cp",
		"MachineDeployment eu-1-a": "Cluster eu-1",
		"MachineDeployment eu-1-b": "Cluster eu-1",
	}
	for _, o := range spec.Objects() {
		ms, ok := o.(*clusterv1.MachineSet)
		if !ok {
			continue
		}
		md := ms.Labels[clusterv1.MachineDeploymentNameLabel]
		want["MachineSet "+ms.Name] = "MachineDeployment " + md
		for i := range *ms.Spec.Replicas {
			want[fmt.Sprintf("Machine %s-%d", md, i)] = "MachineSet " + ms.Name
		}
	}
	if len(want) != 11 {
		t.Fatalf("%d objects wanted, not 11: %v", len(want), want)
	}
	if diff := cmp.Diff(want, tree(t, spec)); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}

func TestMachinesAreFoundByLabels(t *testing.T) {
	got := map[string]map[string]string{}
	var hash, set string
	for _, o := range build.Cluster("shop", "eu-1").Pool("a", 1).Objects() {
		switch o := o.(type) {
		case *clusterv1.MachineSet:
			set, hash = o.Name, o.Labels[clusterv1.MachineDeploymentUniqueLabel]
		case *clusterv1.Machine:
			got[o.Name] = o.Labels
		}
	}
	want := map[string]map[string]string{
		"eu-1-cp-0": {
			"cluster.x-k8s.io/cluster-name": "eu-1", "cluster.x-k8s.io/control-plane": "",
			"cluster.x-k8s.io/control-plane-name": "eu-1-cp",
		},
		"eu-1-a-0": {
			"cluster.x-k8s.io/cluster-name": "eu-1", "cluster.x-k8s.io/deployment-name": "eu-1-a",
			"cluster.x-k8s.io/set-name": set, "machine-template-hash": hash,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if hash == "" || set != "eu-1-a-"+hash {
		t.Errorf("machine set %q has the hash %q", set, hash)
	}
}

func TestOneBuilderIsTheTemplateOfMany(t *testing.T) {
	template := build.Cluster("shop", "eu-1").Label("tier", "prod").Pool("a", 1)
	_ = template.Label("tier", "canary").Annotate("x", "y").Pool("b", 1).Paused().At("v1.34.0").ControlPlane(0)
	c := template.ClusterObject()
	if diff := cmp.Diff(map[string]string{"tier": "prod"}, c.Labels); diff != "" {
		t.Errorf("labels of the template (-want +got):\n%s", diff)
	}
	if len(template.Machines()) != 2 || c.Spec.Paused != nil || c.Annotations != nil || template.Version() != "v1.33.4" {
		t.Errorf("a copy changed its template: %+v", template)
	}
}

func TestWordsReachTheirFields(t *testing.T) {
	const release = "channel=1.33-classic/stable"
	spec := build.Cluster("shop", "eu-1").Pool("a", 1).At("v1.32.1").Release(release).OwnerRelease("revision=12").
		Annotate("k", "v").Paused()
	c := spec.ClusterObject()
	if c.Annotations["k"] != "v" || c.Spec.Paused == nil || !*c.Spec.Paused {
		t.Errorf("the Cluster is not annotated or not paused: %+v", c)
	}
	wantRef := clusterv1.ContractVersionedObjectReference{
		APIGroup: "controlplane.cluster.x-k8s.io", Kind: "CK8sControlPlane", Name: "eu-1-cp",
	}
	if diff := cmp.Diff(wantRef, c.Spec.ControlPlaneRef); diff != "" {
		t.Errorf("controlPlaneRef (-want +got):\n%s", diff)
	}
	for _, m := range spec.Machines() {
		if m.Annotations[build.Release] != release || m.Spec.Version != "v1.32.1" || m.Spec.ClusterName != "eu-1" {
			t.Errorf("machine %s: release %q, version %q", m.Name, m.Annotations[build.Release], m.Spec.Version)
		}
	}
	for _, o := range spec.Objects() {
		switch o := o.(type) {
		case *unstructured.Unstructured, *clusterv1.MachineDeployment:
			if o.GetAnnotations()[build.Release] != "revision=12" {
				t.Errorf("owner %s: annotations %v", o.GetName(), o.GetAnnotations())
			}
		}
	}
}

func TestClusterWithoutControlPlaneRefersToNone(t *testing.T) {
	spec := build.Cluster("shop", "eu-1").ControlPlane(0)
	if c := spec.ClusterObject(); c.Spec.ControlPlaneRef.IsDefined() || len(spec.Objects()) != 1 {
		t.Errorf("%+v, %d objects", c.Spec, len(spec.Objects()))
	}
}
