// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// FuzzDecide reads a fleet from bytes, legal or not, and asks that deciding neither panics nor depends on anything
// but its input, that it stays the same until Recheck, that no start exceeds a limit, and that what it writes settles.
func FuzzDecide(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 2, 3, 4})
	f.Add([]byte("committed, with two waves and a few clusters, one of them failed"))
	f.Add([]byte("\x00\x00\x00\x02a wave, calendars that close, a freeze that comes, some people who approve and some who do not"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet := fromBytes(data)
		first := policy.Decide(fleet, noon)
		if diff := cmp.Diff(first, policy.Decide(fleet, noon)); diff != "" {
			t.Fatalf("two answers:\n%s", diff)
		}
		if first.Phase == "" || first.Reason == "" && fleet.Sticky == "" {
			t.Fatalf("no phase or reason: %+v", first)
		}
		if !first.Recheck.IsZero() && !first.Recheck.After(noon) {
			t.Fatalf("recheck %s is not ahead", first.Recheck)
		}
		stable(t, fleet, noon)
		w := &world{fleet: fleet, now: noon, began: map[string]bool{}}
		before := cloneFleet(fleet)
		w.settle(first)
		withinLimits(t, before, w.fleet)
		for round := 0; len(w.decide().Intents) > 0; round++ {
			if round > 3 {
				t.Fatalf("does not settle: %s", policy.Decide(w.fleet, noon))
			}
		}
	})
}

// withinLimits: what one decision has started leaves no limit exceeded that was not before.
func withinLimits(t *testing.T, before, after policy.Fleet) {
	t.Helper()
	for i, c := range after.Clusters {
		if waits := before.Clusters[i].Intent == policy.Wait || before.Clusters[i].Intent == ""; !waits || c.Intent != policy.Run {
			continue
		}
		members, sites := after.Limits[0].Elsewhere[c.Member], after.Limits[1].Elsewhere[c.Groups[1]]
		for _, other := range after.Clusters {
			if other.Intent == policy.Wait || other.Intent == "" || other.Settled || other.Phase.Ended() {
				continue
			}
			if other.Member == c.Member {
				members++
			}
			if other.Groups[1] == c.Groups[1] {
				sites++
			}
		}
		most := after.Members[c.Member].MaxConcurrentClusters
		if members > max(1, after.Limits[0].Max) || sites > max(1, after.Limits[1].Max) || most > 0 && members > most {
			t.Fatalf("%s begins as one of %d in its management cluster and %d at its site", c.ID, members, sites)
		}
	}
}

// bytesRead draws small numbers from bytes: zero when they are used up.
type bytesRead []byte

func (r *bytesRead) next(below int) int {
	if len(*r) == 0 {
		return 0
	}
	value := int((*r)[0]) % below
	*r = (*r)[1:]
	return value
}

// when is an instant within two days of noon, or none.
func (r *bytesRead) when() time.Time {
	steps := r.next(192)
	if steps == 0 {
		return time.Time{}
	}
	return noon.Add(time.Duration(steps-96)*30*time.Minute + time.Duration(r.next(3))*time.Millisecond)
}

func fromBytes(data []byte) policy.Fleet {
	r := (*bytesRead)(&data)
	flags := r.next(256)
	fleet := policy.Fleet{
		Committed: flags&1 == 0, Paused: flags&2 > 0, Cancelled: flags&4 > 0, Superseded: flags&8 > 0,
		HasCanaries: flags&16 > 0, OnMovedHalt: flags&32 > 0, ReserveBudget: flags&128 > 0,
		Sticky:      []policy.Phase{"", "", "", policy.PhaseHalted, policy.PhaseCancelled, policy.PhaseSuperseded}[r.next(6)],
		OtherActive: r.next(3), Digest: "d", RequestedBy: "carol",
		Members: map[string]policy.Member{
			"m0": {Ready: flags&64 == 0, Upgrade: true, MaxConcurrentClusters: r.next(3), Since: r.when()},
			"m2": {Ready: r.next(4) > 0, Upgrade: true, Since: r.when()},
		},
		Calendars:   map[string]policy.Calendar{},
		Limits:      []policy.Limit{{Max: r.next(4) - 1}, {Label: "site", Max: r.next(4), Elsewhere: map[string]int{"ulm": r.next(2)}}},
		Unreachable: policy.Unreachable{Grace: time.Duration(r.next(5)) * time.Hour, MaxUnknown: r.next(4) - 1},
		CatchUpFor:  time.Duration(r.next(3)) * 20 * time.Hour,
	}
	for _, c := range hoursDrawn {
		fleet.Calendars[c.Name] = c
	}
	if r.next(2) == 1 {
		reasons := []string{policy.ReasonWindowClosed, policy.ReasonMaxConcurrency, policy.ReasonSoaking}
		fleet.Shown = &policy.Waiting{Reason: reasons[r.next(3)], Since: r.when(), Until: r.when()}
	}
	r.stops(&fleet)
	for range r.next(5) {
		fleet.Waves = append(fleet.Waves, r.wave(len(fleet.Waves)))
	}
	for len(data) > 0 {
		fleet.Clusters = append(fleet.Clusters, r.cluster(len(fleet.Clusters)))
	}
	return fleet
}

