// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"time"
)

// P90 is the least of some durations that nine of ten stayed within (law 10): of fewer than ten the longest. Of none it
// is 0.
func P90(of []time.Duration) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[(len(sorted)*9+9)/10-1]
}
