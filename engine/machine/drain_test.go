// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const drainPlan = `{"expectedVersion":"v1.34","maxAttempts":2,"backoff":"1m","drain":{"timeout":"10m"}}`

// ward is a node with pods, as a Drainer sees it.
type ward struct {
	world *world
	// pods are what is left at each look, the last for ever; err is what a look fails with.
	pods [][]machine.Left
	err  error
	// freeErr is what uncordoning fails with.
	freeErr error
	// by is who has cordoned the node; empty: nobody.
	by string
	// looks and frees count calls; empty is what the last look found.
	looks, frees int
	empty        bool
}

const person = "a person"

func (d *ward) Drain(_ context.Context, at k8sd.Node, by string) ([]machine.Left, error) {
	d.looks++
	if _, found := d.world.machine().GetAnnotations()[protocol.DrainKey]; !found {
		d.world.t.Error("a node is touched before that is recorded")
	}
	if at.NodeName != "node-0" || by != "uid-m0" {
		d.world.t.Errorf("drains %s in the name of %q", at, by)
	}
	if d.err != nil {
		return nil, d.err
	}
	if d.by == "" {
		d.by = by
	}
	d.world.mayDie()
	left := d.pods[min(d.looks, len(d.pods))-1]
	d.empty = len(left) == 0
	return left, nil
}

func (d *ward) Uncordon(_ context.Context, at k8sd.Node, by string) error {
	d.frees++
	if d.freeErr != nil {
		return d.freeErr
	}
	if at.NodeName != "node-0" || by != "uid-m0" {
		d.world.t.Errorf("uncordons %s in the name of %q", at, by)
	}
	if d.by == by {
		d.by, d.empty = "", false
	}
	d.world.mayDie()
	return nil
}

// mayDie ends the upgrader's life within a call that does not return.
func (w *world) mayDie() {
	if err := w.crash(); err != nil {
		panic(err)
	}
}

var (
	none    = []machine.Left{}
	going   = []machine.Left{{Pod: "shop/web-0"}}
	blocked = []machine.Left{
		{Pod: "shop/web-0"},
		{Pod: "shop/web-1", Why: "PodDisruptionBudget: The disruption budget web needs 2 healthy pods and has 2 currently"},
	}
)

// newDrained is a healthy machine that is asked to upgrade and whose node is to be drained first.
func newDrained(t *testing.T, pods ...[]machine.Left) (*world, *ward) {
	t.Helper()
	w := newWorld(t, map[string]string{keys.To: target, protocol.PlanKey: drainPlan})
	w.healthy(true)
	d := &ward{world: w, pods: pods}
	w.drains = d
	w.restart()
	w.node.refreshes = []func() (string, error){func() (string, error) {
		if d.by == "" || !d.empty {
			t.Errorf("a refresh finds the node cordoned by %q, empty: %t", d.by, d.empty)
		}
		w.runs(newVersion)
		return "1", nil
	}}
	w.node.statuses = says(doing, done)
	return w, d
}

func (w *world) healthy(yes bool) {
	w.t.Helper()
	status := map[bool]string{true: "True", false: "False"}[yes]
	w.change(func(m *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(m.Object, []any{
			map[string]any{"type": "NodeReady", "status": status},
			map[string]any{"type": "NodeHealthy", "status": status},
		}, "status", "conditions")
	})
}

func (w *world) record() string { return w.machine().GetAnnotations()[protocol.DrainKey] }

func TestANodeIsDrainedBeforeItsRefreshAndUncordonedAfterIt(t *testing.T) {
	w, d := newDrained(t, blocked, going, none)
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "refreshes", 1, w.node.posts)
	same(t, "looks", 3, d.looks)
	same(t, "uncordoned", 1, d.frees)
	same(t, "cordoned by", "", d.by)
	same(t, "record", "", w.record())
	same(t, "events", []string{"Normal InPlaceUpgradeDraining Draining node node-0", began, ended}, w.happened())
}

