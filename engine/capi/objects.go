// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Meta is what every object has.
type Meta struct {
	Kind                string
	Namespace, Name     string
	UID                 types.UID
	ResourceVersion     string
	Labels, Annotations map[string]string
	// Deleting: a deletion timestamp is set.
	Deleting bool
	// Paused: the object carries Cluster API's paused annotation, whatever its value.
	Paused bool
}

// Key is the object's namespace and name.
func (m Meta) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
}

// Ref names an object in the same namespace, without a version.
type Ref struct{ Group, Kind, Name string }

// Cluster is a workload cluster as Cluster API knows it.
type Cluster struct {
	Meta
	// SpecPaused: spec.paused is true; nothing of the cluster is reconciled.
	SpecPaused      bool
	ControlPlaneRef Ref
	// Available is the condition of that name, Connected is RemoteConnectionProbe; Unknown where not served.
	Available, Connected Status
}

// IsPaused reports whether the cluster is paused in either way.
func (c Cluster) IsPaused() bool { return c.SpecPaused || c.Paused }

// ControlPlane is a control plane object of any kind that follows the contract.
type ControlPlane struct {
	Meta
	// Cluster is the name of the cluster it belongs to.
	Cluster string
	Version string
	// Replicas is spec.replicas, nil when absent; the others are from status.
	Replicas                      *int32
	StatusReplicas, ReadyReplicas int32
	// UpToDateReplicas have the spec that machines should have now; nil where not served.
	UpToDateReplicas *int32
	// Available, RollingOut, SpecUpToDate and EtcdHealthy are conditions; Unknown where not served. SpecUpToDate is
	// what v1beta1 has for RollingOut.
	Available, RollingOut, SpecUpToDate, EtcdHealthy Status
}

// MachineDeployment is a pool of workers.
type MachineDeployment struct {
	Meta
	Cluster, Version              string
	Replicas                      *int32
	StatusReplicas, ReadyReplicas int32
	// RollingOut is the condition of that name; Unknown where not served.
	RollingOut Status
	// Unseen: the spec has changed and its controller has not looked at it yet.
	Unseen bool
}

// MachineSet is one generation of a MachineDeployment, or stands alone.
type MachineSet struct {
	Meta
	Cluster string
	// Deployment is the MachineDeployment that controls it, empty when it stands alone.
	Deployment string
	Replicas   *int32
	// StatusReplicas are the machines that it has.
	StatusReplicas int32
}

// Machine is one machine.
type Machine struct {
	Meta
	Cluster string
	// ControlPlane tells a control plane machine from a worker; Deployment is a worker's MachineDeployment.
	ControlPlane bool
	Deployment   string
	// Set is the MachineSet that controls a worker; empty: none does.
	Set string
	// Version is spec.version, which in-place upgrades leave alone; KubeletVersion is what the node runs.
	Version, KubeletVersion, Architecture string
	NodeName, Phase                       string
	NodeReady, NodeHealthy, HealthCheck   Status
	// SpecUpToDate: the machine has the spec that its owner wants, else it is to be replaced; Unknown where not served.
	// That its node runs another version than spec.version, as after each upgrade in place, is no matter of spec.
	SpecUpToDate Status
	// EtcdMember and EtcdPod are conditions of control plane machines; Unknown where etcd is not visible.
	EtcdMember, EtcdPod Status
}

// ParseCluster reads a Cluster.
func ParseCluster(u *unstructured.Unstructured) Cluster {
	o := object{u.Object}
	ref := Ref{
		Group: o.text("spec", "controlPlaneRef", "apiGroup"),
		Kind:  o.text("spec", "controlPlaneRef", "kind"),
		Name:  o.text("spec", "controlPlaneRef", "name"),
	}
	if gv, err := schema.ParseGroupVersion(o.text("spec", "controlPlaneRef", "apiVersion")); err == nil && ref.Group == "" {
		ref.Group = gv.Group
	}
	paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
	return Cluster{
		Meta: metaOf(u), SpecPaused: paused, ControlPlaneRef: ref,
		Available: o.condition("Available"), Connected: o.condition("RemoteConnectionProbe"),
	}
}

