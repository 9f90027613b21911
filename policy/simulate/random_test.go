// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

// runs is how many random worlds are played; each is named by its seed.
const runs = 2000

// TestLawsHoldInRandomWorlds plays rollouts through mishaps of every kind and judges every moment. A seed that fails
// prints its film.
func TestLawsHoldInRandomWorlds(t *testing.T) {
	for _, batch := range []string{"seen at once", "seen late"} {
		t.Run(batch, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(runs / 2) {
				s := random(seed)
				if batch == "seen late" {
					s.Lag, s.Seed = 90*time.Second, seed
				}
				j := watch(&s.Input, map[string][]simulate.Machines{})
				stable(&s.Input, j, seed)
				r := simulate.Run(s.Input)
				if found := j.verdict(r); len(found) > 0 {
					t.Fatalf("seed %d:\n%s\n%s", seed, strings.Join(found, "\n"), r.Film())
				}
			}
		})
	}
}

// TestOneRolloutAtATimeDrivesAClusterInRandomWorlds plays two policies that want many of the same clusters.
func TestOneRolloutAtATimeDrivesAClusterInRandomWorlds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(runs / 10) {
		one, two := random(seed), random(seed+1_000_000)
		one.Name, two.Name = "one", "two"
		one.Priority, two.Priority = int(seed%3), 1
		two.Until, two.Lag = time.Time{}, 0
		busy := map[string][]simulate.Machines{}
		judges := []*judge{watch(&one.Input, busy), watch(&two.Input, busy)}
		for i, r := range simulate.RunAll([]simulate.Input{one.Input, two.Input}) {
			if found := judges[i].verdict(r); len(found) > 0 {
				t.Fatalf("seed %d, rollout %d:\n%s\n%s", seed, i+1, strings.Join(found, "\n"), r.Film())
			}
		}
	}
}

// stable has the judge look at some moments for a decision that changes before its Recheck, or when it is made again.
func stable(in *simulate.Input, j *judge, seed uint64) {
	see, dice := in.Watch, rand.New(rand.NewPCG(seed, 5))
	in.Watch = func(m simulate.Moment) {
		see(m)
		if dice.IntN(20) > 0 {
			return
		}
		now := policy.Decide(m.After, m.At)
		ahead := time.Duration(dice.Int64N(int64(72 * time.Hour)))
		if limit := now.Recheck.Sub(m.At); !now.Recheck.IsZero() && ahead >= limit {
			ahead = limit - 1
		}
		diff := cmp.Diff(now, policy.Decide(m.After, m.At.Add(ahead)))
		j.claim(diff == "", m.At, "%s later, before %s, the decision is another:\n%s", ahead, now.Recheck, diff)
	}
}

// random is a fleet with limits and windows of all kinds, and what befalls it.
func random(seed uint64) *story {
	dice := rand.New(rand.NewPCG(seed, 1))
	s := tell()
	s.Machines = true
	s.Until = s.From.AddDate(0, 0, 30)
	members := []string{"eu", "us", "ap", "sa"}[:1+dice.IntN(4)]
	count := 0
	take := func(n int) []string {
		var paths []string
		for range n {
			count++
			paths = append(paths, fmt.Sprintf("%s/shop/%d", members[dice.IntN(len(members))], count))
		}
		return paths
	}
	if dice.IntN(3) > 0 {
		s.canaries(take(1 + dice.IntN(2))...)
	}
	for i := range 1 + dice.IntN(3) {
		s.wave(policy.Wave{
			Name: fmt.Sprintf("w%d", i+1), MaxConcurrency: 1 + dice.IntN(4), MaxFailures: dice.IntN(3),
		}, take(dice.IntN(6))...)
	}
	s.catchUp()
	randomRules(s, dice)
	randomHours(s, dice)
	for range dice.IntN(9) {
		randomEvents(s, dice, members)
	}
	return s
}