func TestNothingIsSentWhileANodeIsDrained(t *testing.T) {
	w, d := newDrained(t, blocked)
	w.settle(9 * time.Minute)
	same(t, "refreshes", 0, w.node.posts)
	same(t, "marks", "{to}", describe(w.machine().GetAnnotations()))
	same(t, "attempt", protocol.Attempt{}, w.attempt())
	same(t, "cordoned by", "uid-m0", d.by)
	record, err := protocol.ParseNodeDrain(w.record())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "record", protocol.NodeDrain{
		Node: "node-0", By: "uid-m0", Target: target, Since: start, Blocked: "pod " + blocked[1].Pod + ": " + blocked[1].Why,
	}, record)
}

func TestANodeIsLookedAtEveryFiveSecondsAndWrittenOnAChangeOnly(t *testing.T) {
	w, d := newDrained(t, blocked)
	w.settle(time.Minute)
	same(t, "looks in a minute", 13, d.looks)
	before := w.machine().GetResourceVersion()
	for range 5 { // whatever else wakes it
		if _, err := w.upgrader.Reconcile(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
	}
	w.settle(time.Minute)
	same(t, "looks in two minutes", 25, d.looks)
	same(t, "resourceVersion", before, w.machine().GetResourceVersion())
}

func TestANodeWithMorePodsThanFitIsLookedAtAllTheSame(t *testing.T) {
	var many []machine.Left
	for i := range 100 {
		many = append(many, machine.Left{Pod: fmt.Sprintf("shop/web-%d", i), Why: "PodDisruptionBudget"})
	}
	w, d := newDrained(t, many)
	w.settle(time.Minute)
	same(t, "looks in a minute", 13, d.looks)
	d.pods = [][]machine.Left{none}
	w.settle(time.Minute)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
}

func TestADrainThatDoesNotFinishIsAFailedAttempt(t *testing.T) {
	const why = "drain: not finished after 10m0s: pod shop/web-0 is still going; pod shop/web-1: PodDisruptionBudget: " +
		"The disruption budget web needs 2 healthy pods and has 2 currently"
	w, d := newDrained(t, blocked)
	w.settle(11 * time.Minute)
	a := w.attempt()
	same(t, "attempt", protocol.Attempt{
		Target: target, Count: 1, From: oldVersion, FailedAt: start.Add(10 * time.Minute), LastError: why,
	}, a)
	same(t, "marks", "{to,status=failed,last-failed}", describe(w.machine().GetAnnotations()))
	w.settle(24 * time.Hour)
	a = w.attempt()
	same(t, "attempts", 2, a.Count)
	same(t, "quarantined", true, a.Quarantined)
	same(t, "second drain after a pause of 1m", start.Add(21*time.Minute), a.FailedAt.Truncate(time.Minute))
	same(t, "refreshes", 0, w.node.posts)
	same(t, "cordoned by", "", d.by)
	same(t, "record", "", w.record())
	happened := w.happened()
	same(t, "events", []string{happened[0], failure + why, happened[0], failure + why}, happened)
}

func TestANodeIsUncordonedBetweenAttemptsOfADrain(t *testing.T) {
	w, d := newDrained(t, blocked)
	w.settle(10*time.Minute + 30*time.Second)
	same(t, "attempts", 1, w.attempt().Count)
	same(t, "cordoned by", "", d.by)
	same(t, "record", "", w.record())
	d.pods = [][]machine.Left{none}
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "cordoned by", "", d.by)
}

func TestANodeThatCannotBeAskedIsAFailedAttemptInTheEnd(t *testing.T) {
	w, d := newDrained(t, none)
	d.err = errors.New("dial tcp 192.0.2.1:6443: connect: connection refused")
	w.settle(10 * time.Minute)
	same(t, "last error", "drain: not finished after 10m0s: "+d.err.Error(), w.attempt().LastError)
	d.err = nil
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
}

func TestACordonOfAPersonStays(t *testing.T) {
	w, d := newDrained(t, going, none)
	d.by = person
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "cordoned by", person, d.by)
	same(t, "record", "", w.record())
}

func TestANodeStaysCordonedUntilItIsHealthyAndOfTheExpectedVersion(t *testing.T) {
	w, d := newDrained(t, none)
	w.node.refreshes = accepts("1") // the node's version shows later
	w.healthy(false)
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "neither", "uid-m0", d.by)
	w.runs(newVersion)
	w.settle(time.Hour)
	same(t, "not healthy", "uid-m0", d.by)
	w.runs(oldVersion)
	w.healthy(true)
	w.settle(time.Hour)
	same(t, "an old version", "uid-m0", d.by)
	w.runs(newVersion)
	w.settle(time.Hour)
	same(t, "both", "", d.by)
	same(t, "record", "", w.record())
}

