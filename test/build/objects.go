// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"hash/fnv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	controlPlaneGroup   = "controlplane.cluster.x-k8s.io"
	controlPlaneKind    = "CK8sControlPlane"
	bootstrapGroup      = "bootstrap.cluster.x-k8s.io"
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
)

// ControlPlaneGVK is the control plane kind of the Canonical provider, contract v1beta1 in spite of its name.
func ControlPlaneGVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: controlPlaneGroup, Version: "v1beta2", Kind: controlPlaneKind}
}

// Objects are all objects of the cluster, owners before what they own, linked by labels and owner references as
// Cluster API links them. Their UIDs are made up: a caller that creates them for real replaces them, in the owner
// references too. Statuses are empty.
func (c ClusterSpec) Objects() []client.Object {
	cluster := c.ClusterObject()
	objects := []client.Object{cluster}
	if c.controlPlanes > 0 {
		cp := c.controlPlane(cluster)
		objects = append(objects, cp)
		for i := range c.controlPlanes {
			m := c.machine(fmt.Sprintf("%s-%d", cp.GetName(), i), cp)
			m.Labels[clusterv1.MachineControlPlaneLabel] = ""
			m.Labels[clusterv1.MachineControlPlaneNameLabel] = cp.GetName()
			objects = append(objects, m)
		}
	}
	for _, p := range c.pools {
		md := c.machineDeployment(p, cluster)
		ms := c.machineSet(md)
		objects = append(objects, md, ms)
		for i := range p.replicas {
			m := c.machine(fmt.Sprintf("%s-%d", md.Name, i), ms)
			m.Labels[clusterv1.MachineDeploymentNameLabel] = md.Name
			m.Labels[clusterv1.MachineSetNameLabel] = ms.Name
			m.Labels[clusterv1.MachineDeploymentUniqueLabel] = ms.Labels[clusterv1.MachineDeploymentUniqueLabel]
			objects = append(objects, m)
		}
	}
	return objects
}

// Machines are the Machines of Objects alone.
func (c ClusterSpec) Machines() []*clusterv1.Machine {
	var machines []*clusterv1.Machine
	for _, o := range c.Objects() {
		if m, ok := o.(*clusterv1.Machine); ok {
			machines = append(machines, m)
		}
	}
	return machines
}

func (c ClusterSpec) controlPlane(cluster *clusterv1.Cluster) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": int64(c.controlPlanes),
		"version":  c.version,
		"machineTemplate": map[string]any{"infrastructureTemplate": map[string]any{
			"apiVersion": infrastructureGroup + "/v1beta2", "kind": "DevMachineTemplate", "name": c.name + "-cp",
		}},
		"spec": map[string]any{"controlPlane": map[string]any{}},
	}}}
	u.SetGroupVersionKind(ControlPlaneGVK())
	u.SetNamespace(c.namespace)
	u.SetName(c.controlPlaneName())
	u.SetUID(uid(controlPlaneKind, c.namespace, u.GetName()))
	u.SetLabels(c.clusterLabel())
	u.SetAnnotations(c.ownerAnnotations())
	u.SetOwnerReferences([]metav1.OwnerReference{owned(cluster, true)})
	return u
}

func (c ClusterSpec) machineDeployment(p pool, cluster *clusterv1.Cluster) *clusterv1.MachineDeployment {
	name := c.name + "-" + p.name
	selector := c.clusterLabel()
	selector[clusterv1.MachineDeploymentNameLabel] = name
	return &clusterv1.MachineDeployment{
		TypeMeta: typeMeta("MachineDeployment"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.namespace, Name: name, UID: uid("MachineDeployment", c.namespace, name),
			Labels: c.clusterLabel(), Annotations: c.ownerAnnotations(),
			OwnerReferences: []metav1.OwnerReference{owned(cluster, false)},
		},
		Spec: clusterv1.MachineDeploymentSpec{
			ClusterName: c.name,
			Replicas:    new(p.replicas),
			Selector:    metav1.LabelSelector{MatchLabels: selector},
			Template: clusterv1.MachineTemplateSpec{
				ObjectMeta: clusterv1.ObjectMeta{Labels: selector},
				Spec: clusterv1.MachineSpec{
					ClusterName:       c.name,
					Version:           c.version,
					Bootstrap:         clusterv1.Bootstrap{ConfigRef: ref(bootstrapGroup, "CK8sConfigTemplate", name)},
					InfrastructureRef: ref(infrastructureGroup, "DevMachineTemplate", name),
				},
			},
		},
	}
}

func (c ClusterSpec) machineSet(md *clusterv1.MachineDeployment) *clusterv1.MachineSet {
	h := fnv.New32a()
	_, _ = h.Write([]byte(md.Name + md.Spec.Template.Spec.Version)) // never fails
	hash := fmt.Sprintf("%08x", h.Sum32())[:5]
	template := *md.Spec.Template.DeepCopy()
	template.Labels[clusterv1.MachineDeploymentUniqueLabel] = hash
	labels := with(template.Labels, clusterv1.ClusterNameLabel, c.name)
	name := md.Name + "-" + hash
	return &clusterv1.MachineSet{
		TypeMeta: typeMeta("MachineSet"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.namespace, Name: name, UID: uid("MachineSet", c.namespace, name),
			Labels: labels, OwnerReferences: []metav1.OwnerReference{owned(md, true)},
		},
		Spec: clusterv1.MachineSetSpec{
			ClusterName: c.name,
			Replicas:    new(*md.Spec.Replicas),
			Selector:    metav1.LabelSelector{MatchLabels: with(template.Labels, clusterv1.ClusterNameLabel, c.name)},
			Template:    template,
		},
	}
}

func (c ClusterSpec) machine(name string, owner client.Object) *clusterv1.Machine {
	m := &clusterv1.Machine{
		TypeMeta: typeMeta("Machine"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.namespace, Name: name, UID: uid("Machine", c.namespace, name),
			Labels: c.clusterLabel(), OwnerReferences: []metav1.OwnerReference{owned(owner, true)},
		},
		Spec: clusterv1.MachineSpec{
			ClusterName:       c.name,
			Version:           c.version,
			ProviderID:        "dev:////" + c.namespace + "/" + name,
			Bootstrap:         clusterv1.Bootstrap{ConfigRef: ref(bootstrapGroup, "CK8sConfig", name)},
			InfrastructureRef: ref(infrastructureGroup, "DevMachine", name),
		},
	}
	m.Spec.Bootstrap.DataSecretName = new(name)
	if c.release != "" {
		m.Annotations = map[string]string{Release: c.release}
	}
	return m
}

func (c ClusterSpec) clusterLabel() map[string]string {
	return map[string]string{clusterv1.ClusterNameLabel: c.name}
}

// owned is the reference of what owner owns. Its kind must be set on the object.
func owned(owner client.Object, controller bool) metav1.OwnerReference {
	gvk := owner.GetObjectKind().GroupVersionKind()
	r := metav1.OwnerReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID(),
	}
	if controller {
		r.Controller, r.BlockOwnerDeletion = new(true), new(true)
	}
	return r
}

func ref(group, kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: kind, Name: name}
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: kind}
}
