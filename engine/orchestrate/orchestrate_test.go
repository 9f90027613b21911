// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	lockFor  = `lock {"machineName":"%s","machineNamespace":"shop"}`
	finished = "{status=done,release=" + target + "}"
)

// PROTOCOL.md 3, C0: without a plan, as the existing orchestrator is asked.
func TestTheControlPlanesHappyTraceIsTheProtocols(t *testing.T) {
	w := newWorld(t, 3, 0)
	w.annotate("cp", map[string]string{keys.To: target})
	for _, m := range []string{"cp-0", "cp-1", "cp-2"} {
		w.settle("cp")
		same(t, "marked", []string{m}, w.marked())
		same(t, "lock", m, w.holder())
		w.begins(m)
		w.ready(2)
		w.settle("cp")
		w.ends(m)
		w.settle("cp")
		same(t, "marked while a replica is not ready", []string(nil), w.marked())
		w.ready(3)
	}
	w.settle("cp")

	same(t, "trace", []string{
		fmt.Sprintf(lockFor, "cp-0"), "cp-0 {to,planned}", "cp {to,status=in-progress}",
		"unlock", "cp-0 " + finished,
		fmt.Sprintf(lockFor, "cp-1"), "cp-1 {to,planned}",
		"unlock", "cp-1 " + finished,
		fmt.Sprintf(lockFor, "cp-2"), "cp-2 {to,planned}",
		"unlock", "cp-2 " + finished,
		"cp " + finished,
	}, w.trace)
	var want []string
	for _, m := range []string{"cp-0", "cp-1", "cp-2"} {
		want = append(want,
			fmt.Sprintf("Normal InPlaceUpgradeInProgress Machine %q is upgrading to %q", m, target),
			fmt.Sprintf("Normal InPlaceUpgradeInProgress In-place upgrade is in-progress for %q", m))
	}
	same(t, "events", append(want, "Normal InPlaceUpgradeDone In-place upgrade is done"), w.happened())
	same(t, "annotations of a machine", map[string]string{keys.Status: "done", keys.Release: target},
		w.get("cp-0").GetAnnotations())
}

func TestThePoolsHappyTraceIsTheProtocols(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.annotate("a", map[string]string{keys.To: target, keys.Status: "done", keys.Release: "revision=1"})
	w.annotate("a-0", map[string]string{keys.Status: "done", keys.Release: "revision=1"})
	for _, m := range []string{"a-0", "a-1"} {
		w.settle("a")
		same(t, "marked", []string{m}, w.marked())
		w.begins(m)
		w.ends(m)
	}
	w.settle("a")
	same(t, "trace", []string{
		"a-0 {to,release=revision=1,planned}", "a {to,status=in-progress}",
		"a-0 " + finished, "a-1 {to,planned}", "a-1 " + finished, "a " + finished,
	}, w.trace)
	same(t, "lock", "", w.holder())
}

func TestPlanAndHolderGoWithTheMachineUntilItsProof(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.grant("a")
	w.settle("a")
	same(t, "marked machine", map[string]string{
		keys.To: target, protocol.PlanKey: plan, protocol.HolderKey: "hub/1",
		capi.SkipRemediationAnnotation: "", protocol.SkipRemediationKey: protocol.SkipRemediationSet,
	}, w.get("a-0").GetAnnotations())
	w.begins("a-0")
	w.finishes("a-0")
	w.settle("a")
	same(t, "before the node shows the version", "{status=done,release="+target+",planned}", w.marks("a-0"))
	w.shows("a-0", newVersion)
	w.settle("a")
	same(t, "proven machine", map[string]string{keys.Status: "done", keys.Release: target}, w.get("a-0").GetAnnotations())
	same(t, "owner", "{status=done,release="+target+",planned}", w.marks("a"))
}

func TestAPoolUpgradesAsManyAtOnceAsItsPlanAllows(t *testing.T) {
	w := newWorld(t, 1, 5)
	w.grant("a")
	w.annotate("a", map[string]string{protocol.PlanKey: `{"expectedVersion":"v1.34","maxConcurrentMachines":2}`})
	w.settle("a")
	same(t, "marked", []string{"a-0", "a-1"}, w.marked())
	w.begins("a-0")
	w.begins("a-1")
	w.finishes("a-0")
	w.settle("a")
	same(t, "marked before a-0 is proven", []string{"a-1"}, w.marked())
	w.shows("a-0", newVersion)
	w.healthy("a-0", false)
	w.settle("a")
	same(t, "marked before a-0 is healthy", []string{"a-1"}, w.marked())
	w.healthy("a-0", true)
	w.settle("a")
	same(t, "marked", []string{"a-1", "a-2"}, w.marked())
}

