// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package lock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"github.com/windlass-dev/windlass/engine/protocol"
)

var (
	now     = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	cluster = capi.Cluster{Meta: capi.Meta{Namespace: "shop", Name: "eu", UID: "uid-eu"}}
	kinds   = capi.Kinds{
		Cluster: schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: "Cluster"},
		Machine: schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: "Machine"},
	}
	keys = protocol.KeysFor(protocol.ProviderPrefix)
)

type fixture struct {
	lock.Lock

	t      *testing.T
	client client.WithWatch
}

func locked(t *testing.T, funcs interceptor.Funcs, data map[string]string) *fixture {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(funcs)
	for _, name := range []string{"m0", "m1", "m2"} {
		m := capi.Object(kinds.Machine)
		m.SetNamespace("shop")
		m.SetName(name)
		m.SetUID(types.UID("uid-" + name))
		m.SetLabels(map[string]string{capi.ClusterNameLabel: "eu"})
		b = b.WithObjects(m)
	}
	if data != nil {
		b = b.WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "eu-cp-inplace-upgrade-lock", UID: "uid-lock",
		}, Data: data})
	}
	c := b.Build()
	return &fixture{
		t: t, client: c,
		Lock: lock.Lock{Member: member.Member{
			Live: c, Writer: c, Kinds: kinds, Keys: keys, Clock: clocktesting.NewFakePassiveClock(now),
		}},
	}
}

func machine(name string) capi.Machine {
	return capi.Machine{Meta: capi.Meta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}}
}

// config is the lock's ConfigMap, nil when there is none.
func (f *fixture) config() *corev1.ConfigMap {
	f.t.Helper()
	config := &corev1.ConfigMap{}
	err := f.client.Get(f.t.Context(), types.NamespacedName{Namespace: "shop", Name: "eu-cp-inplace-upgrade-lock"}, config)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return config
}

func (f *fixture) data() map[string]string {
	if c := f.config(); c != nil {
		return c.Data
	}
	return nil
}

func (f *fixture) acquire(name string, n int) bool {
	f.t.Helper()
	held, _, err := f.Acquire(f.t.Context(), cluster, machine(name), n)
	if err != nil {
		f.t.Fatal(err)
	}
	return held
}

func (f *fixture) release(name string) {
	f.t.Helper()
	holder := holderOf(machine(name))
	holders, err := f.Holders(f.t.Context(), cluster)
	if err != nil && !errors.Is(err, lock.ErrMalformed) {
		f.t.Fatal(err)
	}
	for _, h := range holders { // one of the existing controllers has no UID
		if h.Key() == holder.Key() {
			holder = h
		}
	}
	if err := f.Release(f.t.Context(), cluster, holder); err != nil {
		f.t.Fatal(err)
	}
}

