// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
)

// few draws small numbers, so that settings are often comparable.
func few(t *rapid.T, label string) int { return rapid.IntRange(-1, 3).Draw(t, label) }

func hours(t *rapid.T, label string) time.Duration { return time.Duration(few(t, label)) * time.Hour }

// someSettings are settings of two waves, sensible or not.
func someSettings(t *rapid.T) policy.Settings {
	s := policy.Settings{
		ReserveBudget: rapid.Bool().Draw(t, "reserve"), AnyTime: rapid.Bool().Draw(t, "anyTime"),
		MaxUnknown: few(t, "maxUnknown"), Grace: hours(t, "grace"), DeferralMax: hours(t, "deferral"),
		BeforeStart: rapid.SampledFrom([]string{"", "CatchUp", "Wait", "Fail", "x"}).Draw(t, "beforeStart"),
		LateJoiners: rapid.Bool().Draw(t, "late"), CatchUpFor: hours(t, "catchUp"),
		OnMovedHalt: rapid.Bool().Draw(t, "onMoved"), MachinesAtOnce: few(t, "machines"), Priority: few(t, "priority"),
		Order:              rapid.SampledFrom([]policy.Order{"", policy.ControlPlaneFirst, policy.WorkersOnly}).Draw(t, "order"),
		SingleControlPlane: rapid.SampledFrom([]string{"", "Refuse", "AllowMarked", "Allow", "x"}).Draw(t, "single"),
		RequestedBy:        rapid.SampledFrom([]string{"", "jane", "joe"}).Draw(t, "requestedBy"),
	}
	for _, name := range []string{"a", "b"} {
		s.Waves = append(s.Waves, policy.WaveSettings{
			Name: name, MaxConcurrency: few(t, "concurrency"), MaxFailures: few(t, "failures"), Soak: hours(t, "soak"),
			Approvals: few(t, "approvals"), Deadline: hours(t, "deadline"), DeadlineContinue: rapid.Bool().Draw(t, "continue"),
		})
	}
	for range rapid.IntRange(0, 3).Draw(t, "limits") {
		s.Limits = append(s.Limits, policy.LimitSettings{
			Label: rapid.SampledFrom([]string{"", "site"}).Draw(t, "label"), Max: few(t, "max"),
		})
	}
	for range rapid.IntRange(0, 3).Draw(t, "calendars") {
		s.Calendars = append(s.Calendars, policy.CalendarSettings{
			Name: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "calendar"),
			Hash: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "hash"), Bound: rapid.Bool().Draw(t, "bound"),
		})
	}
	return s
}

// a knob is one setting and how to turn it.
type knob struct {
	name          string
	slower, wider func(*policy.Settings)
}

// knobs of settings like those of approved.
var knobs = []knob{
	{
		name:   "concurrency",
		slower: func(s *policy.Settings) { s.Waves[2].MaxConcurrency-- },
		wider:  func(s *policy.Settings) { s.Waves[2].MaxConcurrency++ },
	},
	{
		name:   "failures",
		slower: func(s *policy.Settings) { s.Waves[1].MaxFailures-- },
		wider:  func(s *policy.Settings) { s.Waves[1].MaxFailures++ },
	},
	{
		name:   "soak",
		slower: func(s *policy.Settings) { s.Waves[1].Soak++ },
		wider:  func(s *policy.Settings) { s.Waves[1].Soak-- },
	},
	{
		name:   "approvals",
		slower: func(s *policy.Settings) { s.Waves[0].Approvals++ },
		wider:  func(s *policy.Settings) { s.Waves[0].Approvals-- },
	},
	{
		name:   "deadline",
		slower: func(s *policy.Settings) { s.Waves[0].Deadline-- },
		wider:  func(s *policy.Settings) { s.Waves[0].Deadline++ },
	},
	{
		name:   "onDeadline",
		slower: func(s *policy.Settings) { s.Waves[1].DeadlineContinue = false },
		wider:  func(s *policy.Settings) { s.Waves[0].DeadlineContinue = true },
	},
	{
		name:   "limit",
		slower: func(s *policy.Settings) { s.Limits[0].Max-- },
		wider:  func(s *policy.Settings) { s.Limits[0].Max++ },
	},
	{
		name: "limits",
		slower: func(s *policy.Settings) {
			s.Limits = append(s.Limits, policy.LimitSettings{Label: fmt.Sprint("l", len(s.Limits)), Max: 7})
		},
		wider: func(s *policy.Settings) { s.Limits = slices.Delete(s.Limits, 1, 2) },
	},
	{
		name:   "budget",
		slower: func(s *policy.Settings) { s.ReserveBudget = true },
		wider:  func(s *policy.Settings) { s.ReserveBudget = false },
	},
	{
		name: "calendars",
		slower: func(s *policy.Settings) {
			s.Calendars = append(s.Calendars, policy.CalendarSettings{Name: fmt.Sprint("c", len(s.Calendars)), Hash: "9"})
		},
		wider: func(s *policy.Settings) { s.Calendars = slices.Delete(s.Calendars, 1, 2) },
	},
	{
		name:   "contents",
		slower: func(s *policy.Settings) { s.Calendars[0].Hash = "" },
		wider:  func(s *policy.Settings) { s.Calendars[0].Hash = "other" },
	},
	{
		name:   "reach",
		slower: func(s *policy.Settings) { s.Calendars[1].Bound = false },
		wider:  func(s *policy.Settings) { s.Calendars[0].Bound = true },
	},
	{
		name:   "maxUnknown",
		slower: func(s *policy.Settings) { s.MaxUnknown = 0 },
		wider:  func(s *policy.Settings) { s.MaxUnknown++ },
	},
	{
		name:   "grace",
		slower: func(s *policy.Settings) { s.Grace++ },
		wider:  func(s *policy.Settings) { s.Grace-- },
	},
	{
		name:   "beforeStart",
		slower: func(s *policy.Settings) { s.BeforeStart = "Wait" },
		wider:  func(s *policy.Settings) { s.BeforeStart = "?" },
	},
	{
		name:   "deferral",
		slower: func(s *policy.Settings) { s.DeferralMax++ },
		wider:  func(s *policy.Settings) { s.DeferralMax-- },
	},
	{
		name:   "lateJoiners",
		slower: func(s *policy.Settings) { s.LateJoiners = false },
		wider:  func(s *policy.Settings) { s.LateJoiners = true },
	},
	{
		name:   "catchUp",
		slower: func(s *policy.Settings) { s.CatchUpFor-- },
		wider:  func(s *policy.Settings) { s.CatchUpFor++ },
	},
	{
		name:   "onMoved",
		slower: func(s *policy.Settings) { s.OnMovedHalt = true },
		wider:  func(s *policy.Settings) { s.OnMovedHalt = false },
	},
	{
		name:   "machines",
		slower: func(s *policy.Settings) { s.MachinesAtOnce-- },
		wider:  func(s *policy.Settings) { s.MachinesAtOnce++ },
	},
	{
		name:   "single",
		slower: func(s *policy.Settings) { s.SingleControlPlane = "Refuse" },
		wider:  func(s *policy.Settings) { s.SingleControlPlane = "Allow" },
	},
	{
		name:   "priority",
		slower: func(s *policy.Settings) { s.Priority-- },
		wider:  func(s *policy.Settings) { s.Priority++ },
	},
}

