// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// large is a fleet of 10,000 clusters in 20 waves and 50 members, half-way through.
func large() policy.Fleet {
	f := policy.Fleet{Committed: true, HasCanaries: true, OnMovedHalt: true, Members: map[string]policy.Member{}}
	for m := range 50 {
		f.Members[fmt.Sprintf("m%d", m)] = policy.Member{Ready: true, Upgrade: true, MaxConcurrentClusters: 3}
	}
	for i := range 20 {
		f.Waves = append(f.Waves, policy.Wave{Name: fmt.Sprintf("w%d", i), Canary: i == 0, Planned: 500, MaxConcurrency: 100})
	}
	for i := range 10_000 {
		id := fmt.Sprintf("c%05d", i)
		f.Clusters = append(f.Clusters, policy.Cluster{
			ID: id, Path: "ns/" + id, Member: fmt.Sprintf("m%d", i%50), Wave: i / 500, Intent: policy.Wait,
			Phase: policy.Pending,
		})
		switch c := &f.Clusters[i]; {
		case i < 5000:
			c.Intent, c.Phase, c.Settled = policy.Run, policy.Succeeded, true
			c.Versions = map[string]string{"amd64": "v1.33.9"}
		case i < 5050:
			c.Intent, c.Phase = policy.Run, policy.Progressing
		}
	}
	return f
}

// BenchmarkDecide10k decides for 10,000 clusters in 20 waves.
func BenchmarkDecide10k(b *testing.B) {
	f := large()
	b.ReportAllocs()
	for b.Loop() {
		if d := policy.Decide(f, noon); len(d.Intents) != 50 {
			b.Fatalf("%d intents", len(d.Intents))
		}
	}
}

// laden gives a fleet what depends on time: calendars, freezes, limits, approvals, and work of different length.
func laden() policy.Fleet {
	f := large()
	f.Calendars = map[string]policy.Calendar{}
	for k := range 40 {
		c := opens(fmt.Sprintf("zone-%d", k), "0 2 * * *", 11*time.Hour)
		f.Calendars[c.Name] = c
	}
	f.Limits = []policy.Limit{{Max: 3}, {Label: "site", Max: 2}}
	f.ReserveBudget, f.Digest, f.Shown = true, "d1", &policy.Waiting{Reason: policy.ReasonMaxConcurrency, Since: noon.Add(-48 * time.Hour)}
	f.Freezes = []policy.Freeze{{Name: "xmas", All: true, From: noon.Add(20 * 24 * time.Hour), Until: noon.Add(40 * 24 * time.Hour)}}
	for i := range f.Waves {
		w := &f.Waves[i]
		w.Approvals, w.MaxFailures, w.StartedAt = 1, 100, noon.Add(-time.Duration(20-i)*24*time.Hour)
		f.Approvals = append(f.Approvals, policy.Approval{By: "alice", Wave: w.Name, Digest: "d1", Verified: true})
	}
	for i := range f.Clusters {
		c := &f.Clusters[i]
		c.Calendars = []string{fmt.Sprintf("zone-%d", i%40)}
		c.Groups = []string{c.Member, fmt.Sprintf("site-%d", i%97)}
		c.Work = []policy.Work{{Machines: 3, Each: 20 * time.Minute}, {Machines: 20 + i%7, AtOnce: 2, Each: time.Duration(i%11+5) * time.Minute}}
	}
	return f
}

// BenchmarkDecide10kLaden decides for as many with 40 calendars, a freeze, approvals and limits.
func BenchmarkDecide10kLaden(b *testing.B) {
	f := laden()
	b.ReportAllocs()
	for b.Loop() {
		if d := policy.Decide(f, noon); len(d.Intents) == 0 {
			b.Fatalf("%s", d)
		}
	}
}

// BenchmarkMakePlan10k plans 10,000 clusters.
func BenchmarkMakePlan10k(b *testing.B) {
	in := policy.PlanInput{
		Target: target, NoCanaries: true,
		Waves: []policy.WaveSpec{{Name: "half", Percent: 50}, {Name: "rest", Rest: true}},
	}
	for m := range 50 {
		in.Candidates = append(in.Candidates, numbered(fmt.Sprintf("m%02d", m), 200)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policy.MakePlan(in); err != nil {
			b.Fatal(err)
		}
	}
}
