// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/protocol"
)

func TestLockIsByteForByteTheExistingOne(t *testing.T) {
	if name := protocol.LockName("eu-1"); name != "eu-1-cp-inplace-upgrade-lock" {
		t.Errorf("the ConfigMap is named %q", name)
	}
	if protocol.LockDataKey != "lock-information" {
		t.Errorf("the holder stands under %q", protocol.LockDataKey)
	}
	r := protocol.LockRecord{MachineName: "eu-1-cp-x", MachineNamespace: "shop"}
	if got, want := r.Format(), `{"machineName":"eu-1-cp-x","machineNamespace":"shop"}`; got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
}

func TestParseLockRefuses(t *testing.T) {
	cases := map[string]struct{ text, because string }{
		"nothing":                {"", "no machine name"},
		"no JSON":                {"eu-1-cp-x", protocol.LockDataKey},
		"no name":                {`{"machineNamespace":"shop"}`, "no machine name"},
		"an empty name":          {`{"machineName":"","machineNamespace":"shop"}`, "no machine name"},
		"another type":           {`{"machineName":7}`, "machineName"},
		"a field of nobody":      {`{"machineName":"a","machineNamespace":"b","owner":"c"}`, "owner"},
		"text after the object":  {`{"machineName":"a"} b`, "after the JSON object"},
		"a second object behind": {`{"machineName":"a"}{"machineName":"b"}`, "after the JSON object"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := protocol.ParseLock(c.text)
			if err == nil || got != (protocol.LockRecord{}) {
				t.Fatalf("read as %+v, %v", got, err)
			}
			if !strings.Contains(err.Error(), c.because) {
				t.Errorf("the error does not say %q: %v", c.because, err)
			}
		})
	}
}

// FuzzLock: what is read has a name, and written and read again it is the same.
func FuzzLock(f *testing.F) {
	f.Add(`{"machineName":"a","machineNamespace":"b"}`)
	f.Add(`{"machineName":"a"}`)
	f.Add(`[]`)
	f.Add(``)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := protocol.ParseLock(text)
		if err != nil {
			return
		}
		if r.MachineName == "" {
			t.Errorf("%q holds for nobody", text)
		}
		again, err := protocol.ParseLock(r.Format())
		if err != nil || again != r {
			t.Errorf("%q was read as %+v, written as %s and read as %+v (%v)", text, r, r.Format(), again, err)
		}
	})
}

func TestParsePlanFillsDefaults(t *testing.T) {
	all := protocol.Plan{
		ExpectedVersion: "v1.33.9", Timeout: protocol.Duration(time.Hour), MaxAttempts: 5,
		Backoff: protocol.Duration(90 * time.Second), MaxConcurrentMachines: 2, AllowSingleControlPlane: true,
		Drain: &protocol.Drain{Timeout: protocol.Duration(20 * time.Minute)},
	}
	drained := protocol.Plan{Drain: &protocol.Drain{Timeout: protocol.Duration(10 * time.Minute)}}.WithDefaults()
	defaults := protocol.Plan{
		Timeout: protocol.Duration(30 * time.Minute), MaxAttempts: 3, Backoff: protocol.Duration(time.Minute),
		MaxConcurrentMachines: 1,
	}
	cases := map[string]struct {
		text string
		want protocol.Plan
	}{
		"nothing is all defaults":         {"", defaults},
		"an empty object is all defaults": {"{}", defaults},
		"zeroes are absent":               {`{"maxAttempts":0,"timeout":"0s"}`, defaults},
		"a limit below zero is one":       {`{"maxConcurrentMachines":-4}`, defaults},
		"a drain without a time has ten":  {`{"drain":{}}`, drained},
		"no drain is none":                {`{"drain":null}`, defaults},
		"all fields": {
			`{"expectedVersion":"v1.33.9","timeout":"1h","maxAttempts":5,"backoff":"1m30s","maxConcurrentMachines":2,` +
				`"allowSingleControlPlane":true,"drain":{"timeout":"20m"}}`, all,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := protocol.ParsePlan(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestParsePlanRefuses: a misspelt limit is not a missing one (law 21), and the error names it.
func TestParsePlanRefuses(t *testing.T) {
	cases := map[string]struct{ text, because string }{
		"a misspelt limit":      {`{"maxConcurrentMachine":2}`, `"maxConcurrentMachine"`},
		"a misspelt permission": {`{"allowSinglecontrolplanes":true}`, `"allowSinglecontrolplanes"`},
		"a misspelt drain":      {`{"drian":{}}`, `"drian"`},
		"a misspelt drain time": {`{"drain":{"timeuot":"5m"}}`, `"timeuot"`},
		"a negative time":       {`{"timeout":"-1m"}`, `"-1m": accepted: 90s, 30m, 1h30m`},
		"a time without unit":   {`{"backoff":"30"}`, `"30": accepted: 90s`},
		"a number for a time":   {`{"timeout":30}`, "timeout"},
		"a text for a number":   {`{"maxAttempts":"3"}`, "maxAttempts"},
		"no object":             {`3`, protocol.PlanKey},
		"half an object":        {`{"maxAttempts":3`, protocol.PlanKey},
		"text after the object": {`{} {}`, "after the JSON object"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := protocol.ParsePlan(c.text)
			if err == nil || got != (protocol.Plan{}) {
				t.Fatalf("read as %+v, %v", got, err)
			}
			if !strings.Contains(err.Error(), c.because) {
				t.Errorf("the error does not say %s: %v", c.because, err)
			}
		})
	}
}

func TestPlanRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(1, 86400)
		p := protocol.Plan{
			ExpectedVersion:         rapid.StringMatching(`(v1\.[0-9]{1,2}(\.[0-9]{1,2})?)?`).Draw(t, "version"),
			Timeout:                 protocol.Duration(time.Duration(seconds.Draw(t, "timeout")) * time.Second),
			MaxAttempts:             rapid.IntRange(1, 10).Draw(t, "attempts"),
			Backoff:                 protocol.Duration(time.Duration(seconds.Draw(t, "backoff")) * time.Millisecond),
			MaxConcurrentMachines:   rapid.IntRange(1, 50).Draw(t, "machines"),
			AllowSingleControlPlane: rapid.Bool().Draw(t, "single"),
		}
		if rapid.Bool().Draw(t, "drained") {
			p.Drain = &protocol.Drain{Timeout: protocol.Duration(time.Duration(seconds.Draw(t, "drain")) * time.Second)}
		}
		got, err := protocol.ParsePlan(p.Format())
		if diff := cmp.Diff(p, got); err != nil || diff != "" {
			t.Fatalf("%s was read with (%v) (-written +read):\n%s", p.Format(), err, diff)
		}
	})
}

