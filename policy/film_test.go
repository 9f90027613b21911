// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

var update = flag.Bool("update", false, "write the golden files")

// TestFilms plays whole rollouts, a minute at a time, and compares the log with a file that a person can read.
func TestFilms(t *testing.T) {
	for name, s := range map[string]scene{
		"canary-and-two-waves":    {},
		"canary-fails":            {fates: fates{"mgmt-a/shop/eu-1": {2: "fail"}}},
		"budget-exceeded":         {fates: fates{"mgmt-b/shop/us-1": {7: "fail"}}},
		"claimed-by-another":      {fates: fates{"mgmt-b/shop/us-1": during(6, 8, "claimed")}},
		"the-channel-moves":       {fates: fates{"mgmt-b/shop/us-1": {8: "other"}}},
		"a-cluster-is-taken-away": {fates: fates{"mgmt-a/shop/eu-3": {10: "gone"}}},
		"a-node-is-sick-during-a-soak": {
			fates: fates{"mgmt-a/shop/eu-1": {4: "sick", 6: "well"}},
			edit:  inWave(0, func(w *policy.Wave) { w.Soak = 4 * time.Minute }),
		},
		"put-off-by-its-owner": {fates: fates{"mgmt-b/shop/us-1": during(1, 12, "put off")}},
		"a-wave-times-out": {
			fates: fates{"mgmt-a/shop/eu-2": during(4, 19, "stuck")},
			edit: inWave(1, func(w *policy.Wave) {
				w.MaxConcurrency, w.Deadline, w.DeadlineContinue = 2, 6*time.Minute, true
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := film(t, s)
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the film is another (-want +got):\n%s", diff)
			}
		})
	}
}

// fates tell by path and minute what befalls a cluster.
type fates map[string]map[int]string

// during is one fate for some minutes.
func during(from, to int, fate string) map[int]string {
	minutes := map[int]string{}
	for minute := from; minute <= to; minute++ {
		minutes[minute] = fate
	}
	return minutes
}

// scene is what makes a film another than the plain one.
type scene struct {
	fates fates
	edit  func(*policy.Fleet)
}

// film plans six clusters in two management clusters: a canary, a wave of a third, the rest two at a time; then plays
// them.
func film(t *testing.T, s scene) string {
	t.Helper()
	plan, err := policy.MakePlan(policy.PlanInput{
		Target: target,
		Candidates: []policy.Candidate{
			candidate("mgmt-a/shop/eu-1", canary), candidate("mgmt-a/shop/eu-2"), candidate("mgmt-a/shop/eu-3"),
			candidate("mgmt-b/shop/us-1"), candidate("mgmt-b/shop/us-2"), candidate("mgmt-b/shop/us-3"),
		},
		Waves: []policy.WaveSpec{
			{Name: "early", Percent: 40},
			{Name: "rest", Rest: true, MaxConcurrency: policy.Amount{Value: 2}, MaxFailures: policy.Amount{Value: 1}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{now: noon, began: map[string]bool{}, fleet: policy.Fleet{
		Committed: true, HasCanaries: true, OnMovedHalt: true, Members: map[string]policy.Member{
			"mgmt-a": {Ready: true, Upgrade: true}, "mgmt-b": {Ready: true, Upgrade: true, MaxConcurrentClusters: 1},
		},
	}}
	for i, wave := range plan.Waves {
		w.fleet.Waves = append(w.fleet.Waves, policy.Wave{
			Name: wave.Name, Canary: wave.Canary, Planned: wave.Planned, MaxConcurrency: wave.MaxConcurrency,
			MaxFailures: wave.MaxFailures,
		})
		for _, c := range wave.Clusters {
			w.fleet.Clusters = append(w.fleet.Clusters, policy.Cluster{
				ID: c.ID[strings.LastIndex(c.ID, "shop-")+5:], Path: c.Path, Member: c.Member, Wave: i, Intent: policy.Wait,
				Phase: policy.Pending,
			})
		}
	}
	catchUp(&w.fleet)
	if s.edit != nil {
		s.edit(&w.fleet)
	}
	return w.play(s.fates)
}

// play logs a line whenever the decision changes, until nothing moves for five minutes.
func (w *world) play(fates fates) string {
	var log strings.Builder
	last, quiet := "", 0
	for minute := 0; quiet < 5 && minute < 100; minute++ {
		quiet++
		if shown := line(w.decide()); shown != last {
			fmt.Fprintf(&log, "%02d min  %s\n", minute, shown)
			last, quiet = shown, 0
		}
		for i := range w.fleet.Clusters {
			c := &w.fleet.Clusters[i]
			was := *c
			fate := fates[c.Path][minute]
			switch fate {
			case "sick":
				c.Health, c.HealthSince = policy.Unhealthy, w.now
			case "well":
				c.Health, c.HealthSince = policy.Healthy, w.now
			}
			course(c, fate, w.now)
			if c.Phase != was.Phase || c.Reason != was.Reason {
				fmt.Fprintf(&log, "            %s    %s", padded(c.ID), c.Phase)
				if c.Reason != "" {
					fmt.Fprintf(&log, " (%s)", c.Reason)
				}
				log.WriteString("\n")
				quiet = 0
			}
		}
		w.now = w.now.Add(time.Minute)
	}
	return log.String()
}
