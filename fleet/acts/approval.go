// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/report"
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=approvals;rollouts;rolloutpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=approvals/status,verbs=patch

// ApprovalReconciler writes the status of Approvals.
type ApprovalReconciler struct {
	// Hub is the hub's cached client.
	Hub   client.Client
	Clock clock.PassiveClock
	// Guard tells whose authors were vouched for.
	Guard *Guard
	// Pace of status writes.
	Pace *pace.Pace[types.UID]

	mu sync.Mutex
	// approved are the settings that the digests of Approvals stand for, as long as they were seen.
	approved map[types.NamespacedName]settings
}

// settings that an Approval is for.
type settings struct{ digest, text string }

// Reconcile reports an Approval, and comes back when it expires.
func (r *ApprovalReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	a := &fleetv1.Approval{}
	err := r.Hub.Get(ctx, req.NamespacedName, a)
	if apierrors.IsNotFound(err) {
		r.forget(req.NamespacedName)
	}
	if err != nil || !a.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	g, err := r.gate(ctx, a)
	if err != nil {
		return reconcile.Result{}, err
	}
	now := r.Clock.Now()
	status, next := report.Approval(a, g, now)
	if !equality.Semantic.DeepEqual(status, a.Status) {
		if wait := r.Pace.Wait(a.UID); wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
		base := a.DeepCopy()
		a.Status = status
		if err := r.Hub.Status().Patch(ctx, a, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("writing the status of Approval %s: %w", a.Name, err)
		}
		r.Pace.Wrote(a.UID)
	}
	return reconcile.Result{RequeueAfter: again(next, now)}, nil
}

// gate reads what an Approval is judged by.
func (r *ApprovalReconciler) gate(ctx context.Context, a *fleetv1.Approval) (report.Gate, error) {
	g := report.Gate{ExpiresAt: observe.ApprovalExpiry(&a.Spec)}
	ro := &fleetv1.Rollout{}
	key := client.ObjectKey{Namespace: a.Namespace, Name: a.Spec.Rollout}
	switch err := r.Hub.Get(ctx, key, ro); {
	case err == nil:
		g.Rollout = ro
		g.Approved = r.remember(a, ro)
		if g.RequestedBy, err = r.requestedBy(ctx, ro); err != nil {
			return g, err
		}
	case !apierrors.IsNotFound(err):
		return g, fmt.Errorf("reading Rollout %s: %w", key.Name, err)
	}
	var err error
	if g.Others, err = r.naming(ctx, a.Namespace, a.Spec.Rollout); err != nil {
		return g, err
	}
	g.Unverified, err = r.Guard.Why(ctx, append(g.Others, a))
	return g, err
}

// naming are the Approvals that name a Rollout; empty: all of the namespace.
func (r *ApprovalReconciler) naming(ctx context.Context, namespace, rollout string) ([]*fleetv1.Approval, error) {
	var list fleetv1.ApprovalList
	if err := r.Hub.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing Approvals: %w", err)
	}
	var found []*fleetv1.Approval
	for i := range list.Items {
		if rollout == "" || list.Items[i].Spec.Rollout == rollout {
			found = append(found, &list.Items[i])
		}
	}
	return found, nil
}

// requestedBy is who asked for the change, as decisions take it: the policy says so as long as it is there.
func (r *ApprovalReconciler) requestedBy(ctx context.Context, ro *fleetv1.Rollout) (string, error) {
	p := &fleetv1.RolloutPolicy{}
	key := client.ObjectKey{Namespace: ro.Namespace, Name: ro.Spec.Policy.Name}
	err := r.Hub.Get(ctx, key, p)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading RolloutPolicy %s: %w", key.Name, err)
	}
	if p.UID != ro.Spec.Policy.UID || !p.DeletionTimestamp.IsZero() || p.Spec.Change == nil {
		return "", nil
	}
	return p.Spec.Change.RequestedBy, nil
}

// remember keeps the settings that an Approval is for, so that it can be said what changed.
func (r *ApprovalReconciler) remember(a *fleetv1.Approval, ro *fleetv1.Rollout) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, digest := client.ObjectKeyFromObject(a), a.Spec.PlanDigest
	if digest == ro.Status.Digest {
		if r.approved == nil {
			r.approved = map[types.NamespacedName]settings{}
		}
		r.approved[key] = settings{digest: digest, text: ro.Status.Settings}
	}
	if s := r.approved[key]; s.digest == digest {
		return s.text
	}
	return ""
}

func (r *ApprovalReconciler) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.approved, key)
	r.Guard.Forget(key)
}
