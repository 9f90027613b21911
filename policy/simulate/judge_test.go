// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

// judge watches a play and notes what must never happen. It counts by itself, so that what it finds owes nothing to the
// code that it judges.
type judge struct {
	in     simulate.Input
	found  []string
	sticky policy.Phase
	// work as first seen, done machines and the last role, by cluster.
	work map[string][]policy.Work
	done map[string]int
	role map[string]int
	// sick is when a cluster was last seen to be unhealthy.
	sick map[string]time.Time
	// busy are machines at work by path, of all rollouts that share it.
	busy map[string][]simulate.Machines
}

// watch makes a judge watch an input.
func watch(in *simulate.Input, busy map[string][]simulate.Machines) *judge {
	j := &judge{
		in: *in, work: map[string][]policy.Work{}, done: map[string]int{}, role: map[string]int{}, sick: map[string]time.Time{}, busy: busy,
	}
	in.Watch = j.see
	return j
}

func (j *judge) claim(holds bool, at time.Time, format string, args ...any) {
	if !holds && len(j.found) < 20 {
		j.found = append(j.found, at.Format("Mon 02 Jan 15:04:05 ")+fmt.Sprintf(format, args...))
	}
}

// see judges one moment.
func (j *judge) see(m simulate.Moment) {
	for _, c := range m.Before.Clusters {
		if c.Health == policy.Unhealthy {
			j.sick[c.ID] = m.At
		}
		if j.work[c.ID] == nil {
			j.work[c.ID] = c.Work
		}
	}
	for _, begun := range m.Began {
		j.machine(m, begun)
	}
	if !m.Decided {
		return
	}
	for _, change := range m.Decision.Intents {
		before, after := find(m.Before, change.ID), find(m.After, change.ID)
		if change.Intent == policy.Run && (before.Intent == policy.Wait || before.Intent == "") {
			j.start(m, before)
			j.limits(m, after)
		}
	}
	j.words(m)
	j.counts(m)
}

// machine judges the begin of machines of one cluster.
func (j *judge) machine(m simulate.Moment, begun simulate.Machines) {
	c := find(m.Before, begun.ID)
	j.claim(begun.Claimed, begun.At, "a machine of %s begins without a claim", c.Path)
	work := j.work[begun.ID]
	each := work[begun.Work].Each
	if begun.Work > j.role[c.ID] && j.in.Lag > 0 {
		each = min(each, work[j.role[c.ID]].Each) // the hub may not have seen yet that the next role takes longer
	}
	set := j.hours(m.Before, c)
	closes, ends := set.ClosesAt(begun.At)
	j.claim(set.Open(begun.At), begun.At, "a machine of %s begins while it is closed", c.Path)
	j.claim(!ends || !begun.At.Add(each).After(closes), begun.At, "a machine of %s takes %s and begins, closing is at %s",
		c.Path, each, closes)
	for _, event := range j.in.Script {
		if event.Kind == simulate.Frozen && j.frozen(event, m.Before, c, begun) {
			j.claim(false, begun.At, "a machine of %s begins in freeze %s", c.Path, event.Name)
		}
	}
	j.claim(begun.Work >= j.role[c.ID], begun.At, "%s: workers before the control plane", c.Path)
	before := 0
	for _, w := range work[:begun.Work] {
		before += w.Machines
	}
	j.claim(j.done[c.ID] >= before, begun.At, "%s: %d of %d machines are done and the next role begins", c.Path,
		j.done[c.ID], before)
	j.claim(begun.Count <= max(1, work[begun.Work].AtOnce), begun.At, "%s: %d machines at once", c.Path, begun.Count)
	j.done[c.ID] += begun.Count
	j.role[c.ID] = begun.Work
	for _, other := range j.busy[c.Path] {
		j.claim(!begun.At.Before(other.Until), begun.At, "two batches of machines are at work in %s", c.Path)
	}
	j.busy[c.Path] = append(j.busy[c.Path], begun)
}

