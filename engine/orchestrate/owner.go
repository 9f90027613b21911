// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-dev/windlass/engine/capi"
)

// Owner is what differs between the kinds of owners.
type Owner interface {
	// Subject reads an object of the kind.
	Subject(o *unstructured.Unstructured) Subject
	// Owns tells whether a machine of the subject's cluster is one of its machines.
	Owns(s Subject, m capi.Machine) bool
	// RollsOut says why an object of the kind is replacing its machines, or is about to; empty: it is not. sets are
	// its MachineSets, machines its machines.
	RollsOut(o *unstructured.Unstructured, sets []capi.MachineSet, machines []capi.Machine) string
}

// Subject is one owner as plain values.
type Subject struct {
	capi.Meta

	GVK schema.GroupVersionKind
	// Cluster is the name of its cluster.
	Cluster string
	// Replicas that it should have; nil: not known.
	Replicas *int32
	// Serial: its machines are upgraded one at a time, under the cluster's lock, with all others healthy.
	Serial bool
	// Ready judges the owner as a whole: no machine begins unless it is good.
	Ready capi.Verdict
}

// ControlPlane is the owner of control plane machines, of any kind that follows the contract.
type ControlPlane struct{}

// Subject reads a control plane object.
func (ControlPlane) Subject(o *unstructured.Unstructured) Subject {
	cp := capi.ParseControlPlane(o)
	s := Subject{
		Meta: cp.Meta, GVK: o.GroupVersionKind(), Cluster: cp.Cluster, Replicas: cp.Replicas, Serial: true,
		Ready: cp.Health(),
	}
	if s.Ready.Good() {
		s.Ready = cp.Etcd()
	}
	return s
}

// Owns takes every control plane machine of the cluster, whoever owns it: the quorum is the cluster's.
func (ControlPlane) Owns(_ Subject, m capi.Machine) bool { return m.ControlPlane }

// RollsOut goes by what the machines and the control plane say: it has no MachineSets.
func (ControlPlane) RollsOut(o *unstructured.Unstructured, _ []capi.MachineSet, machines []capi.Machine) string {
	return capi.ParseControlPlane(o).RollsOut(machines)
}

// MachineDeployment is the owner of a pool of workers.
type MachineDeployment struct{}

// Subject reads a MachineDeployment.
func (MachineDeployment) Subject(o *unstructured.Unstructured) Subject {
	md := capi.ParseMachineDeployment(o)
	return Subject{
		Meta: md.Meta, GVK: o.GroupVersionKind(), Cluster: md.Cluster, Replicas: md.Replicas,
		Ready: capi.Verdict{Status: capi.True},
	}
}

// Owns goes by label, over all MachineSets: machines move between them, and old ones stay behind empty.
func (MachineDeployment) Owns(s Subject, m capi.Machine) bool {
	return !m.ControlPlane && m.Deployment == s.Name
}

// RollsOut counts the MachineSets that have machines, or should.
func (MachineDeployment) RollsOut(
	o *unstructured.Unstructured, sets []capi.MachineSet, machines []capi.Machine,
) string {
	return capi.ParseMachineDeployment(o).RollsOut(sets, machines)
}
