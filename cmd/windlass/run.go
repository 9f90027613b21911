// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-dev/windlass/cmd/windlass/live"
	"github.com/windlass-dev/windlass/cmd/windlass/trial"
)

// Exit codes.
const (
	exitOK = 0
	// exitError: the command could not be carried out.
	exitError = 1
	// exitFinding: it was, and found what --fail-on, --until-done or --must-succeed asked about.
	exitFinding = 2
)

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	// Libraries log on their own; the errors they return are told below.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	command := root(filepath.Base(args[0]))
	command.SetArgs(args[1:])
	command.SetOut(out)
	command.SetErr(errs)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	// Nothing is left to do where the error stream itself is gone.
	_, _ = fmt.Fprintln(errs, "Error: "+err.Error())
	var found *findingError
	var ended *live.EndedError
	var unsuccessful *trial.UnsuccessfulError
	if errors.As(err, &found) || errors.As(err, &ended) || errors.As(err, &unsuccessful) {
		return exitFinding
	}
	return exitError
}

// root is the command and all below it. Called as a plugin it names itself as kubectl does.
func root(name string) *cobra.Command {
	o := newOptions()
	command := &cobra.Command{
		Use:   "windlass",
		Short: "See what Windlass does to a fleet of clusters, and what it would do",
		Long: "windlass shows what is upgraded, what waits, why and until when (status, watch), and what a policy would do\n" +
			"before it is applied (plan, simulate). It reads the hub's API and files, and changes nothing.",
		SilenceUsage: true, SilenceErrors: true,
	}
	if plugin, is := strings.CutPrefix(name, "kubectl-"); is {
		command.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl " + plugin}
	}
	o.addFlags(command.PersistentFlags())
	command.SetFlagErrorFunc(explainFlag)
	command.AddCommand(statusCommand(o), watchCommand(o), planCommand(o), simulateCommand(), versionCommand())
	command.InitDefaultHelpCmd()
	if help, _, err := command.Find([]string{"help"}); err == nil {
		help.Args = topic
	}
	return command
}