// slack is how long it may take until a cluster has heard of something.
func (j *judge) slack() time.Duration { return 2 * j.in.Lag }

// frozen: a freeze forbade machines to begin, and the cluster could have heard of it.
func (j *judge) frozen(e simulate.Event, f policy.Fleet, c policy.Cluster, begun simulate.Machines) bool {
	covered := e.Cluster == "" || e.Cluster == c.Path
	inside := !begun.At.Before(e.From) && (e.Until.IsZero() || begun.At.Before(e.Until))
	there := slices.ContainsFunc(f.Freezes, func(z policy.Freeze) bool { return z.Name == e.Name })
	heard := !begun.Heard.Before(e.At.Add(j.slack()))
	return covered && inside && there && heard && !(e.NewClustersOnly && j.done[c.ID] > 0)
}

func find(f policy.Fleet, id string) policy.Cluster {
	for _, c := range f.Clusters {
		if c.ID == id {
			return c
		}
	}
	return policy.Cluster{}
}

// hours is when a cluster may be worked on: always, if no calendar applies.
func (j *judge) hours(f policy.Fleet, c policy.Cluster) window.Set {
	var calendars []*window.Calendar
	for _, key := range c.Calendars {
		calendars = append(calendars, f.Calendars[key].Hours)
	}
	return window.NewSet(calendars...)
}

func over(c policy.Cluster) bool { return c.Phase.Ended() && c.Phase != policy.Deferred }

// wave is where a cluster belongs now: to its own wave, or, once that is closed, to catch-up.
func wave(f policy.Fleet, c policy.Cluster) int {
	last := len(f.Waves) - 1
	if !f.Waves[c.Wave].ClosedAt.IsZero() && f.Waves[last].CatchUp && !over(c) {
		return last
	}
	return c.Wave
}

// start judges what must be so before a cluster begins.
func (j *judge) start(m simulate.Moment, c policy.Cluster) {
	f, at := m.Before, m.At
	member := f.Members[c.Member]
	j.claim(member.Ready && member.Upgrade, at, "%s begins, and %s does not answer or is read only", c.Path, c.Member)
	j.claim(!f.Paused && !f.Cancelled && !f.Superseded && f.Sticky == "", at, "%s begins in a rollout that is stopped", c.Path)
	j.claim(c.Phase == policy.Pending && c.Reason == "", at, "%s begins and is %s(%s)", c.Path, c.Phase, c.Reason)
	j.claim(j.hours(f, c).Open(at), at, "%s begins while it is closed", c.Path)
	for _, z := range f.Freezes {
		inside := !at.Before(z.From) && (z.Until.IsZero() || at.Before(z.Until))
		j.claim(!inside || !z.All && !z.Clusters[c.ID], at, "%s begins in freeze %s", c.Path, z.Name)
	}
	own := wave(f, c)
	j.approved(m, own)
	for i, w := range f.Waves[:own] {
		j.claim(!m.After.Waves[i].ClosedAt.IsZero(), at, "%s of wave %s begins before wave %s is closed", c.Path,
			f.Waves[own].Name, w.Name)
		j.closed(m, i)
		if w.Canary {
			for _, canary := range f.Clusters {
				j.claim(canary.Wave != i || canary.Phase == policy.Succeeded || canary.Phase == policy.Skipped, at,
					"%s begins, and canary %s is %s", c.Path, canary.Path, canary.Phase)
			}
		}
	}
	if own > 0 && f.Waves[own].StartedAt.IsZero() {
		j.soaked(m, own-1)
	}
	for i, w := range f.Waves {
		failed := 0
		for _, other := range f.Clusters {
			if other.Wave == i && other.Phase == policy.Failed {
				failed++
			}
		}
		j.claim(failed <= w.MaxFailures, at, "%s begins, and %d failed in wave %s", c.Path, failed, w.Name)
	}
}

