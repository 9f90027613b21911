// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	"github.com/windlass-dev/windlass/cmd/windlass/rehearse"
)

// simulation are the flags of simulate.
type simulation struct {
	files                     []string
	policy, events            string
	from, until, zone, output string
	svg                       string
	log                       bool
}

// simulateCommand plays a policy over an inventory.
func simulateCommand() *cobra.Command {
	s := &simulation{}
	command := &cobra.Command{
		Use:   "simulate -f policy.yaml -f inventory.yaml",
		Short: "See what a policy would do, before it is applied",
		Long: "simulate carries a RolloutPolicy out in virtual time, with the code that the hub decides with, and prints the\n" +
			"calendar of the rollout. It reads files alone: the policy, and an inventory as\n" +
			"kubectl get mc,wc,cal,fz -n fleet -o yaml prints it. Nothing is written to a cluster.",
		Example: "  windlass simulate -f policy.yaml -f inventory.yaml --from 2026-12-01\n" +
			"  windlass simulate -f fleet/ --events mishaps.yaml --svg rollout.svg",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c.OutOrStdout(), time.Now()) },
	}
	flags := command.Flags()
	flags.StringSliceVarP(&s.files, "filename", "f", nil, "File or folder with the policy and the inventory; may be repeated")
	flags.StringVar(&s.policy, "policy", "", "Name of the policy, where the files hold several")
	flags.StringVar(&s.events, "events", "", "File with what befalls the fleet: silence, failures, approvals …")
	flags.StringVar(&s.from, "from", "", "When it begins: a date, or an instant in RFC 3339. Default: now")
	flags.StringVar(&s.until, "until", "", "When to stop at the latest. Default: a year later")
	flags.StringVar(&s.zone, "zone", "UTC", "Time zone of the dates in flags and of what is printed")
	flags.StringVarP(&s.output, "output", "o", "text", "Form of the calendar: text, json or yaml")
	flags.StringVar(&s.svg, "svg", "", "Also draw the calendar as a picture, into this file")
	flags.BoolVar(&s.log, "log", false, "Print every decision, too")
	return command
}

func (s *simulation) run(out io.Writer, now time.Time) error {
	if len(s.files) == 0 {
		return fmt.Errorf("--filename: no file is given; accepted: -f policy.yaml -f inventory.yaml")
	}
	zone, err := time.LoadLocation(s.zone)
	if err != nil || s.zone == "" || s.zone == "Local" {
		return fmt.Errorf("--zone %q is not a time zone; accepted: a region such as Europe/Berlin, or UTC", s.zone)
	}
	from, err := instantOf("--from", s.from, zone, now)
	if err != nil {
		return err
	}
	until, err := instantOf("--until", s.until, zone, time.Time{})
	if err != nil {
		return err
	}
	objects, err := files.Read(s.files...)
	if err != nil {
		return err
	}
	r, err := rehearse.New(objects, s.policy, from)
	if err != nil {
		return err
	}
	return s.play(out, r, rehearse.Play{From: from, Until: until, Zone: zone})
}

// play carries it out and prints it.
func (s *simulation) play(out io.Writer, r *rehearse.Rehearsal, p rehearse.Play) error {
	if s.events != "" {
		script, err := r.Script(s.events)
		if err != nil {
			return err
		}
		p.Script = script
	}
	result := r.Run(p)
	if s.log {
		for _, e := range result.Log {
			if _, err := fmt.Fprintf(out, "%s  %s\n", e.At.In(p.Zone).Format("2006-01-02 15:04"), e.Text); err != nil {
				return err
			}
		}
	}
	if s.svg != "" {
		file, err := os.Create(s.svg)
		if err != nil {
			return err
		}
		if err := r.Chart(result, p.From, p.Zone).SVG(file); err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return s.print(out, r.Outlook(result, p.From, p.Zone), p.Zone)
}

func (s *simulation) print(out io.Writer, o rehearse.Outlook, zone *time.Location) error {
	switch s.output {
	case "text":
		return o.Text(out, zone)
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(o)
	case "yaml":
		text, err := yaml.Marshal(o)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	return fmt.Errorf("--output %q is not known; accepted: text, json, yaml", s.output)
}

// instantOf reads a date or an instant; an empty text stands for the default.
func instantOf(flag, text string, zone *time.Location, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s %q is neither a date nor an instant; accepted: 2026-12-01, 2026-12-01T02:00:00Z", flag, text)
}
