// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cronField is one of the five fields of a cron expression.
type cronField struct {
	name      string
	low, high int
	// highest is the highest number that may be written: 7 is another name of Sunday.
	highest int
	// names stand for low and the numbers after it.
	names []string
}

var (
	monthNames   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	cronFields   = []cronField{
		{name: "minute", high: 59, highest: 59},
		{name: "hour", high: 23, highest: 23},
		{name: "day of month", low: 1, high: 31, highest: 31},
		{name: "month", low: 1, high: 12, highest: 12, names: monthNames},
		{name: "day of week", high: 6, highest: 7, names: weekdayNames},
	}
)

// The positions of fields in an expression.
const (
	minuteField = iota
	hourField
	dayField
	monthField
	weekdayField
)

// parseCron reads a cron expression of five fields.
func parseCron(text string) (*rule, *complaint) {
	if c := refuseDialect(text); c != nil {
		return nil, c
	}
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) != len(cronFields) {
		return nil, complain(text, fiveFields(fields), "has %d fields, not five: minute, hour, day of month, month and "+
			"day of week", len(fields))
	}
	sets := make([]numbers, len(fields))
	for i, field := range fields {
		set, c := cronFields[i].parse(field)
		if c == nil {
			sets[i] = set
			continue
		}
		if instead := lastOrNth(fields); instead != "" {
			c.accepted = instead
		}
		return nil, complain(text, c.accepted, "%s %q %s", cronFields[i].name, cut(c.text), c.message)
	}
	if fields[dayField] != "*" && fields[weekdayField] != "*" {
		return nil, complain(text, bothDays(fields, sets), "restricts day of month and day of week, which cron reads as "+
			"either, not as both")
	}
	r := &rule{
		freq: daily, interval: 1, anchor: firstDay,
		months: sets[monthField], monthDays: sets[dayField], weekdays: sets[weekdayField],
	}
	for _, hour := range cronFields[hourField].all(sets[hourField]) {
		for _, minute := range cronFields[minuteField].all(sets[minuteField]) {
			r.times = append(r.times, int64(hour)*3600+int64(minute)*60)
		}
	}
	if !r.occurs(firstDay) {
		return nil, complain(text, "", "names a date that no year has")
	}
	return r, nil
}

// refuseDialect refuses what other programs read beside the five fields, each with its reason.
func refuseDialect(text string) *complaint {
	const example = "0 2 * * 0"
	trimmed := strings.TrimSpace(text)
	upper := strings.ToUpper(trimmed)
	switch {
	case trimmed == "":
		return complain(text, example, "is empty")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }):
		return complain(text, example, "holds a line break or another character that is none of cron's")
	case strings.HasPrefix(upper, "TZ=") || strings.HasPrefix(upper, "CRON_TZ="):
		return complain(text, "timeZone beside it", "names a time zone, which belongs in timeZone")
	case strings.HasPrefix(trimmed, "@"):
		return complain(text, macros[strings.ToLower(trimmed)], "is a macro, which hides the time of day")
	}
	return nil
}

var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// fiveFields is what an expression of six fields may have meant.
func fiveFields(fields []string) string {
	if len(fields) == 6 && fields[0] == "0" {
		return strings.Join(fields[1:], " ") + " (there is no field for seconds)"
	}
	return "0 2 * * 0"
}

