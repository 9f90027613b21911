// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// PROTOCOL.md 5.2, 1: the existing controllers post again at once, for ever.
func TestFault01_AfterTheLastAttemptThereIsOneFailureMoreAndThenSilence(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes = []func() (string, error){
		refuses(k8sd.Rejected, "first"), refuses(k8sd.Rejected, "second"), refuses(k8sd.Rejected, "third"),
	}
	w.settle(24 * time.Hour)
	same(t, "events", []string{failure + "first", failure + "second", failure + "third"}, w.happened())
	same(t, "k8sd's last word is kept", "third", w.attempt().LastError)
	same(t, "quarantined", true, w.attempt().Quarantined)
	version := w.machine().GetResourceVersion()
	for range 50 { // whatever else wakes it
		if _, err := w.upgrader.Reconcile(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "events of a machine in quarantine", []string(nil), w.happened())
	same(t, "resourceVersion", version, w.machine().GetResourceVersion())
	same(t, "refreshes", 3, w.node.posts)
}

// PROTOCOL.md 5.2, 4: the existing controllers ask for ever.
func TestFault04_AChangeThatNobodyKnowsEndsWithItsDeadline(t *testing.T) {
	for name, refreshes := range map[string][]func() (string, error){
		"an unknown change id": accepts("gone"),
		"an empty change id":   accepts(""),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.node.refreshes, w.node.statuses = refreshes, says(unknown)
			w.pass(29 * time.Minute)
			same(t, "status before", protocol.StatusInProgress, keys.Read(w.machine().GetAnnotations()).Status)
			w.pass(90 * time.Second)
			same(t, "status after", protocol.StatusFailed, keys.Read(w.machine().GetAnnotations()).Status)
			same(t, "refreshes", 1, w.node.posts)
		})
	}
}

// PROTOCOL.md 5.2, 9: the existing controllers show nothing of these, and have erased release by then.
func TestFault09_WhatFailsBeforeTheRefreshIsSeen(t *testing.T) {
	const why = "refreshing node node-0 of cluster shop/eu: "
	for name, c := range map[string]struct {
		annotations map[string]string
		refresh     func() (string, error)
		text        string
		posts       int
	}{
		"a bad option": {
			annotations: map[string]string{keys.To: "channel"}, text: `target "channel": exactly one "=" is needed`,
		},
		"an empty request": {annotations: map[string]string{keys.To: ""}, text: `target ""`},
		"a plan that cannot be read": {
			annotations: map[string]string{protocol.PlanKey: "{"}, text: "annotation windlass.dev/plan",
		},
		"401": {
			refresh: refuses(k8sd.Rejected, why+"HTTP request failed with status code: 401 (invalid token)"),
			text:    "401 (invalid token)", posts: 1,
		},
		"500": {
			refresh: refuses(k8sd.Rejected, why+"HTTP request failed with status code: 500 (failed to refresh snap: exit status 1)"),
			text:    "500 (failed to refresh snap: exit status 1)", posts: 1,
		},
		"503": {refresh: refuses(k8sd.Rejected, why+"503 (Database is offline)"), text: "Database is offline", posts: 1},
		"no token": {
			refresh: refuses(k8sd.NotSent, why+`node-token for machine "m0" not found`), text: "node-token", posts: 1,
		},
		"no proxy pod": {
			refresh: refuses(k8sd.NotSent, why+"missing k8sd-proxy pod for node node-0"), text: "k8sd-proxy", posts: 1,
		},
		"another certificate": {
			refresh: refuses(k8sd.NotSent, why+"k8sd shows another certificate than before: was sha256:1, is sha256:2"),
			text:    "was sha256:1, is sha256:2", posts: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.annotate(map[string]string{keys.Status: "done", keys.Release: elsewhere})
			w.annotate(c.annotations)
			w.node.refreshes = []func() (string, error){c.refresh}
			w.settle(30 * time.Second) // before the next attempt
			marks := keys.Read(w.machine().GetAnnotations())
			same(t, "status", protocol.StatusFailed, marks.Status)
			same(t, "release", elsewhere, marks.Release)
			same(t, "still asked for", true, marks.HasTo)
			if _, found := protocol.ParseFailedAt(marks.LastFailed); !found {
				t.Errorf("last-failed-attempt-at: %q", marks.LastFailed)
			}
			same(t, "requests to k8sd", c.posts, w.node.posts)
			happened := w.happened()
			same(t, "events", 1, len(happened))
			for what, text := range map[string]string{"lastError": w.attempt().LastError, "event": happened[0]} {
				if !strings.Contains(text, c.text) {
					t.Errorf("%s %q does not say %q", what, text, c.text)
				}
			}
			w.annotate(nil, keys.To)
			w.settle(time.Hour)
			same(t, "marks once it is withdrawn", "{status=done,release="+elsewhere+"}", describe(w.machine().GetAnnotations()))
		})
	}
}

