// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
	ImportPath                    string
}

// counts of tests. Specs are those of Ginkgo, of which a whole suite is one test.
type counts struct {
	tests, specs, failed, skipped int
}

func (c *counts) add(other counts) {
	c.tests += other.tests
	c.specs += other.specs
	c.failed += other.failed
	c.skipped += other.skipped
}

// summary gathers events by package.
type summary struct {
	out      io.Writer
	packages map[string]*result
	all      counts
	ended    int
}

type result struct {
	counts
	output []string
	// cached: go test answered from its cache.
	cached bool
}

func newSummary(out io.Writer) *summary { return &summary{out: out, packages: map[string]*result{}} }

func (s *summary) read(events io.Reader) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			_, _ = fmt.Fprintln(s.out, lines.Text()) // what is no event is said as it is
			continue
		}
		s.add(e)
	}
	return lines.Err()
}

func (s *summary) add(e event) {
	if e.Package == "" { // what the compiler said
		_, _ = fmt.Fprint(s.out, e.Output)
		return
	}
	r := s.packages[e.Package]
	if r == nil {
		r = &result{}
		s.packages[e.Package] = r
	}
	switch {
	case e.Action == "output":
		r.hear(e.Output)
	case e.Test != "":
		r.count(e.Action)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		s.end(e, r)
	}
}

var (
	ranSpecs     = regexp.MustCompile(`Ran (\d+) of \d+ Specs? in`)
	skippedSpecs = regexp.MustCompile(`(\d+) Pending.* \| .*?(\d+) Skipped`)
)

func (r *result) hear(line string) {
	r.output = append(r.output, line)
	if strings.HasPrefix(line, "ok ") && strings.Contains(line, "(cached)") {
		r.cached = true
	}
	if m := ranSpecs.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[1])
		r.specs += n
	}
	if m := skippedSpecs.FindStringSubmatch(line); m != nil {
		pending, _ := strconv.Atoi(m[1])
		skipped, _ := strconv.Atoi(m[2])
		r.skipped += pending + skipped
	}
}

func (r *result) count(action string) {
	switch action {
	case "pass":
		r.tests++
	case "fail":
		r.tests++
		r.failed++
	case "skip":
		r.skipped++
	}
}

// end says what a package did. One without tests is no news.
func (s *summary) end(e event, r *result) {
	if e.Action == "skip" {
		return
	}
	s.ended++
	s.all.add(r.counts)
	name := strings.TrimPrefix(e.Package, "github.com/windlass-dev/windlass/")
	took := fmt.Sprintf("%.1fs", e.Elapsed)
	if r.cached {
		took = "cached"
	}
	_, _ = fmt.Fprintf(s.out, "%-6s %-36s %8s  %s\n", verdict(e.Action), name, took,
		r.counts)
	if e.Action == "fail" || r.skipped > 0 {
		_, _ = fmt.Fprint(s.out, strings.Join(r.output, ""))
	}
	r.output = nil
}

func verdict(action string) string {
	if action == "fail" {
		return "FAILED"
	}
	return "ok"
}

// String writes the counts as people read them.
func (c counts) String() string {
	words := []string{fmt.Sprintf("%d tests", c.tests)}
	if c.specs > 0 {
		words = append(words, fmt.Sprintf("%d specs", c.specs))
	}
	if c.failed > 0 {
		words = append(words, fmt.Sprintf("%d failed", c.failed))
	}
	if c.skipped > 0 {
		words = append(words, fmt.Sprintf("%d skipped", c.skipped))
	}
	return strings.Join(words, ", ")
}

// totals says what ran in all. A skipped test is an error.
func (s *summary) totals() error {
	_, _ = fmt.Fprintf(s.out, "%d packages with tests: %s\n", s.ended, s.all)
	if s.all.skipped > 0 {
		return errors.New("tests were skipped")
	}
	return nil
}