// parse reads a field; a set that is empty means all.
func (f cronField) parse(text string) (numbers, *complaint) {
	if text == "*" {
		return nil, nil
	}
	var set numbers
	for item := range strings.SplitSeq(text, ",") {
		some, c := f.item(item)
		if c != nil {
			return nil, c
		}
		set = append(set, some...)
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}

// item reads a number, a range or a star, the last two with a step or without.
func (f cronField) item(text string) (numbers, *complaint) {
	if c := f.refuseMarks(text); c != nil {
		return nil, c
	}
	span, step, stepped := strings.Cut(text, "/")
	low, high, ranged, c := f.span(span)
	if c != nil {
		return nil, c
	}
	if c := f.refuseRange(text, low, high, ranged); c != nil {
		return nil, c
	}
	by := 1
	if stepped {
		if span != "*" && !ranged {
			return nil, complain(text, fmt.Sprintf("%d-%d/%s", low, f.high, step), "has a step without a range")
		}
		var err error
		if by, err = digits(step); err != nil || by < 1 || by > high-low && by > 1 {
			return nil, complain(text, fmt.Sprintf("a step from 1 to %d", max(1, high-low)), "has a step that leads nowhere")
		}
	}
	var set numbers
	for n := low; n <= high; n += by {
		set = append(set, n%(f.high+1))
	}
	return set, nil
}

// span reads a number, a range or a star.
func (f cronField) span(text string) (low, high int, ranged bool, wrong *complaint) {
	if text == "*" {
		return f.low, f.high, false, nil
	}
	first, last, ranged := strings.Cut(text, "-")
	if low, wrong = f.number(first); wrong != nil || !ranged {
		return low, low, false, wrong
	}
	high, wrong = f.number(last)
	return low, high, true, wrong
}

// refuseMarks refuses the marks of other dialects.
func (f cronField) refuseMarks(text string) *complaint {
	upper := strings.ToUpper(text)
	switch {
	case text == "":
		return complain(text, f.accepted(), "is an empty item of a list")
	case strings.Contains(text, "#"):
		return complain(text, "an rrule with BYDAY, such as 1SU", "counts weekdays of the month, which is not cron's")
	case text == "?":
		return complain(text, "*", "is another dialect's word for *")
	case upper == "L" || strings.HasSuffix(upper, "L") && len(upper) <= 4 && upper != "JUL":
		return complain(text, "an rrule with BYMONTHDAY=-1 or BYDAY, such as -1SU", "means the last one, which is not cron's")
	case strings.HasSuffix(upper, "W"):
		return complain(text, "an rrule with BYSETPOS", "means the nearest weekday, which is not cron's")
	case strings.HasPrefix(upper, "H") || upper == "R":
		return complain(text, f.accepted(), "means a time chosen at random, which is not cron's")
	}
	return nil
}

// number reads a number or a name. 7 is Sunday too.
func (f cronField) number(text string) (int, *complaint) {
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return f.low + i, nil
		}
	}
	n, err := digits(text)
	if err != nil {
		return 0, complain(text, f.accepted(), "is not a number")
	}
	if n < f.low || n > f.highest {
		return 0, complain(text, f.accepted(), "is out of range")
	}
	return n, nil
}

// refuseRange refuses ranges that run backwards, or to the Sunday after.
func (f cronField) refuseRange(text string, low, high int, ranged bool) *complaint {
	switch {
	case !ranged:
		return nil
	case low > f.high: // 7-…
		return complain(text, joinRange(f.low, high), "begins a range with 7, which stands for Sunday only alone")
	case high > f.high && low <= f.low+1: // 0-7, 1-7
		return complain(text, "* (every day), or a list such as 1-6,0", "ends a range with 7, which stands for Sunday only "+
			"alone")
	case high > f.high: // 5-7
		return complain(text, joinRange(low, f.high)+",0", "ends a range with 7, which stands for Sunday only alone")
	case low > high:
		return complain(text, joinRange(low, f.high)+","+joinRange(f.low, high), "runs backwards")
	}
	return nil
}

func joinRange(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// accepted is what a field may be, in words.
func (f cronField) accepted() string {
	words := fmt.Sprintf("%d-%d", f.low, f.high)
	if len(f.names) > 0 {
		words += fmt.Sprintf(" or %s-%s", f.names[0], f.names[len(f.names)-1])
	}
	return words
}

// all are the numbers of a set in which empty means all.
func (f cronField) all(set numbers) numbers {
	if len(set) > 0 {
		return set
	}
	for n := f.low; n <= f.high; n++ {
		set = append(set, n)
	}
	return set
}

// digits reads an unsigned number of at most two digits.
func digits(text string) (int, error) {
	if len(text) > 2 || strings.TrimLeft(text, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(text)
}
