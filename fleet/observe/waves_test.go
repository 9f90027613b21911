// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// TestWavesFollowThePolicyAtOnce, with the denominators of the commit; one that the policy has no longer stays as it was.
func TestWavesFollowThePolicyAtOnce(t *testing.T) {
	half, one := intstr.FromString("50%"), intstr.FromInt32(1)
	early := policy.Wave{Name: "early", Planned: 4, MaxConcurrency: 2, MaxFailures: 1}
	gone := policy.Settings{Waves: []policy.WaveSettings{{
		Name: "early", Soak: time.Hour, Approvals: 2, Deadline: 8 * time.Hour, DeadlineContinue: true,
	}}}
	cases := map[string]struct {
		waves  []fleetv1.Wave
		stored policy.Settings
		want   policy.Wave
	}{
		"a wave with all defaults": {
			[]fleetv1.Wave{{Name: "early"}}, gone, policy.Wave{Name: "early", Planned: 4, MaxConcurrency: 1},
		},
		"a percentage is of what was planned": {
			[]fleetv1.Wave{{Name: "early", MaxConcurrency: &half, MaxFailures: &half}},
			gone,
			policy.Wave{Name: "early", Planned: 4, MaxConcurrency: 2, MaxFailures: 2},
		},
		"soak, deadline and approval": {
			[]fleetv1.Wave{{
				Name: "early", MaxConcurrency: &one, SoakDuration: lasting(time.Hour), Deadline: lasting(8 * time.Hour),
				OnDeadline: fleetv1.OnDeadlineContinue, Approval: &fleetv1.ApprovalGate{Count: 2},
			}},
			policy.Settings{},
			policy.Wave{
				Name: "early", Planned: 4, MaxConcurrency: 1, Soak: time.Hour, Deadline: 8 * time.Hour, DeadlineContinue: true,
				Approvals: 2,
			},
		},
		"a limit that cannot be read stays as it was": {
			[]fleetv1.Wave{{Name: "early", MaxConcurrency: new(intstr.FromString("many")), MaxFailures: new(intstr.FromString("-1"))}},
			policy.Settings{},
			early,
		},
		"renamed: as it was stored": {
			[]fleetv1.Wave{{Name: "soon", MaxConcurrency: &half}},
			gone,
			policy.Wave{
				Name: "early", Planned: 4, MaxConcurrency: 2, MaxFailures: 1, Soak: time.Hour, Deadline: 8 * time.Hour,
				DeadlineContinue: true, Approvals: 2,
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubOf(anyTime(), nil)
			h.Policy.Spec.Waves = c.waves
			h.Rollout.Status.Settings = c.stored.Text()
			if diff := cmp.Diff(c.want, observe.Fleet(h).Waves[1]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCanariesFollowThePolicyAtOnce(t *testing.T) {
	h := hubOf(anyTime(), nil)
	h.Policy.Spec.Canaries = fleetv1.Canaries{
		Names: []string{"a"}, SoakDuration: lasting(time.Hour), Deadline: lasting(2 * time.Hour),
		Approval: &fleetv1.ApprovalGate{Count: 1},
	}
	want := policy.Wave{
		Name: "canaries", Canary: true, Planned: 1, MaxConcurrency: 1, StartedAt: now, Soak: time.Hour, Deadline: 2 * time.Hour,
		Approvals: 1,
	}
	if diff := cmp.Diff(want, observe.Fleet(h).Waves[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.Rollout.Status.Settings = observe.Settings(h, observe.Fleet(h)).Text()
	h.Policy.Spec.Canaries = fleetv1.Canaries{None: new(true)}
	if diff := cmp.Diff(want, observe.Fleet(h).Waves[0]); diff != "" {
		t.Errorf("once the policy has none (-want +got):\n%s", diff)
	}
}

// TestClocksAreReadAsStored, and catch-up has the limits of the last wave.
func TestClocksAreReadAsStored(t *testing.T) {
	h := hubOf(anyTime(), nil)
	at := func(minutes int) *metav1.Time {
		return new(metav1.NewTime(now.Add(time.Duration(minutes) * time.Minute)))
	}
	h.Policy.Spec.Waves = []fleetv1.Wave{{Name: "early", MaxConcurrency: new(intstr.FromInt32(3))}}
	h.Rollout.Status.Waves[1].Soak = &fleetv1.WaveSoak{ElapsedSeconds: 60, Since: at(1)}
	h.Rollout.Status.Waves[1].Deadline = &fleetv1.WaveDeadline{ElapsedSeconds: 90}
	h.Rollout.Status.Waves[1].ClosedAt = at(7)
	h.Rollout.Status.Waves = append(h.Rollout.Status.Waves, fleetv1.WaveStatus{
		Name: "catch-up", StartedAt: at(8), MaxConcurrency: 9, MaxFailures: 9,
	})
	got := observe.Fleet(h).Waves
	want := []policy.Wave{
		{
			Name: "early", Planned: 4, MaxConcurrency: 3, Soaked: policy.Clock{Elapsed: time.Minute, Since: at(1).Time},
			Worked: policy.Clock{Elapsed: 90 * time.Second}, ClosedAt: at(7).Time,
		},
		{Name: "catch-up", CatchUp: true, MaxConcurrency: 3, StartedAt: at(8).Time},
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.Rollout.Status.Plan = nil
	if waves := observe.Fleet(h).Waves; waves[len(waves)-1].CatchUp {
		t.Error("there is catch-up before anything is planned")
	}
}

func TestSettingsOfThePolicyAsValues(t *testing.T) {
	h := hubOf(anyTime(), nil)
	h.Policy.Spec.FailureBudget = fleetv1.BudgetReserved
	h.Policy.Spec.Unreachable = &fleetv1.Unreachable{Grace: lasting(time.Minute), MaxUnknown: new(int32(0))}
	h.Policy.Spec.CatchUp = &fleetv1.CatchUp{Until: lasting(time.Hour)}
	h.Policy.Spec.Change = &fleetv1.Change{RequestedBy: "jane"}
	h.Rollout.Status.Waiting = &fleetv1.Waiting{Reason: "Paused", Message: "m", Since: new(metav1.NewTime(now))}
	h.Rollout.Status.Until = fleetv1.UntilAct
	f := observe.Fleet(h)
	if !f.ReserveBudget || f.Unreachable != (policy.Unreachable{Grace: time.Minute}) || f.CatchUpFor != time.Hour ||
		f.RequestedBy != "jane" {
		t.Errorf("%+v", f)
	}
	want := &policy.Waiting{Reason: "Paused", Message: "m", Since: now, Act: true}
	if diff := cmp.Diff(want, f.Shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

// TestLimitsCountWhatOthersHaveInFlight, by management cluster or by label.
func TestLimitsCountWhatOthersHaveInFlight(t *testing.T) {
	site := func(name string) func(*fleetv1.WorkloadCluster) {
		return func(wc *fleetv1.WorkloadCluster) { wc.Labels["site"] = name }
	}
	clusters := []*fleetv1.WorkloadCluster{
		seen("mgmt-a/shop/a", site("north")), seen("mgmt-a/shop/b"), seen("mgmt-a/shop/c", site("south")),
	}
	h := hubOf(anyTime(), nil, clusters...)
	h.Policy.Spec.Limits = []fleetv1.Limit{
		{Per: fleetv1.LimitPerManagementCluster, Max: 3}, {PerLabel: "site", Max: 1},
	}
	other := func(wc *fleetv1.WorkloadCluster, i fleetv1.Intent) *fleetv1.ClusterUpgrade {
		cu := of(wc, intent(i, 2, 2))
		cu.Spec.Rollout.UID = "other"
		return cu
	}
	h.Upgrades = append(h.Upgrades,
		other(clusters[0], fleetv1.IntentRun), other(clusters[1], fleetv1.IntentHold), other(clusters[2], fleetv1.IntentWait))
	h.Upgrades[0].Spec.Intent = fleetv1.IntentRun // its own are counted elsewhere
	f := observe.Fleet(h)
	want := []policy.Limit{
		{Max: 3, Elsewhere: map[string]int{"mgmt-a": 2}},
		{Label: "site", Max: 1, Elsewhere: map[string]int{"north": 1, "": 1}},
	}
	if diff := cmp.Diff(want, f.Limits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	groups := [][]string{f.Clusters[0].Groups, f.Clusters[1].Groups, f.Clusters[2].Groups}
	if diff := cmp.Diff([][]string{{"mgmt-a", "north"}, {"mgmt-a", ""}, {"mgmt-a", "south"}}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
