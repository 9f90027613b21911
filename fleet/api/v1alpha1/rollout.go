// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Rollout is one execution of a RolloutPolicy. The hub makes it and writes it; deleting it is to cancel it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ro,categories=windlass
// +kubebuilder:selectablefield:JSONPath=`.spec.policy.name`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Wave",type=string,JSONPath=`.status.wave`
// +kubebuilder:printcolumn:name="Done",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Active",type=integer,JSONPath=`.status.active`
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.failed`
// +kubebuilder:printcolumn:name="Deferred",type=integer,JSONPath=`.status.deferred`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.waiting.reason`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.waiting.since`
// +kubebuilder:printcolumn:name="Until",type=string,JSONPath=`.status.until`
type Rollout struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec is frozen when the Rollout is made.
	// +required
	Spec RolloutSpec `json:"spec"`
	// status is how far it is.
	// +optional
	Status RolloutStatus `json:"status,omitempty,omitzero"`
}

// RolloutList is a list of Rollouts.
//
// +kubebuilder:object:root=true
type RolloutList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []Rollout `json:"items"`
}

// RolloutPhase is where a Rollout is.
// +kubebuilder:validation:Enum=Planning;AwaitingApproval;Progressing;Paused;Halted;CatchingUp;Succeeded;CompletedWithFailures;Cancelled;Superseded
type RolloutPhase string

// The phases of a Rollout.
const (
	// RolloutPlanning: nothing has started; the set of clusters is recomputed freely.
	RolloutPlanning RolloutPhase = "Planning"
	// RolloutAwaitingApproval: the next wave needs Approvals that are not there.
	RolloutAwaitingApproval RolloutPhase = "AwaitingApproval"
	// RolloutProgressing: the plan is committed and being worked through.
	RolloutProgressing RolloutPhase = "Progressing"
	// RolloutPaused: the policy is paused; what is in flight ends, nothing starts.
	RolloutPaused RolloutPhase = "Paused"
	// RolloutHalted: too many failures, a canary's failure or a moved target. Sticky.
	RolloutHalted RolloutPhase = "Halted"
	// RolloutCatchingUp: the waves are through; clusters that were unreachable, paused, deferred or late are upgraded.
	RolloutCatchingUp RolloutPhase = "CatchingUp"
	// RolloutSucceeded: every cluster is proven at the target.
	RolloutSucceeded RolloutPhase = "Succeeded"
	// RolloutCompletedWithFailures: all waves are over; some clusters failed within the budget.
	RolloutCompletedWithFailures RolloutPhase = "CompletedWithFailures"
	// RolloutCancelled: it was deleted. Sticky.
	RolloutCancelled RolloutPhase = "Cancelled"
	// RolloutSuperseded: its policy has another target now. Sticky.
	RolloutSuperseded RolloutPhase = "Superseded"
)

// WavePhase is where a wave is.
// +kubebuilder:validation:Enum=Waiting;Progressing;Succeeded;Empty;Halted
type WavePhase string

// The phases of a wave.
const (
	// WaveWaiting: its turn has not come.
	WaveWaiting WavePhase = "Waiting"
	// WaveProgressing: its clusters are being upgraded.
	WaveProgressing WavePhase = "Progressing"
	// WaveSucceeded: it is complete, and its failures are within the budget.
	WaveSucceeded WavePhase = "Succeeded"
	// WaveEmpty: it took no cluster, and passes.
	WaveEmpty WavePhase = "Empty"
	// WaveHalted: its failures stopped the rollout.
	WaveHalted WavePhase = "Halted"
)

// MissedOpening is an opening of the calendars that passed, and no cluster of a wave that waited began in it.
type MissedOpening struct {
	// start of the opening.
	// +required
	Start metav1.Time `json:"start"`
	// end of it.
	// +required
	End metav1.Time `json:"end"`
	// reason nothing began, such as ControllerDown or AwaitingApproval.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason"`
	// message says it for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// RolloutSpec says which execution this is. It is frozen.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a Rollout's spec never changes; a new target in its RolloutPolicy makes a new Rollout"
type RolloutSpec struct {
	// policy that is executed.
	// +required
	Policy LocalRef `json:"policy"`
	// target of the policy when the Rollout was made, with its version resolved.
	// +required
	Target Target `json:"target"`
	// number of this execution, counted per policy from 1.
	// +required
	// +kubebuilder:validation:Minimum=1
	Number int64 `json:"number"`
}

