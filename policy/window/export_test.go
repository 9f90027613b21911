// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import "time"

// Steps is how many stretches Next looks at for its answer.
func Steps(s Set, t time.Time) int {
	c := &counting{Set: s}
	next(c, t)
	return c.steps
}

// counting is a set that counts how often it is looked at.
type counting struct {
	Set

	steps int
}

func (c *counting) stretch(at int64) stretch {
	c.steps++
	return c.Set.stretch(at)
}
