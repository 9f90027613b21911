// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mostStarts is how many times of a day a rule may name.
const mostStarts = 24 * 60

// listParts are the parts that list numbers, from low to high, and from the end where negative.
var listParts = map[string]struct {
	low, high int
	negative  bool
}{
	"BYMONTH":    {low: 1, high: 12},
	"BYWEEKNO":   {low: 1, high: 53, negative: true},
	"BYYEARDAY":  {low: 1, high: 366, negative: true},
	"BYMONTHDAY": {low: 1, high: 31, negative: true},
	"BYHOUR":     {high: 23},
	"BYMINUTE":   {high: 59},
	"BYSECOND":   {high: 59},
	"BYSETPOS":   {low: 1, high: 366, negative: true},
}

const acceptedParts = "FREQ, INTERVAL, COUNT, UNTIL, WKST, BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYHOUR, " +
	"BYMINUTE, BYSECOND and BYSETPOS"

// ruleParts are the parts of an RRULE, read one by one.
type ruleParts struct {
	value string
	// text by name, all of them.
	text      map[string]string
	freq      frequency
	interval  int
	count     int
	weekStart int
	lists     map[string]numbers
	weekdays  numbers
	nth       []nthDay
}

// parseParts reads the value of an RRULE.
func parseParts(value string) (ruleParts, *complaint) {
	p := ruleParts{value: value, text: map[string]string{}, lists: map[string]numbers{}, interval: 1, weekStart: 1}
	for part := range strings.SplitSeq(strings.ToUpper(value), ";") {
		name, text, found := strings.Cut(part, "=")
		if !found || text == "" {
			return p, complain(part, "NAME=value, joined by semicolons", "is no part of a rule")
		}
		if _, twice := p.text[name]; twice {
			return p, complain(part, "one "+name, "is given twice")
		}
		p.text[name] = text
		if wrong := p.read(name, text); wrong != nil {
			wrong.text = part
			return p, wrong
		}
	}
	if p.text["FREQ"] == "" {
		return p, complain(value, "FREQ=DAILY, WEEKLY, MONTHLY or YEARLY", "has no FREQ")
	}
	return p, p.check()
}

func (p *ruleParts) read(name, text string) (wrong *complaint) {
	switch name {
	case "FREQ":
		p.freq, wrong = parseFrequency(text)
	case "INTERVAL":
		p.interval, wrong = positive(text)
	case "COUNT":
		p.count, wrong = positive(text)
	case "UNTIL":
	case "WKST":
		if p.weekStart = slices.Index(rruleWeekdays, text); p.weekStart < 0 {
			return complain(text, strings.Join(rruleWeekdays, ", "), "is no weekday")
		}
	case "BYDAY":
		wrong = p.readWeekdays(text)
	default:
		wrong = p.readList(name, text)
	}
	return wrong
}

func parseFrequency(text string) (frequency, *complaint) {
	switch text {
	case "DAILY":
		return daily, nil
	case "WEEKLY":
		return weekly, nil
	case "MONTHLY":
		return monthly, nil
	case "YEARLY":
		return yearly, nil
	case "HOURLY", "MINUTELY", "SECONDLY":
		return 0, complain(text, "FREQ=DAILY with BYHOUR and BYMINUTE", "counts elapsed time, not times of a day")
	}
	return 0, complain(text, "DAILY, WEEKLY, MONTHLY or YEARLY", "is no frequency")
}

func positive(text string) (int, *complaint) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 99999 || text[0] == '+' {
		return 0, complain(text, "1-99999", "is out of range")
	}
	return n, nil
}

func (p *ruleParts) readList(name, text string) *complaint {
	limits, known := listParts[name]
	if !known {
		return complain(text, acceptedParts, "is no part of a rule")
	}
	accepted := fmt.Sprintf("%d to %d", limits.low, limits.high)
	if limits.negative {
		accepted += fmt.Sprintf(", or -%d to -1 from the end", limits.high)
	}
	for item := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(item)
		size := n
		if limits.negative {
			size = max(n, -n)
		}
		if err != nil || len(item) > 4 || size < limits.low || size > limits.high {
			return complain(text, accepted, "holds a number that is out of range, or none")
		}
		p.lists[name] = append(p.lists[name], n)
	}
	slices.Sort(p.lists[name])
	p.lists[name] = slices.Compact(p.lists[name])
	return nil
}

func (p *ruleParts) readWeekdays(text string) *complaint {
	const accepted = "SU, MO, TU, WE, TH, FR and SA, with a number such as 1SU or -1SU in a month or year"
	for item := range strings.SplitSeq(text, ",") {
		if len(item) < 2 {
			return complain(text, accepted, "holds what is no weekday")
		}
		count, name := item[:len(item)-2], item[len(item)-2:]
		weekday := slices.Index(rruleWeekdays, name)
		if weekday < 0 {
			return complain(text, accepted, "holds what is no weekday")
		}
		if count == "" {
			p.weekdays = append(p.weekdays, weekday)
			continue
		}
		n, err := strconv.Atoi(count)
		if err != nil || len(count) > 3 || n == 0 || max(n, -n) > 53 {
			return complain(text, accepted, "holds a weekday with a number that is out of range")
		}
		p.nth = append(p.nth, nthDay{n, weekday})
	}
	return nil
}

