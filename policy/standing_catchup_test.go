// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// started are two waves of two after a canary that has succeeded, nothing yet begun in them.
func started(edits ...func(*policy.Fleet)) policy.Fleet {
	return build(build(fleet(1, 2, 1), catchUp, succeeds(0, 0)), edits...)
}

// until bounds catch-up.
func until(d time.Duration) func(*policy.Fleet) { return func(f *policy.Fleet) { f.CatchUpFor = d } }

// counts of a wave, as people read them.
func counts(w policy.WaveState) [4]int { return [4]int{w.Planned, w.Succeeded, w.Deferred, w.Pending} }

func TestC155_AClusterThatItsOwnerPutOffIsNotWaitedForAndNotForgotten(t *testing.T) {
	s := onShift(t, started(is(1, "Wait Deferred DeferredByOwner")))
	s.writes("c2=Run")
	s.at(time.Minute, succeeds(2, 1)).writes("c3=Run")
	if diff := cmp.Diff([4]int{2, 1, 1, 0}, counts(s.last.Waves[1])); diff != "" || !s.last.Waves[1].Closed {
		t.Errorf("C155: the wave is complete without it: planned, succeeded, deferred, pending (-want +got):\n%s", diff)
	}
	s.at(2*time.Minute, is(1, "Wait Pending"), func(f *policy.Fleet) { f.Clusters[1].Reason = "" }).writes("")
	if diff := cmp.Diff([4]int{1, 0, 0, 1}, counts(s.last.Waves[3])); diff != "" {
		t.Errorf("C155: it belongs to catch-up (-want +got):\n%s", diff)
	}
	s.at(3*time.Minute, succeeds(3, 3))
	s.wants("CatchingUp", "CatchingUp", "")
	s.writes("c1=Run")
	s.at(4*time.Minute, succeeds(1, 4)).wants("Succeeded", "Succeeded", "")
	if diff := cmp.Diff([4]int{2, 1, 1, 0}, counts(s.last.Waves[1])); diff != "" {
		t.Errorf("C155: what the wave was stays true (-want +got):\n%s", diff)
	}
	if s.last.Message != "4 of 4 clusters succeeded" {
		t.Errorf("C155: %q", s.last.Message)
	}
}

func TestLaw15WhatComesBackBeforeItsWaveClosesIsStartedThere(t *testing.T) {
	s := onShift(t, started(is(1, "Wait Deferred DeferredByOwner")))
	s.at(time.Minute, is(2, "Run Progressing"), is(1, "Wait Pending")).wants("Progressing", "Progressing", "MaxConcurrency")
	s.at(2*time.Minute, succeeds(2, 2), func(f *policy.Fleet) { f.Clusters[1].Reason = "" }).writes("c1=Run")
	if s.last.Current != "w1" {
		t.Errorf("in %s", s.last.Current)
	}
}

func TestLaw15AWaveThatIsClosedStaysSo(t *testing.T) {
	s := onShift(t, started(succeeds(1, 0), succeeds(2, 0)))
	s.writes("c3=Run")
	s.at(time.Minute, func(f *policy.Fleet) { f.Clusters = append(f.Clusters[:1:1], f.Clusters[2:]...) })
	if s.last.Current != "w2" || !s.last.Waves[1].Closed {
		t.Errorf("back in %s: %+v", s.last.Current, s.last.Waves[1])
	}
	s.wants("Progressing", "Progressing", "PlanIncomplete")
}

func TestLaw15ADeferredClusterIsNoSuccess(t *testing.T) {
	t.Run("a wave of which all are put off is waited for", func(t *testing.T) {
		s := onShift(t, started(is(1, "Wait Deferred DeferredByOwner"), is(2, "Wait Deferred Unreachable")))
		s.wants("Progressing", "Progressing", "NothingProven")
		s.at(time.Minute, is(2, "Wait Pending"), func(f *policy.Fleet) { f.Clusters[2].Reason = "" }).writes("c2=Run")
	})
	t.Run("nor is what is left when catch-up ends", func(t *testing.T) {
		s := onShift(t, started(succeeds(2, 1), succeeds(3, 1), is(1, "Wait Deferred Unreachable"), until(time.Hour)))
		s.at(time.Minute).wants("CatchingUp", "CatchingUp", "Unreachable")
		if !s.last.Recheck.Equal(noon.Add(time.Hour)) {
			t.Errorf("looks again at %s", s.last.Recheck)
		}
		s.at(time.Hour-1).wants("CatchingUp", "CatchingUp", "Unreachable")
		s.at(time.Hour).wants("CompletedWithFailures", "NotCaughtUp", "")
		if want := "3 of 4 clusters succeeded, 0 failed, 1 were put off and never upgraded"; s.last.Message != want {
			t.Errorf("says %q, want %q", s.last.Message, want)
		}
		s.at(2*time.Hour, is(1, "Wait Pending")).wants("CompletedWithFailures", "NotCaughtUp", "")
	})
}

