// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

// Run plays one rollout until it has ended, stands still for good, or Until.
func Run(in Input) Result { return RunAll([]Input{in})[0] }

// RunAll plays several rollouts that share members, and perhaps clusters, from the From of the first until the Until of
// the first. A cluster is driven by one of them at a time. What befalls clusters and members befalls them for all.
func RunAll(ins []Input) []Result {
	return make([]Result, len(ins))
}