func TestAnUnhealthyWorkerIsLeftForLaterNotInTheWay(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	w.healthy("a-0", false)
	w.settle("a")
	same(t, "marked", []string{"a-1"}, w.marked())
}

func TestAMachineAtTheTargetWithAnOlderKubeletIsRefreshedAgain(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.grant("a")
	w.annotate("a-0", map[string]string{keys.Status: "done", keys.Release: target})
	w.settle("a")
	same(t, "machine", "{to,release="+target+",planned}", w.marks("a-0"))
}

func TestTheEndOfThePermissionIsLookedAtAgain(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	same(t, "recheck", time.Hour, w.settle("a"))
	w.begins("a-0")
	w.clock.Step(time.Hour)
	w.ends("a-0")
	w.settle("a")
	same(t, "machine that had begun", finished, w.marks("a-0"))
	same(t, "marked after the end", []string(nil), w.marked())
}

// What counts are machines, and how many there should be.
func TestFault19_AnOwnerWithoutItsMachinesIsNotDone(t *testing.T) {
	for name, c := range map[string]struct {
		replicas any
		want     string
	}{
		"two are wanted":            {int64(2), "{to,planned}"},
		"nobody says how many":      {nil, "{to,planned}"},
		"none are wanted, so it is": {int64(0), "{status=done,release=" + target + ",planned}"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 0)
			w.grant("a")
			w.change("a", func(o *unstructured.Unstructured) {
				o.Object["spec"] = map[string]any{"replicas": c.replicas, "clusterName": "eu"}
			})
			w.settle("a")
			same(t, "owner", c.want, w.marks("a"))
		})
	}
}

func TestWhatAnUpgradeLeftBehindIsNotInTheWay(t *testing.T) {
	const failed = "Sat, 19 Oct 2024 20:30:00 +0400"
	for name, left := range map[string]map[string]string{
		"Fault07: a failed attempt":                    {keys.LastFailed: failed},
		"Fault08: a status":                            {keys.Status: "in-progress"},
		"Fault10: a status, and a failed attempt":      {keys.Status: "in-progress", keys.LastFailed: failed},
		"C117: a status that nobody knows":             {keys.Status: "DONE"},
		"Fault07: a failed attempt of another release": {keys.Status: "failed", keys.LastFailed: failed, keys.Release: "revision=1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, owner := range []string{"cp", "a"} {
				w := newWorld(t, 3, 1)
				w.grant(owner)
				w.annotate(owner+"-0", left)
				w.settle(owner)
				m := keys.Read(w.get(owner + "-0").GetAnnotations())
				same(t, "machine", protocol.Marks{To: target, HasTo: true, Release: left[keys.Release]}, m)
			}
		})
	}
}

func TestFault12_AMachineThatUsedUpItsAttemptsFailsItsOwnerOnce(t *testing.T) {
	for _, name := range []string{"cp", "a"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 2)
			w.grant(name)
			w.settle(name)
			w.givesUp(name + "-0")
			w.ready(2) // which is when a failure must show
			w.happened()
			w.settle(name)
			w.settle(name)
			same(t, "owner", "{to,status=failed,planned}", w.marks(name))
			same(t, "events", []string{
				fmt.Sprintf("Warning InPlaceUpgradeFailed In-place upgrade failed for machine %q.", name+"-0"),
			}, w.happened())
			same(t, "marked", []string{name + "-0"}, w.marked())
		})
	}
}

func TestAFailedOwnerGoesOnWith(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]string
		want   protocol.Attempt
	}{
		"a new target": {map[string]string{keys.To: other}, protocol.Attempt{
			Target: target, Count: 3, SentAt: start, FailedAt: start, LastError: "cannot download", Quarantined: true,
		}},
		"a new plan": {map[string]string{protocol.PlanKey: `{"expectedVersion":"v1.34","timeout":"1h"}`}, protocol.Attempt{
			Target: target, LastError: "cannot download",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.grant("a")
			w.settle("a")
			w.givesUp("a-0")
			w.settle("a")
			w.annotate("a", c.change)
			w.settle("a")
			a := w.get("a").GetAnnotations()
			m := w.get("a-0").GetAnnotations()
			same(t, "owner", "{to,status=in-progress,planned}", w.marks("a"))
			same(t, "target and plan", [2]string{a[keys.To], a[protocol.PlanKey]}, [2]string{m[keys.To], m[protocol.PlanKey]})
			same(t, "the old change, which the upgrader asks about", "3", m[keys.ChangeID])
			got, err := protocol.ParseAttempt(m[protocol.AttemptKey])
			if err != nil {
				t.Fatal(err)
			}
			same(t, "attempt", c.want, got)
		})
	}
}

