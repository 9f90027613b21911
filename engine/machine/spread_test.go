// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// PROTOCOL.md 5.2, 1.
func TestFault01_APauseBetweenAttemptsDoublesAndIsSpreadByATenthAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 40).Draw(t, "count")
		uid := types.UID(rapid.String().Draw(t, "uid"))
		plain := observed(func(o *machine.Observation) {
			o.Plan.MaxAttempts = 99
			o.Attempt = protocol.Attempt{Target: target, Count: count, From: oldVersion, SentAt: start, FailedAt: start}
		})
		spread := plain
		spread.Spread = machine.Spread(uid, count)
		least := min(time.Minute<<min(count-1, 10), 30*time.Minute)
		if got := machine.Next(plain, start).Recheck.Sub(start); got != least {
			t.Fatalf("pause after %d failures: %s, want %s", count, got, least)
		}
		pause := machine.Next(spread, start).Recheck.Sub(start)
		if pause < least || pause >= least+least/10 {
			t.Fatalf("spread pause after %d failures: %s, want from %s, a tenth more at most", count, pause, least)
		}
		if step := machine.Next(spread, start.Add(pause)); step.Action != machine.Send {
			t.Fatalf("when the pause is over: %s", step.Action)
		}
	})
}

func TestFault01_MachinesThatFailedTogetherTryAgainApart(t *testing.T) {
	instants := map[float64]bool{}
	for _, uid := range []types.UID{"a", "b", "c", "d", "e", "f"} {
		for attempt := range 3 {
			same(t, "the same for one attempt", machine.Spread(uid, attempt), machine.Spread(uid, attempt))
			instants[machine.Spread(uid, attempt)] = true
		}
	}
	same(t, "different instants", 18, len(instants))
}

func TestFault01_TheUpgraderSpreadsByMachineAndAttempt(t *testing.T) {
	w := newWorld(t, requested())
	w.upgrader.Spread = func(uid types.UID, attempt int) float64 {
		same(t, "machine", types.UID("uid-m0"), uid)
		return float64(attempt) / 4
	}
	w.node.refreshes, w.node.statuses = accepts("1"), says(failed)
	w.settle(time.Hour)
	a := w.attempt()
	// 1m and a quarter of its tenth, then 2m and half of its tenth.
	want := time.Minute + 1500*time.Millisecond + 2*time.Minute + 6*time.Second
	same(t, "the third attempt", want, a.SentAt.Sub(start).Truncate(time.Second/2))
	same(t, "attempts", 3, a.Count)
}
