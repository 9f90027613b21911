// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// The reports of people who do this job that concern owners, by the ids of their list.

// fails plays the upgrader: an attempt at a machine has failed, and another will be made.
func (w *world) fails(name string, attempt int) {
	w.t.Helper()
	a := protocol.Attempt{
		Target: w.get(name).GetAnnotations()[w.keys.To], Count: attempt, SentAt: w.clock.Now(), FailedAt: w.clock.Now(),
		LastError: "cannot download",
	}
	w.annotate(name, map[string]string{
		w.keys.Status: protocol.StatusFailed, w.keys.ChangeID: fmt.Sprint(attempt), protocol.AttemptKey: a.Format(),
		w.keys.LastFailed: protocol.FormatFailedAt(w.clock.Now()),
	})
}

func TestC095_WhatRefusesAMachineLeavesNoLockBehind(t *testing.T) {
	t.Run("found before the lock is taken", func(t *testing.T) {
		w := newWorld(t, 3, 0)
		w.nodes = &nodes{cordoned: map[string]bool{"node-cp-2": true}} // asked last of all
		w.grant("cp")
		w.settle("cp")
		same(t, "lock", "", w.holder())
	})
	t.Run("found after the lock is taken", func(t *testing.T) {
		w := newWorld(t, 3, 0)
		w.grant("cp")
		w.crash = func() error { // between lock and mark the machine falls ill
			if w.holder() == "cp-0" {
				w.crash = func() error { return nil }
				w.healthy("cp-0", false)
				w.annotate("cp", nil, keys.To)
			}
			return nil
		}
		w.settle("cp")
		same(t, "lock", "", w.holder())
		same(t, "marked", []string(nil), w.marked())
	})
	t.Run("a withdrawal between lock and mark", func(t *testing.T) {
		w := newWorld(t, 3, 0)
		w.grant("cp")
		w.crash = func() error {
			if w.holder() == "" {
				return nil
			}
			w.crash = func() error { return nil }
			return errCrash
		}
		w.settleUntilCrash("cp")
		same(t, "lock", "cp-0", w.holder())
		same(t, "marked", []string(nil), w.marked())
		w.annotate("cp", nil, keys.To)
		w.settle("cp")
		same(t, "lock in the end", "", w.holder())
	})
}

func TestC096_ANewTargetOfAControlPlaneWaitsForTheMachineToSettle(t *testing.T) {
	for name, status := range map[string]string{"in progress": "in-progress", "done": "done", "without a status": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 0)
			w.grant("cp")
			w.settle("cp")
			w.begins("cp-0")
			w.annotate("cp-0", map[string]string{keys.Status: status, keys.ChangeID: "17"})
			before := w.get("cp-0").GetAnnotations()
			w.annotate("cp", map[string]string{keys.To: other})
			w.settle("cp")
			same(t, "machine", before, w.get("cp-0").GetAnnotations())
			same(t, "marked", []string{"cp-0"}, w.marked())
			same(t, "lock", "cp-0", w.holder())
		})
	}
}

// TestC102_DriftWithinAChannelIsJudgedByOrder: a release that is equal says nothing of the revision inside it.
func TestC102_DriftWithinAChannelIsJudgedByOrder(t *testing.T) {
	for name, c := range map[string]struct {
		kubelet, expected string
		marked            []string
		want              string
	}{
		"an older patch is refreshed again": {
			"v1.34.1", "v1.34.4", []string{"a-0"}, "{to,status=in-progress,planned}",
		},
		"the patch that is expected is done": {
			"v1.34.4", "v1.34.4", nil, "{status=done,release=" + target + ",planned}",
		},
		"a newer patch is done": {
			"v1.34.5", "v1.34.4", nil, "{status=done,release=" + target + ",planned}",
		},
		"where a minor is expected every patch is done": {
			"v1.34.0", "v1.34", nil, "{status=done,release=" + target + ",planned}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 1)
			w.annotate("a-0", map[string]string{keys.Status: "done", keys.Release: target})
			w.shows("a-0", c.kubelet)
			w.grant("a")
			w.annotate("a", map[string]string{protocol.PlanKey: protocol.Plan{ExpectedVersion: c.expected}.Format()})
			w.settle("a")
			same(t, "marked", c.marked, w.marked())
			same(t, "owner", c.want, w.marks("a"))
		})
	}
}

