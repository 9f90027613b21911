// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy/window"
)

// except is a calendar that is open at all times but for one exclusion.
func except(zone, from, to string) window.Spec {
	return window.Spec{
		TimeZone: zone, Windows: []window.Recurrence{cron("0 0 * * *", 48*hour)},
		Exclusions: []window.Exclusion{{From: from, To: to}},
	}
}

// TestExclusions: what is taken out, to the second.
func TestExclusions(t *testing.T) {
	tests := map[string]struct {
		spec   window.Spec
		probes [][]probe
	}{
		"C037: dates are whole local days": {
			except("Europe/Berlin", "2026-12-24", "2026-12-26"),
			[][]probe{
				open("2026-12-23T22:59:59Z"), closed("2026-12-23T23:00Z", "2026-12-26T22:59:59Z"), open("2026-12-26T23:00Z"),
			},
		},
		"C037: a day of 23 hours": {
			except("Europe/Berlin", "2026-03-29", "2026-03-29"),
			[][]probe{open("2026-03-28T22:59:59Z"), closed("2026-03-28T23:00Z", "2026-03-29T21:59:59Z"), open("2026-03-29T22:00Z")},
		},
		"C037: a day that begins at one o'clock": {
			except("Africa/Cairo", "2026-04-24", "2026-04-24"),
			[][]probe{open("2026-04-23T21:59:59Z"), closed("2026-04-23T22:00Z", "2026-04-24T20:59:59Z"), open("2026-04-24T21:00Z")},
		},
		"C037: a day before one that begins at one o'clock": {
			except("Africa/Cairo", "2026-04-23", "2026-04-23"),
			[][]probe{open("2026-04-22T21:59:59Z"), closed("2026-04-22T22:00Z", "2026-04-23T21:59:59Z"), open("2026-04-23T22:00Z")},
		},
		"C037: a day whose last hour comes twice": {
			except("Africa/Cairo", "2026-10-29", "2026-10-29"),
			[][]probe{open("2026-10-28T20:59:59Z"), closed("2026-10-28T21:00Z", "2026-10-29T21:59:59Z"), open("2026-10-29T22:00Z")},
		},
		"C037: a day that there was not takes nothing": {
			except("Pacific/Apia", "2011-12-30", "2011-12-30"), [][]probe{open("2011-12-30T09:59:59Z", "2011-12-30T10:00Z")},
		},
		"a midnight within a gap": {
			except("America/Toronto", "1919-03-31", "1919-03-31"),
			[][]probe{open("1919-03-31T04:29:59Z"), closed("1919-03-31T04:30Z", "1919-04-01T03:59:59Z"), open("1919-04-01T04:00Z")},
		},
		"a midnight that comes twice": {
			except("America/St_Johns", "2010-11-06", "2010-11-06"),
			[][]probe{
				open("2010-11-06T02:29:59Z"), closed("2010-11-06T02:30Z", "2010-11-07T02:30:30Z", "2010-11-07T03:29:59Z"),
				open("2010-11-07T03:30Z"),
			},
		},
		"C037: instants are half-open": {
			except("Europe/Berlin", "2026-12-24T18:00:00+01:00", "2026-12-24T18:00:30.5Z"),
			[][]probe{
				open("2026-12-24T16:59:59Z"), closed("2026-12-24T17:00Z", "2026-12-24T18:00:30.4Z"), open("2026-12-24T18:00:30.5Z"),
			},
		},
		"C037: one that recurs": {
			window.Spec{
				TimeZone: "Europe/Berlin", Windows: []window.Recurrence{cron("0 22 * * *", 6*hour)},
				Exclusions: []window.Exclusion{{Recurrence: rrule("RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=0", 24*hour)}},
			},
			[][]probe{open("2026-10-29T22:30Z"), closed("2026-10-30T23:00Z", "2026-10-31T22:59Z"), open("2026-10-31T23:00Z")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, compile(t, tc.spec), slices.Concat(tc.probes...)...)
		})
	}
}

// TestExclusionsRefused: a time is read one way or not at all.
func TestExclusionsRefused(t *testing.T) {
	const (
		accepted = "; accepted: an instant such as 2026-12-24T18:00:00Z, or a date such as 2026-12-24"
		neither  = ": is neither an instant nor a date" + accepted
	)
	tests := map[string]struct{ from, to, want string }{
		"C027: a bare hour":   {"4", "2026-12-26", `.from: "4"` + neither},
		"C027: a time of day": {"04:00pm", "2026-12-26", `.from: "04:00pm"` + neither},
		"C027: 9:04pm":        {"9:04pm", "2026-12-26", `.from: "9:04pm"` + neither},
		"C027: 24:00":         {"24:00", "2026-12-26", `.from: "24:00"` + neither},
		"C027: 0:00":          {"0:00", "2026-12-26", `.from: "0:00"` + neither},
		"C027: 04:00:30":      {"04:00:30", "2026-12-26", `.from: "04:00:30"` + neither},
		"C027: a blank":       {" 2026-12-24", "2026-12-26", `.from: " 2026-12-24"` + neither},
		"C027: no zone":       {"2026-12-24T18:00:00", "2026-12-26", `.from: "2026-12-24T18:00:00"` + neither},
		"C027: no seconds":    {"2026-12-24T18:00Z", "2026-12-26", `.from: "2026-12-24T18:00Z"` + neither},
		"C027: a short hour":  {"2026-12-24T8:00:00Z", "2026-12-26", `.from: "2026-12-24T8:00:00Z"` + neither},
		"C027: a short day":   {"2026-12-4", "2026-12-26", `.from: "2026-12-4"` + neither},
		"C027: a comma":       {"2026-12-24T18:00:00,5Z", "2026-12-26", `.from: "2026-12-24T18:00:00,5Z"` + neither},
		"C027: an hour of 24": {"2026-12-24T24:00:00Z", "2026-12-26", `.from: "2026-12-24T24:00:00Z": is a time that there is not, or not from 1900 to 2199` + accepted},
		"a date of no year":   {"2026-02-29", "2026-03-01", `.from: "2026-02-29": is a date that there is not, or not from 1900 to 2199` + accepted},
		"a year far away":     {"2026-12-24", "9999-12-31", `.to: "9999-12-31": is a date that there is not, or not from 1900 to 2199` + accepted},
		"no end":              {"2026-12-24", "", `.to: is missing beside the other of from and to` + accepted},
		"no beginning":        {"", "2026-12-24", `.from: is missing beside the other of from and to` + accepted},
		"backwards": {
			"2026-12-24", "2026-12-23", `.to: "2026-12-23": is not after from` +
				`; accepted: one after 2026-12-24`,
		},
		"nothing": {
			"2026-12-24T18:00:00Z", "2026-12-24T19:00:00+01:00", `.to: "2026-12-24T19:00:00+01:00": is not after from` +
				`; accepted: one after 2026-12-24T18:00:00Z`,
		},
		"an instant and a date": {
			"2026-12-24T18:00:00Z", "2026-12-26", `: "2026-12-24T18:00:00Z, 2026-12-26": is from an instant to a date, or from a date to an instant` +
				`; accepted: two instants, or two dates`,
		},
		"a date and an instant": {
			"2026-12-24", "2026-12-26T18:00:00Z", `: "2026-12-24, 2026-12-26T18:00:00Z": is from an instant to a date, or from a date to an instant` +
				`; accepted: two instants, or two dates`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := refusal(t, except("Europe/Berlin", tc.from, tc.to)).Error()
			if diff := cmp.Diff("exclusions[0]"+tc.want, got); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}
