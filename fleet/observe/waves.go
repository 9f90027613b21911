// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// waves are those of the plan, with the limits of the policy as it is now, and catch-up once the plan is committed.
// Denominators are those of the commit. A wave that the policy has no longer keeps what is stored of it.
func (b *builder) waves() []policy.Wave {
	var list []policy.Wave
	covered, _ := policy.ParseSettings(b.hub.Rollout.Status.Settings) // nothing where that cannot be read
	for i := range b.hub.Rollout.Status.Waves {
		w := &b.hub.Rollout.Status.Waves[i]
		if w.Name == fleetv1.WaveCatchUp {
			continue
		}
		list = append(list, b.wave(w, covered))
	}
	if b.hub.Rollout.Status.Plan != nil {
		list = append(list, b.catchUp(list))
	}
	return list
}

func (b *builder) wave(s *fleetv1.WaveStatus, covered policy.Settings) policy.Wave {
	w := stored(s)
	for _, c := range covered.Waves {
		if c.Name == s.Name {
			w.Soak, w.Approvals = c.Soak, max(w.Approvals, c.Approvals)
			w.Deadline, w.DeadlineContinue = c.Deadline, c.DeadlineContinue
		}
	}
	if b.hub.Policy == nil {
		return w
	}
	spec := &b.hub.Policy.Spec
	if s.Canary {
		if c := &spec.Canaries; !value(c.None) {
			terms(&w, c.SoakDuration, c.Deadline, c.Approval)
		}
		return w
	}
	for i := range spec.Waves {
		if p := &spec.Waves[i]; p.Name == s.Name {
			terms(&w, p.SoakDuration, p.Deadline, p.Approval)
			w.DeadlineContinue = p.OnDeadline == fleetv1.OnDeadlineContinue
			if a, ok := amountOf(p.MaxConcurrency, policy.Amount{Value: 1}); ok {
				w.MaxConcurrency = a.AtLeastOne(w.Planned)
			}
			if a, ok := amountOf(p.MaxFailures, policy.Amount{}); ok {
				w.MaxFailures = a.Of(w.Planned)
			}
		}
	}
	return w
}

// stored is a wave as its status tells it.
func stored(s *fleetv1.WaveStatus) policy.Wave {
	w := policy.Wave{
		Name: s.Name, Canary: s.Canary, Planned: int(s.Planned), MaxConcurrency: int(s.MaxConcurrency),
		MaxFailures: int(s.MaxFailures), StartedAt: instant(s.StartedAt), ClosedAt: instant(s.ClosedAt),
	}
	if s.Soak != nil {
		w.Soaked = clockOf(s.Soak.ElapsedSeconds, s.Soak.Since)
	}
	if s.Deadline != nil {
		w.Worked = clockOf(s.Deadline.ElapsedSeconds, s.Deadline.Since)
	}
	if s.Approvals != nil {
		w.Approvals = int(s.Approvals.Needed)
	}
	return w
}

func clockOf(seconds int64, since *metav1.Time) policy.Clock {
	return policy.Clock{Elapsed: time.Duration(seconds) * time.Second, Since: instant(since)}
}

// terms are what canaries and waves may both have.
func terms(w *policy.Wave, soak, deadline *metav1.Duration, gate *fleetv1.ApprovalGate) {
	w.Soak, w.Deadline, w.Approvals = value(soak).Duration, value(deadline).Duration, 0
	if gate != nil {
		w.Approvals = int(gate.Count)
	}
}

// amountOf reads a limit; one that cannot be read changes nothing.
func amountOf(v *intstr.IntOrString, otherwise policy.Amount) (policy.Amount, bool) {
	a, err := amount(v, otherwise)
	return a, err == nil
}

// catchUp is the wave after the last one, with its limits.
func (b *builder) catchUp(waves []policy.Wave) policy.Wave {
	w := policy.Wave{Name: fleetv1.WaveCatchUp}
	for i := range b.hub.Rollout.Status.Waves {
		if s := &b.hub.Rollout.Status.Waves[i]; s.Name == fleetv1.WaveCatchUp {
			w = stored(s)
		}
	}
	w.CatchUp, w.Planned, w.Approvals, w.MaxConcurrency, w.MaxFailures = true, 0, 0, 1, 0
	if len(waves) > 0 {
		last := waves[len(waves)-1]
		w.MaxConcurrency, w.MaxFailures = last.MaxConcurrency, last.MaxFailures
	}
	return w
}