func TestLaw7ADeferredCanaryIsWaitedFor(t *testing.T) {
	s := onShift(t, build(fleet(2, 1), catchUp, is(0, "Wait Deferred DeferredByOwner"), func(f *policy.Fleet) {
		f.Clusters[0].Message = "hold: month's end"
	}))
	s.wants("Progressing", "Progressing", "CanaryDeferred")
	s.writes("")
	if w := s.last.Waiting; !w.Act || !strings.Contains(w.Message, "a/ns/c0") || !strings.Contains(w.Message, "month's end") {
		t.Errorf("waiting is %+v", w)
	}
	s.at(time.Minute, is(0, "Wait Deferred Unreachable"))
	if s.last.Waiting.Act {
		t.Error("what is silent comes back without an act")
	}
	s.at(time.Hour, is(0, "Wait Pending"), func(f *policy.Fleet) { f.Clusters[0].Reason = "" }).writes("c0=Run")
}

func TestC062_WhoJoinsOrLeavesDuringTheRunDoesNotAbortIt(t *testing.T) {
	s := onShift(t, build(fleet(0, 3), catchUp, func(f *policy.Fleet) { f.HasCanaries = false }, is(0, done)))
	s.at(0, is(1, "Run Progressing"))
	s.at(time.Minute, is(2, "Wait Removed"), func(f *policy.Fleet) {
		f.Clusters = append(f.Clusters, policy.Cluster{ID: "d", Path: "a/ns/d", Member: "a", Wave: 2})
	}).wants("Progressing", "Progressing", "")
	if got := s.last.Waves[1]; got.Planned != 3 || got.Succeeded != 1 || got.Skipped != 1 || got.Active != 1 {
		t.Errorf("C062: %+v", got)
	}
	s.at(2*time.Minute, succeeds(1, 2)).wants("CatchingUp", "CatchingUp", "")
	s.writes("d=Run")
	if !s.last.Waves[1].Closed {
		t.Error("C062: the wave is not complete with a and b")
	}
}

func TestC158_CompletionLooksAtEveryWaveAndTheHistoryStaysTrue(t *testing.T) {
	timedOut := func() policy.Fleet {
		return build(fleet(0, 2, 1), catchUp, due(1, time.Hour), goesOn(1), succeeds(0, 0), is(1, "Run Progressing"),
			until(24*time.Hour), concurrency(2), func(f *policy.Fleet) { f.HasCanaries = false })
	}
	s := onShift(t, timedOut())
	s.at(time.Hour).writes("c2=Run")
	s.at(2*time.Hour, succeeds(2, 120)).wants("CatchingUp", "CatchingUp", "")
	if got := s.last.Waves[3]; got.Active != 1 || got.Planned != 1 {
		t.Errorf("C158: what timed out is in flight still: %+v", got)
	}
	s.at(3*time.Hour, is(1, "Run Failed"), func(f *policy.Fleet) { f.Clusters[1].EndedAt = noon.Add(3 * time.Hour) })
	s.wants("Halted", "FailureBudgetExceeded", "FailureBudgetExceeded")
	if want := "wave catch-up: 1 failed, 0 may: a/ns/c1"; !strings.HasPrefix(s.last.Message, want) {
		t.Errorf("C158: says %q, want %q", s.last.Message, want)
	}

	for name, tc := range map[string]struct {
		ends   func(*policy.Fleet)
		phase  policy.Phase
		reason string
	}{
		"C158: it recovers": {succeeds(1, 180), "Succeeded", "Succeeded"},
		"C158: it fails within the budget of the last wave": {
			with(is(1, "Withdraw Failed settled"), func(f *policy.Fleet) { f.Clusters[1].EndedAt = noon.Add(3 * time.Hour) }),
			"CompletedWithFailures", "FailuresWithinBudget",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := onShift(t, build(timedOut(), inWave(3, func(w *policy.Wave) { w.MaxFailures = 1 })))
			s.at(time.Hour)
			s.at(2*time.Hour, succeeds(2, 120))
			s.at(3*time.Hour, tc.ends).wants(tc.phase, tc.reason, "")
			if got := s.last.Waves[1]; got.Deferred != 1 || got.Succeeded != 1 || got.Failed != 0 {
				t.Errorf("that it timed out is not to be seen: %+v", got)
			}
		})
	}
	t.Run("C158: the last wave is done, an earlier one is not: not complete", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 2, 1), catchUp, succeeds(0, 0), is(1, "Run Progressing"), succeeds(2, 0),
			func(f *policy.Fleet) { f.HasCanaries = false }))
		s.wants("Progressing", "Progressing", "")
	})
}

func TestCatchUpEndsAndTakesNothingAwayFromWhatHasBegun(t *testing.T) {
	s := onShift(t, started(succeeds(2, 0), succeeds(3, 0), is(1, "Wait Deferred Unreachable"), until(time.Hour), func(f *policy.Fleet) {
		f.Clusters = append(f.Clusters, policy.Cluster{ID: "d", Path: "a/ns/d", Member: "a", Wave: 3})
	}))
	s.writes("d=Run")
	s.at(time.Minute, is(4, "Run Progressing"))
	s.at(time.Hour, is(1, "Wait Pending"), func(f *policy.Fleet) { f.Clusters[1].Reason = "" })
	s.wants("CatchingUp", "CatchingUp", "CatchingUp")
	s.writes("")
	s.at(2*time.Hour, succeeds(4, 120)).wants("CompletedWithFailures", "NotCaughtUp", "")
}

