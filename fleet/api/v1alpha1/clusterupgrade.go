// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterUpgrade is one workload cluster in one Rollout, made at planning time so that the plan can be read before
// anything starts. Its spec is written by the rollout controller only, its status by the upgrade controller only.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cu,categories=windlass
// +kubebuilder:selectablefield:JSONPath=`.spec.rollout.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.wave`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.status.summary.cluster`
// +kubebuilder:printcolumn:name="Wave",type=string,JSONPath=`.spec.wave`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="CP",type=string,JSONPath=`.status.summary.cp`
// +kubebuilder:printcolumn:name="Workers",type=string,JSONPath=`.status.summary.workers`
// +kubebuilder:printcolumn:name="Tries",type=string,JSONPath=`.status.summary.tries`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Until",type=string,JSONPath=`.status.until`
// +kubebuilder:printcolumn:name="Machine",type=string,JSONPath=`.status.currentMachine`
// +kubebuilder:printcolumn:name="Last-Error",type=string,JSONPath=`.status.lastError`
type ClusterUpgrade struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec is frozen but for intent, notAfter, hold and predicted.
	// +required
	Spec ClusterUpgradeSpec `json:"spec"`
	// status is how far the cluster is.
	// +optional
	Status ClusterUpgradeStatus `json:"status,omitempty,omitzero"`
}

// ClusterUpgradeList is a list of ClusterUpgrades.
//
// +kubebuilder:object:root=true
type ClusterUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []ClusterUpgrade `json:"items"`
}

// Intent is what the rollout wants of a cluster.
// +kubebuilder:validation:Enum=Wait;Run;Hold;Withdraw
type Intent string

// The intents.
const (
	// IntentWait: nothing is written to the member.
	IntentWait Intent = "Wait"
	// IntentRun: machines may begin until notAfter.
	IntentRun Intent = "Run"
	// IntentHold: no machine begins; marks stay.
	IntentHold Intent = "Hold"
	// IntentWithdraw: our marks are taken back (law 11), then the claim is given back.
	IntentWithdraw Intent = "Withdraw"
)

// OwnerRole says what an owner's machines are.
// +kubebuilder:validation:Enum=ControlPlane;Workers
type OwnerRole string

// The roles.
const (
	// RoleControlPlane owns control plane machines.
	RoleControlPlane OwnerRole = "ControlPlane"
	// RoleWorkers owns workers.
	RoleWorkers OwnerRole = "Workers"
)

// UpgradePhase is where a ClusterUpgrade is.
// +kubebuilder:validation:Enum=Pending;Progressing;Verifying;Holding;Succeeded;Failed;Deferred;Ineligible;Skipped;Removed
type UpgradePhase string

// The phases of a ClusterUpgrade.
const (
	// UpgradePending: it has not started.
	UpgradePending UpgradePhase = "Pending"
	// UpgradeProgressing: machines are upgraded.
	UpgradeProgressing UpgradePhase = "Progressing"
	// UpgradeVerifying: every machine has been upgraded; the proof is being taken.
	UpgradeVerifying UpgradePhase = "Verifying"
	// UpgradeHolding: no machine begins; its marks stay.
	UpgradeHolding UpgradePhase = "Holding"
	// UpgradeSucceeded: the cluster is proven at the target.
	UpgradeSucceeded UpgradePhase = "Succeeded"
	// UpgradeFailed: the cluster failed for good.
	UpgradeFailed UpgradePhase = "Failed"
	// UpgradeDeferred: put off.
	UpgradeDeferred UpgradePhase = "Deferred"
	// UpgradeIneligible: decided at planning; listed, never a failure.
	UpgradeIneligible UpgradePhase = "Ineligible"
	// UpgradeSkipped: left out by an act.
	UpgradeSkipped UpgradePhase = "Skipped"
	// UpgradeRemoved: the cluster is gone.
	UpgradeRemoved UpgradePhase = "Removed"
)

