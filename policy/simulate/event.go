// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// Event is one thing that befalls the world.
type Event struct {
	// At is when.
	At time.Time `json:"at"`
	// Kind says what, and which of the other fields count.
	Kind EventKind `json:"kind"`
	// Cluster by path or ID, Member, Wave by name: whom it befalls.
	Cluster string `json:"cluster,omitempty"`
	Member  string `json:"member,omitempty"`
	Wave    string `json:"wave,omitempty"`
	// Name of the freeze or approval; By is its author.
	Name string `json:"name,omitempty"`
	By   string `json:"by,omitempty"`
	// Text says why, for people.
	Text string `json:"text,omitempty"`
	// From and Until bound a freeze; Until ends an approval or a deferral. Zero: no bound.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// NewClustersOnly as in policy.Freeze.
	NewClustersOnly bool `json:"newClustersOnly,omitempty"`
	// Takes is how long each machine takes from now on.
	Takes time.Duration `json:"takes,omitempty"`
	// Version that clusters end on from now on, on Architecture; empty: amd64.
	Version      string `json:"version,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	// Join is the cluster that joins; its wave is catch-up.
	Join *policy.Cluster `json:"join,omitempty"`
}

// EventKind is what befalls.
type EventKind string

// What can befall. Each names the fields that it reads besides At and Text.
const (
	// MachineFails: the machine of Cluster that is at work, else the next, uses up its attempts.
	MachineFails EventKind = "MachineFails"
	// ClusterSlow: machines of Cluster that begin from now on take Takes. Nobody expected it.
	ClusterSlow EventKind = "ClusterSlow"
	// ClusterSick, ClusterUnseen and ClusterWell: the health of Cluster is False, Unknown, True.
	ClusterSick   EventKind = "ClusterSick"
	ClusterUnseen EventKind = "ClusterUnseen"
	ClusterWell   EventKind = "ClusterWell"
	// ClusterPaused and ClusterResumed: the Cluster object is paused, and no longer.
	ClusterPaused  EventKind = "ClusterPaused"
	ClusterResumed EventKind = "ClusterResumed"
	// ClusterClaimed and ClusterFreed: somebody else drives Cluster, and no longer.
	ClusterClaimed EventKind = "ClusterClaimed"
	ClusterFreed   EventKind = "ClusterFreed"
	// OwnerDefers: the owner of Cluster puts it off until Until.
	OwnerDefers EventKind = "OwnerDefers"
	// ClusterJoins: Join is selected from now on, after the plan was committed. ClusterLeaves: Cluster is gone.
	ClusterJoins  EventKind = "ClusterJoins"
	ClusterLeaves EventKind = "ClusterLeaves"
	// LabelFlaps: Cluster is not selected for a while, which changes nothing (law 15).
	LabelFlaps EventKind = "LabelFlaps"
	// MemberSilent and MemberBack: Member does not answer, and does again.
	MemberSilent EventKind = "MemberSilent"
	MemberBack   EventKind = "MemberBack"
	// HubDown and HubBack: the hub does not run, and does again, with what it had stored.
	HubDown EventKind = "HubDown"
	HubBack EventKind = "HubBack"
	// Frozen: the freeze Name, by By, from From until Until, of Cluster or of all. Thawed: it is removed.
	Frozen EventKind = "Frozen"
	Thawed EventKind = "Thawed"
	// Approved and Rejected: By gives a word on Wave, which expires at Until.
	Approved EventKind = "Approved"
	Rejected EventKind = "Rejected"
	// Promoted: a person ends the soak of Wave.
	Promoted EventKind = "Promoted"
	// PolicyPaused and PolicyResumed: the policy's own brake.
	PolicyPaused  EventKind = "PolicyPaused"
	PolicyResumed EventKind = "PolicyResumed"
	// PolicyEdited: the settings change so that what was approved no longer is; Name is the new digest.
	PolicyEdited EventKind = "PolicyEdited"
	// TargetMoves: clusters end on Version from now on.
	TargetMoves EventKind = "TargetMoves"
	// RolloutCancelled: a person ends it. TargetChanges: a newer target takes over.
	RolloutCancelled EventKind = "RolloutCancelled"
	TargetChanges    EventKind = "TargetChanges"
)
