// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package lock_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/member"
)

// section is what the lock protects: it counts who is inside, and keeps all there until it has been full once.
type section struct {
	mu           sync.Mutex
	inside, most int
	full         chan struct{}
	// turns lets some of those that wait look again, a few after each that has left.
	turns chan struct{}
}

func (s *section) enter(ctx context.Context, n int) {
	s.mu.Lock()
	s.inside++
	if s.inside > s.most {
		s.most = s.inside
		if s.most == n {
			close(s.full)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.full:
	case <-ctx.Done():
	}
	runtime.Gosched()
	s.mu.Lock()
	s.inside--
	s.mu.Unlock()
}

// pass goes through the section once, as a machine: it looks when it is its turn, and again after each conflict.
func (s *section) pass(ctx context.Context, l lock.Lock, m capi.Machine, n int) error {
	for {
		select {
		case <-s.turns:
		case <-ctx.Done():
			return ctx.Err()
		}
		held, err := s.look(ctx, l, m, n)
		if err != nil || held {
			return err
		}
	}
}

func (s *section) look(ctx context.Context, l lock.Lock, m capi.Machine, n int) (bool, error) {
	for {
		held, _, err := l.Acquire(ctx, cluster, m, n)
		switch {
		case errors.Is(err, member.ErrStale):
			continue
		case err != nil || !held:
			return false, err
		}
		s.enter(ctx, n)
		return true, s.leave(ctx, l, m)
	}
}

func (s *section) leave(ctx context.Context, l lock.Lock, m capi.Machine) error {
	defer s.wake(2)
	for {
		if err := l.Release(ctx, cluster, holderOf(m)); !errors.Is(err, member.ErrStale) {
			return err
		}
	}
}

// wake gives some of those that wait their turn.
func (s *section) wake(some int) {
	for range some {
		s.turns <- struct{}{}
	}
}

func TestTwoReplicasAndTwoHundredMachinesNeverExceedN(t *testing.T) {
	const machines = 200
	b := fake.NewClientBuilder().WithScheme(scheme.Scheme)
	for i := range machines {
		o := capi.Object(kinds.Machine)
		m := numbered(i)
		o.SetNamespace(m.Namespace)
		o.SetName(m.Name)
		o.SetUID(m.UID)
		o.SetLabels(map[string]string{capi.ClusterNameLabel: "eu"})
		b = b.WithObjects(o)
	}
	c := uniquely(b.Build())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, n := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := &section{full: make(chan struct{}), turns: make(chan struct{}, 4*machines)}
			replicas := [2]lock.Lock{replica(c), replica(interceptor.NewClient(c, interceptor.Funcs{}))}
			s.wake(20)
			var all sync.WaitGroup
			for i := range machines {
				all.Go(func() {
					if err := s.pass(ctx, replicas[i%2], numbered(i), n); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			same(t, "inside at once, at most", n, s.most)
			f := &fixture{t: t, client: c}
			same(t, "the lock at the end", map[string]string(nil), f.data())
		})
	}
}

// uniquely makes the fake give each object a UID of its own and look at it in writes, as an API server does: the
// fake's resourceVersions begin anew with each object, so alone they do not tell a lock from the one before it.
func uniquely(c client.WithWatch) client.WithWatch {
	var mu sync.Mutex
	made := 0
	check := func(ctx context.Context, o client.Object, uid types.UID) error {
		stored := &corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), stored); err != nil {
			return err
		}
		if stored.UID != uid {
			return apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, o.GetName(), errors.New("another UID"))
		}
		return nil
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			mu.Lock()
			defer mu.Unlock()
			made++
			o.SetUID(types.UID(fmt.Sprint(made)))
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			mu.Lock()
			defer mu.Unlock()
			if err := check(ctx, o, o.GetUID()); err != nil {
				return err
			}
			return c.Update(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			mu.Lock()
			defer mu.Unlock()
			options := client.DeleteOptions{}
			options.ApplyOptions(opts)
			if err := check(ctx, o, *options.Preconditions.UID); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
	})
}

func replica(c client.WithWatch) lock.Lock {
	return lock.Lock{Member: member.Member{
		Live: c, Writer: c, Kinds: kinds, Keys: keys, Clock: clocktesting.NewFakePassiveClock(now),
	}}
}

func numbered(i int) capi.Machine {
	name := fmt.Sprintf("m%03d", i)
	return capi.Machine{Meta: capi.Meta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}}
}
