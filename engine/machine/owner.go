// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// withdrawn reports whether an owner has marked a machine and does not ask for what the machine is asked for any more,
// or is going. A machine without a plan was asked by hand, and one that names no owner has nobody to ask.
func (r *Reconciler) withdrawn(ctx context.Context, from client.Reader, m capi.Machine, c capi.Cluster) (bool, error) {
	if _, marked := m.Annotations[protocol.PlanKey]; !marked {
		return false, nil
	}
	gvk, name := r.ownerOf(m, c)
	if name == "" {
		return false, nil
	}
	o := capi.Object(gvk)
	err := from.Get(ctx, types.NamespacedName{Namespace: m.Namespace, Name: name}, o)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("reading the owner %s of machine %s: %w", name, m.Key(), err)
	}
	asked := r.Member.Keys.Read(o.GetAnnotations())
	return !asked.HasTo || asked.To != r.Member.Keys.Read(m.Annotations).To || o.GetDeletionTimestamp() != nil, nil
}

// ownerOf names the owner that marks a machine; empty: there is none that we drive.
func (r *Reconciler) ownerOf(m capi.Machine, c capi.Cluster) (schema.GroupVersionKind, string) {
	if !m.ControlPlane {
		return r.Member.Kinds.MachineDeployment, m.Deployment
	}
	gvk, found := r.Member.Kinds.ControlPlane(c.ControlPlaneRef)
	if !found {
		return gvk, ""
	}
	return gvk, c.ControlPlaneRef.Name
}

// marked names the machines that an owner which is asked may have marked: they wait while it is not.
func (r *Reconciler) marked(ctx context.Context, o *unstructured.Unstructured) []reconcile.Request {
	if !r.Member.Keys.Read(o.GetAnnotations()).HasTo {
		return nil
	}
	name := capi.ParseMachineDeployment(o).Cluster // which every kind of owner names alike
	return r.unsettledOf(ctx, types.NamespacedName{Namespace: o.GetNamespace(), Name: name})
}

// askedAnew reports whether an owner is asked for something else than before.
func (r *Reconciler) askedAnew(before, after *unstructured.Unstructured) bool {
	a, b := r.Member.Keys.Read(before.GetAnnotations()), r.Member.Keys.Read(after.GetAnnotations())
	return a.HasTo != b.HasTo || a.To != b.To
}