func TestPlanIsWrittenWithoutItsAbsentFields(t *testing.T) {
	p := protocol.Plan{ExpectedVersion: "v1.33.9", Timeout: protocol.Duration(30 * time.Minute)}
	if got, want := p.Format(), `{"expectedVersion":"v1.33.9","timeout":"30m0s"}`; got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
}

func TestAttemptRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		second := rapid.Int64Range(0, 4102444800)
		a := protocol.Attempt{
			Target: rapid.String().Draw(t, "target"), Count: rapid.IntRange(0, 9).Draw(t, "count"),
			From: "v1.32.1", LastError: rapid.StringN(-1, -1, 1024).Draw(t, "error"),
			Quarantined: rapid.Bool().Draw(t, "quarantined"),
		}
		if rapid.Bool().Draw(t, "sent") {
			a.SentAt = time.Unix(second.Draw(t, "sentAt"), 0).UTC()
			a.FailedAt = time.Unix(second.Draw(t, "failedAt"), 0).UTC()
		}
		got, err := protocol.ParseAttempt(a.Format())
		if err != nil {
			t.Fatal(err)
		}
		if len(got.LastError) > 512 || !utf8.ValidString(got.LastError) {
			t.Fatalf("an error of %d bytes was kept as %d", len(a.LastError), len(got.LastError))
		}
		if len(a.LastError) > 512 {
			if !strings.HasPrefix(a.LastError, strings.TrimSuffix(got.LastError, "...")) {
				t.Fatalf("%q was cut to %q", a.LastError, got.LastError)
			}
			got.LastError = a.LastError
		}
		if diff := cmp.Diff(a, got); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

func TestParseAttemptRefuses(t *testing.T) {
	if got, err := protocol.ParseAttempt(""); err != nil || got != (protocol.Attempt{}) {
		t.Errorf("no attempt was read as %+v, %v", got, err)
	}
	for name, text := range map[string]string{"no JSON": "once", "a field of nobody": `{"attempts":2}`} {
		t.Run(name, func(t *testing.T) {
			if _, err := protocol.ParseAttempt(text); err == nil || !strings.Contains(err.Error(), protocol.AttemptKey) {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}

func TestStartBefore(t *testing.T) {
	at := time.Date(2026, 12, 1, 3, 0, 0, 987654321, time.FixedZone("", 3600))
	text := protocol.FormatStartBefore(at)
	if text != "2026-12-01T02:00:00Z" {
		t.Errorf("written as %q", text)
	}
	if got, err := protocol.ParseStartBefore(text); err != nil || !got.Equal(at.Truncate(time.Second)) {
		t.Errorf("read as %s, %v", got, err)
	}
	for _, bad := range []string{"", "tomorrow", "2026-12-01 02:00"} {
		if _, err := protocol.ParseStartBefore(bad); err == nil || !strings.Contains(err.Error(), "accepted: 2026-") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
