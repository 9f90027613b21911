// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/engine/capi"
)

// read reads YAML as an API server's answer is read: whole numbers are int64.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

const machineV1beta2 = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata:
  namespace: shop
  name: eu-1-cp-x
  uid: u1
  resourceVersion: "7"
  labels: {cluster.x-k8s.io/control-plane: "", cluster.x-k8s.io/cluster-name: other}
  annotations: {cluster.x-k8s.io/paused: ""}
  deletionTimestamp: "2026-11-30T02:00:00Z"
  managedFields: [{manager: x, operation: Update}]
spec: {clusterName: eu-1, version: v1.33.4, providerID: "x://1"}
status:
  phase: Running
  nodeRef: {name: node-1}
  nodeInfo: {kubeletVersion: v1.33.9, architecture: arm64, osImage: Ubuntu}
  conditions:
  - {type: NodeReady, status: "True", reason: a, message: b}
  - {type: NodeHealthy, status: "False"}
  - {type: HealthCheckSucceeded, status: "Unknown"}
`

const machineV1beta1 = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata:
  namespace: shop
  name: eu-1-md-x
  labels: {cluster.x-k8s.io/deployment-name: eu-1-md, cluster.x-k8s.io/cluster-name: eu-1}
spec: {version: v1.33.4}
status:
  nodeRef: {kind: Node, name: node-2, apiVersion: v1}
  nodeInfo: {kubeletVersion: v1.33.4, architecture: amd64}
  conditions:
  - {type: Ready, status: "True"}
  - {type: NodeHealthy, status: "False"}
  v1beta2:
    conditions:
    - {type: NodeReady, status: "True"}
    - {type: NodeHealthy, status: "True"}
`

const machineOld = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata:
  namespace: shop
  name: eu-1-md-y
  ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, name: eu-1, uid: c1}]
status:
  nodeRef: {name: node-3}
  conditions:
  - {type: NodeHealthy, status: "True"}
  - {type: HealthCheckSucceeded, status: "False"}
`

func TestParseMachine(t *testing.T) {
	cases := map[string]struct {
		text string
		want capi.Machine
	}{
		"v1beta2": {machineV1beta2, capi.Machine{
			Meta: capi.Meta{
				Kind: "Machine", Namespace: "shop", Name: "eu-1-cp-x", UID: "u1", ResourceVersion: "7",
				Labels:      map[string]string{capi.ControlPlaneLabel: "", capi.ClusterNameLabel: "other"},
				Annotations: map[string]string{capi.PausedAnnotation: ""}, Deleting: true, Paused: true,
			},
			Cluster: "eu-1", ControlPlane: true, Version: "v1.33.4", KubeletVersion: "v1.33.9", Architecture: "arm64",
			NodeName: "node-1", Phase: "Running", NodeReady: capi.True, NodeHealthy: capi.False, HealthCheck: capi.Unknown,
		}},
		"v1beta1 keeps today's conditions beside the old ones": {machineV1beta1, capi.Machine{
			Meta: capi.Meta{
				Kind: "Machine", Namespace: "shop", Name: "eu-1-md-x",
				Labels: map[string]string{capi.DeploymentNameLabel: "eu-1-md", capi.ClusterNameLabel: "eu-1"},
			},
			Cluster: "eu-1", Deployment: "eu-1-md", Version: "v1.33.4", KubeletVersion: "v1.33.4", Architecture: "amd64",
			NodeName: "node-2", NodeReady: capi.True, NodeHealthy: capi.True,
		}},
		"v1beta1 with only the old conditions": {machineOld, capi.Machine{
			Meta:    capi.Meta{Kind: "Machine", Namespace: "shop", Name: "eu-1-md-y"},
			Cluster: "eu-1", NodeName: "node-3", NodeReady: capi.True, NodeHealthy: capi.True, HealthCheck: capi.False,
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, capi.ParseMachine(read(t, c.text))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseCluster(t *testing.T) {
	want := func(change func(*capi.Cluster)) capi.Cluster {
		c := capi.Cluster{Meta: capi.Meta{Kind: "Cluster", Namespace: "shop", Name: "eu-1", UID: "c1"}}
		c.ControlPlaneRef = capi.Ref{Group: "controlplane.cluster.x-k8s.io", Kind: "CK8sControlPlane", Name: "eu-1-cp"}
		change(&c)
		return c
	}
	const head = "kind: Cluster\nmetadata: {namespace: shop, name: eu-1, uid: c1}\n"
	cases := map[string]struct {
		text string
		want capi.Cluster
	}{
		"v1beta2 refers by group": {
			"apiVersion: cluster.x-k8s.io/v1beta2\n" + head + `
