// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"strings"
)

// Amount is a number of clusters, or a percentage of the wave as planned. The zero value is no cluster.
type Amount struct {
	// Value is a count, or a percentage from 0 to 100.
	Value int
	// Percent tells which.
	Percent bool
}

// ParseAmount reads "2" or "25%".
func ParseAmount(text string) (Amount, error) {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.Atoi(digits)
	if err != nil || strings.ContainsAny(digits, "+-") || percent && value > 100 {
		return Amount{}, fmt.Errorf("%q is no amount: give a count such as 2 or a percentage from 0%% to 100%%", text)
	}
	return Amount{Value: value, Percent: percent}, nil
}

// String is the form that ParseAmount reads.
func (a Amount) String() string {
	if a.Percent {
		return strconv.Itoa(a.Value) + "%"
	}
	return strconv.Itoa(a.Value)
}

// Of is the count that an amount means in a wave of so many planned clusters: a percentage rounds down (law 5).
func (a Amount) Of(planned int) int {
	if !a.Percent {
		return a.Value
	}
	return planned/100*a.Value + planned%100*a.Value/100
}

// AtLeastOne is Of for a concurrency: a wave always moves (law 5). An amount of 0% is refused before it gets here.
func (a Amount) AtLeastOne(planned int) int {
	return max(1, a.Of(planned))
}

// inRange: not negative, and as a percentage from least to 100.
func (a Amount) inRange(least int) bool {
	if !a.Percent {
		return a.Value >= 0
	}
	return a.Value >= least && a.Value <= 100
}
