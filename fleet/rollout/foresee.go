// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

// Bounds of what is foreseen: it binds nobody, and must not keep the hub from its work.
const (
	// everyForesight is how often a rollout is looked ahead for, at most, and everyDelay where all that happened is that
	// clusters have not begun when they were to.
	everyForesight = time.Minute
	everyDelay     = 10 * time.Minute
	// mostForeseen is how many predictions are written at once.
	mostForeseen = 100
	// worthForeseeing is by how much a prediction must be off before it is written again.
	worthForeseeing = 10 * time.Minute
)

// foreseen remembers, by Rollout, for what it was looked ahead last, and when.
type foreseen map[types.UID]foresight

type foresight struct {
	of string
	at time.Time
}

// foresee looks ahead again when what decides has changed much: the phase, the wave, the settings, a freeze. It writes the
// predictions that are off, and says when to come back, 0: not for this.
func (r *Reconciler) foresee(ctx context.Context, h observe.Hub, f policy.Fleet, now time.Time) (time.Duration, error) {
	ro := h.Rollout
	of := fmt.Sprint(ro.Status.Phase, ro.Status.Wave, ro.Status.Settings, f.Freezes, len(f.Clusters), f.Paused)
	last, looked := r.foreseen[ro.UID]
	switch {
	case ro.Status.Plan == nil, ro.Status.EndedAt != nil, ro.Status.Phase == fleetv1.RolloutHalted:
		delete(r.foreseen, ro.UID)
		return 0, nil
	case looked && last.of == of && (now.Sub(last.at) < everyDelay || !overtaken(h, now)):
		return 0, nil
	case looked && now.Sub(last.at) < everyForesight:
		return everyForesight - now.Sub(last.at), nil
	}
	left, err := r.predict(ctx, h, observe.Predictions(f, now))
	if err != nil {
		return 0, err
	}
	if r.foreseen == nil {
		r.foreseen = foreseen{}
	}
	if left {
		of = ""
	}
	r.foreseen[ro.UID] = foresight{of, now}
	if left {
		return everyForesight, nil
	}
	return 0, nil
}

// overtaken: a cluster was to begin a while ago and nothing was asked of it yet, or was to be through and is not.
func overtaken(h observe.Hub, now time.Time) bool {
	return slices.ContainsFunc(h.Upgrades, func(cu *fleetv1.ClusterUpgrade) bool {
		p := cu.Spec.Predicted
		if p == nil || !toForesee(h, cu) {
			return false
		}
		by := p.EndAt
		if observe.NeverAsked(cu) {
			by = p.StartAt
		}
		return by != nil && now.Sub(by.Time) >= worthForeseeing
	})
}

// toForesee: the cluster is one of the rollout that has not begun, or is at work.
func toForesee(h observe.Hub, cu *fleetv1.ClusterUpgrade) bool {
	atWork := cu.Spec.Intent == fleetv1.IntentRun || cu.Spec.Intent == fleetv1.IntentHold
	return cu.Spec.Rollout.UID == h.Rollout.UID && cu.Spec.Ineligible == nil &&
		!policy.ClusterPhase(cu.Status.Phase).Ended() && (atWork || observe.NeverAsked(cu))
}

// predict writes the predictions that are off. left: there are more.
func (r *Reconciler) predict(ctx context.Context, h observe.Hub, all map[string]fleetv1.Prediction) (left bool, err error) {
	wrote := 0
	for _, cu := range h.Upgrades {
		if !toForesee(h, cu) {
			continue
		}
		var next *fleetv1.Prediction
		if p, found := all[cu.Name]; found {
			next = kept(cu, p)
		}
		if !off(cu.Spec.Predicted, next) {
			continue
		}
		if wrote == mostForeseen {
			return true, nil
		}
		wrote++
		if err := r.MayWrite(); err != nil {
			return false, fmt.Errorf("writing predictions: %w", err)
		}
		if err := r.writePrediction(ctx, cu, next); client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			return false, fmt.Errorf("writing the prediction of ClusterUpgrade %s: %w", cu.Name, err)
		}
	}
	return false, nil
}

// kept is a prediction of a cluster that may be at work: when it began, and in which window, stays as it was foreseen.
func kept(cu *fleetv1.ClusterUpgrade, p fleetv1.Prediction) *fleetv1.Prediction {
	if was := cu.Spec.Predicted; was != nil && !observe.NeverAsked(cu) {
		p.StartAt, p.Window = was.StartAt, was.Window
	}
	return &p
}

// writePrediction writes a prediction, and for a cluster that nothing was asked of up to which generation that is so: the
// prediction is no start.
func (r *Reconciler) writePrediction(ctx context.Context, cu *fleetv1.ClusterUpgrade, p *fleetv1.Prediction) error {
	next := cu.DeepCopy()
	next.Spec.Predicted = p
	if observe.NeverAsked(cu) {
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, observe.ForeseenAnnotation, strconv.FormatInt(cu.Generation+1, 10))
	}
	if err := r.Hub.Patch(ctx, next, client.MergeFromWithOptions(cu, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	r.fresh.note(next.Namespace, next.UID, next.ResourceVersion)
	return nil
}

// off reports whether a prediction is worth writing again.
func off(was, is *fleetv1.Prediction) bool {
	if was == nil || is == nil {
		return was != is
	}
	return was.Window != is.Window || apart(was.StartAt, is.StartAt) || apart(was.EndAt, is.EndAt)
}

func apart(a, b *metav1.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() != b.IsZero()
	}
	return a.Sub(b.Time).Abs() >= worthForeseeing
}
