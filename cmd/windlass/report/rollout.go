// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// rollouts shows the current one of each policy that was asked for, and older ones that still hold clusters.
func (x *index) rollouts() []Rollout {
	list := []Rollout{}
	for _, ro := range x.Rollouts {
		if x.asked(ro.Spec.Policy.Name) && (x.isCurrent(ro) || holds(ro)) {
			list = append(list, x.rollout(ro))
		}
	}
	slices.SortFunc(list, func(a, b Rollout) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Policy, b.Policy), cmp.Compare(b.Number, a.Number))
	})
	return list
}

// isCurrent reports whether a Rollout is the one that counts for its policy: of one that is gone, the last.
func (x *index) isCurrent(ro fleetv1.Rollout) bool {
	of := key{ro.Namespace, ro.Spec.Policy.Name}
	if name, exists := x.current[of]; exists {
		return name == ro.Name
	}
	return !slices.ContainsFunc(x.Rollouts, func(other fleetv1.Rollout) bool {
		same := other.Namespace == ro.Namespace && other.Spec.Policy.Name == ro.Spec.Policy.Name
		return same && newer(other, ro)
	})
}

func newer(a, b fleetv1.Rollout) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Spec.Number, b.Spec.Number),
		cmp.Compare(a.Name, b.Name)) > 0
}

// holds reports whether a Rollout that is not current still matters: something of it is in flight.
func holds(ro fleetv1.Rollout) bool { return ro.Status.Active > 0 || !Over(string(ro.Status.Phase)) }

// Over reports whether a rollout in this phase will not start anything more by itself: it ended, or is Halted.
func Over(phase string) bool {
	switch fleetv1.RolloutPhase(phase) {
	case fleetv1.RolloutHalted, fleetv1.RolloutSucceeded, fleetv1.RolloutCompletedWithFailures, fleetv1.RolloutCancelled,
		fleetv1.RolloutSuperseded:
		return true
	case fleetv1.RolloutPlanning, fleetv1.RolloutAwaitingApproval, fleetv1.RolloutProgressing, fleetv1.RolloutPaused,
		fleetv1.RolloutCatchingUp:
		return false
	}
	return false
}

func (x *index) rollout(ro fleetv1.Rollout) Rollout {
	s := ro.Status
	r := Rollout{
		Namespace: ro.Namespace, Name: ro.Name, Policy: ro.Spec.Policy.Name, Number: ro.Spec.Number,
		Current: x.isCurrent(ro), Target: target(ro.Spec.Target), Version: ro.Spec.Target.Version,
		Phase: cmp.Or(string(s.Phase), string(fleetv1.RolloutPlanning)), Wave: s.Wave,
		Upgrades: Upgrades{
			Done: int(s.Done), Total: int(s.Total), Active: int(s.Active), Failed: int(s.Failed), Deferred: int(s.Deferred),
		},
		Plan: planOf(s.Plan), Why: rolloutWhy(s), StartedAt: instant(s.StartedAt), EndedAt: instant(s.EndedAt),
	}
	for _, p := range s.Proven {
		r.Proven = append(r.Proven, Proven(p))
	}
	r.Waves = x.waves(ro, stopping(r))
	return r
}

func planOf(p *fleetv1.RolloutPlan) *Plan {
	if p == nil {
		return nil
	}
	return &Plan{
		CommittedAt: p.CommittedAt, Total: int(p.Total), Patch: int(p.Patch), Minor: int(p.Minor),
		AtTarget: int(p.AtTarget), Ineligible: int(p.Ineligible),
	}
}

// rolloutWhy is the wait of a rollout, else what the condition that is True says.
func rolloutWhy(s fleetv1.RolloutStatus) *Why {
	halted := s.Phase == fleetv1.RolloutHalted
	if why := waiting(s.Waiting, halted); why != nil {
		why.Until = cmp.Or(s.Until, why.Until)
		return why
	}
	for _, kind := range []string{fleetv1.StalledCondition, fleetv1.ReconcilingCondition, fleetv1.ReadyCondition} {
		c := meta.FindStatusCondition(s.Conditions, kind)
		if c == nil || c.Status != "True" {
			continue
		}
		why := &Why{Reason: c.Reason, Message: c.Message, Since: instant(&c.LastTransitionTime), Until: s.Until}
		if halted {
			why.Until = fleetv1.UntilAct
		}
		return why
	}
	return nil
}

// waiting reads a wait. One without an instant ends by an act where its reason says so, and else by another event.
func waiting(w *fleetv1.Waiting, halted bool) *Why {
	if w == nil {
		return nil
	}
	why := &Why{Reason: w.Reason, Message: w.Message, Since: instant(w.Since)}
	if !w.Until.IsZero() || halted || policy.NeedsAct(w.Reason) {
		why.Until = fleetv1.UntilText(w.Until)
	}
	return why
}

// stopping is why a rollout as a whole starts nothing; nil while it progresses or is through.
func stopping(r Rollout) *Why {
	switch fleetv1.RolloutPhase(r.Phase) {
	case fleetv1.RolloutPlanning, fleetv1.RolloutAwaitingApproval, fleetv1.RolloutPaused, fleetv1.RolloutHalted:
		return r.Why.of(OfRollout)
	case fleetv1.RolloutProgressing, fleetv1.RolloutCatchingUp, fleetv1.RolloutSucceeded,
		fleetv1.RolloutCompletedWithFailures, fleetv1.RolloutCancelled, fleetv1.RolloutSuperseded:
	}
	return nil
}

// of is the same reason, marked as shared.
func (w *Why) of(whom string) *Why {
	if w == nil {
		return nil
	}
	shared := *w
	shared.Of = cmp.Or(w.Of, whom)
	return &shared
}

// waves lists the waves of a Rollout with their clusters. Before its status knows them the clusters tell which exist.
func (x *index) waves(ro fleetv1.Rollout, stopped *Why) []Wave {
	waves := []Wave{}
	at := map[string]int{}
	for _, w := range ro.Status.Waves {
		at[w.Name] = len(waves)
		waves = append(waves, waveOf(w, stopped))
	}
	for _, cu := range x.upgrades[keyOf(&ro)] {
		i, known := at[cu.Spec.Wave]
		if !known {
			i = len(waves)
			at[cu.Spec.Wave] = i
			waves = append(waves, Wave{
				Name: cu.Spec.Wave, Canary: cu.Spec.Canary, Phase: string(fleetv1.WaveWaiting), Why: stopped,
				Clusters: []Cluster{},
			})
		}
		waves[i].Clusters = append(waves[i].Clusters, x.upgraded(cu, waves[i].Why))
	}
	return waves
}

func waveOf(w fleetv1.WaveStatus, stopped *Why) Wave {
	wave := Wave{
		Name: w.Name, Canary: w.Canary, Phase: cmp.Or(string(w.Phase), string(fleetv1.WaveWaiting)),
		Planned: int(w.Planned), Succeeded: int(w.Succeeded), Failed: int(w.Failed), Active: int(w.Active),
		Pending: int(w.Pending), Skipped: int(w.Skipped), Deferred: int(w.Deferred),
		MaxConcurrency: int(w.MaxConcurrency), MaxFailures: int(w.MaxFailures),
		Why: waiting(w.Waiting, w.Phase == fleetv1.WaveHalted), StartedAt: instant(w.StartedAt),
		CompletedAt: instant(w.CompletedAt), Clusters: []Cluster{},
	}
	open := w.Phase == "" || w.Phase == fleetv1.WaveWaiting || w.Phase == fleetv1.WaveProgressing
	if wave.Why == nil && open {
		wave.Why = stopped
	}
	return wave
}
