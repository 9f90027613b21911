// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// rollout is the hub's side of one rollout: what it stored, what it sees, and what it decides.
type rollout struct {
	*world
	in    Input
	fleet policy.Fleet
	sites []*site
	// byID and paths find a site.
	byID, paths map[string]*site
	// elsewhere is what members and limits had in flight that is not played here.
	elsewhere       map[string]int
	elsewhereLimits []map[string]int
	versions        map[string]string
	sets            map[string]window.Set

	// dirty: something changed since the last decision, which asked to be made again at recheck.
	dirty     bool
	recheck   time.Time
	decisions int
	// rounds is how often it was decided at this instant.
	rounds int
	round  time.Time
	broken string

	last policy.Decision
	// missed is an opening that was missed, of which nobody has been told.
	missed *policy.Missed
	began  []Machines
	log    []Entry
	shown  shown
	waves  []WaveCourse
	peak   int
	ending time.Time
}

// add puts a rollout into the world as its fleet says that it stands.
func (w *world) add(in Input) {
	r := &rollout{
		world: w, in: in, fleet: clone(in.Fleet), byID: map[string]*site{},
		paths: map[string]*site{}, dirty: true, sets: map[string]window.Set{},
		elsewhere: map[string]int{}, versions: maps.Clone(in.Versions), shown: shown{holds: map[string]string{}},
	}
	if r.versions == nil {
		r.versions = map[string]string{"amd64": "v1.33.9"}
	}
	for i := range r.fleet.Waves {
		r.waves = append(r.waves, WaveCourse{Name: r.fleet.Waves[i].Name})
		if in.Approved {
			r.fleet.Waves[i].Approvals = 0
		}
	}
	w.rollouts = append(w.rollouts, r)
	w.queue.put(in.From, func() { r.dirty = true })
	for name, m := range r.fleet.Members {
		w.silent[name] = w.silent[name] || !m.Ready
		r.elsewhere[name] = m.Active
	}
	for _, limit := range r.fleet.Limits {
		r.elsewhereLimits = append(r.elsewhereLimits, maps.Clone(limit.Elsewhere))
	}
	for i, c := range r.fleet.Clusters {
		if InFlight(c) {
			r.elsewhere[c.Member] = max(0, r.elsewhere[c.Member]-1)
		}
		r.settle(i)
	}
}

// settle makes the site of a cluster of the fleet, by index.
func (r *rollout) settle(i int) {
	c := &r.fleet.Clusters[i]
	p := r.places[c.Path]
	if p == nil {
		p = newPlace(*c, r.now)
		r.places[c.Path] = p
	}
	c.Health, c.HealthSince = p.health, p.healthSince
	s := newSite(r, i, p)
	if _, known := r.fleet.Members[c.Member]; !known {
		s.strange = true
	}
	r.sites = append(r.sites, s)
	r.byID[c.ID], r.paths[c.Path] = s, s
	r.queue.put(r.now, s.look)
}

// clone copies what a play changes.
func clone(f policy.Fleet) policy.Fleet {
	f.Waves = slices.Clone(f.Waves)
	f.Clusters = slices.Clone(f.Clusters)
	f.Members = maps.Clone(f.Members)
	f.Freezes = slices.Clone(f.Freezes)
	f.Approvals = slices.Clone(f.Approvals)
	f.Limits = slices.Clone(f.Limits)
	return f
}

// InFlight reports whether a cluster holds a slot: what was written counts, not only what was reported (law 4).
func InFlight(c policy.Cluster) bool {
	asked := c.Intent != policy.Wait && c.Intent != "" || c.Returning
	switch c.Phase {
	case policy.Removed:
		return false
	case policy.Succeeded, policy.Failed, policy.Ineligible, policy.Skipped:
		return asked && !c.Settled
	case policy.Progressing, policy.Verifying, policy.Holding:
		return true
	case policy.Pending, policy.Deferred, "":
	}
	return asked
}

// set is when a cluster may be worked on.
func (r *rollout) set(c policy.Cluster) window.Set {
	key := strings.Join(c.Calendars, "\n")
	set, known := r.sets[key]
	if !known {
		var calendars []*window.Calendar
		for _, name := range c.Calendars {
			calendars = append(calendars, r.fleet.Calendars[name].Hours)
		}
		set = window.NewSet(calendars...)
		r.sets[key] = set
	}
	return set
}
