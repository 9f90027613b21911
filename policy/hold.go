// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// reported is a cluster's wait as it was reported. An end that has passed is none: its controller looks again, and says more.
func (b *board) reported(c *Cluster) *Waiting {
	hold := &Waiting{Reason: c.Reason, Message: c.Message, Since: c.Since, Act: c.Act || NeedsAct(c.Reason)}
	if c.Until.After(b.now) {
		b.edge(c.Until)
		hold.Until, hold.Act = c.Until, false
	}
	return hold
}

// of is a cluster's wait where it stands for the wave: it names the cluster.
func (w Waiting) of(path string) *Waiting {
	w.Message = path + ": " + w.Message
	return &w
}

// holds are the waits of single clusters in plan order: those found now, those of clusters that hold, and, where
// pending ones are looked at, those that keep clusters of the current wave from beginning.
func (b *board) holds(found map[int]*Waiting, pending bool) []ClusterHold {
	var holds []ClusterHold
	for i := range b.Clusters {
		c := &b.Clusters[i]
		hold := found[i]
		if hold == nil && (c.Phase == Holding || pending && b.wave[i] == b.current && c.keptBack()) {
			hold = b.reported(c)
		}
		if hold != nil {
			holds = append(holds, ClusterHold{c.ID, c.Path, *hold})
		}
	}
	return holds
}

// keptBack: it is put off, or says itself why it cannot begin.
func (c *Cluster) keptBack() bool { return c.Phase == Deferred || c.pending() && GivesBack(c.Reason) }

// standstill keeps every cluster of the current wave from beginning; nil: nothing does.
func (b *board) standstill() *Waiting {
	if hold := b.soaking(); hold != nil {
		return hold
	}
	switch wave := b.current; {
	case b.Waves[wave].Canary && b.tallies[wave].deferred > 0:
		return b.canaryDeferred()
	case wave == b.catchUp && b.catchUpOver():
		return wait(ReasonCatchingUp, "catch-up ended at %s: what is in flight goes on, no other cluster begins",
			stamp(b.catchUpEnds()))
	}
	return nil
}

func undelayed(b *board, _ Cluster) *Waiting { return b.standstill() }

// canaryDeferred names the first canary that is put off: it is never passed over (law 7).
func (b *board) canaryDeferred() *Waiting {
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if b.wave[i] != b.current || c.Phase != Deferred {
			continue
		}
		hold := wait(ReasonCanaryDeferred, "canary %s is put off, and nothing starts before it: %s", c.Path,
			c.lastWords())
		own := b.reported(c)
		hold.Since, hold.Until = c.Since, own.Until
		hold.Act = own.Until.IsZero() && c.Reason != ReasonUnreachable
		return hold
	}
	return nil
}

// stuck is why a wave stands still although none of its clusters is kept from starting; nil: it moves.
func (b *board) stuck(holds []ClusterHold) *Waiting {
	t := &b.tallies[b.current]
	if b.incomplete {
		return planComplete(b, Cluster{})
	}
	if hold := b.standstill(); hold != nil {
		return hold
	}
	switch {
	case b.cutOff != nil && t.deferred > 0:
		return b.isolated() // those that are put off are so for that reason alone
	case t.active == 0 && t.succeeded == 0 && t.deferred > 0 && b.current != b.catchUp && len(holds) > 0:
		return b.allPutOff(holds[0])
	case b.lateUnproven():
		return b.openUntilProven()
	case len(holds) == 0 || t.active > t.held:
		return nil
	}
	return holds[0].Waiting.of(holds[0].Path)
}

// allPutOff is the wait of a wave of which nothing has succeeded and all that could is put off. Where nobody comes back by
// itself it lasts until a person acts.
func (b *board) allPutOff(first ClusterHold) *Waiting {
	t := &b.tallies[b.current]
	hold := wait(ReasonNothingProven, "no cluster of wave %s has succeeded, and %d are put off, so it stays open, with no later wave "+
		"begun, until one of them is back and has succeeded: %s: %s", b.Waves[b.current].Name, t.deferred, first.Path,
		first.Waiting.Message)
	hold.Act = true
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if b.wave[i] != b.current || c.Phase != Deferred {
			continue
		}
		own := b.reported(c)
		hold.Act = hold.Act && own.Act
		hold.Until = sooner(hold.Until, own.Until)
	}
	return hold
}

// bound keeps the first MaxHolds.
func bound(holds []ClusterHold) (kept []ClusterHold, left int) {
	if len(holds) <= MaxHolds {
		return holds, 0
	}
	return holds[:MaxHolds], len(holds) - MaxHolds
}
