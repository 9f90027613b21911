// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
)

var (
	own = protocol.KeysFor(protocol.OwnPrefix)
	// provider are the leader Leases of the existing controllers.
	provider = []string{"6b2b21b1.k8s.io", "148fa072.controlplane.cluster.x-k8s.io"}
)

// beside is an engine that finds its prefix out, on a member whose other controllers come and go as the test says.
type beside struct {
	*testing.T
	*WithT

	member  *env.Management
	cluster *unreadable
	kinds   capi.Kinds
	clock   *clocktesting.FakeClock
	nodes   *countedNodes
	ended   chan error
	stop    context.CancelFunc
}

// countedNodes counts refreshes, and begins each of them without an end.
type countedNodes struct {
	mu        sync.Mutex
	refreshes int
	// answer, where there is one, is waited for before a refresh is answered.
	answer chan struct{}
}

func (n *countedNodes) Refresh(context.Context, k8sd.Node, protocol.Target) (string, error) {
	n.mu.Lock()
	n.refreshes++
	n.mu.Unlock()
	if n.answer != nil {
		<-n.answer
	}
	return "1", nil
}

func (n *countedNodes) RefreshStatus(context.Context, k8sd.Node, string) (k8sd.Status, error) {
	return k8sd.Status{Status: "Doing"}, nil
}

func (n *countedNodes) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refreshes
}

// unreadable is a cluster whose Leases cannot be listed while it is told so.
type unreadable struct {
	cluster.Cluster

	is atomic.Bool
}

func (u *unreadable) GetAPIReader() client.Reader {
	return unreadableReader{u.Cluster.GetAPIReader(), u}
}

type unreadableReader struct {
	client.Reader

	cluster *unreadable
}

var errUnreadable = errors.New("leases are forbidden")

func (r unreadableReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, leases := list.(*coordinationv1.LeaseList); leases && r.cluster.is.Load() {
		return errUnreadable
	}
	return r.Reader.List(ctx, list, opts...)
}

// newBeside starts the member, once for all scenes.
func newBeside(t *testing.T) *beside {
	t.Helper()
	_, m := world(t, nil, build.Cluster("shop", "eu").Pool("a", 1).At("v1.33.4"))
	b := &beside{T: t, WithT: NewWithT(t), member: m, cluster: &unreadable{Cluster: connected(t, agent(t, m))}}
	var err error
	b.kinds, err = capi.Discover(b.cluster.GetRESTMapper(), capi.DefaultControlPlanes())
	b.Expect(err).NotTo(HaveOccurred())
	return b
}

// scene runs one test on the member as it was at first.
func (b *beside) scene(name string, play func(b *beside)) {
	b.Helper()
	b.Run(name, func(t *testing.T) {
		again := &beside{
			T: t, WithT: NewWithT(t), member: b.member, cluster: b.cluster, kinds: b.kinds,
			clock: clocktesting.NewFakeClock(time.Now()), nodes: &countedNodes{},
		}
		for _, name := range append(provider, "windlass-other") {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
			again.Expect(client.IgnoreNotFound(b.member.Client.Delete(t.Context(), lease))).To(Succeed())
		}
		again.forget(b.kinds.MachineDeployment, "eu-a")
		again.forget(b.kinds.Machine, "eu-a-0")
		again.Eventually(again.seesNothingAsked, patient, often).Should(BeTrue())
		play(again)
	})
}

// seesNothingAsked reports whether the engine's cache has seen all of forget.
func (b *beside) seesNothingAsked() bool {
	for gvk, name := range map[schema.GroupVersionKind]string{b.kinds.MachineDeployment: "eu-a", b.kinds.Machine: "eu-a-0"} {
		o := capi.Object(gvk)
		if b.cluster.GetCache().Get(b.Context(), types.NamespacedName{Namespace: "shop", Name: name}, o) != nil || len(ours(o)) > 0 {
			return false
		}
	}
	return true
}

// host runs the engine with the rights of config/engine.
func (b *beside) host() {
	b.Helper()
	o := quick()
	o.Clock = b.clock
	o.K8sd = func(client.Reader) machine.K8sd { return b.nodes }
	ctx, stop := context.WithCancel(context.Background())
	b.ended, b.stop = make(chan error, 1), stop
	b.Cleanup(stop)
	go func() { b.ended <- engine.Host(ctx, b.cluster, o) }()
	b.Eventually(func() bool { return len(b.ended) > 0 || holder(b.T, b.member) != "" }, patient, often).Should(BeTrue())
}

// renew writes a leader Lease of the others as they do, in a namespace that nobody has to know.
func (b *beside) renew(name string, at time.Time) {
	b.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	err := b.member.Client.Get(b.Context(), client.ObjectKeyFromObject(lease), lease)
	lease.Spec.RenewTime = new(metav1.NewMicroTime(at))
	switch {
	case apierrors.IsNotFound(err):
		b.Expect(b.member.Client.Create(b.Context(), lease)).To(Succeed())
	default:
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(b.member.Client.Update(b.Context(), lease)).To(Succeed())
	}
}

// ask asks the pool under some keys.
func (b *beside) ask(k protocol.Keys) {
	b.Helper()
	annotate(b.T, b.member.Client, b.kinds.MachineDeployment, "eu-a", map[string]string{k.To: target})
}

func (b *beside) marks(k protocol.Keys) protocol.Marks {
	b.Helper()
	return k.Read(get(b.T, b.member.Client, b.kinds.Machine, "eu-a-0").GetAnnotations())
}

