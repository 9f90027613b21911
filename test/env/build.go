// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// sayEvery is how often a build says how far it is.
const sayEvery = 5 * time.Second

// Recipe is how one program is built from a nested module of the repository.
type Recipe struct {
	// Name of the program's file.
	Name string
	// Package to build, as the go command names it in that module.
	Package string
	// Flags of go build, beside those that every program gets.
	Flags []string
	// Usual says how long it takes with nothing compiled before.
	Usual string
}

func recipes() []Recipe {
	const version = "-X k8s.io/component-base/version.git"
	minor := strings.Split(strings.TrimPrefix(KubernetesVersion, "v"), ".")
	return []Recipe{
		{Name: "etcd", Package: "./etcd", Flags: []string{"-ldflags", "-s -w"}, Usual: "1 to 3 minutes"},
		{
			Name: "kube-apiserver", Package: "k8s.io/kubernetes/cmd/kube-apiserver", Usual: "5 to 12 minutes",
			// Cluster API reads the version; a plain build calls itself v0.0.0-master.
			Flags: []string{"-ldflags", fmt.Sprintf("-s -w %[1]sVersion=%[2]s %[1]sMajor=%[3]s %[1]sMinor=%[4]s",
				version, KubernetesVersion, minor[0], minor[1])},
		},
	}
}

func buildBinaries(ctx context.Context, root, dir string, log io.Writer) error {
	return Build(ctx, filepath.Join(root, "test", "binaries"), dir, log, recipes()...)
}

// Build builds the programs that dir lacks, from the module in a folder of that name. Only one process builds into dir
// at a time; the others wait and find the result. Progress goes to log.
func Build(ctx context.Context, module, dir string, log io.Writer, programs ...Recipe) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unlock, err := lockFile(ctx, filepath.Join(dir, ".lock"), func() {
		say(log, "another process is building %s; waiting for it", dir)
	})
	if err != nil {
		return err
	}
	defer unlock()
	for _, r := range programs {
		target := filepath.Join(dir, r.Name)
		if _, err := os.Stat(target); err == nil {
			continue
		}
		if err := r.build(ctx, module, target, log); err != nil {
			return fmt.Errorf("building %s: %w", r.Name, err)
		}
	}
	return nil
}

// build compiles beside target and renames, so that target is never half written.
func (r Recipe) build(ctx context.Context, module, target string, log io.Writer) error {
	start := time.Now()
	say(log, "building %s into %s, once: usually %s on two cores", r.Name, filepath.Dir(target), r.Usual)
	p := &progress{name: r.Name, log: log, start: start, said: start}
	list := goCommand(ctx, module, "list", "-deps", r.Package)
	packages, err := p.run(list)
	if err != nil {
		return err
	}
	p.total = bytes.Count(packages, []byte("\n"))
	partial := fmt.Sprintf("%s.%d.partial", target, os.Getpid())
	defer func() { _ = os.Remove(partial) }() // gone already after success
	args := append([]string{"build", "-v", "-trimpath", "-o", partial}, r.Flags...)
	if _, err := p.run(goCommand(ctx, module, append(args, r.Package)...)); err != nil {
		return err
	}
	if err := os.Rename(partial, target); err != nil {
		return err
	}
	say(log, "built %s in %s: %d of %d packages compiled, the others were cached",
		r.Name, time.Since(start).Round(time.Second), p.compiled, p.total)
	return nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	return cmd
}

// progress reads what the go command says: a line for each module it downloads and each package it compiles.
type progress struct {
	name        string
	log         io.Writer
	start, said time.Time

	total      int
	downloaded int
	compiled   int
	rest       []string // anything else: the reason of a failure
}

func (p *progress) run(cmd *exec.Cmd) (stdout []byte, err error) {
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.line(lines.Text(), time.Now())
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[:2], " "), err, strings.Join(p.rest, "\n"))
	}
	return out.Bytes(), nil
}

func (p *progress) line(line string, now time.Time) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		p.downloaded++
	case strings.ContainsAny(line, " :"):
		p.rest = append(p.rest, line)
	default:
		p.compiled++
	}
	if now.Sub(p.said) < sayEvery {
		return
	}
	p.said = now
	elapsed := now.Sub(p.start).Round(time.Second)
	if p.compiled == 0 {
		say(p.log, "  %s: %d modules downloaded, %s", p.name, p.downloaded, elapsed)
		return
	}
	say(p.log, "  %s: %d of at most %d packages compiled, %s", p.name, p.compiled, p.total, elapsed)
}

func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...) // a log that cannot be written stops nothing
}
