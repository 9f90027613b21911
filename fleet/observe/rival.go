// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"

	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// contender is another policy's rollout that starts clusters now and goes before this one.
type contender struct {
	policy  *fleetv1.RolloutPolicy
	rollout *fleetv1.Rollout
}

// rivals are, by cluster, the rollouts that want it now and go first.
func (b *builder) rivals() map[fleetv1.LocalRef]*policy.Rival {
	contenders := b.contenders()
	if len(contenders) == 0 {
		return nil
	}
	first := map[fleetv1.LocalRef]contender{}
	for _, cu := range b.hub.Upgrades {
		c, found := contenders[cu.Spec.Rollout.UID]
		if !found || !c.wants(cu) {
			continue
		}
		at := cu.Spec.WorkloadCluster
		if before, taken := first[at]; !taken || rank(c.policy, before.policy) < 0 {
			first[at] = c
		}
	}
	rivals := make(map[fleetv1.LocalRef]*policy.Rival, len(first))
	for at, c := range first {
		rivals[at] = &policy.Rival{
			Rollout: c.rollout.Namespace + "/" + c.rollout.Name, Priority: int(value(c.policy.Spec.Priority)),
		}
	}
	return rivals
}

// contenders are the open Rollouts of policies that go before this one, by UID.
func (b *builder) contenders() map[types.UID]contender {
	own := b.hub.Policy
	if own == nil {
		return nil
	}
	before := map[types.UID]*fleetv1.RolloutPolicy{}
	for _, p := range b.hub.Policies {
		if p.UID != own.UID && p.DeletionTimestamp.IsZero() && !p.Spec.Paused && len(p.Spec.Unknown) == 0 && rank(p, own) < 0 {
			before[p.UID] = p
		}
	}
	found := map[types.UID]contender{}
	for _, ro := range b.hub.Rollouts {
		if p := before[ro.Spec.Policy.UID]; p != nil && ro.DeletionTimestamp.IsZero() && startsNow(ro) {
			found[ro.UID] = contender{p, ro}
		}
	}
	return found
}

// rank orders policies that want one cluster: the higher priority first, then the older, then by name.
func rank(a, b *fleetv1.RolloutPolicy) int {
	return cmp.Or(
		cmp.Compare(value(b.Spec.Priority), value(a.Spec.Priority)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name),
	)
}

// startsNow: the rollout works, and neither the clock nor a person keeps all of its wave waiting.
func startsNow(ro *fleetv1.Rollout) bool {
	if ro.Status.Phase != fleetv1.RolloutProgressing && ro.Status.Phase != fleetv1.RolloutCatchingUp {
		return false
	}
	if ro.Status.Waiting == nil {
		return true
	}
	switch ro.Status.Waiting.Reason {
	case policy.ReasonWindowClosed, policy.ReasonWindowTooShort, policy.ReasonDoesNotFit, policy.ReasonFrozen,
		policy.ReasonWouldNotFinishBeforeFreeze, policy.ReasonCalendarNotFound, policy.ReasonCalendarInvalid,
		policy.ReasonTimeZoneMissing, policy.ReasonSoaking, policy.ReasonSoakStopped:
		return false
	}
	return true
}

// wants: the cluster is of the wave that is worked on, and not through.
func (c contender) wants(cu *fleetv1.ClusterUpgrade) bool {
	wave := c.rollout.Status.Wave
	return cu.Spec.Ineligible == nil && !policy.ClusterPhase(cu.Status.Phase).Ended() &&
		(cu.Spec.Wave == wave || wave == fleetv1.WaveCatchUp)
}
