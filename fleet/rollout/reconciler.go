// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout carries a RolloutPolicy out: it makes a Rollout for each target, commits its plan, decides which
// clusters may start, and writes that as the intents of their ClusterUpgrades. It reads and writes the hub only.
package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-multierror"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
)

// Waits of the controller itself.
const (
	// behind is how soon to look again when the cache has not seen our own last write; its event comes sooner.
	behind = time.Second
	// letGo is how long the deletion of a Rollout waits for withdrawals (law 20).
	letGo = 20 * time.Second
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=rollouts,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=rollouts/status,verbs=patch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=clusterupgrades,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=maintenancecalendars;freezes;approvals,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler decides Rollouts, one at a time: limits that rollouts share are then counted once.
type Reconciler struct {
	// Hub is the hub's cached client; Live reads past it.
	Hub   client.Client
	Live  client.Reader
	Clock clock.PassiveClock
	// MayWrite refuses starts of a hub that may no longer lead.
	MayWrite func() error
	// Pace of status writes.
	Pace *pace.Pace[types.UID]
	// HubNamespace is the hub's own: Freezes in it cover every namespace. Empty: there is none.
	HubNamespace string
	// AuthorsVerified tells of which of some Approvals the API server vouched for the author. nil, or an error: of none.
	AuthorsVerified func(context.Context, []*fleetv1.Approval) (func(*fleetv1.Approval) bool, error)
	// Events tells people what no status keeps; nil: it tells nobody.
	Events events.EventRecorder

	fresh    freshness
	compiled observe.Calendars
	foreseen foreseen
	// unsure: it could not be told for whose Approvals the API server vouched, the last time. No event says when it can.
	unsure bool
}

// Reconcile plans a Rollout that has no plan, else decides on it.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	ro, err := r.read(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	h, inv, current, err := r.gather(ctx, ro)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !current {
		return reconcile.Result{RequeueAfter: behind}, nil
	}
	if ro = h.Rollout; ro.Status.Plan == nil && h.Policy != nil && !h.Superseded && ro.DeletionTimestamp.IsZero() {
		committed, err := r.plan(ctx, &h, inv)
		if err != nil || committed {
			return reconcile.Result{}, err // the event of what was written goes on
		}
	}
	result, err := r.decide(ctx, h)
	if r.unsure {
		result.RequeueAfter = soonest(result.RequeueAfter, behind)
	}
	return result, errors.Join(err, r.join(ctx, h, inv))
}

// read reads a Rollout. One without a plan is read past the cache: were its plan committed already, by this process or by
// the leader before, planning again would take back what runs (law 15).
func (r *Reconciler) read(ctx context.Context, key types.NamespacedName) (*fleetv1.Rollout, error) {
	ro := &fleetv1.Rollout{}
	if err := r.Hub.Get(ctx, key, ro); err != nil || ro.Status.Plan != nil {
		return ro, err
	}
	ro = &fleetv1.Rollout{}
	return ro, r.Live.Get(ctx, key, ro)
}

// decide decides, writes the intents that change, and reports.
func (r *Reconciler) decide(ctx context.Context, h observe.Hub) (reconcile.Result, error) {
	ro, now, f := h.Rollout, r.Clock.Now(), observe.Fleet(h)
	d := policy.Decide(f, now)
	before, status := *ro.Status.DeepCopy(), r.status(h, f, d, now)
	if report.Closes(before, status) {
		if err := r.write(ctx, ro, status); err != nil {
			return reconcile.Result{}, err
		}
	}
	err := r.drive(ctx, h, d)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: behind}, nil // decided on an object that has changed since
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if wait := r.Pace.Wait(ro.UID); wait > 0 && status.Phase == ro.Status.Phase && status.Wave == ro.Status.Wave {
		return reconcile.Result{RequeueAfter: wait}, nil // details can wait a moment; intents did not
	}
	if err := r.write(ctx, ro, status); err != nil {
		return reconcile.Result{}, err
	}
	r.tell(ro, before, f, d)
	if !ro.DeletionTimestamp.IsZero() {
		return r.release(ctx, ro, h, now)
	}
	again, err := r.foresee(ctx, h, f, now)
	return reconcile.Result{RequeueAfter: soonest(untilRecheck(d, now), again)}, err
}

// status is what a decision comes to.
func (r *Reconciler) status(h observe.Hub, f policy.Fleet, d policy.Decision, now time.Time) fleetv1.RolloutStatus {
	s := report.Rollout(h.Rollout, f, d, now)
	digest, covered := observe.Terms(h, f)
	s.Digest, s.Settings = digest, ""
	if digest == "" {
		return s
	}
	if text := covered.Text(); len(text) <= fleetv1.MaxSettings {
		s.Settings = text // without it the next digest covers what is then
	}
	if s.EndedAt == nil {
		s.ETA = observe.ETA(h)
	}
	return s
}

// untilRecheck is how long a decision stands; 0: until something changes.
func untilRecheck(d policy.Decision, now time.Time) time.Duration {
	if d.Recheck.IsZero() {
		return 0
	}
	return pace.Timer(d.Recheck.Sub(now))
}

