// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// due gives a wave a deadline.
func due(i int, after time.Duration) func(*policy.Fleet) {
	return inWave(i, func(w *policy.Wave) { w.Deadline = after })
}

// goesOn lets a rollout go on after the deadline of a wave.
func goesOn(i int) func(*policy.Fleet) {
	return inWave(i, func(w *policy.Wave) { w.DeadlineContinue = true })
}

// nights is a calendar that all clusters are bound to: open every night from 22:00 for the hours given, in UTC.
func nights(t *testing.T, hours int) func(*policy.Fleet) {
	t.Helper()
	calendar, _, err := window.Compile(window.Spec{
		Windows: []window.Recurrence{{Schedule: "0 22 * * *", Duration: time.Duration(hours) * time.Hour}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(f *policy.Fleet) {
		f.Calendars = map[string]policy.Calendar{"nights": {Name: "nights", Hours: calendar}}
		for i := range f.Clusters {
			f.Clusters[i].Calendars = []string{"nights"}
		}
	}
}

func answers(yes bool) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		f.Members["a"] = policy.Member{Ready: yes, Upgrade: true, Since: noon.Add(40 * time.Minute)}
	}
}

func TestC066_ACanaryThatTimesOutStopsEverything(t *testing.T) {
	t.Run("C066: a canary that stays at work past 30m of a wave that may take 4h", func(t *testing.T) {
		s := onShift(t, build(fleet(1, 6), catchUp, due(0, 30*time.Minute), due(1, 4*time.Hour)))
		s.writes("c0=Run")
		s.at(0, is(0, "Run Progressing"))
		if s.last.Waves[0].Works != true || !s.last.Waves[0].DeadlineAt.IsZero() {
			t.Errorf("the clock has not been started: %+v", s.last.Waves[0])
		}
		s.at(time.Minute)
		if at := s.last.Waves[0].DeadlineAt; !at.Equal(noon.Add(30*time.Minute)) || !s.last.Recheck.Equal(at) {
			t.Errorf("deadline at %s, recheck at %s", at, s.last.Recheck)
		}
		s.at(30*time.Minute-1).wants("Progressing", "Progressing", "")
		s.at(30*time.Minute).wants("Halted", "CanaryTimedOut", "CanaryTimedOut")
		s.writes("c0=Hold")
		for _, words := range []string{"a/ns/c0", "30m0s", "6 other clusters were not touched"} {
			if !strings.Contains(s.last.Message, words) {
				t.Errorf("%q does not say %q", s.last.Message, words)
			}
		}
		if diff := cmp.Diff(map[string]bool{"c0": true}, s.began); diff != "" {
			t.Errorf("what began (-want +got):\n%s", diff)
		}
		s.at(100*time.Hour, is(0, "Hold Succeeded settled v1.33.9")).wants("Halted", "CanaryTimedOut", "CanaryTimedOut")
	})
	t.Run("C066: to go on past the deadline is not for canaries", func(t *testing.T) {
		s := onShift(t, build(fleet(1, 1), catchUp, due(0, 30*time.Minute), goesOn(0)))
		s.at(0, is(0, "Run Progressing"))
		s.at(time.Hour).wants("Halted", "CanaryTimedOut", "CanaryTimedOut")
	})
	t.Run("a canary that failed is told as that", func(t *testing.T) {
		s := onShift(t, build(fleet(1, 1), catchUp, due(0, 30*time.Minute)))
		s.at(0, is(0, "Run Progressing"))
		s.at(time.Hour, is(0, "Run Failed")).wants("Halted", "CanaryFailed", "CanaryFailed")
	})
}

func TestC068_EachWaveHasItsOwnDeadline(t *testing.T) {
	t.Run("C068: after a wave that timed out the next has its full hour", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 2, 1), catchUp, due(1, time.Hour), goesOn(1), due(2, time.Hour),
			func(f *policy.Fleet) { f.HasCanaries = false }))
		s.writes("c0=Run")
		s.at(0, is(0, "Run Progressing"))
		s.at(30*time.Minute, succeeds(0, 30)).writes("c1=Run")
		s.at(30*time.Minute, is(1, "Run Progressing"))
		s.at(time.Hour-1).wants("Progressing", "Progressing", "")
		s.at(time.Hour, concurrency(2)).writes("c2=Run")
		if !s.last.Waves[1].Closed || s.last.Current != "w2" {
			t.Errorf("not closed: %s", s.last)
		}
		s.at(time.Hour, is(2, "Run Progressing"))
		s.at(2*time.Hour-1).wants("Progressing", "Progressing", "")
		if at := s.last.Waves[2].DeadlineAt; !at.Equal(noon.Add(2 * time.Hour)) {
			t.Errorf("the next wave is due at %s", at)
		}
		s.at(2*time.Hour).wants("Halted", "DeadlineExceeded", "DeadlineExceeded")
	})
	t.Run("C068: it begins with the first start of the wave, not of the rollout", func(t *testing.T) {
		s := onShift(t, build(fleet(1, 1), catchUp, due(1, time.Hour)))
		s.at(0, is(0, "Run Progressing"))
		s.at(5*time.Hour, succeeds(0, 300)).writes("c1=Run")
		s.at(5*time.Hour, is(1, "Run Progressing"))
		s.at(6*time.Hour-1).wants("Progressing", "Progressing", "")
		s.at(6*time.Hour).wants("Halted", "DeadlineExceeded", "DeadlineExceeded")
	})
	t.Run("C068: 90m are ninety minutes", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 1), catchUp, due(1, 90*time.Minute)))
		s.at(0, is(0, "Run Progressing"))
		s.at(90*time.Minute-1).wants("Progressing", "Progressing", "")
		s.at(90*time.Minute).wants("Halted", "DeadlineExceeded", "DeadlineExceeded")
	})
}

