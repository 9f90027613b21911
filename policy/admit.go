// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// admit picks the clusters of the current wave that begin now, in plan order, one slot at a time. What stays
// behind has a reason: its own in kept, by index, and the one that stands for the wave in waiting.
func (b *board) admit() (starts map[int]bool, kept map[int]*Waiting, waiting *Waiting) {
	starts, kept = map[int]bool{}, map[int]*Waiting{}
	checks := mayStart()
	for i, c := range b.Clusters {
		if c.Wave != b.current || !c.pending() || c.intent() != Wait {
			continue
		}
		hold, at := checks.first(b, c)
		if hold == nil {
			starts[i] = true
			b.inFlight++
			b.byMember[c.Member] = b.activeIn(c.Member) + 1
			continue
		}
		if at.scope == wholeWave {
			return starts, kept, hold
		}
		if at.scope == itself {
			kept[i] = hold
			hold = hold.of(c.Path)
		}
		if waiting == nil {
			waiting = hold
		}
	}
	return starts, kept, waiting
}

// scope is whom a wait keeps back.
type scope int

const (
	itself    scope = iota // this cluster
	itsMember              // every cluster of its member that waits its turn
	wholeWave              // every cluster of the wave
)

// check is one condition for a start; nil: it is met.
type check struct {
	met   func(*board, Cluster) *Waiting
	scope scope
}

type chain []check

// mayStart is what a start needs, in the order in which a person wants to hear of it. That the rollout is
// committed, not halted, not paused, within its failure budget and in this wave is settled before (see stand).
func mayStart() chain {
	return chain{
		{planComplete, wholeWave}, // every planned cluster is seen, so limits can be counted
		{slotFree, wholeWave},     // maxConcurrency of the wave, over all rollouts of the policy
		{confirmed, itself},       // an earlier start of it is fully taken back
		{memberReady, itself},     // its management cluster answers
		{memberWritable, itself},  // and may be written to
		{unhindered, itself},      // it is not claimed by another, paused, unhealthy …
		{memberFree, itsMember},   // maxConcurrentClusters of the member, over all policies
	}
}

// first is the first check that is not met, with what it says.
func (ch chain) first(b *board, c Cluster) (*Waiting, check) {
	for _, check := range ch {
		if hold := check.met(b, c); hold != nil {
			return hold, check
		}
	}
	return nil, check{}
}

func planComplete(b *board, _ Cluster) *Waiting {
	if !b.incomplete {
		return nil
	}
	return wait(ReasonPlanIncomplete, "not every planned cluster is seen yet, so limits cannot be counted")
}

func slotFree(b *board, _ Cluster) *Waiting {
	most := max(1, b.Waves[b.current].MaxConcurrency)
	if b.inFlight+b.OtherActive < most {
		return nil
	}
	hold := wait(ReasonMaxConcurrency, "%d of %d slots of wave %s are taken", b.inFlight+b.OtherActive, most,
		b.Waves[b.current].Name)
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

func unhindered(_ *board, c Cluster) *Waiting {
	if !GivesBack(c.Reason) {
		return nil
	}
	return c.waiting()
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

func wait(reason, format string, args ...any) *Waiting {
	return &Waiting{Reason: reason, Message: fmt.Sprintf(format, args...), Act: NeedsAct(reason)}
}
