// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// Retire takes off an owner, in one patch, what the controllers of a provider would obey there: its target, its status
// and its release. Nothing is left in their place, since an empty target is no mask.
func (m Member) Retire(ctx context.Context, seen capi.Cluster, o Owner) error {
	if _, err := m.claimed(ctx, seen); err != nil {
		return err
	}
	keys := protocol.KeysFor(protocol.ProviderPrefix)
	write := changes{}
	write.remove(keys.To, keys.Status, keys.Release)
	return m.patch(ctx, o.GVK, o.Meta, write)
}

// ClearReleases takes the release off an owner, then off its machines, which are refreshed once more then.
func (m Member) ClearReleases(ctx context.Context, seen capi.Cluster, o Owner, machines []capi.Machine) error {
	if _, err := m.claimed(ctx, seen); err != nil {
		return err
	}
	write := changes{}
	write.remove(m.Keys.Release)
	if err := m.patch(ctx, o.GVK, o.Meta, write); err != nil {
		return err
	}
	for _, machine := range machines {
		if err := m.patch(ctx, m.Kinds.Machine, machine.Meta, write); err != nil {
			return err
		}
	}
	return nil
}

// ReturnRelease gives an owner the release back that was taken off it.
func (m Member) ReturnRelease(ctx context.Context, seen capi.Cluster, o Owner, release string) error {
	if _, err := m.claimed(ctx, seen); err != nil {
		return err
	}
	write := changes{}
	write.set(protocol.KeysFor(protocol.ProviderPrefix).Release, release)
	return m.patch(ctx, o.GVK, o.Meta, write)
}

// GrantMachine asks a machine to upgrade, in one patch that removes every mark of before.
func (m Member) GrantMachine(ctx context.Context, seen capi.Cluster, machine capi.Machine, target string) error {
	write := m.asked(target)
	write.remove(m.Keys.Status, m.Keys.ChangeID)
	return m.patchMachine(ctx, seen, machine, write)
}

// FollowMachine asks a machine whose change is in flight, or has ended unseen, once more: the change stays, so that it is
// followed and no other is begun.
func (m Member) FollowMachine(ctx context.Context, seen capi.Cluster, machine capi.Machine, target string) error {
	return m.patchMachine(ctx, seen, machine, m.asked(target))
}

func (m Member) asked(target string) changes {
	write := changes{}
	write.set(m.Keys.To, target)
	write.set(protocol.HolderKey, m.Holder.String())
	write.remove(m.Keys.LastFailed)
	return write
}

// RevokeMachine takes the target of a machine back; with change also a change that is known not to be in flight.
func (m Member) RevokeMachine(ctx context.Context, seen capi.Cluster, machine capi.Machine, change bool) error {
	write := changes{}
	write.remove(m.Keys.To)
	if change {
		write.remove(m.Keys.Status, m.Keys.ChangeID)
	}
	return m.patchMachine(ctx, seen, machine, write)
}

// RecordRelease writes down that a machine has reached a target which nobody else will write down.
func (m Member) RecordRelease(ctx context.Context, seen capi.Cluster, machine capi.Machine, target string) error {
	write := changes{}
	write.remove(m.Keys.To, m.Keys.ChangeID, m.Keys.LastFailed)
	write.set(m.Keys.Status, protocol.StatusDone)
	write.set(m.Keys.Release, target)
	return m.patchMachine(ctx, seen, machine, write)
}

func (m Member) patchMachine(ctx context.Context, seen capi.Cluster, machine capi.Machine, write changes) error {
	if _, err := m.claimed(ctx, seen); err != nil {
		return err
	}
	return m.patch(ctx, m.Kinds.Machine, machine.Meta, write)
}