spec: {controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: CK8sControlPlane, name: eu-1-cp}}
status: {conditions: [{type: Available, status: "True"}, {type: RemoteConnectionProbe, status: "True"}]}`,
			want(func(c *capi.Cluster) { c.Available, c.Connected = capi.True, capi.True }),
		},
		"v1beta1 refers by version": {
			"apiVersion: cluster.x-k8s.io/v1beta1\n" + head + `
spec:
  paused: true
  controlPlaneRef:
    {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: CK8sControlPlane, name: eu-1-cp, namespace: shop}
status: {v1beta2: {conditions: [{type: RemoteConnectionProbe, status: "False"}]}}`,
			want(func(c *capi.Cluster) { c.SpecPaused, c.Connected = true, capi.False }),
		},
		"without a control plane, paused in a field of another type": {
			"apiVersion: cluster.x-k8s.io/v1beta2\n" + head + "spec: {paused: \"true\"}",
			want(func(c *capi.Cluster) { c.ControlPlaneRef = capi.Ref{} }),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := capi.ParseCluster(read(t, c.text))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.IsPaused() != c.want.SpecPaused {
				t.Errorf("paused: %t", got.IsPaused())
			}
		})
	}
	if c := (capi.Cluster{Meta: capi.Meta{Paused: true}}); !c.IsPaused() {
		t.Error("a cluster with the paused annotation is not paused")
	}
}

func TestParseOwners(t *testing.T) {
	t.Run("a control plane, its cluster told by label", func(t *testing.T) {
		got := capi.ParseControlPlane(read(t, `
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: CK8sControlPlane
metadata: {namespace: shop, name: eu-1-cp, labels: {cluster.x-k8s.io/cluster-name: eu-1}}
spec: {replicas: 3, version: v1.33.4}
status: {replicas: 3, readyReplicas: 2, conditions: [{type: Available, status: "False"}]}`))
		want := capi.ControlPlane{
			Meta: capi.Meta{
				Kind: "CK8sControlPlane", Namespace: "shop", Name: "eu-1-cp",
				Labels: map[string]string{capi.ClusterNameLabel: "eu-1"},
			},
			Cluster: "eu-1", Version: "v1.33.4", Replicas: new(int32(3)), StatusReplicas: 3, ReadyReplicas: 2,
			Available: capi.False,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a machine deployment without replicas", func(t *testing.T) {
		got := capi.ParseMachineDeployment(read(t, `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {namespace: shop, name: eu-1-md}
spec: {clusterName: eu-1, template: {spec: {version: v1.33.4}}}
status: {readyReplicas: 1}`))
		want := capi.MachineDeployment{
			Meta:    capi.Meta{Kind: "MachineDeployment", Namespace: "shop", Name: "eu-1-md"},
			Cluster: "eu-1", Version: "v1.33.4", ReadyReplicas: 1,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	for name, c := range map[string]struct{ controller, deployment string }{
		"a machine set of a deployment":                  {"true", "eu-1-md"},
		"a machine set that a deployment only refers to": {"false", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := capi.ParseMachineSet(read(t, `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata:
  namespace: shop
  name: eu-1-md-1
  ownerReferences:
  - {apiVersion: x/v1, kind: MachineDeployment, name: eu-1-md, uid: d1, controller: `+c.controller+`}
spec: {clusterName: eu-1, replicas: 0}`))
			want := capi.MachineSet{
				Meta:    capi.Meta{Kind: "MachineSet", Namespace: "shop", Name: "eu-1-md-1"},
				Cluster: "eu-1", Deployment: c.deployment, Replicas: new(int32(0)),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
