// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	target     = "channel=1.34-classic/stable"
	oldVersion = "v1.33.4"
	newVersion = "v1.34.1"
	plan       = `{"expectedVersion":"v1.34","timeout":"30m","maxAttempts":3,"backoff":"1m"}`
)

var (
	start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	keys  = protocol.KeysFor(protocol.ProviderPrefix)
	key   = types.NamespacedName{Namespace: "shop", Name: "m0"}
	kinds = capi.Kinds{
		Cluster: gvk("Cluster"), Machine: gvk("Machine"),
		MachineSet: gvk("MachineSet"), MachineDeployment: gvk("MachineDeployment"),
	}
)

func gvk(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: kind}
}

// world is one machine with its cluster, its node and its upgrader.
type world struct {
	t        *testing.T
	client   client.WithWatch
	clock    *clocktesting.FakeClock
	node     *node
	drains   machine.Drainer
	events   *events.FakeRecorder
	upgrader *machine.Reconciler
	// trace are the five marks after each write that changed them.
	trace []string
	// crash is asked before and after each write; an error of it ends the upgrader's life there.
	crash func() error
}

var errCrash = errors.New("the process has died")

func newWorld(t *testing.T, annotations map[string]string) *world {
	t.Helper()
	m := capi.Object(kinds.Machine)
	m.SetNamespace(key.Namespace)
	m.SetName(key.Name)
	m.SetUID("uid-m0")
	m.SetAnnotations(annotations)
	m.Object["spec"] = map[string]any{"clusterName": "eu"}
	m.Object["status"] = map[string]any{
		"nodeRef": map[string]any{"name": "node-0"}, "nodeInfo": map[string]any{"kubeletVersion": oldVersion},
	}
	c := capi.Object(kinds.Cluster)
	c.SetNamespace(key.Namespace)
	c.SetName("eu")
	c.SetUID("uid-eu")
	w := &world{
		t: t, clock: clocktesting.NewFakeClock(start), events: events.NewFakeRecorder(1000),
		crash: func() error { return nil },
	}
	w.client = fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(m, c).
		WithInterceptorFuncs(interceptor.Funcs{Patch: w.patch}).Build()
	w.node = &node{world: w, becomes: newVersion}
	w.restart()
	return w
}

// restart begins a new life of the upgrader, which remembers nothing.
func (w *world) restart() {
	w.upgrader = &machine.Reconciler{
		Member: member.Member{
			Cache: w.client, Live: w.client, Writer: w.client, Events: w.events, Kinds: kinds, Keys: keys, Clock: w.clock,
		},
		K8sd: w.node, Drainer: w.drains,
		Pace: &machine.Pace{Jitter: func() float64 { return 0 }},
	}
}

func (w *world) patch(
	ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption,
) error {
	if err := w.crash(); err != nil {
		return err
	}
	if err := c.Patch(ctx, o, p, opts...); err != nil {
		return err
	}
	if state := describe(o.GetAnnotations()); len(w.trace) == 0 || w.trace[len(w.trace)-1] != state {
		w.trace = append(w.trace, state)
	}
	return w.crash()
}

// describe writes the five marks of a machine as PROTOCOL.md does: "to,status=done,change-id=1,last-failed".
func describe(annotations map[string]string) string {
	m := keys.Read(annotations)
	var words []string
	if m.HasTo {
		words = append(words, "to")
	}
	if m.Status != "" {
		words = append(words, "status="+m.Status)
	}
	if m.HasChangeID {
		words = append(words, "change-id="+m.ChangeID)
	}
	if m.LastFailed != "" {
		words = append(words, "last-failed")
	}
	if m.Release != "" {
		words = append(words, "release="+m.Release)
	}
	return "{" + strings.Join(words, ",") + "}"
}

// settle reconciles until nothing is left to do, or until the end of a span of virtual time.
func (w *world) settle(span time.Duration) {
	w.t.Helper()
	end := w.clock.Now().Add(span)
	for range 10_000 {
		before := w.machine().GetResourceVersion()
		result, err := w.reconcile()
		switch {
		case errors.Is(err, errCrash):
			w.restart()
		case err != nil:
			w.t.Fatalf("Reconcile: %v", err)
		case w.machine().GetResourceVersion() != before: // a watch would wake it
		case result.RequeueAfter == 0, w.clock.Now().Add(result.RequeueAfter).After(end):
			return
		default:
			w.clock.Step(result.RequeueAfter)
		}
	}
	w.t.Fatal("never settles")
}