// PROTOCOL.md 5.2, 9.
func TestFault09_AMachineWithoutANodeWaitsWithAReasonAndLosesNothing(t *testing.T) {
	step := machine.Next(observed(func(o *machine.Observation) { o.NodeName = "" }), start)
	same(t, "step", machine.Step{Action: machine.Wait, Reason: machine.NoNode}, step)
	w := newWorld(t, requested())
	w.annotate(map[string]string{keys.Status: "done", keys.Release: elsewhere})
	w.change(func(m *unstructured.Unstructured) { unstructured.RemoveNestedField(m.Object, "status", "nodeRef") })
	before := w.machine().GetAnnotations()
	w.settle(24 * time.Hour)
	same(t, "annotations", before, w.machine().GetAnnotations())
	w.change(func(m *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(m.Object, "node-0", "status", "nodeRef", "name")
	})
	w.node.refreshes, w.node.statuses = accepts("1"), says(done)
	w.settle(time.Minute)
	same(t, "marks once it has one", finished, describe(w.machine().GetAnnotations()))
}

// PROTOCOL.md 5.2, 10: the documented cancel, and asked again.
func TestFault10_AStatusLeftInProgressIsNoChangeInFlight(t *testing.T) {
	w := newWorld(t, requested())
	w.annotate(map[string]string{keys.Status: "in-progress"})
	w.node.refreshes, w.node.statuses = accepts("1"), says(doing, done)
	w.settle(time.Hour)
	same(t, "trace", []string{
		"{to,status=in-progress}",
		"{to,status=in-progress,change-id=1}",
		"{to,status=done,change-id=1}",
		finished,
	}, w.trace)
	same(t, "refreshes", 1, w.node.posts)
	same(t, "events", []string{began, ended}, w.happened())
}

// PROTOCOL.md 5.2, 18.
func TestFault18_EachEventIsToldOnceHoweverOftenTheMachineIsLookedAt(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses = accepts("1", "2"), says(doing, doing, failed, failed, doing, done)
	for range 400 {
		if _, err := w.upgrader.Reconcile(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
		w.clock.Step(time.Second)
	}
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "events", []string{began, failure + "cannot download", began, ended}, w.happened())
}

// PROTOCOL.md 5.2, 22: the existing controllers tell two failures, and send again beside the change.
func TestFault22_AChangeWhoseStatusWasLostIsFollowedAndTellsNoFailure(t *testing.T) {
	for _, status := range []string{"", "nonsense", "DONE"} {
		w := newWorld(t, requested())
		w.annotate(map[string]string{keys.ChangeID: "7", keys.Status: status})
		w.node.statuses = says(doing, done)
		w.settle(time.Hour)
		same(t, "trace", []string{
			"{to,status=in-progress,change-id=7}", "{to,status=done,change-id=7}", finished,
		}, w.trace)
		same(t, "events", []string{ended}, w.happened())
		same(t, "refreshes", 0, w.node.posts)
	}
}

// PROTOCOL.md 5.2, 24: the existing controllers dereference it.
func TestFault24_AMachineNeedsNoBootstrapConfig(t *testing.T) {
	for name, bootstrap := range map[string]map[string]any{
		"no configRef":                   {"dataSecretName": "m0"},
		"an empty bootstrap":             {},
		"another bootstrap provider":     {"configRef": map[string]any{"kind": "KubeadmConfig", "name": "m0"}},
		"a configRef that leads nowhere": {"configRef": map[string]any{"kind": "CK8sConfig", "name": "gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.change(func(m *unstructured.Unstructured) {
				_ = unstructured.SetNestedMap(m.Object, bootstrap, "spec", "bootstrap")
			})
			w.node.refreshes, w.node.statuses = accepts("1"), says(done)
			w.settle(time.Hour)
			same(t, "marks", finished, describe(w.machine().GetAnnotations()))
		})
	}
}

