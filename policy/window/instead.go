// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What cron cannot say an RRULE can: these write the one that was probably meant, to be named in a message.

// bothDays is the RRULE for an expression that restricts both day fields.
func bothDays(fields []string, sets []numbers) string {
	days, weekdays := sets[dayField], sets[weekdayField]
	if len(days) == 0 || len(weekdays) == 0 { // */1
		return "one of them as *"
	}
	nth := ""
	if len(days) == 7 && days[6] == days[0]+6 && days[0]%7 == 1 { // 1-7, 8-14, …
		nth = strconv.Itoa(days[0]/7 + 1)
	}
	var names []string
	for _, weekday := range weekdays {
		names = append(names, nth+rruleWeekdays[weekday])
	}
	part := "BYDAY=" + strings.Join(names, ",")
	if nth == "" {
		part = "BYMONTHDAY=" + join(days) + ";" + part
	}
	if rrule := rruleOf(fields, part); rrule != "" {
		return rrule
	}
	return "rrule RRULE:FREQ=MONTHLY;" + part + ";BYHOUR=2"
}

// lastOrNth is the RRULE for an expression that says L, 5L or SUN#1 in a day field; empty for others.
func lastOrNth(fields []string) string {
	weekday := strings.ToUpper(fields[weekdayField])
	switch {
	case strings.EqualFold(fields[dayField], "L") && weekday == "*":
		return rruleOf(fields, "BYMONTHDAY=-1")
	case fields[dayField] != "*":
		return ""
	}
	name, nth, counted := strings.Cut(weekday, "#")
	if !counted {
		var last bool
		if name, last = strings.CutSuffix(weekday, "L"); !last {
			return ""
		}
		nth = "-1"
	}
	number, c := cronFields[weekdayField].number(name)
	n, err := strconv.Atoi(nth)
	if c != nil || err != nil || n < -1 || n == 0 || n > 5 {
		return ""
	}
	return rruleOf(fields, fmt.Sprintf("BYDAY=%d%s", n, rruleWeekdays[number%7]))
}

// rruleOf is a monthly RRULE with the months, hours and minutes of an expression; empty where these are no short lists.
func rruleOf(fields []string, days string) string {
	parts := []string{"rrule RRULE:FREQ=MONTHLY"}
	if months, c := cronFields[monthField].parse(fields[monthField]); c != nil {
		return ""
	} else if len(months) > 0 {
		parts = append(parts, "BYMONTH="+join(months))
	}
	parts = append(parts, days)
	for _, field := range []int{hourField, minuteField} {
		set, c := cronFields[field].parse(fields[field])
		if c != nil || len(set) == 0 || len(set) > 6 {
			return ""
		}
		parts = append(parts, "BY"+strings.ToUpper(cronFields[field].name)+"="+join(set))
	}
	return strings.Join(parts, ";")
}

func join(set numbers) string {
	texts := make([]string, len(set))
	for i, n := range slices.Sorted(slices.Values(set)) {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}