func TestACordonIsTakenBackWhen(t *testing.T) {
	for name, c := range map[string]struct {
		pods   [][]machine.Left
		before func(w *world)
		after  func(w *world)
	}{
		"the request is withdrawn while the node is drained": {
			pods: [][]machine.Left{blocked}, after: func(w *world) { w.annotate(nil, keys.To, protocol.PlanKey) },
		},
		"the request is withdrawn, the plan and an older release stay": {
			pods: [][]machine.Left{blocked},
			before: func(w *world) {
				w.annotate(map[string]string{keys.Status: "done", keys.Release: "channel=1.33-classic/stable"})
			},
			after: func(w *world) { w.annotate(nil, keys.To) },
		},
		"the request is withdrawn after a failed attempt, the plan and an older release stay": {
			pods: [][]machine.Left{none},
			before: func(w *world) {
				w.annotate(map[string]string{keys.Status: "done", keys.Release: "channel=1.33-classic/stable"})
				w.node.refreshes = []func() (string, error){refuses(k8sd.Rejected, "500")}
				w.annotate(map[string]string{protocol.PlanKey: `{"expectedVersion":"v1.34","backoff":"10m","drain":{}}`})
			},
			after: func(w *world) { w.annotate(nil, keys.To) },
		},
		"permission ends while the node is drained": {
			pods:   [][]machine.Left{blocked},
			before: func(w *world) { w.permit(protocol.FormatStartBefore(start.Add(5 * time.Minute))) },
			after:  func(w *world) { w.clock.Step(3 * time.Minute) },
		},
		"attempts are used up": {
			pods: [][]machine.Left{none},
			before: func(w *world) {
				w.node.statuses = says(failed)
				w.annotate(map[string]string{protocol.PlanKey: `{"maxAttempts":2,"backoff":"10m","drain":{}}`})
			},
			after: func(w *world) { w.clock.Step(time.Hour) },
		},
		"the request is withdrawn after a failed attempt": {
			pods:   [][]machine.Left{none},
			before: func(w *world) { w.node.statuses = says(doing) },
			after: func(w *world) {
				w.node.statuses = says(failed)
				w.annotate(nil, keys.To, protocol.PlanKey)
			},
		},
		"the plan goes before the machine is proven": {
			pods:   [][]machine.Left{none},
			before: func(w *world) { w.healthy(false) },
			after:  func(w *world) { w.annotate(nil, protocol.PlanKey) },
		},
		"the record cannot be read": {
			pods:   [][]machine.Left{blocked},
			before: func(w *world) { w.annotate(map[string]string{protocol.DrainKey: "?"}) },
			after:  func(w *world) { w.annotate(nil, keys.To, protocol.PlanKey) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, d := newDrained(t, c.pods...)
			if c.before != nil {
				c.before(w)
			}
			w.settle(4 * time.Minute)
			same(t, "cordoned by, before", "uid-m0", d.by)
			c.after(w)
			w.settle(time.Hour)
			same(t, "cordoned by, after", "", d.by)
			same(t, "record", "", w.record())
			if w.node.posts > 2 {
				t.Errorf("%d refreshes", w.node.posts)
			}
		})
	}
}

func TestAMachineWhosePermissionEndedWhileItWasDrainedDoesNotBegin(t *testing.T) {
	w, d := newDrained(t, blocked)
	w.permit(protocol.FormatStartBefore(start.Add(10 * time.Minute)))
	w.settle(24 * time.Hour) // the drain fails at the end of the permission, and the next attempt needs another
	same(t, "refreshes", 0, w.node.posts)
	same(t, "looks at the node", 120, d.looks)
	d.pods = [][]machine.Left{none}
	w.permit(protocol.FormatStartBefore(w.clock.Now().Add(time.Hour)))
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
}

