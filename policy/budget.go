// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// budgetLeft is, where the budget is reserved, whether it would hold if this cluster and all of its wave that are in
// flight failed. With nothing in flight one may begin while the failures so far are within it (law 6).
func budgetLeft(b *board, _ Cluster) *Waiting {
	if !b.ReserveBudget {
		return nil
	}
	w, failed, stake := &b.Waves[b.current], b.tallies[b.current].failed, b.fly().stake
	if stake == 0 || failed+stake+1 <= w.MaxFailures {
		return nil
	}
	return wait(ReasonBudgetReserved, "wave %s allows %d failures, has %d, and %d clusters in flight could fail", w.Name,
		w.MaxFailures, failed, stake)
}