// closed judges that a wave that closes now is through (law 15), or past its deadline.
func (j *judge) closed(m simulate.Moment, i int) {
	w := m.Before.Waves[i]
	if !w.ClosedAt.IsZero() || w.DeadlineContinue && w.Worked.At(m.At) >= w.Deadline {
		return
	}
	for _, c := range m.Before.Clusters {
		frozen := slices.ContainsFunc(m.Before.Freezes, func(z policy.Freeze) bool { return z.All || z.Clusters[c.ID] })
		j.claim(c.Wave != i || over(c) || c.Phase == policy.Deferred || frozen, m.At, "wave %s closes and %s is %s", w.Name,
			c.Path, c.Phase)
	}
}

// approved judges whether enough people said yes, and nobody no.
func (j *judge) approved(m simulate.Moment, own int) {
	w := m.Before.Waves[own]
	if w.Approvals == 0 {
		return
	}
	newest := map[string]policy.Approval{}
	for _, a := range m.Before.Approvals {
		valid := a.Wave == w.Name && a.Digest == m.Before.Digest && a.Verified && a.By != m.Before.RequestedBy &&
			(a.ExpiresAt.IsZero() || m.At.Before(a.ExpiresAt))
		if valid && !a.At.Before(newest[a.By].At) {
			newest[a.By] = a
		}
	}
	yes := 0
	for _, a := range newest {
		j.claim(!a.Rejected, m.At, "wave %s goes on, and %s said no", w.Name, a.By)
		if !a.Rejected {
			yes++
		}
	}
	j.claim(yes >= w.Approvals, m.At, "wave %s goes on with %d of %d approvals", w.Name, yes, w.Approvals)
}

// soaked judges that a wave was watched for as long as it had to be.
func (j *judge) soaked(m simulate.Moment, i int) {
	w := m.Before.Waves[i]
	if w.Promoted || w.Soak == 0 || w.CatchUp {
		return
	}
	var from time.Time
	for _, c := range m.Before.Clusters {
		if c.Wave != i || c.Phase != policy.Succeeded {
			continue
		}
		if c.EndedAt.After(from) {
			from = c.EndedAt
		}
		if sick := j.sick[c.ID]; sick.After(from) {
			from = sick
		}
	}
	j.claim(from.IsZero() || !m.At.Before(from.Add(w.Soak)), m.At, "wave %s soaks from %s for %s, and the next begins",
		w.Name, from, w.Soak)
}

// limits judges the counts after a start.
func (j *judge) limits(m simulate.Moment, started policy.Cluster) {
	f, at := m.After, m.At
	own := wave(m.Before, started)
	inWave, inMember, unseen, failed, risk := 0, 0, 0, 0, 0
	groups := make([]int, len(f.Limits))
	for _, c := range f.Clusters {
		if c.Wave == own && c.Phase == policy.Failed {
			failed++
		}
		if !simulate.InFlight(c) {
			continue
		}
		member := f.Members[c.Member]
		silent := !member.Ready && at.Sub(member.Since) >= f.Unreachable.Grace
		if silent {
			unseen++
		}
		if c.Member == started.Member {
			inMember++
		}
		if wave(m.Before, c) == own && !silent {
			inWave++
		}
		if wave(m.Before, c) == own && !c.Phase.Ended() {
			risk++
		}
		for i := range f.Limits {
			if i < len(c.Groups) && c.Groups[i] == started.Groups[i] {
				groups[i]++
			}
		}
	}
	w := f.Waves[own]
	j.claim(inWave <= max(1, w.MaxConcurrency), at, "%s is one of %d in flight in wave %s, and %d may be", started.Path, inWave,
		w.Name, w.MaxConcurrency)
	most := f.Members[started.Member].MaxConcurrentClusters
	inMember = max(inMember, m.Before.Members[started.Member].Active+1) // those of other rollouts, too
	j.claim(most == 0 || inMember <= most, at, "%s is one of %d in flight in %s, and %d may be", started.Path, inMember,
		started.Member, most)
	for i, limit := range f.Limits {
		count := groups[i] + limit.Elsewhere[started.Groups[i]]
		j.claim(count <= max(1, limit.Max), at, "%s is one of %d in flight with %s=%s, and %d may be", started.Path, count,
			limit.Label, started.Groups[i], limit.Max)
	}
	if f.ReserveBudget && !w.CatchUp {
		j.claim(failed+risk <= w.MaxFailures || risk == 1 && failed <= w.MaxFailures, at,
			"%s begins with %d failed and %d in flight, and %d may fail", started.Path, failed, risk, w.MaxFailures)
	}
	known := f.Unreachable.MaxUnknown
	if known < 0 {
		known = max(1, w.MaxConcurrency)
	}
	j.claim(unseen <= known, at, "%s begins, and %d in flight cannot be seen", started.Path, unseen)
}

