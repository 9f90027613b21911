// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"regexp"
	"time"
)

const acceptedEnds = "an instant such as 2026-12-24T18:00:00Z, or a date such as 2026-12-24"

var (
	instantText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`)
	dateText    = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
)

// exclusion reads one into the calendar.
func (c *compiler) exclusion(calendar *Calendar, field string, spec Exclusion) {
	if spec.From == "" && spec.To == "" {
		if spec.Schedule == "" && spec.RRule == "" {
			c.refuse(field, complain("", "schedule or rrule with duration, or from and to", "says not when"))
			return
		}
		if r, ok := c.recurrence(field, spec.Recurrence); ok {
			calendar.exclusions = append(calendar.exclusions, r)
		}
		return
	}
	if spec.Recurrence != (Recurrence{}) {
		c.refuse(field, complain("", "schedule or rrule with duration, or from and to", "both recurs and does not"))
		return
	}
	if out, ok := c.once(field, spec.From, spec.To); ok {
		calendar.out = append(calendar.out, out)
	}
}

// once reads an exclusion that does not recur.
func (c *compiler) once(field, from, to string) (span, bool) {
	start, startDate, wrong := c.end(from)
	if wrong != nil {
		c.refuse(field+".from", wrong)
	}
	stop, stopDate, wrongStop := c.end(to)
	if wrongStop != nil {
		c.refuse(field+".to", wrongStop)
	}
	switch {
	case wrong != nil || wrongStop != nil:
		return span{}, false
	case startDate != stopDate:
		c.refuse(field, complain(from+", "+to, "two instants, or two dates",
			"is from an instant to a date, or from a date to an instant"))
		return span{}, false
	case startDate && stop.start < start.start || !startDate && stop.start <= start.start:
		c.refuse(field+".to", complain(to, "one after "+from, "is not after from"))
		return span{}, false
	}
	return span{start.start, stop.end}, true
}

// end reads from or to: an instant, or the whole of a local date.
func (c *compiler) end(text string) (at span, date bool, wrong *complaint) {
	switch {
	case text == "":
		return span{}, false, complain("", acceptedEnds, "is missing beside the other of from and to")
	case dateText.MatchString(text):
		t, err := time.Parse(time.DateOnly, text)
		if err != nil || t.Year() < 1900 || t.Year() > 2199 {
			return span{}, false, complain(text, acceptedEnds, "is a date that there is not, or not from 1900 to 2199")
		}
		day := floorDiv(t.Unix(), daySeconds)
		return span{dayStart(c.zone, day) * second, dayEnd(c.zone, day) * second}, true, nil
	case instantText.MatchString(text):
		t, err := time.Parse(time.RFC3339, text)
		if err != nil || t.Year() < 1900 || t.Year() > 2199 {
			return span{}, false, complain(text, acceptedEnds, "is a time that there is not, or not from 1900 to 2199")
		}
		at := instant(t)
		return span{at, at}, false, nil
	}
	return span{}, false, complain(text, acceptedEnds, "is neither an instant nor a date")
}
