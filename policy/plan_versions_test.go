// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/version"
)

// running is a control plane and workers at versions of their own.
func running(controlPlane, workers string) func(*policy.Candidate) {
	return func(c *policy.Candidate) {
		c.ControlPlaneVersions, c.WorkerVersions = strings.Fields(controlPlane), strings.Fields(workers)
	}
}

// carrying are versions of machines of which so many had the target before.
func carrying(carried version.Carried, versions string) func(*policy.Candidate) {
	return func(c *policy.Candidate) {
		running(versions, versions)(c)
		c.Carried = carried
	}
}

// channelOf is a target of a channel that stands for a version.
func channelOf(least string) policy.Target {
	return policy.Target{Text: "channel=1.33-classic/stable", Version: least, MinorUpgrade: true}
}

func TestLaw19WhatThePlanMakesOfVersions(t *testing.T) {
	for name, tc := range map[string]struct {
		versions func(*policy.Candidate)
		target   policy.Target
		order    policy.Order
		// reason it is ineligible, and what the message says; empty: it is planned.
		reason, says string
		skewed       []string
	}{
		"C120: the track is a minor older": {
			versions: at("v1.33.4"), target: policy.Target{Text: "channel=1.32-classic/stable", Version: "v1.32"},
			reason: policy.ReasonDowngrade, says: "m/ns/c: runs v1.33.4, which is ahead of v1.32",
		},
		"C120: the channel is a patch older": {
			versions: at("v1.33.4"), target: channelOf("v1.33.1"),
			reason: policy.ReasonDowngrade, says: "m/ns/c: runs v1.33.4, which is ahead of v1.33.1",
		},
		"C120: the revision is older": {
			versions: at("v1.33.4"), target: policy.Target{Text: "revision=500", Version: "v1.33.1"},
			reason: policy.ReasonDowngrade, says: "m/ns/c: runs v1.33.4, which is ahead of v1.33.1",
		},
		"C120: the revision is older than one machine": {
			versions: running("v1.33.4 v1.33.0", "v1.33.0"), target: policy.Target{Text: "revision=500", Version: "v1.33.1"},
			reason: policy.ReasonDowngrade, says: "v1.33.4",
		},
		"C120: one machine is ahead of a channel that no machine had before": {
			versions: carrying(version.CarriedByNone, "v1.33.10 v1.33.4"), target: channelOf("v1.33.9"),
			reason: policy.ReasonDowngrade, says: "m/ns/c: runs v1.33.10, which is ahead of v1.33.9",
		},
		"one machine has a newer patch from the channel: half-way": {
			versions: carrying(version.CarriedBySome, "v1.33.10 v1.33.4"), target: channelOf("v1.33.9"),
		},
		"C120: a pre-release is newer than a stable release": {
			versions: at("v1.34.0-rc.1"), target: channelOf("v1.33.4"),
			reason: policy.ReasonDowngrade, says: "v1.34.0-rc.1",
		},
		"C121: workers that are a minor behind let the next target in, within the skew that is allowed": {
			versions: running("v1.32.4", "v1.31.9"), target: channelOf("v1.33"),
		},
		"C121: a control plane between two minors finishes that one first": {
			versions: running("v1.31.9 v1.32.4", "v1.31.9"), target: channelOf("v1.33"),
			reason: policy.ReasonSkewTooWide, says: "needed are v1.32, then v1.33: one rollout each",
		},
		"C122: several minors behind": {
			versions: at("v1.30.4"), target: channelOf("v1.33"), reason: policy.ReasonSkewTooWide,
			says: "m/ns/c: the control plane at v1.30.4 would jump a minor on its way to v1.33; needed are v1.31, v1.32, then " +
				"v1.33: one rollout each",
		},
		"C122: its first station": {versions: at("v1.30.4"), target: channelOf("v1.31")},
		"C123: workers before their control plane": {
			versions: running("v1.32.9", "v1.32.9"), target: channelOf("v1.33"), order: policy.WorkersOnly,
			reason: policy.ReasonSkewTooWide, says: "workers at v1.33 would be newer than the control plane at v1.32.9",
		},
		"C123: workers before one machine of their control plane": {
			versions: running("v1.33.1 v1.32.9", "v1.32.9"), target: channelOf("v1.33"), order: policy.WorkersOnly,
			reason: policy.ReasonSkewTooWide, says: "the control plane at v1.32.9",
		},
		"C123: workers ahead of the control plane are said, and it is planned": {
			versions: running("v1.32.9", "v1.33.1"), target: channelOf("v1.33"),
			skewed: []string{"m/ns/c: has workers at v1.33.1, which are newer than the control plane at v1.32.9"},
		},
		"C126: numbers, not text":                 {versions: at("v1.33.9"), target: channelOf("v1.33.10")},
		"C126: a release candidate is no release": {versions: at("v1.33.4-rc.0"), target: channelOf("v1.33.4")},
		"C126: build metadata says nothing":       {versions: at("v1.33.4+k8s1"), target: channelOf("v1.33.4")},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := policy.MakePlan(policy.PlanInput{
				Target: tc.target, Order: tc.order, NoCanaries: true, Waves: []policy.WaveSpec{{Name: "rest", Rest: true}},
				Candidates: []policy.Candidate{candidate("m/ns/c", tc.versions)},
			})
			if err != nil {
				t.Fatal(err)
			}
			var got policy.Refused
			if len(plan.Ineligible) > 0 {
				got = plan.Ineligible[0]
			}
			if got.Reason != tc.reason || !strings.Contains(got.Message, tc.says) || plan.Waves[0].Planned+len(plan.Ineligible) != 1 {
				t.Errorf("got %s (%s), %d planned; want %q: %s", got.Reason, got.Message, plan.Waves[0].Planned, tc.reason, tc.says)
			}
			if diff := cmp.Diff(tc.skewed, plan.Skewed); diff != "" {
				t.Errorf("skewed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestC126ATargetThatIsNoVersionPlansNothing: neither the target nor a cluster is guessed.
func TestC126ATargetThatIsNoVersionPlansNothing(t *testing.T) {
	rest := []policy.WaveSpec{{Name: "rest", Rest: true}}
	for name, text := range map[string]string{
		"C126: latest/edge is not resolved": "", "a risk": "edge", "a major": "v1", "a range": ">=1.33", "spaces": " v1.33",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planned(t, policy.Target{Text: "channel=latest/edge", Version: text}, rest, numbered("m", 1)...)
			if why := refusal(t, err); why.Reason != policy.ReasonInvalidTarget {
				t.Errorf("%s: %s", why.Reason, why.Message)
			}
		})
	}
}

// What one cluster carries says nothing of another with the same versions.
func TestWhatIsCarriedIsJudgedForEachCluster(t *testing.T) {
	rest := []policy.WaveSpec{{Name: "rest", Rest: true}}
	plan, err := planned(t, channelOf("v1.33.9"), rest, candidate("m/ns/1", carrying(version.CarriedByAll, "v1.33.10")),
		candidate("m/ns/2", carrying(version.CarriedByNone, "v1.33.10")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"rest": {"m/ns/1"}}, members(plan)); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
}

// Clusters of the same versions are judged alike, and those of others are not judged by them.
func TestVersionsAreJudgedForEachCluster(t *testing.T) {
	plan, err := policy.MakePlan(policy.PlanInput{
		Target: channelOf("v1.33"), NoCanaries: true, Waves: []policy.WaveSpec{{Name: "rest", Rest: true}},
		Candidates: []policy.Candidate{
			candidate("m/ns/1", running("v1.32.1", "v1.31.1 v1.32.1")), candidate("m/ns/2", running("v1.32.1", "v1.31.1 v1.32.1")),
			candidate("m/ns/3", running("v1.32.1 v1.31.1", "v1.32.1")), candidate("m/ns/4", running("v1.33.1", "v1.33.1")),
			candidate("m/ns/5", running("v1.32.1 v1.31.1 v1.32.1", "")), candidate("m/ns/6", running("v1.32.1", "v1.34.1")),
			candidate("m/ns/7", carrying(version.CarriedByAll, "v1.33.1")),
			candidate("m/ns/8", carrying(version.CarriedByNone, "v1.34.1")),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"rest": {"m/ns/1", "m/ns/2", "m/ns/4", "m/ns/7"}}
	if diff := cmp.Diff(want, members(plan)); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
	if plan.Minor != 2 || plan.Patch != 2 {
		t.Errorf("%d leave their minor and %d do not, want 2 and 2", plan.Minor, plan.Patch)
	}
}
