// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Settings are what an approval covers besides the plan: all that may be edited while a rollout goes on and says how
// fast, how much at once, and when. Pauses and freezes are not among them: they stop, and their end is no news.
//
// They are kept as text from look to look (see Text). A field that comes later must mean the slowest where it is absent.
type Settings struct {
	// Waves in order, canaries first.
	Waves []WaveSettings `json:"waves,omitempty"`
	// Limits over all waves, in any order.
	Limits []LimitSettings `json:"limits,omitempty"`
	// ReserveBudget as in Fleet.
	ReserveBudget bool `json:"reserveBudget,omitempty"`
	// AnyTime: the policy says that no calendar restricts it. Calendars may still take clusters by themselves.
	AnyTime bool `json:"anyTime,omitempty"`
	// Calendars that apply to clusters of the rollout, in any order; one of many time zones is one.
	Calendars []CalendarSettings `json:"calendars,omitempty"`
	// MaxUnknown as in Unreachable: negative is MaxConcurrency of the wave.
	MaxUnknown int `json:"maxUnknown,omitempty"`
	// Grace as in Unreachable.
	Grace time.Duration `json:"grace,omitempty"`
	// BeforeStart is CatchUp, Wait or Fail, as the policy's unreachable.beforeStart; empty: CatchUp.
	BeforeStart string `json:"beforeStart,omitempty"`
	// DeferralMax is how long the wish of a cluster's owner to wait is honoured.
	DeferralMax time.Duration `json:"deferralMax,omitempty"`
	// LateJoiners: clusters that are selected late are upgraded in catch-up.
	LateJoiners bool `json:"lateJoiners,omitempty"`
	// CatchUpFor as in Fleet: zero is for ever.
	CatchUpFor time.Duration `json:"catchUpFor,omitempty"`
	// OnMovedHalt as in Target.
	OnMovedHalt bool `json:"onMovedHalt,omitempty"`
	// Order of owners inside a cluster; empty: ControlPlaneFirst.
	Order Order `json:"order,omitempty"`
	// MachinesAtOnce are workers of one cluster. Under 1 counts as 1.
	MachinesAtOnce int `json:"machinesAtOnce,omitempty"`
	// SingleControlPlane is Refuse, AllowMarked or Allow, as the policy's upgrade.singleControlPlane; empty: Refuse.
	SingleControlPlane string `json:"singleControlPlane,omitempty"`
	// Priority among policies that want one cluster.
	Priority int `json:"priority,omitempty"`
	// RequestedBy is who asked for the change, whose own approval does not count. Empty: not said.
	RequestedBy string `json:"requestedBy,omitempty"`
}

// WaveSettings are the settings of one wave.
type WaveSettings struct {
	// Name of the wave.
	Name string `json:"name"`
	// MaxConcurrency and MaxFailures are counts. A MaxConcurrency under 1 counts as 1.
	MaxConcurrency int `json:"maxConcurrency,omitempty"`
	MaxFailures    int `json:"maxFailures,omitempty"`
	// Soak, Approvals, Deadline and DeadlineContinue as in Wave.
	Soak             time.Duration `json:"soak,omitempty"`
	Approvals        int           `json:"approvals,omitempty"`
	Deadline         time.Duration `json:"deadline,omitempty"`
	DeadlineContinue bool          `json:"deadlineContinue,omitempty"`
}

// LimitSettings are the settings of one Limit.
type LimitSettings struct {
	// Label whose values make the groups; empty: management clusters do.
	Label string `json:"label,omitempty"`
	// Max clusters in flight in one group. Under 1 counts as 1.
	Max int `json:"max,omitempty"`
}

// CalendarSettings are one MaintenanceCalendar.
type CalendarSettings struct {
	// Name of it.
	Name string `json:"name"`
	// Hash of its contents, selector included (see ContentHash). Empty: it is absent or cannot be read, which is closed.
	Hash string `json:"hash,omitempty"`
	// Bound: it applies to the clusters that its own selector takes. Else the policy names it, and it applies to all.
	Bound bool `json:"bound,omitempty"`
}

// Settings are those that a Fleet holds. It does not hold AnyTime, Calendars, BeforeStart, DeferralMax, LateJoiners, Order,
// MachinesAtOnce, SingleControlPlane and Priority, which the caller adds.
func (f Fleet) Settings() Settings {
	s := Settings{
		ReserveBudget: f.ReserveBudget, MaxUnknown: f.Unreachable.MaxUnknown, Grace: f.Unreachable.Grace,
		CatchUpFor: f.CatchUpFor, OnMovedHalt: f.OnMovedHalt, RequestedBy: f.RequestedBy,
	}
	for _, w := range f.Waves {
		if w.CatchUp {
			continue // its limits are those of the last wave
		}
		s.Waves = append(s.Waves, WaveSettings{
			Name: w.Name, MaxConcurrency: w.MaxConcurrency, MaxFailures: w.MaxFailures, Soak: w.Soak, Approvals: w.Approvals,
			Deadline: w.Deadline, DeadlineContinue: w.DeadlineContinue,
		})
	}
	for _, l := range f.Limits {
		s.Limits = append(s.Limits, LimitSettings{Label: l.Label, Max: l.Max})
	}
	return s
}

