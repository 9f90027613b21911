// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	simOld = "v1.33.4"
	// simAtOnce is how many workers may be upgraded at once.
	simAtOnce = 2
	// simSteps bounds a run: a world that needs more never settles.
	simSteps = 20_000
)

var (
	simStart = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	simPlan  = protocol.Plan{
		ExpectedVersion: version, MaxConcurrentMachines: simAtOnce, AllowSingleControlPlane: true,
	}.Format()
	simKinds = capi.Kinds{
		Cluster: simCore("Cluster"), Machine: simCore("Machine"), MachineSet: simCore("MachineSet"),
		MachineDeployment: simCore("MachineDeployment"),
		ControlPlanes: []schema.GroupVersionKind{
			{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "CK8sControlPlane"},
		},
	}
	simConfigMap = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// failer is what a test and a property have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// simulation is a management cluster in virtual time: a control plane cp and a pool a of cluster eu, their nodes, and
// the engines that work there. Nothing in it runs by itself: run and the rivals' scheduler say what is next.
type simulation struct {
	t     failer
	clock *clocktesting.FakeClock
	store client.WithWatch
	// truth is what the store holds, and parsed its machines.
	truth   *simCache
	parsed  map[string]capi.Machine
	nodes   map[string]*simNode
	timers  []simTimer
	engines []*simEngine
	// lag is how long a node needs to show on its Machine what it is.
	lag time.Duration
	// points counts the instants just before and just after each write and each refresh of an engine.
	points int
	// at is asked at each point.
	at func(point int, e *simEngine)
	// events are the events of engines by the name of what they are about.
	events map[string][]string
	// broken are the invariants that did not hold, in the order of time.
	broken []string
	// conflicts counts writes that were refused since the object had changed.
	conflicts int
	// onlyControlPlane: the engines are not held to a pool's limit, nor to the lock.
	onlyControlPlane bool
}

type simTimer struct {
	at time.Time
	do func()
}

func newSimulation(t failer, controlPlanes, workers int64) *simulation {
	t.Helper()
	s := &simulation{
		t: t, clock: clocktesting.NewFakeClock(simStart), truth: newSimCache(), parsed: map[string]capi.Machine{}, nodes: map[string]*simNode{},
		lag: time.Second, at: func(int, *simEngine) {}, events: map[string][]string{},
	}
	known := simScheme()
	s.store = fake.NewClientBuilder().WithScheme(known).WithObjectTracker(
		clienttesting.NewObjectTracker(known, serializer.NewCodecFactory(known).UniversalDecoder()), // without managed fields
	).Build()
	cluster := simObject(simKinds.Cluster, "eu")
	cluster.Object["spec"] = map[string]any{"controlPlaneRef": map[string]any{
		"apiGroup": simKinds.ControlPlanes[0].Group, "kind": simKinds.ControlPlanes[0].Kind, "name": "cp",
	}}
	s.create(cluster)
	s.create(simOwner(simKinds.ControlPlanes[0], "cp", controlPlanes))
	s.create(simOwner(simKinds.MachineDeployment, "a", workers))
	set := simOwner(simKinds.MachineSet, "a-set", workers)
	set.SetLabels(map[string]string{capi.ClusterNameLabel: "eu", capi.DeploymentNameLabel: "a"})
	s.create(set)
	for i := range controlPlanes {
		s.join(fmt.Sprintf("cp-%d", i))
	}
	for i := range workers {
		s.join(fmt.Sprintf("a-%d", i))
	}
	return s
}

// changed takes note of an object that was written, and tells every engine's watch.
func (s *simulation) changed(gvk schema.GroupVersionKind, key types.NamespacedName) {
	o := capi.Object(gvk)
	if err := s.store.Get(context.Background(), key, o); err != nil {
		if client.IgnoreNotFound(err) != nil {
			s.t.Fatalf("reading %s: %v", key, err)
		}
		o = nil
	}
	s.truth.put(gvk, key, o)
	if gvk == simKinds.Machine {
		delete(s.parsed, key.Name)
		if o != nil {
			s.parsed[key.Name] = capi.ParseMachine(o)
		}
	}
	if gvk != simConfigMap {
		for _, e := range s.engines {
			e.unseen = append(e.unseen, simChange{gvk, key, o})
		}
	}
	s.check()
}

// after lets something happen later.
func (s *simulation) after(d time.Duration, do func()) {
	s.timers = append(s.timers, simTimer{s.clock.Now().Add(d), do})
}

// fire does what is due.
func (s *simulation) fire() {
	for {
		due := slices.IndexFunc(s.timers, func(t simTimer) bool { return !t.at.After(s.clock.Now()) })
		if due < 0 {
			return
		}
		do := s.timers[due].do
		s.timers = slices.Delete(s.timers, due, due+1)
		do()
	}
}

// advance moves the clock to the next instant at which something is due, false when there is none before until.
func (s *simulation) advance(until time.Time) bool {
	var next time.Time
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for _, t := range s.timers {
		sooner(t.at)
	}
	for _, e := range s.engines {
		for _, d := range e.due {
			sooner(d.at)
		}
	}
	if next.IsZero() || next.After(until) {
		return false
	}
	if next.After(s.clock.Now()) {
		s.clock.SetTime(next)
	}
	s.fire()
	return true
}

// run lets every engine work until nothing is left to do, or for a span of virtual time. A dead engine starts anew.
func (s *simulation) run(span time.Duration) {
	s.t.Helper()
	until := s.clock.Now().Add(span)
	for range simSteps {
		busy := false
		for i, e := range s.engines {
			if e.dead {
				s.engines[i] = s.newEngine()
				e = s.engines[i]
			}
			e.see(len(e.unseen))
			busy = e.work() || busy
		}
		if !busy && !s.advance(until) {
			return
		}
	}
	s.t.Fatalf("the world never settles; broken: %v", s.broken)
}

// start adds an engine.
func (s *simulation) start() *simEngine {
	e := s.newEngine()
	s.engines = append(s.engines, e)
	return e
}

// lockHolder names the machine that holds the lock.
func (s *simulation) lockHolder() string {
	o, found := s.truth.objects[simConfigMap][simKey(protocol.LockName("eu"))]
	if !found {
		return ""
	}
	text, _, _ := unstructured.NestedString(o.Object, "data", protocol.LockDataKey)
	r, err := protocol.ParseLock(text)
	if err != nil {
		s.t.Fatalf("the lock: %v", err)
	}
	return r.MachineName
}