// E9: what cannot be read is never copied to machines, and said at once.
func TestATargetOrPlanThatCannotBeReadFailsTheOwnerAtOnce(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"no option":       {keys.To: "1.34"},
		"empty":           {keys.To: ""},
		"misspelt plan":   {protocol.PlanKey: `{"maxConcurrentMachine":5}`},
		"two values in 1": {keys.To: "channel=a=b"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.grant("a")
			w.annotate("a", change)
			w.settle("a")
			w.settle("a")
			same(t, "owner", "{to,status=failed,planned}", w.marks("a"))
			same(t, "marked", []string(nil), w.marked())
			happened := w.happened()
			if len(happened) != 1 || !strings.HasPrefix(happened[0], "Warning InPlaceUpgradeFailed In-place upgrade failed: ") {
				t.Errorf("events %q", happened)
			}
			w.annotate("a", map[string]string{keys.To: target, protocol.PlanKey: plan})
			w.settle("a")
			same(t, "owner, once corrected", "{to,status=in-progress,planned}", w.marks("a"))
		})
	}
}

// Retargeting never brings a second control plane machine in flight, nor a second refresh.
func TestFault05_C096_ANewTargetLetsTheMachineInFlightFinishFirst(t *testing.T) {
	w := newWorld(t, 3, 0)
	w.grant("cp")
	w.settle("cp")
	w.begins("cp-0")
	w.annotate("cp", map[string]string{keys.To: other})
	w.settle("cp")
	same(t, "marked", []string{"cp-0"}, w.marked())
	same(t, "target in flight", target, w.get("cp-0").GetAnnotations()[keys.To])
	w.ends("cp-0")
	w.settle("cp")
	same(t, "marked next", []string{"cp-0"}, w.marked())
	same(t, "target next", other, w.get("cp-0").GetAnnotations()[keys.To])
	same(t, "lock", "cp-0", w.holder())
}

func TestANewTargetReachesAMachineThatHasNotBegun(t *testing.T) {
	w := newWorld(t, 3, 0)
	w.grant("cp")
	w.settle("cp")
	w.annotate("cp", map[string]string{keys.To: other})
	w.settle("cp")
	same(t, "marked", []string{"cp-0"}, w.marked())
	same(t, "target", other, w.get("cp-0").GetAnnotations()[keys.To])
}

func TestFault13_C115_AWithdrawalStopsAtAMachineBoundaryAndLeavesNothing(t *testing.T) {
	withdraw := func(w *world, name string) {
		w.annotate(name, nil, keys.To, protocol.PlanKey, protocol.HolderKey)
	}
	for _, name := range []string{"cp", "a"} {
		first := name + "-0"
		t.Run("of "+name+" before the machine has begun", func(t *testing.T) {
			w := newWorld(t, 3, 2)
			w.annotate(first, map[string]string{keys.Release: "revision=1"})
			w.grant(name)
			w.settle(name)
			withdraw(w, name)
			w.settle(name)
			same(t, "owner", "{}", w.marks(name))
			same(t, "machine", "{release=revision=1}", w.marks(first))
			same(t, "lock", "", w.holder())
		})
		t.Run("of "+name+" while the machine is in flight", func(t *testing.T) {
			w := newWorld(t, 3, 2)
			w.grant(name)
			w.settle(name)
			w.begins(first)
			withdraw(w, name)
			w.settle(name)
			same(t, "machine in flight", "{to,status=in-progress,change-id=1,planned}", w.marks(first))
			w.ends(first)
			w.settle(name)
			same(t, "marked", []string(nil), w.marked())
			same(t, "machine", finished, w.marks(first))
			same(t, "owner", "{}", w.marks(name))
			same(t, "lock", "", w.holder())
		})
		t.Run("of "+name+" after the machine gave up", func(t *testing.T) {
			w := newWorld(t, 3, 2)
			w.grant(name)
			w.settle(name)
			w.givesUp(first)
			withdraw(w, name)
			w.settle(name)
			same(t, "annotations", map[string]string{}, w.get(first).GetAnnotations())
			same(t, "lock", "", w.holder())
		})
	}
}

