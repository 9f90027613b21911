// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// Outlook is the calendar of a rollout that was played.
type Outlook struct {
	Head `json:",inline"`
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
	// Waves that clusters were begun of, what befell the fleet, and why others waited.
	Waves    []string `json:"waves,omitempty"`
	Happened []string `json:"happened,omitempty"`
	Waits    []Wait   `json:"waits,omitempty"`
}

// Cluster is one cluster with what is to be said of it.
type Cluster struct {
	Path    string `json:"path"`
	Wave    string `json:"wave,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Outlook sums up what was played, by the days of its zone.
func (r *Rehearsal) Outlook(t *Trial) Outlook {
	o := Outlook{
		Head: r.Head(), From: t.play.From, EndedAt: t.EndedAt, Phase: string(t.Phase), Message: t.Message, Stopped: restamp(t.Stopped, t.play.From, t.play.Zone),
		Peak: t.Peak,
	}
	d := &diary{zone: t.play.Zone, days: map[string]*Day{}}
	began, nights := map[string]time.Time{}, map[string]map[string]bool{}
	for _, c := range t.Clusters {
		c.Wave = t.waveOf(c)
		o.cluster(c)
		d.note(c)
		if at := began[c.Wave]; !c.Began.IsZero() && (at.IsZero() || c.Began.Before(at)) {
			began[c.Wave] = c.Began
		}
		for _, s := range c.Spans {
			if nights[c.Wave] == nil {
				nights[c.Wave] = map[string]bool{}
			}
			nights[c.Wave][d.date(s.Start)] = true
		}
	}
	for _, e := range t.Log {
		if e.Kind == simulate.Happening {
			on := d.on(e.At)
			on.Happened = append(on.Happened, restamp(e.Text, e.At, t.play.Zone))
		}
	}
	for date, waits := range t.journal.waits {
		if len(waits) == 0 {
			continue
		}
		d.onDate(date).Waits = t.journal.on(date)
	}
	for _, w := range t.Waves {
		wave := waveOf(w, len(nights[w.Name]))
		wave.Begins = began[w.Name]
		if wave.Planned > 0 || wave.Succeeded > 0 {
			o.Waves = append(o.Waves, wave)
		}
	}
	o.Days = d.sorted()
	return o
}

// waveOf is the wave that a cluster was done in: catch-up where its own was complete without it.
func (t *Trial) waveOf(c simulate.Course) string {
	for _, w := range t.Waves {
		if w.Name == c.Wave && !w.Complete.IsZero() && (c.Began.IsZero() || c.Began.After(w.Complete)) {
			return t.Waves[len(t.Waves)-1].Name
		}
	}
	return c.Wave
}

// Story is every change, in the order in which it came, its times in the zone of the play.
func (t *Trial) Story() []simulate.Entry {
	story := slices.Clone(t.Log)
	for i := range story {
		story[i].Text = restamp(story[i].Text, story[i].At, t.play.Zone)
	}
	return story
}

func waveOf(w simulate.WaveCourse, nights int) Wave {
	wave := Wave{
		Name: w.Name, Planned: w.State.Planned, Succeeded: w.State.Succeeded, Failed: w.State.Failed,
		Deferred: w.State.Deferred, Ends: w.Complete, Soaked: w.SoakedUntil, Nights: nights,
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

func (d *diary) on(t time.Time) *Day { return d.onDate(d.date(t)) }

func (d *diary) onDate(date string) *Day {
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
