// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package lock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/lock"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const held0 = `{"machineName":"m0","machineNamespace":"shop"}`

// PROTOCOL.md 5.2, 13: the existing controllers fail for ever on such a lock.
func TestFault13_C094_ALockThatCannotBeReadIsNamedAndRepairedInOneWrite(t *testing.T) {
	for name, c := range map[string]struct {
		data  map[string]string
		owner types.UID
		text  string
	}{
		"data: {}": {data: map[string]string{}, text: "no machine name"},
		"half a record": {
			data: map[string]string{"lock-information": "{"}, text: "unexpected EOF",
		},
		"the lock of a cluster that was there before": {
			data: map[string]string{"lock-information": held0}, owner: "uid-before",
			text: "it belongs to a cluster eu with the UID uid-before, this one's is uid-eu",
		},
	} {
		t.Run(name, func(t *testing.T) {
			writes := 0
			f := locked(t, counting(&writes), c.data)
			f.own(c.owner)
			writes = 0
			f.annotate("m1", map[string]string{keys.To: "channel=x"})
			writes = 0 // what the test wrote
			for range 20 {
				_, _, err := f.Acquire(t.Context(), cluster, machine("m2"), 1)
				if !errors.Is(err, lock.ErrMalformed) || !strings.Contains(err.Error(), "shop/eu-cp-inplace-upgrade-lock") ||
					!strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "machine m1") {
					t.Fatalf("Acquire while m1 is in flight: %v", err)
				}
			}
			same(t, "writes while m1 is in flight", 0, writes)
			f.annotate("m1", nil)
			writes = 0
			if _, _, err := f.Acquire(t.Context(), cluster, machine("m2"), 1); !errors.Is(err, member.ErrStale) {
				t.Fatalf("Acquire when nothing is in flight: %v", err)
			}
			same(t, "held at the second look", true, f.acquire("m2", 1))
			same(t, "one removal and one creation", 2, writes)
			same(t, "owner", types.UID("uid-eu"), f.config().OwnerReferences[0].UID)
		})
	}
}

func counting(writes *int) interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			*writes++
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			*writes++
			return c.Update(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			*writes++
			return c.Delete(ctx, o, opts...)
		},
	}
}

// own makes the lock one of a cluster with a UID.
func (f *fixture) own(cluster types.UID) {
	f.t.Helper()
	if cluster == "" {
		return
	}
	config := f.config()
	config.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Cluster", Name: "eu", UID: cluster},
	}
	if err := f.client.Update(f.t.Context(), config); err != nil {
		f.t.Fatal(err)
	}
}

func TestC094_ALockThatOthersOwnToo_IsNotTakenForAForeignOne(t *testing.T) {
	f := locked(t, interceptor.Funcs{}, map[string]string{"lock-information": held0})
	config := f.config()
	config.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "eu", UID: "another"},
		{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "eu", UID: "uid-eu"},
	}
	if err := f.client.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	same(t, "held by m1", false, f.acquire("m1", 1))
	same(t, "held by m0", true, f.acquire("m0", 1))
}

