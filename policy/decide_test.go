// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// fleet is a committed rollout of waves of the given sizes, one member "a", one cluster in flight at a time. A first
// size makes canaries; clusters are c0, c1, … in plan order.
func fleet(sizes ...int) policy.Fleet {
	f := policy.Fleet{
		Committed: true, HasCanaries: true, OnMovedHalt: true,
		Members: map[string]policy.Member{"a": {Ready: true, Upgrade: true}},
	}
	for i, size := range sizes {
		name := fmt.Sprintf("w%d", i)
		if i == 0 {
			name = policy.CanaryWave
		}
		f.Waves = append(f.Waves, policy.Wave{Name: name, Canary: i == 0, Planned: size, MaxConcurrency: 1})
		for range size {
			id := fmt.Sprintf("c%d", len(f.Clusters))
			f.Clusters = append(f.Clusters, policy.Cluster{
				ID: id, Path: "a/ns/" + id, Member: "a", Wave: i, Intent: policy.Wait, Phase: policy.Pending,
			})
		}
	}
	return f
}

// set makes a cluster what "Run Progressing" or "Withdraw Failed settled" or "Run Pending ClaimedByOther" says.
func set(f *policy.Fleet, i int, words string) {
	c := &f.Clusters[i]
	for k, word := range strings.Fields(words) {
		switch {
		case k == 0:
			c.Intent = policy.Intent(word)
		case k == 1:
			c.Phase = policy.ClusterPhase(word)
		case word == "settled":
			c.Settled = true
		case word == "returning":
			c.Returning = true
		case strings.HasPrefix(word, "v"):
			c.Versions = map[string]string{"amd64": word}
		default:
			c.Reason = word
		}
	}
}

const done = "Run Succeeded settled v1.33.9"

type decided struct {
	Phase   policy.Phase
	Reason  string
	Current string
	Intents string
	Waiting string
}

func digest(d policy.Decision) decided {
	got := decided{Phase: d.Phase, Reason: d.Reason, Current: d.Current}
	var intents []string
	for _, change := range d.Intents {
		intents = append(intents, change.ID+"="+string(change.Intent))
	}
	got.Intents = strings.Join(intents, " ")
	if d.Waiting != nil {
		got.Waiting = d.Waiting.Reason
	}
	return got
}

type row struct {
	sizes []int
	edit  func(*policy.Fleet)
	want  decided
}

func (r row) check(t *testing.T) {
	t.Helper()
	f := fleet(r.sizes...)
	if r.edit != nil {
		r.edit(&f)
	}
	if diff := cmp.Diff(r.want, digest(policy.Decide(f, noon))); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
}

// sets applies set in plan order.
func sets(words ...string) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for i, w := range words {
			if w != "" {
				set(f, i, w)
			}
		}
	}
}

func with(edits ...func(*policy.Fleet)) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for _, edit := range edits {
			edit(f)
		}
	}
}

func concurrency(n int) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for i := range f.Waves {
			f.Waves[i].MaxConcurrency = n
		}
	}
}

func failures(n int) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		for i := 1; i < len(f.Waves); i++ {
			f.Waves[i].MaxFailures = n
		}
	}
}

