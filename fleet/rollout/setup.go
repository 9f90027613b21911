// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/fleet/report"
)

// Setup adds the controller of policies to the hub's manager.
func (r *PolicyReconciler) Setup(mgr ctrl.Manager) error {
	edited := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).Named("rolloutpolicy").
		For(&fleetv1.RolloutPolicy{}, edited).
		Watches(&fleetv1.Rollout{}, handler.EnqueueRequestsFromMapFunc(policyOf)).
		Watches(&fleetv1.MaintenanceCalendar{}, handler.EnqueueRequestsFromMapFunc(r.naming), edited).
		WithOptions(options(4)).
		Complete(r)
}

// Setup adds the controller of rollouts to the hub's manager. It has one worker: rollouts share limits.
func (r *Reconciler) Setup(mgr ctrl.Manager) error {
	open := handler.EnqueueRequestsFromMapFunc(r.open)
	edited := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).Named("rollout").
		For(&fleetv1.Rollout{}).
		Watches(&fleetv1.RolloutPolicy{}, open).
		Watches(&fleetv1.ManagementCluster{}, open).
		Watches(&fleetv1.MaintenanceCalendar{}, open, edited).
		Watches(&fleetv1.Freeze{}, handler.EnqueueRequestsFromMapFunc(r.frozen), edited).
		Watches(&fleetv1.Approval{}, handler.EnqueueRequestsFromMapFunc(r.approved)).
		Watches(&fleetv1.WorkloadCluster{}, handler.EnqueueRequestsFromMapFunc(r.planning)).
		Watches(&fleetv1.WorkloadCluster{}, handler.EnqueueRequestsFromMapFunc(r.current), builder.WithPredicates(matters())).
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

// naming wakes the policies that name a calendar.
func (r *PolicyReconciler) naming(ctx context.Context, o client.Object) []reconcile.Request {
	var list fleetv1.RolloutPolicyList
	if err := r.Hub.List(ctx, &list, client.InNamespace(o.GetNamespace())); err != nil {
		return nil // a cached read fails only when the hub is going down
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if slices.Contains(list.Items[i].Spec.Calendars, o.GetName()) {
			requests = append(requests, request(o.GetNamespace(), list.Items[i].Name))
		}
	}
	return requests
}

// open wakes the rollouts of a namespace that have not ended.
func (r *Reconciler) open(ctx context.Context, o client.Object) []reconcile.Request {
	return r.rollouts(ctx, o.GetNamespace(), func(ro *fleetv1.Rollout) bool { return !report.Ended(ro.Status.Phase) })
}

// frozen wakes those that a Freeze may stop: in the hub's own namespace it is for every namespace.
func (r *Reconciler) frozen(ctx context.Context, o client.Object) []reconcile.Request {
	if o.GetNamespace() != r.HubNamespace {
		return r.open(ctx, o)
	}
	return r.rollouts(ctx, "", func(ro *fleetv1.Rollout) bool { return !report.Ended(ro.Status.Phase) })
}

// approved wakes the rollout that an Approval names.
func (r *Reconciler) approved(_ context.Context, o client.Object) []reconcile.Request {
	a, ok := o.(*fleetv1.Approval)
	if !ok || a.Spec.Rollout == "" {
		return nil
	}
	return []reconcile.Request{request(a.Namespace, a.Spec.Rollout)}
}

// current wakes those that have not ended, and those that a late cluster may join: the newest of each policy, unless it
// was stopped.
func (r *Reconciler) current(ctx context.Context, o client.Object) []reconcile.Request {
	var newest map[types.UID]int64
	return r.rollouts(ctx, o.GetNamespace(), func(ro *fleetv1.Rollout) bool {
		switch ro.Status.Phase {
		case fleetv1.RolloutCancelled, fleetv1.RolloutSuperseded:
			return false
		case fleetv1.RolloutSucceeded, fleetv1.RolloutCompletedWithFailures:
			if newest == nil {
				newest = r.newest(ctx, o.GetNamespace())
			}
			return ro.Spec.Number == newest[ro.Spec.Policy.UID]
		case fleetv1.RolloutPlanning, fleetv1.RolloutAwaitingApproval, fleetv1.RolloutProgressing, fleetv1.RolloutPaused,
			fleetv1.RolloutHalted, fleetv1.RolloutCatchingUp:
		}
		return true
	})
}

// newest is the number of each policy's newest Rollout.
func (r *Reconciler) newest(ctx context.Context, namespace string) map[types.UID]int64 {
	numbers := map[types.UID]int64{}
	var list fleetv1.RolloutList
	if err := r.Hub.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return numbers // a cached read fails only when the hub is going down
	}
	for i := range list.Items {
		s := &list.Items[i].Spec
		numbers[s.Policy.UID] = max(numbers[s.Policy.UID], s.Number)
	}
	return numbers
}

// matters takes the changes of a WorkloadCluster that a committed rollout decides on.
func matters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, is := e.ObjectOld.(*fleetv1.WorkloadCluster)
		after, too := e.ObjectNew.(*fleetv1.WorkloadCluster)
		return !is || !too || observe.Matters(before, after)
	}}
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
			requests = append(requests, request(list.Items[i].Namespace, list.Items[i].Name))
		}
	}
	return requests
}

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
}
