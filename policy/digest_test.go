// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

// approved are settings of which each may become slower and wider.
func approved() policy.Settings {
	return policy.Settings{
		Waves: []policy.WaveSettings{
			{Name: "canaries", MaxConcurrency: 1, Soak: time.Hour, Approvals: 1, Deadline: 2 * time.Hour},
			{
				Name: "early", MaxConcurrency: 4, MaxFailures: 2, Soak: time.Hour, Approvals: 1, Deadline: 8 * time.Hour,
				DeadlineContinue: true,
			},
			{Name: "rest", MaxConcurrency: 6, MaxFailures: 2},
		},
		Limits:        []policy.LimitSettings{{Max: 3}, {Label: "example.com/site", Max: 2}},
		ReserveBudget: true,
		Calendars: []policy.CalendarSettings{
			{Name: "eu-nights", Hash: "aaaa"}, {Name: "site-freeze", Hash: "bbbb", Bound: true},
		},
		MaxUnknown: 2, Grace: 10 * time.Minute, DeferralMax: 24 * time.Hour, CatchUpFor: 720 * time.Hour, OnMovedHalt: true,
		MachinesAtOnce: 2, SingleControlPlane: "AllowMarked", Priority: 5, RequestedBy: "jane",
	}
}

func TestWhatAnApprovalCovers(t *testing.T) {
	anyTime := func(s *policy.Settings) { s.Calendars, s.AnyTime = nil, true }
	for name, tc := range map[string]struct {
		// covered changes what was approved, edit what it becomes.
		covered, edit func(*policy.Settings)
		// wider is what is said; none: the approval goes on to count.
		wider []string
	}{
		"nothing changed": {edit: func(*policy.Settings) {}},
		"fewer at once":   {edit: func(s *policy.Settings) { s.Waves[2].MaxConcurrency = 5 }},
		"more at once": {
			edit:  func(s *policy.Settings) { s.Waves[1].MaxConcurrency = 5 },
			wider: []string{"wave early: maxConcurrency 5, was 4"},
		},
		"none at once counts as one": {edit: func(s *policy.Settings) { s.Waves[0].MaxConcurrency = 0 }},
		"fewer failures":             {edit: func(s *policy.Settings) { s.Waves[1].MaxFailures = 1 }},
		"more failures": {
			edit:  func(s *policy.Settings) { s.Waves[1].MaxFailures = 3 },
			wider: []string{"wave early: maxFailures 3, was 2"},
		},
		"a longer soak": {edit: func(s *policy.Settings) { s.Waves[1].Soak = 2 * time.Hour }},
		"a shorter soak": {
			edit:  func(s *policy.Settings) { s.Waves[1].Soak = time.Minute },
			wider: []string{"wave early: soakDuration 1m0s, was 1h0m0s"},
		},
		"more approvals": {edit: func(s *policy.Settings) { s.Waves[1].Approvals = 2 }},
		"no approval": {
			edit:  func(s *policy.Settings) { s.Waves[1].Approvals = 0 },
			wider: []string{"wave early: 0 approvals, was 1"},
		},
		"an earlier deadline that halts": {edit: func(s *policy.Settings) { s.Waves[0].Deadline = time.Hour }},
		"a deadline that halts":          {edit: func(s *policy.Settings) { s.Waves[2].Deadline = time.Hour }},
		"a later deadline that halts": {
			edit:  func(s *policy.Settings) { s.Waves[0].Deadline = 3 * time.Hour },
			wider: []string{"wave canaries: deadline 3h0m0s (Halt), was 2h0m0s (Halt)"},
		},
		"no deadline": {
			edit:  func(s *policy.Settings) { s.Waves[0].Deadline = 0 },
			wider: []string{"wave canaries: deadline none, was 2h0m0s (Halt)"},
		},
		"a deadline that halts and no longer continues": {
			edit: func(s *policy.Settings) { s.Waves[1].DeadlineContinue = false },
		},
		"a deadline that continues and no longer halts": {
			edit:  func(s *policy.Settings) { s.Waves[0].DeadlineContinue = true },
			wider: []string{"wave canaries: deadline 2h0m0s (Continue), was 2h0m0s (Halt)"},
		},
		"an earlier deadline that continues": {
			edit:  func(s *policy.Settings) { s.Waves[1].Deadline = time.Hour },
			wider: []string{"wave early: deadline 1h0m0s (Continue), was 8h0m0s (Continue)"},
		},
		"a later deadline that continues": {
			edit:  func(s *policy.Settings) { s.Waves[1].Deadline = 9 * time.Hour },
			wider: []string{"wave early: deadline 9h0m0s (Continue), was 8h0m0s (Continue)"},
		},
		"another wave": {
			edit:  func(s *policy.Settings) { s.Waves[2].Name = "last" },
			wider: []string{"the waves are others"},
		},
		"another order of waves": {
			edit:  func(s *policy.Settings) { s.Waves[1], s.Waves[2] = s.Waves[2], s.Waves[1] },
			wider: []string{"the waves are others"},
		},
		"a lower limit":     {edit: func(s *policy.Settings) { s.Limits[0].Max = 2 }},
		"one limit more":    {edit: func(s *policy.Settings) { s.Limits = append(s.Limits, policy.LimitSettings{Label: "rack", Max: 9}) }},
		"limits reordered":  {edit: func(s *policy.Settings) { slices.Reverse(s.Limits) }},
		"a limit repeated":  {edit: func(s *policy.Settings) { s.Limits = append(s.Limits, policy.LimitSettings{Max: 9}) }},
		"a limit tightened": {edit: func(s *policy.Settings) { s.Limits = append(s.Limits, policy.LimitSettings{Max: 1}) }},
		"higher limits": {
			edit:  func(s *policy.Settings) { s.Limits[0].Max, s.Limits[1].Max = 4, 3 },
			wider: []string{"limit per ManagementCluster: 4, was 3", "limit per example.com/site: 3, was 2"},
		},
		"no limits": {
			edit:  func(s *policy.Settings) { s.Limits = nil },
			wider: []string{"limit per ManagementCluster: none, was 3", "limit per example.com/site: none, was 2"},
		},
		"a reserved budget": {covered: func(s *policy.Settings) { s.ReserveBudget = false }, edit: func(*policy.Settings) {}},
		"a budget that is not reserved": {
			edit:  func(s *policy.Settings) { s.ReserveBudget = false },
			wider: []string{"failureBudget Observed, was Reserved"},
		},
		"one calendar more": {
			edit: func(s *policy.Settings) {
				s.Calendars = append(s.Calendars, policy.CalendarSettings{Name: "month-end", Hash: "cccc"})
			},
		},
		"calendars reordered":    {edit: func(s *policy.Settings) { slices.Reverse(s.Calendars) }},
		"a calendar is lost":     {edit: func(s *policy.Settings) { s.Calendars[0].Hash = "" }},
		"a calendar is of all":   {edit: func(s *policy.Settings) { s.Calendars[1].Bound = false }},
		"calendars for any time": {covered: anyTime, edit: func(*policy.Settings) {}},
		"a calendar came back": {
			covered: func(s *policy.Settings) { s.Calendars[0].Hash = "" }, edit: func(*policy.Settings) {},
			wider: []string{"calendar eu-nights has other contents"},
		},
		"other contents of a calendar": {
			edit:  func(s *policy.Settings) { s.Calendars[0].Hash = "dddd" },
			wider: []string{"calendar eu-nights has other contents"},
		},
		"another calendar in place of one": {
			edit:  func(s *policy.Settings) { s.Calendars[0].Name = "us-nights" },
			wider: []string{"calendar eu-nights applies no longer"},
		},
		"a calendar no longer of all": {
			edit: func(s *policy.Settings) {
				s.Calendars[0].Bound, s.Calendars[1].Bound = true, false
			},
			wider: []string{"calendar eu-nights applies to fewer clusters"},
		},
		"any time": {
			edit: anyTime,
			wider: []string{
				"calendar eu-nights applies no longer", "calendar site-freeze applies no longer",
			},
		},
		"no time that is said": {
			covered: anyTime, edit: func(s *policy.Settings) { s.Calendars = nil },
			wider: []string{"neither calendars nor anyTime is said"},
		},
		"fewer that cannot be seen": {edit: func(s *policy.Settings) { s.MaxUnknown = 1 }},
		"more that cannot be seen": {
			edit: func(s *policy.Settings) { s.MaxUnknown = -1 },
			wider: []string{
				"wave early: maxUnknown 4, was 2", "wave rest: maxUnknown 6, was 2",
			},
		},
		"a longer grace": {edit: func(s *policy.Settings) { s.Grace = time.Hour }},
		"a shorter grace": {
			edit:  func(s *policy.Settings) { s.Grace = time.Minute },
			wider: []string{"unreachable.grace 1m0s, was 10m0s"},
		},
		"waiting for who is silent": {edit: func(s *policy.Settings) { s.BeforeStart = "Wait" }},
		"failing who is silent":     {edit: func(s *policy.Settings) { s.BeforeStart = "Fail" }},
		"failing and not waiting": {
			covered: func(s *policy.Settings) { s.BeforeStart = "Wait" },
			edit:    func(s *policy.Settings) { s.BeforeStart = "Fail" },
			wider:   []string{"unreachable.beforeStart Fail, was Wait"},
		},
		"not waiting for who is silent": {
			covered: func(s *policy.Settings) { s.BeforeStart = "Wait" },
			edit:    func(s *policy.Settings) { s.BeforeStart = "CatchUp" },
			wider:   []string{"unreachable.beforeStart CatchUp, was Wait"},
		},
		"something unknown with who is silent": {
			edit:  func(s *policy.Settings) { s.BeforeStart = "Guess" },
			wider: []string{"unreachable.beforeStart Guess, was CatchUp"},
		},
		"more patience with owners": {edit: func(s *policy.Settings) { s.DeferralMax = 48 * time.Hour }},
		"less patience with owners": {
			edit:  func(s *policy.Settings) { s.DeferralMax = 0 },
			wider: []string{"deferral.max 0s, was 24h0m0s"},
		},
		"late joiners": {
			edit:  func(s *policy.Settings) { s.LateJoiners = true },
			wider: []string{"catchUp.lateJoiners Include, was Ignore"},
		},
		"no late joiners": {
			covered: func(s *policy.Settings) { s.LateJoiners = true }, edit: func(*policy.Settings) {},
		},
		"a shorter catch-up": {edit: func(s *policy.Settings) { s.CatchUpFor = time.Hour }},
		"an endless catch-up": {
			edit:  func(s *policy.Settings) { s.CatchUpFor = 0 },
			wider: []string{"catchUp.until for ever, was 720h0m0s"},
		},
		"a target that may move": {
			edit:  func(s *policy.Settings) { s.OnMovedHalt = false },
			wider: []string{"target.onMoved Continue, was Halt"},
		},
		"the same order, said": {edit: func(s *policy.Settings) { s.Order = policy.ControlPlaneFirst }},
		"another order": {
			edit:  func(s *policy.Settings) { s.Order = policy.WorkersOnly },
			wider: []string{"upgrade.order WorkersOnly, was ControlPlaneFirst"},
		},
		"fewer machines at once": {edit: func(s *policy.Settings) { s.MachinesAtOnce = 0 }},
		"more machines at once": {
			edit:  func(s *policy.Settings) { s.MachinesAtOnce = 3 },
			wider: []string{"upgrade.maxConcurrentMachines 3, was 2"},
		},
		"no single control plane": {edit: func(s *policy.Settings) { s.SingleControlPlane = "" }},
		"marked single control planes": {
			covered: func(s *policy.Settings) { s.SingleControlPlane = "Allow" }, edit: func(*policy.Settings) {},
		},
		"any single control plane": {
			edit:  func(s *policy.Settings) { s.SingleControlPlane = "Allow" },
			wider: []string{"upgrade.singleControlPlane Allow, was AllowMarked"},
		},
		"a lower priority": {edit: func(s *policy.Settings) { s.Priority = -5 }},
		"a higher priority": {
			edit:  func(s *policy.Settings) { s.Priority = 6 },
			wider: []string{"priority 6, was 5"},
		},
		"a requester who may not approve": {
			covered: func(s *policy.Settings) { s.RequestedBy = "" }, edit: func(*policy.Settings) {},
		},
		"another requester": {
			edit:  func(s *policy.Settings) { s.RequestedBy = "joe" },
			wider: []string{`change.requestedBy "joe", was "jane"`},
		},
		"slower in one place and wider in another": {
			edit:  func(s *policy.Settings) { s.Waves[1].MaxConcurrency, s.Waves[2].MaxConcurrency = 1, 7 },
			wider: []string{"wave rest: maxConcurrency 7, was 6"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			covered, now := approved(), approved()
			if tc.covered != nil {
				tc.covered(&covered)
			}
			tc.edit(&now)
			if diff := cmp.Diff(tc.wider, policy.Wider(covered, now)); diff != "" {
				t.Errorf("wider (-want +got):\n%s", diff)
			}
			if got := policy.Widens(covered, now); got != (len(tc.wider) > 0) {
				t.Errorf("Widens is %t", got)
			}
		})
	}
}