func TestAFrozenClusterIsLeftToCatchUp(t *testing.T) {
	frozen := func(f *policy.Fleet) {
		f.Freezes = []policy.Freeze{{Name: "c1", Clusters: map[string]bool{"c1": true}, Until: noon.Add(time.Hour)}}
	}
	s := onShift(t, started(frozen))
	s.writes("c2=Run")
	s.at(time.Minute, succeeds(2, 1)).writes("c3=Run")
	if !s.last.Recheck.Equal(noon.Add(time.Hour)) {
		t.Errorf("looks again at %s", s.last.Recheck)
	}
	if diff := cmp.Diff([4]int{2, 1, 1, 0}, counts(s.last.Waves[1])); diff != "" {
		t.Errorf("planned, succeeded, deferred, pending (-want +got):\n%s", diff)
	}
	s.at(2*time.Minute, succeeds(3, 2)).wants("CatchingUp", "CatchingUp", "Frozen")
	s.at(time.Hour).writes("c1=Run")
	t.Run("a freeze of all stops the wave itself", func(t *testing.T) {
		s := onShift(t, started(succeeds(2, 1), func(f *policy.Fleet) { f.Freezes = []policy.Freeze{{Name: "all", All: true}} }))
		s.wants("Progressing", "Progressing", "Frozen")
		if s.last.Current != "w1" {
			t.Errorf("in %s", s.last.Current)
		}
	})
}

func TestAWaveAwaitsApprovalOnlyWhileSomethingOfItCouldBegin(t *testing.T) {
	gated := inWave(1, func(w *policy.Wave) { w.Approvals = 1 })
	s := onShift(t, started(gated))
	s.wants("AwaitingApproval", "AwaitingApproval", "AwaitingApproval")
	s.at(time.Minute, is(1, "Run Progressing"), is(2, "Run Progressing")).wants("Progressing", "Progressing", "")
	soaks := inWave(0, func(w *policy.Wave) { w.Soak = time.Hour })
	onShift(t, started(gated, soaks)).wants("Progressing", "Soaking", "Soaking")
}

// TestLaw17TheEndOfAWaitThatAClusterReportsIsShown: an owner puts it off until an instant, or until a person acts.
func TestLaw17TheEndOfAWaitThatAClusterReportsIsShown(t *testing.T) {
	ends := func(i int, minutes int) func(*policy.Fleet) {
		return func(f *policy.Fleet) { f.Clusters[i].Until = noon.Add(time.Duration(minutes) * time.Minute) }
	}
	acts := func(i int) func(*policy.Fleet) { return func(f *policy.Fleet) { f.Clusters[i].Act = true } }
	canary := func(edits ...func(*policy.Fleet)) policy.Fleet {
		return build(build(fleet(1, 1), catchUp, is(0, "Wait Deferred DeferredByOwner")), edits...)
	}
	wave := func(second string, edits ...func(*policy.Fleet)) policy.Fleet {
		return build(started(is(1, "Wait Deferred DeferredByOwner"), is(2, second)), edits...)
	}
	last := func(edits ...func(*policy.Fleet)) policy.Fleet {
		return build(started(is(1, "Wait Deferred DeferredByOwner"), succeeds(2, 0), succeeds(3, 0)), edits...)
	}
	for name, tc := range map[string]struct {
		fleet policy.Fleet
		want  string
	}{
		"a canary":                              {canary(ends(0, 60)), "CanaryDeferred until 2026-12-01T13:00:00Z"},
		"a canary of whose end nothing is said": {canary(), "CanaryDeferred act"},
		"an end that has passed is none":        {canary(ends(0, 0)), "CanaryDeferred act"},
		"all of a wave: the first to come back": {wave("Wait Deferred Unreachable", ends(1, 60)), "NothingProven until 2026-12-01T13:00:00Z"},
		"of two the sooner":                     {wave("Wait Deferred DeferredByOwner", ends(1, 60), ends(2, 30)), "NothingProven until 2026-12-01T12:30:00Z"},
		"one comes back by an event":            {wave("Wait Deferred Unreachable", acts(1)), "NothingProven"},
		"both need a person":                    {wave("Wait Deferred ClusterPaused", acts(1)), "NothingProven act"},
		"in catch-up":                           {last(ends(1, 60)), "DeferredByOwner until 2026-12-01T13:00:00Z"},
		"in catch-up until a person acts":       {last(acts(1)), "DeferredByOwner act"},
		"what keeps one from beginning": {
			build(started(succeeds(2, 0), is(1, "Wait Pending ForeignUpgrade")), ends(1, 5)), "ForeignUpgrade until 2026-12-01T12:05:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := policy.Decide(tc.fleet, noon)
			if got := short(*d.Waiting); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if !d.Waiting.Until.IsZero() && !d.Recheck.Equal(d.Waiting.Until) {
				t.Errorf("looks again at %s", d.Recheck)
			}
			stable(t, tc.fleet, noon)
		})
	}
}
