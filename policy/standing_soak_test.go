// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// soaking is a fleet of a canary that has succeeded at noon and is watched for half an hour, and a wave of two.
func soaking(edits ...func(*policy.Fleet)) policy.Fleet {
	f := build(fleet(1, 2), catchUp, inWave(0, func(w *policy.Wave) { w.Soak = 30 * time.Minute }), succeeds(0, 0))
	return build(f, edits...)
}

func TestLaw8TheNextWaveWaitsUntilTheLastHasSoaked(t *testing.T) {
	s := onShift(t, soaking())
	s.wants("Progressing", "Soaking", "Soaking")
	want := policy.Waiting{
		Reason: "Soaking", Since: noon, Until: noon.Add(30 * time.Minute),
		Message: "wave canaries is watched until 2026-12-01T12:30:00Z: its clusters must stay healthy for 30m0s",
	}
	if diff := cmp.Diff(want, *s.last.Waiting); diff != "" {
		t.Errorf("the wait (-want +got):\n%s", diff)
	}
	if !s.last.Recheck.Equal(want.Until) || !s.last.Waves[0].SoakUntil.Equal(want.Until) || !s.last.Waves[0].Closed {
		t.Errorf("recheck %s, wave %+v", s.last.Recheck, s.last.Waves[0])
	}
	s.at(30*time.Minute - 1).writes("")
	s.at(30 * time.Minute).writes("c1=Run")
	s.wants("Progressing", "Progressing", "MaxConcurrency")
}

func TestC060_ASoakNeedsContinuousHealth(t *testing.T) {
	t.Run("C060: a node that is NotReady from +12m to +17m moves the next wave to +47m", func(t *testing.T) {
		s := onShift(t, soaking())
		s.at(12*time.Minute, fares(0, policy.Unhealthy, 12)).wants("Progressing", "SoakStopped", "SoakStopped")
		s.at(17*time.Minute, fares(0, policy.Healthy, 17)).wants("Progressing", "Soaking", "Soaking")
		s.at(47*time.Minute - 1).writes("")
		s.at(47 * time.Minute).writes("c1=Run")
	})
	t.Run("C060: also when the hub did not see it", func(t *testing.T) {
		s := onShift(t, soaking())
		s.at(20*time.Minute, fares(0, policy.Healthy, 17)).wants("Progressing", "Soaking", "Soaking")
		s.at(47*time.Minute - 1).writes("")
		s.at(47 * time.Minute).writes("c1=Run")
	})
	t.Run("while health is not known the clock stands", func(t *testing.T) {
		s := onShift(t, soaking())
		s.at(15*time.Minute, fares(0, policy.HealthUnknown, 12)).wants("Progressing", "SoakStopped", "SoakStopped")
		if diff := cmp.Diff(policy.Clock{Elapsed: 12 * time.Minute}, s.last.Waves[0].Soaked); diff != "" {
			t.Errorf("the clock (-want +got):\n%s", diff)
		}
		s.at(40*time.Minute).wants("Progressing", "SoakStopped", "SoakStopped")
		s.at(50*time.Minute, fares(0, policy.Healthy, 50)).wants("Progressing", "Soaking", "Soaking")
		s.at(68*time.Minute - 1).writes("")
		s.at(68 * time.Minute).writes("c1=Run")
	})
	t.Run("one sick cluster of many is enough, and all must be healthy again", func(t *testing.T) {
		f := build(fleet(2, 1), catchUp, inWave(0, func(w *policy.Wave) { w.Soak = 30 * time.Minute }), succeeds(0, 0),
			succeeds(1, 0))
		s := onShift(t, f)
		s.at(10*time.Minute, fares(0, policy.Unhealthy, 10), fares(1, policy.HealthUnknown, 5))
		s.at(20*time.Minute, fares(0, policy.Healthy, 20)).wants("Progressing", "SoakStopped", "SoakStopped")
		s.at(25*time.Minute, fares(1, policy.Healthy, 25)).wants("Progressing", "Soaking", "Soaking")
		s.at(55*time.Minute - 1).writes("")
		s.at(55 * time.Minute).writes("c2=Run")
	})
}

