// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// APIVersion and Kind head the JSON form of a Report. Within one version fields are added, never renamed or removed.
const (
	APIVersion = "report.windlass.dev/v1"
	Kind       = "FleetReport"
)

// Report is the state of a fleet, or of one policy's part of it, at an instant.
type Report struct {
	// APIVersion and Kind are the constants of this package.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Time is the instant that ages are counted to.
	Time metav1.Time `json:"time"`
	// Namespace of the hub that was read; empty: all.
	Namespace string `json:"namespace,omitempty"`
	// Policy that the report is about; empty: all.
	Policy string `json:"policy,omitempty"`
	// Fleet sums up everything below.
	Fleet Fleet `json:"fleet"`
	// ManagementClusters by name; with a policy only those that hold clusters of its rollouts.
	ManagementClusters []ManagementCluster `json:"managementClusters"`
	// Policies by name.
	Policies []Policy `json:"policies"`
	// Rollouts: the current one of each policy, and older ones that still hold clusters.
	Rollouts []Rollout `json:"rollouts"`
	// OtherClusters are in none of the rollouts above; only without a policy.
	OtherClusters []Cluster `json:"otherClusters,omitempty"`
}

// Fleet sums up a report.
type Fleet struct {
	// ManagementClusters counted, and those that answer.
	ManagementClusters int `json:"managementClusters"`
	Reachable          int `json:"reachable"`
	// WorkloadClusters counted, by health. Unknown is never healthy: it counts what cannot be seen now.
	WorkloadClusters int `json:"workloadClusters"`
	Healthy          int `json:"healthy"`
	Unhealthy        int `json:"unhealthy"`
	Unknown          int `json:"unknown"`
	// Upgrades counts clusters of the current rollouts as their status does.
	Upgrades Upgrades `json:"upgrades"`
	// Machines counted, and by release and kubelet version, most first; "unknown" for those that report none.
	Machines  int     `json:"machines"`
	ByRelease []Count `json:"byRelease"`
	ByKubelet []Count `json:"byKubelet"`
}

// Upgrades counts the clusters of rollouts.
type Upgrades struct {
	// Done of Total clusters succeeded.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Active, Failed and Deferred clusters among the total.
	Active   int `json:"active"`
	Failed   int `json:"failed"`
	Deferred int `json:"deferred"`
}

// Count is how many machines have a name in common.
type Count struct {
	// Name of a release or a version; "unknown" where none is reported.
	Name string `json:"name"`
	// Count of machines.
	Count int `json:"count"`
}

// Why says why something is as it is, or does not move.
type Why struct {
	// Reason is one word of docs/status.md; Message says it in words.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is when this reason began.
	Since *metav1.Time `json:"since,omitempty"`
	// Until is an instant in RFC 3339; or "act" where nothing moves until a person acts; or empty where another event ends
	// it, such as the end of the cluster before.
	Until string `json:"until,omitempty"`
	// Of is "wave" or "rollout" where a wave or cluster shares the reason of the whole; empty: its own.
	Of string `json:"of,omitempty"`
}

// ManagementCluster is one member.
type ManagementCluster struct {
	// Namespace and Name of the object on the hub.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Engine and Access as specified.
	Engine string `json:"engine"`
	Access string `json:"access"`
	// Ready and Reachable are True, False or Unknown.
	Ready     string `json:"ready"`
	Reachable string `json:"reachable"`
	// Why it is not ready; absent where it is.
	Why *Why `json:"why,omitempty"`
	// Clusters and Machines counted there, as last seen.
	Clusters int `json:"clusters"`
	Machines int `json:"machines"`
	// Seen is its last answer, up to 5 minutes coarse while it answers.
	Seen *metav1.Time `json:"seen,omitempty"`
	// ServerVersion of its API server, and the end of the credential, where known.
	ServerVersion    string       `json:"serverVersion,omitempty"`
	CredentialExpiry *metav1.Time `json:"credentialExpiry,omitempty"`
}

