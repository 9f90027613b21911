// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package calendar says on each MaintenanceCalendar whether it can be read, whether it is open and when it opens next.
// Nothing is decided by that: rollouts read calendars themselves (law 9).
package calendar

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy/window"
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=maintenancecalendars,verbs=get;list;watch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=maintenancecalendars/status,verbs=patch

// Reconciler writes the status of MaintenanceCalendars.
type Reconciler struct {
	// Hub is the hub's cached client.
	Hub   client.Client
	Clock clock.PassiveClock
}

// Reconcile reports a calendar, and comes back when it opens or closes next.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cal := &fleetv1.MaintenanceCalendar{}
	if err := r.Hub.Get(ctx, req.NamespacedName, cal); err != nil || !cal.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	zones, err := r.zones(ctx, cal)
	if err != nil {
		return reconcile.Result{}, err
	}
	now := r.Clock.Now()
	status, next := report.Calendar(cal, hours(cal, zones), warnings(cal, zones), now)
	if !equality.Semantic.DeepEqual(status, cal.Status) {
		base := cal.DeepCopy()
		cal.Status = status
		if err := r.Hub.Status().Patch(ctx, cal, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("writing the status of MaintenanceCalendar %s: %w", cal.Name, err)
		}
	}
	if next.IsZero() {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: pace.Timer(next.Sub(now))}, nil
}

// zones are the time zones that a calendar is used in: its own, or those of the clusters that it is for.
func (r *Reconciler) zones(ctx context.Context, cal *fleetv1.MaintenanceCalendar) ([]string, error) {
	if cal.Spec.TimeZoneFrom != fleetv1.TimeZoneFromCluster {
		return []string{cmp.Or(observe.WindowSpec(&cal.Spec, "").TimeZone, time.UTC.String())}, nil
	}
	here := client.InNamespace(cal.Namespace)
	var clusters fleetv1.WorkloadClusterList
	if err := r.Hub.List(ctx, &clusters, here); err != nil {
		return nil, fmt.Errorf("listing WorkloadClusters: %w", err)
	}
	var members fleetv1.ManagementClusterList
	if err := r.Hub.List(ctx, &members, here); err != nil {
		return nil, fmt.Errorf("listing ManagementClusters: %w", err)
	}
	byName := map[string]*fleetv1.ManagementCluster{}
	for i := range members.Items {
		byName[members.Items[i].Name] = &members.Items[i]
	}
	selects := labels.Everything()
	if s, err := metav1.LabelSelectorAsSelector(cal.Spec.ClusterSelector); err == nil && cal.Spec.ClusterSelector != nil {
		selects = s
	}
	var zones []string
	for i := range clusters.Items {
		wc := &clusters.Items[i]
		zone := observe.Zone(wc, byName[wc.Spec.ManagementCluster])
		if zone != "" && selects.Matches(labels.Set(wc.Labels)) {
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones), nil
}

// hours compiles the calendar for each of its zones.
func hours(cal *fleetv1.MaintenanceCalendar, zones []string) []report.Hours {
	var nothing *observe.Calendars // a status is written rarely
	list := make([]report.Hours, 0, len(zones))
	for _, zone := range zones {
		h := report.Hours{Zone: zone}
		h.Calendar, h.Err = nothing.Compile(cal, zone)
		list = append(list, h)
	}
	if len(zones) == 0 { // whatever zone it will be in, it can be read or not
		if _, err := nothing.Compile(cal, time.UTC.String()); err != nil {
			list = append(list, report.Hours{Err: err})
		}
	}
	return list
}

// warnings are what is hardly meant, and no error.
func warnings(cal *fleetv1.MaintenanceCalendar, zones []string) error {
	zone := time.UTC.String()
	if len(zones) > 0 {
		zone = zones[0]
	}
	_, found, err := window.Compile(observe.WindowSpec(&cal.Spec, zone))
	if err != nil || len(found) == 0 {
		return nil //nolint:nilerr // what is wrong is told by hours
	}
	for i := range found {
		found[i].Field = "spec." + found[i].Field
	}
	return found
}
