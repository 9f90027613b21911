// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// manyRounds is how often a rollout is decided at one instant before it is taken to go round in circles, besides once
// for each cluster.
const manyRounds = 100

// due: a decision is to be made now.
func (r *rollout) due() bool {
	if r.broken != "" || r.spent() || r.now.Before(r.in.From) {
		return false
	}
	if len(r.rollouts) > 1 {
		r.countElsewhere()
	}
	return r.dirty || !r.recheck.IsZero() && !r.recheck.After(r.now)
}

// spent: no further decision may be made.
func (r *rollout) spent() bool { return r.in.Decisions > 0 && r.decisions >= r.in.Decisions }

// decide makes one decision, stores what it says, and tells the clusters.
func (r *rollout) decide() {
	r.countElsewhere()
	before := r.snapshot()
	d := policy.Decide(r.fleet, r.now)
	r.decisions++
	r.idle++
	r.last, r.recheck = d, d.Recheck
	r.dirty = r.store(d)
	told := r.write(d)
	r.peak = max(r.peak, r.inFlight())
	r.watch(Moment{Before: before, Decision: d, Decided: true})
	r.circles(d)
	for _, s := range told {
		r.soon(s.look)
	}
}

// circles notices decisions that never come to rest.
func (r *rollout) circles(d policy.Decision) {
	if !r.round.Equal(r.now) {
		r.round, r.rounds = r.now, 0
	}
	r.rounds++
	switch {
	case !d.Recheck.IsZero() && !d.Recheck.After(r.now):
		r.broken = fmt.Sprintf("it is to be decided again at %s, which is not later", stamp(d.Recheck))
	case r.rounds > manyRounds+len(r.sites):
		r.broken = fmt.Sprintf("it goes round in circles: %s", d)
	}
}

// store keeps what the hub's objects would: clocks, sticky phases, the wait that is shown. It reports whether that
// changes what is decided next.
func (r *rollout) store(d policy.Decision) bool {
	changed := false
	for i, state := range d.Waves {
		wave := &r.fleet.Waves[i]
		was := *wave
		wave.Soaked = state.Soaked
		wave.Worked = wave.Worked.Run(state.Works, cmp.Or(state.WorkedUntil, r.now))
		if state.Closed && wave.ClosedAt.IsZero() {
			wave.ClosedAt = r.now
		}
		changed = changed || wave.Soaked != was.Soaked || wave.Worked != was.Worked || wave.ClosedAt != was.ClosedAt
		r.waves[i].note(state, r.now)
	}
	r.fleet.Proven = d.Proven
	if d.Missed != nil {
		r.missed = d.Missed // which is given only while the wait is the same
	}
	if r.show(d.Waiting) {
		changed = true
	}
	switch d.Phase {
	case policy.PhaseHalted, policy.PhaseCancelled, policy.PhaseSuperseded:
		changed = changed || r.fleet.Sticky != d.Phase
		r.fleet.Sticky, r.fleet.StickyReason, r.fleet.StickyMessage = d.Phase, d.Reason, d.Message
	case policy.PhasePlanning, policy.PhaseAwaitingApproval, policy.PhaseProgressing, policy.PhasePaused,
		policy.PhaseCatchingUp, policy.PhaseSucceeded, policy.PhaseCompletedWithFailures:
	}
	return changed
}

// show keeps the wait that is shown, and says whether it is another.
func (r *rollout) show(w *policy.Waiting) bool {
	was := r.fleet.Shown
	if w == nil {
		r.fleet.Shown = nil
		return was != nil
	}
	shown := w.Carry(was, r.now)
	r.fleet.Shown = &shown
	return was == nil || *was != shown
}

// note keeps when a wave began, was complete and had soaked.
func (c *WaveCourse) note(state policy.WaveState, now time.Time) {
	c.State = state
	if c.Complete.IsZero() && state.Closed {
		c.Complete, c.SoakedUntil = now, now
	}
	if !state.SoakUntil.IsZero() {
		c.SoakedUntil = state.SoakUntil
	}
}

// write writes the intents, and gives back the sites that have to look.
func (r *rollout) write(d policy.Decision) []*site {
	told := make([]*site, 0, len(d.Intents))
	for _, change := range d.Intents {
		s := r.byID[change.ID]
		c := &r.fleet.Clusters[s.index]
		r.dirty = true
		r.tellStart(*c, change)
		if c.Wave >= 0 && c.Wave < len(r.waves) && change.Intent == policy.Run && r.waves[c.Wave].Began.IsZero() {
			r.waves[c.Wave].Began = r.now
			r.fleet.Waves[c.Wave].StartedAt = r.now
		}
		c.Returning = c.Returning || c.Intent != policy.Wait && c.Intent != "" && change.Intent == policy.Wait
		if change.Intent != policy.Wait {
			c.Returning = false
		}
		c.Intent, c.NotAfter = change.Intent, change.NotAfter
		s.asked++
		told = append(told, s)
	}
	return told
}

