// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"regexp"
	"time"
)

// short instants of a story: in UTC and without a year, since a film is short.
var short = regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d\d [A-Z][a-z][a-z] \d\d:\d\d\b`)

// restamp says the short instants of a text in a zone and with their year: the one in which the weekday is right, nearest
// to when the text was said.
func restamp(text string, said time.Time, zone *time.Location) string {
	return short.ReplaceAllStringFunc(text, func(stamp string) string {
		const withoutYear = "Mon 02 Jan 15:04"
		best := time.Time{}
		for year := said.UTC().Year() - 1; year <= said.UTC().Year()+2; year++ {
			at, err := time.Parse("2006 "+withoutYear, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006 ")+stamp)
			if err != nil || at.Format(withoutYear) != stamp {
				continue
			}
			if best.IsZero() || at.Sub(said).Abs() < best.Sub(said).Abs() {
				best = at
			}
		}
		if best.IsZero() {
			return stamp
		}
		return best.In(zone).Format(moment)
	})
}