// TestLaw21NoSettingChangesUnnoticed: whatever field of the settings is edited, the digest is another, and one of the two
// is wider. A field that is added and not compared fails here.
func TestLaw21NoSettingChangesUnnoticed(t *testing.T) {
	fields := 0
	var walk func(path string, v reflect.Value, base policy.Settings, now *policy.Settings)
	walk = func(path string, v reflect.Value, base policy.Settings, now *policy.Settings) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i), base, now)
			}
			return
		case reflect.Slice:
			for i := range v.Len() {
				walk(path+"[]", v.Index(i), base, now)
			}
			return
		}
		fields++
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		default:
			t.Fatalf("%s is a %s: say here how to change it", path, v.Kind())
		}
		if policy.Digest("h", base) == policy.Digest("h", *now) {
			t.Errorf("%s: the digest is the same", path)
		}
		if !policy.Widens(base, *now) && !policy.Widens(*now, base) {
			t.Errorf("%s: neither is wider", path)
		}
		v.Set(old)
	}
	// Calendars that bind themselves, beside AnyTime and with one deadline for each, so that no field is without effect.
	base, now := approved(), approved()
	for _, s := range []*policy.Settings{&base, &now} {
		s.Calendars[0].Bound, s.AnyTime = true, true
		s.Waves[2].Deadline = time.Hour
	}
	walk("", reflect.ValueOf(&now).Elem(), base, &now)
	if fields < 40 {
		t.Errorf("only %d fields were changed", fields)
	}
}