func randomRules(s *story, dice *rand.Rand) {
	f := &s.Fleet
	f.OnMovedHalt, f.ReserveBudget = dice.IntN(2) == 0, dice.IntN(3) == 0
	f.Unreachable = policy.Unreachable{Grace: time.Duration(dice.IntN(4)) * 10 * time.Minute, MaxUnknown: dice.IntN(4) - 1}
	f.RequestedBy = "ann"
	f.CatchUpFor = time.Duration(dice.IntN(3)) * 36 * time.Hour
	s.FailBeforeStart, s.WaitBeforeStart = dice.IntN(8) == 0, dice.IntN(8) == 0
	for i := range f.Waves {
		w := &f.Waves[i]
		if w.CatchUp {
			continue
		}
		w.Soak = time.Duration(dice.IntN(3)) * 45 * time.Minute
		if dice.IntN(4) == 0 {
			w.Deadline, w.DeadlineContinue = time.Duration(1+dice.IntN(8))*time.Hour, dice.IntN(2) == 0 && !w.Canary
		}
		if dice.IntN(12) == 0 {
			w.Approvals = 1 + dice.IntN(2)
		}
	}
	for _, label := range []string{"", "site"} {
		if dice.IntN(3) > 0 {
			continue
		}
		f.Limits = append(f.Limits, policy.Limit{Label: label, Max: 1 + dice.IntN(3)})
		for i := range f.Clusters {
			group := f.Clusters[i].Member
			if label != "" {
				group = fmt.Sprintf("site-%d", dice.IntN(3))
			}
			f.Clusters[i].Groups = append(f.Clusters[i].Groups, group)
		}
	}
	for name, m := range f.Members {
		if name == "us" {
			m.MaxConcurrentClusters = 1 + dice.IntN(3)
			f.Members[name] = m
		}
	}
	for i := range f.Clusters {
		f.Clusters[i].Work = []policy.Work{
			{Machines: 1 + dice.IntN(3), AtOnce: 1, Each: time.Duration(5+dice.IntN(40)) * time.Minute},
			{Machines: dice.IntN(6), AtOnce: 1 + dice.IntN(2), Each: time.Duration(5+dice.IntN(40)) * time.Minute},
		}
	}
}

func randomHours(s *story, dice *rand.Rand) {
	specs := []window.Spec{
		nightly("Europe/Berlin", 4*time.Hour), nightly("America/New_York", 90*time.Minute),
		{Windows: []window.Recurrence{{Schedule: "0 2 * * 6", Duration: 4 * time.Hour}}},
		{
			TimeZone: "Asia/Tokyo", Windows: []window.Recurrence{{Schedule: "30 1 * * *", Duration: 3 * time.Hour}},
			Exclusions: []window.Exclusion{{From: "2026-12-03", To: "2026-12-05"}},
		},
	}
	switch dice.IntN(4) {
	case 0:
		s.hours("one", specs[dice.IntN(len(specs))])
	case 1:
		s.hours("one", specs[0]).hours("two", nightly("Europe/Lisbon", 2*time.Hour))
	case 2:
		for i, c := range s.Fleet.Clusters {
			s.hours(fmt.Sprintf("zone-%d", i%2), specs[i%2], c.Path)
		}
	}
}

