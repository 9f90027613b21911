// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
)

// Setup adds the controller of policies to the hub's manager.
func (r *PolicyReconciler) Setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("rolloutpolicy").
		For(&fleetv1.RolloutPolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&fleetv1.Rollout{}, handler.EnqueueRequestsFromMapFunc(policyOf)).
		WithOptions(options(4)).
		Complete(r)
}

// Setup adds the controller of rollouts to the hub's manager. It has one worker: rollouts share limits.
func (r *Reconciler) Setup(mgr ctrl.Manager) error {
	open := handler.EnqueueRequestsFromMapFunc(r.open)
	return ctrl.NewControllerManagedBy(mgr).Named("rollout").
		For(&fleetv1.Rollout{}).
		Watches(&fleetv1.RolloutPolicy{}, open).
		Watches(&fleetv1.ManagementCluster{}, open).
		Watches(&fleetv1.WorkloadCluster{}, handler.EnqueueRequestsFromMapFunc(r.planning)).
		Watches(&fleetv1.ClusterUpgrade{}, handler.EnqueueRequestsFromMapFunc(r.sharing)).
		WithOptions(options(1)).
		Complete(r)
}

func options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
			200*time.Millisecond, time.Minute),
	}
}

func policyOf(_ context.Context, o client.Object) []reconcile.Request {
	ro, ok := o.(*fleetv1.Rollout)
	if !ok {
		return nil
	}
	return []reconcile.Request{request(ro.Namespace, ro.Spec.Policy.Name)}
}

// open wakes the rollouts of a namespace that have not ended.
func (r *Reconciler) open(ctx context.Context, o client.Object) []reconcile.Request {
	return r.rollouts(ctx, o.GetNamespace(), func(ro *fleetv1.Rollout) bool { return !report.Ended(ro.Status.Phase) })
}

// planning wakes those whose plan depends on the inventory.
func (r *Reconciler) planning(ctx context.Context, o client.Object) []reconcile.Request {
	return r.rollouts(ctx, o.GetNamespace(), func(ro *fleetv1.Rollout) bool { return ro.Status.Plan == nil })
}

// sharing wakes the rollout of a ClusterUpgrade, and the open ones: a slot that it gives back may be theirs.
func (r *Reconciler) sharing(ctx context.Context, o client.Object) []reconcile.Request {
	requests := r.open(ctx, o)
	if cu, ok := o.(*fleetv1.ClusterUpgrade); ok {
		requests = append(requests, request(cu.Namespace, cu.Spec.Rollout.Name))
	}
	return requests
}

func (r *Reconciler) rollouts(ctx context.Context, namespace string, take func(*fleetv1.Rollout) bool) []reconcile.Request {
	var list fleetv1.RolloutList
	if err := r.Hub.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil // a cached read fails only when the hub is going down
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if take(&list.Items[i]) {
			requests = append(requests, request(namespace, list.Items[i].Name))
		}
	}
	return requests
}

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
}