func TestDigestsNameAPlanAndItsSettings(t *testing.T) {
	one := policy.Digest("plan", approved())
	if len(one) != 20 || strings.Trim(one, "0123456789abcdef") != "" {
		t.Errorf("%q is no digest of 20 hexadecimal digits", one)
	}
	if one != policy.Digest("plan", approved()) {
		t.Error("the same settings have two digests")
	}
	if one == policy.Digest("another plan", approved()) {
		t.Error("two plans have one digest")
	}
	// A digest that changes from one version of the hub to the next voids every approval that waits.
	if want := "a18b06fd823648e95cc1"; one != want {
		t.Errorf("the digest of settings that did not change is %s, was %s", one, want)
	}
	if a, b := policy.ContentHash("a", "bc"), policy.ContentHash("ab", "c"); a == b || len(a) != 12 {
		t.Errorf("contents %s and %s are not told apart", a, b)
	}
}

func TestSettingsThatMeanTheSameHaveOneDigest(t *testing.T) {
	for name, edit := range map[string]func(*policy.Settings){
		"none at once is one":               func(s *policy.Settings) { s.Waves[0].MaxConcurrency = 0 },
		"fewer than no failures":            func(s *policy.Settings) { s.Waves[0].MaxFailures = -1 },
		"what to do past no deadline":       func(s *policy.Settings) { s.Waves[2].DeadlineContinue = true },
		"a limit of none is one":            func(s *policy.Settings) { s.Limits = append(s.Limits, policy.LimitSettings{Label: "rack"}) },
		"limits listed backwards":           func(s *policy.Settings) { slices.Reverse(s.Limits) },
		"a wider limit of the same":         func(s *policy.Settings) { s.Limits = append(s.Limits, policy.LimitSettings{Max: 9}) },
		"calendars listed backwards":        func(s *policy.Settings) { slices.Reverse(s.Calendars) },
		"a calendar listed twice":           func(s *policy.Settings) { s.Calendars = append(s.Calendars, s.Calendars[0]) },
		"any time beside a named calendar":  func(s *policy.Settings) { s.AnyTime = true },
		"the default beforeStart, said":     func(s *policy.Settings) { s.BeforeStart = "CatchUp" },
		"the default order, said":           func(s *policy.Settings) { s.Order = policy.ControlPlaneFirst },
		"a calendar that binds what it may": func(s *policy.Settings) { s.Calendars = append(s.Calendars, bound(s.Calendars[0])) },
	} {
		t.Run(name, func(t *testing.T) {
			was, is := approved(), approved()
			if strings.HasPrefix(name, "a limit of none") {
				was.Limits = append(was.Limits, policy.LimitSettings{Label: "rack", Max: 1})
			}
			edit(&is)
			if policy.Digest("h", was) != policy.Digest("h", is) {
				t.Errorf("%v and %v have two digests", was, is)
			}
		})
	}
	none, one := approved(), approved()
	none.MachinesAtOnce, one.MachinesAtOnce = 0, 1
	none.SingleControlPlane, one.SingleControlPlane = "", "Refuse"
	none.MaxUnknown, one.MaxUnknown = -1, 6
	none.Waves, one.Waves = none.Waves[2:], one.Waves[2:]
	if policy.Digest("h", none) != policy.Digest("h", one) {
		t.Error("defaults that are said have another digest")
	}
}