// randomEvents adds one mishap, and mostly its end.
func randomEvents(s *story, dice *rand.Rand, members []string) {
	if len(s.Fleet.Clusters) == 0 {
		return
	}
	at := s.From.Add(time.Duration(dice.IntN(5*24*60)) * time.Minute)
	if dice.IntN(2) == 0 {
		at = s.From.Add(time.Duration(dice.IntN(12*60)) * time.Minute)
	}
	until := at.Add(time.Duration(1+dice.IntN(600)) * time.Minute)
	c := s.Fleet.Clusters[dice.IntN(len(s.Fleet.Clusters))].Path
	member := members[dice.IntN(len(members))]
	w := s.Fleet.Waves[dice.IntN(len(s.Fleet.Waves))].Name
	begin, end := simulate.Event{At: at, Cluster: c}, simulate.Event{At: until, Cluster: c}
	switch kind := dice.IntN(24); kind {
	case 0, 1:
		begin.Kind = simulate.MachineFails
	case 2:
		begin.Kind, begin.Takes = simulate.ClusterSlow, 2*time.Hour
	case 3:
		begin.Kind, end.Kind = simulate.ClusterSick, simulate.ClusterWell
	case 4:
		begin.Kind, end.Kind = simulate.ClusterUnseen, simulate.ClusterWell
	case 5:
		begin.Kind, end.Kind = simulate.ClusterPaused, simulate.ClusterResumed
	case 6:
		begin.Kind, end.Kind = simulate.ClusterClaimed, simulate.ClusterFreed
	case 7:
		begin.Kind, begin.Until = simulate.OwnerDefers, until
	case 8:
		begin.Kind = simulate.ClusterLeaves
	case 9, 10:
		begin = simulate.Event{At: at, Kind: simulate.MemberSilent, Member: member}
		end = simulate.Event{At: until, Kind: simulate.MemberBack, Member: member}
	case 11, 12:
		begin = simulate.Event{At: at, Kind: simulate.HubDown}
		end = simulate.Event{At: until, Kind: simulate.HubBack}
	case 13:
		begin = simulate.Event{At: at, Kind: simulate.PolicyPaused}
		end = simulate.Event{At: until, Kind: simulate.PolicyResumed}
	default:
		begin, end = act(dice, kind, at, until, w, c)
	}
	s.then(begin)
	if begin.Kind == simulate.MemberSilent && dice.IntN(2) == 0 { // the hub is cut off, perhaps
		for _, other := range members {
			s.then(simulate.Event{At: at.Add(time.Duration(dice.IntN(15)) * time.Minute), Kind: simulate.MemberSilent, Member: other},
				simulate.Event{At: until, Kind: simulate.MemberBack, Member: other})
		}
	}
	if end.Kind != "" && dice.IntN(8) > 0 {
		s.then(end)
	}
}

// act is what a person does.
func act(dice *rand.Rand, kind int, at, until time.Time, w, c string) (begin, end simulate.Event) {
	name := fmt.Sprintf("f%d", dice.IntN(1000))
	switch kind {
	case 14:
		from := at.Add(time.Duration(dice.IntN(48*60)) * time.Minute)
		begin = simulate.Event{
			At: at, Kind: simulate.Frozen, Name: name, By: "joe", From: from, Until: from.Add(20 * time.Hour),
			NewClustersOnly: dice.IntN(3) == 0,
		}
		if dice.IntN(2) == 0 {
			begin.Cluster = c
		}
	case 15, 16:
		begin = simulate.Event{
			At: at, Kind: simulate.Approved, Name: name, By: []string{"ann", "bob", "cid"}[dice.IntN(3)], Wave: w,
		}
		if dice.IntN(3) == 0 {
			begin.Until = until
		}
		end = simulate.Event{At: until, Kind: simulate.Approved, Name: name + "b", By: "dee", Wave: w}
	case 17:
		begin = simulate.Event{At: at, Kind: simulate.Rejected, Name: name, By: "bob", Wave: w, Text: "not today"}
		end = simulate.Event{At: until, Kind: simulate.Approved, Name: name + "b", By: "bob", Wave: w}
	default:
		begin, end = edit(dice, kind, at, until, w, c)
	}
	return begin, end
}

// edit is what changes besides.
func edit(dice *rand.Rand, kind int, at, until time.Time, w, c string) (begin, end simulate.Event) {
	switch kind {
	case 18, 19:
		late := cluster(fmt.Sprintf("%s-late-%d", c, dice.IntN(1_000_000)))
		late.Groups = []string{"eu", "site-1"}
		begin = simulate.Event{At: at, Kind: simulate.ClusterJoins, Join: &late}
	case 20:
		begin = simulate.Event{At: at, Kind: simulate.Promoted, By: "dee", Wave: w}
		end = simulate.Event{At: until, Kind: simulate.LabelFlaps, Cluster: c}
	case 21:
		begin = simulate.Event{At: at, Kind: simulate.PolicyEdited, Name: "plan-2"}
		end = simulate.Event{At: until, Kind: simulate.Approved, Name: "again", By: "cid", Wave: w}
	case 22:
		begin = simulate.Event{At: at, Kind: simulate.TargetMoves, Version: "v1.33.10"}
	default:
		begin = simulate.Event{At: at, Kind: simulate.RolloutCancelled}
		if dice.IntN(2) == 0 {
			begin.Kind = simulate.TargetChanges
		}
	}
	return begin, end
}
