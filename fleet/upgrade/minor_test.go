// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"testing"
	"time"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// TestAFurtherAttemptIsWrittenAtOnce: a machine that succeeds right after leaves no trace of it.
func TestAFurtherAttemptIsWrittenAtOnce(t *testing.T) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	cu := &fleetv1.ClusterUpgrade{Status: fleetv1.ClusterUpgradeStatus{Phase: fleetv1.UpgradeProgressing, Attempts: 1}}
	seen := func(attempts int) report.Look {
		return report.Look{
			Step:   cluster.Step{Phase: policy.Progressing, Action: cluster.None},
			Owners: []cluster.Owner{{Machines: []cluster.Machine{{Attempts: 0}, {Attempts: attempts}}}},
		}
	}
	for attempts, want := range map[int]bool{0: true, 1: true, 2: false} {
		if got := minor(cu, seen(attempts), now); got != want {
			t.Errorf("after attempt %d it may wait: %t", attempts, got)
		}
	}
}
