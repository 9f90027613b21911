// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package env_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNoProcessOutlivesItsWorld(t *testing.T) {
	for name, end := range map[string]func(child *exec.Cmd, stdin io.Closer) error{
		"when it is closed":                 func(_ *exec.Cmd, stdin io.Closer) error { return stdin.Close() },
		"when the program itself is killed": func(child *exec.Cmd, _ io.Closer) error { return child.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childMode+"="+t.TempDir())
			stdin, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			dir, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			dir = strings.TrimSpace(dir)
			if len(processesOf(t, dir)) == 0 {
				t.Fatal("the world runs no process")
			}
			if err := end(child, stdin); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // killed, or not
			deadline := time.Now().Add(settleWithin)
			for len(processesOf(t, dir)) > 0 {
				if time.Now().After(deadline) {
					t.Fatalf("still running: %v", processesOf(t, dir))
				}
			}
		})
	}
}

// processesOf returns the command lines of all processes that name dir.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && bytes.Contains(line, []byte(dir)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}
