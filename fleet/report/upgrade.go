// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package report turns decisions into what people read: statuses, conditions and events. It is pure, and the one place
// where a fact gets its wording.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// Look is one look at a cluster and what was decided on it.
type Look struct {
	Owners []cluster.Owner
	// Standing are the owners as the controllers of a provider see them; empty where there are none.
	Standing []cluster.Standing
	Step     cluster.Step
	// Claimed: the claim on the cluster is this upgrade's.
	Claimed bool
	// States is the protocol's state of each machine, by name.
	States map[string]string
	// Seen: the member was read; of one that was not, owners and machines stay as they were.
	Seen bool
}

// Upgrade is the status of a ClusterUpgrade after a look. Instants move only when what they tell changes.
func Upgrade(cu *fleetv1.ClusterUpgrade, l Look, now time.Time) fleetv1.ClusterUpgradeStatus {
	s := *cu.Status.DeepCopy()
	at := metav1.NewTime(now.Truncate(time.Second))
	step := l.Step
	s.ObservedGeneration = cu.Generation
	if s.Reason != step.Reason || s.Phase != fleetv1.UpgradePhase(step.Phase) || s.Since == nil {
		s.Since = &at
	}
	s.Phase, s.Reason, s.Message = fleetv1.UpgradePhase(step.Phase), step.Reason, fleetv1.Bound(step.Message)
	s.Until = until(step)
	s.LastError = fleetv1.Bound(step.LastError)
	s.CurrentMachine = step.CurrentMachine
	s.MaxAttempts = cu.Spec.Upgrade.Machine.MaxAttempts
	s.Claimed, s.Settled = l.Claimed, step.Settled
	s.Conditions = slices.Clone(s.Conditions)
	times(&s, step, at)
	var moved moves
	if l.Seen {
		wish(&s, step, at)
		moved = progress(&s, l, unseen(cu.Status), at)
	}
	anew := len(moved.ended) > 0 || !s.LastProgressAt.Equal(cu.Status.LastProgressAt) || s.StartedAt == nil || step.Starts
	work(&s, step.Works, anew, at)
	windows(cu, &s, moved.began, at)
	outside(cu, &s, l.Seen, moved.ended, at)
	if len(step.Versions) > 0 {
		s.Versions = versions(step.Versions)
	}
	summary(cu, &s)
	upgradeConditions(&s, step, cu.Generation, at)
	return s
}

func until(step cluster.Step) string {
	switch {
	case step.Act:
		return fleetv1.UntilAct
	case step.WaitUntil.IsZero():
		return ""
	}
	return fleetv1.UntilText(new(metav1.NewTime(step.WaitUntil)))
}

func times(s *fleetv1.ClusterUpgradeStatus, step cluster.Step, at metav1.Time) {
	switch {
	case !step.AllProven:
		s.ProvenSince = nil
	case s.ProvenSince == nil:
		s.ProvenSince = &at
	}
	switch {
	case step.Starts && s.StartedAt == nil:
		s.StartedAt = &at
	case (step.Phase == policy.Pending || step.Phase == policy.Deferred) && !step.Starts:
		s.StartedAt = nil // another was quicker to claim it, or its slot was given back
	}
	switch {
	case !cluster.Final(step.Phase):
		s.EndedAt = nil
	case s.EndedAt == nil:
		s.EndedAt = &at
	}
}

// moves are what a look shows that the one before did not: whether a machine began, and which have ended.
type moves struct {
	began bool
	ended []string
}

// progress lists owners and machines, unfinished machines first. A machine that ended while its member could not be seen
// is not measured.
func progress(s *fleetv1.ClusterUpgradeStatus, l Look, unseen bool, at metav1.Time) moves {
	before, granted := map[string]fleetv1.MachineProgress{}, map[string]*metav1.Time{}
	cleared := map[string]*metav1.Time{l.Step.Cleared: &at}
	for _, m := range s.Machines {
		before[m.Name] = m
	}
	proven := 0
	for _, o := range s.Owners {
		granted[o.Kind+"/"+o.Name] = o.GrantedAt
		if o.ClearedAt != nil {
			cleared[o.Kind+"/"+o.Name] = o.ClearedAt
		}
		proven += int(o.Done)
	}
	if l.Step.Action == cluster.GrantOwner {
		granted[l.Step.Owner] = &at
	}
	previous := retired(s.Owners, l)
	s.Owners, s.Machines = nil, nil
	var unfinished, done []fleetv1.MachineProgress
	var moved moves
	for _, o := range l.Owners {
		p := fleetv1.OwnerProgress{
			Kind: o.Kind, Name: o.Name, Role: fleetv1.OwnerRole(o.Role), Total: int32(len(o.Machines)),
			GrantedAt: granted[o.ID()], ClearedAt: cleared[o.ID()], PreviousRelease: previous[o.ID()].PreviousRelease,
		}
		delete(previous, o.ID())
		for _, m := range o.Machines {
			row := machine(o, m, l.States[m.Name], before[m.Name], at)
			remember(&row, l.Step.Records)
			moved.note(&row, before[m.Name], unseen)
			s.Attempts = max(s.Attempts, row.Attempts)
			if m.Proven.Good() {
				p.Done++
				done = append(done, row)
				continue
			}
			unfinished = append(unfinished, row)
		}
		p.Phase = ownerPhase(o, p)
		s.Owners = append(s.Owners, p)
	}
	for _, id := range slices.Sorted(maps.Keys(previous)) {
		s.Owners = append(s.Owners, previous[id]) // not to be upgraded, and retired all the same
	}
	if len(done) > proven {
		s.LastProgressAt = &at
	}
	s.Machines = listed(unfinished, done)
	return moved
}