// Policy is one standing intent.
type Policy struct {
	// Namespace and Name of the object on the hub.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Target as the annotation carries it.
	Target string `json:"target"`
	// Ready is True, False or Unknown: accepted, references resolve, planned.
	Ready string `json:"ready"`
	// Paused: the policy's own brake is on.
	Paused bool `json:"paused"`
	// Settled: the hub has seen the policy as it stands now, so Rollout belongs to it.
	Settled bool `json:"settled"`
	// Why it is not ready; absent where it is.
	Why *Why `json:"why,omitempty"`
	// Rollout is the name of the current one.
	Rollout string `json:"rollout,omitempty"`
	// Selected clusters, and the canaries among them.
	Selected int `json:"selected"`
	Canaries int `json:"canaries"`
}

// Rollout is one execution of a policy.
type Rollout struct {
	// Namespace and Name of the object on the hub.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Policy that is executed, and the number of this execution.
	Policy string `json:"policy"`
	Number int64  `json:"number"`
	// Current: it is the policy's current one.
	Current bool `json:"current"`
	// Target as the annotation carries it, and the version that done means.
	Target  string `json:"target"`
	Version string `json:"version,omitempty"`
	// Phase of the rollout and the Wave being worked on.
	Phase string `json:"phase"`
	Wave  string `json:"wave,omitempty"`
	// Upgrades counts its clusters.
	Upgrades Upgrades `json:"upgrades"`
	// Plan counts what planning found; absent before the plan is committed.
	Plan *Plan `json:"plan,omitempty"`
	// Why nothing more starts; absent where nothing is kept waiting.
	Why *Why `json:"why,omitempty"`
	// Proven is the kubelet version per architecture that the canaries proved.
	Proven []Proven `json:"proven,omitempty"`
	// StartedAt and EndedAt of the rollout.
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	EndedAt   *metav1.Time `json:"endedAt,omitempty"`
	// Waves in order, canaries first.
	Waves []Wave `json:"waves"`
}

// Plan counts the clusters that a committed plan covers.
type Plan struct {
	// CommittedAt is when membership was frozen.
	CommittedAt metav1.Time `json:"committedAt"`
	// Total clusters to upgrade; of these Patch stay in their minor and Minor leave it. Beside them AtTarget need nothing
	// and Ineligible are not suited.
	Total      int `json:"total"`
	Patch      int `json:"patch"`
	Minor      int `json:"minor"`
	AtTarget   int `json:"atTarget"`
	Ineligible int `json:"ineligible"`
}

// Proven is a version that canaries proved on one architecture.
type Proven struct {
	// Architecture such as amd64, Version such as v1.33.9.
	Architecture string `json:"architecture"`
	Version      string `json:"version"`
}

