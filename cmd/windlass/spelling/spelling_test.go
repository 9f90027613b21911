// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package spelling_test

import (
	"testing"

	"github.com/windlass-dev/windlass/cmd/windlass/spelling"
)

func TestEachLetterThatDiffersCountsOnce(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"maxFailure", "maxFailures", 1},
		{"puased", "paused", 2},
		{"kitten", "sitting", 3},
		{"waves", "waves", 0},
	} {
		if got := spelling.Distance(c.from, c.to); got != c.want || spelling.Distance(c.to, c.from) != got {
			t.Errorf("%q and %q are %d apart, want %d", c.from, c.to, got, c.want)
		}
	}
}
