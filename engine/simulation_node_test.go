// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	// simRefresh is how long a refresh takes, simBlip how long its node is not ready afterwards.
	simRefresh = 20 * time.Second
	simBlip    = 3 * time.Second
)

// simOutcome is what comes of one refresh.
type simOutcome int

const (
	// succeeds after simRefresh.
	succeeds simOutcome = iota
	// fails after simRefresh.
	fails
	// failsAtOnce without taking any time.
	failsAtOnce
	// refused by k8sd; no change begins.
	refused
	// losesAnswer: the refresh succeeds, and its answer does not arrive.
	losesAnswer
	// forgotten: the refresh succeeds, and snapd does not know its change.
	forgotten
)

// simNode is the k8sd and the Node of a machine.
type simNode struct {
	sim          *simulation
	name         string
	controlPlane bool
	version      string
	ready        bool
	// outcomes of the next refreshes, the last one for ever; none: they succeed.
	outcomes []simOutcome
	changes  []*simSnapChange
	// posts are the refreshes that arrived.
	posts []time.Time
}

type simSnapChange struct {
	status    k8sd.Status
	forgotten bool
}

// running reports whether a change is in flight.
func (n *simNode) running() bool {
	return len(n.changes) > 0 && !n.changes[len(n.changes)-1].status.Completed
}

// refresh is a refresh that arrives; the second value reports whether its answer arrives too.
func (n *simNode) refresh() (string, bool, error) {
	s := n.sim
	n.posts = append(n.posts, s.clock.Now())
	if n.running() {
		s.breaks("machine %s is refreshed while a refresh of it is running", n.name)
	}
	s.checkPost(n)
	outcome := succeeds
	if len(n.outcomes) > 0 {
		outcome = n.outcomes[min(len(n.posts), len(n.outcomes))-1]
	}
	switch {
	case outcome == refused:
		return "", true, &k8sd.Error{Class: k8sd.Rejected, Err: errors.New("the snap command failed")}
	case n.version == version:
		return "", true, nil // snapd has nothing to do
	}
	c := &simSnapChange{status: k8sd.Status{Status: "Doing"}, forgotten: outcome == forgotten}
	n.changes = append(n.changes, c)
	switch outcome {
	case fails, failsAtOnce:
		end := func() {
			c.status = k8sd.Status{Status: k8sd.StatusError, Completed: true, ErrorMessage: "no space left"}
		}
		if outcome == failsAtOnce {
			end()
		} else {
			s.after(simRefresh, end)
		}
	default:
		s.after(simRefresh, func() { n.refreshed(c) })
	}
	s.check()
	return strconv.Itoa(len(n.changes)), outcome != losesAnswer, nil
}

// refreshed ends a refresh well: the node restarts with its new version.
func (n *simNode) refreshed(c *simSnapChange) {
	c.status = k8sd.Status{Status: k8sd.StatusDone, Completed: true}
	n.version, n.ready = version, false
	n.show()
	n.sim.after(simBlip, func() { n.ready = true; n.show() })
}

// show lets Cluster API copy the node to its Machine and count the ready ones.
func (n *simNode) show() {
	s := n.sim
	s.after(s.lag, func() {
		if s.nodes[n.name] != n {
			return
		}
		s.change(simKinds.Machine, n.name, n.shown)
		s.countReady()
	})
}

func (n *simNode) shown(o *unstructured.Unstructured) {
	status := "False"
	if n.ready {
		status = "True"
	}
	o.Object["status"] = map[string]any{
		"nodeRef":  map[string]any{"name": "node-" + n.name},
		"nodeInfo": map[string]any{"kubeletVersion": n.version},
		"conditions": []any{
			map[string]any{"type": "NodeReady", "status": status}, map[string]any{"type": "NodeHealthy", "status": status},
		},
	}
}

