// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RolloutPolicy is a standing intent: what to upgrade to, which clusters, in which order and how fast. The hub makes a
// Rollout of it whenever its target changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rp,categories=windlass
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.target`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Rollout",type=string,JSONPath=`.status.rollout`
// +kubebuilder:printcolumn:name="Selected",type=integer,JSONPath=`.status.selected`
// +kubebuilder:printcolumn:name="Canaries",type=integer,JSONPath=`.status.canaries`
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`size(self.metadata.name) <= 40`,message="metadata.name: must be at most 40 characters; accepted: k8s-1-33",fieldPath=".metadata"
type RolloutPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec is what people ask for. The hub never writes it.
	// +required
	Spec RolloutPolicySpec `json:"spec"`
	// status is what the hub made of it.
	// +optional
	Status RolloutPolicyStatus `json:"status,omitempty,omitzero"`
}

// RolloutPolicyList is a list of RolloutPolicies.
//
// +kubebuilder:object:root=true
type RolloutPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []RolloutPolicy `json:"items"`
}

// FailureBudget says what counts against maxFailures.
// +kubebuilder:validation:Enum=Observed;Reserved
type FailureBudget string

// The failure budgets.
const (
	// BudgetObserved counts the failures that were seen. The default.
	BudgetObserved FailureBudget = "Observed"
	// BudgetReserved also counts what is in flight, as if it would fail, so that the budget can never be overrun.
	BudgetReserved FailureBudget = "Reserved"
)

// RolloutPolicySpec is what people ask for. target, clusters, canaries, waves and one of calendars and anyTime are required
// by rules, which can say what is accepted where "Required value" could not.
//
// +kubebuilder:validation:XValidation:rule=`has(self.target)`,message="spec.target: must say what to upgrade to; accepted: {channel: 1.33-classic/stable}",fieldPath=".target",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.clusters)`,message="spec.clusters: must say which; accepted: {selector: {matchLabels: {tier: prod}}}, or {all: true}",fieldPath=".clusters",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.canaries)`,message="spec.canaries: must say which clusters go first; accepted: {names: [mgmt-a/shop/eu-1]}, or {none: true}",fieldPath=".canaries",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.waves) && size(self.waves) > 0`,message="spec.waves: must say in which order; accepted: [{name: rest, rest: true}]",fieldPath=".waves",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.calendars) || has(self.anyTime)`,message="spec.calendars: must say when; accepted: [eu-nights], or anyTime: true in place of calendars",fieldPath=".calendars",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.calendars) || !has(self.anyTime)`,message="spec.calendars: contradicts anyTime; accepted: one of them",fieldPath=".calendars",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.historyLimit)`,message="spec.historyLimit is not supported yet; accepted: leave it out",fieldPath=".historyLimit",reason=FieldValueForbidden
type RolloutPolicySpec struct {
	// target is what to upgrade to.
	// +optional
	Target Target `json:"target"`
	// clusters says which workload clusters.
	// +optional
	Clusters ClusterSelection `json:"clusters"`
	// canaries are upgraded before every other cluster, each proven before a wave starts.
	// +optional
	Canaries Canaries `json:"canaries"`
	// waves are worked through in order. Every selected cluster that is no canary falls into exactly one, first match wins.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule=`self.all(wave, !has(wave.rest)) || (has(self[size(self) - 1].rest) && self.filter(wave, has(wave.rest)).size() == 1)`,message="waves: rest: true takes whatever is left, so it stands in the last wave only; accepted: [{name: early, percent: 10}, {name: rest, rest: true}]"
	// +kubebuilder:validation:XValidation:rule=`self.map(wave, has(wave.percent) ? wave.percent : 0).sum() <= 100`,message="waves: the percentages add up to more than 100; accepted: percent: 10 and percent: 90"
	Waves []Wave `json:"waves"`
	// limits bound the clusters in flight over all waves, per management cluster or per value of a label. Where two bound the
	// same clusters, both hold.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="spec.limits: is empty and bounds nothing; accepted: [{per: ManagementCluster, max: 3}], or leave it out"
	Limits []Limit `json:"limits,omitempty"`
	// failureBudget says what counts against maxFailures: Observed (default: the failures that were seen) or Reserved (what is
	// in flight too, as if it would fail).
	// +optional
	FailureBudget FailureBudget `json:"failureBudget,omitempty"`
	// calendars are the names of MaintenanceCalendars of this namespace; machines begin only while every one of them is open.
	// One that is absent or invalid is closed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="spec.calendars: is empty, which would be never or always; accepted: [eu-nights], or anyTime: true in place of calendars"
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')`,message="spec.calendars: each must be the name of a MaintenanceCalendar; accepted: eu-nights"
	Calendars []string `json:"calendars,omitempty"`
	// anyTime is true where no calendar restricts the rollout. Exactly one of calendars and anyTime is given.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self`,message="spec.anyTime: false means nothing; accepted: anyTime: true"
	AnyTime *bool `json:"anyTime,omitempty"`
	// upgrade says how one workload cluster is upgraded.
	// +optional
	Upgrade *PolicyUpgrade `json:"upgrade,omitempty"`
	// unreachable says what becomes of clusters that cannot be seen.
	// +optional
	Unreachable *Unreachable `json:"unreachable,omitempty"`
	// deferral says how long a cluster owner's wish to wait is honoured.
	// +optional
	Deferral *Deferral `json:"deferral,omitempty"`
	// catchUp says what happens after the last wave.
	// +optional
	CatchUp *CatchUp `json:"catchUp,omitempty"`
	// priority among policies that want one free cluster: the higher first, then the older policy. Default 0.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self >= -1000 && self <= 1000`,message="spec.priority: must be -1000 to 1000; accepted: 0, 10"
	Priority *int32 `json:"priority,omitempty"`
	// change that the rollout belongs to, copied into records.
	// +optional
	Change *Change `json:"change,omitempty"`
	// historyLimit is how many ended Rollouts are kept. Not supported yet.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
	// paused is Git's own brake: a paused policy plans and starts nothing.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Unknown are the paths of the fields that were read and that no field here has. Such a policy is not accepted.
	Unknown []string `json:"-"`
}

