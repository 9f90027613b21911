// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// overMembers makes so many, "a", "b", …, with a grace of ten minutes, and spreads the clusters over them in turn.
func overMembers(n int) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		f.Unreachable.Grace = 10 * time.Minute
		for i := range n {
			f.Members[string(rune('a'+i))] = policy.Member{Ready: true, Upgrade: true}
		}
		for i := range f.Clusters {
			f.Clusters[i].Member = string(rune('a' + i%n))
		}
	}
}

// silent members since so many minutes after noon.
func silent(minute int, names ...string) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for _, name := range names {
			f.Members[name] = policy.Member{Upgrade: true, Since: noon.Add(time.Duration(minute) * time.Minute)}
		}
	}
}

func maxUnknown(n int) func(*policy.Fleet) {
	return func(f *policy.Fleet) { f.Unreachable.MaxUnknown = n }
}

func TestLaw14ASilentClusterInFlightGivesItsSlotBackAfterTheGrace(t *testing.T) {
	inFlight := func(edits ...func(*policy.Fleet)) policy.Fleet {
		f := build(fleet(1, 6), catchUp, overMembers(3), maxUnknown(1), succeeds(0, 0), is(1, "Run Progressing"))
		return build(f, edits...)
	}
	t.Run("not before", func(t *testing.T) {
		s := onShift(t, inFlight(silent(0, "b")))
		s.wants("Progressing", "Progressing", "MaxConcurrency")
		if want := noon.Add(10 * time.Minute); !s.last.Recheck.Equal(want) {
			t.Errorf("looks again at %s, want %s", s.last.Recheck, want)
		}
		s.at(10*time.Minute - 1).writes("")
		s.at(10 * time.Minute).writes("c2=Run")
		s.wants("Progressing", "Progressing", "MaxConcurrency")
	})
	t.Run("it is never judged from silence, and goes on when it is back", func(t *testing.T) {
		s := onShift(t, inFlight(silent(0, "b")))
		s.at(10*time.Minute, is(1, "Run Holding MemberUnreachable"))
		s.at(1000*time.Hour, is(2, "Run Progressing"))
		if got := s.last.Waves[1]; got.Failed != 0 || got.Active != 2 || s.last.Phase != policy.PhaseProgressing {
			t.Errorf("%s: %+v", s.last, got)
		}
		s.at(1001*time.Hour, silent(0), func(f *policy.Fleet) { f.Members["b"] = policy.Member{Ready: true, Upgrade: true} })
		s.wants("Progressing", "Progressing", "MaxConcurrency")
		s.writes("")
	})
	t.Run("the slot of its member stays taken", func(t *testing.T) {
		f := inFlight(func(f *policy.Fleet) {
			for i := range f.Clusters {
				f.Clusters[i].Member = "b"
			}
		})
		f.Members["b"] = policy.Member{Upgrade: true, Since: noon, MaxConcurrentClusters: 1}
		s := onShift(t, f).at(time.Hour)
		if got := s.last.Intents; len(got) > 0 {
			t.Errorf("begins in a silent member: %v", got)
		}
	})
	t.Run("more of them than maxUnknown stop every start", func(t *testing.T) {
		f := inFlight(concurrency(5), is(4, "Run Progressing"), silent(0, "b"))
		s := onShift(t, f)
		s.writes("c2=Run c3=Run c5=Run")
		s.wants("Progressing", "Progressing", "MaxConcurrency")
		s.at(10*time.Minute).wants("Progressing", "Progressing", "MaxUnknown")
		s.writes("")
	})
	for name, tc := range map[string]struct {
		most int
		want string
	}{
		"none may be":              {0, "MaxUnknown"},
		"one may be":               {1, "MaxUnknown"},
		"two may be":               {2, ""},
		"as many as the wave runs": {-1, ""},
	} {
		t.Run("maxUnknown: "+name, func(t *testing.T) {
			f := inFlight(is(4, "Run Progressing"), silent(-20, "b"), maxUnknown(tc.most), concurrency(2))
			d := policy.Decide(f, noon)
			got := ""
			if d.Waiting != nil && d.Waiting.Reason == policy.ReasonMaxUnknown {
				got = d.Waiting.Reason
			}
			if (got == "") != (len(d.Intents) > 0) || got != tc.want {
				t.Errorf("waits for %q, want %q: %s", got, tc.want, d)
			}
		})
	}
	t.Run("a cluster to which nothing was granted gives everything back at once", func(t *testing.T) {
		onShift(t, inFlight(is(1, "Run Deferred Unreachable"), silent(0, "b"))).writes("c1=Wait")
		onShift(t, inFlight(is(1, "Wait Deferred Unreachable"), silent(0, "b"))).writes("c2=Run")
	})
}

