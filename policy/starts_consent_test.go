// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// consent makes wave w1 need the word of two people on plan d1, asked for by carol, and gives these words.
func consent(words ...policy.Approval) func(*policy.Fleet) {
	return func(f *policy.Fleet) {
		f.Waves[1].Approvals, f.Digest, f.RequestedBy, f.Approvals = 2, "d1", "carol", words
	}
}

// word is an approval of wave w1 and plan d1 by a person, a number of hours before noon.
func word(by string, hoursAgo int, edits ...func(*policy.Approval)) policy.Approval {
	a := policy.Approval{
		Name: by, By: by, Wave: "w1", Digest: "d1", Verified: true, At: noon.Add(-time.Duration(hoursAgo) * time.Hour),
	}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

func rejects(a *policy.Approval)     { a.Rejected, a.Reason = true, "the database is being moved" }
func unverified(a *policy.Approval)  { a.Verified = false }
func ofOtherPlan(a *policy.Approval) { a.Digest = "d0" }
func ofOtherWave(a *policy.Approval) { a.Wave = "w2" }
func expires(hours int) func(*policy.Approval) {
	return func(a *policy.Approval) { a.ExpiresAt = noon.Add(time.Duration(hours) * time.Hour) }
}

func TestApprovalsAreCountedBeforeEveryStart(t *testing.T) {
	type consented struct {
		Phase            policy.Phase
		Reason, Intents  string
		Approved         int
		Of               []string
		Recheck, Message string
	}
	waits := func(approved int, of []string, recheck string) consented {
		return consented{"AwaitingApproval", "AwaitingApproval", "", approved, of, recheck, ""}
	}
	begins := func(recheck string) consented {
		return consented{"Progressing", "Progressing", "c1=Run", 2, []string{"alice", "bob"}, recheck, ""}
	}
	rejected := consented{
		"AwaitingApproval", "ApprovalRejected", "", 1, []string{"alice"}, "", "bob rejected wave w1: the database is being moved",
	}
	for name, tc := range map[string]struct {
		words []policy.Approval
		want  consented
	}{
		"nobody has said anything":         {nil, waits(0, nil, "")},
		"one of two":                       {[]policy.Approval{word("alice", 1)}, waits(1, []string{"alice"}, "")},
		"two people":                       {[]policy.Approval{word("alice", 1), word("bob", 2)}, begins("")},
		"one person twice is one":          {[]policy.Approval{word("alice", 1), word("alice", 2)}, waits(1, []string{"alice"}, "")},
		"who asked for it does not count":  {[]policy.Approval{word("alice", 1), word("carol", 2)}, waits(1, []string{"alice"}, "")},
		"a word nobody vouched for":        {[]policy.Approval{word("alice", 1), word("bob", 2, unverified)}, waits(1, []string{"alice"}, "")},
		"for the plan as it was":           {[]policy.Approval{word("alice", 1), word("bob", 2, ofOtherPlan)}, waits(1, []string{"alice"}, "")},
		"for another wave":                 {[]policy.Approval{word("alice", 1), word("bob", 2, ofOtherWave)}, waits(1, []string{"alice"}, "")},
		"expired at this very instant":     {[]policy.Approval{word("alice", 1), word("bob", 2, expires(0))}, waits(1, []string{"alice"}, "")},
		"one that expires in an hour":      {[]policy.Approval{word("alice", 1), word("bob", 2, expires(1))}, begins("2026-12-01T13:00:00Z")},
		"somebody says no":                 {[]policy.Approval{word("alice", 1), word("bob", 2, rejects)}, rejected},
		"no is no though two said yes":     {[]policy.Approval{word("alice", 1), word("bob", 2, rejects), word("dave", 1)}, consented{"AwaitingApproval", "ApprovalRejected", "", 2, []string{"alice", "dave"}, "", rejected.Message}},
		"who said no and then yes":         {[]policy.Approval{word("alice", 1), word("bob", 2, rejects), word("bob", 1)}, begins("")},
		"who said yes and then no":         {[]policy.Approval{word("alice", 1), word("bob", 2), word("bob", 1, rejects)}, rejected},
		"yes and no at once is no":         {[]policy.Approval{word("alice", 1), word("bob", 1), word("bob", 1, rejects)}, rejected},
		"a no that nobody vouched for":     {[]policy.Approval{word("alice", 1), word("bob", 2), word("bob", 1, rejects, unverified)}, begins("")},
		"a no that has expired":            {[]policy.Approval{word("alice", 1), word("bob", 1, rejects, expires(-1))}, waits(1, []string{"alice"}, "")},
		"a newer one that expired is none": {[]policy.Approval{word("alice", 1), word("bob", 2), word("bob", 1, expires(0))}, waits(1, []string{"alice"}, "")},
	} {
		t.Run(name, func(t *testing.T) {
			f := built([]func(*policy.Fleet){sets(done), consent(tc.words...)}, 1, 1)
			d := policy.Decide(f, noon)
			o := outcomeOf(d)
			got := consented{d.Phase, d.Reason, o.Intents, d.Waves[1].Approved, d.Waves[1].ApprovedBy, o.Recheck, ""}
			if d.Reason == policy.ReasonApprovalRejected {
				got.Message = d.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if d.Phase == policy.PhaseAwaitingApproval && (d.Waiting == nil || !d.Waiting.Act || d.Waiting.Reason != d.Reason ||
				d.Waves[1].Waiting == nil) {
				t.Errorf("waiting is %+v, of the wave %+v", d.Waiting, d.Waves[1].Waiting)
			}
			stable(t, f, noon)
		})
	}
}

func TestAnApprovalThatEndsStopsTheNextStartAndNotWhatHasBegun(t *testing.T) {
	f := built([]func(*policy.Fleet){
		sets(done, "Run Progressing"), concurrency(2), consent(word("alice", 1), word("bob", 1, expires(1))),
	}, 1, 3)
	if got := outcomeOf(policy.Decide(f, noon)); got.Intents != "c2=Run" || got.Recheck != "2026-12-01T13:00:00Z" {
		t.Errorf("while it counts: %+v", got)
	}
	d := policy.Decide(f, noon.Add(time.Hour))
	if len(d.Intents) > 0 || d.Phase != policy.PhaseAwaitingApproval {
		t.Errorf("when it has expired: %s", d)
	}
}

func TestCanariesMayNeedAnApprovalToo(t *testing.T) {
	f := fleet(1, 1)
	f.Waves[0].Approvals, f.Digest = 1, "d1"
	if d := policy.Decide(f, noon); d.Phase != policy.PhaseAwaitingApproval || len(d.Intents) > 0 {
		t.Errorf("without: %s", d)
	}
	f.Approvals = []policy.Approval{{Name: "x", By: "alice", Wave: policy.CanaryWave, Digest: "d1", Verified: true}}
	if d := policy.Decide(f, noon); len(d.Intents) != 1 {
		t.Errorf("with: %s", d)
	}
}

func TestC080_OfTwoPoliciesOneGoesFirstAndTheOtherSaysWhom(t *testing.T) {
	rival := func(f *policy.Fleet) { f.Clusters[1].Rival = &policy.Rival{Rollout: "shop/a-7xk2p", Priority: 10} }
	for name, tc := range map[string]timed{
		"C080: the other wants it now and goes first": {
			built([]func(*policy.Fleet){sets(done), rival}, 1, 1), "2026-12-01T12:00:00Z",
			outcome{Waiting: "Outranked", Holds: "c1:Outranked"},
		},
		"no other cluster waits for that": {
			built([]func(*policy.Fleet){sets(done), rival}, 1, 2), "2026-12-01T12:00:00Z",
			outcome{Intents: "c2=Run", Waiting: "Outranked", Holds: "c1:Outranked"},
		},
		"C080: the other has claimed it": {
			built([]func(*policy.Fleet){sets(done, "Wait Pending ClaimedByOther")}, 1, 1), "2026-12-01T12:00:00Z",
			outcome{Waiting: "ClaimedByOther", Holds: "c1:ClaimedByOther"},
		},
		"C080: the other was deleted and is not idle yet": {
			built([]func(*policy.Fleet){sets(done, "Run Pending ClaimedByOther")}, 1, 1), "2026-12-01T12:00:00Z",
			outcome{Intents: "c1=Wait", Holds: "c1:ClaimedByOther", Waiting: "ClaimedByOther"},
		},
		"C080: it is idle": {
			built([]func(*policy.Fleet){sets(done, "Wait Pending")}, 1, 1), "2026-12-01T12:00:00Z", outcome{Intents: "c1=Run"},
		},
		"what has begun is not taken away": {
			built([]func(*policy.Fleet){sets(done, "Run Progressing"), rival}, 1, 1), "2026-12-01T12:00:00Z", outcome{},
		},
	} {
		t.Run(name, tc.check)
	}
	f := built([]func(*policy.Fleet){sets(done), rival}, 1, 1)
	want := "a/ns/c1: shop/a-7xk2p, of priority 10, wants it and goes first"
	if got := policy.Decide(f, noon).Waiting.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}
