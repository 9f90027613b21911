// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"strings"
	"time"
)

// rruleWeekdays are RFC 5545's weekdays; 0 is Sunday.
var rruleWeekdays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// parseRRule reads the lines of a recurrence of RFC 5545, in a zone.
func parseRRule(text string, zone *time.Location) (starts, *complaint) {
	reader := rruleReader{zone: zone}
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if wrong := reader.line(line); wrong != nil {
			return starts{}, wrong
		}
	}
	if reader.rule == "" {
		return starts{}, complain(text, "a line such as RRULE:FREQ=WEEKLY;BYDAY=SU;BYHOUR=2", "has no line RRULE")
	}
	return reader.starts()
}

// rruleReader collects what the lines say.
type rruleReader struct {
	zone *time.Location
	// rule is the value of RRULE.
	rule string
	// dtstart is where given, in wall-clock seconds.
	dtstart *int64
	// included and excepted are the values of RDATE and EXDATE.
	included, excepted []wallValue
}

const acceptedLines = "DTSTART, RRULE, EXDATE and RDATE"

// line reads one line.
func (r *rruleReader) line(line string) *complaint {
	head, value, found := strings.Cut(line, ":")
	if !found && strings.HasPrefix(strings.ToUpper(line), "FREQ=") {
		head, value, found = "RRULE", line, true
	}
	if !found {
		return complain(line, acceptedLines, "is no line of a recurrence")
	}
	name, params, _ := strings.Cut(head, ";")
	switch strings.ToUpper(name) {
	case "RRULE":
		if r.rule != "" || params != "" || value == "" {
			return complain(line, "one RRULE:FREQ=…; another window for another rule", "is a second rule, or no plain one")
		}
		r.rule = value
		return nil
	case "DTSTART":
		return r.readStart(line, params, value)
	case "EXDATE":
		return r.readDates(line, params, value, &r.excepted)
	case "RDATE":
		return r.readDates(line, params, value, &r.included)
	case "EXRULE":
		return complain(line, "an exclusion that recurs", "is obsolete")
	case "DTEND", "DURATION":
		return complain(line, "duration beside rrule", "is not read here")
	}
	return complain(line, acceptedLines, "is no line of a recurrence")
}

func (r *rruleReader) readStart(line, params, value string) *complaint {
	if r.dtstart != nil {
		return complain(line, "one DTSTART", "is a second DTSTART")
	}
	form, wrong := r.params(line, params)
	if wrong != nil {
		return wrong
	}
	start, wrong := r.value(value, form)
	switch {
	case wrong != nil:
		return wrong
	case start.date:
		return complain(line, "DTSTART:"+value+"T020000", "has no time of day")
	case start.utc:
		p := periodAt(r.zone, start.seconds)
		local := time.Unix(start.seconds+p.offset, 0).UTC().Format(localLayout)
		return complain(line, "DTSTART:"+local, "is in UTC, and the calendar in %s", r.zone)
	}
	r.dtstart = &start.seconds
	return nil
}

// readDates reads the values of EXDATE or RDATE.
func (r *rruleReader) readDates(line, params, value string, into *[]wallValue) *complaint {
	form, wrong := r.params(line, params)
	if wrong != nil {
		return wrong
	}
	for text := range strings.SplitSeq(value, ",") {
		date, wrong := r.value(text, form)
		if wrong != nil {
			return wrong
		}
		if date.date && into == &r.included {
			return complain(text, text+"T020000", "has no time of day")
		}
		*into = append(*into, date)
	}
	return nil
}

// valueForm is what the parameters of a line say about its values.
type valueForm struct {
	zoned bool
	// kind is DATE, DATE-TIME, or empty.
	kind string
}

