// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Setup adds the controller of calendars to the hub's manager.
func (r *Reconciler) Setup(mgr ctrl.Manager) error {
	zoned := handler.EnqueueRequestsFromMapFunc(r.zoned)
	return ctrl.NewControllerManagedBy(mgr).Named("maintenancecalendar").
		For(&fleetv1.MaintenanceCalendar{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&fleetv1.WorkloadCluster{}, zoned, builder.WithPredicates(moved(zoneOfCluster))).
		Watches(&fleetv1.ManagementCluster{}, zoned, builder.WithPredicates(moved(zoneOfMember))).
		Complete(r)
}

// moved lets pass what comes, goes, or has another time zone than before.
func moved(zone func(client.Object) string) predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool { return zone(e.ObjectOld) != zone(e.ObjectNew) },
	}
}

func zoneOfCluster(o client.Object) string {
	if wc, ok := o.(*fleetv1.WorkloadCluster); ok {
		return wc.Status.TimeZone
	}
	return ""
}

func zoneOfMember(o client.Object) string { return o.GetAnnotations()[fleetv1.TimeZoneAnnotation] }

// zoned wakes the calendars that take the time zone of clusters.
func (r *Reconciler) zoned(ctx context.Context, o client.Object) []reconcile.Request {
	var list fleetv1.MaintenanceCalendarList
	if err := r.Hub.List(ctx, &list, client.InNamespace(o.GetNamespace())); err != nil {
		return nil // a cached read fails only when the hub is going down
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Spec.TimeZoneFrom == fleetv1.TimeZoneFromCluster {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
