// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/protocol"
)

func TestC099_AChangeThatSnapdDoesNotKnowIsDecidedByTheNodesVersion(t *testing.T) {
	ours := protocol.Attempt{Target: target, Count: 1, From: oldVersion, SentAt: start}.Format()
	for name, c := range map[string]struct {
		attempt, version string
		posts            int
	}{
		"(a) the node is at the target, the change is ours":          {attempt: ours, version: newVersion},
		"(a) the node is at the target, the change is of others":     {version: newVersion},
		"(b) the node is not at the target, the change is ours":      {attempt: ours, version: oldVersion, posts: 1},
		"(b) the node is not at the target, the change is another's": {version: oldVersion, posts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				keys.To: target, keys.Status: "in-progress", keys.ChangeID: "17", protocol.PlanKey: plan,
			})
			if c.attempt != "" {
				w.annotate(map[string]string{protocol.AttemptKey: c.attempt})
			}
			w.runs(c.version)
			w.node.refreshes = accepts("18")
			w.node.statuses = []func() (k8sd.Status, error){func() (k8sd.Status, error) {
				if w.node.posts == 0 {
					return unknown, nil
				}
				return done, nil
			}}
			w.settle(3 * time.Hour)
			same(t, "marks", finished, describe(w.machine().GetAnnotations()))
			same(t, "new refreshes", c.posts, w.node.posts)
		})
	}
}

func TestC100_HowAChangeEndsThatDoesNotEndWell(t *testing.T) {
	ends := func(status, text string) k8sd.Status {
		return k8sd.Status{Status: status, Completed: true, ErrorMessage: text}
	}
	for name, c := range map[string]struct {
		statuses []k8sd.Status
		why      string // empty: it ends well
	}{
		"Done":                            {[]k8sd.Status{done}, ""},
		"Error":                           {[]k8sd.Status{ends("Error", "hook failed")}, "hook failed"},
		"Error that says nothing":         {[]k8sd.Status{ends("Error", "")}, "the change failed, and snapd says nothing more"},
		"Undone":                          {[]k8sd.Status{ends("Undone", "")}, "invalid refresh status Undone"},
		"Undoing":                         {[]k8sd.Status{ends("Undoing", "")}, "invalid refresh status Undoing"},
		"Hold":                            {[]k8sd.Status{ends("Hold", "")}, "invalid refresh status Hold"},
		"Abort":                           {[]k8sd.Status{ends("Abort", "by hand")}, "invalid refresh status Abort: by hand"},
		"Wait":                            {[]k8sd.Status{ends("Wait", "")}, "invalid refresh status Wait"},
		"nothing":                         {[]k8sd.Status{ends("", "")}, "invalid refresh status "},
		"a word that nobody knows":        {[]k8sd.Status{ends("Fried", "")}, "invalid refresh status Fried"},
		"Done in small letters":           {[]k8sd.Status{ends("done", "")}, "invalid refresh status done"},
		"Error, not completed, then Done": {[]k8sd.Status{{Status: "Error"}, {Status: "Error"}, done}, ""},
		"Undo, not completed, then Error": {[]k8sd.Status{{Status: "Undo"}, ends("Error", "x")}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.node.refreshes, w.node.statuses = accepts("1"), says(c.statuses...)
			w.settle(30 * time.Second) // before the next attempt
			same(t, "refreshes", 1, w.node.posts)
			if c.why == "" {
				same(t, "marks", finished, describe(w.machine().GetAnnotations()))
				same(t, "events", []string{began, ended}, w.happened())
				return
			}
			same(t, "marks", "{to,status=failed,change-id=1,last-failed}", describe(w.machine().GetAnnotations()))
			same(t, "last error", c.why, w.attempt().LastError)
			same(t, "events", []string{began, failure + c.why}, w.happened())
		})
	}
}

func TestC101_ARefreshThatIsDoneAndLeavesTheVersionIsAFailureWithinTheDeadline(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses, w.node.becomes = accepts("1", "2", "3"), says(doing, done), ""
	w.settle(15 * time.Minute)
	same(t, "marks after 15m", "{to,status=in-progress,change-id=1}", describe(w.machine().GetAnnotations()))
	w.settle(16 * time.Minute)
	const why = `change "1" is done, and the node still runs v1.33.4 instead of v1.34 after 30m0s`
	same(t, "last error after 31m", why, w.attempt().LastError)
	w.settle(24 * time.Hour)
	same(t, "refreshes in a day", 3, w.node.posts)
	same(t, "marks after a day", "{to,status=failed,change-id=3,last-failed}", describe(w.machine().GetAnnotations()))
	same(t, "quarantined", true, w.attempt().Quarantined)
	same(t, "the first failure", failure+why, w.happened()[1])
}

