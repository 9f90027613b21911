// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

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

	// Calendars by key; Cluster.Calendars names those that apply to a cluster. A key that is not here is closed (law 9).
	Calendars map[string]Calendar
	// Freezes that touch a cluster of the rollout, now or later (law 22).
	Freezes []Freeze
	// Approvals that name the rollout, in any order.
	Approvals []Approval
	// Digest of the plan and of the settings as they stand; an approval is for one digest.
	Digest string
	// RequestedBy is who asked for the change, whose approval does not count. Empty: not said.
	RequestedBy string
	// Limits over all waves, besides those of waves and members.
	Limits []Limit
	// ReserveBudget: clusters in flight count against the failure budget as if they would fail (law 6).
	ReserveBudget bool
	// Unreachable says what becomes of clusters whose member is silent (law 14).
	Unreachable Unreachable
	// CatchUpFor is how long catch-up goes on after the last wave. Zero: until nothing is left to catch up.
	CatchUpFor time.Duration
	// Shown is the wait that was last reported for the rollout; nil: none.
	Shown *Waiting
}

// Calendar is one maintenance calendar.
type Calendar struct {
	// Name of the MaintenanceCalendar.
	Name string
	// Hours it is open; nil: closed, for the reason of Problem.
	Hours *window.Calendar
	// Problem is one of the calendar reasons of this package, with its message; empty: none.
	Problem, Message string
}

// Freeze stops starts for a time (law 22).
type Freeze struct {
	// Name, Reason and By for people.
	Name, Reason, By string
	// From and Until bound it, half-open. Zero From: since ever; zero Until: until it is removed.
	From, Until time.Time
	// Created is when it was made: before that it stopped nothing. Zero: that is not known.
	Created time.Time
	// NewClustersOnly: machines of clusters that have begun may still begin (effect NoNewClusters).
	NewClustersOnly bool
	// All: every cluster of the rollout is covered; else those whose IDs are in Clusters.
	All      bool
	Clusters map[string]bool
}

// Approval is one person's word on one wave.
type Approval struct {
	// Name of the Approval; By is its author.
	Name, By string
	// Wave and Digest that it is for.
	Wave, Digest string
	// Rejected: it says no. Reason in the author's words.
	Rejected bool
	Reason   string
	// At is when it was given; ExpiresAt ends it, zero: never.
	At, ExpiresAt time.Time
	// Verified: the API server vouched that By gave it.
	Verified bool
}

// Limit bounds clusters in flight per group: per management cluster, or per value of a label. All rollouts count.
type Limit struct {
	// Label whose values make the groups; empty: management clusters do.
	Label string
	// Max clusters in flight in one group. Under 1 counts as 1.
	Max int
	// Elsewhere counts, by group, clusters in flight of other rollouts.
	Elsewhere map[string]int
}

// Unreachable says what becomes of clusters whose member is silent (law 14). What becomes of those that have not begun
// is their own controller's to say: they are reported as Deferred, Pending or Failed.
type Unreachable struct {
	// Grace after which a cluster in flight gives its wave's slot back.
	Grace time.Duration
	// MaxUnknown bounds the clusters in flight that cannot be seen; above it nothing starts. Negative: MaxConcurrency
	// of the current wave.
	MaxUnknown int
}

// Clock is time that counts only while it runs.
type Clock struct {
	// Elapsed before Since.
	Elapsed time.Duration
	// Since it runs; zero: it stands.
	Since time.Time
}

// At is how much has counted at an instant.
func (c Clock) At(now time.Time) time.Duration {
	if c.Since.IsZero() {
		return c.Elapsed
	}
	return c.Elapsed + max(0, now.Sub(c.Since))
}

// Run lets the clock run from an instant on, or stand from then on.
func (c Clock) Run(runs bool, at time.Time) Clock {
	switch {
	case runs && c.Since.IsZero():
		c.Since = at
	case !runs && !c.Since.IsZero():
		c = Clock{Elapsed: c.At(at)}
	}
	return c
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
	// CatchUp: this is the implicit last wave. Clusters of waves that are closed and have not ended are its, too.
	CatchUp bool
	// Approvals of distinct people that it needs before each start. 0: none.
	Approvals int
	// Soak is how long the wave's clusters must stay healthy after its last success before the next wave (law 8);
	// Soaked is how long they have been, as stored.
	Soak   time.Duration
	Soaked Clock
	// Promoted: a person ended the soak.
	Promoted bool
	// Deadline bounds the time in which work was allowed in it (law 13), 0: none. Worked is that time, as stored.
	Deadline time.Duration
	Worked   Clock
	// DeadlineContinue: past the deadline clusters that have not begun go to catch-up and the next wave may begin; else
	// the rollout halts.
	DeadlineContinue bool
	// ClosedAt is when it was complete, as stored: what joins or comes back later belongs to catch-up. Zero: it is open.
	ClosedAt time.Time
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
	// Since is when Reason began. Until is when it ends by time alone, as reported; zero: that is not known. Act: it lasts
	// until a person acts.
	Since, Until time.Time
	Act          bool
	// LastError is the last thing that k8sd or the engine said about a failure.
	LastError string
	// Versions is the kubelet version reached per architecture, when Succeeded.
	Versions map[string]string
	// EndedAt is when it reached its last phase.
	EndedAt time.Time
	// Settled: nothing of ours is left on the member for it. Until then an ended cluster keeps its slot.
	Settled bool
	// NotAfter of its intent, as last written; zero: none.
	NotAfter time.Time
	// Calendars that apply to it, as keys of Fleet.Calendars; none: any time.
	Calendars []string
	// Groups are the values that Fleet.Limits count it under, by index.
	Groups []string
	// Work that is left, in the order in which it is done.
	Work []Work
	// Health of the cluster now, and since when it has been that.
	Health      Health
	HealthSince time.Time
	// Rival is another rollout that wants this cluster now and goes first; nil: none.
	Rival *Rival
	// LastProgressAt is when a machine of it last ended; zero: none has.
	LastProgressAt time.Time
}

// Work is machines of one role.
type Work struct {
	// Machines left to upgrade, and how many at once. AtOnce under 1 counts as 1.
	Machines, AtOnce int
	// Each is how long one takes: the p90 of this cluster and role from 3 samples, else of the rollout from 5, else what
	// is expected, else the machine's timeout (law 10).
	Each time.Duration
}

// Health of a cluster. The zero value is HealthUnknown.
type Health string

// The healths of a cluster.
const (
	Healthy       Health = "True"
	Unhealthy     Health = "False"
	HealthUnknown Health = ""
)

// Rival is another rollout that wants a cluster at the same time.
type Rival struct {
	// Rollout is "<namespace>/<name>"; Priority is its policy's.
	Rollout  string
	Priority int
}

// Member is one management cluster.
type Member struct {
	// Ready: reachable, and what it needs is in place. Reason, Message and Since say why not.
	Ready           bool
	Reason, Message string
	Since           time.Time
	// Never: it has not answered once, so that it cannot have fallen silent.
	Never bool
	// Upgrade: writes are allowed (access: Upgrade).
	Upgrade bool
	// MaxConcurrentClusters bounds clusters in flight here, over all policies. 0: no bound.
	MaxConcurrentClusters int
	// Active counts clusters in flight here over all policies and rollouts, this one's included.
	Active int
}
