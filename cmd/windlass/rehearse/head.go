// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/fleet/observe"
)

// Head is what a policy says, and what it comes to in an inventory.
type Head struct {
	// Policy, its Namespace, Target, and the Version that clusters are done at.
	Policy    string `json:"policy"`
	Namespace string `json:"namespace,omitempty"`
	Target    string `json:"target"`
	Version   string `json:"version"`
	// Members and Selected count what the policy selects; Planned, Patch, Minor, AtTarget and Ineligible what became of it.
	Members    int `json:"members"`
	Selected   int `json:"selected"`
	Planned    int `json:"planned"`
	Patch      int `json:"patch"`
	Minor      int `json:"minor"`
	AtTarget   int `json:"atTarget"`
	Ineligible int `json:"ineligible"`
	// Terms of each wave, in order.
	Terms []Terms `json:"terms"`
	// Limits over all waves.
	Limits []Limit `json:"limits,omitempty"`
	// ReserveBudget: what is in flight counts as if it would fail.
	ReserveBudget bool `json:"reserveBudget,omitempty"`
	// Calendars that apply to clusters, and Freezes that stop some.
	Calendars []Calendar `json:"calendars,omitempty"`
	Freezes   []Freeze   `json:"freezes,omitempty"`
	// NotSuited are the clusters that the target does not suit.
	NotSuited []Cluster `json:"notSuited,omitempty"`
	// Skewed says of planned clusters whose workers are newer than their control plane already.
	Skewed []string `json:"skewed,omitempty"`
}

// Terms are what a wave may do.
type Terms struct {
	Name   string `json:"name"`
	Canary bool   `json:"canary,omitempty"`
	// Planned of Selected clusters are to be upgraded; TakenBefore would match it, too, and fell into an earlier wave.
	Planned     int `json:"planned"`
	Selected    int `json:"selected"`
	TakenBefore int `json:"takenBefore,omitempty"`
	// MaxConcurrency and MaxFailures, in clusters.
	MaxConcurrency int `json:"maxConcurrency"`
	MaxFailures    int `json:"maxFailures"`
	// Approvals that it needs, how long it soaks, and by when it is to be through, in time in which work was allowed.
	Approvals int           `json:"approvals,omitempty"`
	Soak      time.Duration `json:"-"`
	Deadline  time.Duration `json:"-"`
	// SoakText and DeadlineText say these for programs.
	SoakText     string `json:"soakDuration,omitempty"`
	DeadlineText string `json:"deadline,omitempty"`
}

// Limit bounds clusters in flight in each group.
type Limit struct {
	// Label whose values make the groups; empty: management clusters do.
	Label string `json:"label,omitempty"`
	Max   int    `json:"max"`
}

// Calendar is a calendar, and how many of the planned clusters it applies to.
type Calendar struct {
	Name     string `json:"name"`
	Clusters int    `json:"clusters"`
	// Own: it binds clusters by its own clusterSelector, whatever the policy names.
	Own bool `json:"ownSelector,omitempty"`
	// Zones that its hours are in.
	Zones []string `json:"zones,omitempty"`
	// Problem says why it is closed for good; empty: it is not.
	Problem string `json:"problem,omitempty"`
}

// Freeze is a stop that is known.
type Freeze struct {
	Name   string `json:"name"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Clusters that it covers; 0: all. NewClustersOnly: clusters that have begun go on.
	Clusters        int       `json:"clusters,omitempty"`
	NewClustersOnly bool      `json:"newClustersOnly,omitempty"`
	From            time.Time `json:"from,omitzero"`
	Until           time.Time `json:"until,omitzero"`
}

// Head sums the plan up.
func (r *Rehearsal) Head() Head {
	target := r.Hub.Rollout.Spec.Target
	h := Head{
		Policy: r.Policy.Name, Namespace: r.Policy.Namespace, Target: observe.Text(target), Version: target.Version,
		Members: r.members(), Selected: r.Plan.Total, Planned: r.Plan.Patch + r.Plan.Minor, Patch: r.Plan.Patch,
		Minor: r.Plan.Minor, AtTarget: len(r.Plan.AtTarget), Ineligible: len(r.Plan.Ineligible), Skewed: r.Plan.Skewed,
		Calendars: r.calendars(), ReserveBudget: r.Fleet.ReserveBudget,
	}
	for i, w := range r.Plan.Waves {
		t := Terms{
			Name: w.Name, Canary: w.Canary, Planned: w.Planned, Selected: w.Selected, TakenBefore: w.TakenBefore,
			MaxConcurrency: w.MaxConcurrency, MaxFailures: w.MaxFailures,
		}
		if i < len(r.Fleet.Waves) && r.Fleet.Waves[i].Name == w.Name {
			live := &r.Fleet.Waves[i]
			t.Approvals, t.Soak, t.Deadline = live.Approvals, live.Soak, live.Deadline
			t.SoakText, t.DeadlineText = written(live.Soak), written(live.Deadline)
		}
		h.Terms = append(h.Terms, t)
	}
	for _, l := range r.Fleet.Limits {
		h.Limits = append(h.Limits, Limit{Label: l.Label, Max: l.Max})
	}
	for _, f := range r.Fleet.Freezes {
		h.Freezes = append(h.Freezes, Freeze{
			Name: f.Name, By: f.By, Reason: f.Reason, Clusters: len(f.Clusters), NewClustersOnly: f.NewClustersOnly, From: f.From,
			Until: f.Until,
		})
	}
	for _, refused := range r.Plan.Ineligible {
		h.NotSuited = append(h.NotSuited, Cluster{Path: refused.Path, Reason: refused.Reason, Message: refused.Message})
	}
	return h
}

// members counts the management clusters of what is selected.
func (r *Rehearsal) members() int {
	seen := map[string]bool{}
	add := func(path string) {
		member, _, _ := strings.Cut(path, "/")
		seen[member] = true
	}
	for _, w := range r.Plan.Waves {
		for _, placed := range w.Clusters {
			add(placed.Path)
		}
	}
	for _, refused := range r.Plan.Ineligible {
		add(refused.Path)
	}
	for _, path := range r.Plan.AtTarget {
		add(path)
	}
	return len(seen)
}

// calendars are those that apply to planned clusters, by name.
func (r *Rehearsal) calendars() []Calendar {
	byName := map[string]*Calendar{}
	counted := map[string]int{}
	for i := range r.Fleet.Clusters {
		for _, key := range r.Fleet.Clusters[i].Calendars {
			counted[key]++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(counted)) {
		live := r.Fleet.Calendars[key]
		if byName[live.Name] == nil {
			byName[live.Name] = &Calendar{Name: live.Name, Own: !slices.Contains(r.Policy.Spec.Calendars, live.Name)}
		}
		c := byName[live.Name]
		c.Clusters += counted[key]
		if live.Hours == nil {
			c.Problem = live.Message
			continue
		}
		if zone := live.Hours.Location().String(); !slices.Contains(c.Zones, zone) {
			c.Zones = append(c.Zones, zone)
		}
	}
	list := make([]Calendar, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list = append(list, *byName[name])
	}
	return list
}

// written is a duration as a policy has it, empty for none.
func written(d time.Duration) string {
	if d == 0 {
		return ""
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