func TestAPausedClusterIsNeitherDrainedNorUncordoned(t *testing.T) {
	w, d := newDrained(t, blocked)
	w.settle(time.Minute)
	looks := d.looks
	w.cluster(func(c *unstructured.Unstructured) { c.Object["spec"] = map[string]any{"paused": true} })
	w.annotate(nil, keys.To, protocol.PlanKey)
	w.settle(time.Hour)
	same(t, "looks", looks, d.looks)
	same(t, "cordoned by", "uid-m0", d.by)
	w.cluster(func(c *unstructured.Unstructured) { c.Object["spec"] = map[string]any{} })
	w.settle(time.Hour)
	same(t, "cordoned by", "", d.by)
}

func TestUncordoningIsTriedUntilItIsDone(t *testing.T) {
	w, d := newDrained(t, none)
	d.freeErr = errors.New("connection refused")
	w.settle(time.Minute)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "cordoned by", "uid-m0", d.by)
	record, err := protocol.ParseNodeDrain(w.record())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "record", protocol.NodeDrain{
		Node: "node-0", By: "uid-m0", Target: target, Blocked: "uncordon: connection refused",
	}, record)
	if d.frees < 10 || d.frees > 13 {
		t.Errorf("tried %d times in a minute", d.frees)
	}
	d.freeErr = nil
	w.settle(time.Minute)
	same(t, "cordoned by", "", d.by)
}

func TestWithoutADrainerAPlanThatAsksForADrainIsRefused(t *testing.T) {
	w := newWorld(t, map[string]string{keys.To: target, protocol.PlanKey: drainPlan})
	w.settle(24 * time.Hour)
	same(t, "refreshes", 0, w.node.posts)
	a := w.attempt()
	same(t, "quarantined", true, a.Quarantined)
	if !strings.Contains(a.LastError, "windlass.dev/plan: drain") {
		t.Errorf("last error %q does not name the field", a.LastError)
	}
}

func TestWithoutADrainInThePlanNoNodeIsTouched(t *testing.T) {
	w, d := newDrained(t, none)
	w.annotate(map[string]string{protocol.PlanKey: plan})
	w.node.refreshes = accepts("1")
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "looks", 0, d.looks+d.frees)
}

// Before and after each write to the machine, after the cordon, after each look while the node is drained, and after
// the node was uncordoned.
func TestACrashAnywhereLeadsToOneRefreshAndAFreeNode(t *testing.T) {
	for cut := range 20 {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			w, d := newDrained(t, blocked, going, none)
			passed, crashed := 0, false
			w.crash = func() error {
				passed++
				if passed == cut+1 {
					crashed = true
					return errCrash
				}
				return nil
			}
			w.settle(2 * time.Hour)
			same(t, "it crashed", true, crashed)
			same(t, "marks", finished, describe(w.machine().GetAnnotations()))
			same(t, "refreshes", 1, w.node.posts)
			same(t, "cordoned by", "", d.by)
			same(t, "record", "", w.record())
		})
	}
}

