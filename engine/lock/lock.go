// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package lock lets a bounded number of machines of a cluster be upgraded at once, across controllers and processes:
// the lock is a ConfigMap beside the Cluster, read live, and changed only by compare-and-swap.
//
// With one holder it is byte for byte the lock that the existing controllers keep (PROTOCOL.md 3.3), so that they and
// this engine exclude each other. Further holders stand in a data key of their own, which those controllers ignore:
// for them such a lock is held by its first holder.
package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// HoldersDataKey is the key of the ConfigMap under which all holders stand when more than one is allowed.
const HoldersDataKey = "lock-holders"

// MachineKey is the annotation of the ConfigMap that says which Machine of that name holds a lock of one holder:
// "<name>/<uid>". The lock's own bytes have no room for it.
const MachineKey = "windlass.dev/lock-machine"

// ownerAPIVersion is what the existing controllers write, whatever the member serves.
const ownerAPIVersion = capi.Group + "/v1beta1"

// ErrMalformed: the lock cannot be read while a machine of the cluster may be in flight. It is repaired as soon as
// none is.
var ErrMalformed = errors.New("the lock cannot be read")

// Holder is a machine that holds the lock.
type Holder struct {
	Name      string `json:"machineName"`
	Namespace string `json:"machineNamespace"`
	// UID of the machine, empty in a lock of the existing controllers. Since is not known of a lock with one holder:
	// its bytes have no room for it.
	UID   types.UID `json:"machineUID,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Gone: the machine does not exist any more, or is another one by now.
	Gone bool `json:"-"`
}

// Lock is the lock of each cluster of a member.
type Lock struct{ Member member.Member }

// Acquire takes the lock for a machine if fewer than n others hold it. It reports whether the machine holds it now, and
// who does. Repeated it changes nothing. member.ErrStale: somebody was faster, look again; ErrMalformed: wait.
func (l Lock) Acquire(ctx context.Context, c capi.Cluster, m capi.Machine, n int) (bool, []Holder, error) {
	at, err := l.usable(ctx, c)
	if err != nil {
		return false, nil, err
	}
	holders := at.holders
	if slices.ContainsFunc(holders, func(h Holder) bool { return h.is(m) }) {
		return true, holders, nil
	}
	if len(holders) >= n {
		return false, holders, nil
	}
	holder := Holder{Name: m.Name, Namespace: m.Namespace, UID: m.UID, Since: l.Member.Clock.Now().UTC()}
	holders = append(slices.Clone(holders), holder)
	if err := l.write(ctx, c, at, holders, n); err != nil {
		return false, at.holders, err
	}
	return true, holders, nil
}

// Release gives the lock back if that very holder has it, and does nothing if it does not: another machine of its name
// may have taken it since.
func (l Lock) Release(ctx context.Context, c capi.Cluster, h Holder) error {
	at, err := l.read(ctx, c)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(at.holders), h.same)
	switch {
	case len(rest) == len(at.holders): // also where the lock cannot be read: nobody is known to hold it
		return nil
	case len(rest) == 0:
		return l.remove(ctx, at)
	}
	return l.write(ctx, c, at, rest, len(at.holders))
}

// Holders returns the machines that hold the lock; those that are gone are marked. ErrMalformed as for Acquire, but
// nothing is repaired.
func (l Lock) Holders(ctx context.Context, c capi.Cluster) ([]Holder, error) {
	at, err := l.read(ctx, c)
	if err != nil {
		return nil, err
	}
	if at.malformed != nil {
		return nil, fmt.Errorf("lock %s: %w: %w", key(c), ErrMalformed, at.malformed)
	}
	return l.judge(ctx, at.holders)
}

// state is the lock as it was read; config is nil when nobody holds it.
type state struct {
	config    *corev1.ConfigMap
	holders   []Holder
	malformed error
}

func (l Lock) read(ctx context.Context, c capi.Cluster) (state, error) {
	config := &corev1.ConfigMap{}
	err := l.Member.Live.Get(ctx, key(c), config)
	switch {
	case apierrors.IsNotFound(err):
		return state{}, nil
	case err != nil:
		return state{}, fmt.Errorf("reading lock %s: %w", key(c), err)
	}
	holders, err := decode(config, c)
	return state{config: config, holders: holders, malformed: err}, nil
}

// usable reads the lock without holders that are gone, repairing what cannot be read when nothing is in flight.
func (l Lock) usable(ctx context.Context, c capi.Cluster) (state, error) {
	at, err := l.read(ctx, c)
	if err != nil {
		return state{}, err
	}
	if at.malformed != nil {
		return state{}, l.repair(ctx, c, at)
	}
	at.holders, err = l.judge(ctx, at.holders)
	at.holders = slices.DeleteFunc(at.holders, func(h Holder) bool { return h.Gone })
	return at, err
}

// repair removes a lock that cannot be read; ErrStale says to look again.
func (l Lock) repair(ctx context.Context, c capi.Cluster, at state) error {
	machines, err := l.Member.Machines(ctx, l.Member.Live, c.Key())
	if err != nil {
		return err
	}
	for _, m := range machines {
		if member.Busy(m) {
			return fmt.Errorf("lock %s: %w while machine %s is in flight: %w", key(c), ErrMalformed, m.Name,
				at.malformed)
		}
	}
	if err := l.remove(ctx, at); err != nil {
		return err
	}
	return fmt.Errorf("lock %s was malformed and has been removed: %w", key(c), member.ErrStale)
}

// judge marks holders whose machine is gone.
func (l Lock) judge(ctx context.Context, holders []Holder) ([]Holder, error) {
	judged := slices.Clone(holders)
	for i, h := range judged {
		m, found, err := l.Member.Machine(ctx, l.Member.Live, h.Key())
		if err != nil {
			return nil, err
		}
		judged[i].Gone = !found || h.UID != "" && h.UID != m.UID
	}
	return judged, nil
}

// write makes the lock say who holds it, of n that may.
func (l Lock) write(ctx context.Context, c capi.Cluster, at state, holders []Holder, n int) error {
	data, err := encode(holders, n)
	if err != nil {
		return err
	}
	if at.config == nil {
		created := configMap(c, data)
		mark(created, holders[0])
		return swapped(c, l.Member.Writer.Create(ctx, created, client.FieldOwner(member.FieldOwner)))
	}
	next := at.config.DeepCopy() // carries the resourceVersion that was read
	next.Data = data
	mark(next, holders[0])
	return swapped(c, l.Member.Writer.Update(ctx, next, client.FieldOwner(member.FieldOwner)))
}

func (l Lock) remove(ctx context.Context, at state) error {
	err := l.Member.Writer.Delete(ctx, at.config, client.Preconditions{
		UID: new(at.config.UID), ResourceVersion: new(at.config.ResourceVersion),
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return fmt.Errorf("removing lock %s: %w", client.ObjectKeyFromObject(at.config), member.ErrStale)
	case err != nil:
		return fmt.Errorf("removing lock %s: %w", client.ObjectKeyFromObject(at.config), err)
	}
	return nil
}

func swapped(c capi.Cluster, err error) error {
	switch {
	case apierrors.IsAlreadyExists(err), apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return fmt.Errorf("lock %s: %w", key(c), member.ErrStale)
	case err != nil:
		return fmt.Errorf("writing lock %s: %w", key(c), err)
	}
	return nil
}

func key(c capi.Cluster) types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: protocol.LockName(c.Name)}
}

func configMap(c capi.Cluster, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: protocol.LockName(c.Name),
			Labels: map[string]string{capi.ClusterNameLabel: c.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: ownerAPIVersion, Kind: "Cluster", Name: c.Name, UID: c.UID,
			}},
		},
		Data: data,
	}
}

// Key is the namespace and name of the holder's Machine.
func (h Holder) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: h.Namespace, Name: h.Name}
}

// is reports whether the holder is a machine, and not another one of that name.
func (h Holder) is(m capi.Machine) bool {
	return h.Key() == m.Key() && (h.UID == "" || h.UID == m.UID)
}

// same reports whether two holders are one; where the lock does not say which machine of its name it is, neither must.
func (h Holder) same(other Holder) bool { return h.Key() == other.Key() && h.UID == other.UID }
