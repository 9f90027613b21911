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
	sorted := slices.SortedFunc(slices.Values(clusters), func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Member, b.Member), cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	})
	type turn struct {
		round     int
		candidate Candidate
	}
	turns := make([]turn, 0, len(sorted))
	for i, c := range sorted {
		round := 0
		if i > 0 && sorted[i-1].Member == c.Member {
			round = turns[i-1].round + 1
		}
		turns = append(turns, turn{round, c})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.round, b.round) })
	ordered := make([]Candidate, 0, len(turns))
	for _, t := range turns {
		ordered = append(ordered, t.candidate)
	}
	return ordered
}
