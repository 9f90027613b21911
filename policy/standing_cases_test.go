// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

func TestC044_ABlipIsNoFailureAndTheNextWindowTriesAgain(t *testing.T) {
	s := onShift(t, build(fleet(1, 1), catchUp, nights(t, 4), succeeds(0, 0)))
	s.at(10 * time.Hour).writes("c1=Run")
	// The API server answers 503 in the first window: the controller of the cluster reports it and the attempt counts,
	// but the cluster has attempts left.
	s.at(11*time.Hour, is(1, "Run Progressing EngineError"), func(f *policy.Fleet) { f.Clusters[1].LastError = "503" })
	s.at(14 * time.Hour).writes("c1=Hold")
	if got := s.last.Waves[1]; got.Failed != 0 || got.Active != 1 {
		t.Errorf("C044: a blip counts as a failure: %+v", got)
	}
	s.at(20*time.Hour, is(1, "Hold Holding OnHold")).wants("Progressing", "Progressing", "WindowClosed")
	s.at(34 * time.Hour).writes("c1=Run")
	s.at(35*time.Hour, is(1, "Run Failed MachineQuarantined")).wants("Halted", "FailureBudgetExceeded", "FailureBudgetExceeded")
}

func TestC053_TheNextWaveNeedsNoEvent(t *testing.T) {
	through := func() policy.Fleet {
		return build(fleet(1, 2, 2), catchUp, succeeds(0, 0), succeeds(1, 0), succeeds(2, 0))
	}
	t.Run("C053: a hub that was away finds the wave finished and begins the next at once", func(t *testing.T) {
		onShift(t, through()).writes("c3=Run")
	})
	t.Run("C053: it begins at the instant that the decision named, though nothing is reported", func(t *testing.T) {
		f := build(through(), inWave(1, func(w *policy.Wave) { w.Soak = time.Hour }))
		d := policy.Decide(f, noon)
		if len(d.Intents) > 0 || !d.Recheck.Equal(noon.Add(time.Hour)) {
			t.Fatalf("recheck %s: %s", d.Recheck, d)
		}
		if got := digest(policy.Decide(f, d.Recheck)).Intents; got != "c3=Run" {
			t.Errorf("writes %q", got)
		}
	})
}

func TestC058_MoreFailuresThanTheBudgetStopTheRollout(t *testing.T) {
	f := build(fleet(0, 10), catchUp, concurrency(2), failures(1), func(f *policy.Fleet) {
		f.Clusters = slices.Insert(f.Clusters, 0, policy.Cluster{ID: "c", Path: "a/ns/c", Member: "a", Wave: 1})
		f.Clusters = f.Clusters[:10]
		for i := range f.Clusters {
			f.Clusters[i].ID = "c" + string(rune('1'+i))
			f.Clusters[i].Path = "a/ns/" + f.Clusters[i].ID
		}
		f.HasCanaries = false
	}, succeeds(0, 0), is(1, "Withdraw Failed settled"), succeeds(2, 0), succeeds(3, 0), is(4, "Run Progressing"),
		is(5, "Run Progressing"))
	s := onShift(t, f)
	s.wants("Progressing", "Progressing", "MaxConcurrency")
	s.at(time.Minute, is(4, "Run Failed")).wants("Halted", "FailureBudgetExceeded", "FailureBudgetExceeded")
	s.writes("c5=Withdraw c6=Hold")
	if want := "wave w1: 2 failed, 1 may: a/ns/c2, a/ns/c5"; !strings.HasPrefix(s.last.Message, want) {
		t.Errorf("C058: says %q, want %q", s.last.Message, want)
	}
	if !strings.Contains(s.last.Message, "4 other clusters were not touched") {
		t.Errorf("C058: %q", s.last.Message)
	}
	s.at(2*time.Minute, is(5, "Hold Succeeded settled v1.33.9"), failures(9)).wants("Halted", "FailureBudgetExceeded",
		"FailureBudgetExceeded")
	s.writes("")
}

func TestC061_AClusterThatIsOutOfSightForAMomentChangesNothing(t *testing.T) {
	s := onShift(t, build(fleet(1, 3), catchUp, succeeds(0, 0), is(1, "Run Progressing")))
	before := policy.Decide(s.fleet, s.now)
	seen := slices.Clone(s.fleet.Clusters)
	s.at(time.Second, func(f *policy.Fleet) { f.Clusters = slices.Delete(slices.Clone(f.Clusters), 1, 2) })
	s.wants("Progressing", "Progressing", "PlanIncomplete")
	s.writes("")
	s.at(4*time.Second, func(f *policy.Fleet) { f.Clusters = seen })
	if diff := cmp.Diff(before, s.last); diff != "" {
		t.Errorf("C061: (-before +after):\n%s", diff)
	}
}

func TestC065_ASlotFollowsWhatIsReportedNotWhatWasOnceWritten(t *testing.T) {
	for name, tc := range map[string]struct{ found, writes string }{
		"C065: nothing is on its machines":          {"Wait Pending", "c1=Run"},
		"C065: nothing is, and it cannot begin":     {"Run Pending MemberUnreachable", "c1=Wait"},
		"C065: it is at the target":                 {done, "c2=Run"},
		"C065: it is at work":                       {"Run Progressing", ""},
		"C065: it was put off":                      {"Run Deferred ClusterPaused", "c1=Wait"},
		"C065: what was put off is confirmed":       {"Wait Deferred ClusterPaused", "c2=Run"},
		"C065: it failed and is not cleaned up":     {"Withdraw Failed", ""},
		"C065: it failed and nothing of it is left": {"Withdraw Failed settled", "c2=Run"},
	} {
		t.Run(name, func(t *testing.T) {
			onShift(t, build(fleet(1, 3), catchUp, failures(1), succeeds(0, 0), is(1, tc.found))).writes(tc.writes)
		})
	}
}

