// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package gantt

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// Measures, in pixels.
const (
	left, right, top, bottom = 210, 20, 86, 20
	width                    = 1280
	gap                      = 8   // between groups
	most                     = 16  // height of a row where there are few
	least                    = 2.6 // and where there are many
	tall                     = 1400
	legible                  = 10 // a row of this height has its label shown
	narrow                   = 1.5
)

// style is inside the picture, so that it looks alike wherever it is shown.
const style = `text{font-family:system-ui,sans-serif;font-size:11px;fill:#24292f}
.title{font-size:17px;font-weight:600}.sub{fill:#57606a}.wave{font-weight:600}.note,.day,.part{fill:#57606a;font-size:10px}
.back{fill:#fff}.closed{fill:#eceff2}.open{fill:#fff}.stop{fill:#cf222e;fill-opacity:.12}.line{stroke:#d0d7de;stroke-width:1}
.done{fill:#1a7f37}.begun{fill:#0969da}.failed{fill:#cf222e}.off{fill:#bf8700}`

// SVG writes the chart as a picture.
func (c Chart) SVG(w io.Writer) error {
	d := &drawing{Chart: c, row: c.rowHeight()}
	d.zone = cmp.Or(c.Zone, time.UTC)
	height := float64(top + bottom)
	for _, g := range c.Groups {
		height += d.heightOf(g) + gap
	}
	d.put(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %d %.0f" role="img">`, width,
		height, width, height)
	d.put("\n<title>%s</title>\n<style>%s</style>\n", text(c.Title), style)
	d.put(`<rect class="back" width="%d" height="%.0f"/>`+"\n", width, height)
	d.put(`<text class="title" x="14" y="26">%s</text>`+"\n", text(c.Title))
	d.put(`<text class="sub" x="14" y="44">%s</text>`+"\n", text(c.Subtitle))
	d.legend()
	y := float64(top)
	for _, g := range c.Groups {
		d.group(g, y)
		y += d.heightOf(g) + gap
	}
	d.stops(height - bottom - gap)
	d.days(height - bottom - gap)
	d.put("</svg>\n")
	_, err := w.Write(d.out.Bytes())
	return err
}

// drawing is a picture in the making.
type drawing struct {
	Chart
	out  bytes.Buffer
	row  float64
	zone *time.Location
}

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// rowHeight gives each row as much room as the page has.
func (c Chart) rowHeight() float64 {
	rows := 0
	for _, g := range c.Groups {
		rows += len(g.Rows)
	}
	return max(least, min(most, float64(tall)/float64(max(1, rows))))
}

func (d *drawing) heightOf(g Group) float64 { return max(2*most, float64(len(g.Rows))*d.row) }

// x is the place of an instant; what lies outside is at the edge.
func (d *drawing) x(t time.Time) float64 {
	whole := d.Span.End.Sub(d.Span.Start)
	if whole <= 0 {
		return left
	}
	part := min(1, max(0, float64(t.Sub(d.Span.Start))/float64(whole)))
	return left + part*(width-left-right)
}

