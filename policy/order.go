// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"
)

// interleave puts clusters in plan order: they alternate over management clusters, so that one management cluster's
// fault shows early and small, then by path. The same clusters always come out in the same order.
func interleave(clusters []Candidate) []Candidate {
	turns := make([]turn, len(clusters))
	for i := range clusters {
		turns[i].candidate = &clusters[i]
	}
	slices.SortFunc(turns, func(a, b turn) int {
		x, y := a.candidate, b.candidate
		return cmp.Or(cmp.Compare(x.Member, y.Member), cmp.Compare(x.Path, y.Path), cmp.Compare(x.ID, y.ID))
	})
	for i := 1; i < len(turns); i++ {
		if turns[i-1].candidate.Member == turns[i].candidate.Member {
			turns[i].round = turns[i-1].round + 1
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.round, b.round) })
	ordered := make([]Candidate, len(turns))
	for i, t := range turns {
		ordered[i] = *t.candidate
	}
	return ordered
}

// turn is a cluster and how many of its member come before it.
type turn struct {
	round     int
	candidate *Candidate
}
