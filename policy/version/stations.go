// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package version

import "fmt"

// MaxStations bounds what Stations gives: a control plane further behind is rather misread than real.
const MaxStations = 50

// Stations are the minors that a control plane passes on its way between two versions, one rollout each: from v1.30.4
// to v1.33 these are v1.31, v1.32 and v1.33. None within a minor, downwards, between majors, of more than MaxStations,
// or where a version cannot be read.
func Stations(from, to string) []string {
	first, err := Parse(from)
	if err != nil {
		return nil
	}
	last, err := Parse(to)
	if err != nil {
		return nil
	}
	return stations(first, last)
}

func stations(from, to Version) []string {
	count := to.Minors(from)
	if from.number.Major() != to.number.Major() || count < 1 || count > MaxStations {
		return nil
	}
	minors := make([]string, 0, count)
	for i := range count {
		minors = append(minors, fmt.Sprintf("v%d.%d", from.number.Major(), from.number.Minor()+uint64(i)+1))
	}
	return minors
}

// minor is the text of a version without its patch.
func (v Version) minor() string { return fmt.Sprintf("v%d.%d", v.number.Major(), v.number.Minor()) }
