// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

func TestC023_WorkThatWaitedBeginsAtTheEdgeWithoutAnyEvent(t *testing.T) {
	f := built([]func(*policy.Fleet){sets(done), calendars(opens("tea", "0 16 * * *", time.Hour)), work(1, 10*time.Minute)}, 1, 1)
	d := policy.Decide(f, utc("2026-12-01T15:30:00Z"))
	want := outcome{Waiting: "WindowClosed until 2026-12-01T16:00:00Z", Recheck: "2026-12-01T16:00:00Z"}
	if diff := cmp.Diff(want, outcomeOf(d)); diff != "" {
		t.Fatalf("before the edge (-want +got):\n%s", diff)
	}
	report(&f, d, utc("2026-12-01T15:30:00Z"))
	want = outcome{Intents: "c1=Run until 2026-12-01T16:50:00Z", Recheck: "2026-12-01T16:50:00.000000001Z"}
	if diff := cmp.Diff(want, outcomeOf(policy.Decide(f, d.Recheck))); diff != "" {
		t.Errorf("at the edge (-want +got):\n%s", diff)
	}
}

func TestC029_NoCalendarIsAnyTimeAndALostOneIsClosed(t *testing.T) {
	open := opens("open", "0 0 * * *", 24*time.Hour)
	broken := policy.Calendar{Name: "broken", Problem: policy.ReasonCalendarInvalid, Message: "windows[0].schedule: …"}
	zoneless := policy.Calendar{Name: "local", Problem: policy.ReasonTimeZoneMissing, Message: "no time zone"}
	lost := func(f *policy.Fleet) { delete(f.Calendars, "open") }
	for name, tc := range map[string]struct {
		edit func(*policy.Fleet)
		want outcome
	}{
		"C029: none that applies is any time":           {calendars(), outcome{Intents: "c1=Run"}},
		"open all day":                                  {calendars(open), outcome{Intents: "c1=Run"}},
		"a calendar that is gone is closed":             {with(calendars(open), lost), outcome{Waiting: "CalendarNotFound act"}},
		"one that cannot be read is closed":             {calendars(broken), outcome{Waiting: "CalendarInvalid act"}},
		"one without the cluster's time zone is closed": {calendars(zoneless), outcome{Waiting: "TimeZoneMissing act"}},
		"without hours or a reason it is closed":        {calendars(policy.Calendar{Name: "empty"}), outcome{Waiting: "CalendarInvalid act"}},
		"an open one beside it opens nothing":           {calendars(open, broken), outcome{Waiting: "CalendarInvalid act"}},
		"hours beside a problem open nothing": {
			calendars(policy.Calendar{Name: "both", Hours: open.Hours, Problem: policy.ReasonCalendarInvalid}),
			outcome{Waiting: "CalendarInvalid act"},
		},
	} {
		t.Run(name, timed{built([]func(*policy.Fleet){sets(done), tc.edit}, 1, 1), "2026-12-01T12:00:00Z", tc.want}.check)
	}
}

// tenMinutes opens on the first of the month from 02:00 to 02:10.
func tenMinutes() policy.Calendar {
	return calendarOf("monthly", window.Spec{
		Windows:    []window.Recurrence{{Schedule: "0 2 1 * *", Duration: 15 * time.Minute}},
		Exclusions: []window.Exclusion{{Recurrence: window.Recurrence{Schedule: "10 2 1 * *", Duration: 15 * time.Minute}}},
	})
}