func TestLaw14AHubThatIsCutOffConcludesNothing(t *testing.T) {
	cut := func(edits ...func(*policy.Fleet)) policy.Fleet {
		return build(build(fleet(1, 4), catchUp, overMembers(5), maxUnknown(9), succeeds(0, 0)), edits...)
	}
	for name, tc := range map[string]struct {
		edit func(*policy.Fleet)
		want string
	}{
		"three of five within one grace": {silent(0, "a", "b", "c"), "HubIsolated"},
		"two of five are no majority":    {silent(0, "a", "b"), "MaxConcurrency"},
		"two of four": {
			with(silent(0, "a", "b"), func(f *policy.Fleet) { delete(f.Members, "e") }), "MaxConcurrency",
		},
		"three of five, one of them long before": {
			with(silent(0, "a", "b"), silent(-30, "c")), "MaxConcurrency",
		},
		"three of five in the space of one grace": {
			with(silent(0, "a"), silent(5, "b"), silent(10, "c")), "HubIsolated",
		},
		"one long before does not hide three": {
			with(silent(-300, "d"), silent(0, "a", "b", "c")), "HubIsolated",
		},
		"the only one of one": {with(overMembers(1), silent(0, "a"), func(f *policy.Fleet) {
			f.Members = map[string]policy.Member{"a": f.Members["a"]}
		}), "MemberUnreachable"},
		"two of two": {with(overMembers(2), silent(0, "a", "b"), func(f *policy.Fleet) {
			f.Members = map[string]policy.Member{"a": f.Members["a"], "b": f.Members["b"]}
		}), "HubIsolated"},
		"one of two": {with(overMembers(2), silent(0, "a"), func(f *policy.Fleet) {
			f.Members = map[string]policy.Member{"a": f.Members["a"], "b": f.Members["b"]}
		}), "MaxConcurrency"},
		"three that have never answered": {
			with(silent(0, "a", "b", "c"), never("a", "b", "c")), "MaxConcurrency",
		},
		"three that were not looked at yet": {func(f *policy.Fleet) {
			for _, name := range []string{"a", "b", "c"} {
				f.Members[name] = policy.Member{}
			}
		}, "MaxConcurrency"},
		"both of two beside three that have never answered": {
			with(silent(0, "a", "b", "c", "d", "e"), never("a", "b", "c")), "HubIsolated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := onShift(t, cut(tc.edit))
			s.wants("Progressing", "Progressing", tc.want)
			if tc.want == "HubIsolated" {
				s.writes("")
			}
		})
	}
	t.Run("nothing is taken as put off", func(t *testing.T) {
		f := cut(silent(0, "a", "b", "c"), succeeds(1, 0), is(2, "Wait Deferred Unreachable"), is(3, "Wait Deferred Unreachable"),
			succeeds(4, 0))
		s := onShift(t, f)
		s.wants("Progressing", "Progressing", "HubIsolated")
		if s.last.Waves[1].Closed {
			t.Error("the wave is closed")
		}
		s.at(time.Minute, overMembers(5)).wants("CatchingUp", "CatchingUp", "Unreachable")
	})
	t.Run("it says since when", func(t *testing.T) {
		d := policy.Decide(cut(silent(0, "a"), silent(5, "b"), silent(8, "c"), silent(9, "d")), noon)
		want := policy.Waiting{
			Reason: "HubIsolated", Since: noon.Add(8 * time.Minute),
			Message: "4 of 5 management clusters are silent, at least 3 of them fell silent within 10m0s: the hub seems to be cut off",
		}
		if diff := cmp.Diff(want, *d.Waiting); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// never makes members ones that have not answered once.
func never(names ...string) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for _, name := range names {
			m := f.Members[name]
			m.Never = true
			f.Members[name] = m
		}
	}
}
