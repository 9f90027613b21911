// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// clock is how much of progressDeadline has passed, in minutes.
type clock struct {
	ran   int64
	since *metav1.Time
}

func clockOf(s fleetv1.ClusterUpgradeStatus) clock { return clock{s.RunSeconds / 60, s.RunningSince} }

// TestLaw13TheTimeOfProgressIsKept through holds, and begins anew with each machine that ends.
func TestLaw13TheTimeOfProgressIsKept(t *testing.T) {
	h := newHistory()
	at1 := func(works bool, machines ...cluster.Machine) report.Look {
		l := working(machines...)
		l.Step.Works = works
		return l
	}
	begin := at1(true, waitingMachine("cp-1"), waitingMachine("cp-2"))
	begin.Step.Starts = true
	held := report.Look{Claimed: true, Step: cluster.Step{Phase: policy.Holding, Reason: policy.ReasonMemberUnreachable}}
	back := report.Look{Step: cluster.Step{Phase: policy.Pending, Reason: cluster.ReasonWaiting}}
	for _, c := range []struct {
		minute int
		look   report.Look
		want   clock
		why    string
	}{
		{0, begin, clock{0, at(0)}, "begun"},
		{5, at1(true, inFlight("cp-1"), waitingMachine("cp-2")), clock{0, at(0)}, "at work"},
		{10, held, clock{10, nil}, "silent"},
		{60, held, clock{10, nil}, "still silent"},
		{70, at1(true, inFlight("cp-1"), waitingMachine("cp-2")), clock{10, at(70)}, "back"},
		{80, at1(false, inFlight("cp-1"), waitingMachine("cp-2")), clock{20, nil}, "held"},
		{90, at1(false, proven("cp-1"), waitingMachine("cp-2")), clock{0, nil}, "a machine ends under the hold"},
		{95, at1(true, proven("cp-1"), waitingMachine("cp-2")), clock{0, at(95)}, "the hold ends"},
		{99, at1(true, proven("cp-1"), inFlight("cp-2")), clock{0, at(95)}, "the next begins"},
		{110, at1(true, proven("cp-1"), proven("cp-2")), clock{0, at(110)}, "and ends"},
		{120, back, clock{0, nil}, "its slot is given back"},
	} {
		if diff := cmp.Diff(c.want, clockOf(h.look(c.minute, c.look)), cmp.AllowUnexported(clock{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestC133NoTimeIsCountedTwiceWhenTheClockStepsBack, and none is negative.
func TestC133NoTimeIsCountedTwiceWhenTheClockStepsBack(t *testing.T) {
	h := newHistory()
	l := working(inFlight("cp-1"))
	l.Step.Works, l.Step.Starts = true, true
	h.look(10, l)
	l.Step.Starts, l.Step.Works = false, false
	if s := h.look(5, l); s.RunSeconds != 0 || s.RunningSince != nil {
		t.Errorf("%+v", clockOf(s))
	}
	l.Step.Works = true
	if s := h.look(6, l); s.RunSeconds != 0 || !s.RunningSince.Equal(at(6)) {
		t.Errorf("%+v", clockOf(s))
	}
}

// TestWindowsAreCounted: those in which a machine began, however often it is looked at.
func TestWindowsAreCounted(t *testing.T) {
	h := newHistory()
	waits, works := working(waitingMachine("cp-1"), waitingMachine("cp-2")), working(inFlight("cp-1"), waitingMachine("cp-2"))
	next, done := working(proven("cp-1"), inFlight("cp-2")), working(proven("cp-1"), proven("cp-2"))
	for _, c := range []struct {
		minute int
		intent fleetv1.Intent
		until  *metav1.Time
		look   report.Look
		want   int32
		why    string
	}{
		{0, fleetv1.IntentRun, at(60), waits, 0, "nothing has begun"},
		{1, fleetv1.IntentRun, at(60), works, 1, "the first machine"},
		{2, fleetv1.IntentRun, at(30), works, 1, "the window is shortened"},
		{30, fleetv1.IntentRun, at(30), works, 1, "it is over"},
		{31, fleetv1.IntentHold, nil, works, 1, "and held"},
		{100, fleetv1.IntentRun, at(120), works, 1, "the next, and nothing has begun in it"},
		{101, fleetv1.IntentHold, nil, works, 1, "it passes"},
		{200, fleetv1.IntentRun, at(220), next, 2, "the one after it"},
		{201, fleetv1.IntentHold, nil, next, 2, "held"},
		{300, fleetv1.IntentRun, at(320), done, 2, "a machine that ends uses none"},
	} {
		h.cu.Spec.Intent, h.cu.Spec.NotAfter = c.intent, c.until
		if s := h.look(c.minute, c.look); s.Windows != c.want {
			t.Errorf("%s: %d windows, want %d", c.why, s.Windows, c.want)
		}
	}
}

// TestLaw10WhatEndedOutsideAWindowUnseenIsReported, and only that.
func TestLaw10WhatEndedOutsideAWindowUnseenIsReported(t *testing.T) {
	silent := report.Look{Claimed: true, Step: cluster.Step{Phase: policy.Holding, Reason: policy.ReasonMemberUnreachable}}
	busy, ended := working(inFlight("cp-1"), waitingMachine("cp-2")), working(proven("cp-1"), waitingMachine("cp-2"))
	type look struct {
		minute int
		intent fleetv1.Intent
		look   report.Look
	}
	for name, c := range map[string]struct {
		looks []look
		want  string
	}{
		"it ended while nobody looked": {
			[]look{{61, fleetv1.IntentRun, silent}, {90, fleetv1.IntentHold, silent}, {120, fleetv1.IntentHold, ended}},
			"True OutsideWindow: machines cp-1 ended between 2026-11-30T03:01:00Z and 2026-11-30T04:00:00Z, while their " +
				"management cluster could not be seen and no machine was to begin",
		},
		"the next window is open when it is seen": {
			[]look{{70, fleetv1.IntentHold, silent}, {120, fleetv1.IntentRun, ended}},
			"True OutsideWindow: machines cp-1 ended between 2026-11-30T03:10:00Z and 2026-11-30T04:00:00Z, while their " +
				"management cluster could not be seen and no machine was to begin",
		},
		"nobody looks yet": {
			[]look{{61, fleetv1.IntentRun, silent}},
			"Unknown NotObserved: machine cp-1 was at work when the time in which machines may begin was over, and its " +
				"management cluster cannot be seen",
		},
		"it is still at work":              {[]look{{61, fleetv1.IntentHold, silent}, {120, fleetv1.IntentHold, busy}}, ""},
		"it ended before the window did":   {[]look{{30, fleetv1.IntentRun, silent}, {50, fleetv1.IntentRun, ended}}, ""},
		"it was seen to end":               {[]look{{61, fleetv1.IntentHold, busy}, {90, fleetv1.IntentHold, ended}}, ""},
		"nothing was at work when it went": {[]look{{20, fleetv1.IntentRun, ended}, {61, fleetv1.IntentHold, silent}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory()
			h.cu.Spec.Intent, h.cu.Spec.NotAfter = fleetv1.IntentRun, at(60)
			begin := busy
			begin.Step.Starts = true
			h.look(0, begin)
			for _, l := range c.looks {
				if h.cu.Spec.Intent, h.cu.Spec.NotAfter = l.intent, nil; l.intent == fleetv1.IntentRun {
					h.cu.Spec.NotAfter = at(60)
				}
				if l.minute >= 100 && l.intent == fleetv1.IntentRun {
					h.cu.Spec.NotAfter = at(180)
				}
				h.look(l.minute, l.look)
			}
			got := ""
			if c := meta.FindStatusCondition(h.cu.Status.Conditions, fleetv1.OutsideWindowCondition); c != nil {
				got = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheWishOfAnOwnerIsTimed: since its first look, over silence, until it is gone.
func TestTheWishOfAnOwnerIsTimed(t *testing.T) {
	h := newHistory()
	wished := func(seen, wished bool) report.Look {
		return report.Look{Seen: seen, Step: cluster.Step{
			Phase: policy.Deferred, Reason: policy.ReasonDeferredByOwner, Wished: wished, Settled: true,
		}}
	}
	for _, c := range []struct {
		minute int
		look   report.Look
		want   *metav1.Time
	}{
		{0, wished(true, false), nil},
		{1, wished(true, true), at(1)},
		{2, wished(true, true), at(1)},
		{3, wished(false, false), at(1)},
		{4, wished(true, false), nil},
		{5, wished(true, true), at(5)},
	} {
		s := h.look(c.minute, c.look)
		if !s.DeferredSince.Equal(c.want) || s.EndedAt != nil || s.Phase != fleetv1.UpgradeDeferred {
			t.Errorf("minute %d: since %s, want %s; ended %s", c.minute, s.DeferredSince, c.want, s.EndedAt)
		}
	}
}

// TestMachinesAreMeasuredFromBeginToProof: each by itself, and none whose end nobody saw.
func TestMachinesAreMeasuredFromBeginToProof(t *testing.T) {
	row := func(h *history) fleetv1.MachineProgress { return h.cu.Status.Machines[0] }
	one := func(m cluster.Machine) report.Look {
		l := working(m)
		l.Owners[0].Target = "t"
		return l
	}
	silent := report.Look{Claimed: true, Step: cluster.Step{Phase: policy.Holding, Reason: policy.ReasonMemberUnreachable}}
	sick := cluster.Machine{Name: "cp-1", Release: "t"}
	for name, c := range map[string]struct {
		looks        []report.Look
		began, ended *metav1.Time
	}{
		"begun and proven":              {[]report.Look{one(inFlight("cp-1")), one(proven("cp-1"))}, at(0), at(1)},
		"refreshed, and proven later":   {[]report.Look{one(inFlight("cp-1")), one(sick), one(proven("cp-1"))}, at(0), at(2)},
		"proven all along":              {[]report.Look{one(proven("cp-1"))}, nil, at(0)},
		"its end was not seen":          {[]report.Look{one(inFlight("cp-1")), silent, one(proven("cp-1"))}, nil, at(2)},
		"its request was taken back":    {[]report.Look{one(inFlight("cp-1")), one(waitingMachine("cp-1"))}, nil, nil},
		"not well for a while later on": {[]report.Look{one(inFlight("cp-1")), one(proven("cp-1")), one(sick), one(proven("cp-1"))}, nil, at(3)},
		"refreshed once more": {
			[]report.Look{one(inFlight("cp-1")), one(proven("cp-1")), one(inFlight("cp-1")), one(proven("cp-1"))}, at(2), at(3),
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory()
			for i, l := range c.looks {
				h.look(i, l)
			}
			if got := row(h); !got.StartedAt.Equal(c.began) || !got.EndedAt.Equal(c.ended) {
				t.Errorf("from %s to %s, want from %s to %s", got.StartedAt, got.EndedAt, c.began, c.ended)
			}
		})
	}
}

// TestMachinesAtWorkAndTheLastDoneAreListed however many there are.
func TestMachinesAtWorkAndTheLastDoneAreListed(t *testing.T) {
	h := newHistory()
	l := working()
	for i := range 200 {
		l.Owners[0].Machines = append(l.Owners[0].Machines, waitingMachine(fmt.Sprintf("cp-%03d", i)))
	}
	for i := range 20 {
		l.Owners[0].Machines[180+i] = inFlight(l.Owners[0].Machines[180+i].Name)
	}
	h.look(0, l)
	for i := range 19 {
		l.Owners[0].Machines[180+i] = proven(l.Owners[0].Machines[180+i].Name)
		h.look(1+i, l)
	}
	s := h.cu.Status
	if len(s.Machines) != fleetv1.MaxMachines || s.Machines[0].Name != "cp-199" {
		t.Errorf("%d machines, the first is %+v", len(s.Machines), s.Machines[0])
	}
	if last := s.Machines[40]; last.Name != "cp-198" || !last.StartedAt.Equal(at(0)) || !last.EndedAt.Equal(at(19)) {
		t.Errorf("the last that ended: %+v", last)
	}
}

// TestC152PartOfAClusterIsCountedAndNoSuccess: control plane 3/3, pools 3/3 and 1/3.
func TestC152PartOfAClusterIsCountedAndNoSuccess(t *testing.T) {
	owner := func(role cluster.Role, name string, machines ...cluster.Machine) cluster.Owner {
		return cluster.Owner{Kind: "K", Name: name, Role: role, Replicas: len(machines), Machines: machines}
	}
	l := report.Look{Seen: true, Owners: []cluster.Owner{
		owner(cluster.ControlPlane, "cp", proven("cp-1"), proven("cp-2"), proven("cp-3")),
		owner(cluster.Workers, "md-a", proven("a-1"), proven("a-2"), proven("a-3")),
		owner(cluster.Workers, "md-b", proven("b-1"), cluster.Machine{Name: "b-2", Quarantined: true, Attempts: 3}, waitingMachine("b-3")),
	}, Step: cluster.Step{Phase: policy.Failed, Reason: cluster.ReasonMachineQuarantined, CurrentMachine: "b-2"}}
	s := newHistory().look(0, l)
	want := &fleetv1.UpgradeSummary{Cluster: "mgmt-a/shop/eu-1", CP: "3/3", Workers: "4/6", Tries: "3/3"}
	if diff := cmp.Diff(want, s.Summary); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Stalled"}, holding(s.Conditions)); diff != "" || s.Owners[2].Phase != fleetv1.UpgradeFailed {
		t.Errorf("%+v (-want +got):\n%s", s.Owners[2], diff)
	}
}
