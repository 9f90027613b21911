// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// Reach is what the hub knows of the management cluster.
type Reach struct {
	// Ready: it answers and is accepted; Message says why not.
	Ready   bool
	Message string
	// Access: the hub may write there.
	Access bool
	// SilentSince is when the hub found that it does not answer, or is not accepted; zero: it has not.
	SilentSince time.Time
	// Open: the wave of the cluster is open, so that its turn may come any moment.
	Open bool
	// PerMachine: machines are granted one by one there. ProviderPresent: the controllers of a provider answer.
	PerMachine, ProviderPresent bool
}

// scene is one look at a cluster: what the decision sees, and the objects as they were seen, for the writes.
type scene struct {
	observation cluster.Observation
	world       member.World
	owners      []drive.Owner
	machines    map[string]capi.Machine
	reach       Reach
}

// patience is how soon to look again after a write met an object that had changed.
func (s *scene) patience() time.Duration {
	if s.reach.PerMachine {
		return soon
	}
	return again
}

// previous is the release that was taken off an owner.
func (s *scene) previous(id string) string {
	for _, standing := range s.observation.Standing {
		if standing.ID == id {
			return standing.Previous
		}
	}
	return ""
}

// held is why the rollout holds a cluster.
func held(w *fleetv1.Waiting) policy.Waiting {
	if w == nil {
		return policy.Waiting{}
	}
	return policy.Waiting{Reason: w.Reason, Message: w.Message, Until: instant(w.Until)}
}

// boundFor is the role of the machines that the end of the intent is for.
func boundFor(cu *fleetv1.ClusterUpgrade) cluster.Role {
	if cu.Spec.NotAfter == nil {
		return ""
	}
	return cmp.Or(cluster.Role(cu.Spec.NotAfterFor), cluster.NoRole)
}

// observe turns a ClusterUpgrade and what its member shows into the values of a decision.
func observe(cu *fleetv1.ClusterUpgrade, reach Reach, w member.World, d drive.Member) scene {
	s := scene{world: w, machines: map[string]capi.Machine{}, reach: reach}
	s.observation = cluster.Observation{
		Intent:                  policy.Intent(cu.Spec.Intent),
		Held:                    held(cu.Spec.Hold),
		NotAfter:                instant(cu.Spec.NotAfter),
		NotAfterFor:             boundFor(cu),
		Order:                   policy.Order(cu.Spec.Upgrade.Order),
		AllowSingleControlPlane: single(cu, w),
		NotBefore:               instant(cu.Spec.Upgrade.RefreshedAfter),
		ProgressDeadline:        duration(cu.Spec.Upgrade.ProgressDeadline, 0),
		Worked:                  report.Worked(cu.Status),
		Open:                    reach.Open,
		WishSince:               instant(cu.Status.DeferredSince),
		WishMax:                 duration(cu.Spec.Upgrade.DeferralMax, fleetv1.DefaultDeferralMax),
		BeforeStart:             cluster.BeforeStart(cu.Spec.Upgrade.BeforeStart),
		SilentSince:             reach.SilentSince,
		Phase:                   policy.ClusterPhase(cu.Status.Phase),
		Reason:                  cu.Status.Reason,
		Message:                 cu.Status.Message,
		LastError:               cu.Status.LastError,
		Settled:                 cu.Status.Settled,
		StartedAt:               instant(cu.Status.StartedAt),
		ProvenSince:             instant(cu.Status.ProvenSince),
		Reachable:               reach.Ready,
		ReachMessage:            reach.Message,
		Access:                  reach.Access,
		Present:                 w.Present,
		Deleting:                w.Cluster.Deleting,
		Paused:                  w.Cluster.IsPaused(),
		PerMachine:              reach.PerMachine,
		ProviderPresent:         reach.ProviderPresent,
	}
	if !w.Present {
		return s
	}
	s.read(d)
	if reach.PerMachine {
		s.observation.Limits = limits(cu)
	}
	for _, o := range owners(cu, w) {
		s.addOwner(o, planFor(cu, o, w), d)
		last := &s.observation.Owners[len(s.observation.Owners)-1]
		last.GrantedAt, last.MovedAt = moved(cu, o)
		stale(cu, last)
	}
	s.observation.Foreign = s.foreign(d)
	s.observation.Beside = s.beside()
	if reach.PerMachine || reach.ProviderPresent {
		s.observation.Standing = standings(cu, w)
	}
	if reach.PerMachine {
		s.remember(cu, d)
	}
	return s
}

