// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/cmd/windlass/gantt"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

// Chart is the picture of what was played: a row for each cluster, by wave, then by management cluster.
func (r *Rehearsal) Chart(t *Trial) gantt.Chart {
	from, end := t.play.From, t.play.From
	for _, c := range t.Clusters {
		for _, s := range c.Spans {
			if s.End.After(end) {
				end = s.End
			}
		}
	}
	chart := gantt.Chart{
		Title: fmt.Sprintf("%s: %s", r.Policy.Name, observe.Text(r.Hub.Rollout.Spec.Target)), Zone: t.play.Zone,
		Subtitle: fmt.Sprintf("%d clusters in %d management clusters, %s: %s (times are %s)", len(t.Clusters), r.members(), t.Phase,
			t.Message, t.play.Zone),
		Span: window.Span{Start: from, End: end.Add(12 * time.Hour)},
	}
	hours, keys := r.hours(chart.Span), map[string]string{}
	for i := range r.Fleet.Clusters {
		keys[r.Fleet.Clusters[i].ID] = keyOf(&r.Fleet.Clusters[i])
	}
	for _, w := range t.Waves {
		group := gantt.Group{Name: w.Name, Note: fmt.Sprintf("%d of %d done", w.State.Succeeded, w.State.Planned)}
		for _, c := range t.inWave(w.Name, keys) {
			key := keys[c.ID]
			group.Rows = append(group.Rows, gantt.Row{Label: c.Path, Part: c.Member, Key: key, Hours: hours[key], Bars: t.bars(c)})
		}
		if len(group.Rows) > 0 {
			chart.Groups = append(chart.Groups, group)
		}
	}
	for _, f := range r.Fleet.Freezes {
		until := cmp.Or(f.Until, chart.Span.End)
		chart.Stops = append(chart.Stops, gantt.Stop{Span: window.Span{Start: f.From, End: until}, Name: "Freeze " + f.Name})
	}
	return chart
}

// inWave are the clusters of a wave by management cluster, those with the same hours beside each other.
func (t *Trial) inWave(wave string, keys map[string]string) []simulate.Course {
	var mine []simulate.Course
	for _, c := range t.Clusters {
		if t.waveOf(c) == wave {
			mine = append(mine, c)
		}
	}
	slices.SortStableFunc(mine, func(a, b simulate.Course) int {
		return cmp.Or(cmp.Compare(a.Member, b.Member), cmp.Compare(keys[a.ID], keys[b.ID]), a.Began.Compare(b.Began))
	})
	return mine
}

// bars are when its machines were at work, and where it was put off.
func (t *Trial) bars(c simulate.Course) []gantt.Bar {
	kind := map[policy.ClusterPhase]gantt.Kind{policy.Succeeded: gantt.Done, policy.Failed: gantt.Failed}[c.Phase]
	if kind == "" {
		kind = gantt.Begun
	}
	list := make([]gantt.Bar, 0, len(c.Spans))
	for _, s := range c.Spans {
		list = append(list, gantt.Bar{Span: s, Kind: kind})
	}
	for _, at := range t.journal.putOff[c.ID] {
		const mark = 3 * time.Hour // wide enough to be seen
		list = append(list, gantt.Bar{Span: window.Span{Start: at, End: at.Add(mark)}, Kind: gantt.PutOff})
	}
	return list
}

// keyOf names the calendars of a cluster: clusters with one key have one set of hours.
func keyOf(c *policy.Cluster) string { return strings.Join(c.Calendars, " ") }

// hours are the openings within a span, by key; no calendars: always open.
func (r *Rehearsal) hours(span window.Span) map[string][]window.Span {
	all := map[string][]window.Span{}
	for i := range r.Fleet.Clusters {
		names := r.Fleet.Clusters[i].Calendars
		key := keyOf(&r.Fleet.Clusters[i])
		if _, done := all[key]; done || len(names) == 0 {
			continue
		}
		calendars := make([]*window.Calendar, 0, len(names))
		for _, name := range names {
			calendars = append(calendars, r.Fleet.Calendars[name].Hours)
		}
		set := window.NewSet(calendars...)
		open := []window.Span{}
		at := span.Start
		if until, is := set.ClosesAt(at); is {
			open = append(open, window.Span{Start: at, End: until})
		}
		for {
			next, found := set.Next(at)
			if !found || !next.Start.Before(span.End) {
				break
			}
			open, at = append(open, next), next.Start
		}
		all[key] = open
	}
	return all
}
