// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
	"github.com/windlass-dev/windlass/test/provider"
)

const (
	oldTarget, oldVersion = "channel=1.33-classic/stable", "v1.33.4"
	target, version       = "channel=1.34-classic/stable", "v1.34.1"

	patient = time.Minute
	pause   = 50 * time.Millisecond
)

var (
	keys         = protocol.KeysFor(protocol.ProviderPrefix)
	machineGVK   = core("Machine")
	poolGVK      = core("MachineDeployment")
	setGVK       = core("MachineSet")
	namespaces   atomic.Int32 //nolint:gochecknoglobals // tests share the world
	shared       world        //nolint:gochecknoglobals // TestMain has no other way to hand it on
	controlPlane = build.ControlPlaneGVK()
)

// world is one member with the stand-in. It is written once, before the first test.
type world struct {
	*env.World

	member *env.Management
	watch  client.WithWatch
}

func core(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: kind}
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Minute) // the binaries may have to be built
	defer stop()
	ctrl.SetLogger(logr.Discard())
	if shared.World, err = env.Start(ctx, env.Options{Log: os.Stderr}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	shared.Sim().Release(oldTarget, oldVersion)
	shared.Sim().Release(target, version)
	shared.Sim().Default(k8sd.Done(2 * pause))
	if shared.member, err = shared.Management(ctx, "member"); err != nil {
		return 1, err
	}
	shared.watch, err = client.NewWithWatch(shared.member.Config, client.Options{Scheme: shared.member.Client.Scheme()})
	if err != nil {
		return 1, err
	}
	playing, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- provider.New(shared.member.Config, provider.Options{Requeue: pause}).Run(playing) }()
	defer func() { end(); err = errors.Join(err, <-ended) }()
	return m.Run(), nil
}

// scene is a cluster of one test.
type scene struct {
	*testing.T
	*env.Cluster
}

// given makes the cluster "eu" in a namespace of its own.
func given(t *testing.T, with func(build.ClusterSpec) build.ClusterSpec) scene {
	t.Helper()
	spec := build.Cluster(fmt.Sprintf("shop-%d", namespaces.Add(1)), "eu").ControlPlane(0).At(oldVersion)
	c, err := shared.member.Cluster(t.Context(), with(spec))
	if err != nil {
		t.Fatal(err)
	}
	return scene{t, c}
}

// annotate patches annotations; nil removes.
func (s scene) annotate(gvk schema.GroupVersionKind, name string, change map[string]any) {
	s.Helper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": change}})
	if err != nil {
		s.Fatal(err)
	}
	o := capi.Object(gvk)
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	err = shared.member.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, body))
	if err != nil {
		s.Fatal(err)
	}
}

func (s scene) get(gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	s.Helper()
	o := capi.Object(gvk)
	if err := shared.member.Client.Get(s.Context(), types.NamespacedName{Namespace: s.Namespace, Name: name}, o); err != nil {
		s.Fatal(err)
	}
	return o
}

func (s scene) script(machine string, steps ...k8sd.Step) {
	s.Helper()
	if err := shared.Sim().Script(s.Node(machine), steps...); err != nil {
		s.Fatal(err)
	}
}

func (s scene) refreshes(machine string) int { return shared.Sim().Refreshes(s.Node(machine)) }

// wantRefreshes compares what the node of a machine was asked for.
func (s scene) wantRefreshes(machine string, want ...string) {
	s.Helper()
	var got []string
	for _, p := range shared.Sim().Log() {
		if p.Node == s.Node(machine) {
			got = append(got, p.Target)
		}
	}
	s.same("refreshes of "+machine, want, got)
}

func (s scene) same(what string, want, got any) {
	s.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// until waits until a condition holds, looking as often as the stand-in does.
func (s scene) until(what string, holds func() bool) {
	s.Helper()
	looks := time.NewTicker(pause)
	defer looks.Stop()
	for range patient / pause {
		if holds() {
			return
		}
		<-looks.C
	}
	s.Fatalf("not within %s: %s", patient, what)
}

// stays claims that a condition holds for as long as the stand-in looks ten times.
func (s scene) stays(what string, holds func() bool) {
	s.Helper()
	looks := time.NewTicker(pause)
	defer looks.Stop()
	for range 10 {
		<-looks.C
		if !holds() {
			s.Errorf("no longer: %s", what)
			return
		}
	}
}

// wantEvents waits until the notes of all events about an object are these, each as often as said, in any order.
func (s scene) wantEvents(about string, want ...string) {
	s.Helper()
	slices.Sort(want)
	s.until("the events about "+about, func() bool { return len(s.events(about)) >= len(want) })
	s.same("events about "+about, want, s.events(about))
}

func (s scene) events(about string) []string {
	s.Helper()
	var list corev1.EventList
	if err := shared.member.Client.List(s.Context(), &list, client.InNamespace(s.Namespace)); err != nil {
		s.Fatal(err)
	}
	var notes []string
	for _, e := range list.Items {
		if e.InvolvedObject.Name == about {
			notes = append(notes, slices.Repeat([]string{e.Type + " " + e.Reason + " " + e.Message}, int(e.Count))...)
		}
	}
	slices.Sort(notes)
	return notes
}

// trace follows the marks of one object from now on.
type trace struct {
	s       scene
	watch   watch.Interface
	states  []string
	objects []*unstructured.Unstructured
}

func (s scene) trace(gvk schema.GroupVersionKind, name string) *trace {
	s.Helper()
	w, err := shared.watch.Watch(s.Context(), capi.List(gvk), client.InNamespace(s.Namespace),
		client.MatchingFields{"metadata.name": name})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Stop)
	tr := &trace{s: s, watch: w}
	tr.until(1, describe(s.get(gvk, name)))
	return tr
}

// until follows until a state is there for the n-th time, and returns all states from the second on.
func (tr *trace) until(n int, state string) []string {
	tr.s.Helper()
	limit := time.NewTimer(patient)
	defer limit.Stop()
	for count(tr.states, state) < n {
		select {
		case e := <-tr.watch.ResultChan():
			o, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				tr.s.Fatalf("watch: %v %v", e.Type, e.Object)
			}
			if now := describe(o); len(tr.states) == 0 || tr.states[len(tr.states)-1] != now {
				tr.states, tr.objects = append(tr.states, now), append(tr.objects, o)
			}
		case <-limit.C:
			tr.s.Fatalf("no %s within %s: %v", state, patient, tr.states)
		}
	}
	return tr.states[1:]
}

func count(states []string, state string) int {
	n := 0
	for _, s := range states {
		if s == state {
			n++
		}
	}
	return n
}

// describe writes the five marks as PROTOCOL.md does: "{to,status=done,change-id=1,last-failed}".
func describe(o *unstructured.Unstructured) string {
	m := keys.Read(o.GetAnnotations())
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
