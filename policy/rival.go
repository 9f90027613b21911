// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// unrivalled is whether no other rollout wants the cluster now and goes first: that of the policy of higher priority,
// or of the older one. It is asked before a start only: what has begun is not taken away.
func unrivalled(_ *board, c Cluster) *Waiting {
	if c.Rival == nil {
		return nil
	}
	return wait(ReasonOutranked, "%s, of priority %d, wants it and goes first", c.Rival.Rollout, c.Rival.Priority)
}
