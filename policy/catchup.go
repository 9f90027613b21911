// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"
)

// final: it has ended and does not come back by itself, as one that was put off does.
func (c *Cluster) final() bool { return c.Phase.Ended() && c.Phase != Deferred }

// leftBy: its wave closed before it had ended. What had not ended then stays catch-up's also when it ends.
func (c *Cluster) leftBy(closed time.Time) bool {
	return !closed.IsZero() && (!c.final() || c.EndedAt.After(closed))
}

// leaveBehind gives to catch-up what has not ended in a wave that is complete now.
func (b *board) leaveBehind(wave int) {
	t := &b.tallies[wave]
	if b.catchUp < 0 || wave == b.catchUp || t.succeeded+t.failed+t.skipped+t.gone == t.clusters {
		return
	}
	*t = tally{}
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if b.wave[i] != wave {
			continue
		}
		if !c.final() {
			b.wave[i] = b.catchUp
			b.moved[wave]++
		}
		b.tallies[b.wave[i]].add(c, c.inFlight())
	}
}

// caughtUp: nothing is left to catch up, or the time for it is over and nothing is in flight.
func (b *board) caughtUp() bool {
	t := &b.tallies[b.catchUp]
	if b.soaking() != nil {
		return false
	}
	if t.settled == t.clusters && t.deferred == 0 {
		return true
	}
	return b.catchUpOver() && b.inFlight == 0
}

// catchUpEnds is when catch-up stops starting clusters; zero: never, or not known before the last wave is closed.
func (b *board) catchUpEnds() time.Time {
	if b.CatchUpFor <= 0 || b.catchUp < 1 || b.Waves[b.catchUp-1].ClosedAt.IsZero() {
		return time.Time{}
	}
	return b.Waves[b.catchUp-1].ClosedAt.Add(b.CatchUpFor)
}

func (b *board) catchUpOver() bool {
	ends := b.catchUpEnds()
	b.edge(ends)
	return !ends.IsZero() && !b.now.Before(ends)
}

// frozenAlone counts the clusters of a wave that have not begun and are kept from it by a Freeze of their own. The wave
// does not wait for them; a Freeze of all clusters stops the wave itself.
func (b *board) frozenAlone(wave int) int {
	if len(b.Freezes) == 0 || wave == b.catchUp {
		return 0
	}
	count := 0
	for i := range b.Clusters {
		if c := &b.Clusters[i]; b.wave[i] == wave && c.untouched() && b.frozenByItself(c.ID) {
			count++
		}
	}
	return count
}

func (b *board) frozenByItself(id string) bool {
	found := false
	for i := range b.Freezes {
		if f := &b.Freezes[i]; !f.All && f.Clusters[id] {
			b.edge(f.From)
			b.edge(f.Until)
			found = found || f.inForce(b.now)
		}
	}
	return found
}

// catchingUp is the standing of a rollout whose waves are through, while clusters that were put off are not.
func catchingUp(b *board) *standing {
	if b.current != b.catchUp {
		return nil
	}
	t := &b.tallies[b.catchUp]
	message := fmt.Sprintf("every wave is through; of %d clusters that were put off %d succeeded, %d in flight, %d not begun",
		t.clusters, t.succeeded, t.active, t.pending+t.deferred)
	switch ends := b.catchUpEnds(); {
	case ends.IsZero():
	case b.catchUpOver():
		message += "; no more begin since " + stamp(ends)
	default:
		message += "; they may begin until " + stamp(ends)
	}
	return &standing{PhaseCatchingUp, ReasonCatchingUp, message}
}

// catchUpPhase is how far catch-up is.
func (b *board) catchUpPhase(phase Phase) WavePhase {
	t := &b.tallies[b.catchUp]
	switch {
	case b.current > b.catchUp && t.clusters == 0:
		return WaveEmpty
	case b.current > b.catchUp:
		return WaveSucceeded
	case b.current < b.catchUp || b.soaking() != nil:
		return WaveWaiting
	case phase == PhaseHalted:
		return WaveHalted
	case t.active+t.succeeded+t.failed > 0 || !b.Waves[b.catchUp].StartedAt.IsZero():
		return WaveProgressing
	default:
		return WaveWaiting
	}
}

// stamp is an instant as messages show it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
