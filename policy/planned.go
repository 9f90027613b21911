// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"github.com/windlass-dev/windlass/policy/version"
)

// Candidate is one selected workload cluster, as the inventory knows it. Label selectors are already evaluated.
type Candidate struct {
	// ID is the name of its WorkloadCluster; Path is what people write, "mgmt-a/shop/eu-1"; Member is the name of its
	// ManagementCluster.
	ID, Path, Member string
	// CanaryMatch: the policy's canaries take it.
	CanaryMatch bool
	// WaveMatches are the indices of the waves whose names or selector match, ascending. Percent and rest waves are
	// not listed: they take what is left.
	WaveMatches []int
	// AtTarget: every machine is proven at the target, so nothing is to be done.
	AtTarget bool
	// Known: versions, architectures and replicas below are known. A cluster that is not known keeps the whole plan
	// waiting: it is neither skipped nor guessed (law 3).
	Known bool
	// ControlPlaneVersions and WorkerVersions are the distinct kubelet versions of its machines ("v1.33.4").
	ControlPlaneVersions, WorkerVersions []string
	// Carried tells how many of the machines to upgrade were last refreshed to this very target.
	Carried version.Carried
	// Architectures are the distinct architectures of its machines.
	Architectures []string
	// Kubelets is the kubelet version per architecture of a cluster AtTarget: what a canary that is already there
	// proves.
	Kubelets map[string]string
	// ControlPlaneReplicas is how many control plane machines it has.
	ControlPlaneReplicas int
	// Unsupported says why it cannot be upgraded in place at all; empty: it can.
	Unsupported string
}

// WaveSpec is one wave as the policy writes it. A wave with neither Percent nor Rest takes the candidates that match
// its index.
type WaveSpec struct {
	// Name of the wave, unique in its policy. That of catch-up stands alone: in a plan of clusters that joined late.
	Name string
	// Percent of the selected clusters that are no canaries, rounded up, from those that no earlier wave took.
	Percent int
	// Rest takes everything that is left.
	Rest bool
	// MaxConcurrency is how many clusters are in flight at once. Zero: one.
	MaxConcurrency Amount
	// MaxFailures is how many may fail before the rollout halts. Zero: none.
	MaxFailures Amount
}

// Counts are the limits of a wave of so many planned clusters, by one formula for every size (law 5). The denominator
// never changes once the plan is committed; the amounts may.
func (w WaveSpec) Counts(planned int) (maxConcurrency, maxFailures int) {
	return w.MaxConcurrency.AtLeastOne(planned), w.MaxFailures.Of(planned)
}

// Target is what to upgrade to.
type Target struct {
	// Text is the target as the protocol writes it: "channel=1.33-classic/stable".
	Text string
	// Version is what done means: "v1.33.9" (that minor, not older) or "v1.33" (that minor).
	Version string
	// Architecture that the target is of; empty: any. Required by a revision.
	Architecture string
	// MinorUpgrade allows clusters of an older minor.
	MinorUpgrade bool
	// OnMovedHalt: a cluster that ends on a version that no canary proved halts the rollout.
	OnMovedHalt bool
	// RefreshedAfter: a machine whose last proven refresh ended before it is not done, whatever it runs. Zero: not asked for.
	RefreshedAfter time.Time `json:",omitzero"`
}

// PlanInput is everything that a plan depends on.
type PlanInput struct {
	// Target to upgrade to.
	Target Target
	// Order of owners inside a cluster. Zero: ControlPlaneFirst.
	Order Order
	// AllowSingleControlPlane: control planes of one machine may be upgraded, and are away meanwhile.
	AllowSingleControlPlane bool
	// Candidates are the selected clusters, in any order.
	Candidates []Candidate
	// NoCanaries: the policy says that it has none.
	NoCanaries bool
	// AbsentCanaries are the canary names, or the selector, that matched no selected cluster, as written.
	AbsentCanaries []string
	// Waves in the policy's order, without the canaries.
	Waves []WaveSpec
	// AbsentNames are the names in waves or clusters that match nothing, as written.
	AbsentNames []string
}

// Plan is a rollout's membership: which cluster is in which wave, and what is left alone and why. The same input
// always gives the same plan.
type Plan struct {
	// Waves in order; the canaries, when there are any, come first under the name CanaryWave.
	Waves []PlannedWave
	// Ineligible are the selected clusters that this target does not suit, by path.
	Ineligible []Refused
	// AtTarget are the paths of clusters that need nothing.
	AtTarget []string
	// Proven is the version per architecture that canaries AtTarget show already.
	Proven map[string]string
	// Patch and Minor count the planned clusters that stay in their minor, and those that leave it. Total counts all
	// selected.
	Patch, Minor, Total int
	// Skewed says, for planned clusters whose workers are newer than their control plane already, which these are. It is no
	// part of the hash.
	Skewed []string `json:"-"`
	// Hash names the plan: it changes whenever target, members, order or limits do.
	Hash string
}

// Names of the waves that the hub makes itself.
const (
	// CanaryWave is the wave of canaries.
	CanaryWave = "canaries"
	// catchUpWave comes after the last wave.
	catchUpWave = "catch-up"
)

// PlannedWave is one wave of a plan.
type PlannedWave struct {
	// Name as the policy gives it, or CanaryWave.
	Name string
	// Canary: this is the wave of canaries.
	Canary bool
	// Clusters to upgrade, in plan order.
	Clusters []Placed
	// Planned is how many these are: the denominator of the limits.
	Planned int
	// Selected is how many clusters fell into the wave, those that need nothing or are ineligible included.
	Selected int
	// TakenBefore is how many clusters match the wave and fell into the canaries or an earlier wave: the first match wins.
	// It is no part of the hash.
	TakenBefore int `json:"-"`
	// MaxConcurrency and MaxFailures are the limits as counts.
	MaxConcurrency, MaxFailures int
}

// Placed is one cluster's place in a plan.
type Placed struct {
	// ID, Path and Member as in Candidate.
	ID, Path, Member string
	// Position in the rollout, from 1.
	Position int
}

// Refused is a cluster that the target does not suit.
type Refused struct {
	// ID and Path as in Candidate.
	ID, Path string
	// Reason is one of the Ineligible reasons of this package; Message says it for people.
	Reason, Message string
}

// PlanError says why there is no plan. Planning waits: nothing starts.
type PlanError struct {
	// Reason is one of the planning reasons of this package.
	Reason string
	// Message names the clusters: the first ten and how many there are.
	Message string
}

// Error is the message.
func (e *PlanError) Error() string { return e.Message }