// Wave is one ordered group of clusters.
type Wave struct {
	// Name of the wave. Canary: the wave of the canaries.
	Name   string `json:"name"`
	Canary bool   `json:"canary,omitempty"`
	// Phase of the wave.
	Phase string `json:"phase"`
	// Planned clusters, and how they stand.
	Planned   int `json:"planned"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Active    int `json:"active"`
	Pending   int `json:"pending"`
	Skipped   int `json:"skipped"`
	Deferred  int `json:"deferred"`
	// MaxConcurrency and MaxFailures in clusters.
	MaxConcurrency int `json:"maxConcurrency"`
	MaxFailures    int `json:"maxFailures"`
	// Why its next cluster does not start; absent where nothing is kept waiting.
	Why *Why `json:"why,omitempty"`
	// StartedAt and CompletedAt of the wave.
	StartedAt   *metav1.Time `json:"startedAt,omitempty"`
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// Clusters in plan order.
	Clusters []Cluster `json:"clusters"`
}

// Cluster is one workload cluster.
type Cluster struct {
	// Namespace of its objects on the hub.
	Namespace string `json:"namespace"`
	// Name as people write it: <management cluster>/<namespace>/<name>.
	Name string `json:"name"`
	// ManagementCluster it lives in.
	ManagementCluster string `json:"managementCluster"`
	// Wave and Position of the plan; Phase of the upgrade. Empty outside a rollout.
	Wave     string `json:"wave,omitempty"`
	Position int    `json:"position"`
	Phase    string `json:"phase,omitempty"`
	// Healthy and Reachable are True, False or Unknown. What cannot be reached is shown as last seen.
	Healthy   string `json:"healthy"`
	Reachable string `json:"reachable"`
	// Paused in its management cluster.
	Paused bool `json:"paused"`
	// ClaimedBy says who drives it: <hub>/<namespace>/<rollout>; empty: nobody.
	ClaimedBy string `json:"claimedBy,omitempty"`
	// ControlPlane and Workers count machines done.
	ControlPlane Ratio `json:"controlPlane"`
	Workers      Ratio `json:"workers"`
	// Attempts of the machine that was tried most often, of MaxAttempts.
	Attempts    int `json:"attempts"`
	MaxAttempts int `json:"maxAttempts"`
	// Why it is in its phase or waits.
	Why *Why `json:"why,omitempty"`
	// Machine in flight or the one that failed, and the last words of k8sd.
	Machine   string `json:"machine,omitempty"`
	LastError string `json:"lastError,omitempty"`
	// StartedAt and EndedAt of its upgrade.
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	EndedAt   *metav1.Time `json:"endedAt,omitempty"`
	// Owners of its machines, control plane first.
	Owners []Owner `json:"owners"`
	// Machines known one by one. MachinesLeftOff counts the rest, which Owners count by release and kubelet.
	Machines        []Machine `json:"machines"`
	MachinesLeftOff int       `json:"machinesLeftOff"`
}

// Ratio is done of total.
type Ratio struct {
	// Done of Total.
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Owner owns machines: a control plane or a MachineDeployment.
type Owner struct {
	// Kind and Name of the owner; Role is ControlPlane or Workers.
	Kind string `json:"kind"`
	Name string `json:"name"`
	Role string `json:"role"`
	// Target of its machines; empty outside a rollout.
	Target string `json:"target,omitempty"`
	// Done of Total machines are proven at the target.
	Done  int `json:"done"`
	Total int `json:"total"`
	// ByRelease and ByKubelet count its machines, most first.
	ByRelease []Count `json:"byRelease"`
	ByKubelet []Count `json:"byKubelet"`
}

// Machine is one machine.
type Machine struct {
	// Name of the Machine, the name of its Owner and the owner's Role.
	Name  string `json:"name"`
	Owner string `json:"owner"`
	Role  string `json:"role,omitempty"`
	// State: Done, Quarantined, Waiting, Unknown, or the state of the annotation protocol such as InProgress.
	State string `json:"state"`
	// Release that it was last refreshed to, Kubelet version and Architecture that its node reports.
	Release      string `json:"release,omitempty"`
	Kubelet      string `json:"kubelet,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	// Attempts so far, and the last words of k8sd.
	Attempts  int    `json:"attempts"`
	LastError string `json:"lastError,omitempty"`
	// StartedAt is when its first attempt began, EndedAt when it was proven or given up.
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	EndedAt   *metav1.Time `json:"endedAt,omitempty"`
}

// States of a Machine beside those of the annotation protocol.
const (
	// MachineDone: proven at the target.
	MachineDone = "Done"
	// MachineQuarantined: it failed as often as it may.
	MachineQuarantined = "Quarantined"
	// MachineWaiting: nothing has been asked of it.
	MachineWaiting = "Waiting"
	// MachineUnknown: nothing is known of it.
	MachineUnknown = "Unknown"
)

// Of whom a reason is shared.
const (
	// OfWave: a cluster waits for what its wave waits for.
	OfWave = "wave"
	// OfRollout: a wave or a cluster waits for what the whole rollout waits for.
	OfRollout = "rollout"
)