func TestLaw8WhatCountsForASoak(t *testing.T) {
	t.Run("it begins at the last success, not at the first", func(t *testing.T) {
		f := build(fleet(2, 1), catchUp, inWave(0, func(w *policy.Wave) { w.Soak = 30 * time.Minute }), succeeds(0, 0),
			succeeds(1, 25))
		s := onShift(t, f)
		s.at(55*time.Minute - 1).writes("")
		s.at(55 * time.Minute).writes("c2=Run")
	})
	t.Run("a person may end it", func(t *testing.T) {
		onShift(t, soaking(inWave(0, func(w *policy.Wave) { w.Promoted = true }))).writes("c1=Run")
	})
	t.Run("a success of which no instant is known is not watched", func(t *testing.T) {
		s := onShift(t, soaking(func(f *policy.Fleet) { f.Clusters[0].EndedAt = time.Time{} }))
		s.at(100*time.Hour).wants("Progressing", "SoakStopped", "SoakStopped")
	})
	t.Run("an empty wave between does not shorten it", func(t *testing.T) {
		f := build(fleet(1, 0, 1), catchUp, inWave(0, func(w *policy.Wave) { w.Soak = 30 * time.Minute }), succeeds(0, 0))
		s := onShift(t, f)
		s.at(30*time.Minute - 1).writes("")
		s.at(30 * time.Minute).writes("c1=Run")
	})
	t.Run("what turns sick after the next wave has begun is drift", func(t *testing.T) {
		s := onShift(t, soaking()).at(30 * time.Minute)
		s.at(40*time.Minute, fares(0, policy.Healthy, 39), succeeds(1, 40)).writes("c2=Run")
		s = onShift(t, soaking()).at(30 * time.Minute)
		s.at(40*time.Minute, fares(0, policy.Unhealthy, 40), succeeds(1, 40)).writes("c2=Run")
	})
	t.Run("a success that comes late begins it anew, though it stood in between", func(t *testing.T) {
		late := func(w *policy.Wave) { w.Soak, w.Deadline, w.DeadlineContinue = 30*time.Minute, time.Minute, true }
		s := onShift(t, build(fleet(0, 2, 1), catchUp, concurrency(2), inWave(1, late), succeeds(0, 0), is(1, "Run Progressing"),
			func(f *policy.Fleet) { f.HasCanaries = false }))
		s.at(time.Minute).wants("Progressing", "Soaking", "Soaking")
		s.at(26*time.Minute, fares(0, policy.HealthUnknown, 25)).wants("Progressing", "SoakStopped", "SoakStopped")
		s.at(28*time.Minute, succeeds(1, 28))
		s.at(29*time.Minute, fares(0, policy.Healthy, 29)).wants("Progressing", "Soaking", "Soaking")
		s.at(59*time.Minute - 1).writes("")
		s.at(59 * time.Minute).writes("c2=Run")
	})
	t.Run("it stays over while the next wave waits for its window", func(t *testing.T) {
		silent := func(ready bool) func(*policy.Fleet) {
			return func(f *policy.Fleet) { f.Members["a"] = policy.Member{Ready: ready, Upgrade: true} }
		}
		s := onShift(t, soaking(silent(false)))
		s.at(35*time.Minute).wants("Progressing", "Progressing", "MemberUnreachable")
		s.at(40*time.Minute, fares(0, policy.Unhealthy, 40)).wants("Progressing", "Progressing", "MemberUnreachable")
		s.at(50*time.Minute, silent(true)).writes("c1=Run")
	})
	t.Run("the last wave is watched before the rollout has succeeded", func(t *testing.T) {
		f := build(fleet(0, 1), catchUp, inWave(1, func(w *policy.Wave) { w.Soak = 30 * time.Minute }), succeeds(0, 0),
			func(f *policy.Fleet) { f.Proven = map[string]string{"amd64": "v1.33.9"} })
		s := onShift(t, f)
		s.wants("Progressing", "Soaking", "Soaking")
		s.at(30*time.Minute).wants("Succeeded", "Succeeded", "")
		s.at(40*time.Minute, fares(0, policy.Unhealthy, 35)).wants("Succeeded", "Succeeded", "")
		s.at(50*time.Minute, fares(0, policy.Healthy, 49)).wants("Succeeded", "Succeeded", "")
		if got := s.last.Waves[1].Soaked; got != (policy.Clock{Elapsed: 30 * time.Minute}) {
			t.Errorf("its clock is %+v", got)
		}
	})
	t.Run("made longer when it was over, it goes on where it stood", func(t *testing.T) {
		silent := func(ready bool) func(*policy.Fleet) {
			return func(f *policy.Fleet) { f.Members["a"] = policy.Member{Ready: ready, Upgrade: true} }
		}
		s := onShift(t, soaking(silent(false))).at(31 * time.Minute)
		s.at(32*time.Minute, inWave(0, func(w *policy.Wave) { w.Soak = time.Hour })).wants("Progressing", "Soaking", "Soaking")
		s.at(time.Hour-1, silent(true)).writes("")
		s.at(time.Hour).writes("c1=Run")
	})
	t.Run("a paused rollout is watched on, and starts nothing", func(t *testing.T) {
		pause := func(on bool) func(*policy.Fleet) { return func(f *policy.Fleet) { f.Paused = on } }
		s := onShift(t, soaking(pause(true)))
		s.at(31*time.Minute).wants("Paused", "Paused", "Paused")
		s.at(32*time.Minute, pause(false)).writes("c1=Run")
	})
	t.Run("C078: health that was never seen does not end it", func(t *testing.T) {
		s := onShift(t, soaking(func(f *policy.Fleet) { f.Clusters[0].Health, f.Clusters[0].HealthSince = "", time.Time{} }))
		s.at(1000*time.Hour).wants("Progressing", "SoakStopped", "SoakStopped")
	})
}

