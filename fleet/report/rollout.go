// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// Committed is the status of a Rollout whose plan is being committed: from here on positions and denominators never
// change.
func Committed(s fleetv1.RolloutStatus, p policy.Plan, now time.Time) fleetv1.RolloutStatus {
	at := metav1.NewTime(now.Truncate(time.Second))
	next := *s.DeepCopy()
	next.Plan = &fleetv1.RolloutPlan{
		Hash: p.Hash, CommittedAt: at, Patch: int32(p.Patch), Minor: int32(p.Minor),
		AtTarget: int32(len(p.AtTarget)), Ineligible: int32(len(p.Ineligible)),
	}
	next.Waves = nil
	for _, w := range p.Waves {
		next.Plan.Total += int32(w.Planned)
		next.Waves = append(next.Waves, fleetv1.WaveStatus{
			Name: w.Name, Canary: w.Canary, Phase: fleetv1.WaveWaiting, Planned: int32(w.Planned),
			Pending: int32(w.Planned), MaxConcurrency: int32(w.MaxConcurrency), MaxFailures: int32(w.MaxFailures),
		})
	}
	next.Total, next.Proven = next.Plan.Total, versions(p.Proven)
	return next
}

// Rollout is the status of a Rollout after a decision. Instants move only when what they tell changes.
func Rollout(ro *fleetv1.Rollout, f policy.Fleet, d policy.Decision, now time.Time) fleetv1.RolloutStatus {
	s := *ro.Status.DeepCopy()
	at := metav1.NewTime(now.Truncate(time.Second))
	s.ObservedGeneration, s.Phase, s.Wave = ro.Generation, fleetv1.RolloutPhase(d.Phase), d.Current
	s.Proven = versions(d.Proven)
	s.Done, s.Active, s.Failed, s.Deferred = 0, 0, 0, 0
	for i, w := range d.Waves {
		if i < len(f.Waves) {
			waves(&s, f.Waves[i], w, at)
		}
	}
	if s.Plan != nil {
		s.Total = s.Plan.Total + joined(f)
	}
	s.Progress = fmt.Sprintf("%d/%d", s.Done, s.Total)
	s.Waiting, s.Until = waiting(d.Waiting, s.Waiting, at)
	missed(&s, d.Missed)
	lists(&s, f)
	deferred(&s, f, d)
	s.NextCheckTime = nil
	if !d.Recheck.IsZero() {
		s.NextCheckTime = new(metav1.NewTime(d.Recheck))
	}
	if s.StartedAt == nil && (len(d.Intents) > 0 || s.Active > 0) {
		s.StartedAt = &at
	}
	switch ended := Ended(s.Phase); {
	case !ended:
		s.EndedAt = nil
	case s.EndedAt == nil:
		s.EndedAt, s.ETA = &at, nil
	}
	rolloutConditions(&s, d, ro.Generation, at)
	return s
}

// Ended reports whether a rollout has reached an end of its own: one that is halted has not, it waits for a person.
func Ended(p fleetv1.RolloutPhase) bool {
	switch p {
	case fleetv1.RolloutSucceeded, fleetv1.RolloutCompletedWithFailures, fleetv1.RolloutCancelled,
		fleetv1.RolloutSuperseded:
		return true
	case fleetv1.RolloutPlanning, fleetv1.RolloutAwaitingApproval, fleetv1.RolloutProgressing, fleetv1.RolloutPaused,
		fleetv1.RolloutHalted, fleetv1.RolloutCatchingUp:
		return false
	}
	return false
}

// waiting is a wait as a status shows it, with the text of its end.
func waiting(w *policy.Waiting, before *fleetv1.Waiting, at metav1.Time) (*fleetv1.Waiting, string) {
	if w == nil {
		return nil, ""
	}
	var old *policy.Waiting
	if before != nil && before.Since != nil {
		old = &policy.Waiting{Reason: before.Reason, Since: before.Since.Time}
	}
	now := w.Carry(old, at.Time)
	shown := &fleetv1.Waiting{
		Reason: now.Reason, Message: fleetv1.Bound(now.Message), Since: new(metav1.NewTime(now.Since)),
	}
	switch {
	case !now.Until.IsZero():
		shown.Until = new(metav1.NewTime(now.Until))
		return shown, fleetv1.UntilText(shown.Until)
	case now.Act:
		return shown, fleetv1.UntilAct
	default:
		return shown, ""
	}
}

// missed keeps the last opening that was missed, as it was found out first.
func missed(s *fleetv1.RolloutStatus, m *policy.Missed) {
	if m == nil {
		return
	}
	start := metav1.NewTime(m.Span.Start.Truncate(time.Second))
	if s.Missed != nil && s.Missed.Start.Equal(&start) {
		return
	}
	s.Missed = &fleetv1.MissedOpening{
		Start: start, End: metav1.NewTime(m.Span.End.Truncate(time.Second)), Reason: m.Reason, Message: fleetv1.Bound(m.Message),
	}
}

// Hold is why a cluster is held, as its ClusterUpgrade is told: without since, which its own status has.
func Hold(w policy.Waiting) *fleetv1.Waiting {
	told := &fleetv1.Waiting{Reason: w.Reason, Message: fleetv1.Bound(w.Message)}
	if !w.Until.IsZero() {
		told.Until = new(metav1.NewTime(w.Until.Truncate(time.Second)))
	}
	return told
}

// lists names the clusters that fail and those in flight, bounded.
func lists(s *fleetv1.RolloutStatus, f policy.Fleet) {
	s.Failing, s.ActiveClusters = nil, nil
	for _, c := range f.Clusters {
		if c.Phase == policy.Failed && len(s.Failing) < fleetv1.MaxFailing {
			s.Failing = append(s.Failing, fleetv1.FailingCluster{
				Name: c.Path, Message: fleetv1.Bound(cmp.Or(c.LastError, c.Message)),
			})
		}
		active := c.Intent != policy.Wait && c.Intent != "" && !c.Phase.Ended()
		if active && len(s.ActiveClusters) < fleetv1.MaxActive {
			s.ActiveClusters = append(s.ActiveClusters, c.Path)
		}
	}
}

func rolloutConditions(s *fleetv1.RolloutStatus, d policy.Decision, generation int64, at metav1.Time) {
	s.Conditions = slices.Clone(s.Conditions)
	is := func(kind string, holds bool) {
		c := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: cmp.Or(d.Reason, string(d.Phase)),
			Message: fleetv1.Bound(d.Message), ObservedGeneration: generation, LastTransitionTime: at,
		}
		if holds {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&s.Conditions, c)
	}
	is(fleetv1.ReadyCondition, d.Phase == policy.PhaseSucceeded)
	is(fleetv1.ReconcilingCondition, d.Phase == policy.PhaseProgressing || d.Phase == policy.PhasePlanning ||
		d.Phase == policy.PhaseCatchingUp)
	is(fleetv1.StalledCondition, d.Phase == policy.PhaseHalted || (d.Waiting != nil && d.Waiting.Act))
}
