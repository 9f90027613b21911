// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// writeAgain is how long a Node that could not be written is left alone.
const writeAgain = 200 * time.Millisecond

// run carries one change to its end: the Node runs the new version, then the change is ready, then what follows.
func (s *Simulator) run(n *node, id string, step Step, version string, taken clock.Timer) {
	if !s.wait(taken) || !s.pass(step.opened) {
		return
	}
	if step.succeeds() && step.lag == 0 && !s.install(n, version, step.blip > 0) {
		return
	}
	s.end(n, id, step)
	if !step.succeeds() {
		return
	}
	if step.lag > 0 && !(s.wait(s.timer(step.lag)) && s.install(n, version, step.blip > 0)) {
		return
	}
	if step.blip > 0 && s.wait(s.timer(step.blip)) {
		s.write(func(ctx context.Context, nodes Nodes) error { return nodes.SetReady(ctx, n.name, true) })
	}
}

func (s *Simulator) install(n *node, version string, blip bool) bool {
	s.mu.Lock()
	n.version = version
	s.mu.Unlock()
	if blip && !s.write(func(ctx context.Context, nodes Nodes) error { return nodes.SetReady(ctx, n.name, false) }) {
		return false
	}
	return s.write(func(ctx context.Context, nodes Nodes) error { return nodes.SetVersion(ctx, n.name, version) })
}

func (s *Simulator) end(n *node, id string, step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := n.changes[id]
	c.status, c.message, c.ready = step.status(), step.message, true
	if step.outage > 0 {
		n.failUntil(Unavailable(), s.opts.Clock.Now().Add(step.outage))
	}
}

// write repeats one write of a Node until it succeeds, as a kubelet does. False: the simulator was closed.
func (s *Simulator) write(do func(context.Context, Nodes) error) bool {
	if s.opts.Nodes == nil {
		return true
	}
	for {
		err := do(s.ctx(), s.opts.Nodes)
		if err == nil {
			return true
		}
		if s.ctx().Err() != nil {
			return false
		}
		_, _ = fmt.Fprintf(s.opts.Log, "k8sd simulator: writing a Node: %v\n", err)
		if !s.wait(s.timer(writeAgain)) {
			return false
		}
	}
}

// timer rings on the simulator's clock after d; nil for none.
func (s *Simulator) timer(d time.Duration) clock.Timer {
	if d <= 0 {
		return nil
	}
	return s.opts.Clock.NewTimer(d)
}

// wait waits for a timer of ours. False: the simulator was closed meanwhile.
func (s *Simulator) wait(t clock.Timer) bool {
	if t == nil {
		return s.ctx().Err() == nil
	}
	defer t.Stop()
	select {
	case <-t.C():
		return true
	case <-s.ctx().Done():
		return false
	}
}

// pass waits for a gate to be opened; there may be none. False: the simulator was closed meanwhile.
func (s *Simulator) pass(gate <-chan struct{}) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-s.ctx().Done():
		return false
	}
}