func TestLaw13OnlyTimeInWhichWorkWasAllowedCounts(t *testing.T) {
	atWork := func(edits ...func(*policy.Fleet)) policy.Fleet {
		return build(build(fleet(0, 2), catchUp, due(1, time.Hour), is(0, "Run Progressing")), edits...)
	}
	for name, tc := range map[string]struct {
		stop, goOn func(*policy.Fleet)
	}{
		"while its member is silent": {answers(false), answers(true)},
		"while it may only be read": {
			func(f *policy.Fleet) { f.Members["a"] = policy.Member{Ready: true} }, answers(true),
		},
		"while the policy is paused": {
			func(f *policy.Fleet) { f.Paused = true }, func(f *policy.Fleet) { f.Paused = false },
		},
		"while its owner has paused it": {
			with(is(0, "Run Holding ClusterPaused"), is(1, "Wait Pending ClusterPaused")),
			with(is(0, "Run Progressing"), func(f *policy.Fleet) { f.Clusters[0].Reason = "" }),
		},
		"while it is frozen from then on": {
			func(f *policy.Fleet) {
				f.Freezes = []policy.Freeze{{Name: "stop", All: true, From: noon.Add(40 * time.Minute)}}
			},
			func(f *policy.Fleet) { f.Freezes = nil },
		},
		"while it is frozen": {
			func(f *policy.Fleet) { f.Freezes = []policy.Freeze{{Name: "stop", All: true}} },
			func(f *policy.Fleet) { f.Freezes = nil },
		},
	} {
		t.Run(name+" the clock stands", func(t *testing.T) {
			s := onShift(t, atWork())
			s.at(40*time.Minute, tc.stop)
			if s.last.Waves[1].Works || !s.last.Waves[1].DeadlineAt.IsZero() {
				t.Errorf("counts: %+v", s.last.Waves[1])
			}
			if s.at(20 * time.Hour); s.last.Phase == policy.PhaseHalted {
				t.Errorf("halted: %s", s.last)
			}
			s.at(21*time.Hour, tc.goOn)
			if s.at(21*time.Hour + 20*time.Minute - 1); s.last.Phase != policy.PhaseProgressing {
				t.Errorf("early: %s", s.last)
			}
			s.at(21*time.Hour+20*time.Minute).wants("Halted", "DeadlineExceeded", "DeadlineExceeded")
		})
	}
	t.Run("while one of them may be worked on it runs", func(t *testing.T) {
		s := onShift(t, atWork(func(f *policy.Fleet) {
			f.Members["b"] = policy.Member{Since: noon}
			f.Clusters[0].Member = "b"
		}))
		s.at(time.Hour).wants("Halted", "DeadlineExceeded", "DeadlineExceeded")
	})
	t.Run("while only clusters are left that a freeze of new clusters stops it stands", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 2), catchUp, due(1, time.Hour), succeeds(0, 0), func(f *policy.Fleet) {
			f.Freezes = []policy.Freeze{{Name: "quarter's end", All: true, NewClustersOnly: true, Until: noon.Add(time.Hour)}}
			f.HasCanaries = false
		}))
		if s.wants("Progressing", "Progressing", "Frozen"); s.last.Waves[1].Works {
			t.Error("counts")
		}
		if s.at(time.Hour); !s.last.Waves[1].Works {
			t.Error("does not count")
		}
	})
	looksAgain := func(t *testing.T, s *shift, works bool, after time.Duration) {
		t.Helper()
		if want := noon.Add(after); s.last.Waves[1].Works != works || !s.last.Recheck.Equal(want) {
			t.Errorf("works: %v, looks again at %s, want %v and %s", s.last.Waves[1].Works, s.last.Recheck, works, want)
		}
	}
	lost := func(clusters ...int) func(*policy.Fleet) {
		return func(f *policy.Fleet) {
			for _, i := range clusters {
				f.Clusters[i].Calendars = []string{"lost"}
			}
		}
	}
	t.Run("it looks again when a window opens or closes, though that cluster waits for a slot", func(t *testing.T) {
		f := build(fleet(0, 3), catchUp, nights(t, 4), due(1, 9*time.Hour), is(0, "Run Progressing"), lost(0, 1))
		s := onShift(t, f)
		looksAgain(t, s, false, 10*time.Hour)
		looksAgain(t, s.at(11*time.Hour), true, 14*time.Hour)
	})
	t.Run("or when a freeze of it begins or ends", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 3), catchUp, due(1, 9*time.Hour), is(0, "Run Progressing"), lost(0, 1), func(f *policy.Fleet) {
			f.Freezes = []policy.Freeze{{
				Name: "c2", NewClustersOnly: true, From: noon.Add(time.Hour), Until: noon.Add(2 * time.Hour),
				Clusters: map[string]bool{"c2": true},
			}}
		}))
		looksAgain(t, s, true, time.Hour)
		looksAgain(t, s.at(time.Hour), false, 2*time.Hour)
		if s.at(2 * time.Hour); !s.last.Waves[1].Works {
			t.Error("does not count after the freeze")
		}
	})
	t.Run("a hub that was away counts until the window closed", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 1), catchUp, due(1, 5*time.Hour), nights(t, 4)))
		s.at(10 * time.Hour)
		s.at(10*time.Hour, is(0, "Run Progressing"))
		s.at(20*time.Hour).wants("Progressing", "Progressing", "")
		if got := s.fleet.Waves[1].Worked; got != (policy.Clock{Elapsed: 4 * time.Hour}) {
			t.Errorf("counts %+v", got)
		}
	})
	t.Run("or until the last of its members fell silent", func(t *testing.T) {
		f := build(fleet(0, 3), catchUp, overMembers(3), maxUnknown(3), due(1, 3*time.Hour), is(0, "Run Progressing"),
			is(1, "Run Progressing"), is(2, "Run Progressing"))
		s := onShift(t, f)
		s.at(10*time.Hour, silent(60, "a"), silent(120, "b"), silent(90, "c"))
		if got := s.fleet.Waves[1].Worked; got != (policy.Clock{Elapsed: 2 * time.Hour}) || s.last.Phase == policy.PhaseHalted {
			t.Errorf("counts %+v: %s", got, s.last)
		}
	})
	t.Run("a wave that has ended in time and is cleaned up later is not late", func(t *testing.T) {
		s := onShift(t, build(fleet(0, 1), catchUp, due(1, time.Hour), is(0, "Run Succeeded v1.33.9"), func(f *policy.Fleet) {
			f.HasCanaries, f.Waves[1].Worked = false, policy.Clock{Elapsed: time.Hour}
		}))
		s.wants("Progressing", "Progressing", "")
	})
	t.Run("three hours of work take two nights of two hours", func(t *testing.T) {
		f := build(fleet(0, 1), catchUp, due(1, 3*time.Hour), nights(t, 2))
		s := onShift(t, f)
		if s.wants("Progressing", "Progressing", "WindowClosed"); s.last.Waves[1].Works {
			t.Error("counts before the first start")
		}
		s.at(10 * time.Hour).writes("c0=Run")
		s.at(10*time.Hour, is(0, "Run Progressing"))
		if diff := cmp.Diff(noon.Add(12*time.Hour), s.last.Recheck); diff != "" {
			t.Errorf("looks again (-want +got):\n%s", diff)
		}
		s.at(12 * time.Hour)
		if s.last.Waves[1].Works {
			t.Error("counts while it is closed")
		}
		s.at(34 * time.Hour)
		s.at(35*time.Hour-1).wants("Progressing", "Progressing", "")
		s.at(35*time.Hour).wants("Halted", "DeadlineExceeded", "DeadlineExceeded")
	})
}

