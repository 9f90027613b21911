// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// maxChangeID bounds what is stored of an id of snapd.
const maxChangeID = 256

// limits of machines that are granted one by one.
func limits(cu *fleetv1.ClusterUpgrade) cluster.Limits {
	u := cu.Spec.Upgrade
	return cluster.Limits{
		MaxConcurrentMachines: int(u.MaxConcurrentMachines), MaxAttempts: int(u.Machine.MaxAttempts),
		Timeout: u.Machine.Timeout.Duration, Backoff: u.Machine.Backoff.Duration,
	}
}

// foreign is a machine that somebody else upgrades: under the keys that are not in use here, or, where machines are
// granted one by one, of no owner that was planned.
func (s *scene) foreign(d drive.Member) string {
	others := protocol.KeysFor(protocol.OwnPrefix)
	if d.Keys == others {
		others = protocol.KeysFor(protocol.ProviderPrefix)
	}
	for _, m := range s.world.Machines {
		_, planned := s.machines[m.Name]
		strange := s.observation.PerMachine && !planned && !holds(m, d) && d.Keys.Read(m.Annotations).Busy()
		if strange || others.Read(m.Annotations).Busy() {
			return m.Name
		}
	}
	return ""
}

// holds: the holder on a machine is this upgrade.
func holds(m capi.Machine, d drive.Member) bool {
	return m.Annotations[protocol.HolderKey] == d.Holder.String()
}

// standings are all owners of a cluster as the controllers of a provider see them.
func standings(cu *fleetv1.ClusterUpgrade, w member.World) []cluster.Standing {
	var all []cluster.Standing
	for _, cp := range w.ControlPlanes {
		all = append(all, standing(cu, cp.GVK.Kind, cp.Object.Meta, w.MachinesOf(true, "")))
	}
	for _, pool := range w.Pools {
		all = append(all, standing(cu, pool.GVK.Kind, pool.Object.Meta, w.MachinesOf(false, pool.Object.Name)))
	}
	return all
}

func standing(cu *fleetv1.ClusterUpgrade, kind string, o capi.Meta, machines []capi.Machine) cluster.Standing {
	keys := protocol.KeysFor(protocol.ProviderPrefix)
	marks := keys.Read(o.Annotations)
	s := cluster.Standing{
		ID: kind + "/" + o.Name, HasTo: marks.HasTo, Status: marks.Status, Release: marks.Release,
		Returnable: len(machines) > 0,
	}
	for _, p := range cu.Status.Owners {
		if p.Kind == kind && p.Name == o.Name {
			s.Previous = p.PreviousRelease
		}
	}
	for _, m := range machines {
		release := keys.Read(m.Annotations).Release
		s.Armed = s.Armed || s.Release != "" && release != s.Release
		s.Returnable = s.Returnable && m.Proven(release, capi.Want{Target: s.Previous}).Good()
	}
	return s
}

// remember adds to the machines what is told by their marks and by what was stored of them.
func (s *scene) remember(cu *fleetv1.ClusterUpgrade, d drive.Member) {
	records := map[string]cluster.Record{}
	for _, row := range cu.Status.Machines {
		records[row.Name] = record(row.Grant)
	}
	for i := range s.observation.Owners {
		s.roll(&s.observation.Owners[i])
		for k := range s.observation.Owners[i].Machines {
			m := &s.observation.Owners[i].Machines[k]
			seen := s.machines[m.Name]
			marks := d.Keys.Read(seen.Annotations)
			m.Marks = cluster.Marks{
				To: marks.To, HasTo: marks.HasTo, HasChangeID: marks.HasChangeID,
				ChangeID: fleetv1.BoundTo(maxChangeID, marks.ChangeID), Status: marks.Status, LastFailed: marks.LastFailed,
			}
			m.Deleting, m.Paused, m.Health = seen.Deleting, seen.Paused, verdict(both(seen.Health(), seen.Etcd()))
			m.Ours, m.Record = holds(seen, d), records[m.Name]
			m.Leftovers = m.Leftovers && m.Ours
			m.Quarantined, m.Attempts, m.LastError = false, 0, ""
		}
	}
}

// roll adds to an owner whether its machines are being replaced, and the health of its etcd.
func (s *scene) roll(o *cluster.Owner) {
	for _, cp := range s.world.ControlPlanes {
		if o.Role == cluster.ControlPlane && cp.Object.Name == o.Name {
			o.Rolling, o.Health = cp.Object.RollsOut(s.world.MachinesOf(true, o.Name)), verdict(both(cp.Object.Health(), cp.Object.Etcd()))
		}
	}
	for _, pool := range s.world.Pools {
		if o.Role == cluster.Workers && pool.Object.Name == o.Name {
			o.Rolling = pool.Object.RollsOut(nil, s.world.MachinesOf(false, o.Name))
		}
	}
}

// both is the first of two judgements that is not True.
func both(a, b capi.Verdict) capi.Verdict {
	if a.Good() {
		return b
	}
	return a
}

// record is what was stored of a machine.
func record(g *fleetv1.MachineGrant) cluster.Record {
	if g == nil {
		return cluster.Record{}
	}
	return cluster.Record{
		At: g.At.UTC(), From: g.From, Seen: g.Seen, ChangeIDs: g.ChangeIDs, Attempts: int(g.Attempts), Put: int(g.Put),
		BlindSince: utc(instant(g.BlindSince)), Failures: int(g.Failures), FailedAt: utc(instant(g.FailedAt)),
		LastError: g.LastError,
	}
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
