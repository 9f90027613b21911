// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// dialect is the version of Cluster API that a member serves. Inside this package all objects are v1beta2.
type dialect struct {
	old bool // v1beta1
}

// served turns an object of ours into what the member serves. The library leaves references out: those of v1beta1 say
// namespace and version.
func (d dialect) served(o client.Object) (client.Object, error) {
	if !d.old {
		return o, nil
	}
	switch in := o.(type) {
	case *clusterv1.Cluster:
		out := &clusterv1beta1.Cluster{}
		err := clusterv1beta1.Convert_v1beta2_Cluster_To_v1beta1_Cluster(in, out, nil)
		out.Spec.ControlPlaneRef = oldRef(in.Namespace, in.Spec.ControlPlaneRef)
		out.Spec.InfrastructureRef = oldRef(in.Namespace, in.Spec.InfrastructureRef)
		return out, err
	case *clusterv1.Machine:
		out := &clusterv1beta1.Machine{}
		err := clusterv1beta1.Convert_v1beta2_Machine_To_v1beta1_Machine(in, out, nil)
		completeOld(in.Namespace, in.Spec, &out.Spec)
		return out, err
	case *clusterv1.MachineSet:
		out := &clusterv1beta1.MachineSet{}
		err := clusterv1beta1.Convert_v1beta2_MachineSet_To_v1beta1_MachineSet(in, out, nil)
		completeOld(in.Namespace, in.Spec.Template.Spec, &out.Spec.Template.Spec)
		return out, err
	case *clusterv1.MachineDeployment:
		out := &clusterv1beta1.MachineDeployment{}
		err := clusterv1beta1.Convert_v1beta2_MachineDeployment_To_v1beta1_MachineDeployment(in, out, nil)
		completeOld(in.Namespace, in.Spec.Template.Spec, &out.Spec.Template.Spec)
		return out, err
	}
	return o, nil
}

// completeOld completes a converted MachineSpec: the library also points at empty strings, which v1beta1 refuses.
func completeOld(namespace string, in clusterv1.MachineSpec, out *clusterv1beta1.MachineSpec) {
	for _, field := range []**string{&out.FailureDomain, &out.ProviderID, &out.Version} {
		if *field != nil && **field == "" {
			*field = nil
		}
	}
	if r := oldRef(namespace, in.InfrastructureRef); r != nil {
		out.InfrastructureRef = *r
	}
	out.Bootstrap.ConfigRef = oldRef(namespace, in.Bootstrap.ConfigRef)
}

func oldRef(namespace string, r clusterv1.ContractVersionedObjectReference) *corev1.ObjectReference {
	if !r.IsDefined() {
		return nil
	}
	return &corev1.ObjectReference{APIVersion: r.APIGroup + "/v1beta2", Kind: r.Kind, Namespace: namespace, Name: r.Name}
}

// cluster reads one Cluster.
func (d dialect) cluster(ctx context.Context, r client.Reader, key client.ObjectKey) (*clusterv1.Cluster, error) {
	out := &clusterv1.Cluster{}
	if !d.old {
		return out, r.Get(ctx, key, out)
	}
	var in clusterv1beta1.Cluster
	if err := r.Get(ctx, key, &in); err != nil {
		return nil, err
	}
	err := clusterv1beta1.Convert_v1beta1_Cluster_To_v1beta2_Cluster(&in, out, nil)
	if r := in.Spec.ControlPlaneRef; r != nil {
		out.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{
			APIGroup: r.GroupVersionKind().Group, Kind: r.Kind, Name: r.Name,
		}
	}
	return out, err
}

// members are the objects of a cluster that the mirror writes beside Cluster and control plane.
type members struct {
	machines []clusterv1.Machine
	sets     []clusterv1.MachineSet
	pools    []clusterv1.MachineDeployment
}

// members reads what belongs to a cluster.
func (d dialect) members(ctx context.Context, r client.Reader, key client.ObjectKey) (members, error) {
	of := []client.ListOption{
		client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name},
	}
	if d.old {
		return oldMembers(ctx, r, of)
	}
	var machines clusterv1.MachineList
	var sets clusterv1.MachineSetList
	var pools clusterv1.MachineDeploymentList
	for _, list := range []client.ObjectList{&machines, &sets, &pools} {
		if err := r.List(ctx, list, of...); err != nil {
			return members{}, err
		}
	}
	return members{machines.Items, sets.Items, pools.Items}, nil
}

func oldMembers(ctx context.Context, r client.Reader, of []client.ListOption) (members, error) {
	var machines clusterv1beta1.MachineList
	var sets clusterv1beta1.MachineSetList
	var pools clusterv1beta1.MachineDeploymentList
	for _, list := range []client.ObjectList{&machines, &sets, &pools} {
		if err := r.List(ctx, list, of...); err != nil {
			return members{}, err
		}
	}
	m := members{
		make([]clusterv1.Machine, len(machines.Items)), make([]clusterv1.MachineSet, len(sets.Items)),
		make([]clusterv1.MachineDeployment, len(pools.Items)),
	}
	var errs []error
	for i := range machines.Items {
		errs = append(errs,
			clusterv1beta1.Convert_v1beta1_Machine_To_v1beta2_Machine(&machines.Items[i], &m.machines[i], nil))
	}
	for i := range sets.Items {
		errs = append(errs,
			clusterv1beta1.Convert_v1beta1_MachineSet_To_v1beta2_MachineSet(&sets.Items[i], &m.sets[i], nil))
	}
	for i := range pools.Items {
		errs = append(errs,
			clusterv1beta1.Convert_v1beta1_MachineDeployment_To_v1beta2_MachineDeployment(&pools.Items[i], &m.pools[i], nil))
	}
	for _, err := range errs {
		if err != nil {
			return members{}, fmt.Errorf("reading v1beta1 objects: %w", err)
		}
	}
	return m, nil
}

// watched are empty objects of the kinds that the mirror watches in the member.
func (d dialect) watched() []client.Object {
	if d.old {
		return []client.Object{
			&clusterv1beta1.Cluster{}, &clusterv1beta1.Machine{}, &clusterv1beta1.MachineSet{},
			&clusterv1beta1.MachineDeployment{},
		}
	}
	return []client.Object{
		&clusterv1.Cluster{}, &clusterv1.Machine{}, &clusterv1.MachineSet{}, &clusterv1.MachineDeployment{},
	}
}
