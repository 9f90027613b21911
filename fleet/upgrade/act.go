// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/policy/cluster"
)

func carryOut(ctx context.Context, step cluster.Step, s scene, d drive.Member, now time.Time) error {
	seen := s.world.Cluster
	switch step.Action {
	case cluster.None:
		return nil
	case cluster.TakeClaim:
		return d.TakeClaim(ctx, seen, now)
	case cluster.SetPermission:
		return d.SetPermission(ctx, seen, step.Until)
	case cluster.GrantOwner, cluster.WithdrawOwner:
		o, found := s.owner(step.Owner)
		if !found {
			return drive.ErrStale
		}
		if step.Action == cluster.GrantOwner {
			return d.Grant(ctx, seen, o)
		}
		return d.Withdraw(ctx, seen, o)
	case cluster.Settle:
		return d.Settle(ctx, seen, s.owners, s.named(step.Leftovers))
	case cluster.ReleaseClaim:
		return d.ReleaseClaim(ctx, seen)
	case cluster.RetireOwner, cluster.ReturnRelease, cluster.ClearReleases:
		return onOwner(ctx, step, s, d)
	case cluster.GrantMachine, cluster.FollowMachine, cluster.RevokeMachine, cluster.ClearMachine, cluster.RecordRelease:
		return onMachine(ctx, step, s, d)
	}
	return fmt.Errorf("unknown action %q", step.Action)
}

// onOwner is what is written on an owner but for a grant: its release, and what the controllers of a provider obey.
func onOwner(ctx context.Context, step cluster.Step, s scene, d drive.Member) error {
	o, found := s.owner(step.Owner)
	if !found {
		return drive.ErrStale
	}
	if step.Action == cluster.ReturnRelease {
		return d.ReturnRelease(ctx, s.world.Cluster, o, s.previous(step.Owner))
	}
	if step.Action == cluster.ClearReleases {
		return d.ClearReleases(ctx, s.world.Cluster, o, s.carrying(step.Owner))
	}
	return d.Retire(ctx, s.world.Cluster, o)
}

// onMachine is what is written on one machine.
func onMachine(ctx context.Context, step cluster.Step, s scene, d drive.Member) error {
	o, isOwned := s.owner(step.Owner)
	m, found := s.machines[step.Machine]
	if !isOwned || !found {
		return drive.ErrStale
	}
	seen := s.world.Cluster
	effects := map[cluster.Action]func() error{
		cluster.GrantMachine:  func() error { return d.GrantMachine(ctx, seen, m, o.Target) },
		cluster.FollowMachine: func() error { return d.FollowMachine(ctx, seen, m, o.Target) },
		cluster.RevokeMachine: func() error { return d.RevokeMachine(ctx, seen, m, false) },
		cluster.ClearMachine:  func() error { return d.RevokeMachine(ctx, seen, m, true) },
		cluster.RecordRelease: func() error { return d.RecordRelease(ctx, seen, m, o.Target) },
	}
	return effects[step.Action]()
}
