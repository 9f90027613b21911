// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// waiting is a cluster's wait as it was reported.
func (c Cluster) waiting() *Waiting {
	return &Waiting{Reason: c.Reason, Message: c.Message, Since: c.Since, Act: NeedsAct(c.Reason)}
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
	for i, c := range b.Clusters {
		hold := found[i]
		if hold == nil && (c.Phase == Holding || pending && c.Wave == b.current && c.pending() && GivesBack(c.Reason)) {
			hold = c.waiting()
		}
		if hold != nil {
			holds = append(holds, ClusterHold{c.ID, c.Path, *hold})
		}
	}
	return holds
}

// stuck is why a wave stands still although none of its clusters is kept from starting; nil: it moves.
func (b *board) stuck(holds []ClusterHold) *Waiting {
	t := b.tallies[b.current]
	switch {
	case b.incomplete:
		return planComplete(b, Cluster{})
	case t.active == 0 && t.deferred > 0 && b.Waves[b.current].Canary:
		return wait(ReasonCanaryDeferred, "%d canaries are deferred, and nothing starts before them", t.deferred)
	case t.active > 0 && len(holds) >= t.active:
		return holds[0].Waiting.of(holds[0].Path)
	}
	return nil
}

// bound keeps the first MaxHolds.
func bound(holds []ClusterHold) (kept []ClusterHold, left int) {
	if len(holds) <= MaxHolds {
		return holds, 0
	}
	return holds[:MaxHolds], len(holds) - MaxHolds
}