func TestC067_CanariesAreNeverPassedOverSilently(t *testing.T) {
	t.Run("C067: one is removed at work", func(t *testing.T) {
		s := onShift(t, build(fleet(1, 2), catchUp))
		s.at(0, is(0, "Run Progressing"))
		s.at(time.Minute, is(0, "Run Removed")).wants("Halted", "CanaryRemoved", "CanaryRemoved")
		if len(s.began) != 1 || !strings.Contains(s.last.Message, "canary a/ns/c0 is gone") {
			t.Errorf("%v began: %s", s.began, s.last.Message)
		}
	})
	t.Run("C067: one is absent from the list", func(t *testing.T) {
		f := build(fleet(1, 2), catchUp, func(f *policy.Fleet) { f.Clusters = f.Clusters[1:] })
		s := onShift(t, f)
		s.wants("Progressing", "Progressing", "PlanIncomplete")
		s.writes("")
	})
	t.Run("C067: the plan names one that does not exist", func(t *testing.T) {
		f := build(fleet(1, 2), func(f *policy.Fleet) {
			f.Committed, f.PlanReason, f.PlanMessage = false, policy.ReasonCanaryNotFound, "can-typo"
		})
		s := onShift(t, f)
		s.wants("Planning", "CanaryNotFound", "CanaryNotFound")
		s.writes("")
	})
	t.Run("C067: all were at the target, as was proven when it was planned", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 2), catchUp, func(f *policy.Fleet) { f.Proven = map[string]string{"amd64": "v1.33.9"} }))
		s.writes("c0=Run")
		if s.last.Waves[0].Phase != policy.WaveEmpty {
			t.Errorf("canaries are %s", s.last.Waves[0].Phase)
		}
	})
}

func TestC072_WhatWaitsCanBeEnded(t *testing.T) {
	for name, edit := range map[string]func(*policy.Fleet){
		"C072: for an approval":      inWave(1, func(w *policy.Wave) { w.Approvals = 1 }),
		"C072: for a silent member":  with(is(1, "Run Holding MemberUnreachable"), answers(false)),
		"C072: for a soak":           inWave(0, func(w *policy.Wave) { w.Soak = time.Hour }),
		"C072: for a canary put off": is(0, "Wait Deferred DeferredByOwner"),
		"C072: while it is halted":   func(f *policy.Fleet) { f.Sticky, f.StickyReason = "Halted", "CanaryFailed" },
	} {
		t.Run(name, func(t *testing.T) {
			s := onShift(t, build(fleet(1, 2), catchUp, succeeds(0, 0), edit))
			s.at(time.Second, func(f *policy.Fleet) { f.Cancelled = true }).wants("Cancelled", "Cancelled", "")
			for _, c := range s.fleet.Clusters {
				if c.Intent != policy.Wait && c.Intent != policy.Withdraw && !c.Phase.Ended() {
					t.Errorf("%s is still to %s", c.ID, c.Intent)
				}
			}
		})
	}
}

func TestC078_WhatIsNotKnownIsNoSuccess(t *testing.T) {
	for name, edit := range map[string]func(*policy.Fleet){
		"C078: nothing was ever reported": func(f *policy.Fleet) { f.Clusters[2].Phase = "" },
		"C078: it is not seen at all":     func(f *policy.Fleet) { f.Clusters = f.Clusters[:2] },
		"C078: its controller has a phase that is not known": func(f *policy.Fleet) {
			f.Clusters[2].Phase, f.Clusters[2].Intent = "odd", policy.Run
		},
		"C078: it is removed":        is(2, "Run Removed"),
		"C078: it turned ineligible": is(2, "Wait Ineligible"),
	} {
		t.Run(name, func(t *testing.T) {
			s := onShift(t, build(fleet(1, 2, 1), catchUp, succeeds(0, 0), succeeds(1, 0), edit))
			if s.last.Waves[1].Succeeded != 1 || s.last.Phase == policy.PhaseSucceeded {
				t.Errorf("%s: %+v", s.last, s.last.Waves[1])
			}
			ended := name == "C078: it is removed" || name == "C078: it turned ineligible"
			if s.last.Waves[1].Closed != ended {
				t.Errorf("closed: %v", s.last.Waves[1].Closed)
			}
		})
	}
}

func TestC089_ALabelThatChangesMovesNobody(t *testing.T) {
	t.Run("C089: c1 at work stays in the wave that was written down", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 2, 2), catchUp, is(0, "Run Progressing"), func(f *policy.Fleet) { f.HasCanaries = false }))
		s.at(time.Minute, succeeds(0, 1)).writes("c1=Run")
		s.at(2*time.Minute, succeeds(1, 2)).writes("c2=Run")
		for i, w := range s.last.Waves {
			if w.Planned != w.Succeeded+w.Active+w.Pending+w.Failed+w.Skipped+w.Deferred {
				t.Errorf("wave %d: %+v", i, w)
			}
		}
	})
	for _, index := range []int{-1, 3, 99} {
		t.Run("C089: a wave that does not exist is neither a panic nor a start", func(t *testing.T) {
			s := onShift(t, build(fleet(1, 2), catchUp, succeeds(0, 0), func(f *policy.Fleet) { f.Clusters[1].Wave = index }))
			s.wants("Progressing", "Progressing", "PlanIncomplete")
			s.writes("")
		})
	}
}