// words judges that every wait says why, and until when.
func (j *judge) words(m simulate.Moment) {
	d := m.Decision
	j.claim(d.Reason != "" && d.Message != "", m.At, "%s without a reason", d.Phase)
	waits := []policy.Waiting{}
	if d.Waiting != nil {
		waits = append(waits, *d.Waiting)
	}
	for _, hold := range d.Holds {
		waits = append(waits, hold.Waiting)
	}
	for _, w := range d.Waves {
		if w.Waiting != nil {
			waits = append(waits, *w.Waiting)
		}
	}
	for _, w := range waits {
		j.claim(w.Reason != "" && w.Message != "", m.At, "a wait without a reason: %+v", w)
		j.claim(w.Until.IsZero() || w.Until.After(m.At), m.At, "a wait until an instant that has passed: %+v", w)
		j.claim(w.Until.IsZero() || !d.Recheck.IsZero() && !d.Recheck.After(w.Until), m.At,
			"waits until %s and looks again at %s: %+v", w.Until, d.Recheck, w)
	}
	pending, flying := 0, 0
	for _, c := range m.After.Clusters {
		if simulate.InFlight(c) {
			flying++
		} else if !over(c) {
			pending++
		}
	}
	live := d.Phase == policy.PhaseProgressing || d.Phase == policy.PhaseCatchingUp || d.Phase == policy.PhaseAwaitingApproval ||
		d.Phase == policy.PhasePaused
	j.claim(!live || pending == 0 || flying > 0 || len(waits) > 0 || len(d.Intents) > 0, m.At,
		"%d clusters wait and nothing says why: %s", pending, d)
}

// counts judges phases and sums.
func (j *judge) counts(m simulate.Moment) {
	succeeded, failed := 0, 0
	for _, c := range m.Before.Clusters {
		switch c.Phase {
		case policy.Succeeded:
			succeeded++
		case policy.Failed:
			failed++
		}
	}
	sum := 0
	for _, w := range m.Decision.Waves {
		sum += w.Succeeded
	}
	j.claim(sum == succeeded, m.At, "%d clusters succeeded, the waves say %d", succeeded, sum)
	if m.Decision.Phase == policy.PhaseSucceeded {
		j.claim(failed == 0 && (succeeded > 0 || len(m.Before.Clusters) == 0), m.At, "Succeeded with %d failures and %d successes",
			failed, succeeded)
	}
	if j.sticky != "" {
		j.claim(m.Decision.Phase == j.sticky || m.Decision.Phase == policy.PhaseCancelled ||
			m.Decision.Phase == policy.PhaseSuperseded, m.At, "%s was for good, now %s", j.sticky, m.Decision)
	}
	switch m.Decision.Phase {
	case policy.PhaseHalted, policy.PhaseCancelled, policy.PhaseSuperseded:
		j.sticky = m.Decision.Phase
	}
}

// verdict is what was found, with the end of the play.
func (j *judge) verdict(r simulate.Result) []string {
	found := slices.Clone(j.found)
	if r.Stopped == "" && r.EndedAt.IsZero() {
		found = append(found, "it neither ended nor says why it stands")
	}
	for _, broken := range []string{"it goes round", "it is to be decided again"} {
		if strings.HasPrefix(r.Stopped, broken) {
			found = append(found, r.Stopped)
		}
	}
	return found
}
