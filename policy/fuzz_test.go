// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// FuzzDecide reads a fleet from bytes, legal or not, and asks that deciding neither panics nor depends on anything
// but its input, and that what it writes settles.
func FuzzDecide(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 2, 3, 4})
	f.Add([]byte("committed, with two waves and a few clusters, one of them failed"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fleet := fromBytes(data)
		first := policy.Decide(fleet, noon)
		if diff := cmp.Diff(first, policy.Decide(fleet, noon)); diff != "" {
			t.Fatalf("two answers:\n%s", diff)
		}
		if first.Phase == "" || first.Reason == "" && fleet.Sticky == "" {
			t.Fatalf("no phase or reason: %+v", first)
		}
		w := &world{fleet: fleet, now: noon, began: map[string]bool{}}
		for round := 0; len(w.decide().Intents) > 0; round++ {
			if round > 3 {
				t.Fatalf("does not settle: %s", policy.Decide(w.fleet, noon))
			}
		}
	})
}

func fromBytes(data []byte) policy.Fleet {
	next := func(below int) int {
		if len(data) == 0 {
			return 0
		}
		value := int(data[0]) % below
		data = data[1:]
		return value
	}
	intents := []policy.Intent{"", policy.Wait, policy.Run, policy.Hold, policy.Withdraw, "odd"}
	phases := []policy.ClusterPhase{
		"", policy.Pending, policy.Progressing, policy.Verifying, policy.Holding, policy.Succeeded, policy.Failed,
		policy.Deferred, policy.Ineligible, policy.Skipped, policy.Removed, "odd",
	}
	reasons := []string{"", policy.ReasonClaimedByOther, policy.ReasonMemberUnreachable, "odd"}
	flags := next(256)
	fleet := policy.Fleet{
		Committed: flags&1 == 0, Paused: flags&2 > 0, Cancelled: flags&4 > 0, Superseded: flags&8 > 0,
		HasCanaries: flags&16 > 0, OnMovedHalt: flags&32 > 0,
		Sticky:      []policy.Phase{"", "", "", policy.PhaseHalted, policy.PhaseCancelled, policy.PhaseSuperseded}[next(6)],
		OtherActive: next(3),
		Members:     map[string]policy.Member{"m0": {Ready: flags&64 == 0, Upgrade: true, MaxConcurrentClusters: next(3)}},
	}
	for i := range next(5) {
		fleet.Waves = append(fleet.Waves, policy.Wave{
			Name: fmt.Sprint(i), Canary: next(3) == 0, Planned: next(4), MaxConcurrency: next(4) - 1, MaxFailures: next(3) - 1,
		})
	}
	for len(data) > 0 {
		fleet.Clusters = append(fleet.Clusters, policy.Cluster{
			ID: fmt.Sprint(len(fleet.Clusters)), Member: []string{"m0", "m0", "m1"}[next(3)], Wave: next(6) - 1,
			Intent: intents[next(len(intents))], Phase: phases[next(len(phases))], Reason: reasons[next(len(reasons))],
			Returning: next(4) == 0, Settled: next(2) == 0,
			Versions: map[string]string{"amd64": []string{"v1.33.9", "v1.33.10", "odd"}[next(3)]},
		})
	}
	return fleet
}
