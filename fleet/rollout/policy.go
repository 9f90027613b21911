// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
)

// PolicyLabel names the RolloutPolicy of a Rollout.
const PolicyLabel = observe.PolicyLabel

// finalizer keeps a Rollout until what it has in flight is withdrawn: deleting is cancelling.
const finalizer = "fleet.windlass.dev/rollout"

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=rolloutpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=rolloutpolicies/status,verbs=patch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=rollouts,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=maintenancecalendars,verbs=get;list;watch

// PolicyReconciler makes a Rollout whenever a policy's target changes, and says on the policy what became of it.
type PolicyReconciler struct {
	// Hub is the hub's cached client; Live reads past it before a Rollout is made.
	Hub   client.Client
	Live  client.Reader
	Clock clock.PassiveClock

	compiled observe.Calendars
}

// Reconcile compares the policy's target with that of its newest Rollout.
func (r *PolicyReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	p := &fleetv1.RolloutPolicy{}
	if err := r.Hub.Get(ctx, req.NamespacedName, p); err != nil || !p.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if why := p.Spec.WhyUnknown(); why != "" {
		return reconcile.Result{}, r.report(ctx, p, nil, &refusal{fleetv1.UnknownFieldReason, why})
	}
	target, err := observe.Resolve(p.Spec.Target)
	if err != nil {
		return reconcile.Result{}, r.report(ctx, p, nil, &refusal{fleetv1.InvalidReason, err.Error()})
	}
	newest, err := newestOf(ctx, r.Hub, p)
	if err == nil && !current(p, newest, target) {
		// The cache may not have seen our own last Rollout: look past it before another is made.
		newest, err = r.lookPast(ctx, p)
	}
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case current(p, newest, target):
	case cancelled(p, target):
		newest = nil
	default:
		if newest, err = r.begin(ctx, p, target, max(numberOf(newest), p.Status.Number)+1); err != nil {
			return reconcile.Result{}, err
		}
	}
	if newest == nil {
		return reconcile.Result{}, r.report(ctx, p, nil, nil)
	}
	no, err := r.calendars(ctx, p)
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.report(ctx, p, newest, no)
}

// calendars says which calendar of the policy does not resolve; nil: all do. Such a policy plans, and starts nothing
// (law 9).
func (r *PolicyReconciler) calendars(ctx context.Context, p *fleetv1.RolloutPolicy) (*refusal, error) {
	list, err := calendarsIn(ctx, r.Hub, p.Namespace)
	if err != nil {
		return nil, err
	}
	if reason, message := r.compiled.WrongCalendar(&p.Spec, p.Namespace, list); reason != "" {
		return &refusal{reason, message}, nil
	}
	return nil, nil //nolint:nilnil // none is wrong, which is no error
}

// refusal is why a policy is not acted on.
type refusal struct{ reason, message string }

// lookPast reads the newest Rollout past the cache, and what the policy's status remembers of the last one.
func (r *PolicyReconciler) lookPast(ctx context.Context, p *fleetv1.RolloutPolicy) (*fleetv1.Rollout, error) {
	live := &fleetv1.RolloutPolicy{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(p), live); err != nil {
		return nil, fmt.Errorf("reading RolloutPolicy %s: %w", p.Name, err)
	}
	p.Status = live.Status
	return newestOf(ctx, r.Live, p)
}

// current reports whether the newest Rollout is the one of this target, and none was after it.
func current(p *fleetv1.RolloutPolicy, newest *fleetv1.Rollout, target fleetv1.Target) bool {
	return newest != nil && newest.Spec.Number >= p.Status.Number &&
		equality.Semantic.DeepEqual(newest.Spec.Target, target)
}

// cancelled reports whether the last Rollout was one of this target and has been deleted, which is to cancel it: only a
// new target starts another (law 6).
func cancelled(p *fleetv1.RolloutPolicy, target fleetv1.Target) bool {
	return p.Status.Number > 0 && p.Status.Rollout == Name(p, target, p.Status.Number)
}

func numberOf(ro *fleetv1.Rollout) int64 {
	if ro == nil {
		return 0
	}
	return ro.Spec.Number
}

// begin makes the next Rollout. Its name follows from the policy, the target and the number, so that making it twice
// makes one.
func (r *PolicyReconciler) begin(ctx context.Context, p *fleetv1.RolloutPolicy, target fleetv1.Target, number int64) (
	*fleetv1.Rollout, error,
) {
	ro := &fleetv1.Rollout{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: Name(p, target, number),
			Labels:      map[string]string{PolicyLabel: p.Name},
			Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"},
			Finalizers:  []string{finalizer},
		},
		Spec: fleetv1.RolloutSpec{
			Policy: fleetv1.LocalRef{Name: p.Name, UID: p.UID}, Target: target, Number: number,
		},
	}
	if err := r.Hub.Create(ctx, ro); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("making Rollout %s: %w", ro.Name, err)
	}
	return ro, nil
}

