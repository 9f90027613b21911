// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy/cluster"
)

func TestLaw10NineOfTenStayWithinTheP90(t *testing.T) {
	upTo := func(n int) []time.Duration {
		var of []time.Duration
		for i := range n {
			of = append(of, time.Duration(n-i)*time.Minute)
		}
		return of
	}
	for n, want := range map[int]int{0: 0, 1: 1, 3: 3, 9: 9, 10: 9, 11: 10, 19: 18, 20: 18} {
		t.Run(fmt.Sprintf("of %d", n), func(t *testing.T) {
			if got := cluster.P90(upTo(n)); got != time.Duration(want)*time.Minute {
				t.Errorf("%s, want %d minutes", got, want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Map(rapid.IntRange(0, 100), func(n int) time.Duration { return time.Duration(n) })
		of := rapid.SliceOfN(one, 1, 40).Draw(t, "of")
		p90, within, below := cluster.P90(of), 0, 0
		for _, d := range of {
			if d <= p90 {
				within++
			}
			if d < p90 {
				below++
			}
		}
		if within*10 < len(of)*9 || below*10 >= len(of)*9 {
			t.Fatalf("%d of %d are within %d, %d below", within, len(of), p90, below)
		}
	})
}