func TestLaw15AWaveThatTimesOutClosesOnlyWithASuccess(t *testing.T) {
	s := onShift(t, build(fleet(0, 2, 1), catchUp, due(1, time.Hour), goesOn(1), is(0, "Run Progressing"),
		func(f *policy.Fleet) { f.HasCanaries = false }))
	s.at(time.Hour)
	s.at(2*time.Hour).wants("Progressing", "DeadlineExceeded", "MaxConcurrency")
	if s.last.Current != "w1" || s.last.Waves[1].Closed {
		t.Errorf("goes on though nothing has succeeded: %s", s.last)
	}
	words := "wave w1 was not through within 1h0m0s of work, and stays open, with no later wave begun, until one of its clusters has " +
		"succeeded; look at a/ns/c0, a/ns/c1, or give a new target"
	if s.last.Message != words {
		t.Errorf("says %q, want %q", s.last.Message, words)
	}
	s.at(3*time.Hour, succeeds(0, 180)).writes("c2=Run")
	if got := s.last.Waves[1]; !got.Closed || got.Deferred != 1 || got.Succeeded != 1 {
		t.Errorf("%+v", got)
	}
}

// TestLaw17AWaveThatIsLateAndProvesNothingSaysWhatToDo: with everything in flight there would be no wait, and with everything
// put off there is only one that ends when somebody comes back.
func TestLaw17AWaveThatIsLateAndProvesNothingSaysWhatToDo(t *testing.T) {
	wave := func(first, second string) policy.Fleet {
		return build(fleet(0, 2, 1), catchUp, due(1, time.Hour), goesOn(1), concurrency(2), is(0, first), is(1, second),
			func(f *policy.Fleet) { f.HasCanaries, f.Waves[1].Worked = false, policy.Clock{Elapsed: time.Hour} })
	}
	for name, tc := range map[string]struct {
		fleet        policy.Fleet
		reason, wait string
		act          bool
	}{
		"all in flight":           {wave("Run Progressing", "Run Progressing"), "DeadlineExceeded", "DeadlineExceeded", false},
		"one held":                {wave("Run Progressing", "Hold Holding OnHold"), "DeadlineExceeded", "DeadlineExceeded", false},
		"one put off":             {wave("Run Progressing", "Wait Deferred Unreachable"), "DeadlineExceeded", "DeadlineExceeded", false},
		"all put off":             {wave("Wait Deferred ClusterPaused", "Wait Deferred Unreachable"), "Progressing", "NothingProven", false},
		"all put off by people":   {wave("Wait Deferred ClusterPaused", "Wait Deferred ClusterPaused"), "Progressing", "NothingProven", true},
		"one failed, one put off": {build(wave("Run Failed settled", "Wait Deferred ClusterPaused"), failures(1)), "Progressing", "NothingProven", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := onShift(t, tc.fleet)
			s.wants("Progressing", tc.reason, tc.wait)
			if s.last.Waiting.Act != tc.act {
				t.Errorf("%+v", *s.last.Waiting)
			}
			for _, words := range []string{"stays open", "no later wave"} {
				if !strings.Contains(s.last.Waiting.Message, words) {
					t.Errorf("%q does not say %q", s.last.Waiting.Message, words)
				}
			}
			if s.last.Current != "w1" {
				t.Errorf("in %s", s.last.Current)
			}
		})
	}
}

