// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Text prints the plan for people, its times in a zone.
func (v Preview) Text(w io.Writer, zone *time.Location) error {
	p := &printer{zone: zone}
	p.head(v.Head)
	p.wrapped("", "  ", fmt.Sprintf("Expected if it began on %s, nothing went wrong and approvals came at once. START and END are %s, "+
		"WINDOW is the one it begins in, in its own time; (+1): it needs one more.", p.when(v.From), zone))
	for _, wave := range v.Waves {
		p.line("")
		p.previewWave(wave)
	}
	p.line("")
	p.notSuited(v.Head)
	if len(v.AtTarget) > 0 {
		p.line("AT TARGET (%d): nothing is to be done", len(v.AtTarget))
		p.wrapped("  ", "  ", strings.Join(v.AtTarget[:min(len(v.AtTarget), shown)], ", "))
		if more := len(v.AtTarget) - shown; more > 0 {
			p.line("  and %d more: -o json lists them all", more)
		}
		p.line("")
	}
	p.previewEnd(v)
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *printer) previewEnd(v Preview) {
	if !v.EndsAt.IsZero() {
		p.line("Expected end: %s %s, after %s. Nothing was created.", p.when(v.EndsAt), p.zone, days(v.EndsAt.Sub(v.From)))
	}
	if v.Untold > 0 {
		p.line("Of %s it cannot be told when: the reason stands in the place of the window.", plural(v.Untold, "cluster"))
	}
	if v.Stopped != "" {
		p.wrapped("", "  ", "It does not end: "+v.Stopped)
	}
}

func (p *printer) previewWave(wave PreviewWave) {
	switch {
	case len(wave.Clusters) == 0:
		p.line("%s: no cluster", wave.Name)
		return
	case wave.Begins.IsZero():
		p.line("%s: %s", wave.Name, plural(len(wave.Clusters), "cluster"))
	default:
		p.line("%s: %s, from %s until %s", wave.Name, plural(len(wave.Clusters), "cluster"), p.when(wave.Begins), p.when(wave.Ends))
	}
	rows := [][]string{{"  POS", "CLUSTER", "MACHINES", "START", "END", "WINDOW"}}
	for _, c := range wave.Clusters {
		window := c.window()
		if c.Reason != "" {
			window = c.Reason
		}
		rows = append(rows, []string{
			"  " + strconv.Itoa(c.Position), c.Path, c.machines(), p.when(c.Start), p.when(c.End), window,
		})
	}
	p.table(rows)
}

// machines are counted by owner, in the order in which these are upgraded.
func (c PreviewCluster) machines() string {
	var words []string
	for _, o := range c.Owners {
		word := "md"
		if o.Role == fleetv1.RoleControlPlane {
			word = "cp"
		}
		words = append(words, fmt.Sprintf("%s %d", word, o.Machines))
	}
	return strings.Join(words, " + ")
}

// window is the opening that it begins in, and how many it needs.
func (c PreviewCluster) window() string {
	if c.WindowStart == nil {
		return "any time"
	}
	text := c.WindowStart.Format("Mon 15:04") + "–" + c.WindowEnd.Format("15:04 MST")
	if c.Windows > 1 {
		text += fmt.Sprintf(" (+%d)", c.Windows-1)
	}
	return text
}
