// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"strings"
)

// head says what a policy comes to, and on which terms.
func (p *printer) head(h Head) {
	name := h.Policy
	if h.Namespace != "" {
		name = h.Namespace + "/" + name
	}
	p.line("RolloutPolicy %s: upgrade to %s; a cluster is done at %s.", name, h.Target, h.Version)
	p.wrapped("", "  ", fmt.Sprintf("It selects %s in %s: %d to upgrade (%d patch, %d minor), %d at the target, %d not suited.",
		plural(h.Selected, "cluster"), plural(h.Members, "management cluster"), h.Planned, h.Patch, h.Minor, h.AtTarget, h.Ineligible))
	rows := make([][]string, 0, len(h.Terms))
	for _, t := range h.Terms {
		rows = append(rows, []string{"  " + t.Name, plural(t.Planned, "cluster"), t.words()})
	}
	p.table(rows)
	for _, t := range h.Terms {
		if t.TakenBefore > 0 {
			p.line("  Wave %s also matches %s that fell into an earlier wave: the first match wins.", t.Name,
				plural(t.TakenBefore, "cluster"))
		}
	}
	p.limits(h)
	for _, c := range h.Calendars {
		p.calendar(c)
	}
	for _, f := range h.Freezes {
		p.freeze(f)
	}
	for _, text := range h.Skewed {
		p.wrapped("  ", "    ", "Workers newer than their control plane: "+text)
	}
	p.line("")
}

// words are what a wave may do.
func (t Terms) words() string {
	words := []string{fmt.Sprintf("%d at once", t.MaxConcurrency)}
	switch {
	case t.Canary:
		words = append(words, "none may fail")
	case t.MaxFailures == 0:
		words = append(words, "no failure allowed")
	default:
		words = append(words, fmt.Sprintf("%d may fail", t.MaxFailures))
	}
	if t.Approvals > 0 {
		words = append(words, "begins after "+plural(t.Approvals, "approval"))
	}
	if t.Deadline > 0 {
		words = append(words, "through within "+t.DeadlineText)
	}
	if t.Soak > 0 {
		words = append(words, "then healthy for "+t.SoakText)
	}
	return strings.Join(words, ", ")
}

func (p *printer) limits(h Head) {
	var words []string
	for _, l := range h.Limits {
		group := "management cluster"
		if l.Label != "" {
			group = "value of label " + l.Label
		}
		words = append(words, fmt.Sprintf("%d per %s", l.Max, group))
	}
	if len(words) > 0 {
		p.line("  Over all waves at most %s at once.", strings.Join(words, ", and "))
	}
	if h.ReserveBudget {
		p.line("  What is in flight counts against the failures allowed, as if it would fail (failureBudget: Reserved).")
	}
	if len(h.Calendars) == 0 {
		p.line("  At any time: no calendar applies.")
	}
}

func (p *printer) calendar(c Calendar) {
	text := fmt.Sprintf("  Calendar %s applies to %s", c.Name, plural(c.Clusters, "cluster"))
	if c.Own {
		text += " by its own selector"
	}
	if len(c.Zones) > 0 {
		text += ", in " + strings.Join(c.Zones, ", ")
	}
	if c.Problem != "" {
		text += "; closed: " + c.Problem
	}
	p.wrapped("  ", "    ", text+".")
}

func (p *printer) freeze(f Freeze) {
	what, whom := "no machine begins", "every cluster"
	if f.NewClustersOnly {
		what = "no cluster is begun"
	}
	if f.Clusters > 0 {
		whom = plural(f.Clusters, "cluster")
	}
	span := ""
	if !f.From.IsZero() {
		span = " from " + p.when(f.From)
	}
	if f.Until.IsZero() {
		span += " until it is removed"
	} else {
		span += " until " + p.when(f.Until)
	}
	text := fmt.Sprintf("Freeze %s covers %s: %s%s", f.Name, whom, what, span)
	if f.Reason != "" {
		text += fmt.Sprintf(" (%s; %s)", f.Reason, f.By)
	}
	p.wrapped("  ", "    ", text+".")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
