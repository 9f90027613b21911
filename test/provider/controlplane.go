// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
)

// atOnce is the first pause of their rate limiter.
const atOnce = 5 * time.Millisecond

// controlPlanes is the orchestrator of control planes (PROTOCOL.md 3.2).
type controlPlanes struct{ owners }

// Reconcile looks after the machine that holds the lock, or lets another one take it.
func (r *controlPlanes) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cp := capi.Object(r.kinds.ControlPlanes[0])
	if err := r.reader.Get(ctx, req.NamespacedName, cp); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	to := instructions(cp)
	if to == "" || deleting(cp) {
		return reconcile.Result{}, nil // a lock stays (fault 13)
	}
	if seen := capi.ParseControlPlane(cp); seen.Replicas == nil || *seen.Replicas != seen.ReadyReplicas {
		return r.again(), nil // no failure is shown either (fault 12)
	}
	cluster, err := r.cluster(ctx, cp)
	if err != nil {
		return reconcile.Result{}, err
	}
	l := lock{r.member, cluster}
	holder, err := l.holder(ctx)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case holder == nil:
		return r.next(ctx, cp, l, to)
	// A holder that is asked for something else loses the lock, in flight or not (fault 5).
	case instructions(holder) != to, release(holder) == to:
		return reconcile.Result{RequeueAfter: atOnce}, l.unlock(ctx)
	case failedOnce(holder):
		return r.again(), r.fail(ctx, cp, holder)
	}
	return r.again(), nil
}

// next begins with any machine that is not at the target, whatever it is doing (fault 9b), in the order of a map.
func (r *controlPlanes) next(
	ctx context.Context, cp *unstructured.Unstructured, l lock, to string,
) (reconcile.Result, error) {
	list, err := r.machinesOf(ctx, cp.GetNamespace(), l.cluster.GetName(), client.HasLabels{capi.ControlPlaneLabel})
	if err != nil {
		return reconcile.Result{}, err
	}
	machines := map[string]*unstructured.Unstructured{}
	for _, m := range list {
		machines[m.GetName()] = m
	}
	for _, m := range machines {
		switch {
		case release(m) == to:
			continue
		case deleting(m):
			return r.again(), nil
		}
		if err := l.lock(ctx, m); err != nil {
			return reconcile.Result{}, err
		}
		return r.again(), r.begin(ctx, cp, m, to)
	}
	return reconcile.Result{}, r.done(ctx, cp, to)
}

// cluster is the one that owns the control plane.
func (r *controlPlanes) cluster(ctx context.Context, cp *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for _, ref := range cp.GetOwnerReferences() {
		if ref.Kind != "Cluster" || groupOf(ref.APIVersion) != capi.Group {
			continue
		}
		cluster := capi.Object(r.kinds.Cluster)
		return cluster, r.reader.Get(ctx, types.NamespacedName{Namespace: cp.GetNamespace(), Name: ref.Name}, cluster)
	}
	return nil, errors.New("no Cluster owns control plane " + cp.GetName())
}
