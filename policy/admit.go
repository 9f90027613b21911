// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// admit picks the clusters of the current wave that begin now, in plan order, one slot at a time. What stays
// behind has a reason: its own in kept, by index, and the one that stands for the wave in waiting.
func (b *board) admit() (starts map[int]bool, kept map[int]*Waiting, waiting *Waiting) {
	starts, kept = map[int]bool{}, map[int]*Waiting{}
	var q queue
	checks := mayStart()
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if b.waveOf(i) != b.current || !c.pending() || c.intent() != Wait {
			continue
		}
		if !q.opened {
			q.opened = true
			if hold, _ := mayOpen().first(b, *c); hold != nil {
				return starts, kept, hold
			}
		}
		hold, at := checks.first(b, *c)
		switch {
		case hold == nil:
			starts[i] = true
			b.begin(i)
		case at.scope == wholeWave:
			return starts, kept, hold
		default:
			if at.scope == itself {
				kept[i] = hold
				hold = hold.of(c.Path)
			}
			q.add(hold)
		}
	}
	return starts, kept, q.waiting()
}

// begin counts a cluster that begins now.
func (b *board) begin(i int) {
	flights, member := b.fly(), b.Clusters[i].Member
	b.inFlight++
	b.byMember[member] = b.activeIn(member) + 1
	flights.add(b, i)
}

// scope is whom a wait keeps back.
type scope int

const (
	itself    scope = iota // this cluster
	shared                 // every cluster that has the same member, calendars or group, and waits its turn
	wholeWave              // every cluster of the wave
)

// check is one condition for a start; nil: it is met.
type check struct {
	met   func(*board, Cluster) *Waiting
	scope scope
}

type chain []check

// mayOpen is what every start of a wave needs, in the order in which a person wants to hear of it. That the rollout
// is committed, not halted, not paused, within its failure budget, that this is the wave whose turn it is, is settled
// before (see stand).
func mayOpen() chain {
	return chain{
		{planComplete, wholeWave}, // every planned cluster is seen, so limits can be counted
		{connected, wholeWave},    // the hub is not cut off (law 14)
		{seen, wholeWave},         // not too many clusters in flight are out of sight (law 14)
		{undelayed, wholeWave},    // the wave before has soaked (law 8), no canary is put off, catch-up is not over
		{approved, wholeWave},     // enough people approve, and none says no
		{thawed, wholeWave},       // no Freeze of all clusters
	}
}

// mayStart is what the start of one cluster needs besides, likewise.
func mayStart() chain {
	return chain{
		{notFrozen, itself},      // no Freeze of this cluster (law 22)
		{slotFree, wholeWave},    // maxConcurrency of the wave, over all rollouts of the policy
		{budgetLeft, wholeWave},  // the failure budget, where it is reserved (law 6)
		{confirmed, itself},      // an earlier start of it is fully taken back
		{memberReady, itself},    // its management cluster answers
		{memberWritable, itself}, // and may be written to
		{unhindered, itself},     // it is not claimed by another, paused, unhealthy …
		{unrivalled, itself},     // no other policy goes first
		{wouldFinish, itself},    // it would be done before a Freeze that is known (law 10)
		{windowOpen, shared},     // its calendars are open, and a machine fits in what is left (laws 9 and 10)
		{inTime, itself},         // and until when that is so
		{memberFree, shared},     // maxConcurrentClusters of the member, over all policies
		{groupFree, shared},      // limits per management cluster and label, over all rollouts
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

// queue sums up why clusters of a wave wait.
type queue struct {
	opened bool
	// first wait in plan order, and the one that time ends soonest.
	first, soonest *Waiting
	// counts by reason, reasons in order of appearance.
	counts  map[string]int
	reasons []string
	total   int
}

func (q *queue) add(hold *Waiting) {
	if q.first == nil {
		q.first = hold
		q.counts = map[string]int{}
	}
	if !hold.Until.IsZero() && (q.soonest == nil || hold.Until.Before(q.soonest.Until)) {
		q.soonest = hold
	}
	if q.counts[hold.Reason] == 0 {
		q.reasons = append(q.reasons, hold.Reason)
	}
	q.counts[hold.Reason]++
	q.total++
}

// waiting stands for the wave: what ends soonest, else what comes first in plan order; where reasons differ, with how
// many clusters wait for which.
func (q *queue) waiting() *Waiting {
	stands := q.first
	if q.soonest != nil {
		stands = q.soonest
	}
	if stands == nil || len(q.reasons) == 1 {
		return stands
	}
	hold := *stands
	hold.Message += fmt.Sprintf("; of %d clusters that wait", q.total)
	for k, reason := range q.reasons {
		separator := ","
		if k == 0 {
			separator = ":"
		}
		hold.Message += fmt.Sprintf("%s %d %s", separator, q.counts[reason], reason)
	}
	return &hold
}

func wait(reason, format string, args ...any) *Waiting {
	return &Waiting{Reason: reason, Message: fmt.Sprintf(format, args...), Act: NeedsAct(reason)}
}