// read adds what stands on the cluster itself.
func (s *scene) read(d drive.Member) {
	w := s.world
	s.observation.Wish = cluster.ReadWish(w.Cluster.Annotations, fleetv1.DeferUntilAnnotation, fleetv1.HoldAnnotation)
	s.observation.Claim = claimOn(w.Cluster, d.Holder)
	s.observation.Health = verdict(w.Health())
	if until, err := protocol.ParseStartBefore(w.Cluster.Annotations[protocol.StartBeforeKey]); err == nil {
		s.observation.StartBefore = until
	}
}

// owners are those that were planned, and the pools that have joined the cluster since: it is not done while machines
// of it are not proven (law 3).
func owners(cu *fleetv1.ClusterUpgrade, w member.World) []fleetv1.UpgradeOwner {
	planned := cu.Spec.Owners
	if cu.Spec.Upgrade.Order == fleetv1.OrderControlPlaneOnly || len(planned) == 0 {
		return planned
	}
	all := slices.Clone(planned)
	for _, pool := range w.Pools {
		joined := fleetv1.UpgradeOwner{
			Kind: pool.GVK.Kind, Name: pool.Object.Name, Role: fleetv1.RoleWorkers,
			Target: planned[0].Target, Version: planned[0].Version,
		}
		if !slices.Contains(planned, joined) {
			all = append(all, joined)
		}
	}
	return all
}

// beside are the versions of machines of owners that are not to be upgraded.
func (s *scene) beside() map[cluster.Role][]string {
	versions := map[cluster.Role][]string{}
	for _, m := range s.world.Machines {
		if _, planned := s.machines[m.Name]; planned {
			continue
		}
		role := cluster.Workers
		if m.ControlPlane {
			role = cluster.ControlPlane
		}
		versions[role] = append(versions[role], m.KubeletVersion)
	}
	return versions
}

// moved is when an owner was last granted, and when a machine of it last began or ended, as the status remembers it.
func moved(cu *fleetv1.ClusterUpgrade, o fleetv1.UpgradeOwner) (granted, machine time.Time) {
	for _, p := range cu.Status.Owners {
		if p.Kind == o.Kind && p.Name == o.Name {
			granted = instant(p.GrantedAt)
		}
	}
	for _, m := range cu.Status.Machines {
		for _, at := range [...]time.Time{instant(m.StartedAt), instant(m.EndedAt)} {
			if m.Owner == o.Name && at.After(machine) {
				machine = at
			}
		}
	}
	return granted, machine
}

// claimOn tells whose claim stands on a cluster. One that cannot be read is somebody's.
func claimOn(c capi.Cluster, h drive.Holder) cluster.Claim {
	claim, found, err := drive.ClaimOf(c)
	switch {
	case err == nil && !found:
		return cluster.Claim{State: cluster.ClaimNone}
	case err == nil && claim.HeldBy(h):
		return cluster.Claim{State: cluster.ClaimOurs, By: claim.By(), Since: claim.Since}
	default:
		return cluster.Claim{State: cluster.ClaimOther, By: claim.By(), Since: claim.Since}
	}
}