// params reads the parameters of a line.
func (r *rruleReader) params(line, params string) (valueForm, *complaint) {
	var form valueForm
	if params == "" {
		return form, nil
	}
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToUpper(name) {
		case "TZID":
			if value == "Etc/UTC" {
				value = "UTC"
			}
			if value != r.zone.String() {
				accepted := "no TZID"
				if _, wrong := loadZone(value); wrong == nil {
					accepted += ", or timeZone: " + value
				}
				return form, complain(line, accepted, "is in another zone than the calendar, whose timeZone is %s", r.zone)
			}
			form.zoned = true
		case "VALUE":
			form.kind = strings.ToUpper(value)
			if form.kind != "DATE" && form.kind != "DATE-TIME" {
				return form, complain(line, "VALUE=DATE or VALUE=DATE-TIME", "has values that are not read here")
			}
		default:
			return form, complain(line, "TZID and VALUE", "has a parameter that is not read here")
		}
	}
	return form, nil
}

// wallValue is a date, or a time.
type wallValue struct {
	text string
	// seconds of the wall clock, or of UTC. Of a date: its midnight.
	seconds   int64
	utc, date bool
}

// The layouts of RFC 5545.
const (
	dateLayout  = "20060102"
	localLayout = "20060102T150405"
	utcLayout   = "20060102T150405Z"
)

// value reads a date or a time.
func (r *rruleReader) value(text string, form valueForm) (wallValue, *complaint) {
	const accepted = "a local time such as 20261018T023000"
	layouts := map[int]string{len(dateLayout): dateLayout, len(localLayout): localLayout, len(utcLayout): utcLayout}
	t, err := time.Parse(layouts[len(text)], text)
	if err != nil || layouts[len(text)] == "" {
		return wallValue{}, complain(text, accepted, "is no date or time as RFC 5545 writes them")
	}
	if t.Year() < 1900 || t.Year() > 2199 {
		return wallValue{}, complain(text, "a year from 1900 to 2199", "is too far away")
	}
	out := wallValue{text: text, seconds: t.Unix(), utc: len(text) == len(utcLayout), date: len(text) == len(dateLayout)}
	if out.date && form.kind == "DATE-TIME" || !out.date && form.kind == "DATE" || out.utc && form.zoned {
		return wallValue{}, complain(text, accepted, "is not what the parameters before it say")
	}
	if r.zone == time.UTC {
		out.utc = false
	}
	return out, nil
}

// starts makes the starts of what was read.
func (r *rruleReader) starts() (starts, *complaint) {
	parts, wrong := parseParts(r.rule)
	if wrong != nil {
		return starts{}, wrong
	}
	rule, wrong := parts.rule(r.dtstart)
	if wrong != nil {
		return starts{}, wrong
	}
	s := unbounded(rule)
	if r.dtstart != nil {
		s.first = *r.dtstart
	}
	if wrong := r.bound(&s, parts); wrong != nil {
		return starts{}, wrong
	}
	for _, date := range r.included {
		if date.utc {
			s.moreAt = append(s.moreAt, date.seconds)
		} else {
			s.more = append(s.more, date.seconds)
		}
	}
	for _, date := range r.excepted {
		s.except(date)
	}
	return s, nil
}

// bound reads UNTIL and COUNT.
func (r *rruleReader) bound(s *starts, parts ruleParts) *complaint {
	until, count := parts.text["UNTIL"], parts.count
	switch {
	case until != "" && count > 0:
		return complain(r.rule, "one of UNTIL and COUNT", "has both UNTIL and COUNT")
	case count > 0:
		s.last = s.rule.counted(s.first, count)
	case until != "":
		last, wrong := r.value(until, valueForm{})
		switch {
		case wrong != nil:
			return wrong
		case last.utc:
			s.lastAt = last.seconds
		case last.date:
			s.last = last.seconds + daySeconds - 1
		default:
			s.last = last.seconds
		}
	}
	return nil
}

// except takes out a start, or those of a date.
func (s *starts) except(date wallValue) {
	if s.oddDays == nil {
		s.less, s.lessDays, s.lessAt, s.oddDays = map[int64]bool{}, map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	}
	day := floorDiv(date.seconds, daySeconds)
	s.oddDays[day] = true
	switch {
	case date.date:
		s.lessDays[day] = true
	case date.utc:
		s.lessAt[date.seconds] = true
		s.oddDays[day-1], s.oddDays[day+1] = true, true
	default:
		s.less[date.seconds] = true
	}
}
