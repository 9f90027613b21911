// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command summary runs go test with its arguments and says what ran: a line for each package as it ends, the output of
// what failed, and the totals. A test that was skipped fails the run: it claims what nobody saw.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s := newSummary(os.Stdout)
	if err := s.read(events); err != nil {
		return fmt.Errorf("reading go test's events: %w", err)
	}
	failed := cmd.Wait()
	if failed != nil {
		failed = fmt.Errorf("go test: %w", failed)
	}
	return errors.Join(failed, s.totals())
}
