// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// Wait is why clusters were not begun on a day, or did not go on.
type Wait struct {
	// Reason is a word of docs/status.md; Wave is whose clusters waited; Message is the sentence for one of them.
	Reason  string `json:"reason"`
	Wave    string `json:"wave"`
	Message string `json:"message"`
	// Clusters is how many there were; 0: the whole wave. More: at least so many, since a decision names only some.
	Clusters int  `json:"clusters,omitempty"`
	More     bool `json:"more,omitempty"`
}

// journal takes down, while a rollout is played, why clusters wait. What is the ordinary course of things is left out: a
// closed calendar, a full wave, a turn that has not come.
type journal struct {
	fleet policy.Fleet
	// ours are the calendars that the policy names; others bind clusters by their own selector.
	ours []string
	zone *time.Location
	// waits by day, in the order in which they came; told is what was said last of a kind.
	waits map[string][]*tally
	told  map[kind]string
	// phases of the clusters as they were last; held is since when those that hold do.
	phases map[string]policy.ClusterPhase
	held   map[string]time.Time
	// putOff is when clusters were.
	putOff map[string][]time.Time
}

type kind struct{ reason, wave, detail string }

// tally is a wait of a day in the making.
type tally struct {
	kind
	message  string
	clusters map[string]bool
	more     bool
}

func newJournal(fleet policy.Fleet, ours []string, zone *time.Location) *journal {
	return &journal{
		fleet: fleet, ours: ours, zone: zone, waits: map[string][]*tally{}, told: map[kind]string{},
		phases: map[string]policy.ClusterPhase{}, held: map[string]time.Time{}, putOff: map[string][]time.Time{},
	}
}

// ordinary waits are no news.
func ordinary(reason string) bool {
	switch reason {
	case policy.ReasonWindowClosed, policy.ReasonDoesNotFit, policy.ReasonMaxConcurrency, policy.ReasonMemberLimit,
		policy.ReasonGroupLimit, policy.ReasonWaitingForWave, policy.ReasonReturning, cluster.ReasonOnHold:
		return true
	}
	return false
}

// watch takes one step down.
func (j *journal) watch(m simulate.Moment) {
	d := &m.Decision
	if d.Waiting != nil && !ordinary(d.Waiting.Reason) && d.Current != "" {
		j.put(m.At, kind{reason: d.Waiting.Reason, wave: d.Current}, d.Waiting.Message, "", false)
	}
	for _, h := range d.Holds {
		if h.Waiting.Reason == policy.ReasonWouldNotFinishBeforeFreeze {
			j.put(m.At, kind{reason: h.Waiting.Reason, wave: d.Current}, h.Waiting.Message, h.Path, d.HoldsLeft > 0)
		}
	}
	for i := range m.After.Clusters {
		if c := &m.After.Clusters[i]; j.phases[c.ID] != c.Phase {
			j.phases[c.ID] = c.Phase
			j.turned(m.At, c, waveNow(&m.After, c))
		}
	}
	if d.Waiting == nil || ordinary(d.Waiting.Reason) {
		j.keptBack(m, d.Current)
	}
}

// waveNow is the wave that a cluster counts in: catch-up, the last, once its own is closed.
func waveNow(f *policy.Fleet, c *policy.Cluster) string {
	w := f.Waves[c.Wave]
	if last := f.Waves[len(f.Waves)-1]; last.CatchUp && !w.ClosedAt.IsZero() {
		w = last
	}
	return w.Name
}

// brief is how long a cluster may hold without mention: its last machines are at work when the window closes.
const brief = time.Hour

// turned takes down that a cluster stands still, for a while or for good.
func (j *journal) turned(at time.Time, c *policy.Cluster, wave string) {
	if since, was := j.held[c.ID]; was {
		delete(j.held, c.ID)
		if at.Sub(since) < brief {
			j.drop(since, c.Path)
		}
	}
	switch c.Phase {
	case policy.Deferred:
		j.putOff[c.ID] = append(j.putOff[c.ID], at)
		j.put(at, kind{reason: c.Reason, wave: wave, detail: c.Member}, c.Message, c.Path, false)
	case policy.Holding:
		j.held[c.ID] = at
		j.put(at, kind{reason: c.Reason, wave: wave, detail: string(policy.Holding)}, "half-way, and no further machine begins for now", c.Path, false)
	case policy.Failed:
		j.put(at, kind{reason: string(policy.Failed), wave: wave, detail: c.Path}, c.LastError, c.Path, false)
	case policy.Pending, policy.Progressing, policy.Verifying, policy.Succeeded, policy.Skipped, policy.Removed,
		policy.Ineligible:
	}
}

// keptBack finds the clusters of the current wave that one calendar alone keeps closed, while another of theirs is open.
func (j *journal) keptBack(m simulate.Moment, wave string) {
	open := map[string]bool{}
	for key, c := range j.fleet.Calendars {
		open[key] = c.Hours != nil && c.Hours.Open(m.At)
	}
	for i := range m.After.Clusters {
		c := &m.After.Clusters[i]
		begun := c.Phase != policy.Pending && c.Phase != ""
		if len(c.Calendars) < 2 || begun || m.After.Waves[c.Wave].Name != wave {
			continue
		}
		shut := slices.DeleteFunc(slices.Clone(c.Calendars), func(key string) bool { return open[key] })
		if len(shut) != 1 {
			continue
		}
		name := j.fleet.Calendars[shut[0]].Name
		if !slices.Contains(j.ours, name) {
			j.put(m.At, kind{reason: policy.ReasonWindowClosed, wave: wave, detail: name},
				fmt.Sprintf("calendar %s is closed for them, while those of the policy are open", name), c.Path, false)
		}
	}
}

// put adds a cluster to a wait of the day; an empty path stands for the whole wave, whose waits are told when they change.
func (j *journal) put(at time.Time, k kind, message, path string, more bool) {
	message = restamp(message, at, j.zone)
	if path == "" {
		if j.told[k] == message {
			return
		}
		j.told[k] = message
	}
	day := at.In(j.zone).Format(time.DateOnly)
	i := slices.IndexFunc(j.waits[day], func(t *tally) bool { return t.kind == k })
	if i < 0 {
		i = len(j.waits[day])
		j.waits[day] = append(j.waits[day], &tally{kind: k, clusters: map[string]bool{}})
	}
	t := j.waits[day][i]
	t.message, t.more = message, t.more || more
	if path != "" {
		t.clusters[path] = true
	}
}

// drop takes back that a cluster held.
func (j *journal) drop(at time.Time, path string) {
	day := at.In(j.zone).Format(time.DateOnly)
	j.waits[day] = slices.DeleteFunc(j.waits[day], func(t *tally) bool {
		if t.detail != string(policy.Holding) {
			return false
		}
		delete(t.clusters, path)
		return len(t.clusters) == 0
	})
}

// on is what was taken down on a day.
func (j *journal) on(day string) []Wait {
	list := make([]Wait, 0, len(j.waits[day]))
	for _, t := range j.waits[day] {
		w := Wait{Reason: t.reason, Wave: t.wave, Message: t.message, Clusters: len(t.clusters), More: t.more}
		if len(t.clusters) == 1 {
			path := slices.Collect(maps.Keys(t.clusters))[0]
			w.Message = path + ": " + strings.TrimPrefix(w.Message, path+": ")
		}
		list = append(list, w)
	}
	return list
}