func bound(c policy.CalendarSettings) policy.CalendarSettings {
	c.Bound = true
	return c
}

// TestADigestStandsForWhatWasApproved: while nobody has approved it, it is of the settings that people see, so that a wider
// setting of the past is not approved unseen; once somebody has, slower settings may come and go.
func TestADigestStandsForWhatWasApproved(t *testing.T) {
	stored, slower, wider := approved(), approved(), approved()
	slower.Waves[2].MaxConcurrency, wider.Waves[2].MaxConcurrency = 2, 7
	for name, tc := range map[string]struct {
		now      policy.Settings
		approved bool
		want     policy.Settings
	}{
		"slower, and approved":     {slower, true, stored},
		"slower, and not approved": {slower, false, slower},
		"wider, and approved":      {wider, true, wider},
		"wider, and not approved":  {wider, false, wider},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, policy.Covered(stored, tc.now, tc.approved)); diff != "" {
				t.Errorf("covered (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSettingsAreKeptAsText(t *testing.T) {
	got, err := policy.ParseSettings(approved().Text())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(approved(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{
		"nothing":                 "",
		"cut":                     approved().Text()[:100],
		"a field of another hub":  `{"waves":[{"name":"rest","jitter":5}]}`,
		"settings after settings": `{"priority":1}{"priority":2}`,
	} {
		if s, err := policy.ParseSettings(text); err == nil {
			t.Errorf("%s is read as %v", name, s)
		}
	}
}

// TestTheFleetSaysItsSettings: the wave of catch-up is not among them, since its limits are those of the last wave.
func TestTheFleetSaysItsSettings(t *testing.T) {
	f := policy.Fleet{
		Waves: []policy.Wave{
			{Name: "canaries", Canary: true, MaxConcurrency: 1, Soak: time.Hour, Approvals: 1, Deadline: 2 * time.Hour},
			{Name: "rest", Planned: 9, MaxConcurrency: 6, MaxFailures: 2, Deadline: time.Hour, DeadlineContinue: true},
			{Name: "catch-up", CatchUp: true, MaxConcurrency: 6},
		},
		Limits:        []policy.Limit{{Max: 3, Elsewhere: map[string]int{"m": 1}}, {Label: "example.com/site", Max: 2}},
		ReserveBudget: true, OnMovedHalt: true, RequestedBy: "jane", CatchUpFor: 720 * time.Hour,
		Unreachable: policy.Unreachable{Grace: 10 * time.Minute, MaxUnknown: -1},
	}
	want := policy.Settings{
		Waves: []policy.WaveSettings{
			{Name: "canaries", MaxConcurrency: 1, Soak: time.Hour, Approvals: 1, Deadline: 2 * time.Hour},
			{Name: "rest", MaxConcurrency: 6, MaxFailures: 2, Deadline: time.Hour, DeadlineContinue: true},
		},
		Limits:        []policy.LimitSettings{{Max: 3}, {Label: "example.com/site", Max: 2}},
		ReserveBudget: true, OnMovedHalt: true, RequestedBy: "jane", CatchUpFor: 720 * time.Hour,
		Grace: 10 * time.Minute, MaxUnknown: -1,
	}
	if diff := cmp.Diff(want, f.Settings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
