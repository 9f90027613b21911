// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"strings"
	"testing"
	"time"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// TestC042_AMissedOpeningIsToldOnceHoweverOftenTheHubStarts: what was told is stored, since the wait that was shown meanwhile
// may stay the same for weeks.
func TestC042_AMissedOpeningIsToldOnceHoweverOftenTheHubStarts(t *testing.T) {
	p := bound("nights")
	p.Spec.Waves[0].Approval = &fleetv1.ApprovalGate{Count: 1}
	h, name := within(t, "2026-11-30T01:00:00Z", p, calendar("nights", "0 2 * * *", 4*time.Hour))
	h.settle(name)
	nights := func(day, want string) {
		t.Helper()
		h.at("2026-" + day + "T07:00:00Z")
		var told []string
		for range 3 {
			h.settle(name)
			told = append(told, h.told()...)
			h.restart()
		}
		span := "2026-" + day + "T02:00:00Z to 2026-" + day + "T06:00:00Z"
		if len(told) != 1 || !strings.Contains(told[0], span) || !strings.Contains(told[0], "Approval") {
			t.Errorf("told %q", told)
		}
		m := h.status(name).Missed
		if m == nil || m.Start.UTC().Format(time.RFC3339) != want || m.End.Sub(m.Start.Time) != 4*time.Hour || m.Message == "" {
			t.Errorf("the status says %+v", m)
		}
	}
	nights("11-30", "2026-11-30T02:00:00Z")
	nights("12-01", "2026-12-01T02:00:00Z")
}
