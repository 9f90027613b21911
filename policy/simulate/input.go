// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// Input is a rollout to play, and what befalls it.
type Input struct {
	// Name of the rollout; needed only where several are played at once. Priority of its policy among these: higher goes
	// first, then the earlier in the list.
	Name     string
	Priority int
	// Fleet as it stands at From: committed, its clusters with calendars, work and groups. A cluster whose health is not
	// known is taken to be healthy, one without work to have one machine that takes no time. It is not changed.
	Fleet policy.Fleet
	// From is when the rollout begins; Until is when the play stops at the latest, zero: a year later.
	From, Until time.Time
	// Script is what befalls the world, in any order; what lies before From has happened already.
	Script []Event
	// Versions that clusters end on, per architecture; nil: v1.33.9 on amd64.
	Versions map[string]string
	// Approved: approvals are taken as given as soon as they are asked for.
	Approved bool
	// FailBeforeStart and WaitBeforeStart say what becomes of a cluster that has not begun and whose member is silent
	// (unreachable.beforeStart); neither: it is deferred.
	FailBeforeStart, WaitBeforeStart bool
	// Machines: single machines are logged, too.
	Machines bool
	// Lag delays what the hub sees and what clusters are told by up to this much, and thereby reorders it; Seed says
	// how. The hub always sees what it wrote itself (law 4). Zero: everything is seen at once.
	Lag  time.Duration
	Seed uint64
	// Decisions that are made at most; zero: no bound.
	Decisions int
	// Watch is called after every step, to judge it. nil: nobody watches.
	Watch func(Moment)
	// quiet: nothing is logged.
	quiet bool
}

// Moment is one step, as a judge sees it.
type Moment struct {
	// Rollout is the Name of the input.
	Rollout string
	// At is when.
	At time.Time
	// Before and After are the fleet that was decided on, and the fleet with what was written. They must not be changed.
	Before, After policy.Fleet
	// Decision that was made; Decided is false where none was, and only machines began.
	Decision policy.Decision
	Decided  bool
	// Began are the machines that began since the last moment, in order.
	Began []Machines
}

// Machines are machines of one cluster that began together.
type Machines struct {
	// At is when they began; Until is when they will end.
	At, Until time.Time
	// ID of the cluster, and the index of the work as it was in the input: control plane before workers.
	ID   string
	Work int
	// Count of machines.
	Count int
	// Claimed: the cluster is claimed by this rollout. Heard is when the hub last could tell it to stop: now while both are
	// in touch.
	Claimed bool
	Heard   time.Time
}