// countReady writes the control plane's counts from what its machines show.
func (s *simulation) countReady() {
	ready, all := int64(0), int64(0)
	for _, m := range s.machines() {
		if m.ControlPlane {
			all++
			if m.NodeReady == capi.True {
				ready++
			}
		}
	}
	cp := s.get(simKindOf("cp"), "cp")
	was, _, _ := unstructured.NestedInt64(cp.Object, "status", "readyReplicas")
	existed, _, _ := unstructured.NestedInt64(cp.Object, "status", "replicas")
	if was == ready && existed == all || len(s.nodes) == 0 {
		return
	}
	s.change(simKindOf("cp"), "cp", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"replicas": all, "readyReplicas": ready}
	})
}

// simK8sd is an engine's way to the nodes.
type simK8sd struct{ engine *simEngine }

// simCall is how long a call to k8sd may take: after it nothing is sent any more.
const simCall = time.Minute

func (k simK8sd) Refresh(_ context.Context, node k8sd.Node, t protocol.Target) (string, error) {
	e := k.engine
	lost := &k8sd.Error{Class: k8sd.Unknown, Err: errDied}
	began := e.sim.clock.Now()
	if e.point() {
		return "", lost
	}
	if e.sim.clock.Since(began) > simCall {
		return "", &k8sd.Error{Class: k8sd.NotSent, Err: context.DeadlineExceeded}
	}
	n, found := e.sim.nodes[node.Machine]
	if !found {
		return "", &k8sd.Error{Class: k8sd.NotSent, Err: errors.New("no such node")}
	}
	if t.String() != target {
		e.sim.breaks("machine %s is refreshed to %s", n.name, t)
	}
	id, arrives, err := n.refresh()
	if e.point() || !arrives {
		return "", lost
	}
	return id, err
}

func (k simK8sd) RefreshStatus(_ context.Context, node k8sd.Node, id string) (k8sd.Status, error) {
	k.engine.pause()
	n, found := k.engine.sim.nodes[node.Machine]
	if k.engine.dead || !found || n.version == version && !n.ready {
		return k8sd.Status{}, &k8sd.Error{Class: k8sd.Unknown, Err: errors.New("k8sd is starting")}
	}
	for i, c := range n.changes {
		if strconv.Itoa(i+1) == id && !c.forgotten {
			return c.status, nil
		}
	}
	return k8sd.Status{}, nil
}

func (s *simulation) breaks(format string, args ...any) {
	s.broken = append(s.broken, s.clock.Now().Format(time.TimeOnly)+" "+fmt.Sprintf(format, args...))
}

// check holds the engines to what must be so at every instant.
func (s *simulation) check() {
	running, busy := map[bool]int{}, map[bool]int{}
	for _, n := range s.nodes {
		if n.running() {
			running[n.controlPlane]++
		}
	}
	holder := s.lockHolder()
	for _, m := range s.parsed {
		if member.Busy(m) {
			busy[m.ControlPlane]++
		}
		if m.ControlPlane && keys.Read(m.Annotations).HasTo && holder != m.Name && !s.onlyControlPlane {
			s.breaks("machine %s is asked to upgrade and the lock is held by %q", m.Name, holder)
		}
	}
	if running[true] > 1 {
		s.breaks("%d control plane machines are refreshed at once", running[true])
	}
	if busy[true] > 1 {
		s.breaks("%d control plane machines are at work", busy[true])
	}
	if s.onlyControlPlane {
		return
	}
	if running[false] > simAtOnce || busy[false] > simAtOnce {
		s.breaks("%d workers are refreshed, %d at work", running[false], busy[false])
	}
}

// checkPost holds a refresh that arrives to what must be so then.
func (s *simulation) checkPost(n *simNode) {
	for _, other := range s.nodes {
		if n.controlPlane && other.controlPlane && other != n && (!other.ready || other.running()) {
			s.breaks("machine %s is refreshed while %s is not ready", n.name, other.name)
		}
	}
}

// machines are all machines, as they are, by name.
func (s *simulation) machines() []capi.Machine {
	return slices.SortedFunc(maps.Values(s.parsed), func(a, b capi.Machine) int { return strings.Compare(a.Name, b.Name) })
}
