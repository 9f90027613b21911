// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// saturdays open from 02:00 to 06:00.
func saturdays() policy.Calendar { return opens("sat", "0 2 * * 6", 4*time.Hour) }

// missedIn decides at the instants when time alone changes something, reports, decides again, and tells each opening
// that was missed once.
func missedIn(f *policy.Fleet, from, until string) []string {
	var told []string
	var last time.Time
	tell := func(d policy.Decision, now time.Time) {
		if d.Missed == nil || d.Missed.Span.Start.Equal(last) {
			return
		}
		last = d.Missed.Span.Start
		told = append(told, fmt.Sprintf("%s: %s %s to %s", now.Format(time.RFC3339), d.Missed.Reason,
			d.Missed.Span.Start.Format(time.RFC3339), d.Missed.Span.End.Format(time.RFC3339)))
	}
	for now := utc(from); now.Before(utc(until)); {
		d := policy.Decide(*f, now)
		tell(d, now)
		report(f, d, now)
		d = policy.Decide(*f, now)
		tell(d, now)
		if d.Recheck.IsZero() {
			break
		}
		now = d.Recheck
	}
	return told
}

func TestC041_AWindowInWhichAnEarlierWaveKeptAWaveBackIsToldOnce(t *testing.T) {
	anyTime := func(f *policy.Fleet) { f.Clusters[1].Calendars = nil }
	for name, tc := range map[string]struct {
		edits []func(*policy.Fleet)
		want  []string
	}{
		"C041: the earlier wave is at work all the time": {
			[]func(*policy.Fleet){sets(done, "Run Progressing"), calendars(saturdays()), anyTime},
			[]string{
				"2026-09-26T06:00:00Z: WaitingForWave 2026-09-26T02:00:00Z to 2026-09-26T06:00:00Z",
				"2026-10-03T06:00:00Z: WaitingForWave 2026-10-03T02:00:00Z to 2026-10-03T06:00:00Z",
			},
		},
		"it waits for the approval of people": {
			[]func(*policy.Fleet){sets(done, done), calendars(saturdays()), func(f *policy.Fleet) { f.Waves[2].Approvals = 1 }},
			[]string{
				"2026-09-26T06:00:00Z: AwaitingApproval 2026-09-26T02:00:00Z to 2026-09-26T06:00:00Z",
				"2026-10-03T06:00:00Z: AwaitingApproval 2026-10-03T02:00:00Z to 2026-10-03T06:00:00Z",
			},
		},
		"its slots are taken by an older rollout": {
			[]func(*policy.Fleet){sets(done, done), calendars(saturdays()), func(f *policy.Fleet) { f.OtherActive = 1 }},
			[]string{
				"2026-09-26T06:00:00Z: MaxConcurrency 2026-09-26T02:00:00Z to 2026-09-26T06:00:00Z",
				"2026-10-03T06:00:00Z: MaxConcurrency 2026-10-03T02:00:00Z to 2026-10-03T06:00:00Z",
			},
		},
		"its management cluster is silent": {
			[]func(*policy.Fleet){sets(done, done), calendars(saturdays()), func(f *policy.Fleet) {
				f.Members = map[string]policy.Member{"a": {Upgrade: true, Since: utc("2026-09-25T00:00:00Z")}}
			}},
			[]string{
				"2026-09-26T06:00:00Z: MemberUnreachable 2026-09-26T02:00:00Z to 2026-09-26T06:00:00Z",
				"2026-10-03T06:00:00Z: MemberUnreachable 2026-10-03T02:00:00Z to 2026-10-03T06:00:00Z",
			},
		},
		"the policy is paused": {
			[]func(*policy.Fleet){sets(done, done), calendars(saturdays()), func(f *policy.Fleet) { f.Paused = true }},
			[]string{
				"2026-09-26T06:00:00Z: Paused 2026-09-26T02:00:00Z to 2026-09-26T06:00:00Z",
				"2026-10-03T06:00:00Z: Paused 2026-10-03T02:00:00Z to 2026-10-03T06:00:00Z",
			},
		},
		"a window in which a cluster of the wave began is not missed": {
			[]func(*policy.Fleet){sets(done, done, "Hold Holding"), calendars(saturdays())}, nil,
		},
		"a frozen window is none": {
			[]func(*policy.Fleet){
				sets(done, done), calendars(saturdays()), freezes(policy.Freeze{Name: "audit", All: true}),
			}, nil,
		},
		"clusters that may begin any time miss none": {[]func(*policy.Fleet){sets(done, "Run Progressing")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := built(tc.edits, 1, 1, 3)
			if diff := cmp.Diff(tc.want, missedIn(&f, "2026-09-26T01:00:00Z", "2026-10-04T00:00:00Z")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestC041_AMissedWindowSaysWhyAndWhenTheNextIs(t *testing.T) {
	f := built([]func(*policy.Fleet){sets(done, "Run Progressing"), calendars(saturdays())}, 1, 1, 3)
	f.Clusters[1].Calendars = nil
	f.Waves[0].StartedAt = utc("2026-09-25T12:00:00Z")
	d := policy.Decide(f, utc("2026-09-26T06:00:00Z"))
	want := "the opening from 2026-09-26T02:00:00Z to 2026-09-26T06:00:00Z has passed, and no cluster of wave w2 began in it: " +
		"WaitingForWave: wave w1 is not complete; the next begins at 2026-10-03T02:00:00Z (Sat 02:00 UTC), calendar sat"
	if d.Missed == nil || d.Missed.Message != want {
		t.Errorf("missed %+v, want %q", d.Missed, want)
	}
	stable(t, f, utc("2026-09-26T05:00:00Z"))
	stable(t, f, utc("2026-09-26T06:00:00Z"))
}

func TestC042_ARestartInsideTheWindowRepeatsNothing(t *testing.T) {
	f := built([]func(*policy.Fleet){sets(done, done), calendars(saturdays())}, 1, 1, 1)
	f.Clusters[1].EndedAt, f.Clusters[1].NotAfter = utc("2026-09-26T02:20:00Z"), utc("2026-09-26T05:50:00Z")
	set(&f, 2, "Run Progressing")
	f.Clusters[2].NotAfter = utc("2026-09-26T06:00:00Z")
	d := policy.Decide(f, utc("2026-09-26T02:40:00Z"))
	if len(d.Intents) > 0 || d.Missed != nil {
		t.Errorf("after the restart: %s, missed %+v", d, d.Missed)
	}
}

func TestC042_AWindowInWhichTheHubDidNotRunIsToldWhenItStarts(t *testing.T) {
	before := utc("2026-09-26T01:00:00Z")
	for name, tc := range map[string]struct {
		now, want string
		edit      func(*policy.Fleet)
	}{
		"C042: it was down from 01:00 to 07:00": {
			now: "2026-09-26T07:00:00Z", want: "ControllerDown 2026-09-26T02:00:00Z",
		},
		"for three weeks, the last one is told":       {now: "2026-10-15T07:00:00Z", want: "ControllerDown 2026-10-10T02:00:00Z"},
		"it came back while the window was open":      {now: "2026-09-26T05:59:00Z"},
		"it came back inside the next, of which some": {now: "2026-10-03T03:00:00Z", want: "ControllerDown 2026-09-26T02:00:00Z"},
		"the calendar is another by now": {
			now: "2026-09-26T07:00:00Z", edit: func(f *policy.Fleet) { f.Calendars["sat"] = opens("sat", "0 1 * * 6", 4*time.Hour) },
		},
		"a freeze took it, and is over by now": {
			now: "2026-09-26T07:00:00Z", edit: func(f *policy.Fleet) {
				f.Freezes = []policy.Freeze{{
					Name: "sales", All: true, From: utc("2026-09-26T01:30:00Z"), Until: utc("2026-09-26T06:30:00Z"),
				}}
			},
		},
		"a cluster had leave meanwhile: it was there": {
			now: "2026-09-26T07:00:00Z", edit: func(f *policy.Fleet) {
				set(f, 1, "Hold Holding")
				f.Clusters[1].NotAfter = utc("2026-09-26T05:00:00Z")
			},
		},
		"nothing is left to begin": {
			now: "2026-09-26T07:00:00Z", edit: sets(done, done, done, "Hold Holding"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := built([]func(*policy.Fleet){sets(done), calendars(saturdays())}, 1, 3)
			report(&f, policy.Decide(f, before), before)
			if tc.edit != nil {
				tc.edit(&f)
			}
			got := ""
			d := policy.Decide(f, utc(tc.now))
			if d.Missed != nil {
				got = d.Missed.Reason + " " + d.Missed.Span.Start.Format(time.RFC3339)
			}
			if got != tc.want {
				t.Errorf("missed %q, want %q", got, tc.want)
			}
			report(&f, d, utc(tc.now))
			if again := policy.Decide(f, utc(tc.now)); again.Missed != nil && tc.want == "" {
				t.Errorf("told after all: %+v", again.Missed)
			}
			stable(t, f, utc(tc.now))
		})
	}
}
