// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// Closes reports whether a status says of a wave for the first time that it is closed. That is written before what
// follows from it: a cluster that comes back later must not open the wave again (law 15).
func Closes(before, after fleetv1.RolloutStatus) bool {
	closed := func(s fleetv1.RolloutStatus) int {
		n := 0
		for i := range s.Waves {
			if s.Waves[i].ClosedAt != nil {
				n++
			}
		}
		return n
	}
	return closed(after) > closed(before)
}

// waves reports on one wave. That of catch-up is shown once something is to be caught up.
func waves(s *fleetv1.RolloutStatus, w policy.Wave, state policy.WaveState, at metav1.Time) {
	i := slices.IndexFunc(s.Waves, func(shown fleetv1.WaveStatus) bool { return shown.Name == w.Name })
	if i < 0 && (!w.CatchUp || idle(state)) {
		return
	}
	if i < 0 {
		i, s.Waves = len(s.Waves), append(slices.Clone(s.Waves), fleetv1.WaveStatus{Name: w.Name})
	}
	shown := &s.Waves[i]
	shown.MaxConcurrency, shown.MaxFailures = int32(w.MaxConcurrency), int32(w.MaxFailures)
	wave(shown, state, at)
	gate(shown, state)
	soak(shown, state)
	deadline(shown, w, state, at)
	s.Done += shown.Succeeded
	s.Active += shown.Active
	s.Failed += shown.Failed
	if w.CatchUp || !state.Closed { // what a closed wave has put off is catch-up's, and counts there
		s.Deferred += shown.Deferred
	}
}

// idle: nothing is in the wave.
func idle(w policy.WaveState) bool {
	return w.Succeeded+w.Failed+w.Active+w.Pending+w.Skipped+w.Deferred == 0
}

func wave(s *fleetv1.WaveStatus, w policy.WaveState, at metav1.Time) {
	s.Phase = fleetv1.WavePhase(w.Phase)
	s.Succeeded, s.Failed, s.Active = int32(w.Succeeded), int32(w.Failed), int32(w.Active)
	s.Pending, s.Skipped, s.Deferred = int32(w.Pending), int32(w.Skipped), int32(w.Deferred)
	s.Waiting, _ = waiting(w.Waiting, s.Waiting, at)
	begun := w.Active+w.Succeeded+w.Failed > 0 // a rollout may halt in a wave that has not begun
	if s.StartedAt == nil && s.Phase != fleetv1.WaveWaiting && (begun || s.Phase != fleetv1.WaveHalted) {
		s.StartedAt = &at
	}
	if s.CompletedAt == nil && (s.Phase == fleetv1.WaveSucceeded || s.Phase == fleetv1.WaveEmpty) {
		s.CompletedAt = &at
	}
	if s.ClosedAt == nil && w.Closed {
		s.ClosedAt = &at
	}
}

// gate says whose word a wave needs and has.
func gate(s *fleetv1.WaveStatus, w policy.WaveState) {
	s.Approvals = nil
	if w.Approvals > 0 {
		s.Approvals = &fleetv1.WaveApprovals{
			Needed: int32(w.Approvals), Given: int32(w.Approved),
			By: slices.Clone(w.ApprovedBy[:min(len(w.ApprovedBy), fleetv1.MaxApprovers)]),
		}
	}
}

// soak stores the soak's clock. It is kept in whole seconds, rounded so that it never ends early.
func soak(s *fleetv1.WaveStatus, w policy.WaveState) {
	s.Soak = nil
	if w.Soaked != (policy.Clock{}) || !w.SoakUntil.IsZero() {
		s.Soak = &fleetv1.WaveSoak{
			ElapsedSeconds: int64(w.Soaked.Elapsed / time.Second), Since: ceil(w.Soaked.Since), Until: ceil(w.SoakUntil),
		}
	}
}

// deadline keeps the clock of a wave's deadline: it runs while the decision says that work is allowed.
func deadline(s *fleetv1.WaveStatus, w policy.Wave, state policy.WaveState, at metav1.Time) {
	s.Deadline = nil
	clock := w.Worked.Run(w.Deadline > 0 && state.Works, cmp.Or(state.WorkedUntil, at.Time))
	if clock != (policy.Clock{}) {
		s.Deadline = &fleetv1.WaveDeadline{
			ElapsedSeconds: int64(clock.Elapsed / time.Second), Since: ceil(clock.Since), At: ceil(state.DeadlineAt),
		}
	}
}

// ceil is an instant as a status holds it, in whole seconds and not before it.
func ceil(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	whole := t.Truncate(time.Second)
	if whole.Before(t) {
		whole = whole.Add(time.Second)
	}
	return new(metav1.NewTime(whole))
}

// joined counts the clusters that were selected after the plan was committed.
func joined(f policy.Fleet) int32 {
	n := int32(0)
	for i := range f.Clusters {
		if w := f.Clusters[i].Wave; w >= 0 && w < len(f.Waves) && f.Waves[w].CatchUp {
			n++
		}
	}
	return n
}

// deferred names the clusters that were put off, bounded.
func deferred(s *fleetv1.RolloutStatus, f policy.Fleet, d policy.Decision) {
	s.DeferredClusters = nil
	until := map[string]time.Time{}
	for _, hold := range d.Holds {
		until[hold.ID] = hold.Waiting.Until
	}
	named := map[string]bool{}
	for i := range f.Clusters {
		c := &f.Clusters[i]
		if c.Phase != policy.Deferred || named[c.Path] {
			continue
		}
		if len(s.DeferredClusters) == fleetv1.MaxDeferred {
			return
		}
		named[c.Path] = true
		s.DeferredClusters = append(s.DeferredClusters, fleetv1.DeferredCluster{
			Name: c.Path, Reason: cmp.Or(c.Reason, string(policy.Deferred)), Until: ceil(until[c.ID]),
		})
	}
}