// reconcile looks at the machine once; a panic with errCrash is the end of the upgrader's life too.
func (w *world) reconcile() (result reconcile.Result, err error) {
	defer func() {
		if fault := recover(); fault == any(errCrash) {
			err = errCrash
		} else if fault != nil {
			panic(fault)
		}
	}()
	return w.upgrader.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key})
}

func (w *world) machine() *unstructured.Unstructured {
	w.t.Helper()
	m := capi.Object(kinds.Machine)
	if err := w.client.Get(context.Background(), key, m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// change writes the machine as somebody else would.
func (w *world) change(f func(m *unstructured.Unstructured)) {
	w.t.Helper()
	m := w.machine()
	f(m)
	if err := w.client.Update(context.Background(), m); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) annotate(set map[string]string, remove ...string) {
	w.t.Helper()
	w.change(func(m *unstructured.Unstructured) {
		a := m.GetAnnotations()
		if a == nil {
			a = map[string]string{}
		}
		maps.Copy(a, set)
		for _, k := range remove {
			delete(a, k)
		}
		m.SetAnnotations(a)
	})
}

func (w *world) runs(version string) {
	w.t.Helper()
	w.change(func(m *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(m.Object, version, "status", "nodeInfo", "kubeletVersion")
	})
}

func (w *world) version() string {
	w.t.Helper()
	version, _, _ := unstructured.NestedString(w.machine().Object, "status", "nodeInfo", "kubeletVersion")
	return version
}

func (w *world) attempt() protocol.Attempt {
	w.t.Helper()
	a, err := protocol.ParseAttempt(w.machine().GetAnnotations()[protocol.AttemptKey])
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// happened drains the events.
func (w *world) happened() []string {
	var all []string
	for {
		select {
		case e := <-w.events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// node is a scripted k8sd.
type node struct {
	world *world
	// refreshes are the answers to refreshes, the last one for ever; statuses likewise.
	refreshes []func() (string, error)
	statuses  []func() (k8sd.Status, error)
	// posts and polls count what was asked; targets are those of the posts.
	posts, polls int
	targets      []string
	// becomes is the version that the node runs once it has said Done; empty: the one before.
	becomes string
}

func (n *node) Refresh(_ context.Context, _ k8sd.Node, t protocol.Target) (string, error) {
	n.posts++
	n.targets = append(n.targets, t.String())
	return pick(n.refreshes, n.posts)()
}

func (n *node) RefreshStatus(_ context.Context, _ k8sd.Node, _ string) (k8sd.Status, error) {
	n.polls++
	status, err := pick(n.statuses, n.polls)()
	if err == nil && status == done && n.becomes != "" && n.becomes != n.world.version() {
		n.world.runs(n.becomes)
	}
	return status, err
}

func pick[T any](script []T, call int) T { return script[min(call, len(script))-1] }

func accepts(ids ...string) []func() (string, error) {
	var script []func() (string, error)
	for _, id := range ids {
		script = append(script, func() (string, error) { return id, nil })
	}
	return script
}

func refuses(class k8sd.Class, text string) func() (string, error) {
	return func() (string, error) { return "", &k8sd.Error{Class: class, Err: errors.New(text)} }
}

func says(statuses ...k8sd.Status) []func() (k8sd.Status, error) {
	var script []func() (k8sd.Status, error)
	for _, s := range statuses {
		script = append(script, func() (k8sd.Status, error) { return s, nil })
	}
	return script
}

var (
	doing   = k8sd.Status{Status: "Doing"}
	done    = k8sd.Status{Status: "Done", Completed: true}
	failed  = k8sd.Status{Status: "Error", Completed: true, ErrorMessage: "cannot download"}
	undone  = k8sd.Status{Status: "Undone", Completed: true}
	unknown = k8sd.Status{}
)
