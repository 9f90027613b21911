// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

const (
	// SecondRead is how long everything must be proven before a cluster has succeeded.
	SecondRead = 10 * time.Second
	// Permission is how far ahead machines may begin without the hub. It is renewed at half time.
	Permission = time.Hour
	// Quiet is how long a granted owner may stand still before that is said.
	Quiet = time.Minute
)

// Next is the one thing to do now for a cluster, with what to show. The caller carries the action out, looks again
// and asks again.
func Next(o Observation, now time.Time) Step {
	l := look{o: o, now: now}
	if o.PerMachine {
		l = l.follow()
	}
	step := l.next()
	if step.Action == "" {
		step.Action = None
	}
	if step.Action != None {
		step.Recheck = now
		step.Starts = o.StartedAt.IsZero()
	}
	if !Final(step.Phase) {
		l.clocks(&step)
	}
	if step.Action != GrantOwner && step.Action != GrantMachine {
		step.Cleared = ""
	}
	if step.Action == Settle {
		step.Leftovers = l.leftovers()
	}
	if o.PerMachine {
		l.remember(o, &step)
	}
	step.Act = step.Act || policy.NeedsAct(step.Reason)
	step.Settled = step.Settled || step.Action == None && l.clean()
	if step.Phase != policy.Succeeded {
		step.LastError = cmp.Or(step.LastError, l.o.lastError(), o.LastError)
	}
	return step
}

// look is one observation at one instant.
type look struct {
	o   Observation
	now time.Time
	// trails of machines that are granted one by one, by name.
	trails map[string]trail
}

func (l look) next() Step {
	o := l.o
	if step, done := l.through(); done {
		return step
	}
	if step, out := l.outOfReach(); out {
		return step
	}
	if step, urgent := l.react(); urgent {
		return step
	}
	if Final(o.Phase) {
		return l.windDown(l.kept(false), l.kept(true))
	}
	if machine, found := o.quarantined(); found {
		return l.fail(machine)
	}
	if l.late() {
		return l.giveUp()
	}
	switch o.Intent {
	case policy.Run, policy.Hold:
		return l.drive()
	case policy.Withdraw:
		return l.windDown(Step{
			Phase: policy.Holding, Reason: ReasonWithdrawing, Message: "what was granted is being taken back",
		}, withdrawn())
	case policy.Wait:
	}
	return l.windDown(Step{
		Phase: policy.Holding, Reason: ReasonWithdrawing, Message: "the slot is being given back",
	}, l.waiting())
}

// through is a cluster that needs no further look.
func (l look) through() (Step, bool) {
	ended := Final(l.o.Phase)
	switch {
	case ended && l.o.Settled:
		return l.kept(true), true
	case !ended && l.o.Intent == policy.Withdraw && !l.started():
		return withdrawn(), true
	}
	return Step{}, false
}

// outOfReach is a cluster that is gone, or is not to be judged or written to now.
func (l look) outOfReach() (Step, bool) {
	o := l.o
	switch {
	case !o.Reachable:
		return l.silent(), true
	case !o.Access:
		return l.away(policy.ReasonAccessReadOnly, "the management cluster is registered with access: ReadOnly"), true
	case !o.Present && Final(o.Phase):
		return l.kept(true), true
	case !o.Present:
		return Step{
			Phase: policy.Removed, Reason: ReasonClusterRemoved, Message: "the cluster no longer exists", Settled: true,
		}, true
	case o.Claim.State == ClaimOther && (l.marked() || !Final(o.Phase)):
		return l.away(policy.ReasonClaimedByOther, "driven by "+cmp.Or(o.Claim.By, "another")), true
	}
	return Step{}, false
}

func withdrawn() Step {
	return Step{Phase: policy.Skipped, Reason: ReasonWithdrawn, Message: "taken back before it was done"}
}

// kept is an end that was reached before.
func (l look) kept(settled bool) Step {
	return Step{
		Phase: l.o.Phase, Reason: l.o.Reason, Message: l.o.Message, LastError: l.o.LastError, Settled: settled,
		Versions: l.versionsIf(l.o.Phase == policy.Succeeded),
	}
}

// away is a cluster that is not to be judged or written to now. An end stays what it was.
func (l look) away(reason, message string) Step {
	if Final(l.o.Phase) {
		return l.kept(false)
	}
	return l.hold(reason, "%s", message)
}

// hold keeps a cluster where it is: Pending or Deferred when nothing was begun, else Holding.
func (l look) hold(reason, format string, args ...any) Step {
	step := Step{Phase: unbegun(reason), Reason: reason, Message: fmt.Sprintf(format, args...)}
	if l.started() {
		step.Phase = policy.Holding
		if machine, found := l.o.inFlight(); found {
			step.CurrentMachine = machine
		}
	}
	return step
}

// waiting is a cluster whose turn has not come. It says early what would keep it from starting.
func (l look) waiting() Step {
	if step, hindered := l.hindered(); hindered {
		step.Phase = unbegun(step.Reason)
		return step
	}
	return Step{Phase: policy.Pending, Reason: ReasonWaiting, Message: "its turn has not come" + l.unheeded()}
}

// fail takes back a cluster one of whose machines used up its attempts.
func (l look) fail(m Machine) Step {
	step := Step{
		Phase: policy.Failed, Reason: ReasonMachineQuarantined, CurrentMachine: m.Name, LastError: m.LastError,
		Message: fmt.Sprintf("machine %s failed %d times: %s", m.Name, m.Attempts, cmp.Or(m.LastError, "no word of why")),
	}
	return l.windDown(step, step)
}

// started: something of ours is, or may be, on the member.
func (l look) started() bool { return !l.o.StartedAt.IsZero() && !l.lost() || l.marked() }

// lost: another took the claim before anything was granted, so that nothing of ours is there.
func (l look) lost() bool {
	return l.o.Claim.State == ClaimOther && !slices.ContainsFunc(l.o.Owners, func(o Owner) bool {
		return o.Ours || !o.GrantedAt.IsZero() || slices.ContainsFunc(o.Machines, func(m Machine) bool {
			return m.Ours || !m.Record.zero()
		})
	})
}

// marked: something of ours is on the member. Leftovers on machines count only for an upgrade that we began: before
// that they are somebody else's (law 16).
func (l look) marked() bool {
	if l.o.Claim.State == ClaimOurs {
		return true
	}
	ours := !l.o.StartedAt.IsZero() && !l.lost() && (l.o.Intent == policy.Run || l.o.Intent == policy.Hold ||
		l.o.Intent == policy.Withdraw || l.o.Phase == policy.Failed)
	for _, owner := range l.o.Owners {
		if owner.Ours || ours && owner.leftovers() {
			return true
		}
	}
	return false
}

// clean: nothing of ours is on the member, as far as can be known.
func (l look) clean() bool { return !l.marked() && (l.o.Reachable || l.o.StartedAt.IsZero()) }
