// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/inventory"
)

const target = "channel=1.33-classic/stable"

var two = time.Date(2026, 12, 5, 2, 0, 0, 0, time.UTC)

func minute(n int) *metav1.Time { return new(metav1.NewTime(two.Add(time.Duration(n) * time.Minute))) }

// took is a machine that began and ended at these minutes.
func took(owner string, began, ended int) fleetv1.MachineProgress {
	return fleetv1.MachineProgress{
		Name: fmt.Sprintf("%s-%d-%d", owner, began, ended), Owner: owner, Release: target, StartedAt: minute(began),
		EndedAt: minute(ended),
	}
}

// upgrade is a ClusterUpgrade with these machines; each of them may be tried three times for half an hour.
func upgrade(machines ...fleetv1.MachineProgress) fleetv1.ClusterUpgrade {
	cu := fleetv1.ClusterUpgrade{}
	cu.Spec.Upgrade = (*fleetv1.PolicyUpgrade)(nil).Settings()
	cu.Spec.Owners = []fleetv1.UpgradeOwner{{Name: "cp", Target: target}, {Name: "md", Target: target}}
	cu.Status.Owners = []fleetv1.OwnerProgress{
		{Name: "cp", Role: fleetv1.RoleControlPlane}, {Name: "md", Role: fleetv1.RoleWorkers},
	}
	cu.Status.Machines = machines
	return cu
}

func measured(role fleetv1.OwnerRole, p90 int, samples int32, last int, recent ...int32) fleetv1.RoleDuration {
	for i := range recent {
		recent[i] *= 60
	}
	return fleetv1.RoleDuration{
		Role: role, P90: metav1.Duration{Duration: time.Duration(p90) * time.Minute}, Samples: samples, MeasuredAt: minute(last),
		Recent: recent,
	}
}

func TestLaw10MachinesAreMeasuredByRole(t *testing.T) {
	unseen, waits, lost := took("cp", 0, 5), took("cp", 0, 5), took("md", 0, 90)
	unseen.StartedAt, waits.EndedAt, lost.Release = nil, nil, "channel=1.32-classic/stable"
	before := []fleetv1.RoleDuration{measured(fleetv1.RoleControlPlane, 9, 30, 10, 7, 9)}
	for name, c := range map[string]struct {
		before   []fleetv1.RoleDuration
		upgrades []fleetv1.ClusterUpgrade
		want     []fleetv1.RoleDuration
	}{
		"nothing": {},
		"each role by itself, in the order in which they ended": {
			nil,
			[]fleetv1.ClusterUpgrade{upgrade(took("md", 20, 50), took("cp", 10, 18), took("cp", 0, 6))},
			[]fleetv1.RoleDuration{
				measured(fleetv1.RoleControlPlane, 8, 2, 18, 6, 8), measured(fleetv1.RoleWorkers, 30, 1, 50, 30),
			},
		},
		"what is known stays, and what was measured is not measured again": {
			before,
			[]fleetv1.ClusterUpgrade{upgrade(took("cp", 1, 10), took("cp", 10, 14))},
			[]fleetv1.RoleDuration{measured(fleetv1.RoleControlPlane, 9, 31, 14, 7, 9, 4)},
		},
		"also when the upgrades are gone": {before, nil, before},
		"several upgrades": {
			nil,
			[]fleetv1.ClusterUpgrade{upgrade(took("cp", 20, 25)), upgrade(took("cp", 0, 6))},
			[]fleetv1.RoleDuration{measured(fleetv1.RoleControlPlane, 6, 2, 25, 6, 5)},
		},
		"what was not seen from begin to proof is not measured": {
			nil, []fleetv1.ClusterUpgrade{upgrade(unseen, waits, lost)}, nil,
		},
		"nor is what took longer than its attempts may": {
			nil,
			[]fleetv1.ClusterUpgrade{upgrade(took("md", 0, 91), took("md", 100, 190))},
			[]fleetv1.RoleDuration{measured(fleetv1.RoleWorkers, 90, 1, 190, 90)},
		},
		"C133: nor what ended before it began": {nil, []fleetv1.ClusterUpgrade{upgrade(took("md", 5, 0))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, inventory.Durations(c.before, c.upgrades)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLaw18TheLastTwentyAreKept and no more, of which the p90 is.
func TestLaw18TheLastTwentyAreKept(t *testing.T) {
	var known []fleetv1.RoleDuration
	for i := range 50 {
		known = inventory.Durations(known, []fleetv1.ClusterUpgrade{upgrade(took("md", i*100, i*100+i+1))})
	}
	want := measured(fleetv1.RoleWorkers, 48, 50, 49*100+50)
	for i := range int32(20) {
		want.Recent = append(want.Recent, (31+i)*60)
	}
	if diff := cmp.Diff([]fleetv1.RoleDuration{want}, known); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
