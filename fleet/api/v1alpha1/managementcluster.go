// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Engine says who carries out the annotation protocol inside a management cluster.
// +kubebuilder:validation:Enum=Agent;Hub;Provider
type Engine string

// The engines.
const (
	// EngineAgent: windlass-engine runs in the management cluster.
	EngineAgent Engine = "Agent"
	// EngineHub: the hub hosts the engine.
	EngineHub Engine = "Hub"
	// EngineProvider: the controllers that the management cluster already has. The default.
	EngineProvider Engine = "Provider"
)

// Grant says how much is handed out at once.
// +kubebuilder:validation:Enum=Owner;Machine
type Grant string

// The grants.
const (
	// GrantOwner hands out an owner: its engine orders the machines. Default for Agent and Hub.
	GrantOwner Grant = "Owner"
	// GrantMachine hands out one machine at a time. Default for Provider.
	GrantMachine Grant = "Machine"
)

// Access says what the hub may do to a management cluster.
// +kubebuilder:validation:Enum=ReadOnly;Upgrade
type Access string

// The accesses.
const (
	// AccessReadOnly: inventory, plans and reports; nothing is written. The default.
	AccessReadOnly Access = "ReadOnly"
	// AccessUpgrade: policies may upgrade its clusters.
	AccessUpgrade Access = "Upgrade"
)

// PoliciesFromKind says which namespaces' policies may reach a management cluster.
// +kubebuilder:validation:Enum=Same;All;Selector
type PoliciesFromKind string

// PoliciesFromSame lets in only policies of the ManagementCluster's own namespace. The default.
const PoliciesFromSame PoliciesFromKind = "Same"

// ManagementCluster registers a cluster that runs Cluster API: a member.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mc,categories=windlass
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.engine`
// +kubebuilder:printcolumn:name="Access",type=string,JSONPath=`.spec.access`
// +kubebuilder:printcolumn:name="Grant",type=string,JSONPath=`.spec.grant`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.status.clusters`
// +kubebuilder:printcolumn:name="Machines",type=integer,JSONPath=`.status.machines`
// +kubebuilder:printcolumn:name="Seen",type=date,JSONPath=`.status.lastProbeTime`
// +kubebuilder:printcolumn:name="Token",type=string,JSONPath=`.status.credentialExpiry`
// +kubebuilder:validation:XValidation:rule=`self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$')`,message="metadata.name: must be a DNS label of at most 40 characters; accepted: mgmt-eu-1",fieldPath=".metadata"
type ManagementCluster struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec is what people ask for.
	// +required
	Spec ManagementClusterSpec `json:"spec"`
	// status is what the hub found.
	// +optional
	Status ManagementClusterStatus `json:"status,omitempty,omitzero"`
}

// ManagementClusterList is a list of ManagementClusters.
//
// +kubebuilder:object:root=true
type ManagementClusterList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []ManagementCluster `json:"items"`
}

// SecretRef names a Secret of the same namespace.
type SecretRef struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ManagementClusterSpec says how a member is reached and what may be done to it.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.grant) || self.grant != 'Owner' || self.engine != 'Provider'`,message="spec.grant: Owner is not supported yet where spec.engine is Provider; accepted: Machine",fieldPath=".grant",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.grant) || self.grant != 'Machine' || self.engine == 'Provider'`,message="spec.grant: Machine is for spec.engine Provider; accepted: Owner",fieldPath=".grant",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.policiesFrom) || self.policiesFrom.from == 'Same'`,message="spec.policiesFrom.from: All and Selector are not supported yet; accepted: Same",fieldPath=".policiesFrom.from",reason=FieldValueForbidden
type ManagementClusterSpec struct {
	// kubeconfigSecretRef names the Secret, of the same namespace, whose key "value" or "kubeconfig" holds the kubeconfig.
	// Exec and auth plugins are refused, proxy-url is honoured.
	// +required
	KubeconfigSecretRef SecretRef `json:"kubeconfigSecretRef"`
	// engine says who carries out the upgrades: Provider (the default: controllers already there), Agent (windlass-engine
	// runs there) or Hub (hosted by the hub).
	// +optional
	// +kubebuilder:default=Provider
	Engine Engine `json:"engine,omitempty"`
	// grant says how much is handed out at once: Machine (the default, and the only one, where engine is Provider) or Owner
	// (the default, and the only one, where it is Agent or Hub).
	// +optional
	Grant Grant `json:"grant,omitempty"`
	// access says what may be done: ReadOnly (default: inventory, plans, reports) or Upgrade.
	// +optional
	// +kubebuilder:default=ReadOnly
	Access Access `json:"access,omitempty"`
	// namespaces of the member that are looked at; empty: all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Namespaces []string `json:"namespaces,omitempty"`
	// maxConcurrentClusters bounds the clusters of this member that are upgraded at once, over all policies. Absent: only the
	// policies bound it; a policy can only lower it.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 10000`,message="spec.maxConcurrentClusters: must be 1 to 10000; accepted: 3, or leave it out"
	MaxConcurrentClusters *int32 `json:"maxConcurrentClusters,omitempty"`
	// policiesFrom says which policies may reach this member.
	// +optional
	PoliciesFrom *PoliciesFrom `json:"policiesFrom,omitempty"`

	// Unknown are the paths of the fields that were read and that no field here has. Such a registration is inert.
	Unknown []string `json:"-"`
}

// PoliciesFrom says which namespaces' policies may reach a member.
type PoliciesFrom struct {
	// from: Same (the default: policies of this namespace). All and Selector are not supported yet.
	// +required
	From PoliciesFromKind `json:"from"`
}

// ManagementClusterStatus is what the hub found in a member.
type ManagementClusterStatus struct {
	// conditions: Ready, Reachable, Authorized, ClusterAPIInstalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// clusterID is the UID of the member's kube-system namespace. Once known it is pinned: another UID is IdentityChanged.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterID string `json:"clusterID,omitempty"`
	// engine tells what was found in the member.
	// +optional
	Engine *EngineStatus `json:"engine,omitempty"`
	// serverVersion of the member's API server, such as v1.33.1.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ServerVersion string `json:"serverVersion,omitempty"`
	// clusterAPIVersions are the versions of cluster.x-k8s.io that are served there.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=64
	ClusterAPIVersions []string `json:"clusterAPIVersions,omitempty"`
	// clusters counted in the namespaces looked at.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Clusters *int32 `json:"clusters,omitempty"`
	// machines of these clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Machines *int32 `json:"machines,omitempty"`
	// lastProbeTime is the last answer of the member; written on a change of state, else at most every 5 minutes (law 18).
	// +optional
	LastProbeTime *metav1.Time `json:"lastProbeTime,omitempty"`
	// credentialExpiry is when the credential in the kubeconfig ends, where it says so.
	// +optional
	CredentialExpiry *metav1.Time `json:"credentialExpiry,omitempty"`
}

// EngineStatus tells who answers the annotation protocol in a member.
type EngineStatus struct {
	// providerPresent: controllers that are not ours answer the protocol's keys there.
	// +optional
	ProviderPresent bool `json:"providerPresent,omitempty"`
	// keyPrefix is the prefix of the annotation keys in use.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	KeyPrefix string `json:"keyPrefix,omitempty"`
}