// MinorUpgrade says whether a cluster may move to another minor.
// +kubebuilder:validation:Enum=Refuse;Allow
type MinorUpgrade string

// The answers to a minor upgrade.
const (
	// MinorUpgradeRefuse makes clusters of another minor Ineligible(MinorUpgradeNotAllowed). The default.
	MinorUpgradeRefuse MinorUpgrade = "Refuse"
	// MinorUpgradeAllow upgrades them, one minor at a time.
	MinorUpgradeAllow MinorUpgrade = "Allow"
)

// OnMoved says what happens when a later machine ends on a version that no canary proved.
// +kubebuilder:validation:Enum=Halt;Continue
type OnMoved string

// The answers to a moved target.
const (
	// OnMovedHalt halts the rollout. The default.
	OnMovedHalt OnMoved = "Halt"
	// OnMovedContinue goes on and says so.
	OnMovedContinue OnMoved = "Continue"
)

// Target is what to upgrade to: exactly one of channel, revision and localPath, and what done means.
//
// +kubebuilder:validation:XValidation:rule=`[has(self.channel), has(self.revision), has(self.localPath)].filter(given, given).size() == 1`,message="target: exactly one of channel, revision and localPath is needed; accepted: channel: 1.33-classic/stable"
// +kubebuilder:validation:XValidation:rule=`has(self.version) || !has(self.revision)`,message="target.version: required with revision, which does not tell its version; accepted: v1.33.9",fieldPath=".version",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.version) || !has(self.localPath)`,message="target.version: required with localPath, which does not tell its version; accepted: v1.33.9",fieldPath=".version",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.version) || !has(self.channel) || size(self.channel) == 0 || self.channel.matches('^[1-9][0-9]{0,2}[.][0-9]{1,3}([-/].*)?$')`,message="target.version: required with a channel whose track does not begin with a minor; accepted: v1.33.9",fieldPath=".version",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.version) || !has(self.channel) || !self.channel.matches('^[1-9][0-9]{0,2}[.][0-9]{1,3}([-/].*)?$') || (self.version + '.').startsWith('v' + self.channel.find('^[0-9]+[.][0-9]+') + '.')`,message="target.version: must be of the minor that the channel's track begins with; accepted with channel 1.33-classic/stable: v1.33.9",fieldPath=".version"
// +kubebuilder:validation:XValidation:rule=`has(self.architecture) || !has(self.revision)`,message="target.architecture: required with revision, which is of one architecture; accepted: amd64, arm64",fieldPath=".architecture",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.architecture) || has(self.revision)`,message="target.architecture: stands beside revision only; accepted: leave it out, and choose clusters by their labels",fieldPath=".architecture",reason=FieldValueForbidden
type Target struct {
	// channel of the snap, such as 1.33-classic/stable.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="target.channel: must not be empty; accepted: 1.33-classic/stable"
	// +kubebuilder:validation:XValidation:rule=`size(self) == 0 || self.matches('^[A-Za-z0-9][-A-Za-z0-9._]*(/[A-Za-z0-9][-A-Za-z0-9._]*){0,2}$')`,message="target.channel: must be a snap channel; accepted: 1.33-classic/stable"
	Channel *string `json:"channel,omitempty"`
	// revision of the snap, such as "640". It is of one architecture, which is given beside it, and of a version likewise.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[1-9][0-9]*$')`,message="target.revision: must be the number of a snap revision, in quotes; accepted: '640'"
	Revision *string `json:"revision,omitempty"`
	// localPath is the absolute path of a .snap that lies on every machine.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('^/[^=[:space:]]+$')`,message="target.localPath: must be an absolute path, without spaces and =; accepted: /var/snaps/k8s.snap"
	LocalPath *string `json:"localPath,omitempty"`
	// version is what done means, such as v1.33.9: a kubelet of this minor and not older. With a channel whose track begins
	// with a minor it may be left out; then any kubelet of that minor will do.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^v[1-9][0-9]{0,2}[.][0-9]{1,3}([.][0-9]{1,4}(-[0-9A-Za-z][-0-9A-Za-z.]*)?)?$')`,message="target.version: must be a Kubernetes version; accepted: v1.33.9, v1.33"
	Version string `json:"version,omitempty"`
	// refreshedAfter makes a machine whose last proven refresh ended before it not done, whatever it runs.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule=`self.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$')`,message="target.refreshedAfter: must be an instant as RFC 3339 writes it; accepted: 2026-12-01T00:00:00Z, 2026-12-01T02:00:00+01:00"
	RefreshedAfter *metav1.Time `json:"refreshedAfter,omitempty"`
	// minorUpgrade: Refuse (default) or Allow.
	// +optional
	MinorUpgrade MinorUpgrade `json:"minorUpgrade,omitempty"`
	// architecture of the machines, such as amd64; required with revision. Clusters of others are Ineligible.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]+$')`,message="target.architecture: must be an architecture as nodes report it; accepted: amd64, arm64"
	Architecture string `json:"architecture,omitempty"`
	// onMoved says what happens when a later machine ends on a version that no canary proved: Halt (default) or Continue.
	// +optional
	OnMoved OnMoved `json:"onMoved,omitempty"`
}

