// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"time"
)

// countSilent counts a cluster in flight whose member has not answered for longer than the grace: it gives its wave's
// slot back and keeps that of its member (law 14).
func (b *board) countSilent(c *Cluster) {
	m, known := b.Members[c.Member]
	if m.Ready {
		return
	}
	ends := m.Since.Add(b.Unreachable.Grace)
	if known && b.now.Before(ends) {
		b.edge(ends)
		return
	}
	b.silent++
}

// slotsTaken is how many of a wave's slots are taken by this rollout: by all that is in flight, of other waves too, but
// for what has been silent for longer than the grace.
func (b *board) slotsTaken() int { return b.inFlight - b.silent }

// tooManyUnknown keeps all starts back while more clusters in flight than unreachable.maxUnknown cannot be seen
// (law 14).
func (b *board) tooManyUnknown() *Waiting {
	most := b.Unreachable.MaxUnknown
	if most < 0 {
		most = 1
		if b.current < len(b.Waves) {
			most = max(1, b.Waves[b.current].MaxConcurrency)
		}
	}
	if b.silent <= most {
		return nil
	}
	return wait(ReasonMaxUnknown, "%d clusters in flight have not been seen for longer than %s, and %d may be",
		b.silent, b.Unreachable.Grace, most)
}

// isolated keeps all starts back while the hub takes itself for cut off.
func (b *board) isolated() *Waiting {
	if b.cutOff == nil {
		return nil
	}
	hold := *b.cutOff
	return &hold
}

// isolation says whether more than half of the members, and at least two, fell silent within one grace of each other
// (law 14). Then it is more likely that the hub is cut off, and nothing is concluded from their silence. Members that have
// never answered say nothing about the hub.
func (b *board) isolation() *Waiting {
	var fell []time.Time
	known := 0
	for _, m := range b.Members {
		switch {
		case m.Ready:
			known++
		case m.Never, m.Since.IsZero(): // not looked at, or refused for what it says
		default:
			known++
			fell = append(fell, m.Since)
		}
	}
	needed := max(2, known/2+1)
	if len(fell) < needed {
		return nil
	}
	slices.SortFunc(fell, time.Time.Compare)
	for i := needed - 1; i < len(fell); i++ {
		if fell[i].Sub(fell[i-needed+1]) > b.Unreachable.Grace {
			continue
		}
		hold := wait(ReasonHubIsolated, "%d of %d management clusters are silent, at least %d of them fell silent within "+
			"%s: the hub seems to be cut off", len(fell), known, needed, b.Unreachable.Grace)
		hold.Since = fell[i]
		return hold
	}
	return nil
}
