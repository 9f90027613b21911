// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package member is one management cluster as the engine's controllers see it: what they read, the one way in which
// they write, and what wakes them. Every write is a patch of named annotation keys that carries the uid and the
// resourceVersion of the object seen; status and spec are never written.
package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// FieldOwner names the engine in managed fields.
const FieldOwner = "windlass-engine"

// lookAgain is when an object is looked at again that had changed since it was read; usually its watch is faster.
const lookAgain = time.Second

// ErrStale means that the object has changed, or gone, since it was seen: look again.
var ErrStale = errors.New("the object has changed since it was seen")

// Member is what the controllers of one management cluster share. All fields are required.
type Member struct {
	// Cache reads what is watched; Live reads past it.
	Cache, Live client.Reader
	// Writer writes; it must refuse when this process may no longer lead (see Gate).
	Writer client.Writer
	// Events records what happened, in the member.
	Events events.EventRecorder
	// Kinds that the member serves.
	Kinds capi.Kinds
	// Keys of the protocol that the engine answers here.
	Keys protocol.Keys
	// Clock of all decisions.
	Clock clock.PassiveClock
}

// Patch is a change of annotations: the text to set, or nil to remove the key.
type Patch map[string]any

// Reduced drops what would change nothing: a write that changes nothing is not made.
func (p Patch) Reduced(annotations map[string]string) Patch {
	small := Patch{}
	for key, value := range p {
		now, present := annotations[key]
		if value == nil && present || value != nil && (!present || value != now) {
			small[key] = value
		}
	}
	return small
}

// Annotate patches annotations of an object as it was seen, and returns what the object's annotations and
// resourceVersion are then. ErrStale: look again. Without a change nothing is written.
func (m Member) Annotate(ctx context.Context, gvk schema.GroupVersionKind, seen capi.Meta, p Patch) (capi.Meta, error) {
	p = p.Reduced(seen.Annotations)
	if len(p) == 0 {
		return seen, nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": seen.UID, "resourceVersion": seen.ResourceVersion, "annotations": p,
	}})
	if err != nil {
		return seen, err
	}
	o := capi.Object(gvk)
	o.SetNamespace(seen.Namespace)
	o.SetName(seen.Name)
	err = m.Writer.Patch(ctx, o, client.RawPatch(types.MergePatchType, body), client.FieldOwner(FieldOwner))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsInvalid(err):
		return seen, fmt.Errorf("%s %s: %w", gvk.Kind, seen.Key(), errors.Join(ErrStale, err))
	case err != nil:
		return seen, fmt.Errorf("patching %s %s: %w", gvk.Kind, seen.Key(), err)
	}
	seen.ResourceVersion, seen.Annotations = o.GetResourceVersion(), o.GetAnnotations()
	return seen, nil
}

// Machine reads one machine. A machine that does not exist is false.
func (m Member) Machine(ctx context.Context, r client.Reader, key types.NamespacedName) (capi.Machine, bool, error) {
	o := capi.Object(m.Kinds.Machine)
	if err := r.Get(ctx, key, o); err != nil {
		return capi.Machine{}, false, ignoreNotFound("machine", key, err)
	}
	return capi.ParseMachine(o), true, nil
}

// Cluster reads one cluster. A cluster that does not exist is false.
func (m Member) Cluster(ctx context.Context, r client.Reader, key types.NamespacedName) (capi.Cluster, bool, error) {
	o := capi.Object(m.Kinds.Cluster)
	if err := r.Get(ctx, key, o); err != nil {
		return capi.Cluster{}, false, ignoreNotFound("cluster", key, err)
	}
	return capi.ParseCluster(o), true, nil
}

// Machines reads the machines of a cluster, control plane or workers.
func (m Member) Machines(ctx context.Context, r client.Reader, cluster types.NamespacedName) ([]capi.Machine, error) {
	list := capi.List(m.Kinds.Machine)
	err := r.List(ctx, list, client.InNamespace(cluster.Namespace),
		client.MatchingLabels{capi.ClusterNameLabel: cluster.Name})
	if err != nil {
		return nil, fmt.Errorf("listing the machines of cluster %s: %w", cluster, err)
	}
	machines := make([]capi.Machine, 0, len(list.Items))
	for i := range list.Items {
		machines = append(machines, capi.ParseMachine(&list.Items[i]))
	}
	return machines, nil
}

// Attempt reads the attempt on a machine. One that cannot be read is the zero value with an error.
func Attempt(m capi.Machine) (protocol.Attempt, error) {
	return protocol.ParseAttempt(m.Annotations[protocol.AttemptKey])
}

// Busy reports whether anybody, under either prefix of the protocol, asks the machine to upgrade or may still be
// upgrading it, or its node is still cordoned for that. What cannot be read counts as busy.
func Busy(machine capi.Machine) bool {
	if _, cordoned := machine.Annotations[protocol.DrainKey]; cordoned {
		return true
	}
	for _, prefix := range [...]string{protocol.ProviderPrefix, protocol.OwnPrefix} {
		if protocol.KeysFor(prefix).Read(machine.Annotations).Busy() {
			return true
		}
	}
	attempt, err := Attempt(machine)
	return err != nil || attempt.FailedAt.Before(attempt.SentAt)
}

// Foreign reports whether a machine is asked, or keeps a change, under another prefix than that of ours.
func Foreign(ours protocol.Keys, m capi.Machine) bool {
	for _, prefix := range [...]string{protocol.ProviderPrefix, protocol.OwnPrefix} {
		if keys := protocol.KeysFor(prefix); keys != ours && keys.Read(m.Annotations).Busy() {
			return true
		}
	}
	return false
}

// LookAgain turns ErrStale into a look a little later, since it is no failure; other errors are passed on.
func LookAgain(err error) (time.Duration, error) {
	if errors.Is(err, ErrStale) {
		return lookAgain, nil
	}
	return 0, err
}

func ignoreNotFound(kind string, key types.NamespacedName, err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("reading %s %s: %w", kind, key, err)
}