// ClusterSelection says which workload clusters: by labels of the clusters, of their management clusters or of both; or by
// name; or all of them.
//
// +kubebuilder:validation:XValidation:rule=`has(self.selector) || has(self.managementClusterSelector) || has(self.names) || has(self.all)`,message="clusters: must say which; accepted: selector, managementClusterSelector, names, or all: true"
// +kubebuilder:validation:XValidation:rule=`!has(self.names) || !(has(self.selector) || has(self.managementClusterSelector) || has(self.all))`,message="clusters.names: stands alone; accepted: names, or else selector, managementClusterSelector or all: true",fieldPath=".names"
// +kubebuilder:validation:XValidation:rule=`!has(self.selector) || has(self.all) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)`,message="clusters.selector: is empty and would take every cluster; accepted: matchLabels: {tier: prod}, or all: true beside it",fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule=`!has(self.managementClusterSelector) || has(self.all) || (has(self.managementClusterSelector.matchLabels) && size(self.managementClusterSelector.matchLabels) > 0) || (has(self.managementClusterSelector.matchExpressions) && size(self.managementClusterSelector.matchExpressions) > 0)`,message="clusters.managementClusterSelector: is empty and would take every cluster; accepted: matchLabels: {region: eu}, or all: true beside it",fieldPath=".managementClusterSelector"
// +kubebuilder:validation:XValidation:rule=`!has(self.all) || !(has(self.selector) && ((has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)))`,message="clusters.all: contradicts selector; accepted: one of them",fieldPath=".all"
// +kubebuilder:validation:XValidation:rule=`!has(self.all) || !(has(self.managementClusterSelector) && ((has(self.managementClusterSelector.matchLabels) && size(self.managementClusterSelector.matchLabels) > 0) || (has(self.managementClusterSelector.matchExpressions) && size(self.managementClusterSelector.matchExpressions) > 0)))`,message="clusters.all: contradicts managementClusterSelector; accepted: one of them",fieldPath=".all"
type ClusterSelection struct {
	// selector matches labels of WorkloadClusters. With managementClusterSelector both must match.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// managementClusterSelector matches labels of ManagementClusters.
	// +optional
	ManagementClusterSelector *metav1.LabelSelector `json:"managementClusterSelector,omitempty"`
	// names of clusters, as <management cluster>/<namespace>/<name>.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=360
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="clusters.names: is empty and takes nothing; accepted: [mgmt-a/shop/eu-1]"
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9-]+(/[a-z0-9.-]+){2}$')`,message="clusters.names: each must be <management cluster>/<namespace>/<name>; accepted: mgmt-a/shop/eu-1"
	Names []string `json:"names,omitempty"`
	// all is true where every cluster is meant.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self`,message="clusters.all: false means nothing; accepted: all: true, or leave it out"
	All *bool `json:"all,omitempty"`
}

