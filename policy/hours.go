// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "time"

// almanac is what a decision knows of time.
type almanac struct {
	// now is the instant of the decision.
	now time.Time
	// recheck is the earliest instant known so far at which time alone changes the decision; zero: none.
	recheck time.Time
}

// edge notes an instant at which time alone changes what was just found out. Past ones change nothing.
func (a *almanac) edge(at time.Time) {
	if at.After(a.now) && (a.recheck.IsZero() || at.Before(a.recheck)) {
		a.recheck = at
	}
}