func TestC101_ARefreshThatIsDoneIsBelievedAsSoonAsTheNodeShowsIt(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.statuses, w.node.becomes = accepts("1"), says(doing, done), ""
	w.settle(5 * time.Minute)
	same(t, "marks before", "{to,status=in-progress,change-id=1}", describe(w.machine().GetAnnotations()))
	shown := w.clock.Now()
	w.runs(newVersion)
	w.settle(0)
	same(t, "marks at once", finished, describe(w.machine().GetAnnotations()))
	same(t, "waited", time.Duration(0), w.clock.Now().Sub(shown))
	same(t, "events", []string{began, ended}, w.happened())
}

// A late end is no end while the node does not show it.
func TestC101_AChangeThatIsDoneAfterItsDeadlineIsNotTakenForSuccessWithoutTheVersion(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes, w.node.becomes = accepts("1", "2"), ""
	w.node.statuses = says(doing)
	w.settle(40 * time.Minute)
	same(t, "failed at the deadline", `change "1" is still Doing`, w.attempt().LastError)
	w.node.statuses = says(done)
	w.settle(time.Minute)
	same(t, "marks", "{to,status=in-progress,change-id=2,last-failed}", describe(w.machine().GetAnnotations()))
}

func TestC104_ARefreshToWhatIsInstalledAlready(t *testing.T) {
	const text = `HTTP request failed with status code: 400 (snap "k8s" has no updates available)`
	refused := []func() (string, error){refuses(k8sd.Rejected, text)}
	for name, c := range map[string]struct {
		refreshes []func() (string, error)
		version   string
		marks     string
		lastError string
		posts     int
		events    []string
	}{
		"C104: nothing to refresh, kubelet at the target": {
			refreshes: refused, version: newVersion, marks: finished, posts: 1, events: []string{ended},
		},
		"C104: nothing to refresh, kubelet below": {
			refreshes: refused, version: oldVersion, marks: "{to,status=failed,last-failed}", posts: 3, lastError: text,
			events: []string{failure + text, failure + text, failure + text},
		},
		"C104: an empty change id, kubelet at the target": {
			refreshes: accepts(""), version: newVersion, marks: finished, posts: 1, events: []string{began, ended},
		},
		"C104: an empty change id, kubelet below": {
			refreshes: accepts(""), version: oldVersion, marks: "{to,status=failed,change-id=,last-failed}", posts: 3,
			lastError: "k8sd started no change, and the node still runs v1.33.4 after 30m0s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.runs(c.version)
			w.node.refreshes = c.refreshes
			w.settle(24 * time.Hour)
			same(t, "marks", c.marks, describe(w.machine().GetAnnotations()))
			same(t, "refreshes", c.posts, w.node.posts)
			same(t, "last error", c.lastError, w.attempt().LastError)
			if c.events != nil {
				same(t, "events", c.events, w.happened())
			}
		})
	}
}

func TestC104_NothingToRefreshProvesNothingWhereNoVersionIsExpected(t *testing.T) {
	w := newWorld(t, map[string]string{keys.To: target})
	w.node.refreshes = []func() (string, error){refuses(k8sd.Rejected, "no updates available")}
	w.settle(24 * time.Hour)
	same(t, "marks", "{to,status=failed,last-failed}", describe(w.machine().GetAnnotations()))
	same(t, "quarantined", true, w.attempt().Quarantined)
}

func TestC105_AChangeThatFailsEachTimeIsRefreshedThreeTimesAndNoMore(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes = accepts("1", "2", "3", "4")
	var sent time.Time
	w.node.refreshes = []func() (string, error){func() (string, error) {
		sent = w.clock.Now()
		return "1", nil
	}}
	w.node.statuses = []func() (k8sd.Status, error){func() (k8sd.Status, error) {
		if w.clock.Now().Sub(sent) < 2*time.Second {
			return doing, nil
		}
		return failed, nil
	}}
	w.settle(time.Hour)
	same(t, "refreshes in an hour", 3, w.node.posts)
	same(t, "last error", "cannot download", w.attempt().LastError)
	polls, version := w.node.polls, w.machine().GetResourceVersion()
	w.settle(time.Hour)
	same(t, "refreshes in two hours", 3, w.node.posts)
	same(t, "questions in the second hour", 0, w.node.polls-polls)
	same(t, "resourceVersion", version, w.machine().GetResourceVersion())
}

