// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"fmt"
	"time"
)

// Compile reads a Spec. Where something is wrong there is no calendar, and the error is Problems: all of them, not the
// first. Warnings are about what is accepted and yet hardly meant, such as a duration that goes on past the next start.
func Compile(s Spec) (c *Calendar, warnings Problems, err error) {
	compiler := compiler{}
	location, wrong := loadZone(s.TimeZone)
	if wrong != nil {
		compiler.refuse("timeZone", wrong)
		location = time.UTC
	}
	compiler.zone = location
	c = &Calendar{location: location}
	if len(s.Windows) == 0 {
		compiler.refuse("windows", complain("", "at least one window", "is empty, and a calendar without a window would "+
			"never open"))
	}
	for i, window := range s.Windows {
		field := fmt.Sprintf("windows[%d]", i)
		if r, ok := compiler.recurrence(field, window); ok {
			c.windows = append(c.windows, r)
			compiler.reviewDuration(field, &r)
		}
	}
	for i, exclusion := range s.Exclusions {
		compiler.exclusion(c, fmt.Sprintf("exclusions[%d]", i), exclusion)
	}
	if len(compiler.problems) > 0 {
		return nil, compiler.warnings, compiler.problems
	}
	c.out = union(c.out)
	compiler.reviewOpenings(c)
	return c, compiler.warnings, nil
}

// compiler collects what it finds on the way.
type compiler struct {
	zone               *time.Location
	problems, warnings Problems
}

func (c *compiler) refuse(field string, wrong *complaint) {
	c.problems = append(c.problems, wrong.at(field))
}

func (c *compiler) warn(field string, wrong *complaint) {
	c.warnings = append(c.warnings, wrong.at(field))
}

// recurrence reads one, and says whether it is right.
func (c *compiler) recurrence(field string, spec Recurrence) (recurrence, bool) {
	before := len(c.problems)
	s := c.starts(field, spec)
	if wrong := checkDuration(spec.Duration); wrong != nil {
		c.refuse(field+".duration", wrong)
	}
	if len(c.problems) > before {
		return recurrence{}, false
	}
	if c.review(field, spec, &s); len(c.problems) > before {
		return recurrence{}, false
	}
	return newRecurrence(s, c.zone, spec.Duration), true
}

func (c *compiler) starts(field string, spec Recurrence) starts {
	switch {
	case spec.Schedule != "" && spec.RRule != "":
		c.refuse(field, complain("", "one of schedule and rrule", "has both schedule and rrule"))
	case spec.RRule != "":
		s, wrong := parseRRule(spec.RRule, c.zone)
		if wrong != nil {
			c.refuse(field+".rrule", wrong)
		}
		return s
	case spec.Schedule != "":
		r, wrong := parseCron(spec.Schedule)
		if wrong != nil {
			c.refuse(field+".schedule", wrong)
		}
		return unbounded(r)
	default:
		c.refuse(field, complain("", "one of schedule and rrule", "has neither schedule nor rrule"))
	}
	return starts{}
}

func checkDuration(d time.Duration) *complaint {
	accepted := fmt.Sprintf("from %s to %s", hours(Shortest), hours(Longest))
	switch {
	case d == 0:
		return complain("", accepted, "is missing: a schedule says when a window begins, not how long it lasts")
	case d < 0:
		return complain(hours(d), accepted, "is negative")
	case d < Shortest:
		return complain(hours(d), accepted, "is too short to do anything in")
	case d > Longest:
		return complain(hours(d), accepted, "is too long")
	}
	return nil
}

// hours writes a duration without zeros that say nothing: 4h, 15m, 1h30m.
func hours(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 && d != 0 {
		text = text[:len(text)-len("0s")]
	}
	if d%time.Hour == 0 && d != 0 {
		text = text[:len(text)-len("0m")]
	}
	return text
}
