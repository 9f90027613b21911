// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/protocol"
)

var prefixes = []string{protocol.ProviderPrefix, protocol.OwnPrefix}

// absent stands for a key that is not there, which an empty value is not.
const absent = "-"

// statuses are all values of the status annotation, and one that nobody writes.
var statuses = []string{absent, "", protocol.StatusInProgress, protocol.StatusDone, protocol.StatusFailed, "paused"}

// states is what each status means under the other three marks that count, written to|change-id|last-failed, in the
// order of statuses. A release changes no state.
var states = map[string][6]protocol.State{
	"..|..|..": {protocol.Idle, protocol.Idle, protocol.Leftover, protocol.Idle, protocol.Leftover, protocol.Idle},
	"..|..|lf": {
		protocol.Leftover, protocol.Leftover, protocol.Leftover, protocol.Leftover, protocol.Leftover, protocol.Leftover,
	},
	"..|id|..": {
		protocol.Abandoned, protocol.Abandoned, protocol.Abandoned, protocol.Abandoned, protocol.Abandoned,
		protocol.Abandoned,
	},
	"..|id|lf": {
		protocol.Abandoned, protocol.Abandoned, protocol.Abandoned, protocol.Abandoned, protocol.Abandoned,
		protocol.Abandoned,
	},
	"to|..|..": {
		protocol.Requested, protocol.Requested, protocol.Requested, protocol.Requested, protocol.Requested,
		protocol.Requested,
	},
	"to|..|lf": {
		protocol.Retrying, protocol.Retrying, protocol.Retrying, protocol.Retrying, protocol.Retrying, protocol.Retrying,
	},
	"to|id|..": {
		protocol.Inconsistent, protocol.Inconsistent, protocol.InProgress, protocol.Finishing, protocol.FailedAttempt,
		protocol.Inconsistent,
	},
	"to|id|lf": {
		protocol.Inconsistent, protocol.Inconsistent, protocol.InProgress, protocol.Finishing, protocol.FailedAttempt,
		protocol.Inconsistent,
	},
}

// combinations calls f with every set of marks: each key absent, empty or filled, each status.
func combinations(k protocol.Keys, f func(annotations map[string]string, status int)) {
	for to := range 3 {
		for id := range 3 {
			for failed := range 3 {
				for release := range 3 {
					for status, text := range statuses {
						a := map[string]string{}
						put(a, k.To, [...]string{absent, "", "channel=1.34/stable"}[to])
						put(a, k.ChangeID, [...]string{absent, "", "42"}[id])
						put(a, k.LastFailed, [...]string{absent, "", "Sat, 19 Oct 2024 16:30:00 +0000"}[failed])
						put(a, k.Release, [...]string{absent, "", "channel=1.33/stable"}[release])
						put(a, k.Status, text)
						f(a, status)
					}
				}
			}
		}
	}
}

func put(a map[string]string, key, value string) {
	if value != absent {
		a[key] = value
	}
}

// row names the row of states that annotations fall into: of to and change-id presence counts, of last-failed a value.
func row(k protocol.Keys, a map[string]string) string {
	parts := []string{"..", "..", ".."}
	if _, found := a[k.To]; found {
		parts[0] = "to"
	}
	if _, found := a[k.ChangeID]; found {
		parts[1] = "id"
	}
	if a[k.LastFailed] != "" {
		parts[2] = "lf"
	}
	return strings.Join(parts, "|")
}

func TestEveryCombinationOfMarksHasItsState(t *testing.T) {
	for _, prefix := range prefixes {
		t.Run(prefix, func(t *testing.T) {
			k := protocol.KeysFor(prefix)
			seen := map[string]bool{}
			combinations(k, func(a map[string]string, status int) {
				want := states[row(k, a)][status]
				if got := k.Read(a).State(); got != want {
					t.Errorf("%v is %s, want %s", a, got, want)
				}
				seen[row(k, a)] = true
			})
			if len(seen) != len(states) {
				t.Errorf("%d of %d rows were met: %v", len(seen), len(states), seen)
			}
		})
	}
}

func TestAMachineIsBusyAsLongAsItIsAskedOrMayStillRun(t *testing.T) {
	k := protocol.KeysFor(protocol.ProviderPrefix)
	combinations(k, func(a map[string]string, _ int) {
		_, asked := a[k.To]
		_, running := a[k.ChangeID]
		if got := k.Read(a).Busy(); got != (asked || running) {
			t.Errorf("%v: busy is %t", a, got)
		}
	})
}

func TestMarksUnderOnePrefixMeanNothingUnderTheOther(t *testing.T) {
	provider, own := protocol.KeysFor(protocol.ProviderPrefix), protocol.KeysFor(protocol.OwnPrefix)
	combinations(provider, func(a map[string]string, _ int) {
		if got := own.Read(a); got != (protocol.Marks{}) {
			t.Errorf("%v reads as %+v under %s", a, got, protocol.OwnPrefix)
		}
	})
}

func TestKeysAreThoseOfTheProtocol(t *testing.T) {
	for _, prefix := range prefixes {
		want := []string{
			prefix + "in-place-upgrade-to",
			prefix + "in-place-upgrade-status",
			prefix + "in-place-upgrade-release",
			prefix + "in-place-upgrade-change-id",
			prefix + "in-place-upgrade-last-failed-attempt-at",
		}
		if diff := cmp.Diff(want, protocol.KeysFor(prefix).All()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", prefix, diff)
		}
	}
	if protocol.ProviderPrefix != "v1beta2.k8sd.io/" {
		t.Errorf("the existing controllers do not answer %q", protocol.ProviderPrefix)
	}
}

