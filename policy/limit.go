// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// flying counts clusters of this rollout that are in flight.
type flying struct {
	// groups counts by limit and group.
	groups []map[string]int
	// stake are those of the current wave that have not ended, and so may still fail.
	stake int
}

// fly counts what is in flight, once.
func (b *board) fly() *flying {
	if b.flights != nil {
		return b.flights
	}
	b.flights = &flying{groups: make([]map[string]int, len(b.Limits))}
	for i := range b.flights.groups {
		b.flights.groups[i] = map[string]int{}
	}
	for i := range b.Clusters {
		if c := &b.Clusters[i]; c.inFlight() {
			b.flights.add(b, i)
		}
	}
	return b.flights
}

func (f *flying) add(b *board, i int) {
	c := &b.Clusters[i]
	for k := range f.groups {
		f.groups[k][b.group(*c, k)]++
	}
	if b.waveOf(i) == b.current && !c.Phase.Ended() {
		f.stake++
	}
}

// group is the one that a cluster counts in for a limit. Clusters without the label are one group: what is not said
// never means more at once (law 21).
func (b *board) group(c Cluster, limit int) string {
	switch {
	case limit < len(c.Groups):
		return c.Groups[limit]
	case b.Limits[limit].Label == "":
		return c.Member
	default:
		return ""
	}
}

// groupFree is whether no limit over all waves is reached. All rollouts count.
func groupFree(b *board, c Cluster) *Waiting {
	for k, limit := range b.Limits {
		group := b.group(c, k)
		most := max(1, limit.Max)
		active := b.fly().groups[k][group] + limit.Elsewhere[group]
		if active < most {
			continue
		}
		switch {
		case limit.Label == "":
			return wait(ReasonGroupLimit, "%d of the %d clusters that limits allow in management cluster %s are in flight",
				active, most, group)
		case group == "":
			return wait(ReasonGroupLimit, "%d of the %d clusters that limits allow without label %s are in flight", active, most,
				limit.Label)
		default:
			return wait(ReasonGroupLimit, "%d of the %d clusters that limits allow with %s=%s are in flight", active, most,
				limit.Label, group)
		}
	}
	return nil
}
