// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/windlass-dev/windlass/cmd/windlass/trial"
)

// simulateCommand plays a policy over an inventory.
func simulateCommand() *cobra.Command {
	s := &trial.Simulation{}
	command := &cobra.Command{
		Use:   "simulate -f policy.yaml -f inventory.yaml",
		Short: "Play a policy before it is applied, and print its calendar",
		Long: "simulate carries a RolloutPolicy out in virtual time, with the code that the hub decides with, and prints what\n" +
			"happens on which day, who waits for what, and when it ends. It reads files alone: the policy, and an inventory as\n" +
			"kubectl get mc,wc,cal,fz -n fleet -o yaml prints it. No cluster is read or written.",
		Example: "  windlass simulate -f policy.yaml -f inventory.yaml --from 2026-12-01 --approve\n" +
			"  windlass simulate -f fleet/ --events mishaps.yaml --svg rollout.svg\n" +
			"  windlass simulate -f - -f inventory.yaml --approve --must-succeed < policy.yaml",
		Args: flagsAlone,
		RunE: func(c *cobra.Command, _ []string) error {
			s.Stdin = c.InOrStdin()
			return s.Run(c.OutOrStdout(), time.Now())
		},
	}
	flags := command.Flags()
	commonFlags(flags, &s.Common)
	flags.StringVar(&s.Events, "events", "", "File with what befalls the fleet: silence, failures, approvals")
	flags.StringVar(&s.Until, "until", "", "When to stop at the latest. Default: a year later")
	flags.BoolVar(&s.Approve, "approve", false, "Take approvals as given as soon as they are asked for")
	flags.StringVar(&s.SVG, "svg", "", "Also draw the calendar as a picture, into this file")
	flags.BoolVar(&s.MustSucceed, "must-succeed", false, "Exit with code 2 where the rollout ends otherwise, or not at all")
	flags.BoolVar(&s.Log, "log", false, "Print every change first")
	return command
}

// commonFlags are those of plan and simulate.
func commonFlags(flags *pflag.FlagSet, c *trial.Common) {
	flags.StringSliceVarP(&c.Files, "filename", "f", nil, "File or folder with the policy and the inventory, - for the standard input; may be repeated")
	flags.StringVar(&c.Policy, "policy", "", "Name of the policy, where there are several")
	flags.StringVar(&c.From, "from", "", "When it begins: a date, or an instant in RFC 3339. Default: now")
	flags.StringVar(&c.Zone, "zone", "UTC", "Time zone of dates in flags and of what is printed")
	flags.StringVarP(&c.Output, "output", "o", "text", "Form of what is printed: text, json or yaml")
	flags.StringVar(&c.HubNamespace, "hub-namespace", "windlass-system", "Namespace of the hub, whose Freezes cover every other")
}