// countElsewhere counts what is in flight in members and, of other rollouts, under limits, and says who goes first
// where two want one cluster.
func (r *rollout) countElsewhere() {
	active := maps.Clone(r.elsewhere)
	for _, other := range r.rollouts {
		for i := range other.fleet.Clusters {
			if InFlight(other.fleet.Clusters[i]) {
				active[other.fleet.Clusters[i].Member]++
			}
		}
	}
	for name, m := range r.fleet.Members {
		r.dirty = r.dirty || m.Active != active[name] && len(r.rollouts) > 1
		m.Active = active[name]
		r.fleet.Members[name] = m
	}
	if len(r.rollouts) > 1 {
		r.countOthers()
	}
}

// countOthers is the part of it that is only there when several rollouts are played.
func (r *rollout) countOthers() {
	for i := range r.fleet.Limits {
		limit := &r.fleet.Limits[i]
		others := r.othersIn(i, limit.Label)
		r.dirty = r.dirty || !maps.Equal(others, limit.Elsewhere)
		limit.Elsewhere = others
	}
	for i := range r.fleet.Clusters {
		c := &r.fleet.Clusters[i]
		rival := r.rival(c.Path)
		r.dirty = r.dirty || (rival == nil) != (c.Rival == nil)
		c.Rival = rival
	}
}

// othersIn counts by group what other rollouts have in flight under the limit of one label.
func (r *rollout) othersIn(limit int, label string) map[string]int {
	counts := maps.Clone(r.elsewhereLimits[limit])
	if counts == nil {
		counts = map[string]int{}
	}
	for _, other := range r.rollouts {
		i := slices.IndexFunc(other.fleet.Limits, func(l policy.Limit) bool { return l.Label == label })
		if other == r || i < 0 {
			continue
		}
		for _, c := range other.fleet.Clusters {
			if InFlight(c) && i < len(c.Groups) {
				counts[c.Groups[i]]++
			}
		}
	}
	return counts
}

// rival is the rollout that goes first and wants a cluster now.
func (r *rollout) rival(path string) *policy.Rival {
	for _, other := range r.rollouts {
		s := other.paths[path]
		if other == r || s == nil || !other.precedes(r) || !other.wants(s) {
			continue
		}
		return &policy.Rival{Rollout: other.in.Name, Priority: other.in.Priority}
	}
	return nil
}

// precedes: this rollout's policy goes before another's.
func (r *rollout) precedes(other *rollout) bool {
	if r.in.Priority != other.in.Priority {
		return r.in.Priority > other.in.Priority
	}
	return slices.Index(r.rollouts, r) < slices.Index(r.rollouts, other)
}

// wants: the rollout runs, and a cluster's wave is the one that it is at.
func (r *rollout) wants(s *site) bool {
	c := r.fleet.Clusters[s.index]
	if r.last.Phase != policy.PhaseProgressing && r.last.Phase != policy.PhaseCatchingUp || over(c.Phase) {
		return false
	}
	return c.Wave >= 0 && c.Wave < len(r.fleet.Waves) && r.fleet.Waves[c.Wave].Name == r.last.Current
}

func (r *rollout) inFlight() int {
	count := 0
	for i := range r.fleet.Clusters {
		if InFlight(r.fleet.Clusters[i]) {
			count++
		}
	}
	return count
}

// ended: the last phase is reached and nothing is in flight.
func (r *rollout) ended() bool {
	switch r.last.Phase {
	case policy.PhaseSucceeded, policy.PhaseCompletedWithFailures, policy.PhaseHalted, policy.PhaseCancelled,
		policy.PhaseSuperseded:
		return (!r.dirty || r.away) && r.inFlight() == 0
	case policy.PhasePlanning, policy.PhaseAwaitingApproval, policy.PhaseProgressing, policy.PhasePaused,
		policy.PhaseCatchingUp:
	}
	return false
}

// snapshot is the fleet as it is, for a judge.
func (r *rollout) snapshot() policy.Fleet {
	if r.in.Watch == nil {
		return policy.Fleet{}
	}
	return clone(r.fleet)
}

func (r *rollout) watch(m Moment) {
	if r.in.Watch == nil {
		return
	}
	m.Rollout, m.At, m.After, m.Began = r.in.Name, r.now, clone(r.fleet), r.began
	r.in.Watch(m)
	r.began = nil
}

// finish shows the judge the machines that began after the last decision.
func (r *rollout) finish() {
	if len(r.began) > 0 {
		r.watch(Moment{Before: r.snapshot()})
	}
}
