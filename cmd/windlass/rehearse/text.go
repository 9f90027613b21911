// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

const (
	moment = "Mon 02 Jan 15:04"
	// shown is how many clusters of a kind are listed.
	shown = 12
	// widest is how wide a line of notes gets.
	widest = 100
)

// Text prints the outlook for people, its times in a zone.
func (o Outlook) Text(w io.Writer, zone *time.Location) error {
	p := &printer{zone: zone}
	p.head(o)
	p.waves(o)
	p.days(o)
	p.clusters("NOT SUITED", "the target does not suit them; they are left alone and never count as failures", o.NotSuited)
	p.clusters("LATE", "put off, failed, or not through at the end", o.Late)
	p.end(o)
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct {
	b    strings.Builder
	zone *time.Location
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// when is an instant, "-" for none.
func (p *printer) when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(p.zone).Format(moment)
}

func (p *printer) head(o Outlook) {
	p.line("RolloutPolicy %s: %s, done is %s", o.Policy, o.Target, o.Version)
	p.line("%d clusters of %d management clusters are selected: %d to upgrade (%d patch, %d minor), %d at the target, %d not suited",
		o.Selected, o.Members, o.Planned, o.Patch, o.Minor, o.AtTarget, o.Ineligible)
	for _, problem := range o.Calendars {
		p.line("closed: %s", problem)
	}
	p.line("Played from %s on; times are %s.", p.when(o.From), p.zone)
	p.line("")
}

func (p *printer) waves(o Outlook) {
	t := tabwriter.NewWriter(&p.b, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		texts := make([]string, 0, len(cells))
		for _, cell := range cells {
			texts = append(texts, fmt.Sprint(cell))
		}
		_, _ = io.WriteString(t, strings.Join(texts, "\t")+"\n")
	}
	row("WAVE", "CLUSTERS", "DONE", "FAILED", "PUT OFF", "BEGINS", "COMPLETE", "NEXT MAY BEGIN", "NIGHTS")
	for _, w := range o.Waves {
		row(w.Name, w.Planned, w.Succeeded, w.Failed, w.Deferred, p.when(w.Begins), p.when(w.Ends), p.when(w.Soaked), w.Nights)
	}
	_ = t.Flush() // a builder takes everything
	for _, w := range o.Waves {
		if w.Waiting != "" {
			p.line("%s waits: %s", w.Name, w.Waiting)
		}
	}
	p.line("")
}

func (p *printer) days(o Outlook) {
	t := tabwriter.NewWriter(&p.b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "DAY\tBEGUN\tDONE\tFAILED\tWAVES\tWHAT ELSE")
	for _, d := range o.Days {
		day, err := time.ParseInLocation(time.DateOnly, d.Date, p.zone)
		if err != nil {
			continue // it was written by this package
		}
		_, _ = fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\n", day.Format("Mon 02 Jan 2006"), d.Begun, d.Done, d.Failed,
			strings.Join(d.Waves, ", "), cut(strings.Join(d.Notes, "; ")))
	}
	_ = t.Flush() // a builder takes everything
	p.line("")
}

func (p *printer) clusters(title, about string, list []Cluster) {
	if len(list) == 0 {
		return
	}
	p.line("%s (%d): %s", title, len(list), about)
	for _, c := range list[:min(len(list), shown)] {
		p.line("  %s", cut(strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", c.Path, c.Phase, c.Reason, strings.TrimPrefix(c.Message, c.Path+": ")))))
	}
	if more := len(list) - shown; more > 0 {
		p.line("  and %d more", more)
	}
	p.line("")
}

func (p *printer) end(o Outlook) {
	if o.EndedAt.IsZero() {
		p.line("It does not end: %s", o.Stopped)
		return
	}
	p.line("%s on %s, after %s; at most %d clusters in flight: %s", o.Phase, p.when(o.EndedAt), days(o.EndedAt.Sub(o.From)),
		o.Peak, o.Message)
}

func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return d.Round(time.Minute).String()
	}
	return fmt.Sprintf("%d days", int(d/day))
}

func cut(text string) string {
	runes := []rune(text)
	if len(runes) <= widest {
		return text
	}
	return string(runes[:widest-1]) + "…"
}
