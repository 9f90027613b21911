// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// standing is the phase of a rollout with its reason.
type standing struct {
	phase           Phase
	reason, message string
}

// rule says whether a rollout stands in one phase; nil: it does not.
type rule func(*board) *standing

// stand is the phase of the rollout: that of the first rule that applies.
func (b *board) stand() standing {
	for _, applies := range []rule{
		givenUp,          // cancelled or superseded earlier: sticky
		asked,            // cancelled or superseded now, unless it is through
		planning,         // membership is not committed
		haltedEarlier,    // sticky: nothing lifts it but a new target
		canaryLost,       // law 7
		canaryTimedOut,   // law 7
		overBudget,       // law 6
		targetMoved,      // law 7
		deadlineExceeded, // law 13
		nothingProven,    // law 15
		through,          // every wave is complete
		misspelt,         // law 21
		paused,           // the policy's own brake
		soakingNow,       // law 8
		awaitingApproval, // the next start needs the word of people
		late,             // past its deadline, and nothing is proven
		catchingUp,       // only what was put off is left
	} {
		if s := applies(b); s != nil {
			return *s
		}
	}
	t := b.tallies[b.current]
	return standing{PhaseProgressing, ReasonProgressing, fmt.Sprintf("wave %s: %d of %d clusters succeeded, %d in flight",
		b.Waves[b.current].Name, t.succeeded, b.Waves[b.current].Planned, t.active)}
}

func givenUp(b *board) *standing {
	if b.Sticky != PhaseCancelled && b.Sticky != PhaseSuperseded {
		return nil
	}
	return &standing{b.Sticky, b.StickyReason, b.StickyMessage}
}

func asked(b *board) *standing {
	if b.Committed && b.Sticky == "" && b.current == len(b.Waves) {
		return nil
	}
	switch {
	case b.Cancelled:
		return &standing{PhaseCancelled, ReasonCancelled, b.left("cancelled")}
	case b.Superseded:
		return &standing{PhaseSuperseded, ReasonSuperseded, b.left("a newer target took over")}
	}
	return nil
}

func (b *board) left(why string) string {
	return fmt.Sprintf("%s: %d clusters in flight are taken back, %d were not touched", why, b.inFlight, b.untouched)
}

func planning(b *board) *standing {
	switch {
	case b.Committed:
		return nil
	case b.PlanReason != "":
		return &standing{PhasePlanning, b.PlanReason, b.PlanMessage}
	default:
		return &standing{PhasePlanning, ReasonPlanning, "the plan is not committed yet"}
	}
}

func haltedEarlier(b *board) *standing {
	if b.Sticky != PhaseHalted {
		return nil
	}
	return &standing{PhaseHalted, b.StickyReason, b.StickyMessage}
}

func through(b *board) *standing {
	if b.current < len(b.Waves) {
		return nil
	}
	var sum tally
	for i := range b.tallies {
		t := &b.tallies[i]
		sum.clusters += t.clusters
		sum.succeeded += t.succeeded
		sum.failed += t.failed
		sum.skipped += t.skipped + t.gone
	}
	left := sum.clusters - sum.succeeded - sum.failed - sum.skipped
	switch {
	case sum.clusters == 0:
		return &standing{PhaseSucceeded, ReasonNothingToDo, "no cluster needed this target"}
	case left > 0:
		return &standing{
			PhaseCompletedWithFailures, ReasonNotCaughtUp,
			fmt.Sprintf("%d of %d clusters succeeded, %d failed, %d were put off and never upgraded", sum.succeeded,
				sum.clusters, sum.failed, left),
		}
	case sum.failed > 0:
		return &standing{
			PhaseCompletedWithFailures, ReasonFailuresWithinBudget,
			fmt.Sprintf("%d of %d clusters succeeded, %d failed within budget", sum.succeeded, sum.clusters, sum.failed),
		}
	default:
		return &standing{
			PhaseSucceeded, ReasonSucceeded,
			fmt.Sprintf("%d of %d clusters succeeded", sum.succeeded, sum.clusters),
		}
	}
}

func misspelt(b *board) *standing {
	if b.UnknownField == "" {
		return nil
	}
	return &standing{PhasePaused, ReasonUnknownField, b.UnknownField}
}

func paused(b *board) *standing {
	if !b.Paused {
		return nil
	}
	return &standing{
		PhasePaused, ReasonPaused,
		fmt.Sprintf("the policy is paused: %d clusters in flight finish the machine at work, no other begins", b.inFlight),
	}
}

// awaitingApproval stands while clusters of the current wave could begin but for the word of people. What has begun
// goes on.
func awaitingApproval(b *board) *standing {
	if b.Waves[b.current].Approvals <= 0 || b.tallies[b.current].pending == 0 {
		return nil
	}
	_, hold := b.approvals(b.current)
	if hold == nil {
		return nil
	}
	return &standing{PhaseAwaitingApproval, hold.Reason, hold.Message}
}
