// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	began    = "Normal InPlaceUpgradeInProgress Performing in place upgrade with " + target
	ended    = "Normal InPlaceUpgradeDone Successfully performed in place upgrade with " + target
	failure  = "Warning InPlaceUpgradeFailed Failed to perform in place upgrade with " + target + ": "
	finished = "{status=done,release=" + target + "}"
)

func requested() map[string]string { return map[string]string{keys.To: target, protocol.PlanKey: plan} }

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// PROTOCOL.md 2.3, X1.
func TestTheHappyTraceIsTheProtocols(t *testing.T) {
	w := newWorld(t, map[string]string{keys.To: target})
	w.node.refreshes, w.node.statuses, w.node.becomes = accepts("42"), says(doing, doing, done), ""
	w.settle(time.Hour)

	same(t, "trace", []string{
		"{to}", // the intent, which is no mark of the protocol
		"{to,status=in-progress,change-id=42}",
		"{to,status=done,change-id=42}",
		finished,
	}, w.trace)
	same(t, "events", []string{began, ended}, w.happened())
	same(t, "annotations", map[string]string{keys.Status: "done", keys.Release: target}, w.machine().GetAnnotations())
	same(t, "refreshes", 1, w.node.posts)
	same(t, "polls", 3, w.node.polls)
}

// PROTOCOL.md 2.3, X2, but with a pause before each further attempt and an end.
func TestFault01_TheFailureCycleIsTheProtocolsWithPausesAndAnEnd(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses = accepts("1", "2", "3"), says(failed)
	w.settle(24 * time.Hour)

	same(t, "trace", []string{
		"{to}",
		"{to,status=in-progress,change-id=1}",
		"{to,status=failed,change-id=1,last-failed}",
		"{to,last-failed}",
		"{to,status=in-progress,change-id=2,last-failed}",
		"{to,status=failed,change-id=2,last-failed}",
		"{to,last-failed}",
		"{to,status=in-progress,change-id=3,last-failed}",
		"{to,status=failed,change-id=3,last-failed}",
	}, w.trace)
	same(t, "events", slices.Repeat([]string{began, failure + "cannot download"}, 3), w.happened())
	a := w.attempt()
	same(t, "attempt", protocol.Attempt{
		Target: target, Count: 3, From: oldVersion, SentAt: a.SentAt, FailedAt: a.FailedAt,
		LastError: "cannot download", Quarantined: true,
	}, a)
	same(t, "third attempt after 1m and 2m", 3*time.Minute, a.SentAt.Sub(start).Truncate(time.Second))
	same(t, "refreshes in a day", 3, w.node.posts)
}

func TestFault01_Fault04_Fault09_EveryAttemptEndsVisiblyAndBounded(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		refreshes   []func() (string, error)
		statuses    []func() (k8sd.Status, error)
		posts       int
		lastError   string
		end         string
	}{
		"a refresh that k8sd rejects": {
			refreshes: []func() (string, error){refuses(k8sd.Rejected, "HTTP request failed with status code: 401 (invalid token)")},
			posts:     3, lastError: "HTTP request failed with status code: 401 (invalid token)",
			end: "{to,status=failed,last-failed}",
		},
		"a node that cannot be reached": {
			refreshes: []func() (string, error){refuses(k8sd.NotSent, "missing k8sd-proxy pod for node node-0")},
			posts:     3, lastError: "missing k8sd-proxy pod for node node-0",
			end: "{to,status=failed,last-failed}",
		},
		"a change that is undone": {
			refreshes: accepts("1"), statuses: says(undone),
			posts: 3, lastError: "invalid refresh status Undone",
			end: "{to,status=failed,change-id=1,last-failed}",
		},
		"a change that snapd does not know and a node that stays as it is": {
			refreshes: accepts("1"), statuses: says(unknown),
			posts: 3, lastError: `k8sd does not know change "1", and the node still runs v1.33.4 after 30m0s`,
			end: "{to,status=failed,change-id=1,last-failed}",
		},
		"an empty change id and a node that stays as it is": {
			refreshes: accepts(""),
			posts:     3, lastError: "k8sd started no change, and the node still runs v1.33.4 after 30m0s",
			end: "{to,status=failed,change-id=,last-failed}",
		},
		"answers that are lost and a node that stays as it is": {
			refreshes: []func() (string, error){refuses(k8sd.Unknown, "EOF")},
			posts:     3, lastError: "k8sd's answer to the refresh was lost, and the node still runs v1.33.4 after 30m0s",
			end: "{to,status=failed,last-failed}",
		},
		"a target that cannot be read": {
			annotations: map[string]string{keys.To: "chanel=x"}, lastError: `target "chanel=x": unknown option "chanel"; ` +
				"accepted: channel=1.33-classic/stable, revision=640, localPath=/path/k8s.snap",
			end: "{to,status=failed,last-failed}",
		},
		"a plan that cannot be read": {
			annotations: map[string]string{protocol.PlanKey: `{"maxAtempts":1}`},
			lastError:   `annotation windlass.dev/plan "{\"maxAtempts\":1}": json: unknown field "maxAtempts"`,
			end:         "{to,status=failed,last-failed}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.annotate(c.annotations)
			w.node.refreshes, w.node.statuses = c.refreshes, c.statuses
			w.settle(24 * time.Hour)
			same(t, "refreshes in a day", c.posts, w.node.posts)
			same(t, "last error", c.lastError, w.attempt().LastError)
			same(t, "quarantined", true, w.attempt().Quarantined)
			same(t, "marks", c.end, describe(w.machine().GetAnnotations()))
			failures := 0
			for _, e := range w.happened() {
				if e[:7] == "Warning" {
					failures++
				}
			}
			same(t, "failures told", max(c.posts, 1), failures)
		})
	}
}