func TestC106_AnOldFailureMarkIsHistory(t *testing.T) {
	for name, mark := range map[string]string{
		"an earlier time": "Mon, 14 Sep 2026 02:10:00 +0000",
		"no time":         "yesterday",
		"RFC 3339":        "2026-09-14T02:10:00Z",
		"another zone":    "Mon, 14 Sep 2026 07:40:00 +0530",
		"a future time":   "Mon, 14 Sep 2037 02:10:00 +0000",
		"empty":           "",
	} {
		t.Run(name, func(t *testing.T) {
			running := observed(func(o *machine.Observation) {
				inFlight("1")(o)
				o.Marks.LastFailed = mark
				o.Answer, o.NextPoll = &machine.Answer{Status: doing}, start.Add(time.Second)
			})
			step := machine.Next(running, start)
			same(t, "in progress", []any{machine.Wait, machine.Running}, []any{step.Action, step.Reason})

			asked := observed(func(o *machine.Observation) { o.Marks.LastFailed = mark })
			same(t, "asked", machine.Send, machine.Next(asked, start).Action)

			w := newWorld(t, requested())
			w.annotate(map[string]string{keys.LastFailed: mark})
			w.node.refreshes, w.node.statuses = accepts("1"), says(doing, done)
			w.settle(time.Hour)
			same(t, "marks at the end", finished, describe(w.machine().GetAnnotations()))
			same(t, "events", []string{began, ended}, w.happened())
		})
	}
}

func TestC109_TheWorkloadAPIOfASingleControlPlaneMayBeAwayWhileItIsRefreshed(t *testing.T) {
	away := &k8sd.Error{Class: k8sd.NotSent, Err: errors.New("dial tcp 192.0.2.1:6443: connect: connection refused")}
	w := newWorld(t, requested())
	w.node.refreshes = accepts("1")
	w.node.statuses = []func() (k8sd.Status, error){func() (k8sd.Status, error) {
		switch since := w.clock.Now().Sub(start); {
		case since < 10*time.Second:
			return doing, nil
		case since < 250*time.Second:
			return k8sd.Status{}, away
		}
		return done, nil
	}}
	w.settle(4 * time.Minute)
	same(t, "marks while it is away", "{to,status=in-progress,change-id=1}", describe(w.machine().GetAnnotations()))
	same(t, "events while it is away", []string{began}, w.happened())
	w.settle(time.Minute)
	same(t, "marks on its return", finished, describe(w.machine().GetAnnotations()))
	same(t, "events on its return", []string{ended}, w.happened())
	same(t, "refreshes", 1, w.node.posts)
}

func TestC109_AWorkloadAPIThatStaysAwayIsAFailureAtTheDeadline(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes = accepts("1")
	w.node.statuses = []func() (k8sd.Status, error){func() (k8sd.Status, error) {
		return k8sd.Status{}, errors.New("connection refused")
	}}
	w.settle(29 * time.Minute)
	same(t, "marks before", "{to,status=in-progress,change-id=1}", describe(w.machine().GetAnnotations()))
	w.settle(2 * time.Minute)
	same(t, "marks after", "{to,status=failed,change-id=1,last-failed}", describe(w.machine().GetAnnotations()))
	if why := w.attempt().LastError; !strings.HasPrefix(why, "connection refused, and the node still runs v1.33.4") {
		t.Errorf("last error: %s", why)
	}
}

func TestC142_ATenMinuteRefreshCostsFewQuestionsHoweverK8sdAnswers(t *testing.T) {
	for name, answer := range map[string]func(w *world) (k8sd.Status, error){
		"k8sd answers": func(*world) (k8sd.Status, error) { return doing, nil },
		"k8sd answers 500 to each": func(*world) (k8sd.Status, error) {
			return k8sd.Status{}, &k8sd.Error{Class: k8sd.Rejected, Code: 500, Err: errors.New("HTTP request failed with status code: 500")}
		},
		"the node refuses the connection": func(*world) (k8sd.Status, error) {
			return k8sd.Status{}, &k8sd.Error{Class: k8sd.NotSent, Err: errors.New("connection refused")}
		},
		"each question takes its whole time": func(w *world) (k8sd.Status, error) {
			w.clock.Step(k8sd.DefaultStatusTimeout)
			return k8sd.Status{}, &k8sd.Error{Class: k8sd.Unknown, Err: errors.New("context deadline exceeded")}
		},
	} {
		for _, jitter := range []float64{0, 0.999} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, requested())
				w.upgrader.Pace.Jitter = func() float64 { return jitter }
				w.node.refreshes = accepts("1")
				w.node.statuses = []func() (k8sd.Status, error){func() (k8sd.Status, error) { return answer(w) }}
				w.settle(10 * time.Minute)
				if w.node.polls < 20 || w.node.polls > 120 {
					t.Errorf("%d questions in 10 minutes", w.node.polls)
				}
				same(t, "refreshes", 1, w.node.posts)
			})
		}
	}
}