// Whatever stands on a machine: nothing is sent to a node that was to be drained and is not known to be empty, and
// what is cordoned is known.
func TestNextNeverSendsToANodeThatIsNotEmpty(t *testing.T) {
	record := protocol.NodeDrain{Node: "node-0", By: "uid-m0", Target: target, Since: start}
	failing := protocol.NodeDrain{Node: "node-0", By: "uid-m0", Target: target, Since: start, Blocked: "x"}
	begun := protocol.NodeDrain{Node: "node-0", By: "uid-m0", Target: target, Since: start.Add(time.Minute)}
	sent := protocol.NodeDrain{Node: "node-0", By: "uid-m0", Target: target}
	for name, c := range map[string]struct {
		change func(o *machine.Observation)
		want   machine.Action
		patch  member.Patch
	}{
		"no record: it is written": {
			func(o *machine.Observation) { o.Drain.Record = nil }, machine.Write,
			member.Patch{protocol.DrainKey: begun.Format()},
		},
		"the record of an earlier attempt: it is renewed": {
			func(o *machine.Observation) { o.Drain.Record = &sent }, machine.Write,
			member.Patch{protocol.DrainKey: begun.Format()},
		},
		"not looked at": {func(*machine.Observation) {}, machine.Drain, nil},
		"looked at just now": {func(o *machine.Observation) {
			o.Drain.NextLook = start.Add(2 * time.Minute)
		}, machine.Wait, nil},
		"a look that failed: it is told": {func(o *machine.Observation) {
			o.Drain.Drained = &machine.Drained{Err: errors.New("x")}
		}, machine.Write, nil},
		"another look that failed": {func(o *machine.Observation) {
			o.Drain.Drained, o.Drain.Record = &machine.Drained{Err: errors.New("y")}, &failing
		}, machine.Wait, nil},
		"pods that are going": {func(o *machine.Observation) {
			o.Drain.Drained = &machine.Drained{Left: going}
		}, machine.Wait, nil},
		"the record of another node": {func(o *machine.Observation) {
			o.NodeName, o.Drain.Drained = "node-1", &machine.Drained{}
		}, machine.Uncordon, nil},
		"empty": {func(o *machine.Observation) { o.Drain.Drained = &machine.Drained{} }, machine.Send, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(func(o *machine.Observation) {
				o.Plan.Drain = &protocol.Drain{}
				o.Drain = machine.Draining{Can: true, By: "uid-m0", Record: &record, Healthy: true}
			})
			c.change(&o)
			step := machine.Next(o, start.Add(time.Minute))
			same(t, "action", c.want, step.Action)
			if c.patch != nil {
				same(t, "patch", c.patch, step.Patch)
			}
			if step.Action == machine.Send {
				same(t, "record", any(sent.Format()), step.Patch[protocol.DrainKey])
			}
		})
	}
}

// Whatever happens around a machine: nothing is sent to a node that is not cordoned and empty, a person's cordon is never
// lifted, and once nobody asks any more the node is free and nothing is left on the machine.
func TestWhateverHappensANodeIsFreeInTheEnd(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, d := newDrained(t, blocked)
		careful := w.node.refreshes[0]
		sends := func() (string, error) {
			if strings.Contains(w.machine().GetAnnotations()[protocol.PlanKey], "drain") {
				return careful()
			}
			return "1", nil
		}
		w.node.refreshes = []func() (string, error){sends}
		happens := map[string]func(){
			"pods go":        func() { d.pods = [][]machine.Left{none} },
			"pods stay":      func() { d.pods = [][]machine.Left{blocked} },
			"node away":      func() { d.err, d.freeErr = errors.New("x"), errors.New("x") },
			"node back":      func() { d.err, d.freeErr = nil, nil },
			"restart":        w.restart,
			"withdrawn":      func() { w.annotate(nil, keys.To, protocol.PlanKey) },
			"asked":          func() { w.annotate(map[string]string{keys.To: target, protocol.PlanKey: drainPlan}) },
			"another target": func() { w.annotate(map[string]string{keys.To: "revision=640"}) },
			"no drain":       func() { w.annotate(map[string]string{protocol.PlanKey: plan}) },
			"sick":           func() { w.healthy(false) },
			"well":           func() { w.healthy(true) },
			"changes fail":   func() { w.node.statuses = says(failed) },
			"changes run":    func() { w.node.statuses = says(doing) },
			"refused":        func() { w.node.refreshes = []func() (string, error){refuses(k8sd.Rejected, "500")} },
			"accepted":       func() { w.node.refreshes = []func() (string, error){sends} },
			"old":            func() { w.runs(oldVersion) },
			"a person":       func() { d.by = person },
		}
		names := slices.Sorted(maps.Keys(happens))
		for range rapid.IntRange(1, 5).Draw(r, "events") {
			name := rapid.SampledFrom(names).Draw(r, "event")
			happens[name]()
			persons := d.by == person
			w.settle(rapid.SampledFrom([]time.Duration{0, 20 * time.Second, 11 * time.Minute}).Draw(r, "then"))
			if persons && d.by != person {
				r.Fatalf("the cordon of a person is lifted after %q", name)
			}
		}
		happens["node back"]()
		happens["withdrawn"]()
		w.node.statuses = says(failed) // what runs ends
		w.settle(40 * time.Minute)
		if d.by != "" && d.by != person || w.record() != "" {
			r.Fatalf("cordoned by %q, record %s", d.by, w.record())
		}
	})
}