// ClusterUpgradeSpec is written by the rollout controller. All but intent, notAfter, notAfterFor, hold and predicted is
// frozen.
//
// +kubebuilder:validation:XValidation:rule=`self.rollout == oldSelf.rollout && self.workloadCluster == oldSelf.workloadCluster && self.managementCluster == oldSelf.managementCluster && self.cluster == oldSelf.cluster && self.wave == oldSelf.wave && self.canary == oldSelf.canary && self.position == oldSelf.position && self.upgrade == oldSelf.upgrade && has(self.ineligible) == has(oldSelf.ineligible) && (!has(self.ineligible) || self.ineligible == oldSelf.ineligible) && has(self.owners) == has(oldSelf.owners) && (!has(self.owners) || self.owners == oldSelf.owners) && has(self.timeZone) == has(oldSelf.timeZone) && (!has(self.timeZone) || self.timeZone == oldSelf.timeZone)`,message="a ClusterUpgrade's spec never changes but for intent, notAfter, notAfterFor, hold and predicted"
type ClusterUpgradeSpec struct {
	// rollout that this belongs to.
	// +required
	Rollout LocalRef `json:"rollout"`
	// workloadCluster that is upgraded.
	// +required
	WorkloadCluster LocalRef `json:"workloadCluster"`
	// managementCluster is the name of its ManagementCluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	ManagementCluster string `json:"managementCluster"`
	// cluster in that management cluster.
	// +required
	Cluster ObjectRef `json:"cluster"`
	// wave that the plan gave it to.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Wave string `json:"wave"`
	// canary: it is one of the canaries.
	// +required
	Canary bool `json:"canary"`
	// position in the plan, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	Position int32 `json:"position"`
	// owners in the order in which they are upgraded, with the target resolved for each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=101
	Owners []UpgradeOwner `json:"owners,omitempty"`
	// ineligible says why the target does not suit the cluster; absent: it does. Nothing is ever written to such a cluster.
	// +optional
	Ineligible *Ineligible `json:"ineligible,omitempty"`
	// upgrade settings of the policy, with every default filled in.
	// +required
	Upgrade UpgradeSettings `json:"upgrade"`
	// timeZone of the cluster as it was at planning, for calendars that take the cluster's; absent: it had none.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`
	// intent: Wait, Run, Hold or Withdraw.
	// +required
	Intent Intent `json:"intent"`
	// notAfter is when the permission to begin machines ends; absent: not bounded by the rollout.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
	// notAfterFor is the role of the machines that notAfter was worked out for, which may take longer or shorter than others: no
	// machine of another role begins before notAfter is worked out for it. Absent: of no role, where there is a notAfter.
	// +optional
	NotAfterFor OwnerRole `json:"notAfterFor,omitempty"`
	// hold says why no machine begins, of a cluster that has begun and whose intent is Hold; else it is absent.
	// +optional
	Hold *Waiting `json:"hold,omitempty"`
	// predicted says when the cluster will probably be upgraded; absent: that cannot be told.
	// +optional
	Predicted *Prediction `json:"predicted,omitempty"`
}

// Prediction says when a cluster will probably be upgraded. It binds nobody.
type Prediction struct {
	// startAt is when its first machine will probably begin.
	// +optional
	StartAt *metav1.Time `json:"startAt,omitempty"`
	// endAt is when its last machine will probably be proven.
	// +optional
	EndAt *metav1.Time `json:"endAt,omitempty"`
	// window that it will begin in, in the cluster's local time, such as "Sat 2026-12-05 02:00 CET – 06:00 CET"; absent where
	// no calendar restricts it.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Window string `json:"window,omitempty"`
}

