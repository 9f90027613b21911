// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster decides the next step for one workload cluster: which of its owners is granted, when its
// permission is renewed, what is withdrawn and when nothing of ours is left. One step at a time, from plain values
// alone: the caller carries it out, looks again and asks again.
package cluster

import (
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// Observation is one workload cluster as its ClusterUpgrade and its member show it.
type Observation struct {
	// Intent of the hub for it. Empty counts as Wait.
	Intent policy.Intent
	// Held says why the intent is Hold, in the words of the rollout; the zero value: it does not say.
	Held policy.Waiting
	// NotAfter ends the intent Run: no machine begins later. Zero: no end.
	NotAfter time.Time
	// NotAfterFor is the role of the machines that NotAfter was worked out for: none of another role begins. Zero: any.
	NotAfterFor Role
	// Order of owners. Zero: ControlPlaneFirst.
	Order policy.Order
	// AllowSingleControlPlane as in policy.PlanInput.
	AllowSingleControlPlane bool

	// Phase, Reason, Message and LastError as stored: an end that was reached once is kept.
	Phase                      policy.ClusterPhase
	Reason, Message, LastError string
	// Settled as stored: an end after which nothing of ours is left needs no further look.
	Settled bool
	// StartedAt is when the first write was decided; zero: never. The caller stores it at the first Step with Starts,
	// before it carries out the action (law 4).
	StartedAt time.Time
	// ProvenSince is since when every look said AllProven. The caller stores the time of the first Step with
	// AllProven and forgets it at the first without.
	ProvenSince time.Time

	// NotBefore is when the first machine may begin; zero: at any time.
	NotBefore time.Time
	// ProgressDeadline is how long work may be allowed without a machine that ends; 0: no deadline. Worked is how long it
	// has been, as stored; the caller keeps it by Step.Works, and begins it anew when a machine ends (law 13).
	ProgressDeadline time.Duration
	Worked           policy.Clock
	// Open: the wave of the cluster is open, so that its turn may come any moment.
	Open bool
	// Wish of the cluster's owner. WishSince is since when it is honoured, as stored (see Step.Wished); WishMax is how long
	// that is done at most, 0: it is not.
	Wish      Wish
	WishSince time.Time
	WishMax   time.Duration
	// BeforeStart is what becomes of it while nothing was granted and its management cluster is silent.
	BeforeStart BeforeStart
	// SilentSince is when the hub found that the management cluster does not answer, or is not ready. Zero: it has not; one
	// that was just not read may be well.
	SilentSince time.Time

	// Reachable: the member answers; ReachMessage says why not. Everything below was read from it, live or from a
	// cache that is in step; of a member that is not reachable it is not judged (law 14).
	Reachable    bool
	ReachMessage string
	// Access: the hub may write there (access: Upgrade).
	Access bool
	// Present: the Cluster with this UID exists.
	Present bool
	// Deleting: it is being deleted. Paused: it, or its controllers, are told to stand still.
	Deleting, Paused bool
	// Claim on it.
	Claim Claim
	// Health of the cluster as a whole.
	Health Verdict
	// StartBefore is the permission on it now; zero: none.
	StartBefore time.Time
	// Owners to upgrade, in any order.
	Owners []Owner
	// Beside are the kubelet versions of machines of no owner above, by role.
	Beside map[Role][]string

	// PerMachine: machines are granted one by one, to the controllers of a provider; else owners are, to an engine.
	PerMachine bool
	// Limits of machines that are granted one by one.
	Limits Limits
	// ProviderPresent: the controllers of a provider answer there.
	ProviderPresent bool
	// Foreign is a machine that somebody else upgrades, under other keys or of no owner above; empty: none.
	Foreign string
	// Standing are all owners of the cluster, as the controllers of a provider see them; empty where there are none.
	Standing []Standing
}

// Standing is what an owner tells the controllers of a provider, which obey its `to` and, without one, its release.
type Standing struct {
	// ID of the owner, as Owner.ID.
	ID string
	// HasTo, Status and Release are its marks under the provider's keys.
	HasTo           bool
	Status, Release string
	// Armed: it has a release that one of its machines lacks, which would be taken back to it.
	Armed bool
	// Previous is the release that was taken off it; Returnable: each of its machines is proven at that value.
	Previous   string
	Returnable bool
}

// marked: it tells the controllers anything.
func (s Standing) marked() bool { return s.HasTo || s.Status != "" || s.Release != "" }

// ClaimState is whose claim stands on a Cluster.
type ClaimState string

// The states of a claim. The zero value is no claim.
const (
	// ClaimNone: nobody's, or void.
	ClaimNone ClaimState = ""
	// ClaimOurs: of this ClusterUpgrade.
	ClaimOurs ClaimState = "Ours"
	// ClaimOther: of another one.
	ClaimOther ClaimState = "Other"
)

// Claim is the claim on a Cluster (law 2).
type Claim struct {
	// State tells whose it is.
	State ClaimState
	// By names the holder for people.
	By string
	// Since is when it was taken.
	Since time.Time
}

// Status is True, False or Unknown. The zero value is Unknown.
type Status string

// The statuses of a verdict.
const (
	True    Status = "True"
	False   Status = "False"
	Unknown Status = ""
)

// Verdict is a judgement with its reason. The zero value is Unknown.
type Verdict struct {
	// Status of the judgement. Any text but True and False counts as Unknown.
	Status Status
	// Message says why it is not True.
	Message string
}

// Good reports whether the judgement is True.
func (v Verdict) Good() bool { return v.Status == True }

// Role of an owner.
type Role string

// The roles.
const (
	// ControlPlane owns control plane machines.
	ControlPlane Role = "ControlPlane"
	// Workers owns worker machines.
	Workers Role = "Workers"
	// NoRole is that of no machine.
	NoRole Role = "None"
)

// Owner is a control plane or a MachineDeployment with what it should become.
type Owner struct {
	// Kind and Name of the object; Role in its cluster.
	Kind, Name string
	Role       Role
	// Target text and Version that its machines should reach.
	Target, Version string
	// Present, Deleting, Paused of the object.
	Present, Deleting, Paused bool
	// To is its in-place-upgrade-to; HasTo tells present from absent. Status and Release are its other two marks.
	To              string
	HasTo           bool
	Status, Release string
	// Ours: the holder on it is this ClusterUpgrade.
	Ours bool
	// PlanMatches: the plan on it is the one that would be written.
	PlanMatches bool
	// Replicas that it should have.
	Replicas int
	// Machines that it has.
	Machines []Machine
	// Health of the owner itself.
	Health Verdict
	// Stale: its machines must be refreshed by this upgrade whatever release they carry (refreshedAfter), and may still carry
	// one of before. The release comes off first; see Step.Cleared.
	Stale bool
	// Rolling says why its machines are being replaced; empty: they are not. Of one whose machines are granted one by one.
	Rolling string
	// EngineError is what the engine says is wrong with it; empty: nothing.
	EngineError string
	// EngineWaits is what the engine says that the owner waits for; empty: nothing.
	EngineWaits string
	// GrantedAt is when it was last granted; zero: StartedAt of the cluster is taken.
	GrantedAt time.Time
	// MovedAt is when a machine of it last began or ended; zero: not known.
	MovedAt time.Time
}

// ID is "Kind/Name", as Step.Owner names it.
func (o Owner) ID() string { return o.Kind + "/" + o.Name }

// Machine is one machine of an owner.
type Machine struct {
	// Name of the Machine.
	Name string
	// Proven is the judgement of the proof for this target (law 3).
	Proven Verdict
	// InFlight: a refresh was sent for it and has not ended. Requested: it carries a `to`.
	InFlight, Requested bool
	// Quarantined: its attempts are used up. Attempts counts them, LastError is what the last one said.
	Quarantined bool
	Attempts    int
	LastError   string
	// Leftovers: marks that Settle would remove are on it.
	Leftovers bool
	// Deleting, Paused of the object; Health of the machine.
	Deleting, Paused bool
	Health           Verdict
	// Ours: the holder on it is this ClusterUpgrade. Of a machine that is granted by itself, as the next three.
	Ours bool
	// Marks on it. InFlight, Requested, Quarantined, Attempts and LastError are told from them and the Record.
	Marks Marks
	// Record as stored.
	Record Record
	// Said is what was last said about a failure since its request was written.
	Said string
	// Kubelet version, Architecture and Release that it shows.
	Kubelet, Architecture, Release string
}
