// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/policy"
)

// TestLaw17WhyTheRolloutHoldsAClusterIsSeenWithItsEnd: what the rollout controller wrote is what the decision is told.
func TestLaw17WhyTheRolloutHoldsAClusterIsSeenWithItsEnd(t *testing.T) {
	until := time.Date(2026, 12, 5, 2, 0, 0, 0, time.UTC)
	cu := &fleetv1.ClusterUpgrade{}
	cu.Spec.Intent = fleetv1.IntentHold
	for name, c := range map[string]struct {
		told *fleetv1.Waiting
		want policy.Waiting
	}{
		"it does not say": {nil, policy.Waiting{}},
		"until an instant": {
			&fleetv1.Waiting{Reason: "WindowClosed", Message: "closed", Until: new(metav1.NewTime(until))},
			policy.Waiting{Reason: "WindowClosed", Message: "closed", Until: until},
		},
		"until a person acts": {
			&fleetv1.Waiting{Reason: "Frozen", Message: "of alice"}, policy.Waiting{Reason: "Frozen", Message: "of alice"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cu.Spec.Hold = c.told
			seen := observe(cu, Reach{}, member.World{}, drive.Member{}).observation.Held
			if diff := cmp.Diff(c.want, seen); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
