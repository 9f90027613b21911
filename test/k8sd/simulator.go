// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package k8sd plays the k8sd of many nodes: the two calls of an in-place upgrade over TLS, byte for byte as k8sd
// answers them, with a script for each node and a record of all that was asked.
//
// What a real node does is kept: change ids count up per node, a refresh beside a running one is refused, a target
// that nobody released is refused, and a target that the node has already is no change (an empty change id).
package k8sd

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Nodes is where a refresh becomes visible: the Node objects of the workload clusters.
type Nodes interface {
	// SetVersion writes the Node's kubelet version.
	SetVersion(ctx context.Context, node, version string) error
	// SetReady writes the Node's condition Ready.
	SetReady(ctx context.Context, node string, ready bool) error
}

// Options of a Simulator. The zero value is valid.
type Options struct {
	// Nodes receives what refreshes lead to. Nil: nobody is told.
	Nodes Nodes
	// Clock measures how long refreshes and outages take. Nil: the real one.
	Clock clock.Clock
	// Log receives one line for each write of a Node that failed and is tried again. Nil: discarded.
	Log io.Writer
}

// Post is one refresh that was asked for.
type Post struct {
	Time     time.Time
	Node     string
	Target   string // in the grammar of the annotations, for example channel=1.33-classic/stable
	ChangeID string // empty: no change began
}

// Simulator plays the k8sd of every node that was added. All methods may be called at any time from anywhere.
type Simulator struct {
	opts Options
	cert tls.Certificate

	ctx  func() context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	released map[string]string // target → kubelet version
	standard Step
	nodes    map[string]*node
	posts    []Post
}

// New returns a simulator without nodes, in which every refresh is Done at once.
func New(opts Options) (*Simulator, error) {
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	cert, err := selfSigned()
	if err != nil {
		return nil, fmt.Errorf("making k8sd's certificate: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Simulator{
		opts: opts, cert: cert, stop: stop, ctx: func() context.Context { return ctx },
		released: map[string]string{}, nodes: map[string]*node{},
	}, nil
}

// Close stops all nodes and waits until no refresh is running.
func (s *Simulator) Close() {
	s.stop()
	s.mu.Lock()
	for _, n := range s.nodes {
		n.close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// Release says which kubelet version a node runs after a refresh to target. A target that was not released is refused
// as a node refuses a channel that does not exist. Release again to move a channel.
func (s *Simulator) Release(target, kubeletVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released[target] = kubeletVersion
}

// Default sets what refreshes do when their node's script is empty.
func (s *Simulator) Default(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standard = step
}

// Script sets what the node's next refreshes do, one step each; afterwards the default holds again.
func (s *Simulator) Script(name string, steps ...Step) error {
	return s.with(name, func(n *node) { n.script = steps })
}

// Fail makes the next count calls of any kind to the node end in f.
func (s *Simulator) Fail(name string, f Fault, count int) error {
	return s.with(name, func(n *node) { n.fault, n.faults, n.faultsEnd = f, count, time.Time{} })
}

// FailFor makes all calls to the node end in f for d from now.
func (s *Simulator) FailFor(name string, f Fault, d time.Duration) error {
	return s.with(name, func(n *node) { n.failUntil(f, s.opts.Clock.Now().Add(d)) })
}

// Refreshes counts the refreshes of the node that reached its snap command, those that it refused included.
func (s *Simulator) Refreshes(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, p := range s.posts {
		if p.Node == name {
			count++
		}
	}
	return count
}

// Log returns all refreshes that reached a snap command, oldest first.
func (s *Simulator) Log() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Post(nil), s.posts...)
}

// Version returns the kubelet version that the node has installed, empty for an unknown node.
func (s *Simulator) Version(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[name]; n != nil {
		return n.version
	}
	return ""
}

// Addr returns where the node's k8sd listens, nil for an unknown node.
func (s *Simulator) Addr(name string) net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[name]; n != nil {
		return n.listener.Addr()
	}
	return nil
}

func (s *Simulator) with(name string, change func(*node)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[name]
	if n == nil {
		return fmt.Errorf("no node %q in the simulator", name)
	}
	change(n)
	return nil
}
