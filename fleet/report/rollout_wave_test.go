// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/window"
)

// early is the second wave of the plan after a decision.
func (c *course) early(n int, w policy.Wave, state policy.WaveState) fleetv1.WaveStatus {
	f := policy.Fleet{Waves: planned()}
	w.Name, w.Planned = "early", 3
	f.Waves[1] = w
	d := progressing()
	d.Waves[1] = state
	return c.decide(n, f, d).Waves[1]
}

func TestAWaveShowsTheLimitsThatApplyNow(t *testing.T) {
	got := newCourse().early(1, policy.Wave{MaxConcurrency: 7, MaxFailures: 3}, policy.WaveState{})
	if got.MaxConcurrency != 7 || got.MaxFailures != 3 || got.Planned != 3 {
		t.Errorf("%+v", got)
	}
}

func TestApprovalsOfAWave(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprint("jane", i))
	}
	for name, c := range map[string]struct {
		state policy.WaveState
		want  *fleetv1.WaveApprovals
	}{
		"it needs none": {policy.WaveState{ApprovedBy: []string{"jane"}}, nil},
		"it needs two":  {policy.WaveState{Approvals: 2}, &fleetv1.WaveApprovals{Needed: 2}},
		"names, at most ten": {
			policy.WaveState{Approvals: 2, Approved: 12, ApprovedBy: many},
			&fleetv1.WaveApprovals{Needed: 2, Given: 12, By: many[:10]},
		},
	} {
		if diff := cmp.Diff(c.want, newCourse().early(1, policy.Wave{}, c.state).Approvals); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLaw8_ASoakIsStoredSoThatItNeverEndsEarly: in whole seconds, elapsed rounded down and instants rounded up.
func TestLaw8_ASoakIsStoredSoThatItNeverEndsEarly(t *testing.T) {
	const part = 300 * time.Millisecond
	got := newCourse().early(1, policy.Wave{}, policy.WaveState{
		Soaked: policy.Clock{Elapsed: time.Minute + part, Since: minute(5).Add(part)}, SoakUntil: minute(9).Add(part),
	}).Soak
	second := func(n int) *fleetv1.WaveSoak {
		next := func(n int) *metav1.Time { return new(metav1.NewTime(minute(n).Add(time.Second))) }
		return &fleetv1.WaveSoak{ElapsedSeconds: 60, Since: next(n), Until: next(9)}
	}
	if diff := cmp.Diff(second(5), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if soak := newCourse().early(1, policy.Wave{Soak: time.Hour}, policy.WaveState{}).Soak; soak != nil {
		t.Errorf("before it begins: %+v", soak)
	}
}

// TestLaw13_ADeadlineCountsWhileWorkIsAllowed, from when the decision first says so until it says no more.
func TestLaw13_ADeadlineCountsWhileWorkIsAllowed(t *testing.T) {
	c := newCourse()
	var stored policy.Clock
	step := func(n int, works bool) *fleetv1.WaveDeadline {
		state := policy.WaveState{Works: works}
		if works {
			state.DeadlineAt = minute(60)
		}
		d := c.early(n, policy.Wave{Deadline: time.Hour, Worked: stored}, state).Deadline
		if stored = (policy.Clock{}); d != nil {
			stored.Elapsed = time.Duration(d.ElapsedSeconds) * time.Second
			if d.Since != nil {
				stored.Since = d.Since.Time
			}
		}
		return d
	}
	for _, s := range []struct {
		minute int
		works  bool
		want   *fleetv1.WaveDeadline
	}{
		{0, false, nil},
		{1, true, &fleetv1.WaveDeadline{Since: at(1), At: at(60)}},
		{5, true, &fleetv1.WaveDeadline{Since: at(1), At: at(60)}},
		{7, false, &fleetv1.WaveDeadline{ElapsedSeconds: 360}},
		{20, false, &fleetv1.WaveDeadline{ElapsedSeconds: 360}},
		{30, true, &fleetv1.WaveDeadline{ElapsedSeconds: 360, Since: at(30), At: at(60)}},
		{31, false, &fleetv1.WaveDeadline{ElapsedSeconds: 420}},
	} {
		if diff := cmp.Diff(s.want, step(s.minute, s.works)); diff != "" {
			t.Errorf("minute %d (-want +got):\n%s", s.minute, diff)
		}
	}
	if d := newCourse().early(1, policy.Wave{}, policy.WaveState{Works: true}).Deadline; d != nil {
		t.Errorf("without a deadline: %+v", d)
	}
}

// TestLaw15_AWaveIsClosedOnce: the instant stays, whatever comes back later.
func TestLaw15_AWaveIsClosedOnce(t *testing.T) {
	c := newCourse()
	before := *c.ro.Status.DeepCopy()
	if got := c.early(1, policy.Wave{}, policy.WaveState{}); got.ClosedAt != nil || report.Closes(before, c.ro.Status) {
		t.Errorf("closed at %s", got.ClosedAt)
	}
	if got := c.early(2, policy.Wave{}, policy.WaveState{Closed: true}); !got.ClosedAt.Equal(at(2)) || !report.Closes(before, c.ro.Status) {
		t.Errorf("closed at %s", got.ClosedAt)
	}
	before = *c.ro.Status.DeepCopy()
	for n, closed := range map[int]bool{3: true, 4: false} {
		if got := c.early(n, policy.Wave{}, policy.WaveState{Closed: closed}); !got.ClosedAt.Equal(at(2)) || report.Closes(before, c.ro.Status) {
			t.Errorf("minute %d: closed at %s", n, got.ClosedAt)
		}
	}
}

// TestCatchUpIsShownOnceThereIsSomethingToCatchUp, and clusters that joined late count in the total, not in the plan.
func TestCatchUpIsShownOnceThereIsSomethingToCatchUp(t *testing.T) {
	c := newCourse()
	decide := func(n int, state policy.WaveState, clusters ...policy.Cluster) fleetv1.RolloutStatus {
		d := progressing()
		state.Name = "catch-up"
		d.Waves = append(d.Waves, state)
		return c.decide(n, policy.Fleet{Clusters: clusters}, d)
	}
	if s := decide(1, policy.WaveState{}); len(s.Waves) != 2 || s.Total != 4 {
		t.Errorf("at first: %d waves, total %d", len(s.Waves), s.Total)
	}
	late := policy.Cluster{ID: "late", Path: "p", Wave: 2}
	s := decide(2, policy.WaveState{Phase: policy.WaveProgressing, Succeeded: 1}, late)
	want := fleetv1.WaveStatus{
		Name: "catch-up", Phase: fleetv1.WaveProgressing, Succeeded: 1, MaxConcurrency: 2, MaxFailures: 1, StartedAt: at(2),
	}
	if len(s.Waves) != 3 {
		t.Fatalf("%d waves", len(s.Waves))
	}
	if diff := cmp.Diff(want, s.Waves[2]); diff != "" || s.Progress != "2/5" || s.Plan.Total != 4 {
		t.Errorf("%s of %d planned (-want +got):\n%s", s.Progress, s.Plan.Total, diff)
	}
	if s = decide(3, policy.WaveState{}, late); len(s.Waves) != 3 {
		t.Error("it is gone again")
	}
}

// TestDeferredClustersAreListed with why and until when, at most twenty (law 18).
func TestDeferredClustersAreListed(t *testing.T) {
	var f policy.Fleet
	for i := range 30 {
		f.Clusters = append(f.Clusters, policy.Cluster{
			ID: fmt.Sprint("id", i), Path: fmt.Sprintf("c-%02d", i), Phase: policy.Deferred, Reason: policy.ReasonUnreachable,
		})
	}
	f.Clusters[0].Phase = policy.Pending
	f.Clusters[2].Path, f.Clusters[3].Reason = "c-01", ""
	d := progressing()
	d.Holds = []policy.ClusterHold{{ID: "id1", Waiting: policy.Waiting{Until: minute(7)}}}
	got := newCourse().decide(1, f, d).DeferredClusters
	if len(got) != fleetv1.MaxDeferred {
		t.Fatalf("%d are listed", len(got))
	}
	want := []fleetv1.DeferredCluster{
		{Name: "c-01", Reason: "Unreachable", Until: at(7)}, {Name: "c-03", Reason: "Deferred"}, {Name: "c-04", Reason: "Unreachable"},
	}
	if diff := cmp.Diff(want, got[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEventsSayWhatHappened(t *testing.T) {
	missed := report.WindowMissed(policy.Missed{
		Span:   window.Span{Start: minute(0), End: minute(60)},
		Reason: policy.ReasonControllerDown, Message: strings.Repeat("m", 2000),
	})
	if missed.Type != "Warning" || missed.What != "WindowMissed" || missed.Action == "" || len([]rune(missed.Message)) > 1024 ||
		!strings.HasPrefix(missed.Message, "nothing began from 2026-11-30T02:00:00Z to 2026-11-30T03:00:00Z: ControllerDown: m") {
		t.Errorf("%+v", missed)
	}
	if free := report.AnyTime(2); free.What != "AnyTime" || free.Action == "" || !strings.Contains(free.Message, "2 clusters") {
		t.Errorf("%+v", free)
	}
}

func TestWhatAClosedWavePutOffCountsInCatchUpAlone(t *testing.T) {
	d := progressing()
	d.Waves[1] = policy.WaveState{Name: "early", Phase: policy.WaveSucceeded, Planned: 3, Succeeded: 1, Deferred: 2, Closed: true}
	d.Waves = append(d.Waves, policy.WaveState{Name: "catch-up", Phase: policy.WaveProgressing, Active: 1, Deferred: 1})
	got := newCourse().decide(1, policy.Fleet{}, d)
	if got.Deferred != 1 || got.Waves[1].Deferred != 2 {
		t.Errorf("%d of the rollout are put off, %d of the wave were", got.Deferred, got.Waves[1].Deferred)
	}
}

func TestAWaveInWhichARolloutHaltsHasNotBegunForThat(t *testing.T) {
	d := progressing()
	d.Phase, d.Waves[1] = policy.PhaseHalted, policy.WaveState{Name: "early", Phase: policy.WaveHalted, Planned: 3, Pending: 3}
	if got := newCourse().decide(1, policy.Fleet{}, d).Waves[1]; got.StartedAt != nil {
		t.Errorf("began at %s", got.StartedAt)
	}
}
