// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// The faults of the existing orchestrators (PROTOCOL.md 5.2) that are not in the tables beside this file.

func TestFault02_AnEmptyOldMachineSetDoesNotMakeAPoolDone(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.machineSet("a-1-old", 0, 0) // the first by name
	w.machineSet("a-2-new", 2, 2, "a-0", "a-1")
	w.grant("a")
	for _, m := range []string{"a-0", "a-1"} {
		w.settle("a")
		same(t, "marked", []string{m}, w.marked())
		w.begins(m)
		w.ends(m)
	}
	w.settle("a")
	same(t, "owner", "{status=done,release="+target+",planned}", w.marks("a"))
}

func TestFault02_APoolThatRollsOutIsNeitherDoneNorBegun(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.machineSet("a-1-old", 1, 1, "a-0")
	w.machineSet("a-2-new", 1, 1, "a-1")
	for _, m := range []string{"a-0", "a-1"} {
		w.annotate(m, map[string]string{keys.Status: "done", keys.Release: target})
		w.shows(m, newVersion)
	}
	w.grant("a")
	w.settle("a")
	same(t, "owner", "{to,planned}", w.marks("a"))
	same(t, "reason shown", orchestrate.RolloutRunning, w.waits("a"))
}

func TestFault03_AReleaseThatWasReachedAsksForNothing(t *testing.T) {
	w := newWorld(t, 3, 2)
	for _, name := range []string{"a", "cp"} {
		w.annotate(name, map[string]string{keys.Status: "done", keys.Release: target})
		w.shows(name+"-0", "v1.35.0") // as a rollout leaves them: newer, without a release
		w.settle(name)
	}
	same(t, "writes", 0, w.writes)
}

func TestFault03_AMachineOfALaterMinorIsPassedOver(t *testing.T) {
	w := newWorld(t, 3, 2)
	w.grant("a")
	w.shows("a-0", "v1.35.0")
	w.settle("a")
	same(t, "marked", []string{"a-1"}, w.marked())
	w.begins("a-1")
	w.ends("a-1")
	w.settle("a")
	same(t, "machine", "{}", w.marks("a-0"))
	same(t, "reason shown", orchestrate.WouldDowngrade, w.waits("a"))
}

func TestFault11_AFailedOwnerKeepsItsInstructions(t *testing.T) {
	for _, name := range []string{"cp", "a"} {
		w := newWorld(t, 3, 2)
		w.annotate(name, map[string]string{keys.Status: "done", keys.Release: "revision=1"})
		w.grant(name)
		w.settle(name)
		w.givesUp(name + "-0")
		w.settle(name)
		same(t, "asked for", target, w.get(name).GetAnnotations()[keys.To])
		w.begins(name + "-0")
		w.ends(name + "-0")
		w.settle(name)
		same(t, "marked once it has recovered", []string{name + "-1"}, w.marked())
	}
}

// lockConfig makes the lock as somebody else would have.
func (w *world) lockConfig(data map[string]string, cluster types.UID) {
	w.t.Helper()
	err := w.client.Create(context.Background(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: lockName, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Cluster", Name: "eu", UID: cluster,
			}},
		},
		Data: data,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.writes, w.trace = 0, nil
}