func TestMarksOfOthersAreLeftAlone(t *testing.T) {
	w := newWorld(t, 3, 2)
	w.annotate("a-0", map[string]string{keys.To: target})
	w.annotate("cp-0", map[string]string{protocol.KeysFor(protocol.OwnPrefix).To: target})
	w.settle("a")
	w.settle("cp")
	same(t, "writes", []string(nil), w.trace)
}

func TestALockWhoseMachineIsGoneIsGivenBack(t *testing.T) {
	w := newWorld(t, 4, 0)
	w.grant("cp")
	w.settle("cp")
	w.remove("cp-0")
	w.settle("cp")
	same(t, "holder", "cp-1", w.holder())
}

func TestBesideOtherControllersTheirLockIsNotTaken(t *testing.T) {
	w := newWorld(t, 3, 0)
	w.grant("cp")
	w.settle("cp") // makes a lock of cp-0
	w.annotate("cp-0", nil, keys.To, protocol.PlanKey, protocol.HolderKey)
	w.annotate("cp", nil, keys.To)
	w.trace, w.keys = nil, protocol.KeysFor(protocol.OwnPrefix)
	w.grant("cp")
	w.settle("cp")
	same(t, "holder", "cp-0", w.holder())
	w.annotate("cp", nil, w.keys.To)
	w.annotate("cp-0", nil, w.keys.To, protocol.PlanKey, protocol.HolderKey)
	w.settle("cp")
	same(t, "holder of a machine that we have not marked", "cp-0", w.holder())
}

func TestBesideOtherControllersAControlPlaneWaitsForTheirLock(t *testing.T) {
	w := newWorld(t, 3, 0)
	w.keys = protocol.KeysFor(protocol.OwnPrefix)
	w.lockConfig(map[string]string{protocol.LockDataKey: `{"machineName":"cp-1","machineNamespace":"shop"}`}, "uid-eu")
	w.annotate("cp-1", map[string]string{w.keys.Status: protocol.StatusDone, w.keys.Release: target})
	w.shows("cp-1", newVersion)
	w.grant("cp")
	w.settle("cp")
	same(t, "reason", orchestrate.Locked, w.waits("cp"))
	same(t, "marked", []string(nil), w.marked())
	same(t, "holder", "cp-1", w.holder())
}

func TestBesideOtherControllersTheReleaseIsShownToThemToo(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.keys = protocol.KeysFor(protocol.OwnPrefix)
	w.grant("a")
	w.settle("a")
	w.begins("a-0")
	w.ends("a-0")
	w.settle("a")
	same(t, "annotations", map[string]string{
		w.keys.Status: "done", w.keys.Release: target, keys.Release: target,
	}, w.get("a-0").GetAnnotations())
}

func TestBesideOtherControllersTheReleaseIsShownToThemAfterAWithdrawalToo(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.keys = protocol.KeysFor(protocol.OwnPrefix)
	w.grant("a")
	w.settle("a")
	w.begins("a-0")
	w.annotate("a", nil, w.keys.To, protocol.PlanKey, protocol.HolderKey)
	w.settle("a")
	w.ends("a-0")
	w.settle("a")
	same(t, "annotations", map[string]string{
		w.keys.Status: "done", w.keys.Release: target, keys.Release: target,
	}, w.get("a-0").GetAnnotations())
}

func TestACrashBetweenAnyTwoWritesIsContinued(t *testing.T) {
	for cut := range 22 { // lock, mark, owner; unlock, proof; … before and after each
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			w := newWorld(t, 3, 0)
			w.grant("cp")
			passed := 0
			w.crash = func() error {
				if passed++; passed == cut+1 {
					return errCrash
				}
				return nil
			}
			for _, m := range []string{"cp-0", "cp-1", "cp-2"} {
				w.settle("cp")
				same(t, "marked", []string{m}, w.marked())
				w.begins(m)
				w.settle("cp")
				same(t, "owner", "{to,status=in-progress,planned}", w.marks("cp"))
				w.ends(m)
			}
			w.settle("cp")
			same(t, "owner", "{status=done,release="+target+",planned}", w.marks("cp"))
			same(t, "lock", "", w.holder())
		})
	}
}

func TestAStepOfAnOldCacheIsCheckedAgainstTheMember(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"another machine is at work": func(w *world) { w.annotate("a-1", map[string]string{keys.To: target}) },
		"the target is withdrawn":    func(w *world) { w.annotate("a", nil, keys.To) },
		"the permission is withdrawn": func(w *world) {
			w.annotate("eu", map[string]string{protocol.StartBeforeKey: protocol.FormatStartBefore(start)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.grant("a")
			old := w.snapshot()
			change(w)
			result, err := w.orchestrator(old).Reconcile(t.Context(), request("a"))
			if err != nil || result.RequeueAfter == 0 {
				t.Errorf("Reconcile: %v, %v", result, err)
			}
			same(t, "writes", []string(nil), w.trace)
		})
	}
}

