// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/cmd/windlass/trial"
)

func TestTheSampleShowsEachRuleThatTheTourIsAbout(t *testing.T) {
	t.Chdir("../..")
	inventory := filepath.Join(t.TempDir(), "inventory.yaml")
	if err := prepare(inventory); err != nil {
		t.Fatal(err)
	}
	s := trial.Simulation{
		Common: trial.Common{Files: []string{sample, inventory}, From: from, Zone: "UTC"}, Events: events,
	}
	var out bytes.Buffer
	if err := s.Run(&out, time.Time{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for rule, says := range map[string]string{
		"the fleet":                   "500 clusters in 12 management clusters: 484 to upgrade",
		"a canary's soak":             "wave early, Soaking: wave canaries is watched until 2026-12-01T15:41:10Z",
		"approval by two people":      "wave europe has 1 of 2 approvals",
		"a calendar for banks alone":  "WindowClosed: calendar bank-days is closed for them",
		"a failure within budget":     "a cluster of europe, Failed: mgmt-eu-3/prod/eu-3-15-bank",
		"a window that closes":        "OnHold: half-way",
		"an owner who puts off":       "DeferredByOwner: mgmt-in-1/prod/in-1-20-edge",
		"a dead link":                 "35 clusters of world, Unreachable: management cluster mgmt-au-2",
		"no start that would not end": "WouldNotFinishBeforeFreeze: mgmt-us-1/prod/us-1-24-shop: in its openings its 43 machines",
		"the freeze":                  "wave world, Frozen: frozen until 2027-01-04T06:00:00Z",
		"catch-up, and its beginning": "catch-up 35 35 0 0 3 Thu 2027-01-07 14:00",
		"the end, in the next year":   "CompletedWithFailures on Tue 2027-01-12 19:38 UTC",
	} {
		if !strings.Contains(text, says) {
			t.Errorf("%s: %q is missing in:\n%s", rule, says, out.String())
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "(from make tour)\n")
	shown, _, _ = strings.Cut(shown, "```")
	for line := range strings.Lines(shown) {
		if line != "…\n" && !strings.Contains(out.String(), line) {
			t.Errorf("README.md shows what the tour does not print: %s", line)
		}
	}
	for line := range strings.Lines(out.String()) {
		if len([]rune(line)) > 121 {
			t.Errorf("wider than 120 columns: %s", line)
		}
	}
}
