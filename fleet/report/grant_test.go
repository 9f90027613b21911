// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// retiring is a look that takes off an owner what it carries.
func retiring(id, release string) report.Look {
	return report.Look{
		Seen: true, Standing: []cluster.Standing{{ID: id, Release: release, Status: "done"}},
		Step: cluster.Step{Phase: policy.Progressing, Action: cluster.RetireOwner, Owner: id},
		Owners: []cluster.Owner{
			{Kind: "CK8sControlPlane", Name: "cp", Role: cluster.ControlPlane},
		},
	}
}

// TestWhatAnOwnerCarriedIsStoredWithTheStepThatRemovesIt, once, and for owners that are not upgraded too.
func TestWhatAnOwnerCarriedIsStoredWithTheStepThatRemovesIt(t *testing.T) {
	h := newHistory()
	h.look(0, retiring("CK8sControlPlane/cp", "channel=1.31/stable"))
	h.look(1, retiring("MachineDeployment/md", "channel=1.30/stable"))
	l := retiring("MachineDeployment/md", "") // retired already: nothing is forgotten
	h.look(2, l)
	l.Step = cluster.Step{Phase: policy.Progressing}
	got := map[string]string{}
	for _, o := range h.look(3, l).Owners {
		got[string(o.Role)+" "+o.Name] = o.PreviousRelease
	}
	want := map[string]string{"ControlPlane cp": "channel=1.31/stable", "Workers md": "channel=1.30/stable"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheRecordOfAMachineIsStoredAsDecided (law 4), and goes with its proof.
func TestTheRecordOfAMachineIsStoredAsDecided(t *testing.T) {
	h := newHistory()
	l := working(waitingMachine("cp-1"))
	l.Step.Records = map[string]cluster.Record{"cp-1": {
		At: minute(1), From: "v1.33.4", Seen: true, ChangeIDs: []string{"7", "8"}, Attempts: 3, Put: 2, BlindSince: minute(2),
		Failures: 1, FailedAt: minute(2), LastError: "store is unreachable",
	}}
	got := h.look(2, l).Machines[0]
	want := &fleetv1.MachineGrant{
		At: *at(1), From: "v1.33.4", Seen: true, ChangeIDs: []string{"7", "8"}, Attempts: 3, Put: 2, BlindSince: at(2),
		Failures: 1, FailedAt: at(2), LastError: "store is unreachable",
	}
	if diff := cmp.Diff(want, got.Grant); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Attempts != 3 || got.LastError != "store is unreachable" {
		t.Errorf("its row says %d attempts, %q", got.Attempts, got.LastError)
	}
	if got := h.look(3, working(proven("cp-1"))).Machines[0]; got.Grant != nil || got.Attempts != 3 {
		t.Errorf("proven: %+v", got)
	}
}

// TestNoListIsTooShortForAMachineThatWasGranted: what is to be counted on is never cut off.
func TestNoListIsTooShortForAMachineThatWasGranted(t *testing.T) {
	var machines []cluster.Machine
	for i := range 2 * fleetv1.MaxMachines {
		machines = append(machines, waitingMachine(fmt.Sprintf("cp-%03d", i)))
	}
	last := machines[len(machines)-1].Name
	l := working(machines...)
	l.Step.Records = map[string]cluster.Record{last: {At: start.Add(time.Minute)}}
	rows := newHistory().look(0, l).Machines
	if len(rows) != fleetv1.MaxMachines || rows[0].Name != last || rows[0].Grant == nil {
		t.Errorf("%d rows, the first is %+v", len(rows), rows[0])
	}
}