// PROTOCOL.md 5.2, 26: the existing controllers write the zone of where they run.
func TestFault26_EveryTimeIsWrittenInUTC(t *testing.T) {
	w := newWorld(t, requested())
	w.clock = clocktesting.NewFakeClock(start.In(time.FixedZone("Samara", 4*60*60)))
	w.restart()
	w.node.refreshes, w.node.statuses = accepts("1"), says(failed)
	w.settle(10 * time.Second)
	annotations := w.machine().GetAnnotations()
	if mark := annotations[keys.LastFailed]; !strings.HasPrefix(mark, "Tue, 01 Sep 2026 12:00:") || !strings.HasSuffix(mark, " +0000") {
		t.Errorf("last-failed-attempt-at: %s", mark)
	}
	attempt := annotations[protocol.AttemptKey]
	if !strings.Contains(attempt, `"sentAt":"2026-09-01T12:00:00Z"`) || strings.Contains(attempt, "+04:00") {
		t.Errorf("attempt: %s", attempt)
	}
	same(t, "marks", "{to,status=failed,change-id=1,last-failed}", describe(annotations))
}

// The price of at most one refresh: what was recorded and perhaps never sent is waited for until its timeout.
func TestACrashBetweenRecordAndRefreshWaitsForTheTimeoutAndThenSendsOnce(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses = accepts("1"), says(done)
	recorded := protocol.Attempt{Target: target, Count: 1, From: oldVersion, SentAt: start}
	w.annotate(map[string]string{protocol.AttemptKey: recorded.Format()}) // as the one that died left it
	w.restart()
	w.pass(29 * time.Minute)
	same(t, "refreshes before the timeout", 0, w.node.posts)
	same(t, "marks before the timeout", "{to}", describe(w.machine().GetAnnotations()))
	w.pass(5 * time.Minute)
	same(t, "refreshes after it", 1, w.node.posts)
	same(t, "marks after it", finished, describe(w.machine().GetAnnotations()))
	same(t, "events", []string{
		failure + "k8sd's answer to the refresh was lost, and the node still runs v1.33.4 after 30m0s", began, ended,
	}, w.happened())
}

// No reason of an event is declared that nothing tells (PROTOCOL.md 5.2, 25).
func TestFault25_EveryReasonOfAnEventIsTold(t *testing.T) {
	told := map[string]bool{}
	hear := func(w *world) {
		for _, e := range w.happened() {
			told[strings.Fields(e)[1]] = true
		}
	}
	good := newWorld(t, requested())
	good.node.refreshes, good.node.statuses = accepts("1", "2"), says(failed, failed, done)
	good.settle(time.Hour)
	hear(good)
	withdrawn := newWorld(t, requested())
	withdrawn.node.refreshes, withdrawn.node.statuses = accepts("1"), says(doing, failed)
	withdrawn.settle(0)
	withdrawn.annotate(nil, keys.To)
	withdrawn.settle(time.Hour)
	hear(withdrawn)
	drained, _ := newDrained(t, none)
	drained.settle(time.Hour)
	hear(drained)
	want := []string{protocol.EventCancelled, protocol.EventDone, protocol.EventDraining, protocol.EventFailed, protocol.EventInProgress}
	same(t, "reasons", want, slices.Sorted(maps.Keys(told)))
}

// PROTOCOL.md 5.2, 25.
func TestFault25_AWithdrawnUpgradeSaysOnceThatItWasCancelled(t *testing.T) {
	cancelled := fmt.Sprintf("Normal InPlaceUpgradeCancelled In place upgrade with %s is not asked for any more", target)
	for name, c := range map[string]struct {
		statuses []func() (k8sd.Status, error)
		wait     time.Duration
		want     []string
	}{
		"between two attempts":            {says(failed), 30 * time.Second, []string{began, failure + "cannot download", cancelled}},
		"while it runs, and it fails":     {says(doing, failed), 0, []string{began, cancelled}},
		"while it runs, and it ends well": {says(doing, done), 0, []string{began, ended}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.node.refreshes, w.node.statuses = accepts("1"), c.statuses
			w.settle(c.wait)
			w.annotate(nil, keys.To)
			w.settle(time.Hour)
			for range 5 {
				if _, err := w.upgrader.Reconcile(t.Context(), request()); err != nil {
					t.Fatal(err)
				}
			}
			same(t, "events", c.want, w.happened())
		})
	}
}

// pass lets a span of virtual time go by, whether or not there is something to do.
func (w *world) pass(span time.Duration) {
	w.t.Helper()
	end := w.clock.Now().Add(span)
	w.settle(span)
	w.clock.SetTime(end)
	w.settle(0)
}
