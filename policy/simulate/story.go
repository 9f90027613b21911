// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// shown is what was last told, so that only changes are.
type shown struct {
	phase, waves, waits string
	missed              window.Span
	holds               map[string]string
}

// say adds a line; who is the cluster that it is about, or empty.
func (r *rollout) say(kind EntryKind, who, format string, args ...any) {
	if r.in.quiet {
		return
	}
	r.log = append(r.log, Entry{At: r.now, Kind: kind, Who: who, Text: fmt.Sprintf(format, args...)})
}

// stamp is an instant for people.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "further notice"
	}
	return t.UTC().Format("Mon 02 Jan 15:04")
}

func number(n int) string { return strconv.Itoa(n) }

// name is the last part of its path.
func (s *site) name() string { return s.path[strings.LastIndex(s.path, "/")+1:] }

// tellStart tells what is asked of a cluster.
func (r *rollout) tellStart(c policy.Cluster, change policy.IntentChange) {
	until := ""
	if !change.NotAfter.IsZero() {
		until = ", machines may begin until " + stamp(change.NotAfter)
	}
	begun := r.byID[c.ID].done > 0 || c.Phase == policy.Holding || c.Phase == policy.Progressing
	switch {
	case change.Intent == policy.Run && c.Intent == policy.Run:
		r.say(Starts, c.Path, "may begin machines until %s", stamp(change.NotAfter))
	case change.Intent == policy.Run && begun:
		r.say(Starts, c.Path, "goes on%s", until)
	case change.Intent == policy.Run:
		r.say(Starts, c.Path, "begins%s", until)
	case change.Intent == policy.Hold:
		r.say(Starts, c.Path, "is to hold: no further machine begins")
	case change.Intent == policy.Wait:
		r.say(Starts, c.Path, "gives its slot back")
	case change.Intent == policy.Withdraw:
		r.say(Starts, c.Path, "is withdrawn")
	}
}

// tellCluster tells what became of a cluster.
func (s *site) tellCluster(c policy.Cluster) {
	progress := fmt.Sprintf("%d of %d machines", s.done, s.total)
	switch c.Phase {
	case policy.Succeeded:
		s.say(OfCluster, s.path, "is done: %s", progress)
	case policy.Failed:
		s.say(OfCluster, s.path, "failed after %s: %s", progress, c.LastError)
	case policy.Holding:
		s.say(OfCluster, s.path, "holds after %s (%s: %s)", progress, c.Reason, c.Message)
	case policy.Deferred:
		s.say(OfCluster, s.path, "is deferred (%s: %s)", c.Reason, c.Message)
	case policy.Skipped:
		s.say(OfCluster, s.path, "is taken back after %s", progress)
	case policy.Removed:
		s.say(OfCluster, s.path, "no longer exists")
	case policy.Ineligible:
		s.say(OfCluster, s.path, "is not suited: %s", c.Message)
	case policy.Pending:
		s.tellPending(c)
	case policy.Progressing, policy.Verifying:
	}
}

func (s *site) tellPending(c policy.Cluster) {
	switch {
	case c.Reason != "":
		s.say(OfCluster, s.path, "cannot begin (%s: %s)", c.Reason, c.Message)
	case s.status.Reason != "":
		s.say(OfCluster, s.path, "may begin again")
	}
}

// tellMachines tells that machines begin.
func (s *site) tellMachines() {
	if !s.in.Machines {
		return
	}
	first, last := s.done+1, s.done+s.busy.Count
	if first == last {
		s.say(OfMachine, s.path, "begins machine %d of %d", first, s.total)
		return
	}
	s.say(OfMachine, s.path, "begins machines %d to %d of %d", first, last, s.total)
}

// narrate tells what is new since the last instant: the phase, the waves, and why the rest waits.
func (r *rollout) narrate() {
	switch {
	case !r.ended():
		r.ending = time.Time{}
	case r.ending.IsZero():
		r.ending = r.now
	}
	if r.decisions == 0 || r.in.quiet {
		return
	}
	d := r.last
	phase := string(d.Phase)
	if d.Reason != phase {
		phase += "(" + d.Reason + ")"
	}
	told(&r.shown.phase, phase, func(phase string) { r.say(OfRollout, "", "%s: %s", phase, d.Message) })
	told(&r.shown.waves, r.counts(), func(counts string) { r.say(OfRollout, "", "%s", counts) })
	if m := r.missed; m != nil && m.Span != r.shown.missed {
		r.shown.missed = m.Span
		r.say(Waits, "", "missed: %s", m.Message)
	}
	r.missed = nil
	waits := ""
	if d.Waiting != nil && d.Waiting.Message != d.Message {
		waits = words(*d.Waiting)
	}
	told(&r.shown.waits, waits, func(text string) {
		if text != "" {
			r.say(Waits, "", "the rest waits: %s", text)
		}
	})
	r.narrateHolds()
}

// narrateHolds tells of waits of single clusters that are new, and were told neither for the wave nor by the cluster.
func (r *rollout) narrateHolds() {
	holds := make(map[string]string, len(r.last.Holds))
	for _, hold := range r.last.Holds {
		text := words(hold.Waiting)
		holds[hold.ID] = text
		named := hold.Waiting
		named.Message = hold.Path + ": " + named.Message
		said := r.byID[hold.ID].status.Message == hold.Waiting.Message
		if r.shown.holds[hold.ID] != text && r.shown.waits != text && r.shown.waits != words(named) && !said {
			r.say(Waits, hold.Path, "waits: %s", text)
		}
	}
	r.shown.holds = holds
}

func told(before *string, now string, say func(string)) {
	if *before != now {
		*before = now
		say(now)
	}
}

// words is a wait for people.
func words(w policy.Waiting) string {
	text := w.Reason + ": " + w.Message
	switch {
	case !w.Until.IsZero():
		text += " (until " + stamp(w.Until) + ")"
	case w.Act:
		text += " (until somebody acts)"
	}
	return text
}

// counts is how far each wave is.
func (r *rollout) counts() string {
	parts := make([]string, 0, len(r.last.Waves))
	for i, w := range r.last.Waves {
		if r.fleet.Waves[i].CatchUp && w.Planned+w.Succeeded+w.Active+w.Pending+w.Failed+w.Deferred == 0 {
			continue
		}
		part := fmt.Sprintf("%s %s %d/%d", w.Name, w.Phase, w.Succeeded, w.Planned)
		var besides []string
		for _, count := range []struct {
			n    int
			word string
		}{{w.Active, "in flight"}, {w.Failed, "failed"}, {w.Deferred, "deferred"}, {w.Skipped, "left out"}} {
			if count.n > 0 {
				besides = append(besides, fmt.Sprintf("%d %s", count.n, count.word))
			}
		}
		if len(besides) > 0 {
			part += " (" + strings.Join(besides, ", ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " · ")
}