func TestC133_ClocksThatDifferEndNoSoakEarly(t *testing.T) {
	t.Run("C133: the hub's clock steps back five minutes", func(t *testing.T) {
		s := onShift(t, soaking()).at(20 * time.Minute)
		s.at(15*time.Minute).wants("Progressing", "Soaking", "Soaking")
		s.at(30*time.Minute - 1).writes("")
		s.at(30 * time.Minute).writes("c1=Run")
	})
	t.Run("C133: to before the success", func(t *testing.T) {
		s := onShift(t, soaking()).at(-5 * time.Minute)
		if got := s.last.Waves[0].Soaked.At(s.now); got != 0 {
			t.Errorf("soaked for %s", got)
		}
		s.at(30*time.Minute - 1).writes("")
		s.at(30 * time.Minute).writes("c1=Run")
	})
	t.Run("C133: health that is not known since an instant that lies ahead counts for nothing", func(t *testing.T) {
		s := onShift(t, soaking())
		d := policy.Decide(build(cloneFleet(s.fleet), fares(0, policy.HealthUnknown, 40)), noon.Add(10*time.Minute))
		if !d.Recheck.Equal(noon.Add(40 * time.Minute)) {
			t.Errorf("looks again at %s", d.Recheck)
		}
		s.at(10*time.Minute, fares(0, policy.HealthUnknown, 40)).wants("Progressing", "SoakStopped", "SoakStopped")
		s.at(12*time.Minute, fares(0, policy.Healthy, 12))
		s.at(42*time.Minute - 1).writes("")
		s.at(42 * time.Minute).writes("c1=Run")
	})
	t.Run("C133: nor does health since one", func(t *testing.T) {
		s := onShift(t, soaking())
		s.at(10*time.Minute, fares(0, policy.Healthy, 20))
		s.at(50*time.Minute - 1).writes("")
		s.at(50 * time.Minute).writes("c1=Run")
	})
}