// box draws a span at a height; one that is not in the picture is left out.
func (d *drawing) box(class string, s window.Span, y, height, thinnest float64, about string) {
	if !s.End.After(d.Span.Start) || !s.Start.Before(d.Span.End) {
		return
	}
	from, to := d.x(s.Start), d.x(s.End)
	d.put(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"`, class, from, y, max(thinnest, to-from), height)
	if about == "" {
		d.put("/>\n")
		return
	}
	d.put("><title>%s</title></rect>\n", text(about))
}

func (d *drawing) legend() {
	x := 14.0
	for _, one := range []struct{ class, name string }{
		{"done", "upgraded"},
		{"begun", "begun"},
		{"failed", "failed"},
		{"off", "put off"},
		{"closed", "calendar closed"},
		{"stop", "freeze"},
	} {
		d.put(`<rect class="%s" x="%.0f" y="54" width="12" height="10"/>`, one.class, x)
		d.put(`<text class="note" x="%.0f" y="63">%s</text>`+"\n", x+16, one.name)
		const letter = 6.2
		x += 36 + letter*float64(len(one.name))
	}
}

func (d *drawing) group(g Group, y float64) {
	d.put(`<text class="wave" x="14" y="%.1f">%s</text>`, y+12, text(g.Name))
	d.put(`<text class="note" x="14" y="%.1f">%s</text>`+"\n", y+25, text(g.Note))
	for i := 0; i < len(g.Rows); {
		j := i + 1
		for j < len(g.Rows) && g.Rows[j].Key == g.Rows[i].Key {
			j++
		}
		d.hours(g.Rows[i].Hours, y+float64(i)*d.row, float64(j-i)*d.row)
		i = j
	}
	for i, row := range g.Rows {
		at := y + float64(i)*d.row
		if i == 0 || row.Part != g.Rows[i-1].Part {
			d.part(g.Rows[i:], at)
		}
		if d.row >= legible {
			d.put(`<text class="note" text-anchor="end" x="%d" y="%.1f">%s</text>`+"\n", left-6, at+d.row-4, text(row.Label))
		}
		for _, bar := range row.Bars {
			d.box(classOf(bar.Kind), bar.Span, at+d.row/10, d.row*8/10, narrow, d.about(row, bar))
		}
	}
}

// part names the rows that begin one, where there is room for it and they have no labels.
func (d *drawing) part(rows []Row, at float64) {
	count := 1
	for count < len(rows) && rows[count].Part == rows[0].Part {
		count++
	}
	if rows[0].Part != "" && d.row < legible && float64(count)*d.row >= legible {
		d.put(`<text class="part" text-anchor="end" x="%d" y="%.1f">%s</text>`+"\n", left-6, at+legible-1, text(rows[0].Part))
	}
}

// hours shades what is closed; without hours nothing is.
func (d *drawing) hours(open []window.Span, y, height float64) {
	if open == nil {
		return
	}
	d.box("closed", d.Span, y, height, 0, "")
	for _, span := range open {
		d.box("open", span, y, height, 0, "")
	}
}

func classOf(k Kind) string {
	switch k {
	case Done, Begun, Failed:
		return string(k)
	case PutOff:
		return "off"
	}
	return string(Begun)
}

// about is what is shown when a bar is pointed at.
func (d *drawing) about(row Row, bar Bar) string {
	const clock = "Mon 2 Jan 2006 15:04"
	return fmt.Sprintf("%s: %s – %s, %s", row.Label, bar.Span.Start.In(d.zone).Format(clock),
		bar.Span.End.In(d.zone).Format(clock), bar.Kind)
}

func (d *drawing) stops(end float64) {
	for _, s := range d.Stops {
		d.box("stop", s.Span, top, end-top, narrow, s.Name)
		if s.Span.End.After(d.Span.Start) && s.Span.Start.Before(d.Span.End) {
			d.put(`<text class="note" x="%.1f" y="%d">%s</text>`+"\n", d.x(s.Span.Start)+3, top-14, text(s.Name))
		}
	}
}

// days draws a line at each midnight, or each Monday's where there are many.
func (d *drawing) days(end float64) {
	first := d.Span.Start.In(d.zone)
	day := time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, d.zone)
	count := int(d.Span.End.Sub(d.Span.Start).Hours() / 24)
	const daily, weekly = 16, 120
	for ; day.Before(d.Span.End); day = day.AddDate(0, 0, 1) {
		monthly := count > weekly && day.Day() != 1
		rare := count > daily && count <= weekly && day.Weekday() != time.Monday
		if day.Before(d.Span.Start) || monthly || rare {
			continue
		}
		x := d.x(day)
		d.put(`<line class="line" x1="%.1f" y1="%d" x2="%.1f" y2="%.1f"/>`, x, top-10, x, end)
		d.put(`<text class="day" x="%.1f" y="%d">%s</text>`+"\n", x+2, top-2, day.Format("Mon 2 Jan 2006"))
	}
}

// text escapes what stands in the picture.
func text(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