// Ineligible says why a target does not suit a cluster. It is decided at planning and is never a failure.
type Ineligible struct {
	// reason is one of the reasons that docs/status.md lists for Ineligible.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// message says it in words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// UpgradeOwner is an owner and the target resolved for it.
type UpgradeOwner struct {
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
	// role of its machines.
	// +required
	Role OwnerRole `json:"role"`
	// target as the annotation carries it, such as channel=1.33-classic/stable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	Target string `json:"target"`
	// version is what done means: a kubelet of this minor and not older.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Version string `json:"version"`
}

// ClusterUpgradeStatus is how far a cluster is. It is written by the upgrade controller.
type ClusterUpgradeStatus struct {
	// conditions: Ready, Reconciling, Stalled, as kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase of the upgrade.
	// +optional
	Phase UpgradePhase `json:"phase,omitempty"`
	// reason of the phase or of the wait in it, one of the documented ones.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message says it in words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// since is when this reason began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// until is when it is over or looked at next: an instant in RFC 3339, or "act" where nothing moves until a person does.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Until string `json:"until,omitempty"`
	// summary is for tables.
	// +optional
	Summary *UpgradeSummary `json:"summary,omitempty"`
	// owners and how far each is.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=101
	Owners []OwnerProgress `json:"owners,omitempty"`
	// machines, at most 50, unfinished ones first.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Machines []MachineProgress `json:"machines,omitempty"`
	// attempts of the machine that was tried most often.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempts int32 `json:"attempts,omitempty"`
	// maxAttempts of a machine.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxAttempts int32 `json:"maxAttempts,omitempty"`
	// startedAt is when something was first written to the member.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// endedAt is when the upgrade ended.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
	// lastProgressAt is when a machine last ended.
	// +optional
	LastProgressAt *metav1.Time `json:"lastProgressAt,omitempty"`
	// runSeconds is how long work on the cluster was allowed since a machine last ended, or since the cluster was begun: no
	// hold, not past notAfter, not paused, its management cluster reachable. The stretch that began at runningSince is not in
	// it yet. See progressDeadline.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RunSeconds int64 `json:"runSeconds,omitempty"`
	// runningSince is since when work has been allowed without a break; absent: it is not allowed now.
	// +optional
	RunningSince *metav1.Time `json:"runningSince,omitempty"`
	// windows counts the windows in which machines of the cluster began.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Windows int32 `json:"windows,omitempty"`
	// currentWindow is since when machines have begun in the window that is open now; absent: none has begun in it, or none is
	// open.
	// +optional
	CurrentWindow *metav1.Time `json:"currentWindow,omitempty"`
	// deferredSince is since when the wish of the cluster's owner to wait (defer-until, hold) is honoured, which is done for at
	// most deferral.max; absent: there is none, or its wave is not open.
	// +optional
	DeferredSince *metav1.Time `json:"deferredSince,omitempty"`
	// provenSince is since when every read found every machine proven; success needs two reads.
	// +optional
	ProvenSince *metav1.Time `json:"provenSince,omitempty"`
	// settled: nothing of this upgrade is left on the member.
	// +optional
	Settled bool `json:"settled,omitempty"`
	// claimed: this upgrade holds the cluster (law 2).
	// +optional
	Claimed bool `json:"claimed,omitempty"`
	// versions of the kubelet that its proven machines reached, per architecture.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Versions []ProvenVersion `json:"versions,omitempty"`
	// currentMachine is the machine in flight, or the one that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CurrentMachine string `json:"currentMachine,omitempty"`
	// lastError is the last error of a machine, in the words of k8sd.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastError string `json:"lastError,omitempty"`
}

// UpgradeSummary holds what tables print and no column can compute.
type UpgradeSummary struct {
	// cluster as <management cluster>/<namespace>/<name>.
	// +optional
	// +kubebuilder:validation:MaxLength=360
	Cluster string `json:"cluster,omitempty"`
	// cp is done and total of the control plane machines, such as 1/3.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	CP string `json:"cp,omitempty"`
	// workers is done and total of the workers, such as 0/5.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Workers string `json:"workers,omitempty"`
	// tries is attempts and maxAttempts, such as 3/3.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Tries string `json:"tries,omitempty"`
}

// OwnerProgress is how far an owner is.
type OwnerProgress struct {
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
	// role of its machines.
	// +required
	Role OwnerRole `json:"role"`
	// total machines.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Total int32 `json:"total,omitempty"`
	// done machines: proven at the target.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Done int32 `json:"done,omitempty"`
	// previousRelease is the release that the owner carried before it was retired.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PreviousRelease string `json:"previousRelease,omitempty"`
	// clearedAt is when no machine of it carried a release, where refreshedAfter asks that each is refreshed again: one that
	// carries its target since then was.
	// +optional
	ClearedAt *metav1.Time `json:"clearedAt,omitempty"`
	// grantedAt is when its target was last handed to it.
	// +optional
	GrantedAt *metav1.Time `json:"grantedAt,omitempty"`
	// phase of the owner, in the words of a ClusterUpgrade's.
	// +optional
	Phase UpgradePhase `json:"phase,omitempty"`
}

// MachineProgress is how far a machine is.
type MachineProgress struct {
	// name of the Machine.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// owner is the name of its owner.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Owner string `json:"owner,omitempty"`
	// state of the annotation protocol on it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`
	// release that it was last refreshed to.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Release string `json:"release,omitempty"`
	// kubelet version that its node reports.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Kubelet string `json:"kubelet,omitempty"`
	// architecture that its node reports.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Architecture string `json:"architecture,omitempty"`
	// attempts so far, as far as they were seen: at least one for a machine that was upgraded.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempts int32 `json:"attempts,omitempty"`
	// lastError in the words of k8sd.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastError string `json:"lastError,omitempty"`
	// startedAt is when its first attempt began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// endedAt is when it was proven or given up.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
	// grant is what is remembered of a machine that the hub granted by itself, until it is proven.
	// +optional
	Grant *MachineGrant `json:"grant,omitempty"`
}

// MachineGrant is what the hub remembers of a machine that it granted by itself (engine: Provider). It is written before
// what it tells of is done, so that a restart counts right.
type MachineGrant struct {
	// at is when the machine was last asked to upgrade.
	// +required
	At metav1.Time `json:"at"`
	// from is the kubelet version before the first attempt.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	From string `json:"from,omitempty"`
	// seen: the request was seen on the machine.
	// +optional
	Seen bool `json:"seen,omitempty"`
	// changeIDs of snapd that were seen since the first request, the last 8.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=256
	ChangeIDs []string `json:"changeIDs,omitempty"`
	// attempts that began since the first request, those whose id was never seen included.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempts int32 `json:"attempts,omitempty"`
	// put is how many of them began since at.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Put int32 `json:"put,omitempty"`
	// blindSince is when the request was taken back while no change id was visible.
	// +optional
	BlindSince *metav1.Time `json:"blindSince,omitempty"`
	// failures since the first request.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failures int32 `json:"failures,omitempty"`
	// failedAt is when the request of at failed.
	// +optional
	FailedAt *metav1.Time `json:"failedAt,omitempty"`
	// lastError is the last thing said about a failure.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LastError string `json:"lastError,omitempty"`
}

// Path is how people write the cluster: <management cluster>/<namespace>/<name>.
func (u *ClusterUpgrade) Path() string { return ClusterPath(u.Spec.ManagementCluster, u.Spec.Cluster) }
