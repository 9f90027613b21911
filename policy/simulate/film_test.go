// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

var update = flag.Bool("update", false, "write the golden files")

// scene is a film to be shown: what it shows, and the rollouts that are played together.
type scene struct {
	title string
	about string
	tell  func() []*story
	// end is the phase that the first rollout ends in, with its reason.
	end string
}

func alone(s *story) []*story { return []*story{s} }

// TestFilms plays whole rollouts, judges every moment, and compares what happens with files that a person can read.
// Run with -update to write them after a change that is meant.
func TestFilms(t *testing.T) {
	for name, sc := range scenes() {
		t.Run(sc.title, func(t *testing.T) { sc.show(t, name) })
	}
}

func (sc scene) show(t *testing.T, name string) {
	t.Helper()
	got, results := sc.film(t)
	if end := ending(results[0]); end != sc.end {
		t.Errorf("it ends as %s, want %s", end, sc.end)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the film is another (-want +got):\n%s", diff)
	}
}

// film plays a scene under judges.
func (sc scene) film(t *testing.T) (string, []simulate.Result) {
	t.Helper()
	var ins []simulate.Input
	busy := map[string][]simulate.Machines{}
	var judges []*judge
	for _, s := range sc.tell() {
		judges = append(judges, watch(&s.Input, busy))
		ins = append(ins, s.Input)
	}
	results := simulate.RunAll(ins)
	var b strings.Builder
	b.WriteString(sc.title + "\n\n" + strings.TrimSpace(sc.about) + "\n")
	for i, r := range results {
		if len(results) > 1 {
			b.WriteString("\n=== " + ins[i].Name + " ===\n")
		}
		b.WriteString(r.Film())
		for _, found := range judges[i].verdict(r) {
			t.Errorf("the judge: %s", found)
		}
	}
	return b.String(), results
}

func ending(r simulate.Result) string {
	end := string(r.Phase)
	if r.Reason != string(r.Phase) {
		end += "(" + r.Reason + ")"
	}
	if r.Stopped != "" && r.Phase != policy.PhaseHalted {
		end += " stands"
	}
	return end
}