// Canaries says which clusters go first: exactly one of names, selector and none.
//
// +kubebuilder:validation:XValidation:rule=`[has(self.names), has(self.selector), has(self.none)].filter(given, given).size() == 1`,message="canaries: exactly one of names, selector and none is needed; accepted: names: [mgmt-a/shop/eu-1], or none: true"
// +kubebuilder:validation:XValidation:rule=`!has(self.selector) || (has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0)`,message="canaries.selector: is empty and would take every cluster; accepted: matchLabels: {tier: canary}",fieldPath=".selector"
type Canaries struct {
	// names of clusters, as <management cluster>/<namespace>/<name>. One that is not selected by the policy is an error.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=360
	// +kubebuilder:validation:XValidation:rule=`size(self) > 0`,message="canaries.names: is empty and takes nothing; accepted: [mgmt-a/shop/eu-1]"
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9-]+(/[a-z0-9.-]+){2}$')`,message="canaries.names: each must be <management cluster>/<namespace>/<name>; accepted: mgmt-a/shop/eu-1"
	Names []string `json:"names,omitempty"`
	// selector matches labels of WorkloadClusters among the selected ones.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// none is true where no canary is wanted.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self`,message="canaries.none: false means nothing; accepted: none: true, or names"
	None *bool `json:"none,omitempty"`
	// soakDuration is how long the canaries stay healthy, without a break, before the first wave begins. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('720h')`,message="canaries.soakDuration: must be a duration of 1s to 720h; accepted: 30m, 1h"
	SoakDuration *metav1.Duration `json:"soakDuration,omitempty"`
	// deadline for the canaries, counted while work is allowed; past it the rollout halts. Default: none.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('1s') && duration(self) <= duration('8760h')`,message="canaries.deadline: must be a duration of 1s to 8760h; accepted: 2h"
	Deadline *metav1.Duration `json:"deadline,omitempty"`
	// approval that is needed before the canaries begin.
	// +optional
	Approval *ApprovalGate `json:"approval,omitempty"`
}

// RolloutPolicyStatus is what the hub made of a policy.
type RolloutPolicyStatus struct {
	// conditions: Ready (accepted, references resolve, planned).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// target as the annotations carry it, such as channel=1.33-classic/stable.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	Target string `json:"target,omitempty"`
	// rollout is the name of the current Rollout, or of the last one where that was deleted.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Rollout string `json:"rollout,omitempty"`
	// number of that Rollout: none of this policy had a higher one.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Number int64 `json:"number,omitempty"`
	// selected counts the clusters that the policy selects now.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Selected int32 `json:"selected,omitempty"`
	// canaries counts the canaries among them.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Canaries int32 `json:"canaries,omitempty"`
	// waves are the effective values of each wave, in order.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=22
	Waves []EffectiveWave `json:"waves,omitempty"`
}

// EffectiveWave is what a wave comes to with defaults filled in and percentages resolved.
type EffectiveWave struct {
	// name of the wave.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// clusters that the wave takes now.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Clusters int32 `json:"clusters,omitempty"`
	// maxConcurrency in clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxConcurrency int32 `json:"maxConcurrency,omitempty"`
	// maxFailures in clusters.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxFailures int32 `json:"maxFailures,omitempty"`
}