func (r *bytesRead) stops(fleet *policy.Fleet) {
	for range r.next(3) {
		fleet.Freezes = append(fleet.Freezes, policy.Freeze{
			Name: "x", From: r.when(), Until: r.when(), All: r.next(2) == 0, NewClustersOnly: r.next(2) == 0, Clusters: only("0", "2"),
		})
	}
	for range r.next(4) {
		fleet.Approvals = append(fleet.Approvals, policy.Approval{
			By: []string{"alice", "bob", "carol"}[r.next(3)], Wave: fmt.Sprint(r.next(3)), Digest: []string{"d", "", "d"}[r.next(3)],
			Rejected: r.next(5) == 1, Verified: r.next(5) > 0, At: r.when(), ExpiresAt: r.when(),
		})
	}
}

func (r *bytesRead) wave(i int) policy.Wave {
	w := policy.Wave{
		Name: fmt.Sprint(i), Canary: r.next(3) == 0, Planned: r.next(4), MaxConcurrency: r.next(4) - 1, MaxFailures: r.next(3) - 1,
	}
	w.Approvals = max(0, r.next(6)-3)
	if kind := r.next(4); kind == 1 {
		w.Soak, w.Promoted = time.Duration(r.next(5))*7*time.Hour, r.next(4) == 1
		w.Soaked = policy.Clock{Elapsed: time.Duration(r.next(5)) * time.Hour, Since: r.when()}
	} else if kind == 2 {
		w.Deadline, w.DeadlineContinue = time.Duration(r.next(5))*7*time.Hour, r.next(2) == 1
		w.Worked = policy.Clock{Elapsed: time.Duration(r.next(5)) * time.Hour, Since: r.when()}
	}
	if r.next(3) == 1 {
		w.StartedAt, w.ClosedAt, w.CatchUp = r.when(), r.when(), r.next(3) == 1
	}
	return w
}

func (r *bytesRead) cluster(i int) policy.Cluster {
	intents := []policy.Intent{"", policy.Wait, policy.Run, policy.Hold, policy.Withdraw, "odd"}
	phases := []policy.ClusterPhase{
		"", policy.Pending, policy.Progressing, policy.Verifying, policy.Holding, policy.Succeeded, policy.Failed,
		policy.Deferred, policy.Ineligible, policy.Skipped, policy.Removed, "odd",
	}
	reasons := []string{"", policy.ReasonClaimedByOther, policy.ReasonMemberUnreachable, "odd"}
	c := policy.Cluster{
		ID: fmt.Sprint(i), Member: []string{"m0", "m0", "m1", "m2"}[r.next(4)], Wave: r.next(6) - 1,
		Intent: intents[r.next(len(intents))], Phase: phases[r.next(len(phases))], Reason: reasons[r.next(len(reasons))],
		Returning: r.next(4) == 1, Settled: r.next(2) == 0,
		Versions: map[string]string{"amd64": []string{"v1.33.9", "v1.33.10", "odd"}[r.next(3)]},
	}
	c.Groups = []string{c.Member, []string{"", "ulm"}[r.next(2)]}
	for range max(0, r.next(5)-2) {
		k := r.next(len(hoursDrawn) + 1)
		c.Calendars = append(c.Calendars, append(hoursDrawn, policy.Calendar{Name: "gone"})[k].Name)
	}
	for range r.next(3) {
		c.Work = append(c.Work, policy.Work{
			Machines: r.next(12) - 1, AtOnce: r.next(4) - 1, Each: time.Duration(r.next(250)-5)*time.Minute + time.Duration(r.next(2)),
		})
	}
	c.Health = []policy.Health{policy.Healthy, policy.Unhealthy, policy.HealthUnknown, "odd"}[r.next(4)]
	c.HealthSince, c.EndedAt, c.NotAfter = r.when(), r.when(), r.when()
	if r.next(9) == 1 {
		c.Rival = &policy.Rival{Rollout: "a/b"}
	}
	return c
}
