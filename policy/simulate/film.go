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
	for _, line := range lines(r.Log) {
		if now := line.At.UTC().Format("Mon 02 Jan 2006"); now != day {
			day, clock = now, ""
			fmt.Fprintf(&b, "\n%s\n", day)
		}
		shown := ""
		if now := line.At.UTC().Format("15:04"); now != clock {
			clock, shown = now, now
		}
		b.WriteString(wrapped(fmt.Sprintf("  %-5s  ", shown), "           ", line.Text))
	}
	b.WriteString("\n" + wrapped("", "  ", r.ending()))
	path, wave := 0, 0
	for _, c := range r.Clusters {
		path, wave = max(path, len(c.Path)), max(wave, len(c.Wave))
	}
	for _, c := range r.Clusters {
		fmt.Fprintf(&b, "  %-*s  %-*s  %s\n", path, c.Path, wave, c.Wave, c.line())
	}
	return b.String()
}

// lines are the entries as sentences; what several clusters did at once is one.
func lines(log []Entry) []Entry {
	var all []Entry
	for i := 0; i < len(log); {
		line, who := log[i], []string{log[i].Who}
		for i++; line.Who != "" && i < len(log) && same(log[i], line); i++ {
			who = append(who, log[i].Who)
		}
		switch {
		case line.Kind == Happening:
			line.Text = "* " + line.Text
		case len(who) > 1:
			line.Text = list(who) + " " + plural(line.Text)
		case line.Who != "":
			line.Text = line.Who + " " + line.Text
		}
		all = append(all, line)
	}
	return all
}

// same: two entries are about the same deed of different clusters.
func same(a, b Entry) bool {
	return a.At.Equal(b.At) && a.Kind == b.Kind && a.Text == b.Text && a.Who != "" && a.Who != b.Who
}

// plural puts the verb that a text begins with into the plural.
func plural(text string) string {
	verb, rest, _ := strings.Cut(text, " ")
	end := strings.TrimLeft(verb, "abcdefghijklmnopqrstuvwxyz")
	verb = strings.TrimSuffix(verb, end)
	switch verb {
	case "is":
		verb = "are"
	case "goes":
		verb = "go"
	case "begins", "holds", "gives", "waits":
		verb = strings.TrimSuffix(verb, "s")
	}
	return strings.TrimSpace(verb + end + " " + rest)
}

// mostNamed is how many clusters a sentence names.
const mostNamed = 6

// list names the first clusters, and says how many there are.
func list(who []string) string {
	if len(who) > mostNamed {
		return fmt.Sprintf("%s and %d others", strings.Join(who[:mostNamed], ", "), len(who)-mostNamed)
	}
	last := len(who) - 1
	return strings.Join(who[:last], ", ") + " and " + who[last]
}

// width of a line.
const width = 120

// wrapped breaks a text at spaces, and indents what follows.
func wrapped(head, indent, text string) string {
	var b strings.Builder
	line := head
	empty := true
	for word := range strings.SplitSeq(text, " ") {
		if !empty && len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}

// ending is how it stands at the end.
func (r Result) ending() string {
	end := string(r.Phase)
	if r.Reason != end {
		end += "(" + r.Reason + ")"
	}
	peak := fmt.Sprintf("at most %d in flight", r.Peak)
	if r.Stopped == "" {
		return fmt.Sprintf("%s at %s; %s.", end, stamp(r.EndedAt), peak)
	}
	return fmt.Sprintf("%s, and stands still: %s; %s.", end, r.Stopped, peak)
}

// line is what became of a cluster.
func (c Course) line() string {
	line := fmt.Sprintf("%-9s", c.Phase)
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
	line += ", " + short(worked) + " at work"
	switch {
	case c.Windows == 1:
		line += " in one window"
	case c.Windows > 1:
		line += fmt.Sprintf(" in %d windows", c.Windows)
	}
	return line
}

// short is a duration without what is zero at its end.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}