// TestInFlight: a refresh that was, or may have been, sent is in flight until its end was seen.
func TestInFlight(t *testing.T) {
	sent := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	running := protocol.Attempt{SentAt: sent}
	failed := protocol.Attempt{SentAt: sent, FailedAt: sent.Add(time.Minute)}
	again := protocol.Attempt{SentAt: sent, FailedAt: sent.Add(-time.Minute)}
	asked := protocol.Marks{To: "revision=1", HasTo: true}
	retry := protocol.Marks{To: "revision=1", HasTo: true, LastFailed: "Sat, 19 Oct 2024 16:30:00 +0000"}
	with := func(status string) protocol.Marks {
		return protocol.Marks{To: "revision=1", HasTo: true, HasChangeID: true, ChangeID: "1", Status: status}
	}
	gone := func(status string) protocol.Marks {
		return protocol.Marks{HasChangeID: true, ChangeID: "1", Status: status}
	}
	cases := map[string]struct {
		marks   protocol.Marks
		attempt protocol.Attempt
		want    bool
	}{
		"nothing":                                    {protocol.Marks{}, protocol.Attempt{}, false},
		"nothing but a record of an attempt":         {protocol.Marks{}, running, false},
		"asked, not sent":                            {asked, protocol.Attempt{}, false},
		"asked, and sent before a crash":             {asked, running, true},
		"asked, sent, and failed":                    {asked, failed, false},
		"asked, failed, and sent again":              {asked, again, true},
		"asked again, not sent again":                {retry, failed, false},
		"asked again, and sent again before a crash": {retry, again, true},
		"running":                     {with(protocol.StatusInProgress), protocol.Attempt{}, true},
		"done, result not recorded":   {with(protocol.StatusDone), protocol.Attempt{}, true},
		"failed":                      {with(protocol.StatusFailed), running, false},
		"a change without a status":   {with(""), protocol.Attempt{}, true},
		"withdrawn while running":     {gone(protocol.StatusInProgress), protocol.Attempt{}, true},
		"withdrawn after it was done": {gone(protocol.StatusDone), running, false},
		"withdrawn after it failed":   {gone(protocol.StatusFailed), running, false},
		"left over from an upgrade cancelled by hand": {
			protocol.Marks{Status: protocol.StatusInProgress}, running, false,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.marks.InFlight(c.attempt); got != c.want {
				t.Errorf("state %s, in flight is %t", c.marks.State(), got)
			}
		})
	}
}

func TestFailedAtIsReadBackInUTC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 4102444800).Draw(t, "seconds"), 0)
		zone := time.FixedZone("", rapid.IntRange(-14, 14).Draw(t, "hours")*3600)
		text := protocol.FormatFailedAt(at.In(zone))
		got, ok := protocol.ParseFailedAt(text)
		if !ok || !got.Equal(at) || !strings.HasSuffix(text, "+0000") {
			t.Fatalf("%s was written %q and read %s, %t", at, text, got, ok)
		}
	})
}

func TestFailedAtOfTheExistingControllers(t *testing.T) {
	got, ok := protocol.ParseFailedAt("Sat, 19 Oct 2024 20:30:00 +0400")
	if want := time.Date(2024, 10, 19, 16, 30, 0, 0, time.UTC); !ok || !got.Equal(want) {
		t.Errorf("read %s, %t", got, ok)
	}
	for _, text := range []string{"", "yesterday", "2024-10-19T20:30:00Z"} {
		if _, ok := protocol.ParseFailedAt(text); ok {
			t.Errorf("%q was read as an instant", text)
		}
	}
}

// FuzzMarks: reading is total, and foreign annotations and the order of keys change nothing.
func FuzzMarks(f *testing.F) {
	f.Add(uint8(31), "channel=1.34/stable", protocol.StatusInProgress, "", "42", "", "other/key")
	f.Add(uint8(0), "", "", "", "", "", "")
	known := map[protocol.State]bool{
		protocol.Idle: true, protocol.Leftover: true, protocol.Requested: true, protocol.Retrying: true,
		protocol.InProgress: true, protocol.Finishing: true, protocol.FailedAttempt: true, protocol.Inconsistent: true,
		protocol.Abandoned: true,
	}
	k := protocol.KeysFor(protocol.ProviderPrefix)
	f.Fuzz(func(t *testing.T, present uint8, to, status, release, id, failed, foreign string) {
		a := map[string]string{}
		for i, value := range []string{to, status, release, id, failed} {
			if present&(1<<i) != 0 {
				a[k.All()[i]] = value
			}
		}
		marks := k.Read(a)
		if !known[marks.State()] {
			t.Errorf("%v has no state: %q", a, marks.State())
		}
		if marks.InFlight(protocol.Attempt{}) && !marks.Busy() {
			t.Errorf("%v is in flight and not busy", a)
		}
		more := maps.Clone(a)
		if _, ours := more[foreign]; !ours && !strings.HasPrefix(foreign, protocol.ProviderPrefix) {
			more[foreign] = "x"
		}
		if diff := cmp.Diff(marks, k.Read(more)); diff != "" {
			t.Errorf("a foreign annotation %q changed the marks:\n%s", foreign, diff)
		}
	})
}
