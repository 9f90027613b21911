// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// TestLaw10TheEndOfAnIntentSaysOfWhichMachinesItIs, also where it stays the same instant; until then none of another role
// begins, however long the hub was away when the last machine of the first role ended.
func TestLaw10TheEndOfAnIntentSaysOfWhichMachinesItIs(t *testing.T) {
	for text, c := range map[string]struct {
		workers time.Duration
		until   string
	}{
		"workers take longer":  {40 * time.Minute, "2026-11-30T05:20:00Z"},
		"workers take as long": {5 * time.Minute, "2026-11-30T05:55:00Z"},
	} {
		t.Run(text, func(t *testing.T) {
			h, name := within(t, "2026-11-30T02:00:00Z", bound("nights"), calendar("nights", "0 2 * * *", 4*time.Hour))
			wc := &fleetv1.WorkloadCluster{}
			h.get(recorded("a").Name, wc)
			wc.Status.Durations = []fleetv1.RoleDuration{{
				Role: fleetv1.RoleWorkers, P90: metav1.Duration{Duration: c.workers}, Samples: 3,
			}}
			if err := h.live.Status().Update(t.Context(), wc); err != nil {
				t.Fatal(err)
			}
			is := func(role fleetv1.OwnerRole, until string) {
				t.Helper()
				cu := &fleetv1.ClusterUpgrade{}
				h.get(name+"-a", cu)
				if cu.Spec.NotAfterFor != role || fleetv1.UntilText(cu.Spec.NotAfter) != until {
					t.Errorf("%s until %s, want %s until %s", cu.Spec.NotAfterFor, cu.Spec.NotAfter, role, until)
				}
			}
			h.settle(name)
			is(fleetv1.RoleControlPlane, "2026-11-30T05:55:00Z")
			h.begin(name + "-a")
			owners := func(done int32) {
				h.say(name+"-a", func(s *fleetv1.ClusterUpgradeStatus) {
					s.Owners = []fleetv1.OwnerProgress{
						{Kind: "CK8sControlPlane", Name: "a-cp", Role: fleetv1.RoleControlPlane, Total: 3, Done: done},
						{Kind: "MachineDeployment", Name: "a-md", Role: fleetv1.RoleWorkers, Total: 3},
					}
				})
			}
			owners(2)
			h.settle(name)
			is(fleetv1.RoleControlPlane, "2026-11-30T05:55:00Z")
			owners(3)
			h.restart()
			h.settle(name)
			is(fleetv1.RoleWorkers, c.until)
			h.say(name+"-a", func(s *fleetv1.ClusterUpgradeStatus) { s.Owners[1].Done = 3 })
			h.settle(name)
			is(fleetv1.RoleWorkers, "2026-11-30T06:00:00Z") // no machine is left that could begin
		})
	}
}

// TestWithoutACalendarNothingIsSaidOfRoles: that would be a write for nothing.
func TestWithoutACalendarNothingIsSaidOfRoles(t *testing.T) {
	h := newHub(t, standing("k8s"), member("mgmt-a", 1), recorded("a"))
	h.turn()
	name := h.allRollouts()[0].Name
	h.settle(name)
	cu := &fleetv1.ClusterUpgrade{}
	if h.get(name+"-a", cu); cu.Spec.Intent != fleetv1.IntentRun || cu.Spec.NotAfterFor != "" {
		t.Errorf("%s for %q", cu.Spec.Intent, cu.Spec.NotAfterFor)
	}
}
