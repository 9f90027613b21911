// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/fleet/pace"
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=workloadclusters,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=workloadclusters/status,verbs=patch

// Reconciler keeps the WorkloadCluster of one Cluster of one member.
type Reconciler struct {
	// Hub is the hub's cached client.
	Hub     client.Client
	Members *member.Provider
	Clock   clock.PassiveClock

	// Pace of writes.
	Pace *pace.Pace[mcreconcile.Request]
}

// Reconcile records what the member shows. A member that does not answer changes nothing: silence is not absence.
func (r *Reconciler) Reconcile(ctx context.Context, req mcreconcile.Request) (reconcile.Result, error) {
	if wait := r.Pace.Wait(req); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	m, engaged := r.Members.Member(req.ClusterName)
	if !engaged || r.Members.Health(req.ClusterName).State != member.Ready {
		return reconcile.Result{}, nil
	}
	mc := &fleetv1.ManagementCluster{}
	if err := r.Hub.Get(ctx, member.Key(req.ClusterName), mc); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if mc.Status.ClusterID == "" || !member.Accepted(mc) {
		return reconcile.Result{}, nil // its controller says why, and its next status wakes us
	}
	w, err := m.Find(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.forget(ctx, mc, req.NamespacedName, w.Cluster.UID); err != nil || !w.Present {
		return reconcile.Result{}, err
	}
	wrote, err := r.record(ctx, mc, w)
	if wrote {
		r.Pace.Wrote(req)
	}
	return reconcile.Result{}, err
}

// record writes the WorkloadCluster where it differs.
func (r *Reconciler) record(ctx context.Context, mc *fleetv1.ManagementCluster, w member.World) (bool, error) {
	ref := fleetv1.ObjectRef{Namespace: w.Cluster.Namespace, Name: w.Cluster.Name, UID: w.Cluster.UID}
	key := types.NamespacedName{Namespace: mc.Namespace, Name: Name(mc.Name, mc.Status.ClusterID, ref)}
	labels := Labels(mc.Name, w.Cluster)
	wc := &fleetv1.WorkloadCluster{}
	err := r.Hub.Get(ctx, key, wc)
	if apierrors.IsNotFound(err) {
		wc = &fleetv1.WorkloadCluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: labels, Annotations: unpruned()},
			Spec:       fleetv1.WorkloadClusterSpec{ManagementCluster: mc.Name, Cluster: ref},
		}
		err = r.Hub.Create(ctx, wc)
	}
	if err != nil {
		return false, fmt.Errorf("recording cluster %s: %w", w.Cluster.Key(), err)
	}
	if !maps.Equal(wc.Labels, labels) {
		base := wc.DeepCopy()
		wc.Labels = labels
		if err := r.Hub.Patch(ctx, wc, client.MergeFrom(base)); err != nil {
			return false, fmt.Errorf("labelling %s: %w", key, err)
		}
	}
	var upgrades fleetv1.ClusterUpgradeList
	err = r.Hub.List(ctx, &upgrades, client.InNamespace(mc.Namespace), client.MatchingFields{clusterField: string(ref.UID)})
	if err != nil {
		return false, fmt.Errorf("listing the upgrades of %s: %w", key, err)
	}
	status := Status(mc.Name, w, member.KeysOf(mc))
	status.TimeZone = TimeZone(mc, w.Cluster)
	status.Durations = Durations(wc.Status.Durations, upgrades.Items)
	return r.writeStatus(ctx, wc, status)
}

func (r *Reconciler) writeStatus(ctx context.Context, wc *fleetv1.WorkloadCluster, next fleetv1.WorkloadClusterStatus) (
	bool, error,
) {
	now := metav1.NewTime(r.Clock.Now())
	conditions := next.Conditions
	next.Conditions = append([]metav1.Condition{}, wc.Status.Conditions...)
	for _, c := range conditions {
		if old := meta.FindStatusCondition(next.Conditions, c.Type); old == nil || old.Status != c.Status {
			c.LastTransitionTime = now
		}
		meta.SetStatusCondition(&next.Conditions, c)
	}
	if moved, found := Moved(wc.Status, next); found {
		moved.LastTransitionTime = now
		meta.RemoveStatusCondition(&next.Conditions, moved.Type) // each change has a time of its own
		meta.SetStatusCondition(&next.Conditions, moved)
	} else if next.ClaimedBy != "" {
		meta.RemoveStatusCondition(&next.Conditions, fleetv1.ExternalChangeCondition)
	}
	next.ObservedTime = wc.Status.ObservedTime
	if equality.Semantic.DeepEqual(wc.Status, next) {
		return false, nil
	}
	base := wc.DeepCopy()
	next.ObservedTime = &now
	wc.Status = next
	if err := r.Hub.Status().Patch(ctx, wc, client.MergeFrom(base)); err != nil {
		return false, fmt.Errorf("writing the status of WorkloadCluster %s: %w", wc.Name, err)
	}
	return true, nil
}

// forget deletes the WorkloadClusters that had the same place in the member and are another cluster, or gone.
func (r *Reconciler) forget(ctx context.Context, mc *fleetv1.ManagementCluster, at types.NamespacedName, now types.UID) error {
	var list fleetv1.WorkloadClusterList
	err := r.Hub.List(ctx, &list, client.InNamespace(mc.Namespace),
		client.MatchingFields{PlaceField: Place(mc.Name, at)})
	if err != nil {
		return fmt.Errorf("listing WorkloadClusters at %s: %w", at, err)
	}
	for i := range list.Items {
		wc := &list.Items[i]
		if wc.Spec.Cluster.UID == now {
			continue
		}
		if err := r.Hub.Delete(ctx, wc, client.Preconditions{UID: &wc.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("forgetting WorkloadCluster %s: %w", wc.Name, err)
		}
	}
	return nil
}

// unpruned keeps GitOps tools from removing what no Git repository holds.
func unpruned() map[string]string {
	return map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"}
}
