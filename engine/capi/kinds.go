// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of Cluster API's core kinds.
const Group = "cluster.x-k8s.io"

// Labels and annotations of Cluster API.
const (
	ClusterNameLabel      = Group + "/cluster-name"
	DeploymentNameLabel   = Group + "/deployment-name"
	SetNameLabel          = Group + "/set-name"
	ControlPlaneLabel     = Group + "/control-plane"
	ControlPlaneNameLabel = Group + "/control-plane-name"
	PoolNameLabel         = Group + "/pool-name"
	PausedAnnotation      = Group + "/paused"
	// SkipRemediationAnnotation on a machine: no MachineHealthCheck has it replaced, whatever the value.
	SkipRemediationAnnotation = Group + "/skip-remediation"
)

// versions of Cluster API's core kinds that can be read, best first.
var versions = [...]string{"v1beta2", "v1beta1"}

// Kinds are the kinds that one member serves, in the version to read them in.
type Kinds struct {
	Cluster, Machine, MachineSet, MachineDeployment schema.GroupVersionKind
	// ControlPlanes are the supported control plane kinds that are served.
	ControlPlanes []schema.GroupVersionKind
}

// Discover finds the served version of every kind; controlPlanes that are not served are left out. The error is
// meta.IsNoMatchError when Cluster API is not installed.
func Discover(mapper meta.RESTMapper, controlPlanes []schema.GroupKind) (Kinds, error) {
	gv, err := served(mapper)
	if err != nil {
		return Kinds{}, err
	}
	k := Kinds{
		Cluster:           gv.WithKind("Cluster"),
		Machine:           gv.WithKind("Machine"),
		MachineSet:        gv.WithKind("MachineSet"),
		MachineDeployment: gv.WithKind("MachineDeployment"),
	}
	for _, gk := range controlPlanes {
		mapping, err := mapper.RESTMapping(gk)
		switch {
		case meta.IsNoMatchError(err):
			continue
		case err != nil:
			return Kinds{}, err
		}
		k.ControlPlanes = append(k.ControlPlanes, mapping.GroupVersionKind)
	}
	return k, nil
}

// served finds the best version of Cluster API that is served.
func served(mapper meta.RESTMapper) (schema.GroupVersion, error) {
	var missing error
	for _, version := range versions {
		core, err := mapper.RESTMapping(schema.GroupKind{Group: Group, Kind: "Cluster"}, version)
		switch {
		case err == nil:
			return core.GroupVersionKind.GroupVersion(), nil
		case !meta.IsNoMatchError(err):
			return schema.GroupVersion{}, err
		}
		missing = err
	}
	return schema.GroupVersion{}, missing
}

// DefaultControlPlanes are the control plane kinds that are driven unless configured otherwise.
func DefaultControlPlanes() []schema.GroupKind {
	return []schema.GroupKind{{Group: "controlplane.cluster.x-k8s.io", Kind: "CK8sControlPlane"}}
}

// All returns every kind, core kinds first.
func (k Kinds) All() []schema.GroupVersionKind {
	return append([]schema.GroupVersionKind{k.Cluster, k.Machine, k.MachineSet, k.MachineDeployment},
		k.ControlPlanes...)
}

// ControlPlane returns the served kind that a reference names, false when it is not a supported one.
func (k Kinds) ControlPlane(ref Ref) (schema.GroupVersionKind, bool) {
	for _, gvk := range k.ControlPlanes {
		if gvk.Group == ref.Group && gvk.Kind == ref.Kind {
			return gvk, true
		}
	}
	return schema.GroupVersionKind{}, false
}

// Object returns an empty object of a kind, to read into.
func Object(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// List returns an empty list of a kind, to list into.
func List(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	return l
}
