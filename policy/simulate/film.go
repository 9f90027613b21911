// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"strings"
	"time"
)

// Film is a log that a person can read like a story: a heading for each day, the time where it changes, in UTC, and at
// the end how it stands and what became of each cluster.
func (r Result) Film() string {
	var b strings.Builder
	day, clock := "", ""
	for _, entry := range r.Log {
		if now := entry.At.UTC().Format("Mon 02 Jan 2006"); now != day {
			day, clock = now, ""
			fmt.Fprintf(&b, "\n%s\n", day)
		}
		shown := ""
		if now := entry.At.UTC().Format("15:04"); now != clock {
			clock, shown = now, now
		}
		text := entry.Text
		if entry.Kind == Happening {
			text = "* " + text
		}
		fmt.Fprintf(&b, "  %-5s  %s\n", shown, text)
	}
	b.WriteString("\n" + r.ending())
	for _, c := range r.Clusters {
		b.WriteString("  " + c.line() + "\n")
	}
	return b.String()
}

// ending is how it stands at the end.
func (r Result) ending() string {
	end := fmt.Sprintf("%s(%s)", r.Phase, r.Reason)
	if r.Stopped == "" {
		return fmt.Sprintf("%s at %s; at most %d in flight\n", end, stamp(r.EndedAt), r.Peak)
	}
	return fmt.Sprintf("%s, and stands still: %s; at most %d in flight\n", end, r.Stopped, r.Peak)
}

// line is what became of a cluster.
func (c Course) line() string {
	line := fmt.Sprintf("%-12s  %-10s  %-11s", c.Path, c.Wave, c.Phase)
	if c.Began.IsZero() {
		return line + "  untouched"
	}
	line += "  from " + stamp(c.Began)
	if !c.Ended.IsZero() {
		line += " to " + stamp(c.Ended)
	}
	var worked time.Duration
	for _, span := range c.Spans {
		worked += span.End.Sub(span.Start)
	}
	line += fmt.Sprintf(", %s at work", short(worked))
	if c.Windows > 0 {
		line += fmt.Sprintf(", %d windows", c.Windows)
	}
	return line
}

// short is a duration without what is zero at its end.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
