// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"slices"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// Terms are what an Approval of the rollout is for: the digest, and the settings that it covers. They stay those that
// were approved as long as nothing is wider; without a committed plan there are none.
func Terms(h Hub, f policy.Fleet) (digest string, covered policy.Settings) {
	if h.Rollout.Status.Plan == nil {
		return "", policy.Settings{}
	}
	covered = Settings(h, f)
	approved := slices.ContainsFunc(f.Approvals, func(a policy.Approval) bool {
		return !a.Rejected && a.Digest == h.Rollout.Status.Digest
	})
	if stored, err := policy.ParseSettings(h.Rollout.Status.Settings); err == nil {
		covered = policy.Covered(stored, covered, approved)
	}
	return policy.Digest(h.Rollout.Status.Plan.Hash, covered), covered
}

// Settings are the settings of a rollout as they apply now: those of the policy where edits apply at once, else those that
// its clusters were planned with.
func Settings(h Hub, f policy.Fleet) policy.Settings {
	s := f.Settings()
	s.LateJoiners = true
	if h.Policy == nil {
		return s
	}
	spec := &h.Policy.Spec
	s.AnyTime, s.Priority = value(spec.AnyTime) && len(spec.Calendars) == 0, int(value(spec.Priority))
	s.LateJoiners = spec.CatchUp == nil || spec.CatchUp.LateJoiners != fleetv1.LateJoinersIgnore
	s.Calendars = calendarSettings(h, f)
	frozen := planned(h)
	s.Order, s.MachinesAtOnce = policy.Order(frozen.Order), int(frozen.MaxConcurrentMachines)
	s.BeforeStart, s.DeferralMax = string(frozen.BeforeStart), value(frozen.DeferralMax).Duration
	s.SingleControlPlane = string(frozen.SingleControlPlane)
	return s
}

// planned are the settings that the clusters of the rollout were planned with.
func planned(h Hub) fleetv1.UpgradeSettings {
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID == h.Rollout.UID && cu.Spec.Wave != fleetv1.WaveCatchUp {
			return cu.Spec.Upgrade
		}
	}
	return h.Policy.Spec.Settings()
}

// calendarSettings are the calendars that the policy names, and those that bind clusters of the rollout by themselves.
func calendarSettings(h Hub, f policy.Fleet) []policy.CalendarSettings {
	byName := named(h.Calendars)
	settings := func(name string, bound bool) policy.CalendarSettings {
		s := policy.CalendarSettings{Name: name, Bound: bound}
		if cal := byName[name]; cal != nil {
			if _, err := h.Compiled.Compile(cal, ""); err == nil {
				s.Hash = policy.ContentHash(cal.Spec)
			}
		}
		return s
	}
	var list []policy.CalendarSettings
	for _, name := range h.Policy.Spec.Calendars {
		list = append(list, settings(name, false))
	}
	bound := map[string]bool{}
	for _, c := range f.Calendars {
		bound[c.Name] = c.Name != "" && !slices.Contains(h.Policy.Spec.Calendars, c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		if bound[name] {
			list = append(list, settings(name, true))
		}
	}
	return list
}
