// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/orchestrate"
)

var errDied = errors.New("the process has died")

// simEngine is one life of the engine: what it has seen, what it is to look at, and nothing that outlives it.
type simEngine struct {
	sim      *simulation
	cache    *simCache
	machines *machine.Reconciler
	owners   *orchestrate.Reconciler
	// unseen are changes that its watches have not delivered.
	unseen []simChange
	// queue and due are the requests to reconcile, now and later; a request is a reconcile.Request or an
	// orchestrate.Request.
	queue    []any
	due      []simDue
	failures map[any]int
	// writing names the object of the write at hand.
	writing string
	// dead: nothing that it does has an effect any more.
	dead bool
	// pause is called before each call that it makes past its cache.
	pause func()
}

type simChange struct {
	gvk schema.GroupVersionKind
	key types.NamespacedName
	// object as it is then; nil: gone.
	object *unstructured.Unstructured
}

type simDue struct {
	request any
	at      time.Time
}

// newEngine is a process that starts: it lists everything and looks at all of it.
func (s *simulation) newEngine() *simEngine {
	e := &simEngine{sim: s, cache: newSimCache(), failures: map[any]int{}, pause: func() {}}
	access := simAccess{s.store, e}
	m := member.Member{
		Cache: e.cache, Live: access, Writer: access, Events: simRecorder{e}, Kinds: simKinds, Keys: keys, Clock: s.clock,
	}
	e.machines = &machine.Reconciler{
		Member: m, K8sd: simK8sd{e}, Pace: &machine.Pace{Jitter: func() float64 { return 0 }},
	}
	e.owners = &orchestrate.Reconciler{Member: m, Lock: lock.Lock{Member: m}}
	for _, gvk := range simKinds.All() {
		for _, o := range s.truth.sorted(gvk) {
			e.unseen = append(e.unseen, simChange{gvk, client.ObjectKeyFromObject(o), o})
		}
	}
	e.see(len(e.unseen))
	return e
}

// see lets the watches deliver the first n changes.
func (e *simEngine) see(n int) {
	for _, c := range e.unseen[:n] {
		before := e.cache.objects[c.gvk][c.key]
		e.cache.put(c.gvk, c.key, c.object)
		if o := cmp.Or(c.object, before); o != nil {
			enqueue(e, e.machines.Watches(), c.gvk, before, o)
			enqueue(e, e.owners.Watches(), c.gvk, before, o)
		}
	}
	e.unseen = e.unseen[n:]
}

func enqueue[R comparable](
	e *simEngine, watches []member.Watch[R], gvk schema.GroupVersionKind, before, o *unstructured.Unstructured,
) {
	for _, w := range watches {
		if w.GVK != gvk || before != nil && before != o && w.Matters != nil && !w.Matters(before, o) {
			continue
		}
		for _, r := range w.Requests(context.Background(), o) {
			e.add(r)
		}
	}
}

func (e *simEngine) add(request any) {
	if !slices.Contains(e.queue, request) {
		e.queue = append(e.queue, request)
	}
}

// later adds a request after a while, unless it is due sooner anyway.
func (e *simEngine) later(request any, d time.Duration) {
	at := e.sim.clock.Now().Add(d)
	for i := range e.due {
		if e.due[i].request == request {
			if at.Before(e.due[i].at) {
				e.due[i].at = at
			}
			return
		}
	}
	e.due = append(e.due, simDue{request, at})
}

// ready moves what is due into the queue.
func (e *simEngine) ready() {
	slices.SortStableFunc(e.due, func(a, b simDue) int { return a.at.Compare(b.at) })
	for len(e.due) > 0 && !e.due[0].at.After(e.sim.clock.Now()) {
		e.add(e.due[0].request)
		e.due = e.due[1:]
	}
}

// work reconciles the next request, false when there is none.
func (e *simEngine) work() bool {
	e.ready()
	if len(e.queue) == 0 {
		return false
	}
	request := e.queue[0]
	e.queue = e.queue[1:]
	e.reconcile(request)
	return true
}

func (e *simEngine) reconcile(request any) {
	var result reconcile.Result
	var err error
	switch r := request.(type) {
	case reconcile.Request:
		result, err = e.machines.Reconcile(context.Background(), r)
	case orchestrate.Request:
		result, err = e.owners.Reconcile(context.Background(), r)
	}
	switch {
	case e.dead:
	case err != nil:
		e.later(request, 500*time.Millisecond<<min(e.failures[request], 7))
		e.failures[request]++
	default:
		delete(e.failures, request)
		if result.RequeueAfter > 0 {
			e.later(request, result.RequeueAfter)
		}
	}
}

// point is an instant before or after an effect; true: the process does not live to see it.
func (e *simEngine) point() bool {
	if !e.dead {
		e.pause()
	}
	if !e.dead {
		e.sim.points++
		e.sim.at(e.sim.points, e)
	}
	return e.dead
}

// simAccess is an engine's client: what it reads past its cache, and what it writes.
type simAccess struct {
	client.WithWatch

	engine *simEngine
}

func (a simAccess) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if a.engine.pause(); a.engine.dead {
		return errDied
	}
	return a.WithWatch.Get(ctx, key, o, opts...)
}

func (a simAccess) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if a.engine.pause(); a.engine.dead {
		return errDied
	}
	return a.WithWatch.List(ctx, l, opts...)
}

func (a simAccess) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return a.write(o, func() error { return a.WithWatch.Patch(ctx, o, p, opts...) })
}

func (a simAccess) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return a.write(o, func() error { return a.WithWatch.Create(ctx, o, opts...) })
}

func (a simAccess) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return a.write(o, func() error { return a.WithWatch.Update(ctx, o, opts...) })
}

func (a simAccess) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return a.write(o, func() error { return a.WithWatch.Delete(ctx, o, opts...) })
}

func (a simAccess) write(o client.Object, do func() error) error {
	a.engine.writing = o.GetName()
	if a.engine.point() {
		return errDied
	}
	s := a.engine.sim
	gvk := o.GetObjectKind().GroupVersionKind()
	if gvk.Empty() { // the only typed object that an engine writes
		gvk = simConfigMap
	}
	err := do()
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		s.conflicts++
	case err == nil:
		s.changed(gvk, client.ObjectKeyFromObject(o))
	}
	if a.engine.point() {
		return errDied
	}
	return err
}

// simRecorder keeps the events of an engine.
type simRecorder struct{ engine *simEngine }

func (r simRecorder) Eventf(about, _ runtime.Object, _, reason, action, note string, args ...any) {
	o, ok := about.(client.Object)
	if !ok || r.engine.dead {
		return
	}
	events := r.engine.sim.events
	events[o.GetName()] = append(events[o.GetName()], reason+" "+action+" "+fmt.Sprintf(note, args...))
}
