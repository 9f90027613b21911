// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
)

// plan has one canary and a wave of three, of six selected clusters.
var plan = policy.Plan{
	Hash: "h", Patch: 3, Minor: 1, Total: 6, AtTarget: []string{"mgmt-a/shop/e"},
	Ineligible: []policy.Refused{{Path: "mgmt-a/shop/f"}}, Proven: map[string]string{"arm64": "v1.33.9"},
	Waves: []policy.PlannedWave{
		{Name: "canaries", Canary: true, Planned: 1, Selected: 1, MaxConcurrency: 1},
		{Name: "early", Planned: 3, Selected: 5, MaxConcurrency: 2, MaxFailures: 1},
	},
}

func TestCommittedFixesTheDenominators(t *testing.T) {
	before := fleetv1.RolloutStatus{Phase: fleetv1.RolloutPlanning, Waves: []fleetv1.WaveStatus{{Name: "of before"}}}
	got := report.Committed(before, plan, start.Add(300*time.Millisecond))
	want := fleetv1.RolloutStatus{
		Phase: fleetv1.RolloutPlanning, Total: 4,
		Proven: []fleetv1.ProvenVersion{{Architecture: "arm64", Version: "v1.33.9"}},
		Plan: &fleetv1.RolloutPlan{
			Hash: "h", CommittedAt: *at(0), Total: 4, Patch: 3, Minor: 1, AtTarget: 1, Ineligible: 1,
		},
		Waves: []fleetv1.WaveStatus{
			{Name: "canaries", Canary: true, Phase: fleetv1.WaveWaiting, Planned: 1, Pending: 1, MaxConcurrency: 1},
			{
				Name: "early", Phase: fleetv1.WaveWaiting, Planned: 3, Pending: 3, MaxConcurrency: 2, MaxFailures: 1,
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if before.Plan != nil || before.Waves[0].Name != "of before" {
		t.Errorf("the status before was changed: %+v", before)
	}
}

// course is a Rollout that is reported on again and again.
type course struct{ ro *fleetv1.Rollout }

func newCourse() *course {
	ro := &fleetv1.Rollout{ObjectMeta: metav1.ObjectMeta{Name: "ro", Generation: 3}}
	ro.Status = report.Committed(ro.Status, plan, start)
	return &course{ro}
}

func (c *course) decide(n int, f policy.Fleet, d policy.Decision) fleetv1.RolloutStatus {
	if f.Waves == nil {
		f.Waves = planned()
	}
	c.ro.Status = report.Rollout(c.ro, f, d, minute(n))
	return c.ro.Status
}

// planned are the waves of the plan, and catch-up.
func planned() []policy.Wave {
	return []policy.Wave{
		{Name: "canaries", Canary: true, Planned: 1, MaxConcurrency: 1},
		{Name: "early", Planned: 3, MaxConcurrency: 2, MaxFailures: 1},
		{Name: "catch-up", CatchUp: true, MaxConcurrency: 2, MaxFailures: 1},
	}
}

// progressing is a decision in the middle of the second wave.
func progressing() policy.Decision {
	wait := &policy.Waiting{Reason: policy.ReasonMaxConcurrency, Message: "2 of 2", Until: minute(90)}
	return policy.Decision{
		Phase: policy.PhaseProgressing, Reason: policy.ReasonProgressing, Message: "m", Current: "early",
		Waiting: wait, Recheck: minute(90), Proven: map[string]string{"amd64": "v1.33.9"},
		Waves: []policy.WaveState{
			{Name: "canaries", Phase: policy.WaveSucceeded, Planned: 1, Succeeded: 1},
			{Name: "early", Phase: policy.WaveProgressing, Planned: 3, Failed: 1, Active: 2, Waiting: wait},
		},
	}
}

func TestRolloutSumsItsWavesUp(t *testing.T) {
	f := policy.Fleet{Clusters: []policy.Cluster{
		{Path: "a", Intent: policy.Run, Phase: policy.Succeeded},
		{Path: "b", Intent: policy.Run, Phase: policy.Failed, Message: "its machine", LastError: "k8sd's words"},
		{Path: "c", Intent: policy.Run, Phase: policy.Progressing},
		{Path: "d", Intent: policy.Withdraw},
		{Path: "e", Intent: policy.Wait},
		{Path: "f"},
		{Path: "g", Phase: policy.Failed, Message: "without words of k8sd"},
	}}
	got := newCourse().decide(1, f, progressing())
	waiting := &fleetv1.Waiting{Reason: "MaxConcurrency", Message: "2 of 2", Since: at(1), Until: at(90)}
	want := fleetv1.RolloutStatus{
		ObservedGeneration: 3, Phase: fleetv1.RolloutProgressing, Plan: newCourse().ro.Status.Plan, Wave: "early",
		Progress: "1/4", Done: 1, Total: 4, Active: 2, Failed: 1, Waiting: waiting, Until: "2026-11-30T03:30:00Z",
		Proven: []fleetv1.ProvenVersion{{Architecture: "amd64", Version: "v1.33.9"}},
		Waves: []fleetv1.WaveStatus{
			{
				Name: "canaries", Canary: true, Phase: fleetv1.WaveSucceeded, Planned: 1, Succeeded: 1, MaxConcurrency: 1,
				StartedAt: at(1), CompletedAt: at(1),
			},
			{
				Name: "early", Phase: fleetv1.WaveProgressing, Planned: 3, Failed: 1, Active: 2, MaxConcurrency: 2,
				MaxFailures: 1, Waiting: waiting, StartedAt: at(1),
			},
		},
		Failing: []fleetv1.FailingCluster{
			{Name: "b", Message: "k8sd's words"}, {Name: "g", Message: "without words of k8sd"},
		},
		ActiveClusters: []string{"c", "d"}, NextCheckTime: at(90), StartedAt: at(1),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Conditions")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRolloutInstantsStandStill: the same decision again writes nothing.
func TestRolloutInstantsStandStill(t *testing.T) {
	ended := progressing()
	ended.Phase, ended.Waiting, ended.Recheck = policy.PhaseSucceeded, nil, time.Time{}
	ended.Waves[1] = policy.WaveState{Name: "early", Phase: policy.WaveEmpty}
	for name, d := range map[string]policy.Decision{"progressing": progressing(), "ended": ended} {
		t.Run(name, func(t *testing.T) {
			c := newCourse()
			first := c.decide(1, policy.Fleet{}, d)
			if diff := cmp.Diff(first, c.decide(8, policy.Fleet{}, d)); diff != "" {
				t.Errorf("seven minutes later (-first +second):\n%s", diff)
			}
		})
	}
}

func TestAWaitBeginsWithItsReason(t *testing.T) {
	c := newCourse()
	say := func(n int, w *policy.Waiting) *fleetv1.Waiting {
		d := progressing()
		d.Waiting = w
		return c.decide(n, policy.Fleet{}, d).Waiting
	}
	since := func(w *fleetv1.Waiting) *metav1.Time {
		if w == nil {
			return nil
		}
		return w.Since
	}
	for _, step := range []struct {
		got  *fleetv1.Waiting
		want *metav1.Time
		why  string
	}{
		{say(0, &policy.Waiting{Reason: "A", Message: "a"}), at(0), "the first"},
		{say(1, &policy.Waiting{Reason: "A", Message: "b"}), at(0), "another message"},
		{say(2, &policy.Waiting{Reason: "B"}), at(2), "another reason"},
		{say(3, nil), nil, "no wait"},
		{say(4, &policy.Waiting{Reason: "B"}), at(4), "the reason of before, anew"},
		{say(5, &policy.Waiting{Reason: "B", Since: minute(-9)}), at(-9), "one that knows when it began"},
	} {
		if got := since(step.got); !got.Equal(step.want) {
			t.Errorf("%s: since %s, want %s", step.why, got, step.want)
		}
	}
}

func TestUntilOfARollout(t *testing.T) {
	for name, c := range map[string]struct {
		waiting *policy.Waiting
		want    string
	}{
		"nothing waits":    {nil, ""},
		"an event ends it": {&policy.Waiting{Reason: "A"}, ""},
		"time ends it":     {&policy.Waiting{Reason: "A", Until: minute(5)}, "2026-11-30T02:05:00Z"},
		"a person ends it": {&policy.Waiting{Reason: "A", Act: true}, "act"},
	} {
		d := progressing()
		d.Waiting = c.waiting
		if got := newCourse().decide(1, policy.Fleet{}, d).Until; got != c.want {
			t.Errorf("%s: until %q", name, got)
		}
	}
}

// TestRolloutStartsWithItsFirstIntent and ends with its last phase; a halted one waits for a person.
func TestRolloutStartsAndEnds(t *testing.T) {
	c := newCourse()
	d := policy.Decision{Phase: policy.PhaseProgressing}
	if s := c.decide(1, policy.Fleet{}, d); s.StartedAt != nil {
		t.Errorf("started at %s before any cluster was", s.StartedAt)
	}
	d.Intents = []policy.IntentChange{{ID: "a", Intent: policy.Run}}
	if s := c.decide(2, policy.Fleet{}, d); !s.StartedAt.Equal(at(2)) {
		t.Errorf("started at %s", s.StartedAt)
	}
	d = policy.Decision{Phase: policy.PhaseHalted, Reason: "CanaryFailed"}
	if s := c.decide(3, policy.Fleet{}, d); s.EndedAt != nil || !s.StartedAt.Equal(at(2)) {
		t.Errorf("halted: started at %s, ended at %s", s.StartedAt, s.EndedAt)
	}
	for phase, ended := range map[policy.Phase]bool{
		policy.PhasePlanning: false, policy.PhaseProgressing: false, policy.PhasePaused: false, policy.PhaseHalted: false,
		policy.PhaseAwaitingApproval: false, policy.PhaseCatchingUp: false,
		policy.PhaseSucceeded: true, policy.PhaseCompletedWithFailures: true, policy.PhaseCancelled: true,
		policy.PhaseSuperseded: true,
	} {
		s := newCourse().decide(4, policy.Fleet{}, policy.Decision{Phase: phase})
		if report.Ended(s.Phase) != ended || (s.EndedAt != nil) != ended {
			t.Errorf("%s: ended at %s", phase, s.EndedAt)
		}
	}
}

// TestRolloutIsBounded: no list grows with the fleet (law 18).
func TestRolloutIsBounded(t *testing.T) {
	f := policy.Fleet{}
	for i := range 1000 {
		c := policy.Cluster{Path: fmt.Sprintf("c-%03d", i), Intent: policy.Run, Phase: policy.Progressing}
		if i%2 == 1 {
			c.Phase = policy.Failed
		}
		f.Clusters = append(f.Clusters, c)
	}
	s := newCourse().decide(1, f, progressing())
	if len(s.Failing) != fleetv1.MaxFailing || len(s.ActiveClusters) != fleetv1.MaxActive {
		t.Errorf("%d failing and %d active clusters are listed", len(s.Failing), len(s.ActiveClusters))
	}
	if s.Failing[0].Name != "c-001" || s.ActiveClusters[0] != "c-000" {
		t.Errorf("not in plan order: %s, %s", s.Failing[0].Name, s.ActiveClusters[0])
	}
}

// TestRolloutConditions: kstatus reads Ready as Succeeded, Reconciling as Progressing, Stalled as Halted.
func TestRolloutConditions(t *testing.T) {
	act := &policy.Waiting{Reason: "A", Act: true}
	cases := map[string]struct {
		d    policy.Decision
		want []string
	}{
		"planning": {policy.Decision{Phase: policy.PhasePlanning}, []string{"Reconciling"}},
		"planning needs a person": {
			policy.Decision{Phase: policy.PhasePlanning, Waiting: act}, []string{"Reconciling", "Stalled"},
		},
		"progressing":             {policy.Decision{Phase: policy.PhaseProgressing}, []string{"Reconciling"}},
		"catching up":             {policy.Decision{Phase: policy.PhaseCatchingUp}, []string{"Reconciling"}},
		"paused":                  {policy.Decision{Phase: policy.PhasePaused}, nil},
		"halted":                  {policy.Decision{Phase: policy.PhaseHalted}, []string{"Stalled"}},
		"succeeded":               {policy.Decision{Phase: policy.PhaseSucceeded}, []string{"Ready"}},
		"completed with failures": {policy.Decision{Phase: policy.PhaseCompletedWithFailures}, nil},
		"cancelled":               {policy.Decision{Phase: policy.PhaseCancelled}, nil},
		"superseded":              {policy.Decision{Phase: policy.PhaseSuperseded}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.d.Message = "m"
			s := newCourse().decide(1, policy.Fleet{}, c.d)
			if diff := cmp.Diff(c.want, holding(s.Conditions)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, condition := range s.Conditions {
				if condition.Reason != string(c.d.Phase) || condition.Message != "m" || condition.ObservedGeneration != 3 {
					t.Errorf("%+v", condition)
				}
			}
		})
	}
}
