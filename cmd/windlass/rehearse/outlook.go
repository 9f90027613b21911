// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// Outlook is the calendar of a rollout that was played.
type Outlook struct {
	// Policy, Target and Version that clusters end on.
	Policy  string `json:"policy"`
	Target  string `json:"target"`
	Version string `json:"version"`
	// Members and Selected count what the policy selects; Planned, Patch, Minor, AtTarget and Ineligible what became of it.
	Members    int `json:"members"`
	Selected   int `json:"selected"`
	Planned    int `json:"planned"`
	Patch      int `json:"patch"`
	Minor      int `json:"minor"`
	AtTarget   int `json:"atTarget"`
	Ineligible int `json:"ineligible"`
	// NotSuited are the clusters that the target does not suit.
	NotSuited []Cluster `json:"notSuited,omitempty"`
	// Calendars that cannot be used, and why.
	Calendars []string `json:"calendars,omitempty"`
	// From is when the play began. EndedAt is when the rollout ended, absent: it did not, and Stopped says why.
	From    time.Time `json:"from"`
	EndedAt time.Time `json:"endedAt,omitzero"`
	Phase   string    `json:"phase"`
	Message string    `json:"message"`
	Stopped string    `json:"stopped,omitempty"`
	// Most clusters in flight at once.
	Peak int `json:"peak"`
	// Waves in order, and Days on which something happened.
	Waves []Wave `json:"waves"`
	Days  []Day  `json:"days"`
	// Late are the clusters that were put off, failed or have not ended.
	Late []Cluster `json:"late,omitempty"`
}

// Wave is what became of a wave.
type Wave struct {
	Name      string    `json:"name"`
	Planned   int       `json:"planned"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed,omitempty"`
	Deferred  int       `json:"deferred,omitempty"`
	Begins    time.Time `json:"begins,omitzero"`
	Ends      time.Time `json:"ends,omitzero"`
	// Soaked is when the next wave was free to begin.
	Soaked time.Time `json:"soaked,omitzero"`
	// Waiting is what it waits for at the end.
	Waiting string `json:"waiting,omitempty"`
	// Nights is how many days work was done on.
	Nights int `json:"nights"`
}

// Day is what happened on one day of the outlook's zone.
type Day struct {
	Date   string `json:"date"`
	Begun  int    `json:"begun"`
	Done   int    `json:"done"`
	Failed int    `json:"failed,omitempty"`
	// Waves that clusters were begun of, and Notes of what befell.
	Waves []string `json:"waves,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Cluster is one cluster with what is to be said of it.
type Cluster struct {
	Path    string `json:"path"`
	Wave    string `json:"wave,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Outlook sums up what was played, by the days of a zone.
func (r *Rehearsal) Outlook(result simulate.Result, from time.Time, zone *time.Location) Outlook {
	target := r.Hub.Rollout.Spec.Target
	o := Outlook{
		Policy: r.Policy.Name, Target: observe.Text(target), Version: target.Version, Members: len(r.Fleet.Members),
		Selected: r.Plan.Total, Patch: r.Plan.Patch, Minor: r.Plan.Minor, AtTarget: len(r.Plan.AtTarget),
		Planned: r.Plan.Patch + r.Plan.Minor, Ineligible: len(r.Plan.Ineligible),
		From: from, EndedAt: result.EndedAt, Phase: string(result.Phase), Message: result.Message, Stopped: result.Stopped,
		Peak: result.Peak,
	}
	for _, refused := range r.Plan.Ineligible {
		o.NotSuited = append(o.NotSuited, Cluster{Path: refused.Path, Reason: refused.Reason, Message: refused.Message})
	}
	for _, key := range slices.Sorted(maps.Keys(r.Fleet.Calendars)) {
		if c := r.Fleet.Calendars[key]; c.Hours == nil {
			o.Calendars = append(o.Calendars, c.Message)
		}
	}
	days := &diary{zone: zone, days: map[string]*Day{}}
	nights := map[string]map[string]bool{}
	for _, c := range result.Clusters {
		o.cluster(c)
		days.note(c)
		for _, s := range c.Spans {
			if nights[c.Wave] == nil {
				nights[c.Wave] = map[string]bool{}
			}
			nights[c.Wave][days.date(s.Start)] = true
		}
	}
	for _, e := range result.Log {
		if e.Kind == simulate.Happening {
			d := days.on(e.At)
			d.Notes = append(d.Notes, e.Text)
		}
	}
	for _, w := range result.Waves {
		if wave := waveOf(w, len(nights[w.Name])); wave.Planned > 0 || wave.Succeeded > 0 || !wave.Begins.IsZero() {
			o.Waves = append(o.Waves, wave)
		}
	}
	o.Days = days.sorted()
	return o
}

func waveOf(w simulate.WaveCourse, nights int) Wave {
	wave := Wave{
		Name: w.Name, Planned: w.State.Planned, Succeeded: w.State.Succeeded, Failed: w.State.Failed,
		Deferred: w.State.Deferred, Begins: w.Began, Ends: w.Complete, Soaked: w.SoakedUntil, Nights: nights,
	}
	if w.State.Waiting != nil && w.Complete.IsZero() {
		wave.Waiting = w.State.Waiting.Reason + ": " + w.State.Waiting.Message
	}
	return wave
}

// cluster lists one that did not simply succeed.
func (o *Outlook) cluster(c simulate.Course) {
	if c.Phase == policy.Succeeded {
		return
	}
	o.Late = append(o.Late, Cluster{
		Path: c.Path, Wave: c.Wave, Phase: string(cmp.Or(c.Phase, policy.Pending)), Reason: c.Reason, Message: c.Message,
	})
}

// diary counts by day.
type diary struct {
	zone *time.Location
	days map[string]*Day
}

func (d *diary) date(t time.Time) string { return t.In(d.zone).Format(time.DateOnly) }

func (d *diary) on(t time.Time) *Day {
	date := d.date(t)
	if d.days[date] == nil {
		d.days[date] = &Day{Date: date}
	}
	return d.days[date]
}

func (d *diary) note(c simulate.Course) {
	if !c.Began.IsZero() {
		day := d.on(c.Began)
		day.Begun++
		if !slices.Contains(day.Waves, c.Wave) {
			day.Waves = append(day.Waves, c.Wave)
		}
	}
	switch {
	case c.Ended.IsZero():
	case c.Phase == policy.Succeeded:
		d.on(c.Ended).Done++
	case c.Phase == policy.Failed:
		d.on(c.Ended).Failed++
	}
}

func (d *diary) sorted() []Day {
	var all []Day
	for _, date := range slices.Sorted(maps.Keys(d.days)) {
		all = append(all, *d.days[date])
	}
	return all
}