// TestAnyOrderOfEventsKeepsTheLimits plays owners, upgraders, nodes, retargeting, withdrawal and crashes in random
// order, with an orchestrator whose cache is old as often as not.
func TestAnyOrderOfEventsKeepsTheLimits(t *testing.T) {
	for seed := range int64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewSource(seed))
			w := newWorld(t, 3, 3)
			w.grant("cp")
			w.grant("a")
			old := w.snapshot()
			for range 60 {
				w.anyEvent(r)
				seen := w.snapshot()
				if r.Intn(2) == 0 {
					seen = old
				}
				old = w.snapshot()
				w.crash = func() error {
					if r.Intn(20) == 0 {
						return errCrash
					}
					return nil
				}
				_, err := w.orchestrator(seen).Reconcile(t.Context(), request(oneOf(r, "cp", "a")))
				if err != nil && !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				w.checkLimits()
			}
			w.crash = func() error { return nil }
			w.finish()
			for _, name := range []string{"cp", "a"} {
				same(t, "owner "+name, "{status=done,release="+target+",planned}", w.marks(name))
			}
			same(t, "lock", "", w.holder())
		})
	}
}

// anyEvent lets one thing happen that is not the orchestrator's.
func (w *world) anyEvent(r *rand.Rand) {
	owner := oneOf(r, "cp", "a")
	name := fmt.Sprintf("%s-%d", owner, r.Intn(3))
	marks := w.keys.Read(w.get(name).GetAnnotations())
	switch event := r.Intn(12); {
	case event < 5 && marks.State() == protocol.Requested:
		w.begins(name)
	case event < 5 && marks.State() == protocol.InProgress:
		w.finishes(name)
	case event < 8 && !marks.Busy() && marks.Release != "":
		w.shows(name, newVersion)
	case event == 8:
		w.annotate(owner, nil, w.keys.To)
	case event == 9:
		w.annotate(owner, map[string]string{w.keys.To: oneOf(r, target, other)})
	case event == 10:
		w.healthy(name, r.Intn(3) > 0)
	}
}

func (w *world) checkLimits() {
	w.t.Helper()
	count := map[string]int{}
	for _, name := range w.marked() {
		count[name[:strings.IndexByte(name, '-')]]++
	}
	if count["cp"] > 1 || count["a"] > 1 {
		w.t.Fatalf("in flight at once: %v, after %s", w.marked(), strings.Join(w.trace, "\n"))
	}
}

// finish lets everything go well from here on.
func (w *world) finish() {
	w.t.Helper()
	w.grant("cp")
	w.grant("a")
	for i := range 3 {
		w.healthy(fmt.Sprintf("cp-%d", i), true)
		w.healthy(fmt.Sprintf("a-%d", i), true)
	}
	for range 30 {
		for _, owner := range []string{"cp", "a"} {
			for i := range 3 {
				name := fmt.Sprintf("%s-%d", owner, i)
				switch w.keys.Read(w.get(name).GetAnnotations()).State() {
				case protocol.Requested:
					w.begins(name)
				case protocol.InProgress:
					w.finishes(name)
				default:
					w.shows(name, newVersion)
				}
			}
			w.settle(owner)
			w.checkLimits()
		}
		if !w.keys.Read(w.get("cp").GetAnnotations()).HasTo && !w.keys.Read(w.get("a").GetAnnotations()).HasTo {
			return
		}
	}
}

// snapshot is a cache that stands still.
func (w *world) snapshot() still {
	w.t.Helper()
	s := still{}
	for _, gvk := range kinds.All() {
		list := capi.List(gvk)
		if err := w.client.List(context.Background(), list); err != nil {
			w.t.Fatal(err)
		}
		s[gvk.Kind] = list.Items
	}
	return s
}

type still map[string][]unstructured.Unstructured

func (s still) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o := into.(*unstructured.Unstructured)
	for _, found := range s[o.GetKind()] {
		if found.GetName() == key.Name {
			found.DeepCopyInto(o)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: o.GetKind()}, key.Name)
}

func (s still) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list := into.(*unstructured.UnstructuredList)
	for _, found := range s[strings.TrimSuffix(list.GetKind(), "List")] {
		list.Items = append(list.Items, *found.DeepCopy())
	}
	return nil
}

func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.Intn(len(of))] }
