// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

// noon is a Tuesday; the days after it are free of clock changes in Europe.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// at is an instant on the day of noon or a later one: at("02 03:30") is the 2nd of December.
func at(text string) time.Time {
	t, err := time.Parse("2006-01 02 15:04", "2026-12 "+text)
	if err != nil {
		panic(err)
	}
	return t
}

// story is a rollout that is being set up.
type story struct{ simulate.Input }

// tell begins a story in the evening of the first day. Whatever is not said is: every member answers, every cluster is
// healthy and has three control plane machines and two workers, of 20 minutes each.
func tell() *story {
	return &story{simulate.Input{From: at("01 20:00"), Fleet: policy.Fleet{
		Committed: true, OnMovedHalt: true, Digest: "plan-1", Members: map[string]policy.Member{},
		Calendars: map[string]policy.Calendar{},
	}}}
}

// canaries adds the wave of canaries.
func (s *story) canaries(paths ...string) *story {
	s.Fleet.HasCanaries = true
	return s.wave(policy.Wave{Name: policy.CanaryWave, Canary: true, MaxConcurrency: 1}, paths...)
}

// wave adds a wave of clusters.
func (s *story) wave(w policy.Wave, paths ...string) *story {
	w.Planned = len(paths)
	s.Fleet.Waves = append(s.Fleet.Waves, w)
	for _, path := range paths {
		c := cluster(path)
		c.Wave = len(s.Fleet.Waves) - 1
		s.Fleet.Clusters = append(s.Fleet.Clusters, c)
		s.Fleet.Members[c.Member] = policy.Member{Ready: true, Upgrade: true}
	}
	return s
}

// catchUp adds the implicit last wave.
func (s *story) catchUp() *story {
	last := s.Fleet.Waves[len(s.Fleet.Waves)-1]
	return s.wave(policy.Wave{
		Name: "catch-up", CatchUp: true, MaxConcurrency: last.MaxConcurrency, MaxFailures: last.MaxFailures,
	})
}

// cluster is one of five machines.
func cluster(path string) policy.Cluster {
	member, _, _ := strings.Cut(path, "/")
	return policy.Cluster{
		ID: strings.ReplaceAll(path, "/", "-"), Path: path, Member: member, Intent: policy.Wait,
		Phase: policy.Pending, Health: policy.Healthy, HealthSince: noon,
		Work: []policy.Work{
			{Machines: 3, AtOnce: 1, Each: 20 * time.Minute}, {Machines: 2, AtOnce: 1, Each: 20 * time.Minute},
		},
	}
}

// hours binds clusters to a calendar; none: all.
func (s *story) hours(name string, spec window.Spec, paths ...string) *story {
	calendar, _, err := window.Compile(spec)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	s.Fleet.Calendars[name] = policy.Calendar{Name: name, Hours: calendar}
	return s.each(func(c *policy.Cluster) { c.Calendars = append(c.Calendars, name) }, paths...)
}

// each changes clusters; none named: all.
func (s *story) each(change func(*policy.Cluster), paths ...string) *story {
	for i := range s.Fleet.Clusters {
		for _, path := range paths {
			if s.Fleet.Clusters[i].Path == path {
				change(&s.Fleet.Clusters[i])
			}
		}
		if len(paths) == 0 {
			change(&s.Fleet.Clusters[i])
		}
	}
	return s
}

// set changes the fleet.
func (s *story) set(change func(*policy.Fleet)) *story {
	change(&s.Fleet)
	return s
}

// then adds what befalls.
func (s *story) then(events ...simulate.Event) *story {
	s.Script = append(s.Script, events...)
	return s
}

// nightly is open every night from 22:00 on in a zone.
func nightly(zone string, duration time.Duration) window.Spec {
	return window.Spec{TimeZone: zone, Windows: []window.Recurrence{{Schedule: "0 22 * * *", Duration: duration}}}
}