// TestLaw13AHubThatWasAwayCountsNoTimeInWhichAFreezeStoppedWork: the clock of a deadline was left running meanwhile.
func TestLaw13AHubThatWasAwayCountsNoTimeInWhichAFreezeStoppedWork(t *testing.T) {
	after := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	for name, tc := range map[string]struct {
		freeze policy.Freeze
		counts int
	}{
		"one without a begin counts from when it was made": {policy.Freeze{Created: after(30)}, 30},
		"one from then on":                                        {policy.Freeze{From: after(30), Created: after(-60)}, 30},
		"one that was made after its begin":                       {policy.Freeze{From: after(-60), Created: after(30)}, 30},
		"one that was made right before and was not seen yet":     {policy.Freeze{Created: after(-1)}, 0},
		"one that is over by now":                                 {policy.Freeze{Created: after(30), Until: after(60)}, 30},
		"one that was over before":                                {policy.Freeze{Created: after(-60), Until: after(-30)}, 300},
		"one of which it is not known when it was made":           {policy.Freeze{}, 300},
		"one of new clusters lets work go on":                     {policy.Freeze{Created: after(30), NewClustersOnly: true}, 300},
		"one of other clusters too":                               {policy.Freeze{Created: after(30), Clusters: map[string]bool{"c1": true}}, 300},
		"one that was made and ended in no time takes no instant": {policy.Freeze{Created: after(30), Until: after(30)}, 300},
	} {
		t.Run(name, func(t *testing.T) {
			s := onShift(t, build(fleet(0, 1), catchUp, due(1, 9*time.Hour), is(0, "Run Progressing"),
				func(f *policy.Fleet) { f.HasCanaries = false }))
			f := tc.freeze
			f.Name, f.All = "brake", f.Clusters == nil
			s.at(5*time.Hour, func(fleet *policy.Fleet) { fleet.Freezes = []policy.Freeze{f} })
			if got := s.fleet.Waves[1].Worked.At(s.now); got != time.Duration(tc.counts)*time.Minute {
				t.Errorf("counts %s, want %d minutes", got, tc.counts)
			}
		})
	}
}

// TestLaw13AFreezeOfNewClustersStopsTheClockOfThoseThatWait: where nothing else is left in the wave.
func TestLaw13AFreezeOfNewClustersStopsTheClockOfThoseThatWait(t *testing.T) {
	s := onShift(t, build(fleet(0, 2), catchUp, due(1, 9*time.Hour), succeeds(0, 0), func(f *policy.Fleet) {
		f.HasCanaries, f.OtherActive = false, 1
	}))
	s.at(5*time.Hour, func(f *policy.Fleet) {
		f.Freezes = []policy.Freeze{{Name: "brake", All: true, NewClustersOnly: true, Created: noon.Add(30 * time.Minute)}}
	})
	if got := s.fleet.Waves[1].Worked; got != (policy.Clock{Elapsed: 30 * time.Minute}) {
		t.Errorf("counts %+v", got)
	}
}
