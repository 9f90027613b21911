// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/test/build"
)

// acquirers is how many machines want the lock at once.
const acquirers = 200

var _ = Describe("A lock that two engines share", func() {
	for _, n := range []int{1, 2, 5} {
		It(fmt.Sprintf("is taken by %d of 200 that want it at once, and by no more", n), func(ctx SpecContext) {
			cluster, machines := wanting(ctx)
			replicas := [2]lock.Lock{replica(), replica()}
			held := make([]bool, acquirers)
			together(func(i int) error {
				return settled(func() (err error) {
					held[i], _, err = replicas[i%2].Acquire(ctx, cluster, machines[i], n)
					return err
				})
			})
			Expect(held).To(WithTransform(count, Equal(n)))
			Expect(replicas[0].Holders(ctx, cluster)).To(HaveLen(n))

			By("Giving it back at once too")
			together(func(i int) error {
				return settled(func() error { return replicas[i%2].Release(ctx, cluster, holderOf(machines[i])) })
			})
			Expect(replicas[1].Holders(ctx, cluster)).To(BeEmpty())
		}, NodeTimeout(3*time.Minute))
	}
})

// replica is the lock of one engine, with a connection of its own.
func replica() lock.Lock {
	GinkgoHelper()
	c, err := client.New(world.member.Config, client.Options{Scheme: world.member.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return lock.Lock{Member: member.Member{
		Cache: c, Live: c, Writer: c, Kinds: world.kinds, Clock: clock.RealClock{},
	}}
}

// wanting makes machines that want the lock of a cluster.
func wanting(ctx context.Context) (capi.Cluster, []capi.Machine) {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "locks-"}}
	Expect(world.member.Client.Create(ctx, namespace)).To(Succeed())
	spec := build.Cluster(namespace.Name, "race").ControlPlane(acquirers)
	machines := make([]capi.Machine, acquirers)
	made := spec.Machines()
	together(func(i int) error {
		made[i].OwnerReferences = nil // whoever owns them is not there
		if err := world.member.Client.Create(ctx, made[i]); err != nil {
			return err
		}
		machines[i] = capi.Machine{Meta: capi.Meta{Namespace: namespace.Name, Name: made[i].Name, UID: made[i].UID}}
		return nil
	})
	return capi.Cluster{Meta: capi.Meta{Namespace: namespace.Name, Name: "race", UID: "uid-race"}}, machines
}

// together does something for each at once.
func together(do func(i int) error) {
	GinkgoHelper()
	failures := make([]error, acquirers)
	var all sync.WaitGroup
	for i := range acquirers {
		all.Go(func() { failures[i] = do(i) })
	}
	all.Wait()
	Expect(errors.Join(failures...)).To(Succeed())
}

// settled repeats what somebody else was faster at.
func settled(do func() error) error {
	for {
		if err := do(); !errors.Is(err, member.ErrStale) {
			return err
		}
	}
}

func holderOf(m capi.Machine) lock.Holder {
	return lock.Holder{Namespace: m.Namespace, Name: m.Name, UID: m.UID}
}

func count(held []bool) int {
	n := 0
	for _, h := range held {
		if h {
			n++
		}
	}
	return n
}
