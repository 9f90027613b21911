// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package build makes the objects of tests in words: what is not said is as a healthy world has it.
//
//	build.Cluster("shop", "eu-1").Label("tier", "prod").ControlPlane(3).Pool("a", 2).Pool("b", 3).At("v1.33.4")
//
// Builders are values: each word returns a changed copy, so one builder can be the template of many.
package build

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Prefix of the provider's annotations.
const Prefix = "v1beta2.k8sd.io/"

// Release is the annotation that says what a machine, or all machines of an owner, were last upgraded to.
const Release = Prefix + "in-place-upgrade-release"

// ClusterSpec describes a workload cluster and everything that Cluster API has for it in its management cluster.
type ClusterSpec struct {
	namespace, name string
	labels          map[string]string
	annotations     map[string]string
	controlPlanes   int32
	pools           []pool
	version         string
	release         string
	ownerRelease    string
	paused          bool
	own             bool
}

type pool struct {
	name     string
	replicas int32
}

// Cluster is a workload cluster with one control plane machine, no workers, at v1.33.4.
func Cluster(namespace, name string) ClusterSpec {
	return ClusterSpec{namespace: namespace, name: name, controlPlanes: 1, version: "v1.33.4"}
}

// Label puts a label on the Cluster.
func (c ClusterSpec) Label(key, value string) ClusterSpec {
	c.labels = with(c.labels, key, value)
	return c
}

// Annotate puts an annotation on the Cluster.
func (c ClusterSpec) Annotate(key, value string) ClusterSpec {
	c.annotations = with(c.annotations, key, value)
	return c
}

// ControlPlane sets the number of control plane machines. 0: none, and no control plane object.
func (c ClusterSpec) ControlPlane(replicas int32) ClusterSpec {
	c.controlPlanes = replicas
	return c
}

// Pool adds a MachineDeployment <cluster>-<name> with its MachineSet and that many machines.
func (c ClusterSpec) Pool(name string, replicas int32) ClusterSpec {
	c.pools = append(slices.Clone(c.pools), pool{name, replicas})
	return c
}

// At sets the Kubernetes version that specs ask for and kubelets run, with its leading v.
func (c ClusterSpec) At(version string) ClusterSpec {
	c.version = version
	return c
}

// Release says that every machine was upgraded in place to target before.
func (c ClusterSpec) Release(target string) ClusterSpec {
	c.release = target
	return c
}

// OwnerRelease leaves the release of an earlier upgrade on the owners, as the provider's orchestrators do.
func (c ClusterSpec) OwnerRelease(target string) ClusterSpec {
	c.ownerRelease = target
	return c
}

// Paused pauses the Cluster.
func (c ClusterSpec) Paused() ClusterSpec {
	c.paused = true
	return c
}

// Own gives the cluster a workload API server of its own, so that it can be taken down alone.
func (c ClusterSpec) Own() ClusterSpec {
	c.own = true
	return c
}

// Namespace of the Cluster and all its objects.
func (c ClusterSpec) Namespace() string { return c.namespace }

// Name of the Cluster.
func (c ClusterSpec) Name() string { return c.name }

// Version that the kubelets run at first.
func (c ClusterSpec) Version() string { return c.version }

// WantsOwn tells whether Own was said.
func (c ClusterSpec) WantsOwn() bool { return c.own }

// ClusterObject is the Cluster alone.
func (c ClusterSpec) ClusterObject() *clusterv1.Cluster {
	o := &clusterv1.Cluster{
		TypeMeta: typeMeta("Cluster"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.namespace, Name: c.name, UID: uid("Cluster", c.namespace, c.name),
			Labels: maps.Clone(c.labels), Annotations: maps.Clone(c.annotations),
		},
		Spec: clusterv1.ClusterSpec{
			ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 6443},
			InfrastructureRef:    ref(infrastructureGroup, "DevCluster", c.name),
		},
	}
	if c.paused {
		o.Spec.Paused = new(true)
	}
	if c.controlPlanes > 0 {
		o.Spec.ControlPlaneRef = ref(controlPlaneGroup, controlPlaneKind, c.controlPlaneName())
	}
	return o
}

func (c ClusterSpec) controlPlaneName() string { return c.name + "-cp" }

func (c ClusterSpec) ownerAnnotations() map[string]string {
	if c.ownerRelease == "" {
		return nil
	}
	return map[string]string{Release: c.ownerRelease, Prefix + "in-place-upgrade-status": "done"}
}

func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// uid is the same for the same object in every run, and no other object has it.
func uid(kind, namespace, name string) types.UID {
	return types.UID(kind + "." + namespace + "." + name)
}
