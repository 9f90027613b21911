// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// open reports whether the wave of an upgrade is open as far as its Rollout says: it is worked on now or was before. A
// hub that takes itself for cut off opens nothing.
func open(ro *fleetv1.Rollout, cu *fleetv1.ClusterUpgrade) bool {
	working := ro.Status.Phase == fleetv1.RolloutProgressing || ro.Status.Phase == fleetv1.RolloutCatchingUp
	w := ro.Status.Waiting
	if ro.UID != cu.Spec.Rollout.UID || !working || w != nil && w.Reason == policy.ReasonHubIsolated {
		return false
	}
	at := func(name string) int {
		return slices.IndexFunc(ro.Status.Waves, func(w fleetv1.WaveStatus) bool { return w.Name == name })
	}
	mine, now := at(cu.Spec.Wave), at(ro.Status.Wave)
	return ro.Status.Phase == fleetv1.RolloutCatchingUp ||
		mine >= 0 && (mine <= now || ro.Status.Waves[mine].StartedAt != nil)
}

// silentSince is when the hub found that a member does not answer, or is not accepted; zero: it has not. One whose
// ManagementCluster is gone is silent since that was first said.
func silentSince(mc *fleetv1.ManagementCluster, cu *fleetv1.ClusterUpgrade) time.Time {
	if mc.UID == "" {
		if cu.Status.Reason == policy.ReasonMemberUnreachable {
			return instant(cu.Status.Since)
		}
		return time.Time{}
	}
	ready := meta.FindStatusCondition(mc.Status.Conditions, fleetv1.ReadyCondition)
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return time.Time{}
	}
	return ready.LastTransitionTime.Time
}