// soonest of two waits, of which 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// drive writes the intents that change, and why clusters are held. A start is on the hub before anything is written to a
// member (law 4); what was written is remembered, so that the next decision sees it.
func (r *Reconciler) drive(ctx context.Context, h observe.Hub, d policy.Decision) error {
	if len(d.Intents) > 0 {
		log.FromContext(ctx).Info("deciding", "decision", d.String())
	}
	held := map[string]*fleetv1.Waiting{}
	for _, hold := range d.Held {
		held[hold.ID] = report.Hold(hold.Waiting)
	}
	byName, changed := map[string]*fleetv1.ClusterUpgrade{}, map[string]bool{}
	for _, cu := range h.Upgrades {
		byName[cu.Name] = cu
	}
	var wants []wanted
	for _, change := range d.Intents {
		changed[change.ID] = true
		cu := byName[change.ID]
		spec := cu.Spec
		spec.Intent, spec.NotAfter, spec.Hold = fleetv1.Intent(change.Intent), bound(change.NotAfter), held[cu.Name]
		spec.NotAfterFor = boundFor(h, cu, spec)
		wants = append(wants, wanted{cu, spec})
	}
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID == h.Rollout.UID && !changed[cu.Name] {
			spec := cu.Spec
			spec.Hold, spec.NotAfterFor = held[cu.Name], boundFor(h, cu, spec)
			wants = append(wants, wanted{cu, spec})
		}
	}
	return r.writeAll(ctx, wants)
}

// wanted is what is wanted of a cluster.
type wanted struct {
	cu   *fleetv1.ClusterUpgrade
	spec fleetv1.ClusterUpgradeSpec
}

// writeAll writes what is wanted of each cluster, whatever becomes of the others (case C075). A conflict is returned where
// there is no other error. Of a write that failed in another way it is not known whether it was made, so that the next
// decision is made on a live list (law 4).
func (r *Reconciler) writeAll(ctx context.Context, wants []wanted) error {
	var errs *multierror.Error
	var stale error
	for _, w := range wants {
		err := r.want(ctx, w.cu, w.spec)
		switch {
		case errors.Is(err, errMayNotWrite):
			return err
		case apierrors.IsConflict(err):
			stale = err
		case err != nil:
			errs = multierror.Append(errs, err)
			defer r.fresh.doubt(w.cu.Namespace)
		}
	}
	if err := errs.ErrorOrNil(); err != nil {
		return err
	}
	return stale
}

// errMayNotWrite: this hub may no longer lead.
var errMayNotWrite = errors.New("writing intents")

// boundFor is the role of the machines that the end of an intent is for: of those that begin next.
func boundFor(h observe.Hub, cu *fleetv1.ClusterUpgrade, spec fleetv1.ClusterUpgradeSpec) fleetv1.OwnerRole {
	switch {
	case spec.NotAfter == nil:
		return ""
	case spec.Intent != fleetv1.IntentRun:
		return spec.NotAfterFor
	}
	return cmp.Or(observe.NextRole(h, cu), spec.NotAfterFor)
}

// want writes what is wanted of a cluster, where it is another than before.
func (r *Reconciler) want(ctx context.Context, cu *fleetv1.ClusterUpgrade, spec fleetv1.ClusterUpgradeSpec) error {
	if equality.Semantic.DeepEqual(spec, cu.Spec) {
		return nil // in whole seconds it is the same
	}
	next := cu.DeepCopy()
	next.Spec = spec
	if err := r.MayWrite(); err != nil {
		return fmt.Errorf("%w: %w", errMayNotWrite, err)
	}
	if err := r.Hub.Patch(ctx, next, client.MergeFromWithOptions(cu, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("writing the intent of ClusterUpgrade %s: %w", cu.Name, err)
	}
	r.fresh.note(next.Namespace, next.UID, next.ResourceVersion)
	return nil
}

// bound is the end of a permission as a spec holds it: in whole seconds, and not later. nil: there is none.
func bound(notAfter time.Time) *metav1.Time {
	if notAfter.IsZero() {
		return nil
	}
	return new(metav1.NewTime(notAfter.Truncate(time.Second)))
}

// write reports, where there is anything new to say. What was written is remembered, so that the next decision sees it.
func (r *Reconciler) write(ctx context.Context, ro *fleetv1.Rollout, s fleetv1.RolloutStatus) error {
	if equality.Semantic.DeepEqual(ro.Status, s) {
		return nil
	}
	base := ro.DeepCopy()
	ro.Status = s
	if err := r.Hub.Status().Patch(ctx, ro, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
		r.fresh.doubt(ro.Namespace)
		return fmt.Errorf("writing the status of Rollout %s: %w", ro.Name, err)
	}
	r.fresh.note(ro.Namespace, ro.UID, ro.ResourceVersion)
	r.Pace.Wrote(ro.UID)
	return nil
}

// release lets a deleted Rollout go once nothing of it is in flight, or after letGo: a member that is away must not keep
// an object for ever.
func (r *Reconciler) release(ctx context.Context, ro *fleetv1.Rollout, h observe.Hub, now time.Time) (reconcile.Result, error) {
	left := ro.DeletionTimestamp.Add(letGo).Sub(now)
	var mine []*fleetv1.ClusterUpgrade
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID != ro.UID {
			continue
		}
		if observe.InFlight(cu) && left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
		mine = append(mine, cu)
	}
	var errs *multierror.Error
	for _, cu := range mine {
		if err := r.Hub.Delete(ctx, cu, client.Preconditions{UID: &cu.UID}); client.IgnoreNotFound(err) != nil {
			errs = multierror.Append(errs, fmt.Errorf("deleting ClusterUpgrade %s: %w", cu.Name, err))
		}
	}
	if err := errs.ErrorOrNil(); err != nil {
		return reconcile.Result{}, err
	}
	base := ro.DeepCopy()
	if !controllerutil.RemoveFinalizer(ro, finalizer) {
		return reconcile.Result{}, nil
	}
	// A patch replaces the list, so that it must not be made of an old one: others have finalizers, too.
	err := r.Hub.Patch(ctx, ro, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: behind}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}