func TestFault04_TheNodesVersionDecidesWhereK8sdCannot(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		refreshes   []func() (string, error)
		statuses    []func() (k8sd.Status, error)
		trace       []string
	}{
		"a lost answer": {
			refreshes: []func() (string, error){refuses(k8sd.Unknown, "EOF")},
			trace:     []string{"{to}", finished},
		},
		"a lost answer, no version expected": {
			annotations: map[string]string{protocol.PlanKey: "{}"},
			refreshes:   []func() (string, error){refuses(k8sd.Unknown, "EOF")},
			trace:       []string{"{to}", finished},
		},
		"an unknown change": {
			refreshes: accepts("7"), statuses: says(unknown),
			trace: []string{"{to}", "{to,status=in-progress,change-id=7}", "{to,status=done,change-id=7}", finished},
		},
		"an empty change id": {
			refreshes: accepts(""),
			trace:     []string{"{to}", "{to,status=in-progress,change-id=}", "{to,status=done,change-id=}", finished},
		},
		"a k8sd that stays silent": {
			refreshes: accepts("7"),
			statuses:  []func() (k8sd.Status, error){func() (k8sd.Status, error) { return unknown, errors.New("EOF") }},
			trace:     []string{"{to}", "{to,status=in-progress,change-id=7}", "{to,status=done,change-id=7}", finished},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.annotate(c.annotations)
			w.node.refreshes, w.node.statuses = c.refreshes, c.statuses
			w.settle(time.Minute)
			w.runs(newVersion)
			w.settle(time.Hour)
			same(t, "trace", c.trace, w.trace)
			same(t, "refreshes", 1, w.node.posts)
			happened := w.happened()
			same(t, "last event", ended, happened[len(happened)-1])
		})
	}
}

func TestAnEmptyChangeIDOnANodeThatFitsIsDone(t *testing.T) {
	w := newWorld(t, requested())
	w.runs(newVersion)
	w.node.refreshes = accepts("")
	w.settle(time.Minute)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
}

func TestAVersionThatFittedBeforeProvesNothing(t *testing.T) {
	w := newWorld(t, requested())
	w.runs(newVersion)
	w.node.refreshes = []func() (string, error){refuses(k8sd.Unknown, "EOF"), accepts("")[0]}
	w.settle(20 * time.Minute)
	same(t, "marks before the deadline", "{to}", describe(w.machine().GetAnnotations()))
	w.settle(time.Hour)
	same(t, "marks after the next attempt", finished, describe(w.machine().GetAnnotations()))
	same(t, "refreshes", 2, w.node.posts)
}