// Name is the name of a Rollout: the policy's with 5 characters of a hash of its UID, the target and the number.
func Name(p *fleetv1.RolloutPolicy, target fleetv1.Target, number int64) string {
	text := fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d", p.UID, observe.Text(target), target.Version, number)
	target.Channel, target.Revision, target.LocalPath, target.Version = nil, nil, nil, ""
	if rest, err := json.Marshal(target); err == nil && string(rest) != "{}" {
		text = append(text, rest...) // two targets that differ in anything are two
	}
	sum := sha256.Sum256(text)
	return p.Name + "-" + hex.EncodeToString(sum[:])[:5]
}

// newestOf is the newest Rollout of a policy, nil when there is none. A policy of another UID is another policy.
func newestOf(ctx context.Context, c client.Reader, p *fleetv1.RolloutPolicy) (*fleetv1.Rollout, error) {
	var list fleetv1.RolloutList
	if err := c.List(ctx, &list, client.InNamespace(p.Namespace), client.MatchingLabels{PolicyLabel: p.Name}); err != nil {
		return nil, fmt.Errorf("listing the Rollouts of policy %s: %w", p.Name, err)
	}
	mine := slices.DeleteFunc(list.Items, func(ro fleetv1.Rollout) bool { return ro.Spec.Policy.UID != p.UID })
	if len(mine) == 0 {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	newest := slices.MaxFunc(mine, func(a, b fleetv1.Rollout) int { return cmp.Compare(a.Spec.Number, b.Spec.Number) })
	return &newest, nil
}

// report says on the policy whether it is accepted and planned; how far its Rollout is stands there.
func (r *PolicyReconciler) report(ctx context.Context, p *fleetv1.RolloutPolicy, ro *fleetv1.Rollout, no *refusal) error {
	base := p.DeepCopy()
	p.Status.ObservedGeneration = p.Generation
	c := metav1.Condition{
		Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: fleetv1.PlannedReason,
		ObservedGeneration: p.Generation, LastTransitionTime: metav1.NewTime(r.Clock.Now()),
	}
	switch {
	case no != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, no.reason, fleetv1.Bound(no.message)
	case ro == nil:
		c.Status, c.Reason = metav1.ConditionFalse, string(fleetv1.RolloutCancelled)
		c.Message = fmt.Sprintf("Rollout %s was deleted, which cancels it; only another target starts a new one",
			p.Status.Rollout)
	case ro.Status.Plan != nil:
		c.Message = fmt.Sprintf("Rollout %s is planned: %d clusters in %d waves", ro.Name, ro.Status.Plan.Total,
			len(ro.Status.Waves))
	default:
		c.Status, c.Reason = metav1.ConditionFalse, string(fleetv1.RolloutPlanning)
		if w := ro.Status.Waiting; w != nil {
			c.Reason, c.Message = w.Reason, w.Message
		}
	}
	meta.SetStatusCondition(&p.Status.Conditions, c)
	if ro != nil {
		effective(&p.Status, ro)
	}
	if equality.Semantic.DeepEqual(base.Status, p.Status) {
		return nil
	}
	err := r.Hub.Status().Patch(ctx, p, client.MergeFrom(base))
	return client.IgnoreNotFound(err)
}

// effective are the values that a policy comes to, as its Rollout committed them.
func effective(s *fleetv1.RolloutPolicyStatus, ro *fleetv1.Rollout) {
	s.Target, s.Rollout, s.Number = observe.Text(ro.Spec.Target), ro.Name, ro.Spec.Number
	s.Waves, s.Selected, s.Canaries = nil, 0, 0
	if ro.Status.Plan == nil {
		return
	}
	s.Selected = ro.Status.Plan.Total + ro.Status.Plan.AtTarget + ro.Status.Plan.Ineligible
	for _, w := range ro.Status.Waves {
		if w.Name == fleetv1.WaveCatchUp {
			continue
		}
		if w.Canary {
			s.Canaries = w.Planned
		}
		s.Waves = append(s.Waves, fleetv1.EffectiveWave{
			Name: w.Name, Clusters: w.Planned, MaxConcurrency: w.MaxConcurrency, MaxFailures: w.MaxFailures,
		})
	}
}