func TestC036_AMachineThatCannotFinishInTheOpeningDoesNotBegin(t *testing.T) {
	edits := []func(*policy.Fleet){sets(done), calendars(tenMinutes()), work(40, 8*time.Minute)}
	one := func(words string) []func(*policy.Fleet) { return append(edits, sets(done, words)) }
	until := func(text string) func(*policy.Fleet) {
		return func(f *policy.Fleet) { f.Clusters[1].NotAfter = utc(text) }
	}
	for name, tc := range map[string]timed{
		"C036: a minute after it opened a machine of 8 minutes begins": {
			built(edits, 1, 1), "2026-12-01T02:01:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T02:02:00Z", Recheck: "2026-12-01T02:02:00.000000001Z"},
		},
		"at the last instant, too": {
			built(edits, 1, 1), "2026-12-01T02:02:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T02:02:00Z", Recheck: "2026-12-01T02:02:00.000000001Z"},
		},
		"C036: three minutes after it opened none does": {
			built(edits, 1, 1), "2026-12-01T02:03:00Z",
			outcome{Waiting: "DoesNotFit until 2027-01-01T02:00:00Z", Recheck: "2026-12-01T02:10:00Z"},
		},
		"C036: of a cluster half-way neither": {
			built(append(one("Run Progressing"), until("2026-12-01T02:02:00Z")), 1, 1), "2026-12-01T02:03:00Z",
			outcome{
				Intents: "c1=Hold until 2026-12-01T02:02:00Z", Holds: "c1:DoesNotFit until 2027-01-01T02:00:00Z",
				Recheck: "2026-12-01T02:10:00Z",
			},
		},
		"after it has closed the wait is for the opening": {
			built(one("Hold Holding"), 1, 1), "2026-12-01T02:10:00Z",
			outcome{
				Waiting: "WindowClosed until 2027-01-01T02:00:00Z", Holds: "c1:WindowClosed until 2027-01-01T02:00:00Z",
				Recheck: "2027-01-01T02:00:00Z",
			},
		},
		"in the next it goes on": {
			built(one("Hold Progressing"), 1, 1), "2027-01-01T02:00:00Z",
			outcome{Intents: "c1=Run until 2027-01-01T02:02:00Z", Recheck: "2027-01-01T02:02:00.000000001Z"},
		},
		"what is verified needs no opening": {
			built(append(one("Run Verifying"), until("2026-12-01T02:02:00Z")), 1, 1), "2026-12-01T03:00:00Z", outcome{},
		},
		"no opening within a year is long enough": {
			built([]func(*policy.Fleet){sets(done), calendars(tenMinutes()), work(1, 11*time.Minute)}, 1, 1), "2026-12-01T02:01:00Z",
			outcome{Waiting: "WindowTooShort act", Recheck: "2026-12-01T02:10:00Z"},
		},
		"which is said while it is closed, too": {
			built([]func(*policy.Fleet){sets(done), calendars(tenMinutes()), work(1, 11*time.Minute)}, 1, 1), "2026-12-01T12:00:00Z",
			outcome{Waiting: "WindowTooShort act", Recheck: "2027-01-01T02:00:00Z"},
		},
		"a part of a second counts as one": {
			built([]func(*policy.Fleet){sets(done), calendars(tenMinutes()), work(1, 8*time.Minute+time.Millisecond)}, 1, 1),
			"2026-12-01T02:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T02:01:59Z", Recheck: "2026-12-01T02:01:59.000000001Z"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw10APermissionIsWrittenAgainOnlyWhenItReallyChanges(t *testing.T) {
	edits := []func(*policy.Fleet){
		sets(done, "Run Progressing"), calendars(opens("nights", "0 2 * * *", 4*time.Hour)), work(3, 30*time.Minute),
	}
	until := func(instant time.Time) func(*policy.Fleet) {
		return func(f *policy.Fleet) { f.Clusters[1].NotAfter = instant }
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		edit func(*policy.Fleet)
		want string
	}{
		"it is as it was":                  {until(utc("2026-12-01T05:30:00Z")), ""},
		"the same instant in another zone": {until(utc("2026-12-01T05:30:00Z").In(berlin)), ""},
		"none was written": {
			func(*policy.Fleet) {}, "c1=Run until 2026-12-01T05:30:00Z",
		},
		"machines became slower": {
			with(until(utc("2026-12-01T05:30:00Z")), work(3, time.Hour)), "c1=Run until 2026-12-01T05:00:00Z",
		},
		"a freeze begins in it": {
			with(until(utc("2026-12-01T05:30:00Z")), freezes(policy.Freeze{Name: "x", All: true, From: utc("2026-12-01T05:00:00Z")})),
			"c1=Run until 2026-12-01T04:30:00Z",
		},
		"a freeze of new clusters does not count": {
			with(until(utc("2026-12-01T05:30:00Z")), freezes(policy.Freeze{
				Name: "x", All: true, From: utc("2026-12-01T05:00:00Z"), NewClustersOnly: true,
			})), "",
		},
		"the calendar was taken away": {
			with(until(utc("2026-12-01T05:30:00Z")), func(f *policy.Fleet) { f.Clusters[1].Calendars = nil }), "c1=Run",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := built(append(edits, tc.edit), 1, 1)
			if got := outcomeOf(policy.Decide(f, utc("2026-12-01T03:00:00Z"))).Intents; got != tc.want {
				t.Errorf("intents %q, want %q", got, tc.want)
			}
			stable(t, f, utc("2026-12-01T03:00:00Z"))
		})
	}
}