// PROTOCOL.md 5.2, 9.
func TestFault09_NothingIsErasedBeforeTheNodeHasAccepted(t *testing.T) {
	w := newWorld(t, requested())
	w.annotate(map[string]string{keys.Status: "done", keys.Release: "channel=1.33-classic/stable"})
	w.node.refreshes = []func() (string, error){refuses(k8sd.Rejected, "500"), accepts("2")[0]}
	w.node.statuses = says(done)
	w.settle(time.Hour)
	same(t, "trace", []string{
		"{to,status=done,release=channel=1.33-classic/stable}",
		"{to,status=failed,last-failed,release=channel=1.33-classic/stable}",
		"{to,status=in-progress,change-id=2,last-failed}",
		"{to,status=done,change-id=2,last-failed}",
		finished,
	}, w.trace)
}

// PROTOCOL.md 5.2, 6.
func TestFault06_ReleaseIsWhatWasRefreshedNotWhatIsAskedForByNow(t *testing.T) {
	const other = "channel=1.35-classic/stable"
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses = accepts("1", "2"), says(doing, done)
	w.settle(0)
	w.annotate(map[string]string{keys.To: other})
	w.settle(time.Hour)
	same(t, "trace", []string{
		"{to}",
		"{to,status=in-progress,change-id=1}",
		"{to,status=done,change-id=1}",
		"{to,status=done,release=" + target + "}",
		"{to,status=in-progress,change-id=2}",
		"{to,status=done,change-id=2}",
		"{status=done,release=" + other + "}",
	}, w.trace)
	same(t, "targets", []string{target, other}, w.node.targets)
}

