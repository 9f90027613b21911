// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command summary runs go test and says what ran: a line for each package as it ends, the output of what failed, and the
// totals. A test that was skipped fails the run: it claims what nobody saw.
//
// Its arguments are those of go test, packages last, and before them -alone <pattern>: packages of that pattern, which
// start API servers and controllers of their own, are tested after all others and one at a time, so that they do not
// starve each other.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	alone := flag.String("alone", "", "pattern of the packages to test last and one at a time")
	timeout := flag.Duration("timeout", 0, "as of go test")
	flag.Parse()
	if err := run(*alone, []string{"-timeout", timeout.String()}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(alone string, flags, patterns []string) error {
	together, err := list(patterns)
	if err != nil {
		return err
	}
	var last []string
	if alone != "" {
		if last, err = list([]string{alone}); err != nil {
			return err
		}
		together = slices.DeleteFunc(together, func(p string) bool { return slices.Contains(last, p) })
	}
	s := newSummary(os.Stdout)
	return errors.Join(s.test(flags, together), s.test(append([]string{"-p", "1"}, flags...), last), s.totals())
}

// list names the packages of patterns.
func list(patterns []string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"list"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// test runs go test on packages and reads what it says.
func (s *summary) test(flags, packages []string) error {
	if len(packages) == 0 {
		return nil
	}
	cmd := exec.Command("go", slices.Concat([]string{"test", "-json"}, flags, packages)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := s.read(events); err != nil {
		return fmt.Errorf("reading go test's events: %w", err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}