// RolloutStatus is how far a Rollout is.
type RolloutStatus struct {
	// conditions: Ready (Succeeded), Reconciling (Progressing), Stalled (Halted), as kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase of the rollout.
	// +optional
	Phase RolloutPhase `json:"phase,omitempty"`
	// plan, once committed. Before it nothing starts; after it positions and denominators never change.
	// +optional
	Plan *RolloutPlan `json:"plan,omitempty"`
	// digest of what is to be approved: targets, members, order, limits, calendars and their contents. An Approval is of one
	// digest.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Digest string `json:"digest,omitempty"`
	// settings that the digest covers, as JSON, so that two digests can be compared in words.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Settings string `json:"settings,omitempty"`
	// wave that is being worked on.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Wave string `json:"wave,omitempty"`
	// progress is done and total in one word, such as 12/500.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`
	// waves in order, the canaries first.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=22
	Waves []WaveStatus `json:"waves,omitempty"`
	// done counts clusters that succeeded.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Done int32 `json:"done,omitempty"`
	// total counts the clusters of the plan.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Total int32 `json:"total,omitempty"`
	// active counts clusters that are being upgraded.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Active int32 `json:"active,omitempty"`
	// failed counts clusters that failed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed int32 `json:"failed,omitempty"`
	// deferred counts clusters that were put off.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Deferred int32 `json:"deferred,omitempty"`
	// waiting says why nothing more starts now.
	// +optional
	Waiting *Waiting `json:"waiting,omitempty"`
	// until is the end of that wait: an instant, or "act" where a person must act.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Until string `json:"until,omitempty"`
	// missed is the last opening that passed although clusters waited for one; absent: none has. An event tells it once.
	// +optional
	Missed *MissedOpening `json:"missed,omitempty"`
	// proven are the versions that canaries proved, per architecture.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Proven []ProvenVersion `json:"proven,omitempty"`
	// failing clusters, at most 10, in plan order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Failing []FailingCluster `json:"failing,omitempty"`
	// activeClusters, at most 20, in plan order, as <management cluster>/<namespace>/<name>.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=360
	ActiveClusters []string `json:"activeClusters,omitempty"`
	// deferredClusters, at most 20, in plan order.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	DeferredClusters []DeferredCluster `json:"deferredClusters,omitempty"`
	// eta is when the last wave will probably be complete; absent: that cannot be told.
	// +optional
	ETA *metav1.Time `json:"eta,omitempty"`
	// nextCheckTime is when the decision is looked at again without a change.
	// +optional
	NextCheckTime *metav1.Time `json:"nextCheckTime,omitempty"`
	// startedAt is when the first cluster was started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// endedAt is when the rollout reached its end.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
}

// RolloutPlan commits a plan.
type RolloutPlan struct {
	// hash of the plan: members, their waves and order.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash"`
	// committedAt is when.
	// +required
	CommittedAt metav1.Time `json:"committedAt"`
	// total clusters of the plan.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Total int32 `json:"total,omitempty"`
	// patch counts clusters that stay within their minor.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Patch int32 `json:"patch,omitempty"`
	// minor counts clusters that move to another minor.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Minor int32 `json:"minor,omitempty"`
	// atTarget counts clusters that were proven at the target already; they have no ClusterUpgrade.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AtTarget int32 `json:"atTarget,omitempty"`
	// ineligible counts clusters that are not upgraded; their ClusterUpgrades say why.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Ineligible int32 `json:"ineligible,omitempty"`
}

// WaveStatus is how far a wave is.
type WaveStatus struct {
	// name of the wave.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// canary: the wave of the canaries.
	// +optional
	Canary bool `json:"canary,omitempty"`
	// phase of the wave.
	// +optional
	Phase WavePhase `json:"phase,omitempty"`
	// planned counts the clusters that the plan gave to the wave.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Planned int32 `json:"planned,omitempty"`
	// succeeded clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Succeeded int32 `json:"succeeded,omitempty"`
	// failed clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed int32 `json:"failed,omitempty"`
	// active clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Active int32 `json:"active,omitempty"`
	// pending clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pending int32 `json:"pending,omitempty"`
	// skipped clusters: ineligible, removed or skipped by an act.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Skipped int32 `json:"skipped,omitempty"`
	// deferred clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Deferred int32 `json:"deferred,omitempty"`
	// maxConcurrency in clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxConcurrency int32 `json:"maxConcurrency,omitempty"`
	// maxFailures in clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxFailures int32 `json:"maxFailures,omitempty"`
	// waiting says what its clusters wait for; a reason that they share stands here once.
	// +optional
	Waiting *Waiting `json:"waiting,omitempty"`
	// startedAt is when its first cluster was started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// approvals that it needs and has; absent where it needs none.
	// +optional
	Approvals *WaveApprovals `json:"approvals,omitempty"`
	// soak of the wave, once it began.
	// +optional
	Soak *WaveSoak `json:"soak,omitempty"`
	// deadline of the wave, once its time began to count.
	// +optional
	Deadline *WaveDeadline `json:"deadline,omitempty"`
	// completedAt is when it was complete.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`
	// closedAt is when the next wave might begin: complete, and soaked. A cluster that turns unhealthy later is drift.
	// +optional
	ClosedAt *metav1.Time `json:"closedAt,omitempty"`
}

// WaveApprovals says who approved a wave.
type WaveApprovals struct {
	// needed: how many people must approve.
	// +required
	// +kubebuilder:validation:Minimum=0
	Needed int32 `json:"needed"`
	// given: how many have, for the digest as it is now.
	// +required
	// +kubebuilder:validation:Minimum=0
	Given int32 `json:"given"`
	// by are those who have, at most 10.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=256
	By []string `json:"by,omitempty"`
}

// WaveSoak says how long a wave has been healthy since its last success.
type WaveSoak struct {
	// elapsedSeconds of health before since.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ElapsedSeconds int64 `json:"elapsedSeconds,omitempty"`
	// since is since when health has counted without a break; absent: it does not count now, as a cluster cannot be seen.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// until is when the soak is over if nothing changes.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// WaveDeadline says how much of a wave's time has passed. Only time in which work was allowed counts.
type WaveDeadline struct {
	// elapsedSeconds before since.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ElapsedSeconds int64 `json:"elapsedSeconds,omitempty"`
	// since is since when time has counted without a break; absent: it does not count now.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// at is when the deadline is if time goes on counting.
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}

// FailingCluster is a cluster that failed, and its last error.
type FailingCluster struct {
	// name of the cluster, as <management cluster>/<namespace>/<name>.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=360
	Name string `json:"name"`
	// message: what failed, where, the last words of k8sd.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// DeferredCluster is a cluster that was put off, and why.
type DeferredCluster struct {
	// name of the cluster, as <management cluster>/<namespace>/<name>.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=360
	Name string `json:"name"`
	// reason is one of the words that docs/status.md explains.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// until is when it is looked at next; absent: by another event, such as its management cluster's return.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}
