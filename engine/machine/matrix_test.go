// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/protocol"
)

const elsewhere = "channel=1.33-classic/stable"

// everyMark is each combination of presence of the five marks, with each value of status.
func everyMark() []map[string]string {
	var all []map[string]string
	for bits := range 1 << 4 {
		for _, status := range []string{"absent", "in-progress", "done", "failed", "", "DONE"} {
			for _, release := range []string{target, elsewhere} {
				marks := map[string]string{}
				if bits&1 != 0 {
					marks[keys.To] = target
				}
				if bits&2 != 0 {
					marks[keys.ChangeID] = "1"
				}
				if bits&4 != 0 {
					marks[keys.LastFailed] = "Sat, 19 Oct 2024 20:30:00 +0400"
				}
				switch {
				case bits&8 != 0:
					marks[keys.Release] = release
				case release != target:
					continue // absent either way
				}
				if status != "absent" {
					marks[keys.Status] = status
				}
				all = append(all, marks)
			}
		}
	}
	return all
}

func TestC117_EveryCombinationOfMarksSettles(t *testing.T) {
	for _, marks := range everyMark() {
		_, asked := marks[keys.To]
		_, change := marks[keys.ChangeID]
		for name, c := range map[string]struct { // other answers: below, without an API server
			statuses []func() (k8sd.Status, error)
			becomes  string
		}{
			"and k8sd says done":  {says(doing, done), newVersion},
			"and k8sd says error": {says(doing, failed), ""},
		} {
			t.Run(describe(marks)+fmt.Sprintf("status=%q ", marks[keys.Status])+name, func(t *testing.T) {
				w := newWorld(t, marks)
				w.annotate(map[string]string{protocol.PlanKey: plan})
				w.node.refreshes, w.node.statuses, w.node.becomes = accepts("2"), c.statuses, c.becomes
				before := describe(w.machine().GetAnnotations())
				w.settle(100 * time.Hour)
				version := w.machine().GetResourceVersion()
				w.settle(100 * time.Hour)
				same(t, "writes when settled", version, w.machine().GetResourceVersion())
				after := keys.Read(w.machine().GetAnnotations())
				switch {
				case !asked: // not asked for, and nothing of it ours
					same(t, "marks", before, describe(w.machine().GetAnnotations()))
					same(t, "refreshes", 0, w.node.posts)
				case change && marks[keys.Status] == protocol.StatusDone:
					same(t, "marks", finished, describe(w.machine().GetAnnotations()))
					same(t, "refreshes", 0, w.node.posts)
				case c.becomes == newVersion:
					same(t, "marks", finished, describe(w.machine().GetAnnotations()))
					same(t, "one refresh at most", true, w.node.posts <= 1)
				default:
					same(t, "status", "failed", after.Status)
					same(t, "quarantined", true, w.attempt().Quarantined)
					same(t, "attempts", 3, w.attempt().Count)
				}
			})
		}
	}
}

// A machine is driven through steps alone: what is written is what is seen next.
func TestC117_NextReachesAFixedPointFromAnyMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		annotations := rapid.SampledFrom(everyMark()).Draw(t, "marks")
		copied := map[string]string{protocol.PlanKey: plan}
		maps.Copy(copied, annotations)
		answers := rapid.SliceOfN(rapid.SampledFrom([]k8sd.Status{doing, done, failed, undone, unknown, {Status: "Error"}}), 1, 6).
			Draw(t, "answers")
		ids := rapid.SampledFrom([]string{"", "2"}).Draw(t, "change id")
		now, sends, asks := start, 0, 0
		for range 500 {
			o := read(copied)
			step := machine.Next(o, now)
			if step.Action == machine.Poll {
				answer := machine.Answer{Status: answers[min(asks, len(answers)-1)]}
				asks++
				o.Answer, o.NextPoll = &answer, now.Add(time.Minute)
				step = machine.Next(o, now)
			}
			if step.Action == machine.Send {
				sends++
				apply(copied, step)
				o = read(copied)
				o.Attempt = step.Attempt
				step = machine.Sent(o, ids, nil, now)
			}
			switch {
			case step.Action == machine.Wait && step.Recheck.IsZero():
				if sends > 3 {
					t.Fatalf("%d refreshes", sends)
				}
				return
			case step.Action == machine.Wait && !step.Recheck.After(now):
				t.Fatalf("looks again at once: %+v", step)
			case step.Action == machine.Wait:
				now = step.Recheck
			default:
				apply(copied, step)
			}
			if asks > 400 && answers[len(answers)-1].Completed {
				t.Fatalf("asks %d times about what has ended", asks)
			}
			if !answers[len(answers)-1].Completed && answers[len(answers)-1].Status != "" && asks > 100 {
				return // a change that never ends is never joined by another
			}
		}
		t.Fatalf("never settles: %v", copied)
	})
}

func read(annotations map[string]string) machine.Observation {
	o := observed(func(o *machine.Observation) { o.Marks = keys.Read(annotations) })
	o.Attempt, o.AttemptErr = protocol.ParseAttempt(annotations[protocol.AttemptKey])
	o.Plan, o.PlanErr = protocol.ParsePlan(annotations[protocol.PlanKey])
	return o
}

func apply(annotations map[string]string, s machine.Step) {
	for key, value := range s.Patch {
		if value == nil {
			delete(annotations, key)
		} else {
			annotations[key] = value.(string)
		}
	}
}

// At most maxAttempts refreshes and two events for each of them, however fast a node fails, and however.
func TestFault01_ANodeThatAlwaysFailsAtOnceCostsABoundedNumberOfRefreshesInAnHour(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		attempts := rapid.IntRange(1, 6).Draw(rt, "maxAttempts")
		backoff := rapid.SampledFrom([]string{"1s", "10s", "1m", "20m"}).Draw(rt, "backoff")
		how := rapid.SampledFrom([]string{"rejected", "not sent", "error", "undone", "done, not shown"}).Draw(rt, "how")
		w := newWorld(t, map[string]string{
			keys.To: target, protocol.PlanKey: fmt.Sprintf(
				`{"expectedVersion":"v1.34","timeout":"1m","maxAttempts":%d,"backoff":%q}`, attempts, backoff),
		})
		w.node.becomes = ""
		w.node.refreshes = accepts("1")
		switch how {
		case "rejected":
			w.node.refreshes = []func() (string, error){refuses(k8sd.Rejected, "no")}
		case "not sent":
			w.node.refreshes = []func() (string, error){refuses(k8sd.NotSent, "no way")}
		case "error":
			w.node.statuses = says(failed)
		case "undone":
			w.node.statuses = says(undone)
		default:
			w.node.statuses = says(done)
		}
		w.settle(time.Hour)
		if w.node.posts > attempts {
			rt.Fatalf("%d refreshes where %d attempts are allowed", w.node.posts, attempts)
		}
		if events := len(w.happened()); events > 2*w.node.posts {
			rt.Fatalf("%d events of %d attempts", events, w.node.posts)
		}
		if w.attempt().LastError == "" {
			rt.Fatal("the reason is lost")
		}
	})
}
