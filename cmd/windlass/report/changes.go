// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// Change is one thing that is not as it was in the report before.
type Change struct {
	// Time of the report that shows it.
	Time time.Time
	// Wave it belongs to; empty for rollouts, policies and management clusters.
	Wave string
	// Subject is a cluster as people write it, or a kind and a name, or "wave".
	Subject string
	// Phase it is in now, or the state of its Ready condition.
	Phase string
	// Why in one line: progress, reason, message, until.
	Why string
}

// String is the change as one line: time, wave, subject, phase, why.
func (c Change) String() string {
	line := fmt.Sprintf("%s  %-12s  %-32s  %-12s  %s", c.Time.UTC().Format(time.TimeOnly+"Z"), cmp.Or(c.Wave, "-"),
		c.Subject, c.Phase, c.Why)
	return strings.TrimRight(line, " ")
}

// Changes lists what is not as it was: management clusters, policies, rollouts, their waves, clusters in plan order.
// Against the zero Report everything is new; then clusters that have not begun or are through without a failure are
// left out, as hundreds of lines would tell nothing.
func Changes(before, after Report) []Change {
	old := map[string]Change{}
	for _, c := range lines(before) {
		old[c.id] = c.Change
	}
	first := before.Kind == ""
	var list []Change
	for _, c := range lines(after) {
		was, known := old[c.id]
		same := known && was.Phase == c.Phase && was.Why == c.Why
		if same || first && c.quiet {
			continue
		}
		list = append(list, c.Change)
	}
	return list
}

// line is how one subject stands; equal lines in two reports mean that nothing changed.
type line struct {
	Change
	id    string
	quiet bool
}

func lines(r Report) []line {
	var list []line
	put := func(id string, c Change, quiet bool) {
		c.Time = r.Time.Time
		list = append(list, line{Change: c, id: id, quiet: quiet})
	}
	for _, mc := range r.ManagementClusters {
		name := r.name(mc.Namespace, mc.Name)
		put("mc/"+name, Change{Subject: "management cluster " + name, Phase: readyWord(mc.Ready), Why: mc.Why.line()}, false)
	}
	for _, p := range r.Policies {
		name := r.name(p.Namespace, p.Name)
		put("policy/"+name, Change{Subject: "policy " + name, Phase: readyWord(p.Ready), Why: p.Why.line()}, false)
	}
	for _, ro := range r.Rollouts {
		name := r.name(ro.Namespace, ro.Name)
		put("rollout/"+name, Change{
			Subject: "rollout " + name, Phase: ro.Phase, Why: join(ro.Upgrades.line(), ro.Why.line()),
		}, false)
		for _, w := range ro.Waves {
			put("wave/"+name+"/"+w.Name, Change{
				Wave: w.Name, Subject: "wave", Phase: w.Phase, Why: join(w.line(), w.ownLine()),
			}, false)
			for _, c := range w.Clusters {
				put("cluster/"+name+"/"+c.Name, Change{
					Wave: w.Name, Subject: r.name(c.Namespace, c.Name), Phase: c.Phase, Why: c.line(),
				}, c.quiet())
			}
		}
	}
	return list
}

// name writes the name of an object on the hub, with its namespace where several are shown.
func (r Report) name(namespace, name string) string {
	if r.Namespace != "" {
		return name
	}
	return namespace + "/" + name
}

func readyWord(status string) string {
	switch status {
	case "True":
		return "Ready"
	case "False":
		return "NotReady"
	}
	return "Unknown"
}

func (u Upgrades) line() string { return fmt.Sprintf("%d/%d clusters", u.Done, u.Total) }

// ownLine is the reason that is the wave's own.
func (w Wave) ownLine() string {
	if w.Why != nil && w.Why.Of != "" {
		return ""
	}
	return w.Why.line()
}

func (w Wave) line() string { return fmt.Sprintf("%d/%d clusters", w.Succeeded, w.Planned) }

// line of a reason leaves out Since, which tells nothing new, and an instant that moves on with every look.
func (w *Why) line() string {
	if w == nil {
		return ""
	}
	text := w.Reason
	if w.Message != "" {
		text += ": " + oneLine(w.Message)
	}
	if w.Until == fleetv1.UntilAct {
		text += " (until act)"
	}
	return text
}

func (c Cluster) line() string {
	progress := ""
	if c.ControlPlane.Total+c.Workers.Total > 0 {
		progress = fmt.Sprintf("cp %s workers %s", c.ControlPlane, c.Workers)
	}
	why := c.Why
	if why != nil && why.Of != "" {
		why = nil
	}
	machine := ""
	for _, m := range c.Machines {
		if m.Name == c.Machine && m.State != MachineDone {
			machine = m.Name + " " + m.State
		}
	}
	last := ""
	if c.LastError != "" && (why == nil || !strings.Contains(why.Message, c.LastError)) {
		last = fmt.Sprintf("try %d/%d: %s", c.Attempts, c.MaxAttempts, oneLine(c.LastError))
	}
	return join(progress, why.line(), machine, last)
}

// turn: it has not begun, and waits for nothing but its turn.
func (c Cluster) turn() bool {
	own := c.Why != nil && c.Why.Of == "" && c.Why.Reason != cluster.ReasonWaiting
	return c.Phase == string(fleetv1.UpgradePending) && !own
}

// quiet: nothing to tell of it in an overview, or when a watch begins.
func (c Cluster) quiet() bool {
	switch fleetv1.UpgradePhase(c.Phase) {
	case fleetv1.UpgradePending:
		return c.turn()
	case fleetv1.UpgradeSucceeded, fleetv1.UpgradeIneligible, fleetv1.UpgradeSkipped,
		fleetv1.UpgradeRemoved:
		return true
	case fleetv1.UpgradeProgressing, fleetv1.UpgradeVerifying, fleetv1.UpgradeHolding, fleetv1.UpgradeFailed,
		fleetv1.UpgradeDeferred:
		return false
	}
	return false
}

// String is done/total.
func (r Ratio) String() string { return fmt.Sprintf("%d/%d", r.Done, r.Total) }

func join(parts ...string) string {
	var given []string
	for _, p := range parts {
		if p != "" {
			given = append(given, p)
		}
	}
	return strings.Join(given, ", ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
