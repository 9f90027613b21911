// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one child, which dies with this process at the latest.
type process struct {
	name string
	log  string // file that holds what it says
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start runs a program until it ends or kill is called. What it says goes to the file log.
func start(name, log string, command ...string) (*process, error) {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, log: log, cmd: exec.Command(command[0], command[1:]...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = f, f
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// The parent's death signal is bound to the thread that started the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		defer func() { _ = f.Close() }()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // killed or crashed: the log says why
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// kill ends the process and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // gone already
	<-p.done
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("sending %s to %s: %w", s, p.name, err)
	}
	return nil
}

// errPortTaken says that somebody took the port between its choice and its use.
var errPortTaken = errors.New("port already in use")

// waitFor asks ready until it is nil. It ends early when the process has ended.
func (p *process) waitFor(ctx context.Context, ready func(context.Context) error) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-p.done:
			return p.obituary()
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w); its log is %s; last answer: %w", p.name, ctx.Err(), p.log, err)
		}
	}
}

// obituary is why the process ended, from the end of its log.
func (p *process) obituary() error {
	said, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	if bytes.Contains(said, []byte("address already in use")) {
		return fmt.Errorf("%s: %w", p.name, errPortTaken)
	}
	const most = 2000
	if len(said) > most {
		said = said[len(said)-most:]
	}
	return fmt.Errorf("%s ended: %s; the end of its log %s:\n%s", p.name, p.cmd.ProcessState, p.log, said)
}

// onFreePorts calls try with n ports that were free just now, and again with others while try finds one taken.
func onFreePorts(n int, try func(ports []int) error) error {
	const attempts = 5
	var err error
	for range attempts {
		ports, listenErr := freePorts(n)
		if listenErr != nil {
			return listenErr
		}
		if err = try(ports); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // not before all are chosen, else one comes twice
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