// ParseControlPlane reads a control plane object.
func ParseControlPlane(u *unstructured.Unstructured) ControlPlane {
	o := object{u.Object}
	return ControlPlane{
		Meta: metaOf(u), Cluster: clusterOf(u), Version: o.text("spec", "version"),
		Replicas:       o.count("spec", "replicas"),
		StatusReplicas: orZero(o.count("status", "replicas")),
		ReadyReplicas:  orZero(o.count("status", "readyReplicas")),
		UpToDateReplicas: o.countOr(
			[]string{"status", "upToDateReplicas"}, []string{"status", "updatedReplicas"}),
		Available: o.condition("Available"), RollingOut: o.condition("RollingOut"),
		SpecUpToDate: o.condition("MachinesSpecUpToDate"), EtcdHealthy: o.condition("EtcdClusterHealthy"),
	}
}

// ParseMachineDeployment reads a MachineDeployment.
func ParseMachineDeployment(u *unstructured.Unstructured) MachineDeployment {
	o := object{u.Object}
	return MachineDeployment{
		Meta: metaOf(u), Cluster: clusterOf(u), Version: o.text("spec", "template", "spec", "version"),
		Replicas:       o.count("spec", "replicas"),
		StatusReplicas: orZero(o.count("status", "replicas")),
		ReadyReplicas:  orZero(o.count("status", "readyReplicas")),
		RollingOut:     o.condition("RollingOut"),
		Unseen:         o.unseen(u.GetGeneration()),
	}
}

// ParseMachineSet reads a MachineSet.
func ParseMachineSet(u *unstructured.Unstructured) MachineSet {
	o := object{u.Object}
	return MachineSet{
		Meta: metaOf(u), Cluster: clusterOf(u), Deployment: controllerOf(u, "MachineDeployment"),
		Replicas: o.count("spec", "replicas"), StatusReplicas: orZero(o.count("status", "replicas")),
	}
}

// ParseMachine reads a Machine. Its pool is told by label: in-place moves change its MachineSet.
func ParseMachine(u *unstructured.Unstructured) Machine {
	o := object{u.Object}
	labels := u.GetLabels()
	_, controlPlane := labels[ControlPlaneLabel]
	return Machine{
		Meta: metaOf(u), Cluster: clusterOf(u), ControlPlane: controlPlane, Deployment: labels[DeploymentNameLabel],
		Set:            controllerOf(u, "MachineSet"),
		Version:        o.text("spec", "version"),
		KubeletVersion: o.text("status", "nodeInfo", "kubeletVersion"),
		Architecture:   o.text("status", "nodeInfo", "architecture"),
		NodeName:       o.text("status", "nodeRef", "name"),
		Phase:          o.text("status", "phase"),
		NodeReady:      o.conditionOr("NodeReady", "NodeHealthy"),
		NodeHealthy:    o.condition("NodeHealthy"),
		HealthCheck:    o.condition("HealthCheckSucceeded"),
		SpecUpToDate:   o.specUpToDate(),
		EtcdMember:     o.condition("EtcdMemberHealthy"),
		EtcdPod:        o.condition("EtcdPodHealthy"),
	}
}

func metaOf(u *unstructured.Unstructured) Meta {
	_, paused := u.GetAnnotations()[PausedAnnotation]
	return Meta{
		Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(),
		ResourceVersion: u.GetResourceVersion(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
		Deleting: u.GetDeletionTimestamp() != nil, Paused: paused,
	}
}

// controllerOf names the object of a kind that controls another; empty: none does.
func controllerOf(u *unstructured.Unstructured, kind string) string {
	for _, ref := range u.GetOwnerReferences() {
		if ref.Kind == kind && ref.Controller != nil && *ref.Controller {
			return ref.Name
		}
	}
	return ""
}

// clusterOf names the cluster of an object: by spec, else by label, else by its owner.
func clusterOf(u *unstructured.Unstructured) string {
	if name := (object{u.Object}).text("spec", "clusterName"); name != "" {
		return name
	}
	if name := u.GetLabels()[ClusterNameLabel]; name != "" {
		return name
	}
	for _, ref := range u.GetOwnerReferences() {
		if ref.Kind == "Cluster" {
			return ref.Name
		}
	}
	return ""
}
