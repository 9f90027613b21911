// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-dev/windlass/cmd/windlass/form"
	"github.com/windlass-dev/windlass/cmd/windlass/report"
)

// findingError says that a report holds what --fail-on asked about.
type findingError struct{ found []string }

// Error lists the findings.
func (e *findingError) Error() string { return "--fail-on: " + strings.Join(e.found, "; ") }

// statusCommand prints the report once.
func statusCommand(o *options) *cobra.Command {
	var output string
	var failOn []string
	command := &cobra.Command{
		Use:   "status [policy]",
		Short: "Report the fleet, or one policy's part of it",
		Long: "status prints what is done, what is under way, what waits, why, since when and until when.\n" +
			"With a policy it names every cluster and machine of its rollout; without one it sums up all of them.\n" +
			"UNTIL is an instant, or \"act\" where nothing moves until a person acts.",
		Example: "  windlass status\n  windlass status k8s-1-33 -o json\n  windlass status --fail-on=halted,unreachable",
		Args:    onePolicy, ValidArgsFunction: o.complete,
		RunE: func(c *cobra.Command, args []string) error {
			if err := form.Check(output, "table"); err != nil {
				return err
			}
			troubles, err := parseTroubles(failOn)
			if err != nil {
				return err
			}
			r, err := o.report(c, strings.Join(args, ""))
			if err != nil {
				return err
			}
			if err := form.Print(c.OutOrStdout(), output, r, r.Table); err != nil {
				return err
			}
			return findings(r, troubles)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "table", "Form of the report: table, json or yaml")
	command.Flags().StringSliceVar(&failOn, "fail-on", nil,
		"Exit with code 2 where the report holds one of: halted, failed, stalled, unreachable")
	return command
}

// report reads the hub and builds the report of a policy; an empty name stands for all.
func (o *options) report(c *cobra.Command, policy string) (report.Report, error) {
	hub, namespace, err := o.hub()
	if err != nil {
		return report.Report{}, err
	}
	in, err := report.Load(c.Context(), hub, namespace)
	if err != nil {
		return report.Report{}, explain(err)
	}
	in.Policy = policy
	return report.Build(in, time.Now())
}

func parseTroubles(texts []string) ([]report.Trouble, error) {
	var list []report.Trouble
	for _, text := range texts {
		t, err := report.ParseTrouble(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-on: %w", err)
		}
		list = append(list, t)
	}
	return list, nil
}

// findings is nil where a report holds nothing of what is looked for.
func findings(r report.Report, troubles []report.Trouble) error {
	var found []string
	for _, t := range troubles {
		for _, text := range r.Find(t) {
			found = append(found, string(t)+": "+text)
		}
	}
	if found == nil {
		return nil
	}
	return &findingError{found: found}
}