func TestC103_MachinesThatMovedByThemselvesAreNotRolledBackAndOpenNoWindow(t *testing.T) {
	w := newWorld(t, 1, 3)
	w.shows("a-0", newVersion) // at what is expected
	w.shows("a-1", "v1.35.2")  // past it
	w.grant("a")
	w.annotate("eu", nil, protocol.StartBeforeKey)
	w.settle("a")
	same(t, "marked outside the window", []string(nil), w.marked())
	w.grant("a")
	for _, m := range []string{"a-0", "a-2"} { // a-0 once, so that it is known to follow the target
		w.settle("a")
		same(t, "marked", []string{m}, w.marked())
		w.begins(m)
		w.ends(m)
	}
	w.settle("a")
	same(t, "machine that went past", "{}", w.marks("a-1"))
	same(t, "reason shown", orchestrate.WouldDowngrade, w.waits("a"))
	same(t, "owner", "{to,status=in-progress,planned}", w.marks("a"))
}

func TestC107_AnOwnerFailsWhenAttemptsAreUsedUpNotBetweenThem(t *testing.T) {
	for _, name := range []string{"cp", "a"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 1)
			w.grant(name)
			w.settle(name)
			for attempt := 1; attempt <= 2; attempt++ {
				w.begins(name + "-0")
				w.settle(name)
				w.fails(name+"-0", attempt)
				w.settle(name)
				same(t, "owner", "{to,status=in-progress,planned}", w.marks(name))
			}
			w.begins(name + "-0")
			w.ends(name + "-0")
			w.settle(name)
			if told := w.happened(); slices.ContainsFunc(told, func(e string) bool { return strings.HasPrefix(e, "Warning") }) {
				t.Errorf("told %q", told)
			}
			if slices.ContainsFunc(w.trace, func(s string) bool { return s == name+" {to,status=failed,planned}" }) {
				t.Errorf("it has failed on its way: %q", w.trace)
			}
		})
	}
}

func TestC109_AnOutageOfASingleControlPlaneDuringItsRefreshIsNoFailure(t *testing.T) {
	w := newWorld(t, 1, 0)
	w.grant("cp")
	w.annotate("cp", map[string]string{protocol.PlanKey: `{"expectedVersion":"v1.34","allowSingleControlPlane":true}`})
	w.settle("cp")
	w.begins("cp-0")
	w.healthy("cp-0", false)
	w.ready(0)
	w.condition("cp", "Available", "False")
	for range 4 {
		w.clock.Step(time.Minute)
		w.settle("cp")
		same(t, "owner", "{to,status=in-progress,planned}", w.marks("cp"))
		same(t, "reason shown", orchestrate.Reason(""), w.waits("cp"))
	}
	w.finishes("cp-0")
	w.settle("cp")
	same(t, "owner before its node is back", "{to,status=in-progress,planned}", w.marks("cp"))
	w.shows("cp-0", newVersion)
	w.healthy("cp-0", true)
	w.settle("cp")
	same(t, "owner once it is", "{status=done,release="+target+",planned}", w.marks("cp"))
	same(t, "lock", "", w.holder())
	if told := w.happened(); slices.ContainsFunc(told, func(e string) bool { return strings.HasPrefix(e, "Warning") }) {
		t.Errorf("told %q", told)
	}
}

func TestC110_AControlPlaneThatIsNotReadyIsWaitedForInTheOpen(t *testing.T) {
	t.Run("before the first machine", func(t *testing.T) {
		w := newWorld(t, 3, 0)
		w.ready(2)
		w.grant("cp")
		w.settle("cp")
		same(t, "marks and locks written", []string(nil), w.trace)
		same(t, "reason shown", orchestrate.NotReady, w.waits("cp"))
	})
	t.Run("between two machines", func(t *testing.T) {
		w := newWorld(t, 3, 0)
		w.grant("cp")
		w.settle("cp")
		w.begins("cp-0")
		w.ready(2)
		w.settle("cp")
		same(t, "while its machine is in flight", orchestrate.Reason(""), w.waits("cp"))
		w.ends("cp-0")
		w.settle("cp")
		same(t, "reason shown", orchestrate.NotReady, w.waits("cp"))
		same(t, "lock", "", w.holder())
		w.ready(3)
		w.settle("cp")
		same(t, "marked", []string{"cp-1"}, w.marked())
	})
}