// TestSlowerNeverWidensAndWiderAlwaysDoes: whatever else becomes slower at the same time.
func TestSlowerNeverWidensAndWiderAlwaysDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := approved()
		wider := rapid.IntRange(-1, len(knobs)-1).Draw(t, "wider")
		if wider >= 0 {
			knobs[wider].wider(&now)
		}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(knobs)-1), 0, 5).Draw(t, "slower") {
			// What one knob widened must not be undone, nor a list be changed twice.
			if wider >= 0 && (i == wider || knobs[i].name == "calendars" || knobs[i].name == "contents" || knobs[i].name == "reach" ||
				knobs[i].name == "limit" || knobs[i].name == "onDeadline" || knobs[i].name == "maxUnknown") {
				continue
			}
			knobs[i].slower(&now)
		}
		if got := policy.Widens(approved(), now); got != (wider >= 0) {
			t.Fatalf("Widens is %t: %v", got, policy.Wider(approved(), now))
		}
	})
}

// TestWideningIsAnOrder: nothing widens itself; what is covered by what is covered is covered; two settings that cover each
// other mean the same, and just these have one digest.
func TestWideningIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := someSettings(t)
		b, c := a, a
		mix(t, &b)
		mix(t, &c)
		if policy.Widens(a, a) {
			t.Fatalf("%v widens itself: %v", a, policy.Wider(a, a))
		}
		if !policy.Widens(a, b) && !policy.Widens(b, c) && policy.Widens(a, c) {
			t.Fatalf("a covers b and b covers c, and a does not cover c: %v\na %v\nb %v\nc %v", policy.Wider(a, c), a, b, c)
		}
		same := policy.Digest("h", a) == policy.Digest("h", b)
		if each := !policy.Widens(a, b) && !policy.Widens(b, a); same != each {
			t.Fatalf("one digest: %t, each covers the other: %t\na %v\nb %v", same, each, a, b)
		}
		text, err := policy.ParseSettings(b.Text())
		if err != nil || policy.Digest("h", text) != policy.Digest("h", b) {
			t.Fatalf("kept as text %s it is another (%v)", b.Text(), err)
		}
	})
}

// mix takes some of the settings from others, so that most stay the same.
func mix(t *rapid.T, s *policy.Settings) {
	other := someSettings(t)
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3).Draw(t, "mix") {
		switch i {
		case 0:
			s.Waves = slices.Clone(other.Waves)
		case 1:
			s.Limits, s.ReserveBudget = other.Limits, other.ReserveBudget
		case 2:
			s.Calendars = other.Calendars
		case 3:
			s.AnyTime = other.AnyTime
		case 4:
			s.MaxUnknown, s.Grace = other.MaxUnknown, other.Grace
		case 5:
			s.BeforeStart, s.DeferralMax = other.BeforeStart, other.DeferralMax
		case 6:
			s.LateJoiners, s.CatchUpFor = other.LateJoiners, other.CatchUpFor
		case 7:
			s.Order, s.MachinesAtOnce = other.Order, other.MachinesAtOnce
		case 8:
			s.SingleControlPlane, s.Priority = other.SingleControlPlane, other.Priority
		case 9:
			s.RequestedBy, s.OnMovedHalt = other.RequestedBy, other.OnMovedHalt
		}
	}
}

// TestListingOrderDoesNotMatter for limits and calendars, all of which hold.
func TestListingOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := someSettings(t)
		b := a
		b.Limits = rapid.Permutation(a.Limits).Draw(t, "limits")
		b.Calendars = rapid.Permutation(a.Calendars).Draw(t, "calendars")
		if policy.Digest("h", a) != policy.Digest("h", b) || policy.Widens(a, b) {
			t.Fatalf("%v and %v are told apart: %v", a, b, policy.Wider(a, b))
		}
	})
}
