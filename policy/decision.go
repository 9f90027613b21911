// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// MaxHolds bounds Decision.Holds (law 18).
const MaxHolds = 20

// Decision is what a rollout does next, and why.
type Decision struct {
	// Phase, Reason and Message of the rollout.
	Phase           Phase
	Reason, Message string
	// Intents to write: only those that change, in plan order.
	Intents []IntentChange
	// Waves in order.
	Waves []WaveState
	// Current is the name of the first wave that is not complete; empty when all are.
	Current string
	// Waiting says why no further cluster starts; nil: nothing is kept waiting.
	Waiting *Waiting
	// Holds are the waits of single clusters, at most MaxHolds, in plan order. HoldsLeft counts those left off.
	Holds     []ClusterHold
	HoldsLeft int
	// Held are the clusters that have begun and whose intent is, or becomes, Hold, with why, in plan order. They are as many
	// as are in flight, and for the ClusterUpgrades to tell; Holds are for the rollout's own status.
	Held []ClusterHold
	// Proven is the version per architecture that the canaries proved.
	Proven map[string]string
	// Missed is the last opening that passed without a start, while clusters wait for one; nil: none. The same is given
	// until the next begins or the wait is another: who tells people tells it once, by its Span.
	Missed *Missed
	// Recheck is when time alone changes the decision; zero: never.
	Recheck time.Time
}

// IntentChange is one intent to write.
type IntentChange struct {
	// ID as in Cluster.
	ID string
	// Intent to write.
	Intent Intent
	// NotAfter is when the permission to begin machines ends: the window's end or a freeze's begin. Zero: no end. With an
	// intent that stays Run a change of NotAfter alone is an intent to write, too.
	NotAfter time.Time
}

// WaveState is how far a wave is.
type WaveState struct {
	// Name and Phase of the wave.
	Name  string
	Phase WavePhase
	// Planned as in Wave. The other counts are of its clusters as they stand, before this decision's intents:
	// Active ones hold a slot, Pending ones have no intent but Wait, Deferred, Skipped (with Removed and
	// Ineligible) and Failed ended so. An ended cluster that is not settled counts as what it ended as, and is
	// Active too.
	Planned, Succeeded, Failed, Active, Pending, Skipped, Deferred int
	// Waiting says why its next cluster does not start. Reasons that clusters share stand here once (law 18).
	Waiting *Waiting
	// Approvals that it needs and has, and whose these are.
	Approvals, Approved int
	ApprovedBy          []string
	// Soaked is the soak's clock to store; SoakUntil is when it ends if nothing happens, zero: it stands or there is none.
	Soaked    Clock
	SoakUntil time.Time
	// Works: time counts for the deadline now; the caller keeps the clock (see Clock.Run). DeadlineAt is when it passes if
	// time goes on counting, zero: it stands or there is none.
	Works      bool
	DeadlineAt time.Time
	// WorkedUntil is when time stopped counting, where that is known to be before now: the clock was left running while
	// nobody looked, and the caller stops it at that instant. Zero: now.
	WorkedUntil time.Time
	// Closed: it is complete. The caller stores the instant of the first time.
	Closed bool
}

// Missed is an opening that has passed without a start of a wave whose clusters wait.
type Missed struct {
	// Span of the opening.
	Span window.Span
	// Reason nothing started, one of the reasons of this package; Message says it for people.
	Reason, Message string
}

// Waiting is a wait: why, since when and until when (law 17).
type Waiting struct {
	// Reason is one of the reasons of this package; Message says it for people.
	Reason, Message string
	// Since is when it began. Zero where no input records it: the caller keeps it (see Carry).
	Since time.Time
	// Until is when it ends by time alone; zero: by an event, or see Act.
	Until time.Time
	// Act: it lasts until a person acts.
	Act bool
}

// Carry fills an absent Since: with that of the wait shown before when the reason is the same, else with now.
func (w Waiting) Carry(before *Waiting, now time.Time) Waiting {
	switch {
	case !w.Since.IsZero():
	case before != nil && before.Reason == w.Reason && !before.Since.IsZero():
		w.Since = before.Since
	default:
		w.Since = now
	}
	return w
}

// ClusterHold is the wait of one cluster.
type ClusterHold struct {
	// ID and Path as in Cluster.
	ID, Path string
	// Waiting is why.
	Waiting Waiting
}

// String is one line for logs: phase, reason, the current wave and the intents.
func (d Decision) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(%s)", d.Phase, d.Reason)
	if d.Current != "" {
		fmt.Fprintf(&b, " wave=%s", d.Current)
	}
	for _, change := range d.Intents {
		fmt.Fprintf(&b, " %s=%s", change.ID, change.Intent)
	}
	if d.Waiting != nil {
		fmt.Fprintf(&b, " waiting=%s", d.Waiting.Reason)
	}
	return b.String()
}