func TestANewTargetOrMoreAttemptsEndAQuarantine(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"a new target":  {keys.To: "revision=640"},
		"more attempts": {protocol.PlanKey: `{"expectedVersion":"v1.34","maxAttempts":4}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.node.refreshes, w.node.statuses = accepts("1"), says(failed)
			w.settle(time.Hour)
			same(t, "refreshes until quarantine", 3, w.node.posts)
			w.annotate(change)
			w.node.statuses, w.node.polls = says(failed, done), 0 // the old change is asked about once more
			w.settle(time.Hour)
			same(t, "refreshes", 4, w.node.posts)
			same(t, "state", protocol.Idle, keys.Read(w.machine().GetAnnotations()).State())
		})
	}
}

func TestAChangePastItsDeadlineIsNeverJoinedByAnother(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses = accepts("1"), says(doing)
	w.settle(5 * time.Hour)
	same(t, "marks", "{to,status=failed,change-id=1,last-failed}", describe(w.machine().GetAnnotations()))
	same(t, "last error", `change "1" is still Doing`, w.attempt().LastError)
	same(t, "refreshes", 1, w.node.posts)
	w.node.statuses = says(done)
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "refreshes", 1, w.node.posts)
}

func TestPollsBeginSoonAndBecomeRare(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses = accepts("1"), says(doing)
	var intervals []time.Duration
	for range 12 {
		result, err := w.upgrader.Reconcile(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		if result.RequeueAfter > 0 {
			intervals = append(intervals, result.RequeueAfter)
			w.clock.Step(result.RequeueAfter)
		}
	}
	ms := time.Millisecond
	same(t, "intervals", []time.Duration{
		250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 10000 * ms, 10000 * ms, 10000 * ms, 10000 * ms,
		10000 * ms,
	}, intervals)
	polls := w.node.polls
	if _, err := w.upgrader.Reconcile(t.Context(), request()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.upgrader.Reconcile(t.Context(), request()); err != nil {
		t.Fatal(err)
	}
	same(t, "polls of two looks in one interval", polls+1, w.node.polls)
}

func TestNothingIsWrittenWhere(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"the machine is being deleted": func(w *world) {
			w.change(func(m *unstructured.Unstructured) { m.SetFinalizers([]string{"test/keep"}) })
			if err := w.client.Delete(w.t.Context(), w.machine()); err != nil {
				w.t.Fatal(err)
			}
		},
		"the machine is paused": func(w *world) { w.annotate(map[string]string{capi.PausedAnnotation: ""}) },
		"the cluster is paused": func(w *world) {
			w.cluster(func(c *unstructured.Unstructured) { c.Object["spec"] = map[string]any{"paused": true} })
		},
		"the machine has no node": func(w *world) {
			w.change(func(m *unstructured.Unstructured) {
				unstructured.RemoveNestedField(m.Object, "status", "nodeRef")
			})
		},
		"the node's version is not known": func(w *world) {
			w.change(func(m *unstructured.Unstructured) {
				unstructured.RemoveNestedField(m.Object, "status", "nodeInfo")
			})
		},
		"the hub's permission is absent": func(w *world) { w.annotate(map[string]string{protocol.HolderKey: "hub/1"}) },
		"the hub's permission is over":   func(w *world) { w.permit(protocol.FormatStartBefore(start)) },
		"the permission is no instant":   func(w *world) { w.permit("soon") },
		"nothing is asked for": func(w *world) {
			w.annotate(map[string]string{keys.Status: "in-progress", keys.LastFailed: "x"}, keys.To)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			prepare(w)
			before := w.machine().GetResourceVersion()
			w.settle(24 * time.Hour)
			same(t, "refreshes", 0, w.node.posts)
			same(t, "resourceVersion", before, w.machine().GetResourceVersion())
		})
	}
}

func TestPermissionThatEndsDoesNotStopAMachineThatHasBegun(t *testing.T) {
	w := newWorld(t, requested())
	w.annotate(map[string]string{protocol.HolderKey: "hub/1"})
	w.permit(protocol.FormatStartBefore(start.Add(10 * time.Second)))
	w.node.refreshes, w.node.statuses = accepts("1", "2"), says(failed, failed, done)
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "refreshes", 2, w.node.posts)
}

func TestWhatIsLeftOfAWithdrawnRequestGoesOnceNothingIsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		remove   []string
		statuses []func() (k8sd.Status, error)
		version  string
		end      string
	}{
		"a change that ends well": {
			remove: []string{keys.To}, statuses: says(doing, doing, done), end: finished,
		},
		"a change that fails": {
			remove: []string{keys.To}, statuses: says(doing, doing, failed), end: "{}",
		},
		"a change that nobody can ask about, on a node that moves": {
			remove: []string{keys.To, keys.ChangeID}, statuses: says(doing), version: newVersion, end: finished,
		},
		"a change that nobody can ask about, on a node that stays": {
			remove: []string{keys.To, keys.ChangeID}, statuses: says(doing), end: "{}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.node.refreshes, w.node.statuses = accepts("1"), c.statuses
			w.settle(0)
			w.annotate(nil, c.remove...)
			if c.version != "" {
				w.runs(c.version)
			}
			w.settle(time.Hour)
			same(t, "marks", c.end, describe(w.machine().GetAnnotations()))
			same(t, "attempt", protocol.Attempt{}, w.attempt())
			same(t, "refreshes", 1, w.node.posts)
		})
	}
}

func TestAChangeOfSomebodyElseIsFollowedNotRepeated(t *testing.T) {
	w := newWorld(t, map[string]string{keys.To: target, keys.Status: "in-progress", keys.ChangeID: "9"})
	w.node.statuses = says(doing, done)
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "refreshes", 0, w.node.posts)
}

func TestACrashBetweenAnyTwoWritesLeadsToOneRefresh(t *testing.T) {
	for cut := range 8 { // four writes, before and after each
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			w := newWorld(t, requested())
			w.node.refreshes = []func() (string, error){func() (string, error) {
				w.runs(newVersion)
				return "1", nil
			}}
			w.node.statuses = says(doing, done)
			passed := 0
			w.crash = func() error {
				passed++
				if passed == cut+1 {
					return errCrash
				}
				return nil
			}
			w.settle(2 * time.Hour)
			same(t, "marks", finished, describe(w.machine().GetAnnotations()))
			same(t, "refreshes", 1, w.node.posts)
		})
	}
}

func TestAConflictWhileARefreshIsRecordedLosesNothing(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes = []func() (string, error){func() (string, error) {
		w.annotate(map[string]string{"somebody.else/key": "v"})
		return "1", nil
	}}
	w.node.statuses = says(done)
	w.settle(time.Hour)
	same(t, "marks", finished, describe(w.machine().GetAnnotations()))
	same(t, "refreshes", 1, w.node.posts)
}

func request() reconcile.Request { return reconcile.Request{NamespacedName: key} }

func (w *world) cluster(f func(c *unstructured.Unstructured)) {
	w.t.Helper()
	c := capi.Object(kinds.Cluster)
	k := key
	k.Name = "eu"
	if err := w.client.Get(w.t.Context(), k, c); err != nil {
		w.t.Fatal(err)
	}
	f(c)
	if err := w.client.Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) permit(until string) {
	w.cluster(func(c *unstructured.Unstructured) {
		c.SetAnnotations(map[string]string{protocol.StartBeforeKey: until})
	})
}
