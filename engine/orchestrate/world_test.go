// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	target     = "channel=1.34-classic/stable"
	other      = "channel=1.35-classic/stable"
	oldVersion = "v1.33.4"
	newVersion = "v1.34.1"
	plan       = `{"expectedVersion":"v1.34"}`
	lockName   = "eu-cp-inplace-upgrade-lock"
)

var (
	start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	keys  = protocol.KeysFor(protocol.ProviderPrefix)
	cpGVK = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "CK8sControlPlane"}
	kinds = capi.Kinds{
		Cluster: core("Cluster"), Machine: core("Machine"), MachineSet: core("MachineSet"),
		MachineDeployment: core("MachineDeployment"), ControlPlanes: []schema.GroupVersionKind{cpGVK},
	}
	errCrash = errors.New("the process has died")
)

func core(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: kind}
}

// world is a cluster with a control plane cp of machines cp-0… and a pool a of machines a-0….
type world struct {
	t      *testing.T
	client client.WithWatch
	clock  *clocktesting.FakeClock
	events *events.FakeRecorder
	keys   protocol.Keys
	// trace are the marks of owners and machines after each write of the orchestrator that changed them.
	trace  []string
	writes int
	// nodes that the orchestrator may ask; nil: none.
	nodes orchestrate.Nodes
	// crash is asked before and after each write; an error of it ends the orchestrator's life there.
	crash func() error
}

func newWorld(t *testing.T, controlPlanes, workers int64) *world {
	t.Helper()
	w := &world{
		t: t, clock: clocktesting.NewFakeClock(start), events: events.NewFakeRecorder(10_000), keys: keys,
		crash: func() error { return nil },
	}
	b := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(interceptor.Funcs{
		Patch: w.patch, Create: w.create, Delete: w.delete,
	})
	cluster := object(kinds.Cluster, "eu", nil)
	cluster.Object["spec"] = map[string]any{"controlPlaneRef": map[string]any{
		"apiGroup": cpGVK.Group, "kind": cpGVK.Kind, "name": "cp",
	}}
	b = b.WithObjects(cluster, owner(cpGVK, "cp", controlPlanes), owner(kinds.MachineDeployment, "a", workers))
	for i := range controlPlanes {
		b = b.WithObjects(newMachine("cp", i, map[string]string{capi.ControlPlaneLabel: ""}))
	}
	for i := range workers {
		b = b.WithObjects(newMachine("a", i, map[string]string{capi.DeploymentNameLabel: "a"}))
	}
	w.client = b.Build()
	return w
}

func object(gvk schema.GroupVersionKind, name string, labels map[string]string) *unstructured.Unstructured {
	o := capi.Object(gvk)
	o.SetNamespace("shop")
	o.SetName(name)
	o.SetUID(types.UID("uid-" + name))
	o.SetLabels(map[string]string{capi.ClusterNameLabel: "eu"})
	if labels != nil {
		labels[capi.ClusterNameLabel] = "eu"
		o.SetLabels(labels)
	}
	return o
}

func owner(gvk schema.GroupVersionKind, name string, replicas int64) *unstructured.Unstructured {
	o := object(gvk, name, nil)
	o.Object["spec"] = map[string]any{"replicas": replicas, "clusterName": "eu"}
	o.Object["status"] = map[string]any{"replicas": replicas, "readyReplicas": replicas}
	return o
}

func newMachine(owner string, i int64, labels map[string]string) *unstructured.Unstructured {
	o := object(kinds.Machine, fmt.Sprintf("%s-%d", owner, i), labels)
	o.Object["spec"] = map[string]any{"clusterName": "eu"}
	o.Object["status"] = map[string]any{
		"nodeRef":  map[string]any{"name": "node-" + o.GetName()},
		"nodeInfo": map[string]any{"kubeletVersion": oldVersion},
		"conditions": []any{
			map[string]any{"type": "NodeReady", "status": "True"}, map[string]any{"type": "NodeHealthy", "status": "True"},
		},
	}
	return o
}

func (w *world) patch(
	ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption,
) error {
	if err := w.crash(); err != nil {
		return err
	}
	before := w.marks(o.GetName())
	if err := c.Patch(ctx, o, p, opts...); err != nil {
		return err
	}
	w.writes++
	if after := w.describe(o.GetAnnotations()); after != before {
		w.trace = append(w.trace, o.GetName()+" "+after)
	}
	return w.crash()
}

