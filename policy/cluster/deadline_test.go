// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// worked gives the cluster a progressDeadline of four hours, of which some has passed and goes on since an instant.
func worked(elapsed time.Duration, since time.Time) edit {
	return func(o *cluster.Observation) {
		o.ProgressDeadline, o.Worked = 4*time.Hour, policy.Clock{Elapsed: elapsed, Since: since}
	}
}

func TestLaw13TheProgressDeadline(t *testing.T) {
	atWork := []edit{claimed, granted("cp"), machine("cp", 0, busy)}
	with := func(edits []edit, more ...edit) []edit { return append(append([]edit{}, edits...), more...) }
	late := with(atWork, worked(3*time.Hour, noon.Add(-time.Hour)))
	for name, r := range map[string]row{
		"fails the cluster and takes back what was granted": {
			late, "Failed ProgressDeadlineExceeded WithdrawOwner CK8sControlPlane/cp",
		},
		"not a moment before": {with(atWork, worked(3*time.Hour, noon.Add(time.Second-time.Hour))), "Progressing Upgrading"},
		"the machine at work finishes": {
			with(late, change("cp", func(o *cluster.Owner) { o.HasTo, o.Ours, o.To = false, false, "" })),
			"Failed ProgressDeadlineExceeded",
		},
		"whatever the cluster waits for, when it might work": {
			[]edit{claimed, health(cluster.False), worked(4*time.Hour, noon)}, "Failed ProgressDeadlineExceeded Settle",
		},
		"without one there is none": {
			with(late, func(o *cluster.Observation) { o.ProgressDeadline = 0 }), "Progressing Upgrading",
		},
		"not while it is held": {
			with(late, intent(policy.Hold), permitted(noon)), "Holding OnHold",
		},
		"not past the end of the intent": {with(late, notAfter(noon), permitted(noon)), "Holding IntentEnded"},
		"not while it is paused":         {with(late, paused), "Holding ClusterPaused"},
		"not while its member is silent": {with(late, unreachable), "Holding MemberUnreachable"},
		"not while its owner puts it off": {
			with(late, permitted(noon), wish(cluster.Wish{Held: true})), "Holding DeferredByOwner",
		},
		"not one that waits for its turn": {[]edit{intent(policy.Wait), worked(5*time.Hour, noon)}, "Pending Waiting"},
		"not one that has not begun":      {[]edit{worked(5*time.Hour, noon)}, "Progressing Starting TakeClaim"},
		"not one that is being verified": {
			[]edit{claimed, finished("cp", "pool-a", "pool-b"), worked(5*time.Hour, noon)}, "Verifying SecondRead",
		},
		"a failure of a machine is said instead": {
			with(late, machine("cp", 0, lost)), "Failed MachineQuarantined WithdrawOwner CK8sControlPlane/cp",
		},
	} {
		t.Run(name, r.check)
	}
}

// TestC133AClockThatStepsBackNeitherHastensNorUndoesADeadline.
func TestC133AClockThatStepsBackNeitherHastensNorUndoesADeadline(t *testing.T) {
	o := idle()
	for _, edit := range []edit{claimed, granted("cp"), worked(time.Hour, noon)} {
		edit(&o)
	}
	for back, want := range map[time.Duration]policy.ClusterPhase{
		-5 * time.Minute: policy.Progressing, 0: policy.Progressing, 3*time.Hour - 1: policy.Progressing, 3 * time.Hour: policy.Failed,
	} {
		step := cluster.Next(o, noon.Add(back))
		if step.Phase != want {
			t.Errorf("%s after the time began to count: %v", back, step)
		}
		if counted := o.Worked.Run(false, noon.Add(back)); counted.Elapsed < time.Hour {
			t.Errorf("%s after the time began to count, %s have counted", back, counted.Elapsed)
		}
	}
}

// TestLaw13OnlyAllowedTimeCounts adds up, minute by minute and apart from the code, how long work was allowed since a machine
// ended, in random worlds whose engine does nothing: the cluster fails when that is the deadline, and only then.
func TestLaw13OnlyAllowedTimeCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{o: idle(), now: noon}
		w.o.ProgressDeadline = 30 * time.Minute
		w.settle(t)
		allowed := time.Duration(0)
		for range 200 {
			w.o.Intent = rapid.SampledFrom([]policy.Intent{policy.Run, policy.Run, policy.Hold}).Draw(t, "intent")
			w.o.Reachable = rapid.IntRange(0, 4).Draw(t, "silent") > 0
			w.o.Paused = rapid.IntRange(0, 4).Draw(t, "paused") == 0
			w.o.NotAfter = w.now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "notAfter")) * time.Minute)
			step := w.settle(t)
			works := w.o.Intent == policy.Run && w.o.Reachable && !w.o.Paused && w.now.Before(w.o.NotAfter)
			if failed := step.Phase == policy.Failed; failed != (works && allowed >= 30*time.Minute) {
				t.Fatalf("after %s of allowed work: %v", allowed, step)
			} else if failed {
				return
			}
			w.now = w.now.Add(time.Minute)
			if works {
				allowed += time.Minute
			}
		}
	})
}