func TestLaw4And5LimitsGateStartsFromTheFirstCluster(t *testing.T) {
	w1 := func(phase policy.Phase, intents, waiting string) decided {
		return decided{phase, string(phase), "w1", intents, waiting}
	}
	for name, tc := range map[string]row{
		"as many begin as the wave allows": {
			[]int{1, 5}, with(sets(done), concurrency(2)), w1("Progressing", "c1=Run c2=Run", "MaxConcurrency"),
		},
		"what we wrote counts, though nothing was reported": {
			[]int{1, 5}, with(sets(done, "Run Pending"), concurrency(2)), w1("Progressing", "c2=Run", "MaxConcurrency"),
		},
		"a failed cluster keeps its slot until it is settled": {
			[]int{1, 3}, with(sets(done, "Withdraw Failed"), failures(1)), w1("Progressing", "", "MaxConcurrency"),
		},
		"and then gives it back": {
			[]int{1, 3},
			with(sets(done, "Withdraw Failed settled"), failures(1)),
			w1("Progressing", "c2=Run", "MaxConcurrency"),
		},
		"a cluster that still moves counts whatever its intent": {
			[]int{1, 3}, sets(done, "Wait Progressing"), w1("Progressing", "", "MaxConcurrency"),
		},
		"a slot on its way back is not free": {
			[]int{1, 3}, sets(done, "Wait Pending returning"), w1("Progressing", "", "MaxConcurrency"),
		},
		"older rollouts of the policy count": {
			[]int{1, 3},
			with(sets(done), concurrency(2), func(f *policy.Fleet) { f.OtherActive = 1 }),
			w1("Progressing", "c1=Run", "MaxConcurrency"),
		},
		"the member's limit counts all policies": {
			[]int{1, 3},
			with(sets(done), concurrency(3), func(f *policy.Fleet) {
				f.Members["a"] = policy.Member{Ready: true, Upgrade: true, MaxConcurrentClusters: 3, Active: 2}
			}),
			w1("Progressing", "c1=Run", "MemberLimit"),
		},
		"a count of the member that is behind does not widen it": {
			[]int{1, 3},
			with(sets(done, "Run Progressing"), concurrency(3), func(f *policy.Fleet) {
				f.Members["a"] = policy.Member{Ready: true, Upgrade: true, MaxConcurrentClusters: 1}
			}),
			w1("Progressing", "", "MemberLimit"),
		},
		"lowering a limit stops no one": {
			[]int{1, 4},
			sets(done, "Run Progressing", "Run Progressing", "Run Progressing"),
			w1("Progressing", "", "MaxConcurrency"),
		},
		"nothing begins while planned clusters are not seen": {
			[]int{1, 3},
			with(sets(done), func(f *policy.Fleet) { f.Waves[1].Planned = 4 }),
			w1("Progressing", "", "PlanIncomplete"),
		},
		"nor while nothing can be counted at all": {
			[]int{1, 1},
			with(sets(done, done), func(f *policy.Fleet) { f.Waves[1].Planned = 2 }),
			w1("Progressing", "", "PlanIncomplete"),
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw6FailureBudget(t *testing.T) {
	for name, tc := range map[string]row{
		"one failure too many halts; in flight finishes": {
			[]int{1, 4},
			sets(done, "Run Failed", "Run Progressing"),
			decided{"Halted", "FailureBudgetExceeded", "w1", "c1=Withdraw c2=Hold", "FailureBudgetExceeded"},
		},
		"failures within budget do not": {
			[]int{1, 4},
			with(sets(done, "Run Failed"), failures(1), concurrency(2)),
			decided{"Progressing", "Progressing", "w1", "c1=Withdraw c2=Run", "MaxConcurrency"},
		},
		"nothing lifts it, neither time nor limits": {
			[]int{1, 4},
			with(sets(done, "Hold Succeeded settled"), failures(4), func(f *policy.Fleet) {
				f.Sticky, f.StickyReason = policy.PhaseHalted, policy.ReasonFailureBudgetExceeded
			}),
			decided{"Halted", "FailureBudgetExceeded", "w1", "", "FailureBudgetExceeded"},
		},
		"a wave that proves nothing halts though the budget allows it": {
			[]int{1, 1, 1},
			with(sets(done, "Withdraw Failed settled"), failures(1)),
			decided{"Halted", "NothingProven", "w1", "", "NothingProven"},
		},
		"also when its clusters are gone": {
			[]int{1, 1, 1}, sets(done, "Wait Removed"), decided{"Halted", "NothingProven", "w1", "", "NothingProven"},
		},
		"failures within budget are told at the end": {
			[]int{1, 2},
			with(sets(done, done, "Withdraw Failed settled"), failures(1)),
			decided{"CompletedWithFailures", "FailuresWithinBudget", "", "", ""},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw7CanariesFirst(t *testing.T) {
	for name, tc := range map[string]row{
		"one canary at a time, nobody else": {
			[]int{2, 3}, nil, decided{"Progressing", "Progressing", "canaries", "c0=Run", "MaxConcurrency"},
		},
		"a canary that is proven and not settled holds the others back": {
			[]int{1, 3}, sets("Run Succeeded v1.33.9"), decided{"Progressing", "Progressing", "canaries", "", ""},
		},
		"a failed canary halts": {
			[]int{2, 3}, sets(done, "Run Failed"), decided{"Halted", "CanaryFailed", "canaries", "c1=Withdraw", "CanaryFailed"},
		},
		"a canary that is gone halts": {
			[]int{2, 3}, sets(done, "Run Removed"), decided{"Halted", "CanaryRemoved", "canaries", "", "CanaryRemoved"},
		},
		"a canary that turns out ineligible halts": {
			[]int{1, 3}, sets("Wait Ineligible"), decided{"Halted", "CanaryFailed", "canaries", "", "CanaryFailed"},
		},
		"a deferred canary is waited for": {
			[]int{1, 3}, sets("Wait Deferred"), decided{"Progressing", "Progressing", "canaries", "", "CanaryDeferred"},
		},
		"a skipped canary needs another that succeeded": {
			[]int{2, 1}, sets("Wait Skipped", done), decided{"Progressing", "Progressing", "w1", "c2=Run", ""},
		},
		"only skipped canaries prove nothing": {
			[]int{1, 1}, sets("Wait Skipped"), decided{"Halted", "NothingProven", "canaries", "", "NothingProven"},
		},
		"canaries that needed nothing are passed": {
			[]int{0, 1}, nil, decided{"Progressing", "Progressing", "w1", "c0=Run", ""},
		},
		"a later cluster on another version halts": {
			[]int{1, 3},
			sets(done, "Run Succeeded settled v1.33.10"),
			decided{"Halted", "TargetMoved", "w1", "", "TargetMoved"},
		},
		"unless the policy goes on": {
			[]int{1, 2},
			with(sets(done, "Run Succeeded settled v1.33.10"), func(f *policy.Fleet) { f.OnMovedHalt = false }),
			decided{"Progressing", "Progressing", "w1", "c2=Run", ""},
		},
		"canaries that disagree halt": {
			[]int{2, 3},
			sets(done, "Run Succeeded settled v1.33.10"),
			decided{"Halted", "TargetMoved", "w1", "", "TargetMoved"},
		},
		"an architecture that no canary proved halts": {
			[]int{1, 3},
			with(sets(done, done), func(f *policy.Fleet) {
				f.Clusters[1].Versions = map[string]string{"arm64": "v1.33.9"}
			}),
			decided{"Halted", "TargetMoved", "w1", "", "TargetMoved"},
		},
		"what canaries proved that needed nothing counts": {
			[]int{0, 2},
			with(sets(done), func(f *policy.Fleet) { f.Proven = map[string]string{"amd64": "v1.33.9+k8s1"} }),
			decided{"Progressing", "Progressing", "w1", "c1=Run", ""},
		},
		"without canaries there is nothing to compare with": {
			[]int{0, 2},
			with(sets(done), func(f *policy.Fleet) { f.HasCanaries = false }),
			decided{"Progressing", "Progressing", "w1", "c1=Run", ""},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw7TheProvenVersionsAreThoseOfTheCanaries(t *testing.T) {
	f := fleet(2, 1)
	f.Proven = map[string]string{"arm64": "v1.33.8"}
	f.OnMovedHalt = false
	set(&f, 0, "Run Succeeded settled v1.33.9")
	if diff := cmp.Diff(map[string]string{"arm64": "v1.33.8"}, policy.Decide(f, noon).Proven); diff != "" {
		t.Errorf("before all canaries have succeeded (-want +got):\n%s", diff)
	}
	set(&f, 1, "Run Succeeded settled v1.33.10")
	want := map[string]string{"amd64": "v1.33.10", "arm64": "v1.33.8"}
	if diff := cmp.Diff(want, policy.Decide(f, noon).Proven); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"arm64": "v1.33.8"}, f.Proven); diff != "" {
		t.Errorf("the input was changed:\n%s", diff)
	}
}

func TestStopsAreStickyAndTakeBackWhatIsInFlight(t *testing.T) {
	cancelled := func(f *policy.Fleet) { f.Cancelled = true }
	superseded := func(f *policy.Fleet) { f.Superseded = true }
	isPaused := func(f *policy.Fleet) { f.Paused = true }
	isMisspelt := func(f *policy.Fleet) { f.UnknownField = "unknown field spec.puased" }
	sticky := func(p policy.Phase) func(*policy.Fleet) { return func(f *policy.Fleet) { f.Sticky = p } }
	for name, tc := range map[string]row{
		"cancel": {
			[]int{1, 3},
			with(sets(done, "Run Progressing", "Hold Holding"), cancelled),
			decided{"Cancelled", "Cancelled", "w1", "c1=Withdraw c2=Withdraw", ""},
		},
		"supersede": {
			[]int{1, 3},
			with(sets(done, "Run Verifying"), superseded),
			decided{"Superseded", "Superseded", "w1", "c1=Withdraw", ""},
		},
		"cancelled stays cancelled": {
			[]int{1, 3}, with(sets(done), sticky("Cancelled"), superseded), decided{Phase: "Cancelled", Current: "w1"},
		},
		"superseded stays superseded": {
			[]int{1, 3},
			with(sets(done, "Run Progressing"), sticky("Superseded")),
			decided{Phase: "Superseded", Current: "w1", Intents: "c1=Withdraw"},
		},
		"what is through stays so": {
			[]int{1, 1}, with(sets(done, done), superseded), decided{"Succeeded", "Succeeded", "", "", ""},
		},
		"a halted rollout can be superseded": {
			[]int{1, 2},
			with(sets("Withdraw Failed settled"), sticky("Halted"), superseded),
			decided{"Superseded", "Superseded", "canaries", "", ""},
		},
		"cancelled before it was planned": {
			[]int{1, 1},
			with(cancelled, func(f *policy.Fleet) { f.Committed = false }),
			decided{"Cancelled", "Cancelled", "canaries", "", ""},
		},
		"pause holds what runs": {
			[]int{1, 3},
			with(sets(done, "Run Progressing", "Run Failed"), failures(1), isPaused),
			decided{"Paused", "Paused", "w1", "c1=Hold c2=Withdraw", "Paused"},
		},
		"law 21: a policy with an unknown field holds what runs and starts nothing": {
			[]int{1, 3},
			with(sets(done, "Run Progressing", "Run Failed"), failures(1), isMisspelt),
			decided{"Paused", "UnknownField", "w1", "c1=Hold c2=Withdraw", "UnknownField"},
		},
		"law 21: an unknown field is the reason though the policy is paused too": {
			[]int{1, 3},
			with(sets(done), isMisspelt, isPaused),
			decided{"Paused", "UnknownField", "w1", "", "UnknownField"},
		},
		"going on lets it run": {
			[]int{1, 3}, sets(done, "Hold Holding"), decided{"Progressing", "Progressing", "w1", "c1=Run", "MaxConcurrency"},
		},
		"a paused rollout still halts": {
			[]int{1, 3},
			with(sets("Run Failed"), isPaused),
			decided{"Halted", "CanaryFailed", "canaries", "c0=Withdraw", "CanaryFailed"},
		},
		"a paused rollout still ends": {
			[]int{1, 1}, with(sets(done, done), isPaused), decided{"Succeeded", "Succeeded", "", "", ""},
		},
		"nothing to do": {[]int{0, 0}, nil, decided{"Succeeded", "NothingToDo", "", "", ""}},
		"not planned yet": {
			[]int{1, 1},
			func(f *policy.Fleet) { f.Committed = false },
			decided{"Planning", "Planning", "canaries", "", "Planning"},
		},
		"cannot be planned": {
			nil, func(f *policy.Fleet) { f.Committed, f.PlanReason = false, policy.ReasonLeftOver },
			decided{"Planning", "LeftOver", "", "", "LeftOver"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw2And14AClusterThatCannotBeginGivesItsSlotBack(t *testing.T) {
	w1 := func(intents, waiting string) decided {
		return decided{"Progressing", "Progressing", "w1", intents, waiting}
	}
	member := func(m policy.Member) func(*policy.Fleet) { return func(f *policy.Fleet) { f.Members["a"] = m } }
	for name, tc := range map[string]row{
		"claimed by another": {
			[]int{1, 3}, sets(done, "Run Pending ClaimedByOther"), w1("c1=Wait", "MaxConcurrency"),
		},
		"others go on, in plan order": {
			[]int{1, 3}, sets(done, "Wait Pending ClaimedByOther"), w1("c2=Run", "MaxConcurrency"),
		},
		"not before its last start is fully taken back, though slots are free": {
			[]int{1, 2}, with(sets(done, "Wait Pending returning"), concurrency(3)), w1("c2=Run", "Returning"),
		},
		"it begins again when the reason is gone": {
			[]int{1, 3}, sets(done, "Wait Pending"), w1("c1=Run", "MaxConcurrency"),
		},
		"unhealthy before anything was granted": {
			[]int{1, 3},
			with(sets(done, "Run Pending ClusterUnhealthy"), concurrency(2)),
			w1("c1=Wait c2=Run", "MaxConcurrency"),
		},
		"one that was begun keeps it": {
			[]int{1, 3}, sets(done, "Run Holding ClaimedByOther"), w1("", "MaxConcurrency"),
		},
		"all that is left is claimed": {
			[]int{1, 1}, sets(done, "Wait Pending ClaimedByOther"), w1("", "ClaimedByOther"),
		},
		"it is given back while the rollout is paused, too": {
			[]int{1, 1},
			with(sets(done, "Hold Pending ClusterPaused"), func(f *policy.Fleet) { f.Paused = true }),
			decided{"Paused", "Paused", "w1", "c1=Wait", "Paused"},
		},
		"a silent member": {
			[]int{1, 2},
			with(sets(done), member(policy.Member{Upgrade: true, Reason: "Unreachable"})),
			w1("", "MemberUnreachable"),
		},
		"a member that may only be read": {
			[]int{1, 2}, with(sets(done), member(policy.Member{Ready: true})), w1("", "AccessReadOnly"),
		},
		"a member that is not known": {
			[]int{1, 2}, with(sets(done), func(f *policy.Fleet) { f.Members = nil }), w1("", "MemberUnreachable"),
		},
		"no other cluster waits for a silent one": {
			[]int{1, 2},
			with(sets(done), func(f *policy.Fleet) {
				f.Members["b"] = policy.Member{}
				f.Clusters[1].Member = "b"
			}),
			w1("c2=Run", "MemberUnreachable"),
		},
		"all in flight hold": {
			[]int{1, 1}, sets(done, "Run Holding MemberUnreachable"), w1("", "MemberUnreachable"),
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw17And18SharedReasonsStandOnceAndSingleOnesAreBounded(t *testing.T) {
	f := fleet(1, 60, 2)
	set(&f, 0, done)
	for i := 1; i <= 50; i++ {
		set(&f, i, "Wait Pending ClaimedByOther")
		f.Clusters[i].Since = noon.Add(-time.Hour)
	}
	d := policy.Decide(f, noon)
	type summary struct {
		Holds, Left int
		First       policy.ClusterHold
		Waves       []string
	}
	got := summary{Holds: len(d.Holds), Left: d.HoldsLeft, First: d.Holds[0]}
	for _, w := range d.Waves {
		why := "-"
		if w.Waiting != nil {
			why = w.Waiting.Reason
		}
		got.Waves = append(got.Waves, fmt.Sprintf("%s %s %s planned=%d pending=%d", w.Name, w.Phase, why, w.Planned,
			w.Pending))
	}
	want := summary{
		Holds: policy.MaxHolds, Left: 30,
		First: policy.ClusterHold{ID: "c1", Path: "a/ns/c1", Waiting: policy.Waiting{
			Reason: policy.ReasonClaimedByOther, Since: noon.Add(-time.Hour),
		}},
		Waves: []string{
			"canaries Succeeded - planned=1 pending=0",
			"w1 Waiting MaxConcurrency planned=60 pending=60",
			"w2 Waiting WaitingForWave planned=2 pending=2",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLaw17AHaltSaysWhatFailedWhatWasNotTouchedAndWhatOneMayDo(t *testing.T) {
	f := fleet(1, 3)
	set(&f, 0, "Run Failed")
	f.Clusters[0].LastError = "Download snap k8s: connection refused"
	d := policy.Decide(f, noon)
	for _, words := range []string{"a/ns/c0", "Download snap k8s: connection refused", "3 other clusters", "new target"} {
		if !strings.Contains(d.Message, words) {
			t.Errorf("%q does not say %q", d.Message, words)
		}
	}
	if d.Waiting == nil || !d.Waiting.Act || d.Waiting.Message != d.Message {
		t.Errorf("waiting is %+v", d.Waiting)
	}
	if got, want := d.String(), "Halted(CanaryFailed) wave=canaries c0=Withdraw waiting=CanaryFailed"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestLaw17AWaitKeepsItsBeginning(t *testing.T) {
	earlier := noon.Add(-time.Hour)
	for name, tc := range map[string]struct {
		wait   policy.Waiting
		before *policy.Waiting
		want   time.Time
	}{
		"recorded": {
			policy.Waiting{Reason: "A", Since: earlier}, &policy.Waiting{Reason: "A", Since: noon}, earlier,
		},
		"the same":       {policy.Waiting{Reason: "A"}, &policy.Waiting{Reason: "A", Since: earlier}, earlier},
		"another":        {policy.Waiting{Reason: "B"}, &policy.Waiting{Reason: "A", Since: earlier}, noon},
		"the first":      {policy.Waiting{Reason: "A"}, nil, noon},
		"never recorded": {policy.Waiting{Reason: "A"}, &policy.Waiting{Reason: "A"}, noon},
	} {
		if got := tc.wait.Carry(tc.before, noon).Since; !got.Equal(tc.want) {
			t.Errorf("%s: since %s, want %s", name, got, tc.want)
		}
	}
}
