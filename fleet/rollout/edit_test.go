// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// midway is a rollout of one wave of five clusters, of which three are at work.
func midway(t *testing.T) (h *hub, name string) {
	t.Helper()
	p := standing("k8s")
	p.Spec.Waves[0].MaxConcurrency = new(intstr.FromInt32(3))
	h, name = under(t, p, "a", "b", "c", "d", "e")
	if err := h.live.Create(t.Context(), calendar("nights", "0 22 * * *", time.Hour)); err != nil {
		t.Fatal(err)
	}
	h.settle(name)
	for _, c := range []string{"a", "b", "c"} {
		h.begin(name + "-" + c)
	}
	h.settle(name)
	return h, name
}

// TestC134_WhichEditsApplyAtOnce: what an edit in mid-run does to the clusters at work, and to the next ones once a has
// succeeded. docs/policy.md has the table.
func TestC134_WhichEditsApplyAtOnce(t *testing.T) {
	type intents = map[string]fleetv1.Intent
	atWork := intents{"a": "Run", "b": "Run", "c": "Run"}
	next := intents{"a": "Run", "b": "Run", "c": "Run", "d": "Run"}
	held := intents{"a": "Hold", "b": "Hold", "c": "Hold"}
	cases := map[string]struct {
		edit          func(*fleetv1.RolloutPolicySpec)
		before, after intents
	}{
		"no edit": {func(*fleetv1.RolloutPolicySpec) {}, atWork, next},
		"a lower concurrency starts none, and stops none": {
			func(s *fleetv1.RolloutPolicySpec) { s.Waves[0].MaxConcurrency = new(intstr.FromInt32(1)) }, atWork, atWork,
		},
		"a higher concurrency starts more": {
			func(s *fleetv1.RolloutPolicySpec) { s.Waves[0].MaxConcurrency = new(intstr.FromString("80%")) },
			intents{"a": "Run", "b": "Run", "c": "Run", "d": "Run"},
			intents{"a": "Run", "b": "Run", "c": "Run", "d": "Run", "e": "Run"},
		},
		"a limit starts none, and stops none": {
			func(s *fleetv1.RolloutPolicySpec) { s.Limits = []fleetv1.Limit{{Per: "ManagementCluster", Max: 1}} }, atWork, atWork,
		},
		"a pause holds what is at work": {
			func(s *fleetv1.RolloutPolicySpec) { s.Paused = true }, held, intents{"a": "Hold", "b": "Hold", "c": "Hold"},
		},
		"a later window holds what is at work": {
			func(s *fleetv1.RolloutPolicySpec) { s.AnyTime, s.Calendars = nil, []string{"nights"} },
			held,
			intents{"a": "Hold", "b": "Hold", "c": "Hold"},
		},
		"an approval shuts the gate for the next": {
			func(s *fleetv1.RolloutPolicySpec) { s.Waves[0].Approval = &fleetv1.ApprovalGate{Count: 1} }, atWork, atWork,
		},
		"a wave by another name keeps what it had": {
			func(s *fleetv1.RolloutPolicySpec) {
				s.Waves[0].Name, s.Waves[0].MaxConcurrency = "renamed", new(intstr.FromInt32(1))
			}, atWork, next,
		},
		"a wave in front of it waits for the next rollout": {
			func(s *fleetv1.RolloutPolicySpec) {
				s.Waves = append([]fleetv1.Wave{{Name: "front", Percent: new(int32(50))}}, s.Waves...)
			}, atWork, next,
		},
		"a canary waits for the next rollout": {
			func(s *fleetv1.RolloutPolicySpec) { s.Canaries = fleetv1.Canaries{Names: []string{"mgmt-a/shop/e"}} }, atWork, next,
		},
		"a cluster that is not selected any more stays planned": {
			func(s *fleetv1.RolloutPolicySpec) {
				s.Clusters = fleetv1.ClusterSelection{Names: []string{"mgmt-a/shop/a"}}
			},
			atWork, next,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h, rollout := midway(t)
			plan := h.plan(rollout)
			h.policy(c.edit)
			h.settle(rollout)
			if diff := cmp.Diff(c.before, h.asked(rollout)); diff != "" {
				t.Errorf("at once (-want +got):\n%s", diff)
			}
			h.succeed(rollout + "-a")
			h.settle(rollout)
			got := h.asked(rollout)
			got["a"] = c.after["a"] // it is through: what is asked of it is of no account
			if diff := cmp.Diff(c.after, got); diff != "" {
				t.Errorf("after the next success (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(plan, h.plan(rollout)); diff != "" {
				t.Errorf("the plan (-before +after):\n%s", diff)
			}
		})
	}
}

// TestC134_ALimitThatWasLoweredDrains: five at work and a limit of one, so the next begins when the last of them is through.
func TestC134_ALimitThatWasLoweredDrains(t *testing.T) {
	h, name := midway(t)
	h.policy(func(s *fleetv1.RolloutPolicySpec) { s.Waves[0].MaxConcurrency = new(intstr.FromInt32(1)) })
	for _, c := range []string{"a", "b", "c"} {
		h.settle(name)
		if h.asked(name)["d"] != "" {
			t.Fatalf("d begins while %s is at work", c)
		}
		h.succeed(name + "-" + c)
	}
	h.settle(name)
	if got := h.asked(name); got["d"] != fleetv1.IntentRun || got["e"] != "" {
		t.Errorf("then %v", got)
	}
	if w := h.status(name).Waves[0]; w.MaxConcurrency != 1 {
		t.Errorf("the status shows a limit of %d", w.MaxConcurrency)
	}
}

// TestC134_HowAClusterIsUpgradedIsFrozenAtPlanning: the settings of what is planned are those of then.
func TestC134_HowAClusterIsUpgradedIsFrozenAtPlanning(t *testing.T) {
	h, name := midway(t)
	settings := func() map[string]fleetv1.UpgradeSettings {
		all := map[string]fleetv1.UpgradeSettings{}
		for _, cu := range h.upgrades() {
			all[cu.Name] = cu.Spec.Upgrade
		}
		return all
	}
	before := settings()
	h.policy(func(s *fleetv1.RolloutPolicySpec) {
		s.Upgrade = &fleetv1.PolicyUpgrade{
			Order: fleetv1.OrderWorkersOnly, MaxConcurrentMachines: new(int32(9)),
			Machine: &fleetv1.PolicyMachine{MaxAttempts: new(int32(9)), Timeout: &metav1.Duration{Duration: time.Hour}},
		}
		s.Unreachable = &fleetv1.Unreachable{BeforeStart: fleetv1.BeforeStartFail}
		s.Deferral = &fleetv1.Deferral{Max: &metav1.Duration{}}
	})
	h.settle(name)
	if diff := cmp.Diff(before, settings()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// TestC134_ANewTargetIsANewRollout: the old one takes back what it has in flight.
func TestC134_ANewTargetIsANewRollout(t *testing.T) {
	h, old := midway(t)
	h.retarget(second)
	h.turn()
	h.settle(old)
	want := map[string]fleetv1.Intent{"a": "Withdraw", "b": "Withdraw", "c": "Withdraw"}
	if diff := cmp.Diff(want, h.asked(old)); diff != "" {
		t.Errorf("the old rollout (-want +got):\n%s", diff)
	}
	if s := h.status(old); s.Phase != fleetv1.RolloutSuperseded || len(h.allRollouts()) != 2 {
		t.Errorf("%s of %d rollouts", s.Phase, len(h.allRollouts()))
	}
}
