// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

func build(t *testing.T, in report.Input) report.Report {
	t.Helper()
	r, err := report.Build(in, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestTablesReadAsTheGoldenPagesDo(t *testing.T) {
	for name, in := range scenes() {
		t.Run(name, func(t *testing.T) {
			var page bytes.Buffer
			if err := build(t, in).Table(&page); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", page.Bytes())
		})
	}
}

func TestTheJSONFormStaysAsItIs(t *testing.T) {
	for _, name := range []string{"silent-member", "nothing-there"} {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(build(t, scenes()[name]), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", append(got, '\n'))
		})
	}
}

func TestReportDoesNotDependOnTheOrderOfWhatItReads(t *testing.T) {
	for name, in := range scenes() {
		want := build(t, in)
		random := rand.New(rand.NewSource(1))
		for range 20 {
			shuffle(random, in.ManagementClusters)
			shuffle(random, in.WorkloadClusters)
			shuffle(random, in.ClusterUpgrades)
			if diff := cmp.Diff(want, build(t, in)); diff != "" {
				t.Fatalf("%s (-first +shuffled):\n%s", name, diff)
			}
		}
	}
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func TestFleetSumsUpWhatIsKnown(t *testing.T) {
	counts := func(name string, n int, more ...report.Count) []report.Count {
		return append([]report.Count{{Name: name, Count: n}}, more...)
	}
	for name, tc := range map[string]struct {
		in   report.Input
		want report.Fleet
	}{
		"all is done": {happyEnd(), report.Fleet{
			ManagementClusters: 2, Reachable: 2, WorkloadClusters: 4, Healthy: 4, Machines: 20,
			Upgrades:  report.Upgrades{Done: 4, Total: 4},
			ByRelease: counts(newRelease, 20), ByKubelet: counts(newKubelet, 20),
		}},
		"what a silent member holds is unknown, not healthy": {silentMember(), report.Fleet{
			ManagementClusters: 2, Reachable: 1, WorkloadClusters: 4, Healthy: 2, Unknown: 2, Machines: 20,
			Upgrades:  report.Upgrades{Done: 1, Total: 4, Active: 1},
			ByRelease: counts(oldRelease, 12, report.Count{Name: newRelease, Count: 8}),
			ByKubelet: counts(oldKubelet, 12, report.Count{Name: newKubelet, Count: 8}),
		}},
		"without a policy every recorded cluster counts once": {overview(), report.Fleet{
			ManagementClusters: 2, Reachable: 2, WorkloadClusters: 5, Healthy: 5, Machines: 25,
			Upgrades:  report.Upgrades{Done: 1, Total: 4, Active: 1},
			ByRelease: counts(oldRelease, 17, report.Count{Name: newRelease, Count: 8}),
			ByKubelet: counts(oldKubelet, 17, report.Count{Name: newKubelet, Count: 8}),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, build(t, tc.in).Fleet); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachClusterSaysWhyItWaits(t *testing.T) {
	in := midWay()
	in.ClusterUpgrades[3].Spec.Ineligible = &fleetv1.Ineligible{Reason: "Unsupported", Message: "a MachinePool"}
	got := map[string]report.Why{}
	for _, w := range build(t, in).Rollouts[0].Waves {
		for _, c := range w.Clusters {
			got[c.Name+" "+c.Phase] = report.Why{Reason: c.Why.Reason, Until: c.Why.Until, Of: c.Why.Of}
		}
	}
	want := map[string]report.Why{
		"mgmt-a/shop/eu-1 Succeeded":   {Reason: "Proven"},
		"mgmt-b/shop/us-1 Progressing": {Reason: "Upgrading"},
		"mgmt-a/shop/eu-2 Pending":     {Reason: "ClaimedByOther", Until: "2026-07-01T02:31:00Z"},
		"mgmt-b/shop/us-2 Ineligible":  {Reason: "Unsupported"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAClusterSharesTheReasonOfItsWave(t *testing.T) {
	rest := build(t, midWay()).Rollouts[0].Waves[2]
	want := &report.Why{
		Reason: "WaitingForWave", Message: "wave early is not complete", Since: rest.Why.Since, Of: report.OfWave,
	}
	if diff := cmp.Diff(want, rest.Clusters[0].Why); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAHaltedRolloutIsTheReasonOfAllThatWaits(t *testing.T) {
	ro := build(t, canaryHalted()).Rollouts[0]
	for _, w := range ro.Waves[1:] {
		for _, why := range []*report.Why{w.Why, w.Clusters[0].Why} {
			if why == nil || why.Reason != "CanaryFailed" || why.Of != report.OfRollout || why.Until != fleetv1.UntilAct {
				t.Errorf("wave %s waits for %+v, want the rollout's CanaryFailed until act", w.Name, why)
			}
		}
	}
}

func TestAMachineIsDoneOnlyAtTheReleaseAskedFor(t *testing.T) {
	states := map[string]string{}
	for _, c := range build(t, canaryHalted()).Rollouts[0].Waves[0].Clusters {
		for _, m := range c.Machines {
			states[m.Name] = m.State
		}
	}
	want := map[string]string{
		"eu-1-cp-1": report.MachineDone, "eu-1-cp-2": report.MachineQuarantined, "eu-1-cp-3": report.MachineWaiting,
		"eu-1-md-1": report.MachineWaiting, "eu-1-md-2": report.MachineWaiting,
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMachinesBeyondTheListAreCountedByOwner(t *testing.T) {
	in := midWay()
	for i := range in.ClusterUpgrades {
		if cu := &in.ClusterUpgrades[i]; len(cu.Status.Machines) > 0 {
			cu.Status.Machines = cu.Status.Machines[3:]
		}
	}
	c := build(t, in).Rollouts[0].Waves[1].Clusters[0]
	if c.MachinesLeftOff != 3 || len(c.Machines) != 2 {
		t.Errorf("left off %d and listed %d, want 3 and 2", c.MachinesLeftOff, len(c.Machines))
	}
}

func TestAClusterOfAnotherIdentityLendsNothing(t *testing.T) {
	in := midWay()
	for i := range in.WorkloadClusters {
		in.WorkloadClusters[i].Spec.Cluster.UID = types.UID("reborn")
	}
	for _, w := range build(t, in).Rollouts[0].Waves {
		for _, c := range w.Clusters {
			if c.Healthy != string(metav1.ConditionUnknown) {
				t.Errorf("%s: healthy %s from another cluster's record", c.Name, c.Healthy)
			}
		}
	}
}

func TestTheCurrentRolloutIsThePolicysOwn(t *testing.T) {
	older := rolloutObject(fleetv1.RolloutStatus{Phase: fleetv1.RolloutSuperseded})
	older.Name, older.Spec.Number = "k8s-1-33-old00", 2
	foreign := rolloutObject(fleetv1.RolloutStatus{Phase: fleetv1.RolloutSucceeded})
	foreign.Name, foreign.Spec.Policy.UID, foreign.Spec.Number = "k8s-1-33-gone0", "uid-policy-before", 9
	busy := rolloutObject(fleetv1.RolloutStatus{Phase: fleetv1.RolloutSuperseded, Active: 1})
	busy.Name, busy.Spec.Number = "k8s-1-33-busy0", 1
	in := midWay()
	in.Policies[0].Status.Rollout = ""
	in.Rollouts = append(in.Rollouts, older, foreign, busy)
	got := map[string]bool{}
	for _, ro := range build(t, in).Rollouts {
		got[ro.Name] = ro.Current
	}
	want := map[string]bool{"k8s-1-33-7xk2p": true, "k8s-1-33-busy0": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestADeletedPolicysRolloutIsStillFound(t *testing.T) {
	in := midWay()
	in.Policies = nil
	r := build(t, in)
	if len(r.Rollouts) != 1 || !r.Rollouts[0].Current {
		t.Errorf("rollouts %+v, want the last one of the policy", r.Rollouts)
	}
}

func TestAMistypedPolicyIsAnsweredWithTheClosestNames(t *testing.T) {
	for name, tc := range map[string]struct {
		asked string
		in    report.Input
		want  string
	}{
		"one letter off": {
			"k8s-1-3", midWay(),
			`no RolloutPolicy is called "k8s-1-3" in namespace "fleet"; did you mean "k8s-1-33"? Known: k8s-1-33`,
		},
		"nothing like it": {
			"security", midWay(),
			`no RolloutPolicy is called "security" in namespace "fleet"; give one of k8s-1-33, or none for all`,
		},
		"none there": {
			"k8s-1-33",
			report.Input{},
			`no RolloutPolicy is called "k8s-1-33" in any namespace: there is none there; choose another with ` +
				`--namespace, or --all-namespaces`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Policy = tc.asked
			_, err := report.Build(tc.in, now)
			var unknown *report.UnknownPolicyError
			if !errors.As(err, &unknown) {
				t.Fatalf("error %v, want an UnknownPolicyError", err)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTroublesAreFoundByClass(t *testing.T) {
	for name, tc := range map[string]struct {
		in   report.Input
		want map[report.Trouble]int
	}{
		"happy end":     {happyEnd(), map[report.Trouble]int{}},
		"canary halted": {canaryHalted(), map[report.Trouble]int{report.Halted: 1, report.Failed: 1, report.Stalled: 2}},
		"silent member": {silentMember(), map[report.Trouble]int{report.Unreachable: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[report.Trouble]int{}
			for _, trouble := range report.Troubles() {
				if found := build(t, tc.in).Find(trouble); len(found) > 0 {
					got[trouble] = len(found)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := report.ParseTrouble("halt"); err == nil {
		t.Error("halt was accepted")
	}
}

func TestChangesTellWhatMoved(t *testing.T) {
	text := func(before, after report.Report) []string {
		var list []string
		for _, c := range report.Changes(before, after) {
			list = append(list, c.String())
		}
		return list
	}
	before, after := build(t, midWay()), build(t, silentMember())
	if same := text(before, before); same != nil {
		t.Errorf("nothing moved, and yet: %q", same)
	}
	told := slices.Concat(text(report.Report{}, before), []string{"--"}, text(before, after), []string{""})
	golden(t, "changes.txt", []byte(strings.Join(told, "\n")))
}
