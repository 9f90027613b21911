// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// windDown leaves nothing of ours behind: owners are withdrawn, the last granted first; machines in flight finish;
// marks go; then the claim (law 11). It shows during until that is done, then end.
func (l look) windDown(during, end Step) Step {
	if !l.marked() {
		return end
	}
	if l.o.Claim.State != ClaimOurs {
		during.Action = TakeClaim
		return during
	}
	if step, due := l.withdraw(during); due {
		return step
	}
	if machine, found := l.unfinished(); found {
		if !Final(during.Phase) {
			during.Message += "; machine " + machine + " finishes first"
		}
		during.CurrentMachine = cmp.Or(during.CurrentMachine, machine)
		return during
	}
	if l.unsettled() {
		during.Action = Settle
		return during
	}
	if standing, found := l.returnable(); found && end.Phase == policy.Succeeded {
		during.Action, during.Owner = ReturnRelease, standing.ID
		return during
	}
	during.Action = ReleaseClaim
	return during
}

// withdraw takes back what lets machines begin.
func (l look) withdraw(during Step) (Step, bool) {
	if standing, found := l.armed(); found {
		return l.retire(during, standing), true
	}
	for _, owner := range slices.Backward(l.o.inOrder()) {
		if owner.Ours && owner.HasTo && owner.Present && !l.o.PerMachine {
			during.Action, during.Owner = WithdrawOwner, owner.ID()
			return during, true
		}
	}
	if !l.o.PerMachine && l.permitted() && slices.ContainsFunc(l.o.Owners, Owner.requested) {
		during.Action, during.Until = SetPermission, l.now.Truncate(time.Second)
		return during, true
	}
	return Step{}, false
}

// unfinished is a machine that finishes before anything of it is removed.
func (l look) unfinished() (string, bool) {
	if l.o.PerMachine {
		return l.onTheWay()
	}
	return l.o.inFlight()
}

// unsettled: Settle would write something.
func (l look) unsettled() bool {
	return !l.o.StartBefore.IsZero() || slices.ContainsFunc(l.o.Owners, func(o Owner) bool {
		return o.Present && o.Ours && !l.o.PerMachine || o.leftovers()
	})
}

// permitted: machines may begin at this instant, as far as the permission says.
func (l look) permitted() bool { return l.o.StartBefore.After(l.now) }
