// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"
)

// entry is a candidate, and what planning thinks of it.
type entry struct {
	*Candidate
	verdict verdict
	// wave that took it, as an index into PlanInput.Waves; canaries are -1.
	wave int
	// round is scratch of interleave.
	round int
}

// entries sorts candidates by member, then by path. Every list of entries keeps this order.
func entries(candidates []Candidate) []*entry {
	all := make([]entry, len(candidates))
	sorted := make([]*entry, len(candidates))
	for i := range candidates {
		all[i].Candidate = &candidates[i]
		sorted[i] = &all[i]
	}
	slices.SortFunc(sorted, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Member, b.Member), cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	})
	return sorted
}

// interleave puts sorted entries in plan order: they alternate over management clusters, so that one management
// cluster's fault shows early and small, then go by path. The same clusters always come out in the same order.
func interleave(sorted []*entry) []*entry {
	var next []int // how many are in each round, and then where the next one of it goes
	for i, e := range sorted {
		e.round = 0
		if i > 0 && sorted[i-1].Member == e.Member {
			e.round = sorted[i-1].round + 1
		}
		if e.round == len(next) {
			next = append(next, 0)
		}
		next[e.round]++
	}
	place := 0
	for round, count := range next {
		next[round], place = place, place+count
	}
	ordered := make([]*entry, len(sorted))
	for _, e := range sorted {
		ordered[next[e.round]] = e
		next[e.round]++
	}
	return ordered
}

// split keeps the order.
func split(all []*entry, in func(*entry) bool) (yes, no []*entry) {
	for _, e := range all {
		if in(e) {
			yes = append(yes, e)
			continue
		}
		no = append(no, e)
	}
	return yes, no
}
