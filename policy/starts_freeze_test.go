// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

func TestLaw22StopsAddUp(t *testing.T) {
	xmas := policy.Freeze{
		Name: "xmas", By: "alice", Reason: "holidays", All: true, From: utc("2026-11-20T00:00:00Z"),
		Until: utc("2026-12-03T00:00:00Z"),
	}
	brake := policy.Freeze{Name: "brake", All: true}
	later := policy.Freeze{Name: "later", All: true, From: utc("2026-12-02T00:00:00Z"), Until: utc("2026-12-09T00:00:00Z")}
	own := policy.Freeze{Name: "own", Clusters: only("c1"), Until: utc("2026-12-02T00:00:00Z")}
	starts := xmas
	starts.NewClustersOnly = true
	over := policy.Freeze{Name: "over", All: true, Until: utc("2026-12-01T12:00:00Z")}
	frozen := func(until string) string { return "Frozen until " + until }
	for name, tc := range map[string]timed{
		"one freeze": {
			built([]func(*policy.Fleet){sets(done, "Run Progressing"), concurrency(3), freezes(xmas)}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{
				Intents: "c1=Hold", Waiting: frozen("2026-12-03T00:00:00Z"), Holds: "c1:" + frozen("2026-12-03T00:00:00Z"),
				Recheck: "2026-12-03T00:00:00Z",
			},
		},
		"a second that begins before the first ends": {
			built([]func(*policy.Fleet){sets(done), freezes(later, xmas)}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{Waiting: frozen("2026-12-09T00:00:00Z"), Recheck: "2026-12-02T00:00:00Z"},
		},
		"one that stays until it is removed": {
			built([]func(*policy.Fleet){sets(done), freezes(xmas, brake)}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{Waiting: "Frozen act", Recheck: "2026-12-03T00:00:00Z"},
		},
		"one that is over at this instant": {
			built([]func(*policy.Fleet){sets(done), freezes(over)}, 1, 1), "2026-12-01T12:00:00Z", outcome{Intents: "c1=Run"},
		},
		"one of a single cluster keeps no other": {
			built([]func(*policy.Fleet){sets(done), freezes(own)}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{
				Intents: "c2=Run", Waiting: frozen("2026-12-02T00:00:00Z"), Holds: "c1:" + frozen("2026-12-02T00:00:00Z"),
				Recheck: "2026-12-02T00:00:00Z",
			},
		},
		"one of new clusters and a single one of them": {
			built([]func(*policy.Fleet){sets(done), freezes(policy.Freeze{
				Name: "x", Clusters: only("c1"), Until: utc("2026-12-02T00:00:00Z"), NewClustersOnly: true,
			})}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{
				Intents: "c2=Run", Waiting: frozen("2026-12-02T00:00:00Z"), Holds: "c1:" + frozen("2026-12-02T00:00:00Z"),
				Recheck: "2026-12-02T00:00:00Z",
			},
		},
		"one of new clusters stops none that has begun": {
			built([]func(*policy.Fleet){sets(done, "Run Progressing"), concurrency(3), freezes(starts)}, 1, 2),
			"2026-12-01T12:00:00Z",
			outcome{Waiting: frozen("2026-12-03T00:00:00Z"), Recheck: "2026-12-03T00:00:00Z"},
		},
		"what was let begin and got nothing has not begun": {
			built([]func(*policy.Fleet){sets(done, "Run Pending"), concurrency(3), freezes(starts)}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Wait", Waiting: frozen("2026-12-03T00:00:00Z"), Recheck: "2026-12-03T00:00:00Z"},
		},
		"it shortens a permission that was given": {
			built([]func(*policy.Fleet){sets(done, "Run Progressing"), work(3, time.Hour), freezes(later)}, 1, 1),
			"2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T23:00:00Z", Recheck: "2026-12-01T23:00:00.000000001Z"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw22AFreezeIsNamedWithItsAuthorAndReason(t *testing.T) {
	f := built([]func(*policy.Fleet){sets(done), freezes(policy.Freeze{
		Name: "xmas", By: "alice", Reason: "holidays", All: true, Until: utc("2026-12-03T00:00:00Z"),
	})}, 1, 1)
	want := "frozen until 2026-12-03T00:00:00Z by Freeze xmas of alice (holidays)"
	if got := policy.Decide(f, noon).Waiting.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	f.Freezes[0].Until = time.Time{}
	want = "frozen until it is removed by Freeze xmas of alice (holidays)"
	if got := policy.Decide(f, noon).Waiting.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// TestLaw17EachClusterThatIsHeldIsToldWhy: by its hours first, else by what stops the rollout as a whole.
func TestLaw17EachClusterThatIsHeldIsToldWhy(t *testing.T) {
	f := built([]func(*policy.Fleet){sets(done, "Run Progressing", "Hold Holding"), concurrency(3), freezes(policy.Freeze{
		Name: "own", Clusters: only("c1"), Until: utc("2026-12-02T00:00:00Z"),
	})}, 1, 3)
	told := func() map[string]string {
		reasons := map[string]string{}
		for _, hold := range policy.Decide(f, noon).Held {
			reasons[hold.ID] = hold.Waiting.Reason
		}
		return reasons
	}
	if diff := cmp.Diff(map[string]string{"c1": "Frozen"}, told()); diff != "" {
		t.Errorf("one is frozen, the other goes on (-want +got):\n%s", diff)
	}
	f.Paused = true
	if diff := cmp.Diff(map[string]string{"c1": "Paused", "c2": "Paused"}, told()); diff != "" {
		t.Errorf("paused (-want +got):\n%s", diff)
	}
}

func TestLaw10AClusterThatWouldNotBeDoneBeforeAFreezeIsNotBegun(t *testing.T) {
	nights := calendars(opens("nights", "0 2 * * *", 4*time.Hour))
	freeze := func(from, until string) func(*policy.Fleet) {
		return freezes(policy.Freeze{Name: "xmas", All: true, From: utc(from), Until: utc(until)})
	}
	roles := func(given ...policy.Work) func(*policy.Fleet) {
		return func(f *policy.Fleet) {
			for i := range f.Clusters {
				f.Clusters[i].Work = given
			}
		}
	}
	xmas := freeze("2026-12-03T00:00:00Z", "2026-12-10T00:00:00Z")
	for name, tc := range map[string]timed{
		"eight machines of an hour are done in two nights": {
			built([]func(*policy.Fleet){sets(done), nights, work(8, time.Hour), xmas}, 1, 1), "2026-12-01T02:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T05:00:00Z", Recheck: "2026-12-01T02:00:00.000000001Z"},
		},
		"a second later seven would be, and one after the freeze": {
			built([]func(*policy.Fleet){sets(done), nights, work(8, time.Hour), xmas}, 1, 1), "2026-12-01T02:00:01Z",
			outcome{
				Waiting: "WouldNotFinishBeforeFreeze until 2026-12-10T02:00:00Z",
				Holds:   "c1:WouldNotFinishBeforeFreeze until 2026-12-10T02:00:00Z", Recheck: "2026-12-01T05:00:00.000000001Z",
			},
		},
		"control plane one by one and workers five at once": {
			built([]func(*policy.Fleet){
				sets(done), nights, roles(policy.Work{Machines: 3, AtOnce: 1, Each: time.Hour}, policy.Work{
					Machines: 21, AtOnce: 5, Each: 30 * time.Minute,
				}), freeze("2026-12-02T03:30:00Z", "2026-12-10T00:00:00Z"),
			}, 1, 1), "2026-12-01T02:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T05:00:00Z", Recheck: "2026-12-01T02:00:00.000000001Z"},
		},
		"and not a minute sooner": {
			built([]func(*policy.Fleet){
				sets(done), nights, roles(policy.Work{Machines: 3, AtOnce: 1, Each: time.Hour}, policy.Work{
					Machines: 21, AtOnce: 5, Each: 30 * time.Minute,
				}), freeze("2026-12-02T03:29:00Z", "2026-12-10T00:00:00Z"),
			}, 1, 1), "2026-12-01T02:00:00Z",
			outcome{
				Waiting: "WouldNotFinishBeforeFreeze until 2026-12-10T02:00:00Z",
				Holds:   "c1:WouldNotFinishBeforeFreeze until 2026-12-10T02:00:00Z", Recheck: "2026-12-01T05:00:00.000000001Z",
			},
		},
		"without calendars, too": {
			built([]func(*policy.Fleet){sets(done), work(8, time.Hour), xmas}, 1, 1), "2026-12-02T16:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-02T23:00:00Z", Recheck: "2026-12-02T16:00:00.000000001Z"},
		},
		"a small one beside it begins": {
			built([]func(*policy.Fleet){sets(done), nights, work(8, time.Hour), xmas, func(f *policy.Fleet) {
				f.Clusters[2].Work[0].Machines = 1
			}}, 1, 2), "2026-12-02T02:00:00Z",
			outcome{
				Intents: "c2=Run until 2026-12-02T05:00:00Z", Waiting: "WouldNotFinishBeforeFreeze until 2026-12-10T02:00:00Z",
				Holds:   "c1:WouldNotFinishBeforeFreeze until 2026-12-10T02:00:00Z",
				Recheck: "2026-12-02T05:00:00.000000001Z",
			},
		},
		"a freeze of new clusters is waited for by none": {
			built([]func(*policy.Fleet){sets(done), nights, work(8, time.Hour), freezes(policy.Freeze{
				Name: "x", All: true, From: utc("2026-12-01T04:00:00Z"), NewClustersOnly: true,
			})}, 1, 1), "2026-12-01T02:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T05:00:00Z", Recheck: "2026-12-01T04:00:00Z"},
		},
		"one that has begun goes on": {
			built([]func(*policy.Fleet){sets(done, "Hold Progressing"), nights, work(8, time.Hour), xmas}, 1, 1),
			"2026-12-02T02:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-02T05:00:00Z", Recheck: "2026-12-02T05:00:00.000000001Z"},
		},
		"a freeze without an end": {
			built([]func(*policy.Fleet){sets(done), nights, work(8, time.Hour), freezes(policy.Freeze{
				Name: "x", All: true, From: utc("2026-12-02T00:00:00Z"),
			})}, 1, 1), "2026-12-01T02:00:00Z",
			outcome{
				Waiting: "WouldNotFinishBeforeFreeze act", Holds: "c1:WouldNotFinishBeforeFreeze act",
				Recheck: "2026-12-01T05:00:00.000000001Z",
			},
		},
	} {
		t.Run(name, tc.check)
	}
}

// TestLaw17AWaitBeforeAFreezeEndsWhenTheClusterCanReallyBegin: not at an opening that is known to be of no use.
func TestLaw17AWaitBeforeAFreezeEndsWhenTheClusterCanReallyBegin(t *testing.T) {
	nights := calendars(opens("nights", "0 2 * * *", 4*time.Hour))
	xmas := policy.Freeze{Name: "xmas", All: true, From: utc("2026-12-03T03:00:00Z"), Until: utc("2026-12-10T00:00:00Z")}
	again := policy.Freeze{Name: "again", All: true, From: utc("2026-12-10T04:00:00Z"), Until: utc("2026-12-12T00:00:00Z")}
	newOnes := policy.Freeze{
		Name: "new", All: true, From: utc("2026-12-10T01:00:00Z"), Until: utc("2026-12-13T03:00:00Z"), NewClustersOnly: true,
	}
	night := policy.Freeze{Name: "night", All: true, From: utc("2026-12-02T00:00:00Z"), Until: utc("2026-12-02T12:00:00Z"), NewClustersOnly: true}
	endless := policy.Freeze{Name: "endless", All: true, From: utc("2026-12-03T00:00:00Z")}
	waits := func(machines int, given ...policy.Freeze) policy.Fleet {
		return built([]func(*policy.Fleet){sets(done), nights, work(machines, time.Hour), freezes(given...)}, 1, 1)
	}
	would := func(until, recheck string) outcome {
		hold := "WouldNotFinishBeforeFreeze " + until
		return outcome{Waiting: hold, Holds: "c1:" + hold, Recheck: recheck}
	}
	for name, tc := range map[string]timed{
		"near closing": {
			waits(5, xmas), "2026-12-02T05:30:00Z", would("until 2026-12-10T02:00:00Z", "2026-12-02T06:00:00Z"),
		},
		"while it is closed": {
			waits(5, xmas), "2026-12-02T12:00:00Z", would("until 2026-12-10T02:00:00Z", "2026-12-03T02:00:00Z"),
		},
		"in the last opening before it": {
			waits(5, xmas), "2026-12-03T02:30:00Z", would("until 2026-12-10T02:00:00Z", "2026-12-03T03:00:00Z"),
		},
		"a second freeze before which it would not be done either": {
			waits(5, xmas, again), "2026-12-02T12:00:00Z", would("until 2026-12-12T02:00:00Z", "2026-12-03T02:00:00Z"),
		},
		"in any order": {
			waits(5, again, xmas), "2026-12-02T12:00:00Z", would("until 2026-12-12T02:00:00Z", "2026-12-03T02:00:00Z"),
		},
		"before which a small one is done": {
			waits(2, xmas, again), "2026-12-02T12:00:00Z", would("until 2026-12-10T02:00:00Z", "2026-12-03T02:00:00Z"),
		},
		"a freeze of new clusters on that day": {
			waits(5, xmas, newOnes), "2026-12-02T12:00:00Z", would("until 2026-12-13T03:00:00Z", "2026-12-03T02:00:00Z"),
		},
		"one that stays until it is removed": {
			waits(9, endless), "2026-12-01T12:00:00Z", would("act", "2026-12-02T02:00:00Z"),
		},
		"and after its last opening": {
			waits(9, endless), "2026-12-02T12:00:00Z", would("act", "2026-12-03T00:00:00Z"),
		},
		"one that will be done waits for its opening": {
			waits(3, xmas), "2026-12-01T12:00:00Z",
			outcome{Waiting: "WindowClosed until 2026-12-02T02:00:00Z", Recheck: "2026-12-02T02:00:00Z"},
		},
		"but for a freeze of new clusters on that night": {
			waits(3, night), "2026-12-01T12:00:00Z",
			outcome{Waiting: "WindowClosed until 2026-12-03T02:00:00Z", Recheck: "2026-12-02T00:00:00Z"},
		},
	} {
		t.Run(name, tc.check)
	}
}

// TestLaw17AFreezeWithoutEndIsNamedWhereNoOpeningIsLeft: of what is half-way, too.
func TestLaw17AFreezeWithoutEndIsNamedWhereNoOpeningIsLeft(t *testing.T) {
	f := built([]func(*policy.Fleet){
		sets(done, "Hold Holding"), calendars(opens("nights", "0 2 * * *", 4*time.Hour)), work(2, time.Hour),
		freezes(policy.Freeze{Name: "endless", By: "joe", All: true, From: utc("2026-12-03T00:00:00Z")}),
	}, 1, 1)
	const since = ", since Freeze endless of joe stays from 2026-12-03T00:00:00Z until it is removed, calendar nights"
	for now, want := range map[string]string{
		"2026-12-02T12:00:00Z": "closed, and no opening is left" + since,
		"2026-12-02T05:30:00Z": "no opening within a year is long enough for a machine that takes 1h0m0s and 1m0s to begin in" + since,
	} {
		d := policy.Decide(f, utc(now))
		if len(d.Holds) != 1 || d.Holds[0].Waiting.Message != want || !d.Holds[0].Waiting.Act {
			t.Errorf("at %s: %+v, want %q", now, d.Holds, want)
		}
	}
}
