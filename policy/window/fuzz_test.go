// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/windlass-dev/windlass/policy/window"
)

// FuzzWindow feeds any text to a calendar. Nothing panics (C024); what is refused says where and why; what is accepted
// opens and closes where it says.
func FuzzWindow(f *testing.F) {
	f.Add("Europe/Berlin", "0 2 * * 6", "", "", "", 240, int64(1_790_000_000))
	f.Add("America/New_York", "", "DTSTART:20260301T023000\nRRULE:FREQ=WEEKLY;BYDAY=SU", "2026-12-24", "2026-12-26", 60, int64(1_773_000_000))
	f.Add("", "* 7-24 * * 0-6", "FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2;BYSETPOS=-1", "2026-12-24T18:00:00Z", "24:00", 15, int64(0))
	f.Add("../../etc/passwd", "0 0 * * sat-sun", "RRULE:FREQ=YEARLY;BYWEEKNO=-1;COUNT=3;BYHOUR=0,23", "", "", 44640, int64(-1))
	f.Add("UTC", "*/16 * 29 2 *", "DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY;UNTIL=20270101\nEXDATE:20260102\nRDATE:20280101T000000Z", "", "", 15, int64(4_000_000_000))
	f.Fuzz(func(t *testing.T, zone, schedule, rule, from, to string, minutes int, seconds int64) {
		spec := window.Spec{TimeZone: zone}
		duration := time.Duration(minutes) * time.Minute
		if schedule != "" {
			spec.Windows = append(spec.Windows, cron(schedule, duration))
		}
		if rule != "" {
			spec.Windows = append(spec.Windows, rrule(rule, duration))
		}
		if from != "" || to != "" {
			spec.Exclusions = []window.Exclusion{{From: from, To: to}}
		}
		calendar, _, err := window.Compile(spec)
		var problems window.Problems
		switch {
		case err == nil:
			now := time.Unix(seconds%8_000_000_000, 0)
			edges(t, calendar, now)
			edges(t, window.NewSet(calendar, calendar).Except(window.Span{Start: now, End: now.Add(time.Hour)}), now)
		case !errors.As(err, &problems) || len(problems) == 0 || calendar != nil:
			t.Fatalf("refused without a problem: %v", err)
		default:
			for _, problem := range problems {
				if problem.Field == "" || problem.Message == "" || utf8.ValidString(problem.Text) && len(problem.Text) > 130 {
					t.Fatalf("a problem that says little: %+v", problem)
				}
			}
		}
	})
}