// note adds what a row shows that the row before did not.
func (m *moves) note(row *fleetv1.MachineProgress, before fleetv1.MachineProgress, unseen bool) {
	m.began = m.began || row.StartedAt != nil && before.StartedAt == nil
	if row.EndedAt == nil || before.EndedAt != nil || row.StartedAt == nil {
		return
	}
	m.ended = append(m.ended, row.Name)
	if unseen {
		row.StartedAt = nil
	}
}

func machine(o cluster.Owner, m cluster.Machine, state string, old fleetv1.MachineProgress, at metav1.Time) fleetv1.MachineProgress {
	row := fleetv1.MachineProgress{
		Name: m.Name, Owner: o.Name, State: state, Release: fleetv1.BoundTo(fleetv1.MaxText, m.Release), Kubelet: m.Kubelet,
		Architecture: m.Architecture, Attempts: max(int32(m.Attempts), old.Attempts),
		LastError: fleetv1.Bound(m.LastError), StartedAt: old.StartedAt, EndedAt: old.EndedAt,
	}
	began(&row, o, m, at)
	if row.Attempts == 0 && m.Proven.Good() && changed(old, row) {
		row.Attempts = 1 // it began and ended between two looks, and the count went with its end
	}
	return row
}

// changed: a machine that was seen before runs or carries something else by now, or was asked to.
func changed(old, row fleetv1.MachineProgress) bool {
	return old.Name != "" && (old.StartedAt != nil || old.Kubelet != row.Kubelet || old.Release != row.Release)
}

// began keeps when a machine began and ended. One that was asked once more begins anew; one that is not well after its end,
// or whose request was taken back, is not measured.
func began(row *fleetv1.MachineProgress, o cluster.Owner, m cluster.Machine, at metav1.Time) {
	asked, ended := m.InFlight || m.Requested, m.Proven.Good() || m.Quarantined
	waits := !m.Record.At.IsZero() || m.Release == o.Target
	switch {
	case asked && !ended && (row.StartedAt == nil || row.EndedAt != nil):
		row.StartedAt, row.EndedAt = &at, nil
	case !asked && !ended && (row.EndedAt != nil || !waits):
		row.StartedAt, row.EndedAt = nil, nil
	case ended && row.EndedAt == nil:
		row.EndedAt = &at
	}
}

func ownerPhase(o cluster.Owner, p fleetv1.OwnerProgress) fleetv1.UpgradePhase {
	failed := slices.ContainsFunc(o.Machines, func(m cluster.Machine) bool { return m.Quarantined })
	switch {
	case failed:
		return fleetv1.UpgradeFailed
	case p.Done == p.Total && p.Total == int32(o.Replicas):
		return fleetv1.UpgradeSucceeded
	case o.HasTo && o.Ours, slices.ContainsFunc(o.Machines, func(m cluster.Machine) bool { return !m.Record.At.IsZero() }):
		return fleetv1.UpgradeProgressing
	default:
		return fleetv1.UpgradePending
	}
}

func summary(cu *fleetv1.ClusterUpgrade, s *fleetv1.ClusterUpgradeStatus) {
	done, total := map[fleetv1.OwnerRole]int32{}, map[fleetv1.OwnerRole]int32{}
	for _, o := range s.Owners {
		done[o.Role] += o.Done
		total[o.Role] += o.Total
	}
	of := func(role fleetv1.OwnerRole) string { return fmt.Sprintf("%d/%d", done[role], total[role]) }
	s.Summary = &fleetv1.UpgradeSummary{
		Cluster: cu.Path(), CP: of(fleetv1.RoleControlPlane), Workers: of(fleetv1.RoleWorkers),
		Tries: fmt.Sprintf("%d/%d", s.Attempts, s.MaxAttempts),
	}
}

func versions(of map[string]string) []fleetv1.ProvenVersion {
	list := make([]fleetv1.ProvenVersion, 0, len(of))
	for architecture, version := range of {
		list = append(list, fleetv1.ProvenVersion{Architecture: architecture, Version: version})
	}
	slices.SortFunc(list, func(a, b fleetv1.ProvenVersion) int { return cmp.Compare(a.Architecture, b.Architecture) })
	return list
}

// upgradeConditions are what kstatus reads.
func upgradeConditions(s *fleetv1.ClusterUpgradeStatus, step cluster.Step, generation int64, at metav1.Time) {
	is := func(kind string, holds bool) {
		c := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: cmp.Or(step.Reason, string(step.Phase)),
			Message: fleetv1.Bound(step.Message), ObservedGeneration: generation, LastTransitionTime: at,
		}
		if holds {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&s.Conditions, c)
	}
	working := step.Phase == policy.Progressing || step.Phase == policy.Verifying || step.Phase == policy.Holding
	is(fleetv1.ReadyCondition, step.Phase == policy.Succeeded)
	is(fleetv1.ReconcilingCondition, working)
	is(fleetv1.StalledCondition, step.Phase == policy.Failed || step.Act)
}
