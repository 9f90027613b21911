// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// Fleet is one rollout as the hub's objects show it.
type Fleet struct {
	// Committed: membership is written down (law 15). Before that nothing starts.
	Committed bool
	// PlanReason and PlanMessage say why planning waits (see PlanError); empty: nothing is wrong.
	PlanReason, PlanMessage string
	// Paused is the policy's own brake.
	Paused bool
	// UnknownField says that the policy has fields that are not known, and which: until that is put right nothing starts.
	UnknownField string
	// Sticky is Halted, Cancelled or Superseded as stored on the Rollout, else empty, with its reason and message.
	Sticky                      Phase
	StickyReason, StickyMessage string
	// Cancelled and Superseded are asked for now.
	Cancelled, Superseded bool
	// Waves in order, canaries first.
	Waves []Wave
	// Clusters in plan order.
	Clusters []Cluster
	// Members by name. A cluster whose member is not here does not start.
	Members map[string]Member
	// OtherActive counts clusters in flight in other, older Rollouts of the same policy.
	OtherActive int
	// Proven is the version per architecture that the canaries proved, as stored.
	Proven map[string]string
	// HasCanaries: the policy has canaries, some of which may have needed nothing.
	HasCanaries bool
	// OnMovedHalt as in Target.
	OnMovedHalt bool
}

// Wave is one wave as committed.
type Wave struct {
	// Name, unique in the rollout.
	Name string
	// Canary: this is the wave of canaries.
	Canary bool
	// Planned is how many clusters it has to upgrade.
	Planned int
	// MaxConcurrency and MaxFailures are counts. A MaxConcurrency under 1 counts as 1.
	MaxConcurrency, MaxFailures int
	// StartedAt is when its first cluster began; zero: not yet.
	StartedAt time.Time
}

// Cluster is one planned cluster of the rollout.
type Cluster struct {
	// ID is the name of its ClusterUpgrade; Path and Member as in Candidate.
	ID, Path, Member string
	// Wave is an index into Fleet.Waves.
	Wave int
	// Intent as last written by the hub. Empty counts as Wait.
	Intent Intent
	// Returning: Intent went back to Wait and the cluster's controller has not yet confirmed it, so the slot is still
	// taken (law 4).
	Returning bool
	// Phase, Reason and Message as reported. An empty phase counts as Pending.
	Phase           ClusterPhase
	Reason, Message string
	// Since is when Reason began.
	Since time.Time
	// LastError is the last thing that k8sd or the engine said about a failure.
	LastError string
	// Versions is the kubelet version reached per architecture, when Succeeded.
	Versions map[string]string
	// EndedAt is when it reached its last phase.
	EndedAt time.Time
	// Settled: nothing of ours is left on the member for it. Until then an ended cluster keeps its slot.
	Settled bool
}

// Member is one management cluster.
type Member struct {
	// Ready: reachable, and what it needs is in place. Reason, Message and Since say why not.
	Ready           bool
	Reason, Message string
	Since           time.Time
	// Upgrade: writes are allowed (access: Upgrade).
	Upgrade bool
	// MaxConcurrentClusters bounds clusters in flight here, over all policies. 0: no bound.
	MaxConcurrentClusters int
	// Active counts clusters in flight here over all policies and rollouts, this one's included.
	Active int
}
