// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// Result is what became of a rollout.
type Result struct {
	// Clusters in plan order, and Waves in order.
	Clusters []Course
	Waves    []WaveCourse
	// Log is every change of the decision, the waves and the clusters.
	Log []Entry
	// Phase, Reason and Message at the end.
	Phase           policy.Phase
	Reason, Message string
	// EndedAt is when the rollout reached its last phase with nothing in flight. Zero: it did not.
	EndedAt time.Time
	// Stopped says why it stands still for good, or why the play was broken off; empty: it ended.
	Stopped string
	// Peak is how many clusters were in flight at most. Decisions is how often Decide ran.
	Peak, Decisions int
}

// Course is what became of one cluster.
type Course struct {
	// ID, Path, Member and Wave as planned.
	ID, Path, Member, Wave string
	// Spans are when machines were at work; those without a pause between them are one.
	Spans []window.Span
	// Began is when its first machine did; Ended is when it reached its last phase. Zero: it did not.
	Began, Ended time.Time
	// Phase, Reason and Message at the end.
	Phase           policy.ClusterPhase
	Reason, Message string
	// Window is the opening that its first machine began in, zero: it may begin at any time. Windows is how many openings
	// of its calendars were used.
	Window  window.Span
	Windows int
}

// WaveCourse is what became of one wave.
type WaveCourse struct {
	// Name, and counts at the end.
	Name  string
	State policy.WaveState
	// Began is when its first cluster was told to run; Complete is when it was closed; SoakedUntil is when the next wave was
	// free to begin. Zero: never.
	Began, Complete, SoakedUntil time.Time
}

// Entry is one line of the story.
type Entry struct {
	// At is when.
	At time.Time
	// Kind says what sort of line it is.
	Kind EntryKind
	// Who did what Text says: the path of a cluster, or empty where Text says all.
	Who string
	// Text for people.
	Text string
}

// EntryKind is the sort of a line.
type EntryKind string

// The sorts of lines.
const (
	// Happening: an event of the script.
	Happening EntryKind = "Happening"
	// OfMachine: a machine began or ended.
	OfMachine EntryKind = "Machine"
	// OfCluster: a cluster's phase or reason changed.
	OfCluster EntryKind = "Cluster"
	// OfRollout: the rollout's phase or reason changed, or counts of its waves.
	OfRollout EntryKind = "Rollout"
	// Starts: clusters begin, or are told otherwise.
	Starts EntryKind = "Starts"
	// Waits: why no other begins.
	Waits EntryKind = "Waits"
)
