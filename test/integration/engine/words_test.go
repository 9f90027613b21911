// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// theirs are the keys that the existing controllers answer, ours those of the engine beside them.
var (
	theirs = protocol.KeysFor(protocol.ProviderPrefix)
	ours   = protocol.KeysFor(protocol.OwnPrefix)
)

// namespaces counts, so that each scene has one of its own.
var namespaces atomic.Int32 //nolint:gochecknoglobals // specs share the world

// scene is one cluster of a spec, and a witness of what its machines were asked for.
type scene struct {
	*env.Cluster

	member *env.Management

	mu sync.Mutex
	// asked are the values that to had on a machine under the others' keys, by machine.
	asked map[string][]string
}

// given makes a cluster "eu" that has been upgraded in place to the old target before, so that its owners are armed:
// they carry a release that the existing controllers go by. Machines may begin.
func given(ctx context.Context, with func(build.ClusterSpec) build.ClusterSpec) *scene {
	GinkgoHelper()
	spec := build.Cluster(fmt.Sprintf("shop-%d", namespaces.Add(1)), "eu").ControlPlane(0).At(oldVersion).
		Release(oldTarget).OwnerRelease(oldTarget).
		Annotate(protocol.StartBeforeKey, protocol.FormatStartBefore(time.Now().Add(time.Hour)))
	c, err := world.member.Cluster(ctx, with(spec))
	Expect(err).NotTo(HaveOccurred())
	s := &scene{Cluster: c, member: world.member, asked: map[string][]string{}}
	s.witness(ctx)
	return s
}

func (s *scene) witness(ctx context.Context) {
	GinkgoHelper()
	w, err := world.watch.Watch(ctx, capi.List(world.kinds.Machine), client.InNamespace(s.Namespace))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.Stop)
	go func() {
		for e := range w.ResultChan() {
			o, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			if marks := theirs.Read(o.GetAnnotations()); marks.HasTo {
				s.mu.Lock()
				s.asked[o.GetName()] = append(s.asked[o.GetName()], marks.To)
				s.mu.Unlock()
			}
		}
	}()
}

// askedByOthers is what the others' keys have asked a machine for, as far as was seen.
func (s *scene) askedByOthers(machine string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[machine]
}

// kindOf tells the kind of an object of a scene by its name.
func kindOf(name string) schema.GroupVersionKind {
	switch {
	case name == "eu-cp":
		return world.kinds.ControlPlanes[0]
	case strings.Count(name, "-") == 1:
		return world.kinds.MachineDeployment
	}
	return world.kinds.Machine
}

func (s *scene) object(ctx context.Context, g Gomega, name string) *unstructured.Unstructured {
	GinkgoHelper()
	o := capi.Object(kindOf(name))
	g.Expect(s.member.Client.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: name}, o)).To(Succeed())
	return o
}

// marks of an object under some keys.
func (s *scene) marks(ctx context.Context, g Gomega, k protocol.Keys, name string) protocol.Marks {
	GinkgoHelper()
	return k.Read(s.object(ctx, g, name).GetAnnotations())
}

// annotate patches annotations as a person does; nil removes.
func (s *scene) annotate(ctx context.Context, name string, change map[string]any) {
	GinkgoHelper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": change}})
	Expect(err).NotTo(HaveOccurred())
	o := capi.Object(kindOf(name))
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	Expect(s.member.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, body))).To(Succeed())
}

// ask asks the engine to upgrade owners.
func (s *scene) ask(ctx context.Context, owners ...string) {
	GinkgoHelper()
	plan := protocol.Plan{
		ExpectedVersion: ourVersion, MaxAttempts: 2, Backoff: protocol.Duration(100 * time.Millisecond),
	}.Format()
	for _, name := range owners {
		s.annotate(ctx, name, map[string]any{ours.To: ourTarget, protocol.PlanKey: plan})
	}
}

func (s *scene) script(machine string, steps ...k8sd.Step) {
	GinkgoHelper()
	Expect(world.Sim().Script(s.Node(machine), steps...)).To(Succeed())
}

// held keeps the next refresh of machines going until it is let go, so that what happens meanwhile happens meanwhile.
func (s *scene) held(machines ...string) (letGo func()) {
	GinkgoHelper()
	gate := make(chan struct{})
	for _, m := range machines {
		s.script(m, k8sd.Done(0).Until(gate))
	}
	return func() { close(gate) }
}

// refreshes are the targets that the node of a machine was asked for, in order.
func (s *scene) refreshes(machine string) []string {
	targets := []string{}
	for _, p := range world.Sim().Log() {
		if p.Node == s.Node(machine) {
			targets = append(targets, p.Target)
		}
	}
	return targets
}

// inFlight waits until one of the machines has a change under way under some keys, and names it.
func (s *scene) inFlight(ctx context.Context, k protocol.Keys, machines ...string) string {
	GinkgoHelper()
	found := ""
	Eventually(func(g Gomega) {
		for _, m := range machines {
			if s.marks(ctx, g, k, m).State() == protocol.InProgress {
				found = m
			}
		}
		g.Expect(found).NotTo(BeEmpty())
	}).WithContext(ctx).Should(Succeed())
	return found
}

// finished waits until the engine says that owners are done.
func (s *scene) finished(ctx context.Context, owners ...string) {
	GinkgoHelper()
	for _, name := range owners {
		Eventually(func(g Gomega) {
			g.Expect(s.marks(ctx, g, ours, name)).To(
				Equal(protocol.Marks{Status: protocol.StatusDone, Release: ourTarget}), name)
		}).WithContext(ctx).Should(Succeed())
	}
}

// retired claims that the others find nothing on owners that they would go by.
func (s *scene) retired(ctx context.Context, g Gomega, owners ...string) {
	GinkgoHelper()
	for _, name := range owners {
		g.Expect(s.marks(ctx, g, theirs, name)).To(Equal(protocol.Marks{}), name)
	}
}

// stays claims that within the others' chance no machine is refreshed again, or asked to be.
func (s *scene) stays(ctx context.Context, machines ...string) {
	GinkgoHelper()
	before := map[string][]string{}
	for _, m := range machines {
		before[m] = s.refreshes(m)
	}
	Consistently(func(g Gomega) {
		for _, m := range machines {
			g.Expect(s.refreshes(m)).To(Equal(before[m]), m)
			g.Expect(s.askedByOthers(m)).To(BeEmpty(), m)
		}
	}).WithContext(ctx).Should(Succeed())
}
