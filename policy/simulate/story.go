// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// shown is what was last told, so that only changes are.
type shown struct {
	phase, waves, waits, missed string
	holds                       map[string]string
}

// say adds a line.
func (r *rollout) say(kind EntryKind, format string, args ...any) {
	r.log = append(r.log, Entry{At: r.now, Kind: kind, Text: fmt.Sprintf(format, args...)})
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
		r.say(Starts, "%s: machines may begin until %s", c.Path, stamp(change.NotAfter))
	case change.Intent == policy.Run && begun:
		r.say(Starts, "%s goes on%s", c.Path, until)
	case change.Intent == policy.Run:
		r.say(Starts, "%s begins%s", c.Path, until)
	case change.Intent == policy.Hold:
		r.say(Starts, "%s is to hold: no further machine begins", c.Path)
	case change.Intent == policy.Wait:
		r.say(Starts, "%s gives its slot back", c.Path)
	case change.Intent == policy.Withdraw:
		r.say(Starts, "%s is withdrawn", c.Path)
	}
}

// tellCluster tells what became of a cluster.
func (s *site) tellCluster(c policy.Cluster) {
	progress := fmt.Sprintf("%d of %d machines", s.done, s.total)
	switch c.Phase {
	case policy.Succeeded:
		s.say(OfCluster, "%s is done: %s", s.path, progress)
	case policy.Failed:
		s.say(OfCluster, "%s failed after %s: %s", s.path, progress, c.LastError)
	case policy.Holding:
		s.say(OfCluster, "%s holds after %s (%s: %s)", s.path, progress, c.Reason, c.Message)
	case policy.Deferred:
		s.say(OfCluster, "%s is deferred (%s: %s)", s.path, c.Reason, c.Message)
	case policy.Skipped:
		s.say(OfCluster, "%s is taken back after %s", s.path, progress)
	case policy.Removed:
		s.say(OfCluster, "%s no longer exists", s.path)
	case policy.Ineligible:
		s.say(OfCluster, "%s is not suited: %s", s.path, c.Message)
	case policy.Pending:
		s.tellPending(c)
	case policy.Progressing, policy.Verifying:
	}
}

func (s *site) tellPending(c policy.Cluster) {
	switch {
	case c.Reason != "":
		s.say(OfCluster, "%s cannot begin (%s: %s)", s.path, c.Reason, c.Message)
	case s.status.Reason != "":
		s.say(OfCluster, "%s may begin again", s.path)
	}
}

// tellMachines tells that machines begin.
func (s *site) tellMachines(one, several string) {
	if !s.in.Machines {
		return
	}
	first, last := s.done+1, s.done+s.busy.Count
	if first == last {
		s.say(OfMachine, "%s: machine %d of %d %s", s.path, first, s.total, one)
		return
	}
	s.say(OfMachine, "%s: machines %d to %d of %d %s", s.path, first, last, s.total, several)
}

// narrate tells what is new since the last instant: the phase, the waves, and why the rest waits.
func (r *rollout) narrate() {
	d := r.last
	told(&r.shown.phase, fmt.Sprintf("%s(%s)", d.Phase, d.Reason), func(phase string) {
		r.say(OfRollout, "%s: %s", phase, d.Message)
	})
	told(&r.shown.waves, r.counts(), func(counts string) { r.say(OfRollout, "%s", counts) })
	if d.Missed != nil {
		missed := fmt.Sprintf("the opening from %s to %s passed without a start (%s: %s)", stamp(d.Missed.Span.Start),
			stamp(d.Missed.Span.End), d.Missed.Reason, d.Missed.Message)
		told(&r.shown.missed, missed, func(text string) { r.say(Waits, "%s", text) })
	}
	waits := ""
	if d.Waiting != nil {
		waits = "waits: " + words(*d.Waiting)
	}
	told(&r.shown.waits, waits, func(text string) {
		if text != "" {
			r.say(Waits, "%s", text)
		}
	})
	r.narrateHolds()
	if r.ended() && r.ending.IsZero() {
		r.ending = r.now
	}
}

// narrateHolds tells of waits of single clusters that are new.
func (r *rollout) narrateHolds() {
	holds := make(map[string]string, len(r.last.Holds))
	for _, hold := range r.last.Holds {
		holds[hold.ID] = hold.Path + " waits: " + words(hold.Waiting)
		if r.shown.holds[hold.ID] != holds[hold.ID] && r.shown.waits != "waits: "+words(hold.Waiting) {
			r.say(Waits, "%s", holds[hold.ID])
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
	for _, w := range r.last.Waves {
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
