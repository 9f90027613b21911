// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// Member is where the writes go.
type Member struct {
	// Client writes; Live reads past every cache.
	Client client.Client
	Live   client.Reader
	Kinds  capi.Kinds
	Keys   protocol.Keys
	// MayWrite refuses when this hub may no longer lead.
	MayWrite func() error
	Holder   Holder
}

// Owner is an owner as it was seen, with what is to be granted to it.
type Owner struct {
	capi.Meta
	GVK    schema.GroupVersionKind
	Target string
	Plan   protocol.Plan
}

// TakeClaim writes our claim on a cluster that has none, by compare-and-swap on the object read live.
// ErrClaimLost: somebody else's stands there.
func (m Member) TakeClaim(ctx context.Context, seen capi.Cluster, now time.Time) error {
	c, err := m.live(ctx, seen)
	if err != nil {
		return err
	}
	claim, found, err := ClaimOf(c)
	switch {
	case err != nil:
		return err
	case found && !claim.HeldBy(m.Holder):
		return fmt.Errorf("cluster %s is held by %s: %w", c.Key(), claim.By(), ErrClaimLost)
	case found:
		return nil
	}
	write := changes{}
	write.set(ClaimKey, claimFor(m.Holder, c.UID, now))
	return m.patch(ctx, m.Kinds.Cluster, c.Meta, write)
}

// SetPermission lets the engine begin machines until an instant; one in the past ends the permission.
func (m Member) SetPermission(ctx context.Context, seen capi.Cluster, until time.Time) error {
	c, err := m.claimed(ctx, seen)
	if err != nil {
		return err
	}
	write := changes{}
	write.set(protocol.StartBeforeKey, protocol.FormatStartBefore(until))
	return m.patch(ctx, m.Kinds.Cluster, c.Meta, write)
}

// Grant hands a target to an owner, with what the engine needs to know, in one patch.
func (m Member) Grant(ctx context.Context, seen capi.Cluster, o Owner) error {
	if _, err := m.claimed(ctx, seen); err != nil {
		return err
	}
	write := changes{}
	write.set(m.Keys.To, o.Target)
	write.set(protocol.PlanKey, o.Plan.Format())
	write.set(protocol.HolderKey, m.Holder.String())
	return m.patch(ctx, o.GVK, o.Meta, write)
}

// Withdraw takes an owner's target back; the engine stops at the next machine boundary.
func (m Member) Withdraw(ctx context.Context, seen capi.Cluster, o Owner) error {
	if _, err := m.claimed(ctx, seen); err != nil {
		return err
	}
	write := changes{}
	write.remove(m.Keys.To, m.Keys.Status, protocol.PlanKey, protocol.HolderKey, protocol.WaitingKey)
	return m.patch(ctx, o.GVK, o.Meta, write)
}

// Settle removes what is left of an upgrade that has ended: our marks on owners, the protocol's on machines that are
// not being refreshed, and the permission. Owners go before machines (law 11). A release stays: it is what the machine
// runs.
func (m Member) Settle(ctx context.Context, seen capi.Cluster, owners []Owner, machines []capi.Machine) error {
	c, err := m.claimed(ctx, seen)
	if err != nil {
		return err
	}
	for _, o := range owners {
		if _, ours := o.Annotations[protocol.HolderKey]; !ours {
			continue
		}
		write := changes{}
		write.remove(protocol.PlanKey, protocol.HolderKey, m.Keys.To, protocol.WaitingKey)
		write.remove(protocol.KeysFor(protocol.OwnPrefix).To) // of a time in which these were the keys in use
		if err := m.patch(ctx, o.GVK, o.Meta, write); err != nil {
			return err
		}
	}
	for _, machine := range machines {
		if err := m.patch(ctx, m.Kinds.Machine, machine.Meta, m.leftovers(machine.Annotations)); err != nil {
			return err
		}
	}
	write := changes{}
	write.remove(protocol.StartBeforeKey)
	return m.patch(ctx, m.Kinds.Cluster, c.Meta, write)
}

// leftovers are the marks to remove from a machine that is not being refreshed.
func (m Member) leftovers(annotations map[string]string) changes {
	write := changes{}
	write.remove(protocol.PlanKey, protocol.HolderKey, protocol.AttemptKey)
	if _, ours := annotations[protocol.SkipRemediationKey]; ours {
		write.remove(protocol.SkipRemediationKey)
		if annotations[capi.SkipRemediationAnnotation] == "" { // any other value has become a person's
			write.remove(capi.SkipRemediationAnnotation)
		}
	}
	if m.Keys.Read(annotations).State() != protocol.Idle {
		write.remove(m.Keys.To, m.Keys.Status, m.Keys.ChangeID, m.Keys.LastFailed)
	}
	return write
}

// HasLeftovers reports whether Settle would write to a machine.
func (m Member) HasLeftovers(machine capi.Machine) bool {
	return len(m.leftovers(machine.Annotations).reduced(machine.Annotations)) > 0
}

// ReleaseClaim gives the cluster back. A claim that is not ours is left alone.
func (m Member) ReleaseClaim(ctx context.Context, seen capi.Cluster) error {
	c, err := m.live(ctx, seen)
	if err != nil {
		return err
	}
	claim, found, err := ClaimOf(c)
	if err != nil || !found || !claim.HeldBy(m.Holder) {
		return err
	}
	write := changes{}
	write.remove(ClaimKey, protocol.StartBeforeKey)
	return m.patch(ctx, m.Kinds.Cluster, c.Meta, write)
}

// claimed reads the cluster live and refuses when the claim on it is not ours: law 2 asks for this before every
// write after the first.
func (m Member) claimed(ctx context.Context, seen capi.Cluster) (capi.Cluster, error) {
	c, err := m.live(ctx, seen)
	if err != nil {
		return capi.Cluster{}, err
	}
	claim, found, err := ClaimOf(c)
	switch {
	case err != nil:
		return capi.Cluster{}, err
	case !found:
		return capi.Cluster{}, fmt.Errorf("the claim on cluster %s has vanished: %w", c.Key(), ErrClaimLost)
	case !claim.HeldBy(m.Holder):
		return capi.Cluster{}, fmt.Errorf("cluster %s is held by %s: %w", c.Key(), claim.By(), ErrClaimLost)
	}
	return c, nil
}

// live reads the cluster past the cache; another object of that name is not it (law 1).
func (m Member) live(ctx context.Context, seen capi.Cluster) (capi.Cluster, error) {
	o := capi.Object(m.Kinds.Cluster)
	if err := m.Live.Get(ctx, seen.Key(), o); err != nil {
		return capi.Cluster{}, fmt.Errorf("reading cluster %s: %w", seen.Key(), err)
	}
	c := capi.ParseCluster(o)
	if c.UID != seen.UID {
		return capi.Cluster{}, fmt.Errorf("cluster %s is another object now: %w", seen.Key(), ErrStale)
	}
	return c, nil
}
