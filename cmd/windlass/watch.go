// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-dev/windlass/cmd/windlass/live"
)

// watchCommand shows a rollout as it goes.
func watchCommand(o *options) *cobra.Command {
	var untilDone, plain bool
	command := &cobra.Command{
		Use:   "watch [policy]",
		Short: "Show a rollout as it goes",
		Long: "watch follows the hub by watch events: progress bars on a terminal, elsewhere one line per change with\n" +
			"time, wave, cluster, phase and why. It ends with Ctrl-C or, with --until-done, when the rollouts end;\n" +
			"then it prints the report, and exits with code 2 where one did not succeed.",
		Example: "  windlass watch k8s-1-33\n  windlass watch k8s-1-33 --until-done | tee rollout.log",
		Args:    onePolicy, ValidArgsFunction: o.complete,
		RunE: func(c *cobra.Command, args []string) error {
			hub, namespace, err := o.hub()
			if err != nil {
				return err
			}
			return explain(live.Watch(c.Context(), hub, live.Options{
				Namespace: namespace, Policy: strings.Join(args, ""), Out: c.OutOrStdout(), UntilDone: untilDone,
				Terminal: !plain && terminal(c.OutOrStdout()),
			}))
		},
	}
	command.Flags().BoolVar(&untilDone, "until-done", false, "End when every rollout watched has ended or is Halted")
	command.Flags().BoolVar(&plain, "plain", false, "Print one line per change also on a terminal")
	return command
}