func TestC038_ASlotThatIsFreedAfterTheWindowStartsNothing(t *testing.T) {
	nights := calendars(opens("nights", "0 2 * * *", 2*time.Hour))
	closed := "WindowClosed until 2026-12-02T02:00:00Z"
	for name, tc := range map[string]timed{
		"C038: the slot is freed five seconds late": {
			built([]func(*policy.Fleet){sets(done, done, "Wait Pending"), nights}, 1, 2), "2026-12-01T04:00:05Z",
			outcome{Waiting: closed, Recheck: "2026-12-02T02:00:00Z"},
		},
		"C038: what was let begin and got nothing gives its slot back": {
			built([]func(*policy.Fleet){sets(done, "Run Pending"), nights}, 1, 2), "2026-12-01T04:00:05Z",
			outcome{Intents: "c1=Wait", Waiting: "MaxConcurrency", Recheck: "2026-12-02T02:00:00Z"},
		},
		"when that is confirmed both wait for the window": {
			built([]func(*policy.Fleet){sets(done), nights}, 1, 2), "2026-12-01T04:00:05Z",
			outcome{Waiting: closed, Recheck: "2026-12-02T02:00:00Z"},
		},
		"what is half-way keeps its slot": {
			built([]func(*policy.Fleet){sets(done, "Run Progressing"), nights}, 1, 2), "2026-12-01T04:00:05Z",
			outcome{Intents: "c1=Hold", Waiting: "MaxConcurrency", Holds: "c1:" + closed, Recheck: "2026-12-02T02:00:00Z"},
		},
		"at the very end it is closed": {
			built([]func(*policy.Fleet){sets(done), nights}, 1, 1), "2026-12-01T04:00:00Z",
			outcome{Waiting: closed, Recheck: "2026-12-02T02:00:00Z"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw9AClusterIsOpenWhenEveryCalendarOfItIs(t *testing.T) {
	early, late := opens("early", "0 1 * * *", 3*time.Hour), opens("late", "0 3 * * *", 3*time.Hour)
	for name, tc := range map[string]timed{
		"one is closed": {
			built([]func(*policy.Fleet){sets(done), calendars(early, late)}, 1, 1), "2026-12-01T02:00:00Z",
			outcome{Waiting: "WindowClosed until 2026-12-01T03:00:00Z", Recheck: "2026-12-01T03:00:00Z"},
		},
		"both are open": {
			built([]func(*policy.Fleet){sets(done), calendars(early, late)}, 1, 1), "2026-12-01T03:00:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T04:00:00Z", Recheck: "2026-12-01T04:00:00Z"},
		},
		"they never are": {
			built([]func(*policy.Fleet){sets(done), calendars(early, opens("noon", "0 12 * * *", time.Hour))}, 1, 1),
			"2026-12-01T02:00:00Z",
			outcome{Waiting: "WindowClosed act"},
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw17AWaitForAWindowSaysWhenInTheWordsOfThePlace(t *testing.T) {
	eu := calendarOf("eu-nights", window.Spec{
		TimeZone: "Europe/Berlin", Windows: []window.Recurrence{{Schedule: "0 3 * * 6", Duration: 4 * time.Hour}},
	})
	f := built([]func(*policy.Fleet){sets(done), calendars(eu), work(1, 5*time.Minute)}, 1, 2)
	for now, want := range map[string]string{
		"2026-12-01T12:00:00Z": "closed until 2026-12-05T02:00:00Z (Sat 03:00 Europe/Berlin), calendar eu-nights",
		"2026-12-05T05:58:00Z": "the opening ends at 2026-12-05T06:00:00Z (Sat 07:00 Europe/Berlin), too soon for a machine that " +
			"takes 5m0s; one that is long enough begins at 2026-12-12T02:00:00Z (Sat 03:00 Europe/Berlin), calendar eu-nights",
	} {
		if got := policy.Decide(f, utc(now)).Waiting.Message; got != want {
			t.Errorf("at %s: %q, want %q", now, got, want)
		}
	}
}

func TestLaw18ReasonsThatDifferAreCountedAndTheSoonestToEndStands(t *testing.T) {
	weekly, daily := opens("weekly", "0 2 * * 6", 4*time.Hour), opens("daily", "0 2 * * *", 4*time.Hour)
	f := built([]func(*policy.Fleet){sets(done, "Wait Pending ClaimedByOther"), calendars(weekly, daily)}, 1, 5)
	for i := range f.Clusters {
		f.Clusters[i].Calendars = []string{"weekly"}
	}
	f.Clusters[4].Calendars = []string{"daily"}
	d := policy.Decide(f, noon)
	want := outcome{
		Waiting: "WindowClosed until 2026-12-02T02:00:00Z", Holds: "c1:ClaimedByOther", Recheck: "2026-12-02T02:00:00Z",
	}
	if diff := cmp.Diff(want, outcomeOf(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	words := "closed until 2026-12-02T02:00:00Z (Wed 02:00 UTC), calendar daily; of 5 clusters that wait: 1 ClaimedByOther, " +
		"4 WindowClosed"
	if d.Waiting.Message != words {
		t.Errorf("message %q, want %q", d.Waiting.Message, words)
	}
	stable(t, f, noon)
}

func TestC043_ManyClustersOfOneWindowAreBoundByConcurrencyAlsoAfterARestart(t *testing.T) {
	f := built([]func(*policy.Fleet){
		sets(done), concurrency(20), calendars(opens("nights", "0 2 * * *", 4*time.Hour)), work(3, 20*time.Minute),
	}, 1, 500)
	now := utc("2026-12-01T02:00:00Z")
	begun := map[string]bool{}
	for minute := range 60 {
		d := policy.Decide(f, now) // a hub that has just been restarted knows no more than this
		for _, change := range d.Intents {
			begun[change.ID] = true
		}
		report(&f, d, now)
		if again := policy.Decide(f, now); len(again.Intents) > 0 {
			t.Fatalf("minute %d: a restart starts more: %s", minute, again)
		}
		inFlight := 0
		for i := range f.Clusters {
			c := &f.Clusters[i]
			switch {
			case c.Intent != policy.Run || c.Settled:
				continue
			case minute%20 == 19:
				set(&f, i, done)
			default:
				c.Phase = policy.Progressing
			}
			inFlight++
		}
		if inFlight > 20 {
			t.Fatalf("minute %d: %d in flight", minute, inFlight)
		}
		now = now.Add(time.Minute)
	}
	if len(begun) != 60 {
		t.Errorf("%d clusters began in an hour of three rounds of 20", len(begun))
	}
}

func TestC018_TwoClustersThatWereLeftGoOnInTheNextWeeksWindow(t *testing.T) {
	f := built([]func(*policy.Fleet){
		sets(done), concurrency(2), calendars(opens("sat", "0 2 * * 6", time.Hour)), work(1, 10*time.Minute),
	}, 1, 6)
	for _, week := range []struct{ now, want string }{
		{"2026-12-05T02:30:00Z", "c1=Run c2=Run"},
		{"2026-12-05T03:30:00Z", ""},
		{"2026-12-12T02:30:00Z", "c3=Run c4=Run"},
		{"2026-12-12T03:00:00Z", ""},
		{"2027-06-26T02:30:00Z", "c5=Run c6=Run"},
	} {
		d := policy.Decide(f, utc(week.now))
		var got []string
		for _, change := range d.Intents {
			got = append(got, fmt.Sprintf("%s=%s", change.ID, change.Intent))
		}
		if words := strings.Join(got, " "); words != week.want {
			t.Fatalf("%s: %q, want %q", week.now, words, week.want)
		}
		report(&f, d, utc(week.now))
		for i := range f.Clusters {
			if f.Clusters[i].Intent == policy.Run {
				set(&f, i, done)
			}
		}
	}
}

// TestLaw10AnOpeningAsLongAsAMachineIsTooShort: nobody is there at its very first instant, so a wait for the next one
// would never end. That is said, with the numbers, from planning on.
func TestLaw10AnOpeningAsLongAsAMachineIsTooShort(t *testing.T) {
	hours := func(minutes int) func(*policy.Fleet) {
		return calendars(opens("nights", "0 2 * * *", time.Duration(minutes)*time.Minute))
	}
	waits := func(minutes int) policy.Fleet {
		return built([]func(*policy.Fleet){sets(done), hours(minutes), work(3, time.Hour)}, 1, 1)
	}
	holds := func(minutes int) policy.Fleet {
		return built([]func(*policy.Fleet){sets(done, "Hold Holding"), hours(minutes), work(3, time.Hour)}, 1, 1)
	}
	tooShort := func(recheck string) outcome { return outcome{Waiting: "WindowTooShort act", Recheck: recheck} }
	for name, tc := range map[string]timed{
		"it is said before":           {waits(60), "2026-12-01T00:00:00Z", tooShort("2026-12-01T02:00:00Z")},
		"at the instant of opening":   {waits(60), "2026-12-01T02:00:00Z", tooShort("2026-12-01T03:00:00Z")},
		"a moment later":              {waits(60), "2026-12-01T02:00:01Z", tooShort("2026-12-01T03:00:00Z")},
		"also of some seconds more":   {waits(60), "2026-12-01T02:00:01Z", tooShort("2026-12-01T03:00:00Z")},
		"an hour after it has closed": {waits(60), "2026-12-01T04:00:00Z", tooShort("2026-12-02T02:00:00Z")},
		"a minute more is long enough": {
			waits(61), "2026-12-01T02:00:59Z",
			outcome{Intents: "c1=Run until 2026-12-01T02:01:00Z", Recheck: "2026-12-01T02:01:00.000000001Z"},
		},
		"to the last instant of that minute": {
			waits(61), "2026-12-01T02:01:00Z",
			outcome{Intents: "c1=Run until 2026-12-01T02:01:00Z", Recheck: "2026-12-01T02:01:00.000000001Z"},
		},
		"then it waits for the next one": {
			waits(61), "2026-12-01T02:01:01Z",
			outcome{Waiting: "DoesNotFit until 2026-12-02T02:00:00Z", Recheck: "2026-12-01T03:01:00Z"},
		},
		"of what has begun it is said, too": {
			holds(60), "2026-12-01T02:00:01Z",
			outcome{Waiting: "WindowTooShort act", Holds: "c1:WindowTooShort act", Recheck: "2026-12-01T03:00:00Z"},
		},
	} {
		t.Run(name, tc.check)
	}
	words := "no opening within a year is long enough for a machine that takes 1h0m0s and 1m0s to begin in: the longest lasts 1h0m0s, " +
		"calendar nights"
	if got := policy.Decide(waits(60), noon).Waiting.Message; got != words {
		t.Errorf("message %q, want %q", got, words)
	}
}

// TestLaw17TheEndOfAWaitForAnOpeningIsThatOfOneThatIsLongEnough: the shorter ones between change nothing.
func TestLaw17TheEndOfAWaitForAnOpeningIsThatOfOneThatIsLongEnough(t *testing.T) {
	hours := calendarOf("hours", window.Spec{Windows: []window.Recurrence{
		{Schedule: "0 2 * * *", Duration: time.Hour}, {Schedule: "0 2 * * 6", Duration: 4 * time.Hour},
	}})
	f := built([]func(*policy.Fleet){sets(done), calendars(hours), work(1, 2*time.Hour)}, 1, 1)
	timed{f, "2026-12-01T12:00:00Z", outcome{
		Waiting: "WindowClosed until 2026-12-05T02:00:00Z", Recheck: "2026-12-02T02:00:00Z",
	}}.check(t)
	words := "closed until 2026-12-02T02:00:00Z (Wed 02:00 UTC), calendar hours; one that is long enough for a machine that takes " +
		"2h0m0s begins at 2026-12-05T02:00:00Z (Sat 02:00 UTC)"
	if got := policy.Decide(f, noon).Waiting.Message; got != words {
		t.Errorf("message %q, want %q", got, words)
	}
}