func TestFault13_C094_ALockThatCannotBeReadIsNoFailureAndIsRepairedOnceNothingIsInFlight(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"without data":       {},
		"half an object":     {protocol.LockDataKey: "{"},
		"without a machine":  {protocol.LockDataKey: `{"machineNamespace":"shop"}`},
		"of another cluster": {protocol.LockDataKey: `{"machineName":"cp-9","machineNamespace":"shop"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 0)
			w.lockConfig(data, "uid-of-a-cluster-before")
			w.grant("cp")
			w.settle("cp")
			same(t, "marked", []string{"cp-0"}, w.marked())
			same(t, "lock", "cp-0", w.holder())
			same(t, "owner", "{to,status=in-progress,planned}", w.marks("cp"))
		})
	}
	t.Run("while a machine is in flight", func(t *testing.T) {
		w := newWorld(t, 3, 0)
		w.annotate("cp-1", map[string]string{keys.To: target})
		w.begins("cp-1")
		w.lockConfig(map[string]string{protocol.LockDataKey: "{"}, "uid-eu")
		w.grant("cp")
		w.settle("cp")
		same(t, "writes of marks and locks", []string(nil), w.trace)
		same(t, "owner", "{to,planned}", w.marks("cp"))
		same(t, "reason shown", orchestrate.AskedByHand, w.waits("cp"))
	})
}

// Until it is proven the others that take turns with us by the lock must not begin either.
func TestFault13_15_TheLockIsKeptUntilTheMachineThatHoldsItIsProven(t *testing.T) {
	w := newWorld(t, 3, 0)
	w.grant("cp")
	w.settle("cp")
	w.begins("cp-0")
	w.finishes("cp-0") // and its node does not show it yet
	w.settle("cp")
	same(t, "lock before the node shows its version", "cp-0", w.holder())
	w.healthy("cp-0", false)
	w.shows("cp-0", newVersion)
	w.settle("cp")
	same(t, "lock before the node is healthy", "cp-0", w.holder())
	same(t, "marked", []string(nil), w.marked())
	w.healthy("cp-0", true)
	w.settle("cp")
	same(t, "lock", "cp-1", w.holder())
}

func TestFault14_ACacheOlderThanTheLockGivesNothingBack(t *testing.T) {
	for name, since := range map[string]func(w *world){
		"from before the machine was marked": func(w *world) { w.grant("cp") },
		"from before the owner was asked":    func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 0)
			since(w)
			old := w.snapshot()
			w.grant("cp")
			w.settle("cp")
			w.writes, w.trace = 0, nil
			for range 3 {
				if _, err := w.orchestrator(old).Reconcile(t.Context(), request("cp")); err != nil {
					t.Fatal(err)
				}
			}
			same(t, "writes", 0, w.writes)
			same(t, "lock", "cp-0", w.holder())
			same(t, "marked", []string{"cp-0"}, w.marked())
		})
	}
}

func TestFault15_TheNextWorkerWaitsForTheHealthOfTheOneBefore(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	w.settle("a")
	w.begins("a-0")
	w.ends("a-0")
	w.healthy("a-0", false)
	w.settle("a")
	same(t, "marked", []string(nil), w.marked())
	same(t, "reason shown", orchestrate.MachineNotProven, w.waits("a"))
	w.healthy("a-0", true)
	w.settle("a")
	same(t, "marked once it is healthy", []string{"a-1"}, w.marked())
}

func TestFault16_AMachineThatIsBeingDeletedOrPausedIsNeverWritten(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"being deleted": func(w *world) { w.deleting("a-0") },
		"paused":        func(w *world) { w.annotate("a-0", map[string]string{"cluster.x-k8s.io/paused": ""}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			prepare(w)
			before := w.get("a-0").GetResourceVersion()
			w.grant("a")
			w.settle("a")
			same(t, "marked", []string{"a-1"}, w.marked())
			w.begins("a-1")
			w.ends("a-1")
			w.settle("a")
			same(t, "resource version", before, w.get("a-0").GetResourceVersion())
			same(t, "owner", "{to,status=in-progress,planned}", w.marks("a"))
		})
	}
}

func TestFault18_ADoneOwnerHasNothingMoreToTell(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.grant("a")
	w.settle("a")
	w.begins("a-0")
	w.ends("a-0")
	w.settle("a")
	told := w.happened()
	same(t, "told as done", 1, count(told, "Normal InPlaceUpgradeDone In-place upgrade is done"))
	writes := w.writes
	for range 5 {
		w.settle("a")
	}
	same(t, "told again", []string(nil), w.happened())
	same(t, "writes", writes, w.writes)
}

func TestFault22_AFailureIsToldOnceHoweverOftenItIsLookedAt(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	w.settle("a")
	w.givesUp("a-0")
	for range 5 {
		w.settle("a")
	}
	same(t, "told", 1, count(w.happened(), fmt.Sprintf("Warning InPlaceUpgradeFailed In-place upgrade failed for machine %q.", "a-0")))
}

func count(all []string, of string) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s != of }))
}
