// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package gantt_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/cmd/windlass/gantt"
	"github.com/windlass-dev/windlass/policy/window"
)

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func hours(from, to int) window.Span {
	return window.Span{Start: start.Add(time.Duration(from) * time.Hour), End: start.Add(time.Duration(to) * time.Hour)}
}

func chart(rows int) gantt.Chart {
	c := gantt.Chart{Title: "k8s-1-33", Subtitle: "a & b", Span: hours(0, 24*20), Stops: []gantt.Stop{{hours(200, 300), "holiday"}}}
	for g := range 4 {
		group := gantt.Group{Name: fmt.Sprintf("wave-%d", g), Note: "<done>"}
		for r := range rows / 4 {
			group.Rows = append(group.Rows, gantt.Row{
				Label: fmt.Sprintf("m%d/shop/c-%d", r%12, r), Key: fmt.Sprint(r / 10), Hours: []window.Span{hours(2, 6), hours(26, 30)},
				Bars: []gantt.Bar{{hours(r%20, r%20+3), gantt.Done}, {hours(26, 28), gantt.Failed}},
			})
		}
		c.Groups = append(c.Groups, group)
	}
	return c
}

func draw(t *testing.T, c gantt.Chart) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements counts the elements of a picture by class; a picture that is no XML fails.
func elements(t *testing.T, picture string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		if element, is := token.(xml.StartElement); is {
			count[element.Name.Local]++
			for _, a := range element.Attr {
				if a.Name.Local == "class" {
					count["."+a.Value]++
				}
			}
		}
	}
}

func TestAPictureOf500ClustersIsXMLWithABarForEachAndStaysSmall(t *testing.T) {
	picture := draw(t, chart(500))
	count := elements(t, picture)
	const legend = 1
	if count[".done"] != 500+legend || count[".failed"] != 500+legend || count[".wave"] != 4 || count[".stop"] != 1+legend {
		t.Errorf("elements: %v", count)
	}
	if count["script"] > 0 || len(picture) > 1<<20 {
		t.Errorf("%d scripts, %d bytes", count["script"], len(picture))
	}
	if picture != draw(t, chart(500)) {
		t.Error("drawn twice it is another picture")
	}
}

func TestFewRowsHaveTheirLabelsShownAndManyHaveNot(t *testing.T) {
	const shown = `text-anchor="end"`
	if got := strings.Count(draw(t, chart(20)), shown); got != 20 {
		t.Errorf("%d labels of 20", got)
	}
	if strings.Contains(draw(t, chart(500)), shown) {
		t.Error("500 labels would lie over each other")
	}
}

func TestWhatLiesOutsideTheSpanIsNotDrawnAndAnEmptyChartIsAPicture(t *testing.T) {
	c := chart(4)
	c.Groups[0].Rows[0].Bars = []gantt.Bar{{hours(-9, -3), gantt.Begun}, {hours(9999, 10000), gantt.Begun}}
	const legend = 1
	if got := elements(t, draw(t, c))[".begun"]; got != legend {
		t.Errorf("%d bars outside are drawn", got-legend)
	}
	elements(t, draw(t, gantt.Chart{}))
}

func TestManyRowsAreNamedByTheirPartsAndFewByThemselves(t *testing.T) {
	named := func(rows int) int {
		c := chart(rows)
		for g := range c.Groups {
			for r := range c.Groups[g].Rows {
				c.Groups[g].Rows[r].Part = fmt.Sprintf("mgmt-%d", r*5/len(c.Groups[g].Rows))
			}
		}
		return elements(t, draw(t, c))[".part"]
	}
	if got := named(500); got != 4*5 {
		t.Errorf("%d parts of 20 are named among 500 rows", got)
	}
	if got := named(20); got != 0 {
		t.Errorf("%d parts are named beside rows with labels", got)
	}
}
