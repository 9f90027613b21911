// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command tour plays the sample rollout of 500 clusters in virtual time and prints its calendar, then asks what would be if
// this or that were otherwise. It needs no cluster and no API server.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/trial"
	"github.com/windlass-dev/windlass/test/tour/inventory"
)

const (
	folder = ".tour"
	sample = "config/samples/fleet-500"
	events = "config/samples/events/fleet-500.yaml"
	from   = "2026-12-01"
	widest = 110
)

// What the tour writes, for the reader to look at and try.
var (
	fleet   = filepath.Join(folder, "inventory.yaml")
	picture = filepath.Join(folder, "rollout.svg")
)

func main() {
	if err := tour(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tour failed:", err)
		os.Exit(1)
	}
}

func tour(out io.Writer) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	begin := time.Now()
	if err := prepare(fleet); err != nil {
		return err
	}
	say("A fleet of 500 clusters in 12 management clusters on four continents is to go from 1.33.4 to 1.33.9. Policy,")
	say("calendars and a Christmas freeze are in %s; what befalls the fleet in %s.", sample, events)
	if err := show(say, filepath.Join(sample, "policy.yaml")); err != nil {
		return err
	}
	say("What would it do, and when? windlass simulate plays it with the code that the hub decides with.")
	full := simulation(sample)
	full.SVG = picture
	text, err := run(say, full)
	if err != nil {
		return err
	}
	say("%s", text)
	for _, w := range whatIfs() {
		if err := w.tell(say); err != nil {
			return fmt.Errorf("%s: %w", w.question, err)
		}
	}
	say("\nThe whole calendar as a picture: %s. The files of the tour are in %s and %s: change some and play again.", picture,
		folder, sample)
	say("  go run ./cmd/windlass simulate %s", arguments(full))
	say("  go run ./cmd/windlass plan -f %s -f %s --from %s", sample, fleet, from)
	say("The tour took %s. make demo upgrades six clusters on real API servers.", time.Since(begin).Round(time.Second))
	return nil
}

// prepare writes the inventory, as kubectl get -o yaml would print it.
func prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	for _, object := range inventory.Fleet() {
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// show prints a file without its licence.
func show(say func(string, ...any), path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, text, _ := strings.Cut(string(data), "\n\n")
	say("\n%s\n\n%s", path, text)
	return nil
}

// simulation is the sample with its events; policies are the files and folders beside the inventory.
func simulation(policies ...string) trial.Simulation {
	return trial.Simulation{
		Common: trial.Common{Files: append(policies, fleet), From: from, Zone: "UTC"}, Events: events,
	}
}

// arguments are those of windlass simulate for a simulation.
func arguments(s trial.Simulation) string {
	var words []string
	for _, file := range s.Files {
		words = append(words, "-f "+file)
	}
	words = append(words, "--from "+s.From, "--events "+s.Events)
	if s.SVG != "" {
		words = append(words, "--svg "+s.SVG)
	}
	text, width := "", len("go run ./cmd/windlass simulate")
	for _, word := range words {
		if width += len(word) + 1; width > widest {
			text, width = text+" \\\n   ", len(word)+4
		}
		text += " " + word
	}
	return strings.TrimSpace(text)
}

// run says the command line, and is what it prints.
func run(say func(string, ...any), s trial.Simulation) (string, error) {
	say("\n$ windlass simulate %s", arguments(s))
	var out bytes.Buffer
	err := s.Run(&out, time.Now())
	return out.String(), err
}

// whatIf is a question, the change that answers it, and what is shown of the answer.
type whatIf struct {
	question string
	// change makes the simulation.
	change func() (trial.Simulation, error)
	// refused: the answer is an error.
	refused bool
}

func whatIfs() []whatIf {
	policy, calendars := filepath.Join(sample, "policy.yaml"), filepath.Join(sample, "calendars.yaml")
	holiday := filepath.Join(sample, "holiday.yaml")
	return []whatIf{
		{question: "What if nobody froze Christmas?", change: func() (trial.Simulation, error) {
			return simulation(policy, calendars), nil
		}},
		{question: "What if the link to Perth stays dead?", change: func() (trial.Simulation, error) {
			path, err := edited(events, "dead-link.yaml", func(text string) string {
				before, _, _ := strings.Cut(text, "- at: \"2027-01-07")
				return before
			})
			s := simulation(sample)
			s.Events = path
			return s, err
		}},
		{question: "What if all that is in flight counted as failed (failureBudget: Reserved)?", change: func() (trial.Simulation, error) {
			path, err := edited(policy, "reserved.yaml", func(text string) string {
				return strings.Replace(text, "  limits:\n", "  failureBudget: Reserved\n  limits:\n", 1)
			})
			return simulation(path, calendars, holiday), err
		}},
		{question: "What if somebody misspelt maxFailures?", refused: true, change: func() (trial.Simulation, error) {
			path, err := edited(policy, "misspelt.yaml", func(text string) string {
				return strings.Replace(text, "maxFailures: 1%", "maxFailure: 1%", 1)
			})
			return simulation(path, calendars, holiday), err
		}},
	}
}

// edited writes a file of the sample anew with one change. That nothing changed is an error: the tour would be untrue.
func edited(path, name string, change func(string) string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := change(string(data))
	if text == string(data) {
		return "", fmt.Errorf("%s has not what is to be changed", path)
	}
	name = filepath.Join(folder, name)
	return name, os.WriteFile(name, []byte(text), 0o600)
}

func (w whatIf) tell(say func(string, ...any)) error {
	say("\n%s", w.question)
	s, err := w.change()
	if err != nil {
		return err
	}
	text, err := run(say, s)
	switch {
	case w.refused && err == nil:
		return errors.New("it was accepted")
	case w.refused:
		say("Error: %s", strings.Replace(err.Error(), " accepted: ", "\n  accepted: ", 1))
		return nil
	case err != nil:
		return err
	}
	// The waves and the end answer it.
	_, rest, _ := strings.Cut(text, "\nWAVE ")
	waves, days, _ := strings.Cut(rest, "\n\n")
	say("WAVE %s\n\n%s", waves, strings.TrimSpace(days[strings.LastIndex(days, "\n\n"):]))
	return nil
}
