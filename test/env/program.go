// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Program is a running program of this module. It dies with this process at the latest.
type Program struct {
	process *process
}

// Build compiles a command of this module (cmd/<name>) into the repository's bin folder and returns its path.
func (w *World) Build(ctx context.Context, name string) (string, error) {
	path := filepath.Join(w.root, "bin", name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/"+name)
	cmd.Dir = w.root
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	_, _ = fmt.Fprintf(w.opts.Log, "built %s in %s\n", name, time.Since(begin).Round(100*time.Millisecond))
	return path, nil
}

// Root is the folder of the repository.
func (w *World) Root() string { return w.root }

// Run starts a program; what it says goes to <name>.log in World.Dir, after what an earlier run of that name said.
func (w *World) Run(name, path string, args ...string) (*Program, error) {
	p, err := start(name, filepath.Join(w.dir, name+".log"), append([]string{path}, args...)...)
	if err != nil {
		return nil, err
	}
	w.onClose(func() error { p.kill(); return nil })
	return &Program{process: p}, nil
}

// Kill ends the program at once, as a crash does, and waits for its end.
func (p *Program) Kill() { p.process.kill() }

// Stop asks the program to end and waits for it until ctx ends.
func (p *Program) Stop(ctx context.Context) error {
	if err := p.process.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.process.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s does not end: %w", p.process.name, ctx.Err())
	}
}

// Ended reports why the program ended, nil while it runs.
func (p *Program) Ended() error {
	select {
	case <-p.process.done:
		return p.process.obituary()
	default:
		return nil
	}
}