// check refuses parts that do not go together (RFC 5545, 3.3.10).
func (p *ruleParts) check() *complaint {
	frequency := p.text["FREQ"]
	inMonth := p.freq == monthly || p.freq == yearly && p.text["BYMONTH"] != ""
	switch {
	case p.freq != yearly && p.has("BYWEEKNO", "BYYEARDAY"):
		return complain(p.value, "it with FREQ=YEARLY", "has BYWEEKNO or BYYEARDAY, which do not go with FREQ=%s", frequency)
	case p.freq == weekly && p.has("BYMONTHDAY"):
		return complain(p.value, "it with FREQ=MONTHLY", "has BYMONTHDAY, which does not go with FREQ=WEEKLY")
	case len(p.nth) > 0 && (p.freq == daily || p.freq == weekly || p.has("BYWEEKNO")):
		return complain(p.value, "it with FREQ=MONTHLY", "has BYDAY=%s, whose number does not go with FREQ=%s or BYWEEKNO",
			p.text["BYDAY"], frequency)
	case inMonth && slices.ContainsFunc(p.nth, func(d nthDay) bool { return max(d.n, -d.n) > 5 }):
		return complain(p.value, "1 to 5, or -5 to -1", "has BYDAY=%s, and no month has so many weeks", p.text["BYDAY"])
	case p.text["BYSETPOS"] != "" && !p.picksFrom():
		return complain(p.value, "BYSETPOS beside BYDAY or another", "has BYSETPOS and nothing to pick from")
	}
	return nil
}

// has says whether one of some parts is given.
func (p *ruleParts) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return p.text[name] != "" })
}

// picksFrom says whether there is something for BYSETPOS to pick from.
func (p *ruleParts) picksFrom() bool {
	return p.has("BYDAY", "BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYMONTHDAY", "BYHOUR", "BYMINUTE", "BYSECOND")
}

// rule makes the rule; what it leaves open is taken from dtstart, which may be nil.
func (p *ruleParts) rule(dtstart *int64) (*rule, *complaint) {
	if dtstart == nil {
		if wrong := p.complete(); wrong != nil {
			return nil, wrong
		}
	}
	r := &rule{
		freq: p.freq, interval: int64(p.interval), anchor: firstDay, weekStart: p.weekStart,
		months: p.lists["BYMONTH"], monthDays: p.lists["BYMONTHDAY"], yearDays: p.lists["BYYEARDAY"],
		weeks: p.lists["BYWEEKNO"], weekdays: p.weekdays, nth: p.nth, positions: p.lists["BYSETPOS"],
	}
	var clock int64
	if dtstart != nil {
		r.anchor = floorDiv(*dtstart, daySeconds)
		clock = *dtstart - r.anchor*daySeconds
		p.deriveDates(r)
	}
	hours := p.listOr("BYHOUR", clock/3600)
	minutes := p.listOr("BYMINUTE", clock/60%60)
	seconds := p.listOr("BYSECOND", clock%60)
	if len(hours)*len(minutes)*len(seconds) > mostStarts {
		return nil, complain(p.value, fmt.Sprintf("up to %d", mostStarts), "names too many times of a day")
	}
	for _, hour := range hours {
		for _, minute := range minutes {
			for _, second := range seconds {
				r.times = append(r.times, int64(hour)*3600+int64(minute)*60+int64(second))
			}
		}
	}
	return r, nil
}

func (p *ruleParts) listOr(name string, n int64) numbers {
	if list := p.lists[name]; len(list) > 0 {
		return list
	}
	return numbers{int(n)}
}

// deriveDates takes from the first date what the rule leaves open.
func (p *ruleParts) deriveDates(r *rule) {
	first := civilOf(r.anchor)
	if p.namesDay() {
		return
	}
	switch {
	case r.freq == weekly, len(r.weeks) > 0:
		r.weekdays = numbers{first.weekday}
	case r.freq == monthly:
		r.monthDays = numbers{first.day}
	case r.freq == yearly:
		r.monthDays = numbers{first.day}
		if len(r.months) == 0 {
			r.months = numbers{first.month}
		}
	}
}

func (p *ruleParts) namesDay() bool { return p.has("BYDAY", "BYMONTHDAY", "BYYEARDAY") }

// complete complains about a rule that needs a first date and has none.
func (p *ruleParts) complete() *complaint {
	const accepted = "a line such as DTSTART:20261018T023000 before it"
	switch {
	case !p.has("BYHOUR"):
		return complain(p.value, accepted+", or BYHOUR", "has no time of day")
	case p.freq != daily && !p.namesDay():
		return complain(p.value, accepted+", or BYDAY", "does not say on which day")
	case p.count > 0 || p.interval > 1:
		return complain(p.value, accepted, "has INTERVAL or COUNT, and nothing to count from")
	}
	return nil
}

// counted is the wall-clock time of the nth occurrence from first on, or math.MaxInt64 where it is after 2199.
func (r *rule) counted(first int64, n int) int64 {
	last := int64(math.MaxInt64)
	r.each(floorDiv(first, daySeconds), lastDay, func(day int64, times []int64) bool {
		for _, time := range times {
			if wall := day*daySeconds + time; wall >= first {
				n--
				if n == 0 {
					last = wall
					return false
				}
			}
		}
		return true
	})
	return last
}
