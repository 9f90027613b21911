// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"
)

func planComplete(b *board, _ Cluster) *Waiting {
	if !b.incomplete {
		return nil
	}
	return wait(ReasonPlanIncomplete, "not every planned cluster is seen yet, so limits cannot be counted")
}

func connected(b *board, _ Cluster) *Waiting { return b.isolated() }

func seen(b *board, _ Cluster) *Waiting { return b.tooManyUnknown() }

// thawed is whether no Freeze of all clusters is in force.
func thawed(b *board, _ Cluster) *Waiting {
	var all []Freeze
	for _, f := range b.Freezes {
		if f.All {
			all = append(all, f)
			b.edge(f.From)
			b.edge(f.Until)
		}
	}
	return frozen(all, b.now)
}

// notFrozen is whether no Freeze of this cluster is in force, of whatever effect.
func notFrozen(b *board, c Cluster) *Waiting {
	if len(b.Freezes) == 0 {
		return nil
	}
	h := b.hoursOf(c)
	for _, f := range h.freezes {
		b.edge(f.From)
		b.edge(f.Until)
	}
	return h.noStart
}

func slotFree(b *board, _ Cluster) *Waiting {
	most, taken := max(1, b.Waves[b.current].MaxConcurrency), b.slotsTaken()+b.OtherActive
	if taken < most {
		return nil
	}
	hold := wait(ReasonMaxConcurrency, "%d of %d slots of wave %s are taken", taken, most, b.Waves[b.current].Name)
	if b.OtherActive > 0 {
		hold.Message += fmt.Sprintf(", %d of them by older rollouts", b.OtherActive)
	}
	return hold
}

func confirmed(_ *board, c Cluster) *Waiting {
	if !c.Returning {
		return nil
	}
	return wait(ReasonReturning, "%s is being given back", c.Path)
}

func memberReady(b *board, c Cluster) *Waiting {
	m, known := b.Members[c.Member]
	switch {
	case !known:
		return wait(ReasonMemberUnreachable, "management cluster %s is not known", c.Member)
	case m.Ready:
		return nil
	}
	why := m.Message
	if why == "" {
		why = m.Reason
	}
	hold := wait(ReasonMemberUnreachable, "management cluster %s is not ready: %s", c.Member, why)
	hold.Since = m.Since
	return hold
}

func memberWritable(b *board, c Cluster) *Waiting {
	if b.Members[c.Member].Upgrade {
		return nil
	}
	return wait(ReasonAccessReadOnly, "management cluster %s is registered with access: ReadOnly", c.Member)
}

func unhindered(b *board, c Cluster) *Waiting {
	if !GivesBack(c.Reason) {
		return nil
	}
	return b.reported(&c)
}

func windowOpen(b *board, c Cluster) *Waiting {
	h := b.hoursOf(c)
	hold, _ := b.shut(h, c.nextMachine())
	if hold == nil || hold.Until.IsZero() || len(h.freezes) == 0 {
		return hold
	}
	return h.past(*hold, c)
}

func memberFree(b *board, c Cluster) *Waiting {
	most := b.Members[c.Member].MaxConcurrentClusters
	if active := b.activeIn(c.Member); most > 0 && active >= most {
		return wait(ReasonMemberLimit, "%d of %d slots of management cluster %s are taken", active, most, c.Member)
	}
	return nil
}

// activeIn is how many clusters are in flight in a member over all policies: what the caller counted, or what this
// rollout has there, if that is more.
func (b *board) activeIn(member string) int {
	return max(b.Members[member].Active, b.byMember[member])
}

// nextMachine is how long the next machine takes; zero: none is left, or it is not known.
func (c Cluster) nextMachine() time.Duration {
	for _, w := range c.Work {
		if w.Machines > 0 {
			return w.Each
		}
	}
	return 0
}