func TestC114_AReplacementThatSomebodyStartsStopsTheUpgradeAtAMachineBoundary(t *testing.T) {
	w := newWorld(t, 1, 3)
	w.machineSet("a-old", 3, 3, "a-0", "a-1", "a-2")
	w.grant("a")
	w.settle("a")
	w.begins("a-0")
	w.machineSet("a-new", 1, 0)
	w.settle("a")
	same(t, "machine in flight", "{to,status=in-progress,change-id=1,planned}", w.marks("a-0"))
	w.ends("a-0")
	w.settle("a")
	same(t, "machine that has ended", finished, w.marks("a-0"))
	same(t, "marked", []string(nil), w.marked())
	same(t, "reason shown", orchestrate.RolloutRunning, w.waits("a"))

	for _, m := range []string{"a-0", "a-1", "a-2"} { // all are replaced, by machines of a later minor
		w.remove(m)
	}
	w.set("a-old", int64(0), "spec", "replicas")
	w.set("a-old", int64(0), "status", "replicas")
	w.set("a-new", int64(3), "spec", "replicas")
	for i := range int64(3) {
		m := newMachine("a", 3+i, map[string]string{capi.DeploymentNameLabel: "a"})
		m.SetOwnerReferences(controlledBy("MachineSet", "a-new"))
		_ = unstructured.SetNestedField(m.Object, "v1.35.0", "status", "nodeInfo", "kubeletVersion")
		if err := w.client.Create(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	w.settle("a")
	same(t, "marked after the replacement", []string(nil), w.marked())
	same(t, "reason shown after the replacement", orchestrate.WouldDowngrade, w.waits("a"))
}

func TestC114_TheMachineSetsOfARolloutWakeTheirPool(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.machineSet("a-old", 1, 1, "a-0")
	r := w.orchestrator(nil)
	for _, watch := range r.Watches() {
		if watch.GVK != kinds.MachineSet {
			continue
		}
		o := w.get("a-old")
		same(t, "requests", []orchestrate.Request{request("a")}, watch.Requests(t.Context(), o))
		empty := o.DeepCopy()
		_ = unstructured.SetNestedField(empty.Object, int64(0), "spec", "replicas")
		same(t, "its last machine goes, which is still there", false, watch.Matters(o, empty))
		_ = unstructured.SetNestedField(empty.Object, int64(0), "status", "replicas")
		same(t, "its last machine has gone", true, watch.Matters(o, empty))
		alone := o.DeepCopy()
		alone.SetOwnerReferences(nil)
		same(t, "requests of a set without a pool", []orchestrate.Request(nil), watch.Requests(t.Context(), alone))
		return
	}
	t.Error("MachineSets are not watched")
}

func TestC115_AWithdrawnOwnerLeavesNothingAndCanBeAskedAgainAtOnce(t *testing.T) {
	for _, name := range []string{"cp", "a"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 3)
			w.grant(name)
			w.settle(name)
			w.begins(name + "-0")
			w.annotate(name, nil, keys.To, protocol.PlanKey, protocol.HolderKey)
			w.annotate("eu", nil, protocol.StartBeforeKey)
			w.settle(name)
			w.clock.Step(30 * time.Minute)
			w.ends(name + "-0")
			w.settle(name)
			ended := map[string]string{keys.Status: "done", keys.Release: target}
			same(t, "machine in flight", ended, w.get(name+"-0").GetAnnotations())
			for _, o := range []string{name, name + "-1", name + "-2"} {
				same(t, o, 0, len(w.get(o).GetAnnotations()))
			}
			same(t, "lock", "", w.holder())

			w.grant(name)
			w.annotate(name, map[string]string{keys.To: other, protocol.PlanKey: `{"expectedVersion":"v1.35"}`})
			w.settle(name)
			same(t, "marked next", []string{name + "-0"}, w.marked())
			same(t, "target next", other, w.get(name + "-0").GetAnnotations()[keys.To])
		})
	}
}