func (s *scene) addOwner(o fleetv1.UpgradeOwner, plan protocol.Plan, d drive.Member) {
	out := cluster.Owner{
		Kind: o.Kind, Name: o.Name, Role: cluster.Role(o.Role), Target: o.Target, Version: o.Version,
	}
	seen, found := s.find(o, &out)
	if !found {
		s.observation.Owners = append(s.observation.Owners, out)
		return
	}
	marks := d.Keys.Read(seen.Annotations)
	out.Present, out.Deleting, out.Paused = true, seen.Deleting, seen.Paused
	out.To, out.HasTo, out.Status, out.Release = marks.To, marks.HasTo, marks.Status, marks.Release
	out.Ours = seen.Annotations[protocol.HolderKey] == d.Holder.String()
	if out.Ours {
		out.EngineWaits, out.EngineError = waits(seen.Annotations[protocol.WaitingKey])
	}
	want := capi.Want{Target: o.Target, Version: o.Version}
	for _, m := range s.world.MachinesOf(out.Role == cluster.ControlPlane, o.Name) {
		s.machines[m.Name] = m
		out.Machines = append(out.Machines, machine(m, want, d))
	}
	if newest := peers(out.Machines, o.Version); newest != "" {
		plan.ExpectedVersion = newest // so that the engine refreshes those that are behind once more
	}
	seen.Target, seen.Plan = o.Target, plan
	out.PlanMatches = seen.Annotations[protocol.PlanKey] == plan.Format()
	s.owners = append(s.owners, seen)
	s.observation.Owners = append(s.observation.Owners, out)
}

// waits reads what the engine says that an owner waits for, and what is wrong with it. What cannot be read says nothing.
func waits(text string) (waiting, wrong string) {
	w, err := protocol.ParseWaiting(text)
	switch {
	case err != nil || w.Reason == "":
		return "", ""
	case w.Reason == protocol.WaitingInvalid:
		return "", w.Message
	}
	return strings.TrimSuffix(w.Reason+": "+w.Message, ": "), ""
}

// find looks an owner up in the world and fills in what only its kind knows.
func (s *scene) find(o fleetv1.UpgradeOwner, out *cluster.Owner) (drive.Owner, bool) {
	for _, cp := range s.world.ControlPlanes {
		if o.Role == fleetv1.RoleControlPlane && cp.Object.Name == o.Name && cp.GVK.Kind == o.Kind {
			out.Replicas, out.Health = replicas(cp.Object.Replicas), verdict(cp.Object.Health())
			return drive.Owner{Meta: cp.Object.Meta, GVK: cp.GVK}, true
		}
	}
	for _, pool := range s.world.Pools {
		if o.Role == fleetv1.RoleWorkers && pool.Object.Name == o.Name {
			out.Replicas, out.Health = replicas(pool.Object.Replicas), cluster.Verdict{Status: cluster.True}
			return drive.Owner{Meta: pool.Object.Meta, GVK: pool.GVK}, true
		}
	}
	return drive.Owner{}, false
}

func machine(m capi.Machine, want capi.Want, d drive.Member) cluster.Machine {
	marks := d.Keys.Read(m.Annotations)
	attempt, err := protocol.ParseAttempt(m.Annotations[protocol.AttemptKey])
	lastError := attempt.LastError
	if err != nil {
		lastError = err.Error()
	}
	return cluster.Machine{
		Name:        m.Name,
		Proven:      verdict(m.Proven(marks.Release, want)),
		InFlight:    marks.InFlight(attempt),
		Requested:   marks.HasTo,
		Quarantined: attempt.Quarantined,
		Attempts:    attempt.Count,
		LastError:   lastError,
		Leftovers:   d.HasLeftovers(m),
		Kubelet:     m.KubeletVersion, Architecture: m.Architecture, Release: marks.Release,
	}
}

// owner finds an owner of the cluster, planned or not, by its ID ("Kind/Name").
func (s *scene) owner(id string) (drive.Owner, bool) {
	for _, o := range s.owners {
		if o.Kind+"/"+o.Name == id {
			return o, true
		}
	}
	for _, cp := range s.world.ControlPlanes {
		if cp.GVK.Kind+"/"+cp.Object.Name == id {
			return drive.Owner{Meta: cp.Object.Meta, GVK: cp.GVK}, true
		}
	}
	for _, pool := range s.world.Pools {
		if pool.GVK.Kind+"/"+pool.Object.Name == id {
			return drive.Owner{Meta: pool.Object.Meta, GVK: pool.GVK}, true
		}
	}
	return drive.Owner{}, false
}

// named are machines by name.
func (s *scene) named(names []string) []capi.Machine {
	machines := make([]capi.Machine, 0, len(names))
	for _, name := range names {
		machines = append(machines, s.machines[name])
	}
	return machines
}