// passes lets the clock run until Host has ended.
func (b *beside) passes() error {
	b.Helper()
	var err error
	b.Eventually(func() bool {
		b.clock.Step(5 * time.Second)
		select {
		case err = <-b.ended:
			return true
		default:
			return false
		}
	}, patient, often).Should(BeTrue(), "Host ends")
	return err
}

func TestHostFindsOutWhichKeysItMayAnswer(t *testing.T) {
	b := newBeside(t)
	for _, lease := range provider {
		b.scene("beside controllers that hold "+lease, func(b *beside) {
			b.renew(lease, b.clock.Now().Add(-59*time.Second))
			b.host()
			b.ask(keys)
			b.ask(own)
			b.Eventually(func() string { return b.marks(own).ChangeID }, patient, often).Should(Equal("1"))
			b.Expect(b.marks(keys)).To(Equal(protocol.Marks{}), "nothing is written under their keys")
			b.Expect(b.nodes.count()).To(Equal(1))
			b.ends()
		})
	}
	b.scene("after controllers that are gone for a minute", func(b *beside) {
		b.renew(provider[0], b.clock.Now().Add(-time.Minute))
		b.renew("windlass-other", b.clock.Now())
		b.host()
		b.ask(keys)
		b.Eventually(func() string { return b.marks(keys).ChangeID }, patient, often).Should(Equal("1"))
		b.ends()
	})
	b.scene("controllers come", func(b *beside) {
		b.host()
		b.renew(provider[1], b.clock.Now().Add(time.Hour))
		b.Expect(b.passes()).To(MatchError(engine.ErrProviderChanged))
		b.Expect(holder(b.T, b.member)).To(BeEmpty(), "the lease is given back")
	})
	b.scene("controllers come: no refresh is sent before that is noticed", func(b *beside) {
		b.host()
		b.renew(provider[0], b.clock.Now())
		b.ask(keys)
		b.Expect(<-b.ended).To(MatchError(engine.ErrProviderChanged))
		b.Expect(b.nodes.count()).To(BeZero())
		b.Expect(b.marks(keys)).To(Equal(protocol.Marks{To: target, HasTo: true}), "no failure is recorded under their keys")
	})
	b.scene("controllers come while a refresh is being sent: its change is recorded, for them to follow", func(b *beside) {
		b.nodes.answer = make(chan struct{})
		b.host()
		b.ask(keys)
		b.Eventually(b.nodes.count, patient, often).Should(Equal(1))
		b.renew(provider[0], b.clock.Now().Add(time.Hour))
		b.Eventually(b.clock.HasWaiters, patient, often).Should(BeTrue())
		b.clock.Step(31 * time.Second)
		b.Eventually(b.clock.HasWaiters, patient, often).Should(BeFalse(), "nobody looks for controllers any more")
		close(b.nodes.answer)
		b.Expect(<-b.ended).To(MatchError(engine.ErrProviderChanged))
		b.Expect(b.marks(keys).ChangeID).To(Equal("1"))
	})
	b.scene("who is there cannot be read: a minute is bridged", func(b *beside) {
		b.host()
		b.Eventually(b.clock.HasWaiters, patient, often).Should(BeTrue())
		b.cluster.is.Store(true)
		b.Cleanup(func() { b.cluster.is.Store(false) })
		b.clock.Step(31 * time.Second)
		b.Eventually(b.clock.HasWaiters, patient, often).Should(BeTrue())
		b.Expect(b.ended).NotTo(Receive())
		b.Expect(b.passes()).To(MatchError(errUnreadable))
	})
	b.scene("who is there cannot be read at first: nothing is done", func(b *beside) {
		b.cluster.is.Store(true)
		b.Cleanup(func() { b.cluster.is.Store(false) })
		b.host()
		b.Expect(<-b.ended).To(MatchError(errUnreadable))
	})
	b.scene("controllers go", func(b *beside) {
		b.renew(provider[0], b.clock.Now())
		b.host()
		b.Expect(b.passes()).To(MatchError(engine.ErrProviderChanged))
	})
	b.scene("controllers go: what was asked under the own keys is finished first", func(b *beside) {
		b.renew(provider[0], b.clock.Now())
		b.host()
		b.ask(own)
		b.Eventually(func() string { return b.marks(own).ChangeID }, patient, often).Should(Equal("1"))
		for range 5 {
			b.Eventually(b.clock.HasWaiters, patient, often).Should(BeTrue())
			b.clock.Step(31 * time.Second)
		}
		b.Eventually(b.clock.HasWaiters, patient, often).Should(BeTrue())
		b.Expect(b.ended).NotTo(Receive())
		b.forget(b.kinds.MachineDeployment, "eu-a")
		b.forget(b.kinds.Machine, "eu-a-0")
		b.Expect(b.passes()).To(MatchError(engine.ErrProviderChanged))
	})
}

// ends stops the engine.
func (b *beside) ends() {
	b.Helper()
	b.stop()
	b.Expect(<-b.ended).To(Succeed())
}

// forget removes every mark of an object.
func (b *beside) forget(gvk schema.GroupVersionKind, name string) {
	b.Helper()
	o := get(b.T, b.member.Client, gvk, name)
	remove := map[string]any{}
	for key := range ours(o) {
		remove[key] = nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": remove}})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.member.Client.Patch(b.Context(), o, client.RawPatch(types.MergePatchType, body))).To(Succeed())
}