func holderOf(m capi.Machine) lock.Holder {
	return lock.Holder{Namespace: m.Namespace, Name: m.Name, UID: m.UID}
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// PROTOCOL.md 3.3.
func TestWithOneHolderTheLockIsTheProtocols(t *testing.T) {
	f := locked(t, interceptor.Funcs{}, nil)
	same(t, "held", true, f.acquire("m0", 1))
	c := f.config()
	same(t, "data", map[string]string{
		"lock-information": `{"machineName":"m0","machineNamespace":"shop"}`,
	}, c.Data)
	same(t, "labels", map[string]string{"cluster.x-k8s.io/cluster-name": "eu"}, c.Labels)
	same(t, "owners", []metav1.OwnerReference{
		{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Cluster", Name: "eu", UID: "uid-eu"},
	}, c.OwnerReferences)
	same(t, "held by another", false, f.acquire("m1", 1))
	same(t, "held again", true, f.acquire("m0", 1))
	f.release("m1")
	same(t, "a release of one that does not hold it", c.ResourceVersion, f.config().ResourceVersion)
	f.release("m0")
	same(t, "after the release", (*corev1.ConfigMap)(nil), f.config())
	f.release("m0")
}

func TestTheLockOfTheExistingControllersIsRespected(t *testing.T) {
	f := locked(t, interceptor.Funcs{}, map[string]string{
		"lock-information": `{"machineName":"m2","machineNamespace":"shop"}`,
	})
	same(t, "held", false, f.acquire("m0", 1))
	holders, err := f.Holders(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "holders", []lock.Holder{{Name: "m2", Namespace: "shop"}}, holders)
}

func TestManyHoldersLookLikeOneToTheExistingControllers(t *testing.T) {
	f := locked(t, interceptor.Funcs{}, nil)
	same(t, "first", true, f.acquire("m0", 2))
	same(t, "second", true, f.acquire("m1", 2))
	same(t, "third", false, f.acquire("m2", 2))
	same(t, "data", map[string]string{
		"lock-information": `{"machineName":"m0","machineNamespace":"shop"}`,
		"lock-holders": `[{"machineName":"m0","machineNamespace":"shop","machineUID":"uid-m0","since":"2026-09-01T12:00:00Z"},` +
			`{"machineName":"m1","machineNamespace":"shop","machineUID":"uid-m1","since":"2026-09-01T12:00:00Z"}]`,
	}, f.data())
	f.release("m0")
	same(t, "data after the first has gone", map[string]string{
		"lock-information": `{"machineName":"m1","machineNamespace":"shop"}`,
		"lock-holders":     `[{"machineName":"m1","machineNamespace":"shop","machineUID":"uid-m1","since":"2026-09-01T12:00:00Z"}]`,
	}, f.data())
	same(t, "third, again", true, f.acquire("m2", 2))
}

func TestAHolderWhoseMachineIsGoneHoldsNothing(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"no such machine": {"lock-information": `{"machineName":"old","machineNamespace":"shop"}`},
		"another machine of that name": {
			"lock-information": `{"machineName":"m1","machineNamespace":"shop"}`,
			"lock-holders":     `[{"machineName":"m1","machineNamespace":"shop","machineUID":"uid-before"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := locked(t, interceptor.Funcs{}, data)
			holders, err := f.Holders(t.Context(), cluster)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "gone", true, holders[0].Gone)
			same(t, "held", true, f.acquire("m0", 1))
			same(t, "data", map[string]string{
				"lock-information": `{"machineName":"m0","machineNamespace":"shop"}`,
			}, f.data())
		})
	}
}

// PROTOCOL.md 5.2, 13.
func TestAMalformedLockIsRepairedOnlyWhenNothingIsInFlight(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"no data":                  {},
		"no JSON":                  {"lock-information": "m0"},
		"no name":                  {"lock-information": `{"machineName":"","machineNamespace":"shop"}`},
		"holders that are no list": {"lock-holders": "{}"},
		"no holders":               {"lock-holders": "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := locked(t, interceptor.Funcs{}, data)
			f.annotate("m2", map[string]string{keys.To: "channel=x"})
			_, _, err := f.Acquire(t.Context(), cluster, machine("m0"), 1)
			if !errors.Is(err, lock.ErrMalformed) {
				t.Errorf("Acquire while a machine is in flight: %v", err)
			}
			if _, err := f.Holders(t.Context(), cluster); !errors.Is(err, lock.ErrMalformed) {
				t.Errorf("Holders: %v", err)
			}
			f.release("m0")
			same(t, "data", len(data), len(f.data()))
			f.annotate("m2", nil)
			if _, _, err = f.Acquire(t.Context(), cluster, machine("m0"), 1); !errors.Is(err, member.ErrStale) {
				t.Errorf("Acquire when nothing is in flight: %v", err)
			}
			same(t, "held at the second look", true, f.acquire("m0", 1))
		})
	}
}

func (f *fixture) annotate(name string, annotations map[string]string) {
	f.t.Helper()
	m := capi.Object(kinds.Machine)
	if err := f.client.Get(f.t.Context(), machine(name).Key(), m); err != nil {
		f.t.Fatal(err)
	}
	m.SetAnnotations(annotations)
	if err := f.client.Update(f.t.Context(), m); err != nil {
		f.t.Fatal(err)
	}
}

// PROTOCOL.md 5.2, 14: a lock that has changed hands since it was read is not given back.
func TestALockThatHasChangedSinceItWasReadIsLeftAlone(t *testing.T) {
	var f *fixture
	raced := false
	f = locked(t, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if !raced {
				raced = true
				config := f.config()
				config.Data["lock-information"] = `{"machineName":"m1","machineNamespace":"shop"}`
				if err := c.Update(ctx, config); err != nil {
					t.Fatal(err)
				}
			}
			return c.Delete(ctx, o, opts...)
		},
	}, nil)
	f.acquire("m0", 1)
	if err := f.Release(t.Context(), cluster, holderOf(machine("m0"))); !errors.Is(err, member.ErrStale) {
		t.Errorf("Release: %v", err)
	}
	same(t, "data", map[string]string{"lock-information": `{"machineName":"m1","machineNamespace":"shop"}`}, f.data())
}

func TestNoMoreThanNHoldersHoweverManyTry(t *testing.T) {
	for _, n := range []int{1, 2} {
		f := locked(t, interceptor.Funcs{}, nil)
		var wins sync.Map
		var all sync.WaitGroup
		for _, name := range []string{"m0", "m1", "m2"} {
			all.Go(func() {
				for range 50 {
					held, _, err := f.Acquire(context.Background(), cluster, machine(name), n)
					if err != nil && !errors.Is(err, member.ErrStale) {
						t.Error(err)
					}
					if held {
						wins.Store(name, true)
						return
					}
				}
			})
		}
		all.Wait()
		winners := 0
		wins.Range(func(_, _ any) bool { winners++; return true })
		same(t, "holders", n, winners)
	}
}
