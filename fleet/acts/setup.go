// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts

import (
	"context"
	"maps"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
)

// CacheOnly says that of admission policies and their bindings nothing is cached but the ones that Guard reads: the hub
// has no right to more.
func CacheOnly() map[client.Object]cache.ByObject {
	own := cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", PolicyName)}
	return map[client.Object]cache.ByObject{
		&admissionv1.ValidatingAdmissionPolicy{}:        own,
		&admissionv1.ValidatingAdmissionPolicyBinding{}: own,
	}
}

// Setup adds the controller of Freezes to the hub's manager.
func (r *FreezeReconciler) Setup(mgr ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(r.covering)
	return ctrl.NewControllerManagedBy(mgr).Named("freeze").
		For(&fleetv1.Freeze{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&fleetv1.WorkloadCluster{}, all, builder.WithPredicates(changing(relabelled))).
		Watches(&fleetv1.Rollout{}, all, builder.WithPredicates(changing(remanned))).
		Complete(r)
}

// Setup adds the controller of Approvals to the hub's manager.
func (r *ApprovalReconciler) Setup(mgr ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(r.all)
	edited := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).Named("approval").
		For(&fleetv1.Approval{}, edited).
		Watches(&fleetv1.Approval{}, handler.EnqueueRequestsFromMapFunc(r.beside), edited).
		Watches(&fleetv1.Rollout{}, handler.EnqueueRequestsFromMapFunc(r.of), builder.WithPredicates(changing(replanned))).
		Watches(&fleetv1.RolloutPolicy{}, all, edited).
		Watches(&admissionv1.ValidatingAdmissionPolicy{}, all).
		Watches(&admissionv1.ValidatingAdmissionPolicyBinding{}, all).
		Complete(r)
}

// changing lets pass what comes, goes, or is another than before in what matters.
func changing[T client.Object](matters func(before, after T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, is := e.ObjectOld.(T)
		after, too := e.ObjectNew.(T)
		return !is || !too || matters(before, after)
	}}
}

func relabelled(before, after *fleetv1.WorkloadCluster) bool {
	return !maps.Equal(before.Labels, after.Labels)
}

// remanned: the rollout has other clusters, or has ended.
func remanned(before, after *fleetv1.Rollout) bool {
	return before.Status.Total != after.Status.Total || report.Ended(before.Status.Phase) != report.Ended(after.Status.Phase)
}

// replanned: what an Approval is for is another.
func replanned(before, after *fleetv1.Rollout) bool {
	b, a := &before.Status, &after.Status
	return b.Digest != a.Digest || b.Settings != a.Settings || (b.Plan == nil) != (a.Plan == nil) ||
		!slices.EqualFunc(b.Waves, a.Waves, func(x, y fleetv1.WaveStatus) bool {
			return x.Name == y.Name && (x.Approvals == nil) == (y.Approvals == nil)
		})
}

// covering wakes the Freezes that may cover a cluster or a rollout.
func (r *FreezeReconciler) covering(ctx context.Context, o client.Object) []reconcile.Request {
	var requests []reconcile.Request
	namespaces := []string{o.GetNamespace()}
	if r.HubNamespace != "" && r.HubNamespace != o.GetNamespace() {
		namespaces = append(namespaces, r.HubNamespace)
	}
	for _, namespace := range namespaces {
		var list fleetv1.FreezeList
		if err := r.Hub.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil // a cached read fails only when the hub is going down
		}
		for i := range list.Items {
			requests = append(requests, request(&list.Items[i]))
		}
	}
	return requests
}

// of wakes the Approvals of a Rollout.
func (r *ApprovalReconciler) of(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, o.GetNamespace(), o.GetName())
}

// beside wakes the Approvals of the same Rollout: a newer one replaces, and one that goes no longer does.
func (r *ApprovalReconciler) beside(ctx context.Context, o client.Object) []reconcile.Request {
	a, is := o.(*fleetv1.Approval)
	if !is || a.Spec.Rollout == "" {
		return nil
	}
	return r.requests(ctx, a.Namespace, a.Spec.Rollout)
}

// all wakes the Approvals of a namespace, or of all.
func (r *ApprovalReconciler) all(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, o.GetNamespace(), "")
}

func (r *ApprovalReconciler) requests(ctx context.Context, namespace, rollout string) []reconcile.Request {
	list, err := r.naming(ctx, namespace, rollout)
	if err != nil {
		return nil // a cached read fails only when the hub is going down
	}
	requests := make([]reconcile.Request, 0, len(list))
	for _, a := range list {
		requests = append(requests, request(a))
	}
	return requests
}

func request(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}
