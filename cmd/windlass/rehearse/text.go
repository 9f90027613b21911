// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

const (
	moment = "Mon 2006-01-02 15:04"
	date   = "Mon 2006-01-02"
	// shown is how many clusters of a kind are listed.
	shown = 12
	// gap is how many days without anything are told.
	gap = 4
)

// Text prints the outlook for people, its times in a zone.
func (o Outlook) Text(w io.Writer, zone *time.Location) error {
	p := &printer{zone: zone}
	p.head(o.Head)
	p.line("Played from %s on; all times are %s.", p.when(o.From), zone)
	p.line("")
	p.waves(o)
	p.days(o.Days)
	p.left(o)
	p.notSuited(o.Head)
	p.end(o)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *printer) waves(o Outlook) {
	rows := [][]string{{"WAVE", "CLUSTERS", "DONE", "FAILED", "PUT OFF", "DAYS", "BEGINS", "COMPLETE", "NEXT WAVE FREE"}}
	for _, w := range o.Waves {
		rows = append(rows, []string{
			w.Name, strconv.Itoa(w.Planned), strconv.Itoa(w.Succeeded), strconv.Itoa(w.Failed), strconv.Itoa(w.Deferred),
			strconv.Itoa(w.Nights), p.when(w.Begins), p.when(w.Ends), p.when(w.Soaked),
		})
	}
	p.table(rows)
	for _, w := range o.Waves {
		if w.Waiting != "" {
			p.wrapped("", "  ", fmt.Sprintf("%s waits: %s", w.Name, w.Waiting))
		}
	}
	p.line("")
}

// days are what happened, day by day.
func (p *printer) days(all []Day) {
	if len(all) == 0 {
		return
	}
	p.line("%-15s %5s %5s %6s  %s", "DAY", "BEGUN", "DONE", "FAILED", "WAVES, WHAT HAPPENED (*), AND WHO WAITS WHY (-)")
	var last time.Time
	for _, d := range all {
		day, err := time.ParseInLocation(time.DateOnly, d.Date, time.UTC)
		if err != nil {
			continue // it was written by this package
		}
		if quiet := int(day.Sub(last).Hours()/24) - 1; !last.IsZero() && quiet >= gap {
			p.line("%-15s nothing on %d days", "…", quiet)
		}
		last = day
		p.line("%s", strings.TrimRight(fmt.Sprintf("%-15s %5d %5d %6d  %s", day.Format(date), d.Begun, d.Done, d.Failed,
			strings.Join(d.Waves, ", ")), " "))
		for _, text := range d.Happened {
			p.wrapped("  * ", "    ", text)
		}
		for _, w := range d.Waits {
			p.wrapped("  - ", "    ", w.text())
		}
	}
	p.line("")
}

// text says a wait: who, why, and the word of docs/status.md for it.
func (w Wait) text() string {
	count := strconv.Itoa(w.Clusters)
	if w.More {
		count = "at least " + count
	}
	switch w.Clusters {
	case 0:
		return fmt.Sprintf("wave %s, %s: %s", w.Wave, w.Reason, w.Message)
	case 1:
		return fmt.Sprintf("a cluster of %s, %s: %s", w.Wave, w.Reason, w.Message)
	}
	return fmt.Sprintf("%s clusters of %s, %s: %s", count, w.Wave, w.Reason, w.Message)
}

func (p *printer) end(o Outlook) {
	if o.EndedAt.IsZero() {
		p.wrapped("", "  ", "It does not end: "+o.Stopped)
		if strings.Contains(o.Stopped, "AwaitingApproval") {
			p.line("  With --approve approvals are taken as given as soon as they are asked for.")
		}
		return
	}
	p.wrapped("", "  ", fmt.Sprintf("%s on %s %s, after %s, with at most %d clusters in flight: %s", o.Phase, p.when(o.EndedAt), p.zone,
		days(o.EndedAt.Sub(o.From)), o.Peak, o.Message))
}

// printer writes text for people.
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

// table aligns rows; a row ends with its last cell that is not empty.
func (p *printer) table(rows [][]string) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(t, strings.Join(row, "\t")+"\n") // a builder takes everything
	}
	_ = t.Flush()
	for line := range strings.Lines(b.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
}

// wrapped breaks a long text into lines, the first of which begins with one text and the others with another.
func (p *printer) wrapped(first, others, text string) {
	const widest = 118
	line, empty := first, true
	for word := range strings.FieldsSeq(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > widest {
			p.line("%s", line)
			line, empty = others, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	p.line("%s", line)
}

// clusters lists some clusters, each with a word of docs/status.md and a sentence.
func (p *printer) clusters(title, about string, list []Cluster) {
	if len(list) == 0 {
		return
	}
	p.line("%s (%d): %s", title, len(list), about)
	for _, c := range list[:min(len(list), shown)] {
		p.wrapped("  ", "    ", c.text())
	}
	if more := len(list) - shown; more > 0 {
		p.line("  and %d more: -o json lists them all", more)
	}
	p.line("")
}

// left are the clusters that did not simply succeed; those that only wait for their turn are counted.
func (p *printer) left(o Outlook) {
	var left []Cluster
	waves, waiting := map[string]int{}, 0
	for _, c := range o.Late {
		if c.Phase == string(policy.Pending) && c.Reason == "" {
			waves[c.Wave]++
			waiting++
			continue
		}
		left = append(left, c)
	}
	p.clusters("LEFT", "put off, failed, or not through at the end", left)
	if waiting == 0 {
		return
	}
	var words []string
	for _, w := range o.Waves {
		if n := waves[w.Name]; n > 0 {
			words = append(words, fmt.Sprintf("%d of %s", n, w.Name))
		}
	}
	p.line("NOT BEGUN (%d): %s", waiting, strings.Join(words, ", "))
	p.line("")
}

func (p *printer) notSuited(h Head) {
	p.clusters("NOT SUITED", "the target does not suit them; they are left alone and never count as failures", h.NotSuited)
}

func (c Cluster) text() string {
	words := []string{c.Path}
	for _, word := range []string{c.Phase, c.Reason} {
		if word != "" && word != words[len(words)-1] {
			words = append(words, word)
		}
	}
	text := strings.Join(words, " ")
	if c.Message != "" {
		text += ": " + strings.TrimPrefix(c.Message, c.Path+": ")
	}
	return text
}

func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return written(d.Round(time.Minute))
	}
	return fmt.Sprintf("%d days", int(d/day))
}