func TestFault13_TheLockOfADeletedMachineIsFreeOnceTheMachineIsGone(t *testing.T) {
	for _, n := range []int{1, 2} {
		f := locked(t, interceptor.Funcs{}, nil)
		f.acquire("m0", n)
		f.change("m0", func(m client.Object) { m.SetFinalizers([]string{"test/keep"}) })
		m := capi.Object(kinds.Machine)
		m.SetNamespace("shop")
		m.SetName("m0")
		if err := f.client.Delete(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		holders, err := f.Holders(t.Context(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "gone while it is being deleted", false, holders[0].Gone)
		f.change("m0", func(m client.Object) { m.SetFinalizers(nil) })
		if holders, err = f.Holders(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
		same(t, "gone when it is deleted", true, holders[0].Gone)
		same(t, "held by another", true, f.acquire("m1", n))
		if strings.Contains(f.data()["lock-holders"]+f.data()["lock-information"], "m0") {
			t.Errorf("the machine that is gone still holds %v", f.data())
		}
	}
}

func (f *fixture) change(name string, change func(m client.Object)) {
	f.t.Helper()
	m := capi.Object(kinds.Machine)
	if err := f.client.Get(f.t.Context(), machine(name).Key(), m); err != nil {
		f.t.Fatal(err)
	}
	change(m)
	if err := f.client.Update(f.t.Context(), m); err != nil {
		f.t.Fatal(err)
	}
}

func TestAMachineThatWasReplacedUnderItsNameHoldsNothing(t *testing.T) {
	for _, n := range []int{1, 2} {
		f := locked(t, interceptor.Funcs{}, nil)
		f.acquire("m0", n)
		before := machine("m0")
		after := machine("m0")
		after.UID = "uid-after"
		f.change("m0", func(m client.Object) { m.SetUID(after.UID) })
		holders, err := f.Holders(t.Context(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the one before is gone", true, holders[0].Gone)
		same(t, "held by another", true, f.acquire("m1", n))
		f.release("m1")
		held, _, err := f.Acquire(t.Context(), cluster, after, n)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "held by the one that is there", true, held)
		if held, _, err = f.Acquire(t.Context(), cluster, before, 1); err != nil {
			t.Fatal(err)
		}
		same(t, "held by the one before", false, held)
	}
}

// What was decided about the holder before is not done to the one that has taken its place under its name meanwhile.
func TestTheLockOfAMachineIsNotGivenBackForTheOneThatItReplacedUnderItsName(t *testing.T) {
	for _, n := range []int{1, 2} {
		f := locked(t, interceptor.Funcs{}, nil)
		f.acquire("m0", n)
		before, after := machine("m0"), machine("m0")
		after.UID = "uid-after"
		f.change("m0", func(m client.Object) { m.SetUID(after.UID) })
		held, _, err := f.Acquire(t.Context(), cluster, after, n)
		same(t, "error", nil, err)
		same(t, "held by the one that is there", true, held)
		for _, old := range []lock.Holder{holderOf(before), {Namespace: "shop", Name: "m0"}} {
			same(t, "error", nil, f.Release(t.Context(), cluster, old))
			holders, err := f.Holders(t.Context(), cluster)
			same(t, "error", nil, err)
			if len(holders) != 1 || holders[0].UID != after.UID || holders[0].Gone {
				t.Errorf("of %d that may, holders after the release of %q: %+v", n, old.UID, holders)
			}
		}
		same(t, "error", nil, f.Release(t.Context(), cluster, holderOf(after)))
		same(t, "lock", map[string]string(nil), f.data())
	}
}

func TestWhichMachineHoldsALockOfOneHolderStandsBesideItsBytes(t *testing.T) {
	f := locked(t, interceptor.Funcs{}, nil)
	f.acquire("m0", 1)
	config := f.config()
	same(t, "annotations", map[string]string{"windlass.dev/lock-machine": "m0/uid-m0"}, config.Annotations)
	same(t, "data", map[string]string{"lock-information": held0}, config.Data)
	// Somebody writes another holder and leaves the annotation: it says nothing about that one.
	config.Data["lock-information"] = `{"machineName":"m1","machineNamespace":"shop"}`
	if err := f.client.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	holders, err := f.Holders(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "holders", []lock.Holder{{Name: "m1", Namespace: "shop"}}, holders)
}

// FuzzLock looks for a lock that makes the engine panic, that lets more machines in than may, or that nothing repairs.
func FuzzLock(f *testing.F) {
	for _, seed := range []string{
		"", "{", "{}", "null", "[]", "[null]", "[{}]", held0, "[" + held0 + "]", `{"machineName":"gone"}`, held0 + held0,
		`[{"machineName":"m0"},{"machineName":"m1"},{"machineName":"m2"}]`, `[{"machineName":"m0","since":"x"}]`,
		`{"machineName":1}`, `{"MACHINENAME":"m0"}`, "\xff", `[{"machineName":"m0","machineUID":"other"}]`,
	} {
		f.Add(seed, seed, seed, true, true, uint8(1))
		f.Add(seed, "", "m0/uid-m0", true, false, uint8(2))
		f.Add("", seed, "m0/other", false, true, uint8(5))
	}
	f.Fuzz(func(t *testing.T, one, many, mark string, hasOne, hasMany bool, n uint8) {
		data := map[string]string{}
		if hasOne {
			data[protocol.LockDataKey] = one
		}
		if hasMany {
			data[lock.HoldersDataKey] = many
		}
		l := locked(t, interceptor.Funcs{}, data)
		config := l.config()
		config.Annotations = map[string]string{lock.MachineKey: mark}
		if err := l.client.Update(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		checkLock(t, l, int(n%6)+1)
	})
}

func checkLock(t *testing.T, l *fixture, n int) {
	t.Helper()
	before := l.left()
	_, _, err := l.Acquire(t.Context(), cluster, machine("m0"), n)
	switch {
	case errors.Is(err, member.ErrStale): // repaired
		same(t, "the lock after its repair", (*corev1.ConfigMap)(nil), l.config())
	case err != nil:
		t.Fatalf("Acquire: %v", err)
	}
	held := 0
	for _, name := range []string{"m0", "m1", "m2"} {
		if l.acquire(name, n) {
			held++
		}
	}
	if after := l.left(); len(after) > max(n, len(before)) {
		t.Errorf("%d holders of %d that may: %v", len(after), n, after)
	}
	for _, name := range []string{"m0", "m1", "m2"} {
		l.release(name)
	}
	same(t, "holders at the end", 0, len(l.left()))
	same(t, "somebody held it", true, held > 0)
}

// left are the holders that have a machine; a lock that cannot be read has none.
func (f *fixture) left() []lock.Holder {
	f.t.Helper()
	holders, err := f.Holders(f.t.Context(), cluster)
	if err != nil && !errors.Is(err, lock.ErrMalformed) {
		f.t.Fatal(err)
	}
	return slices.DeleteFunc(holders, func(h lock.Holder) bool { return h.Gone })
}
