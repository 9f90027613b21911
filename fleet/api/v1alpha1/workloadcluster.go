// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkloadCluster records one Cluster of a management cluster. The hub makes it, beside its ManagementCluster, and keeps
// it; nobody else writes it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=wc,categories=windlass
// +kubebuilder:selectablefield:JSONPath=`.spec.managementCluster`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.status.path`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.controlPlane.version`
// +kubebuilder:printcolumn:name="Machines",type=integer,JSONPath=`.status.machines`
// +kubebuilder:printcolumn:name="Healthy",type=string,JSONPath=`.status.conditions[?(@.type=="Healthy")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Healthy")].reason`
// +kubebuilder:printcolumn:name="Paused",type=string,JSONPath=`.status.conditions[?(@.type=="Paused")].status`
// +kubebuilder:printcolumn:name="Claimed-By",type=string,JSONPath=`.status.claimedBy`
// +kubebuilder:printcolumn:name="Seen",type=date,JSONPath=`.status.observedTime`
type WorkloadCluster struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object. Labels are those of the member's Cluster, without those of tools.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec is the cluster's identity; it never changes.
	// +required
	Spec WorkloadClusterSpec `json:"spec"`
	// status is what was seen of the cluster.
	// +optional
	Status WorkloadClusterStatus `json:"status,omitempty,omitzero"`
}

// WorkloadClusterList is a list of WorkloadClusters.
//
// +kubebuilder:object:root=true
type WorkloadClusterList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []WorkloadCluster `json:"items"`
}

// WorkloadClusterSpec is a workload cluster's identity (law 1).
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a WorkloadCluster's spec is its identity and never changes; a Cluster with another UID is another WorkloadCluster"
type WorkloadClusterSpec struct {
	// managementCluster is the name of the ManagementCluster, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	ManagementCluster string `json:"managementCluster"`
	// cluster is the Cluster in that management cluster.
	// +required
	Cluster ObjectRef `json:"cluster"`
}

// WorkloadClusterStatus is what was seen of a workload cluster.
type WorkloadClusterStatus struct {
	// conditions: Healthy, Paused, ExternalChange.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedTime is when this status last changed.
	// +optional
	ObservedTime *metav1.Time `json:"observedTime,omitempty"`
	// path is how people write the cluster: <management cluster>/<namespace>/<name>.
	// +optional
	// +kubebuilder:validation:MaxLength=360
	Path string `json:"path,omitempty"`
	// controlPlane is the owner of the control plane machines.
	// +optional
	ControlPlane *OwnerStatus `json:"controlPlane,omitempty"`
	// pools are the owners of the workers, at most 100.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Pools []OwnerStatus `json:"pools,omitempty"`
	// machines of the cluster, counted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Machines int32 `json:"machines,omitempty"`
	// claimedBy is who drives the cluster now: "<hub>/<namespace>/<rollout>"; empty: nobody (law 2).
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ClaimedBy string `json:"claimedBy,omitempty"`
	// unsupported says why some workers are accounted for by no supported owner; such a cluster is not started.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Unsupported string `json:"unsupported,omitempty"`
	// timeZone of the cluster, from its annotation or else that of its ManagementCluster, for calendars that take the
	// cluster's; absent: there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`
	// deferUntil is until when the cluster's owner asked to wait.
	// +optional
	DeferUntil *metav1.Time `json:"deferUntil,omitempty"`
	// deferReason is why, in the owner's words.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DeferReason string `json:"deferReason,omitempty"`
	// hold is why the cluster's owner asked that nothing begins, in the owner's words; absent: the owner did not.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Hold string `json:"hold,omitempty"`
	// singleControlPlaneAllowed: the cluster's owner marked it as one whose API may be away during an upgrade.
	// +optional
	SingleControlPlaneAllowed bool `json:"singleControlPlaneAllowed,omitempty"`
	// durations that machines of the cluster took, by role.
	// +optional
	// +listType=map
	// +listMapKey=role
	// +kubebuilder:validation:MaxItems=2
	Durations []RoleDuration `json:"durations,omitempty"`
}

// RoleDuration is how long machines of a role took in a cluster.
type RoleDuration struct {
	// role of the machines.
	// +required
	Role OwnerRole `json:"role"`
	// p90 is the duration that nine of ten machines stayed within.
	// +optional
	P90 metav1.Duration `json:"p90,omitempty,omitzero"`
	// samples counts the machines that were measured so far.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Samples int32 `json:"samples,omitempty"`
	// measuredAt is when the machine that was measured last ended.
	// +optional
	MeasuredAt *metav1.Time `json:"measuredAt,omitempty"`
	// recent are the last 20 durations in seconds, the newest last; p90 is of these.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:Minimum=0
	Recent []int32 `json:"recent,omitempty"`
}

// OwnerStatus is what was seen of an owner: a control plane or a MachineDeployment.
type OwnerStatus struct {
	// kind of the owner.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// name of the owner.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// replicas that are asked for.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas,omitempty"`
	// ready replicas.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Ready int32 `json:"ready,omitempty"`
	// version of the owner's template: what its next machine is born with.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`
	// byRelease counts machines by the target that they were last refreshed to, most first, at most 20.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	ByRelease []VersionCount `json:"byRelease,omitempty"`
	// byKubelet counts machines by kubelet version, most first, at most 20.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	ByKubelet []VersionCount `json:"byKubelet,omitempty"`
	// byArchitecture counts machines by architecture, most first, at most 20.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	ByArchitecture []VersionCount `json:"byArchitecture,omitempty"`
}

// Path is how people write the cluster: <management cluster>/<namespace>/<name>.
func (w *WorkloadCluster) Path() string { return ClusterPath(w.Spec.ManagementCluster, w.Spec.Cluster) }

// ClusterPath is how people write a cluster: <management cluster>/<namespace>/<name>.
func ClusterPath(managementCluster string, cluster ObjectRef) string {
	return managementCluster + "/" + cluster.Namespace + "/" + cluster.Name
}
