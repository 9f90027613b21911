// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// Worked is the time in which work on a cluster was allowed since a machine last ended, as a status holds it.
func Worked(s fleetv1.ClusterUpgradeStatus) policy.Clock {
	c := policy.Clock{Elapsed: time.Duration(s.RunSeconds) * time.Second}
	if s.RunningSince != nil {
		c.Since = s.RunningSince.Time
	}
	return c
}

// work keeps the clock of progressDeadline, which begins anew with each machine that ends, and when the cluster is begun.
func work(s *fleetv1.ClusterUpgradeStatus, works, anew bool, at metav1.Time) {
	c := Worked(*s)
	if anew {
		c = policy.Clock{}
	}
	c = c.Run(works, at.Time)
	s.RunSeconds = int64(c.Elapsed / time.Second)
	if s.RunningSince = nil; !c.Since.IsZero() {
		s.RunningSince = new(metav1.NewTime(c.Since))
	}
}

// windows counts the stretches of time in which machines may begin and did.
func windows(cu *fleetv1.ClusterUpgrade, s *fleetv1.ClusterUpgradeStatus, began bool, at metav1.Time) {
	open := mayBegin(cu, at.Time)
	if began && s.CurrentWindow == nil && (open || s.Windows == 0) {
		s.Windows++
		s.CurrentWindow = &at
	}
	if !open {
		s.CurrentWindow = nil
	}
}

// mayBegin: machines of the cluster may begin, as far as the rollout says.
func mayBegin(cu *fleetv1.ClusterUpgrade, now time.Time) bool {
	return cu.Spec.Intent == fleetv1.IntentRun && (cu.Spec.NotAfter == nil || now.Before(cu.Spec.NotAfter.Time))
}

// outside notes machines that end while their member cannot be seen and no machine may begin any more: nobody can say
// when (law 10). It is Unknown while they may, True once they have, and absent where they have not.
func outside(cu *fleetv1.ClusterUpgrade, s *fleetv1.ClusterUpgradeStatus, seen bool, moved []string, at metav1.Time) {
	set := func(status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: fleetv1.OutsideWindowCondition, Status: status, Reason: reason, Message: fleetv1.Bound(message),
			ObservedGeneration: cu.Generation, LastTransitionTime: at,
		})
	}
	before := meta.FindStatusCondition(s.Conditions, fleetv1.OutsideWindowCondition)
	atWork := slices.IndexFunc(s.Machines, func(m fleetv1.MachineProgress) bool {
		return m.StartedAt != nil && m.EndedAt == nil
	})
	switch {
	case !seen && s.StartedAt != nil && atWork >= 0 && !mayBegin(cu, at.Time) && before == nil:
		set(metav1.ConditionUnknown, fleetv1.NotObservedReason, fmt.Sprintf("machine %s was at work when the time in which "+
			"machines may begin was over, and its management cluster cannot be seen", s.Machines[atWork].Name))
	case !seen || before == nil || before.Status != metav1.ConditionUnknown:
	case len(moved) == 0:
		meta.RemoveStatusCondition(&s.Conditions, fleetv1.OutsideWindowCondition)
	default:
		set(metav1.ConditionTrue, fleetv1.OutsideWindowReason, fmt.Sprintf("machines %s ended between %s and %s, while their "+
			"management cluster could not be seen and no machine was to begin", strings.Join(moved, ", "),
			fleetv1.UntilText(&before.LastTransitionTime), fleetv1.UntilText(&at)))
	}
}

// unseen: at the look before this one the member could not be read.
func unseen(s fleetv1.ClusterUpgradeStatus) bool {
	return s.Phase == fleetv1.UpgradeHolding && s.Reason == policy.ReasonMemberUnreachable
}

// listed orders machines and cuts them to what a status holds: those that something is remembered of, those that are at
// work, the other unfinished ones, then the finished ones, of which the last ten always have their place.
func listed(unfinished, done []fleetv1.MachineProgress) []fleetv1.MachineProgress {
	const lastDone = 10
	slices.SortStableFunc(unfinished, func(a, b fleetv1.MachineProgress) int { return rank(a) - rank(b) })
	slices.SortStableFunc(done, func(a, b fleetv1.MachineProgress) int { return ended(b).Compare(ended(a)) })
	remembered := slices.IndexFunc(unfinished, func(m fleetv1.MachineProgress) bool { return rank(m) > 0 })
	if remembered < 0 {
		remembered = len(unfinished)
	}
	room := max(fleetv1.MaxMachines-min(len(done), lastDone), min(remembered, fleetv1.MaxMachines))
	unfinished = unfinished[:min(len(unfinished), room)]
	return append(unfinished, done[:min(len(done), fleetv1.MaxMachines-len(unfinished))]...)
}

// ended is when a machine that had begun ended; zero: it had not begun.
func ended(m fleetv1.MachineProgress) time.Time {
	if m.EndedAt == nil || m.StartedAt == nil {
		return time.Time{}
	}
	return m.EndedAt.Time
}

// rank puts machines that something is remembered of before all others, so that no list is too short for them.
func rank(m fleetv1.MachineProgress) int {
	switch {
	case m.Grant != nil:
		return 0
	case m.StartedAt != nil:
		return 1
	}
	return 2
}

// wish keeps since when the wish of the cluster's owner is honoured.
func wish(s *fleetv1.ClusterUpgradeStatus, step cluster.Step, at metav1.Time) {
	switch {
	case !step.Wished:
		s.DeferredSince = nil
	case s.DeferredSince == nil:
		s.DeferredSince = &at
	}
}