// Digest names a plan and its settings for people to approve: 20 hexadecimal digits. Settings that mean the same have
// the same digest, however they are listed.
func Digest(planHash string, s Settings) string {
	return hash("digest/v1", planHash, s.canonical())[:20]
}

// ContentHash tells the contents of a calendar apart: 12 hexadecimal digits over its JSON.
func ContentHash(contents ...any) string { return hash(contents...)[:12] }

// Covered are the settings that the digest of a rollout stands for from now on. While an approval names the digest and
// nothing is wider than it says, these are the ones that were approved, and so slower settings can be undone; else they
// are those of now.
func Covered(stored, now Settings, approved bool) Settings {
	if approved && !Widens(stored, now) {
		return stored
	}
	return now
}

// Text is the JSON of the settings, which ParseSettings reads.
func (s Settings) Text() string {
	// Values of these types always encode.
	text, _ := json.Marshal(s)
	return string(text)
}

// ParseSettings reads Text. A text that was cut, or has fields that are not known here, is an error: it covers nothing.
func ParseSettings(text string) (Settings, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	var s Settings
	if err := decoder.Decode(&s); err != nil {
		return Settings{}, fmt.Errorf("reading the settings of a digest: %w", err)
	}
	if decoder.More() {
		return Settings{}, fmt.Errorf("reading the settings of a digest: %q has more than one", text)
	}
	return s, nil
}

// The values of BeforeStart and SingleControlPlane.
const (
	beforeStartCatchUp = "CatchUp"
	beforeStartWait    = "Wait"
	beforeStartFail    = "Fail"

	singleRefuse      = "Refuse"
	singleAllowMarked = "AllowMarked"
	singleAllow       = "Allow"
)

// canonical settings are equal where settings mean the same.
type canonical struct {
	Settings
	// MaxUnknowns are MaxUnknown, by wave.
	MaxUnknowns []int
}

func (s Settings) canonical() canonical {
	c := canonical{Settings: s, MaxUnknowns: make([]int, 0, len(s.Waves))}
	c.Waves = make([]WaveSettings, 0, len(s.Waves))
	for _, w := range s.Waves {
		w.MaxConcurrency, w.MaxFailures = max(1, w.MaxConcurrency), max(0, w.MaxFailures)
		w.Soak, w.Approvals, w.Deadline = max(0, w.Soak), max(0, w.Approvals), max(0, w.Deadline)
		w.DeadlineContinue = w.DeadlineContinue && w.Deadline > 0
		c.Waves = append(c.Waves, w)
		unknown := s.MaxUnknown
		if unknown < 0 {
			unknown = w.MaxConcurrency
		}
		c.MaxUnknowns = append(c.MaxUnknowns, unknown)
	}
	c.Limits, c.Calendars = strictest(s.Limits), restricting(s.Calendars)
	c.AnyTime = s.AnyTime && !named(c.Calendars)
	c.Grace, c.DeferralMax, c.CatchUpFor = max(0, s.Grace), max(0, s.DeferralMax), max(0, s.CatchUpFor)
	c.BeforeStart = cmp.Or(s.BeforeStart, beforeStartCatchUp)
	c.Order = cmp.Or(s.Order, ControlPlaneFirst)
	c.MachinesAtOnce, c.SingleControlPlane = max(1, s.MachinesAtOnce), cmp.Or(s.SingleControlPlane, singleRefuse)
	c.MaxUnknown = 0
	return c
}

// strictest keeps one limit of each kind, since all hold.
func strictest(limits []LimitSettings) []LimitSettings {
	sorted := make([]LimitSettings, 0, len(limits))
	for _, l := range limits {
		sorted = append(sorted, LimitSettings{Label: l.Label, Max: max(1, l.Max)})
	}
	slices.SortFunc(sorted, func(a, b LimitSettings) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Max, b.Max))
	})
	return slices.CompactFunc(sorted, func(a, b LimitSettings) bool { return a.Label == b.Label })
}

// restricting leaves out calendars that restrict nothing beside the others, since all must be open.
func restricting(calendars []CalendarSettings) []CalendarSettings {
	sorted := append(make([]CalendarSettings, 0, len(calendars)), calendars...)
	slices.SortFunc(sorted, func(a, b CalendarSettings) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.reach(), b.reach()))
	})
	sorted = slices.Compact(sorted)
	return slices.DeleteFunc(slices.Clone(sorted), func(c CalendarSettings) bool {
		return slices.ContainsFunc(sorted, func(other CalendarSettings) bool { return other != c && other.restricts(c) })
	})
}

// reach sorts calendars that bind some clusters before those that the policy names.
func (c CalendarSettings) reach() int {
	if c.Bound {
		return 0
	}
	return 1
}

// restricts: whatever the other one keeps closed, this one does, too.
func (c CalendarSettings) restricts(other CalendarSettings) bool {
	return c.Name == other.Name && (c.Hash == "" || c.Hash == other.Hash) && (!c.Bound || other.Bound)
}

// named: the policy names a calendar.
func named(calendars []CalendarSettings) bool {
	return slices.ContainsFunc(calendars, func(c CalendarSettings) bool { return !c.Bound })
}