func (w *world) create(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	if o.GetName() != lockName {
		return c.Create(ctx, o, opts...)
	}
	if err := w.crash(); err != nil {
		return err
	}
	if err := c.Create(ctx, o, opts...); err != nil {
		return err
	}
	w.writes++
	w.trace = append(w.trace, "lock "+o.(*corev1.ConfigMap).Data["lock-information"])
	return w.crash()
}

func (w *world) delete(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	if o.GetName() != lockName {
		return c.Delete(ctx, o, opts...)
	}
	if err := w.crash(); err != nil {
		return err
	}
	if err := c.Delete(ctx, o, opts...); err != nil {
		return err
	}
	w.writes++
	w.trace = append(w.trace, "unlock")
	return w.crash()
}

// describe writes marks as PROTOCOL.md does, and "planned" where the plan stands beside them.
func (w *world) describe(annotations map[string]string) string { return describe(w.keys, annotations) }

func describe(keys protocol.Keys, annotations map[string]string) string {
	m := keys.Read(annotations)
	var words []string
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	add(m.HasTo, "to")
	add(m.Status != "", "status="+m.Status)
	add(m.HasChangeID, "change-id="+m.ChangeID)
	add(m.LastFailed != "", "last-failed")
	add(m.Release != "", "release="+m.Release)
	_, planned := annotations[protocol.PlanKey]
	add(planned, "planned")
	return "{" + strings.Join(words, ",") + "}"
}

// orchestrator is a new life of it, which remembers nothing. cache is what it reads; nil: the world as it is.
func (w *world) orchestrator(cache client.Reader) *orchestrate.Reconciler {
	if cache == nil {
		cache = w.client
	}
	m := member.Member{
		Cache: cache, Live: w.client, Writer: w.client, Events: w.events, Kinds: kinds, Keys: w.keys, Clock: w.clock,
	}
	return &orchestrate.Reconciler{Member: m, Lock: lock.Lock{Member: m}, Nodes: w.nodes}
}

func request(name string) orchestrate.Request {
	gvk := kinds.MachineDeployment
	if name == "cp" {
		gvk = cpGVK
	}
	return orchestrate.Request{
		GroupKind: gvk.GroupKind(), NamespacedName: types.NamespacedName{Namespace: "shop", Name: name},
	}
}

// settle reconciles an owner until it waits, and returns for how long.
func (w *world) settle(name string) time.Duration {
	w.t.Helper()
	for range 1000 {
		writes := w.writes
		result, err := w.orchestrator(nil).Reconcile(w.t.Context(), request(name))
		if err != nil && !errors.Is(err, errCrash) {
			w.t.Fatalf("Reconcile %s: %v", name, err)
		}
		if err == nil && w.writes == writes {
			return result.RequeueAfter
		}
	}
	w.t.Fatalf("owner %s never settles", name)
	return 0
}

// settleUntilCrash reconciles an owner until the orchestrator dies.
func (w *world) settleUntilCrash(name string) {
	w.t.Helper()
	for range 100 {
		if _, err := w.orchestrator(nil).Reconcile(w.t.Context(), request(name)); errors.Is(err, errCrash) {
			return
		}
	}
	w.t.Fatalf("owner %s never meets the crash", name)
}

