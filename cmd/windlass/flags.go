// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/windlass-dev/windlass/cmd/windlass/spelling"
)

// explainFlag says of a flag that cannot be read what would be accepted.
func explainFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool":
		return fmt.Errorf("--%s %q is neither true nor false; accepted: --%[1]s", invalid.GetFlag().Name, invalid.GetValue())
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		meant := ""
		if nearest := spelling.Nearest(unknown.GetSpecifiedName(), names); nearest != "" {
			meant = "did you mean --" + nearest + "? "
		}
		return fmt.Errorf("%w; %saccepted: those that %s --help lists", err, meant, c.CommandPath())
	}
	return fmt.Errorf("%w; accepted: what %s --help says", err, c.CommandPath())
}

// onePolicy accepts no name or one.
func onePolicy(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%d policies are named (%s); accepted: one, or none for all", len(args), strings.Join(args, ", "))
	}
	return nil
}

// flagsAlone accepts no argument.
func flagsAlone(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	accepted := "flags alone"
	if f := c.Flags().Lookup("filename"); f != nil {
		accepted = "-f " + args[0]
	}
	return fmt.Errorf("%s takes no argument such as %q; accepted: %s", c.CommandPath(), args[0], accepted)
}

// topic accepts the name of a command.
func topic(c *cobra.Command, args []string) error {
	_, _, err := c.Root().Find(args)
	return err
}
