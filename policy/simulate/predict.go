// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// Prediction is when a cluster is expected to be upgraded, if nothing goes wrong.
type Prediction struct {
	// Start of its first machine from now on, and End, when it is proven.
	Start, End time.Time
	// Window is the opening that it begins in; zero: it may begin at any time.
	Window window.Span
}

// Predict says when the clusters that have not ended will be upgraded, by ID. It takes approvals as given at once and
// members as they are now: a cluster that nobody can reach has no prediction, nor has one that does not end within a
// year. Its cost is bounded: in a large fleet the last clusters may have none, either.
func Predict(fleet policy.Fleet, from time.Time) map[string]Prediction {
	result := Run(Input{Fleet: fleet, From: from, Approved: true, Decisions: bound(len(fleet.Clusters)), quiet: true})
	predictions := make(map[string]Prediction, len(result.Clusters))
	for _, c := range result.Clusters {
		if c.Began.IsZero() || c.Ended.IsZero() || c.Phase != policy.Succeeded {
			continue
		}
		predictions[c.ID] = Prediction{Start: c.Began, End: c.Ended, Window: c.Window}
	}
	return predictions
}

// bound is how often a fleet is decided on at most for one prediction: about two million clusters in all, a few seconds.
func bound(clusters int) int { return 100 + 2_000_000/max(1, clusters) }