func (w *world) get(name string) *unstructured.Unstructured {
	w.t.Helper()
	o := capi.Object(kindOf(name))
	err := w.client.Get(context.Background(), types.NamespacedName{Namespace: "shop", Name: name}, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

func kindOf(name string) schema.GroupVersionKind {
	switch name {
	case "eu":
		return kinds.Cluster
	case "cp":
		return cpGVK
	case "a":
		return kinds.MachineDeployment
	case "a-old", "a-new":
		return kinds.MachineSet
	}
	return kinds.Machine
}

// change writes an object as somebody else would.
func (w *world) change(name string, f func(o *unstructured.Unstructured)) {
	w.t.Helper()
	o := w.get(name)
	f(o)
	if err := w.client.Update(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) annotate(name string, set map[string]string, remove ...string) {
	w.t.Helper()
	w.change(name, func(o *unstructured.Unstructured) {
		a := maps.Clone(o.GetAnnotations())
		if a == nil {
			a = map[string]string{}
		}
		maps.Copy(a, set)
		for _, k := range remove {
			delete(a, k)
		}
		o.SetAnnotations(a)
	})
}

// grant asks an owner to upgrade, with permission for an hour.
func (w *world) grant(name string) {
	w.t.Helper()
	w.annotate(name, map[string]string{w.keys.To: target, protocol.PlanKey: plan, protocol.HolderKey: "hub/1"})
	w.annotate("eu", map[string]string{protocol.StartBeforeKey: protocol.FormatStartBefore(w.clock.Now().Add(time.Hour))})
}

// begins plays the upgrader: the refresh of a machine was sent and accepted.
func (w *world) begins(name string) {
	w.t.Helper()
	to := w.get(name).GetAnnotations()[w.keys.To]
	w.annotate(name, map[string]string{
		w.keys.Status: protocol.StatusInProgress, w.keys.ChangeID: "1",
		protocol.AttemptKey: protocol.Attempt{Target: to, Count: 1, SentAt: w.clock.Now()}.Format(),
	}, w.keys.Release)
}

// ends plays the upgrader and the node: what was sent is done, and the node shows it.
func (w *world) ends(name string) {
	w.t.Helper()
	w.finishes(name)
	w.shows(name, newVersion)
}

func (w *world) finishes(name string) {
	w.t.Helper()
	a := w.get(name).GetAnnotations()
	attempt, err := protocol.ParseAttempt(a[protocol.AttemptKey])
	if err != nil {
		w.t.Fatal(err)
	}
	remove := []string{w.keys.ChangeID, w.keys.LastFailed, protocol.AttemptKey}
	if a[w.keys.To] == attempt.Target {
		remove = append(remove, w.keys.To)
	}
	w.annotate(name, map[string]string{w.keys.Status: protocol.StatusDone, w.keys.Release: attempt.Target}, remove...)
}

func (w *world) shows(name, version string) {
	w.t.Helper()
	if capi.ParseMachine(w.get(name)).KubeletVersion == version {
		return
	}
	w.change(name, func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, version, "status", "nodeInfo", "kubeletVersion")
	})
}

// gives up plays the upgrader: the attempts of a machine are used up.
func (w *world) givesUp(name string) {
	w.t.Helper()
	a := protocol.Attempt{
		Target: w.get(name).GetAnnotations()[w.keys.To], Count: 3, SentAt: w.clock.Now(), FailedAt: w.clock.Now(),
		LastError: "cannot download", Quarantined: true,
	}
	w.annotate(name, map[string]string{
		w.keys.Status: protocol.StatusFailed, w.keys.ChangeID: "3", protocol.AttemptKey: a.Format(),
		w.keys.LastFailed: protocol.FormatFailedAt(w.clock.Now()),
	})
}

func (w *world) healthy(name string, is bool) {
	w.t.Helper()
	status := "False"
	if is {
		status = "True"
	}
	w.change(name, func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(o.Object, []any{
			map[string]any{"type": "NodeReady", "status": status}, map[string]any{"type": "NodeHealthy", "status": status},
		}, "status", "conditions")
	})
}

func (w *world) ready(replicas int64) {
	w.t.Helper()
	w.change("cp", func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, replicas, "status", "readyReplicas")
	})
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := w.client.Delete(context.Background(), w.get(name)); err != nil {
		w.t.Fatal(err)
	}
}

// marked are the machines that are asked to upgrade.
func (w *world) marked() []string {
	w.t.Helper()
	list := capi.List(kinds.Machine)
	if err := w.client.List(context.Background(), list); err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, m := range list.Items {
		if w.keys.Read(m.GetAnnotations()).Busy() {
			names = append(names, m.GetName())
		}
	}
	slices.Sort(names)
	return names
}

// holder is the machine that holds the lock.
func (w *world) holder() string {
	w.t.Helper()
	c := &corev1.ConfigMap{}
	err := w.client.Get(context.Background(), types.NamespacedName{Namespace: "shop", Name: lockName}, c)
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := protocol.ParseLock(c.Data[protocol.LockDataKey])
	if err != nil {
		w.t.Fatal(err)
	}
	return r.MachineName
}

// waits is the reason that an owner shows; empty: it shows none.
func (w *world) waits(name string) orchestrate.Reason {
	w.t.Helper()
	waiting, err := protocol.ParseWaiting(w.get(name).GetAnnotations()[protocol.WaitingKey])
	if err != nil {
		w.t.Fatal(err)
	}
	return orchestrate.Reason(waiting.Reason)
}

func (w *world) marks(name string) string { return w.describe(w.get(name).GetAnnotations()) }

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

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
