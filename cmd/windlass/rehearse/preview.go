// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"cmp"
	"time"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// Preview is a plan in its order, with when each cluster will probably be upgraded.
type Preview struct {
	Head `json:",inline"`
	// From is when it would begin. EndsAt is when the last of the clusters whose time can be told would be through, absent:
	// of none it can. Untold counts the others; Stopped says why nothing moves, where that is so.
	From    time.Time `json:"from"`
	EndsAt  time.Time `json:"endsAt,omitzero"`
	Untold  int       `json:"untold,omitempty"`
	Stopped string    `json:"stopped,omitempty"`
	// Waves in order.
	Waves []PreviewWave `json:"waves"`
	// AtTarget are the clusters that need nothing.
	AtTarget []string `json:"clustersAtTarget,omitempty"`
}

// PreviewWave is one wave of a plan.
type PreviewWave struct {
	Name string `json:"name"`
	// Begins and Ends as expected; absent: that cannot be told.
	Begins time.Time `json:"begins,omitzero"`
	Ends   time.Time `json:"ends,omitzero"`
	// Clusters in plan order.
	Clusters []PreviewCluster `json:"clusters"`
}

// PreviewCluster is one cluster of a plan.
type PreviewCluster struct {
	Position int     `json:"position"`
	Path     string  `json:"path"`
	Owners   []Owner `json:"owners"`
	// Start of its first machine and End of its last, as expected; absent: that cannot be told, for the Reason.
	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`
	// Window that it begins in, in its local time; absent: it may begin at any time.
	WindowStart *time.Time `json:"windowStart,omitempty"`
	WindowEnd   *time.Time `json:"windowEnd,omitempty"`
	// Windows is how many openings it needs.
	Windows int    `json:"windows,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Owner is what owns machines of a cluster.
type Owner struct {
	Kind     string            `json:"kind"`
	Name     string            `json:"name"`
	Role     fleetv1.OwnerRole `json:"role"`
	Machines int32             `json:"machines"`
	Target   string            `json:"target"`
	Version  string            `json:"version"`
}

// Preview says when the clusters will probably be upgraded: approvals are taken as given at once, members as they are.
func (r *Rehearsal) Preview() Preview {
	t := r.Run(Play{From: r.At, Approved: true})
	p := Preview{Head: r.Head(), From: r.At, Stopped: restamp(t.Stopped, r.At, time.UTC), AtTarget: r.Plan.AtTarget}
	upgrades := map[string]*fleetv1.ClusterUpgrade{}
	for _, cu := range r.Hub.Upgrades {
		upgrades[cu.Name] = cu
	}
	recorded := map[string]*fleetv1.WorkloadCluster{}
	for _, wc := range r.Hub.WorkloadClusters {
		recorded[wc.Name] = wc
	}
	position := 0
	for _, w := range r.Plan.Waves {
		wave := PreviewWave{Name: w.Name}
		for _, c := range t.Clusters[position:min(position+len(w.Clusters), len(t.Clusters))] {
			one := r.preview(c)
			one.Position = w.Clusters[len(wave.Clusters)].Position
			one.Owners = owners(upgrades[c.ID], recorded)
			wave.include(one)
			p.include(one)
		}
		position += len(w.Clusters)
		p.Waves = append(p.Waves, wave)
	}
	return p
}

func (v *Preview) include(c PreviewCluster) {
	if c.End.IsZero() {
		v.Untold++
	}
	if c.End.After(v.EndsAt) {
		v.EndsAt = c.End
	}
}

func (w *PreviewWave) include(c PreviewCluster) {
	if !c.Start.IsZero() && (w.Begins.IsZero() || c.Start.Before(w.Begins)) {
		w.Begins = c.Start
	}
	if c.End.After(w.Ends) {
		w.Ends = c.End
	}
	w.Clusters = append(w.Clusters, c)
}

func (r *Rehearsal) preview(c simulate.Course) PreviewCluster {
	one := PreviewCluster{Path: c.Path}
	if c.Phase != policy.Succeeded {
		one.Reason, one.Message = cmp.Or(c.Reason, string(cmp.Or(c.Phase, policy.Pending))), c.Message
		return one
	}
	one.Start, one.End, one.Windows = c.Began, c.Ended, c.Windows
	if !c.Window.Start.IsZero() && !c.Window.End.IsZero() {
		zone := r.zoneOf(c.ID)
		one.WindowStart, one.WindowEnd = new(c.Window.Start.In(zone)), new(c.Window.End.In(zone))
	}
	return one
}

// zoneOf is the time zone of a cluster's first calendar.
func (r *Rehearsal) zoneOf(id string) *time.Location {
	if r.zones == nil {
		r.zones = map[string]*time.Location{}
		for i := range r.Fleet.Clusters {
			c := &r.Fleet.Clusters[i]
			for _, key := range c.Calendars {
				if hours := r.Fleet.Calendars[key].Hours; hours != nil && r.zones[c.ID] == nil {
					r.zones[c.ID] = hours.Location()
				}
			}
		}
	}
	return cmp.Or(r.zones[id], time.UTC)
}

// owners of a cluster in the order in which they are upgraded.
func owners(cu *fleetv1.ClusterUpgrade, recorded map[string]*fleetv1.WorkloadCluster) []Owner {
	if cu == nil {
		return nil
	}
	machines := map[string]int32{}
	if wc := recorded[cu.Spec.WorkloadCluster.Name]; wc != nil {
		for _, o := range observe.OwnersOf(wc, policy.Order(cu.Spec.Upgrade.Order)) {
			machines[o.Kind+"/"+o.Name] = o.Replicas
		}
	}
	list := make([]Owner, 0, len(cu.Spec.Owners))
	for _, o := range cu.Spec.Owners {
		list = append(list, Owner{
			Kind: o.Kind, Name: o.Name, Role: o.Role, Machines: machines[o.Kind+"/"+o.Name], Target: o.Target, Version: o.Version,
		})
	}
	return list
}
