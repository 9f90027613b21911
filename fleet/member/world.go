// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
)

// World is one workload cluster as its member shows it.
type World struct {
	Present       bool
	Cluster       capi.Cluster
	ControlPlanes []Placed[capi.ControlPlane]
	Pools         []Placed[capi.MachineDeployment]
	Machines      []capi.Machine
}

// Placed is an object with the kind that it was read as.
type Placed[T any] struct {
	GVK    schema.GroupVersionKind
	Object T
}

// Read reads a workload cluster from the member's cache. A cluster of another UID is absent (law 1); absence is
// confirmed past the cache, which may be younger than the cluster.
func Read(ctx context.Context, m Member, key types.NamespacedName, uid types.UID) (World, error) {
	return read(ctx, m, m.Cluster.GetClient(), key, uid)
}

// ReadLive reads a workload cluster past the cache, as what is about to be done to it is checked once more.
func ReadLive(ctx context.Context, m Member, key types.NamespacedName, uid types.UID) (World, error) {
	return read(ctx, m, m.Cluster.GetAPIReader(), key, uid)
}

func read(ctx context.Context, m Member, from client.Reader, key types.NamespacedName, uid types.UID) (World, error) {
	object := capi.Object(m.Kinds.Cluster)
	err := from.Get(ctx, key, object)
	if apierrors.IsNotFound(err) || (err == nil && object.GetUID() != uid) {
		err = m.Cluster.GetAPIReader().Get(ctx, key, object)
	}
	switch {
	case apierrors.IsNotFound(err):
		return World{}, nil
	case err != nil:
		return World{}, fmt.Errorf("reading cluster %s: %w", key, err)
	case object.GetUID() != uid:
		return World{}, nil
	}
	w := World{Present: true, Cluster: capi.ParseCluster(object)}
	if err := w.readControlPlane(ctx, m, from); err != nil {
		return World{}, err
	}
	return w, w.readWorkers(ctx, m, from)
}

func (w *World) readControlPlane(ctx context.Context, m Member, from client.Reader) error {
	gvk, supported := m.Kinds.ControlPlane(w.Cluster.ControlPlaneRef)
	if !supported {
		return nil
	}
	object := capi.Object(gvk)
	key := types.NamespacedName{Namespace: w.Cluster.Namespace, Name: w.Cluster.ControlPlaneRef.Name}
	err := from.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", gvk.Kind, key, err)
	}
	w.ControlPlanes = append(w.ControlPlanes,
		Placed[capi.ControlPlane]{GVK: gvk, Object: capi.ParseControlPlane(object)})
	return nil
}

func (w *World) readWorkers(ctx context.Context, m Member, from client.Reader) error {
	mine := []client.ListOption{
		client.InNamespace(w.Cluster.Namespace),
		client.MatchingLabels{capi.ClusterNameLabel: w.Cluster.Name},
	}
	pools := capi.List(m.Kinds.MachineDeployment)
	if err := from.List(ctx, pools, mine...); err != nil {
		return fmt.Errorf("listing the pools of cluster %s: %w", w.Cluster.Key(), err)
	}
	for i := range pools.Items {
		w.Pools = append(w.Pools, Placed[capi.MachineDeployment]{
			GVK: m.Kinds.MachineDeployment, Object: capi.ParseMachineDeployment(&pools.Items[i]),
		})
	}
	machines := capi.List(m.Kinds.Machine)
	if err := from.List(ctx, machines, mine...); err != nil {
		return fmt.Errorf("listing the machines of cluster %s: %w", w.Cluster.Key(), err)
	}
	for i := range machines.Items {
		w.Machines = append(w.Machines, capi.ParseMachine(&machines.Items[i]))
	}
	slices.SortFunc(w.Pools, func(a, b Placed[capi.MachineDeployment]) int { return cmp.Compare(a.Object.Name, b.Object.Name) })
	slices.SortFunc(w.Machines, func(a, b capi.Machine) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// MachinesOf are the machines of one owner: of the control plane, or of a pool by name.
func (w *World) MachinesOf(controlPlane bool, pool string) []capi.Machine {
	var of []capi.Machine
	for _, m := range w.Machines {
		if m.ControlPlane == controlPlane && (controlPlane || m.Deployment == pool) {
			of = append(of, m)
		}
	}
	return of
}

// Unaccounted says which machines no supported owner accounts for; empty: none. Such a cluster is Unsupported and is
// never a success.
func (w *World) Unaccounted() string {
	if len(w.ControlPlanes) == 0 {
		ref := w.Cluster.ControlPlaneRef
		return fmt.Sprintf("control plane %s %s.%s is not of a supported kind, or absent", ref.Name, ref.Kind, ref.Group)
	}
	known := map[string]bool{}
	for _, p := range w.Pools {
		known[p.Object.Name] = true
	}
	for _, m := range w.Machines {
		if !m.ControlPlane && !known[m.Deployment] {
			return fmt.Sprintf("machine %s belongs to no MachineDeployment", m.Name)
		}
	}
	return ""
}

// Health judges the cluster as a whole: itself, its control planes and all its machines; the worst counts.
func (w *World) Health() capi.Verdict {
	worst := w.Cluster.Health()
	if why := w.Unaccounted(); why != "" {
		worst = capi.Verdict{Status: capi.False, Message: why}
	}
	for _, cp := range w.ControlPlanes {
		worst = worse(worst, cp.Object.Health())
	}
	for _, m := range w.Machines {
		worst = worse(worst, m.Health())
	}
	return worst
}

// worse is the judgement that counts of two: False before Unknown before True.
func worse(a, b capi.Verdict) capi.Verdict {
	switch {
	case a.Status == capi.False, b.Status == capi.True:
		return a
	case b.Status == capi.False, a.Status == capi.True:
		return b
	default:
		return a
	}
}

// Find reads the cluster that has a name now, whatever its UID.
func (m Member) Find(ctx context.Context, key types.NamespacedName) (World, error) {
	object := capi.Object(m.Kinds.Cluster)
	err := m.Cluster.GetClient().Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		err = m.Cluster.GetAPIReader().Get(ctx, key, object)
	}
	if apierrors.IsNotFound(err) {
		return World{}, nil
	}
	if err != nil {
		return World{}, fmt.Errorf("reading cluster %s: %w", key, err)
	}
	return Read(ctx, m, key, object.GetUID())
}
