// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

var start = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
func at(n int) *metav1.Time  { return new(metav1.NewTime(minute(n))) }

// history is a ClusterUpgrade that is reported on again and again.
type history struct{ cu *fleetv1.ClusterUpgrade }

func newHistory() *history {
	return &history{&fleetv1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: "cu", Generation: 2},
		Spec: fleetv1.ClusterUpgradeSpec{
			ManagementCluster: "mgmt-a", Cluster: fleetv1.ObjectRef{Namespace: "shop", Name: "eu-1"},
			Upgrade: fleetv1.UpgradeSettings{Machine: fleetv1.MachineSettings{MaxAttempts: 3}},
		},
	}}
}

// look reports one look, n minutes after the start.
func (h *history) look(n int, l report.Look) fleetv1.ClusterUpgradeStatus {
	h.cu.Status = report.Upgrade(h.cu, l, minute(n))
	return h.cu.Status
}

func proven(name string) cluster.Machine {
	return cluster.Machine{Name: name, Proven: cluster.Verdict{Status: cluster.True}, Kubelet: "v1.33.9"}
}

func waitingMachine(name string) cluster.Machine {
	return cluster.Machine{Name: name, Kubelet: "v1.33.4"}
}

// working is a look at a cluster in the middle of its control plane.
func working(machines ...cluster.Machine) report.Look {
	return report.Look{
		Seen: true, Claimed: true, States: map[string]string{"cp-2": "InProgress"},
		Step: cluster.Step{
			Phase: policy.Progressing, Reason: cluster.ReasonUpgrading, Message: "m", CurrentMachine: "cp-2",
			WaitUntil: minute(30),
		},
		Owners: []cluster.Owner{{
			Kind: "CK8sControlPlane", Name: "cp", Role: cluster.ControlPlane, Replicas: len(machines), HasTo: true, Ours: true,
			Machines: machines,
		}},
	}
}

func inFlight(name string) cluster.Machine {
	return cluster.Machine{
		Name: name, InFlight: true, Requested: true, Kubelet: "v1.33.4", Architecture: "amd64", Release: "r", Attempts: 1,
		LastError: "refused",
	}
}

func TestUpgradeShowsOwnersAndMachines(t *testing.T) {
	h := newHistory()
	pools := cluster.Owner{Kind: "MachineDeployment", Name: "md", Role: cluster.Workers, Replicas: 1}
	pools.Machines = []cluster.Machine{waitingMachine("md-1")}
	l := working(proven("cp-1"), inFlight("cp-2"), waitingMachine("cp-3"))
	l.Owners = append(l.Owners, pools)
	got := h.look(0, l)
	want := fleetv1.ClusterUpgradeStatus{
		ObservedGeneration: 2, Phase: fleetv1.UpgradeProgressing, Reason: "Upgrading", Message: "m", Since: at(0),
		Until: "2026-11-30T02:30:00Z", CurrentMachine: "cp-2", Claimed: true, Attempts: 1, MaxAttempts: 3,
		LastProgressAt: at(0), Windows: 1,
		Summary: &fleetv1.UpgradeSummary{Cluster: "mgmt-a/shop/eu-1", CP: "1/3", Workers: "0/1", Tries: "1/3"},
		Owners: []fleetv1.OwnerProgress{
			{
				Kind: "CK8sControlPlane", Name: "cp", Role: fleetv1.RoleControlPlane, Total: 3, Done: 1,
				Phase: fleetv1.UpgradeProgressing,
			},
			{Kind: "MachineDeployment", Name: "md", Role: fleetv1.RoleWorkers, Total: 1, Phase: fleetv1.UpgradePending},
		},
		Machines: []fleetv1.MachineProgress{
			{
				Name: "cp-2", Owner: "cp", State: "InProgress", Release: "r", Kubelet: "v1.33.4", Architecture: "amd64",
				Attempts: 1, LastError: "refused", StartedAt: at(0),
			},
			{Name: "cp-3", Owner: "cp", Kubelet: "v1.33.4"},
			{Name: "md-1", Owner: "md", Kubelet: "v1.33.4"},
			{Name: "cp-1", Owner: "cp", Kubelet: "v1.33.9", EndedAt: at(0)},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Conditions")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAMachineThatIsUpgradedBetweenTwoLooksWasTriedOnce: its count is gone by then.
func TestAMachineThatIsUpgradedBetweenTwoLooksWasTriedOnce(t *testing.T) {
	asked := cluster.Machine{Name: "cp-1", Requested: true, Kubelet: "v1.33.9"}
	for name, tc := range map[string]struct {
		before []cluster.Machine
		want   int32
	}{
		"it ran an older version":     {[]cluster.Machine{waitingMachine("cp-1")}, 1},
		"it was asked":                {[]cluster.Machine{asked}, 1},
		"it was tried twice":          {[]cluster.Machine{{Name: "cp-1", InFlight: true, Kubelet: "v1.33.4", Attempts: 2}}, 2},
		"it was there before us":      {[]cluster.Machine{proven("cp-1")}, 0},
		"it was never seen otherwise": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory()
			h.look(0, working(tc.before...))
			for n := range 2 {
				if got := h.look(1+n, working(proven("cp-1"))).Machines[0].Attempts; got != tc.want {
					t.Errorf("%d attempts, want %d", got, tc.want)
				}
			}
		})
	}
}

// TestUpgradeInstantsStandStill: the same look again writes nothing.
func TestUpgradeInstantsStandStill(t *testing.T) {
	ended := working(proven("cp-1"), proven("cp-2"))
	ended.Step = cluster.Step{Phase: policy.Succeeded, Reason: cluster.ReasonProven, AllProven: true, Settled: true}
	many := working()
	for i := range fleetv1.MaxMachines + 20 {
		many.Owners[0].Machines = append(many.Owners[0].Machines, proven(fmt.Sprintf("cp-%d", i)))
	}
	granting := working(waitingMachine("cp-1"))
	granting.Step.Starts = true
	for name, l := range map[string]report.Look{
		"working":                       working(proven("cp-1"), inFlight("cp-2")),
		"ended":                         ended,
		"starting":                      granting,
		"more machines than are listed": many,
		"a member that is not read": {
			Step: cluster.Step{Phase: policy.Holding, Reason: policy.ReasonMemberUnreachable},
		},
		"a machine whose attempts are over": working(cluster.Machine{Name: "cp-1", Quarantined: true, Attempts: 3}),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory()
			first := h.look(0, l)
			if diff := cmp.Diff(first, h.look(7, l)); diff != "" {
				t.Errorf("seven minutes later (-first +second):\n%s", diff)
			}
		})
	}
}

// TestSinceMovesWithTheReason and with the phase, and not with the message.
func TestSinceMovesWithTheReason(t *testing.T) {
	h := newHistory()
	say := func(n int, phase policy.ClusterPhase, reason, message string) *metav1.Time {
		return h.look(n, report.Look{Step: cluster.Step{Phase: phase, Reason: reason, Message: message}}).Since
	}
	for _, c := range []struct {
		got  *metav1.Time
		want *metav1.Time
		why  string
	}{
		{say(0, policy.Pending, "Waiting", "a"), at(0), "the first"},
		{say(1, policy.Pending, "Waiting", "b"), at(0), "another message"},
		{say(2, policy.Progressing, "Waiting", "b"), at(2), "another phase"},
		{say(3, policy.Progressing, "Upgrading", "b"), at(3), "another reason"},
		{say(4, policy.Progressing, "Upgrading", "b"), at(3), "the same"},
	} {
		if !c.got.Equal(c.want) {
			t.Errorf("%s: since %s, want %s", c.why, c.got, c.want)
		}
	}
}

func TestUpgradeRemembersItsInstants(t *testing.T) {
	h := newHistory()
	l := working(waitingMachine("cp-1"), waitingMachine("cp-2"))
	l.Step.Starts = true
	l.Step.Action, l.Step.Owner = cluster.GrantOwner, "CK8sControlPlane/cp"
	if s := h.look(1, l); !s.StartedAt.Equal(at(1)) || !s.Owners[0].GrantedAt.Equal(at(1)) {
		t.Errorf("started %s, granted %s", s.StartedAt, s.Owners[0].GrantedAt)
	}
	l.Step.Action, l.Step.Owner = cluster.None, ""
	l.Owners[0].Machines = []cluster.Machine{inFlight("cp-1"), waitingMachine("cp-2")}
	if s := h.look(2, l); !s.StartedAt.Equal(at(1)) || !s.Machines[0].StartedAt.Equal(at(2)) || s.LastProgressAt != nil {
		t.Errorf("started %s, machine %s, progress %s", s.StartedAt, s.Machines[0].StartedAt, s.LastProgressAt)
	}
	l.Owners[0].Machines = []cluster.Machine{proven("cp-1"), inFlight("cp-2")}
	s := h.look(3, l)
	if done := s.Machines[1]; done.Name != "cp-1" || !done.EndedAt.Equal(at(3)) || !done.StartedAt.Equal(at(2)) {
		t.Errorf("the machine that is done: %+v", done)
	}
	if !s.LastProgressAt.Equal(at(3)) || !s.Owners[0].GrantedAt.Equal(at(1)) {
		t.Errorf("progress %s, granted %s", s.LastProgressAt, s.Owners[0].GrantedAt)
	}
	l.Owners[0].Machines = []cluster.Machine{proven("cp-1"), proven("cp-2")}
	l.Step.AllProven, l.Step.Phase = true, policy.Verifying
	if s := h.look(4, l); !s.ProvenSince.Equal(at(4)) || s.EndedAt != nil {
		t.Errorf("proven %s, ended %s", s.ProvenSince, s.EndedAt)
	}
	l.Step.AllProven = false
	if s := h.look(5, l); s.ProvenSince != nil {
		t.Errorf("one look without the proof forgets it: %s", s.ProvenSince)
	}
	l.Step.AllProven, l.Step.Phase, l.Step.Versions = true, policy.Succeeded, map[string]string{"b": "v2", "a": "v1"}
	s = h.look(6, l)
	versions := []fleetv1.ProvenVersion{{Architecture: "a", Version: "v1"}, {Architecture: "b", Version: "v2"}}
	if diff := cmp.Diff(versions, s.Versions); diff != "" || !s.EndedAt.Equal(at(6)) {
		t.Errorf("ended %s, (-want +got):\n%s", s.EndedAt, diff)
	}
}

// TestProgressIsSeenBeyondTheList: also of a machine that the status does not name.
func TestProgressIsSeenBeyondTheList(t *testing.T) {
	h := newHistory()
	l := working()
	for i := range fleetv1.MaxMachines + 20 {
		l.Owners[0].Machines = append(l.Owners[0].Machines, waitingMachine(fmt.Sprintf("cp-%02d", i)))
	}
	h.look(0, l)
	last := len(l.Owners[0].Machines) - 1
	l.Owners[0].Machines[last] = proven(l.Owners[0].Machines[last].Name)
	if s := h.look(1, l); !s.LastProgressAt.Equal(at(1)) {
		t.Errorf("progress %s", s.LastProgressAt)
	}
	if s := h.look(2, l); !s.LastProgressAt.Equal(at(1)) {
		t.Errorf("without another: progress %s", s.LastProgressAt)
	}
}

// TestWhatWasNotSeenStays: of a member that does not answer the last known facts are kept.
func TestWhatWasNotSeenStays(t *testing.T) {
	h := newHistory()
	before := h.look(0, working(proven("cp-1"), inFlight("cp-2")))
	silent := cluster.Step{Phase: policy.Holding, Reason: policy.ReasonMemberUnreachable}
	got := h.look(1, report.Look{Claimed: true, Step: silent})
	if diff := cmp.Diff(before.Owners, got.Owners); diff != "" {
		t.Errorf("owners (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.Machines, got.Machines); diff != "" {
		t.Errorf("machines (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before.Summary, got.Summary); diff != "" || got.Reason != policy.ReasonMemberUnreachable {
		t.Errorf("%s, summary (-before +after):\n%s", got.Reason, diff)
	}
}

// TestUpgradeIsBounded: no list and no text grows with the cluster (law 18); unfinished machines come first.
func TestUpgradeIsBounded(t *testing.T) {
	l := working()
	long := strings.Repeat("ä", 3*fleetv1.MaxMessage)
	for i := range 400 {
		m := proven(fmt.Sprintf("cp-%03d", i))
		if i%100 == 99 {
			m = cluster.Machine{Name: m.Name, LastError: long}
		}
		l.Owners[0].Machines = append(l.Owners[0].Machines, m)
	}
	l.Step.Message, l.Step.LastError = long, long
	s := newHistory().look(0, l)
	if len(s.Machines) != fleetv1.MaxMachines || s.Owners[0].Total != 400 || s.Owners[0].Done != 396 {
		t.Errorf("%d machines listed; %+v", len(s.Machines), s.Owners[0])
	}
	var first []string
	for _, m := range s.Machines[:5] {
		first = append(first, m.Name)
	}
	if diff := cmp.Diff([]string{"cp-099", "cp-199", "cp-299", "cp-399", "cp-000"}, first); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	ready := meta.FindStatusCondition(s.Conditions, fleetv1.ReadyCondition)
	texts := []string{s.Message, s.LastError, s.Machines[0].LastError, ready.Message}
	for i, text := range texts {
		if n := utf8.RuneCountInString(text); n != fleetv1.MaxMessage {
			t.Errorf("text %d has %d characters", i, n)
		}
	}
}

func TestOwnerPhase(t *testing.T) {
	bad := cluster.Machine{Name: "b", Quarantined: true, Attempts: 3}
	left := waitingMachine("b")
	of := func(replicas int, granted bool, machines ...cluster.Machine) cluster.Owner {
		return cluster.Owner{Replicas: replicas, HasTo: granted, Ours: granted, Machines: machines}
	}
	foreign := cluster.Owner{Replicas: 1, HasTo: true, Machines: []cluster.Machine{left}}
	cases := map[string]struct {
		owner cluster.Owner
		want  fleetv1.UpgradePhase
	}{
		"not granted":              {of(2, false, proven("a"), left), fleetv1.UpgradePending},
		"granted by somebody else": {foreign, fleetv1.UpgradePending},
		"granted":                  {of(2, true, proven("a"), left), fleetv1.UpgradeProgressing},
		"all done":                 {of(1, true, proven("a")), fleetv1.UpgradeSucceeded},
		"all done, one is missing": {of(2, false, proven("a")), fleetv1.UpgradePending},
		"one is given up":          {of(2, true, proven("a"), bad), fleetv1.UpgradeFailed},
		"no machine asked for":     {of(0, false), fleetv1.UpgradeSucceeded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newHistory().look(0, report.Look{Seen: true, Owners: []cluster.Owner{c.owner}})
			if got := s.Owners[0].Phase; got != c.want {
				t.Errorf("it is %s", got)
			}
		})
	}
}

// TestUpgradeConditions are what kstatus reads: Ready, Reconciling and Stalled, True where they hold.
func TestUpgradeConditions(t *testing.T) {
	cases := map[string]struct {
		step cluster.Step
		want []string
	}{
		"pending":     {cluster.Step{Phase: policy.Pending, Reason: "Waiting"}, nil},
		"progressing": {cluster.Step{Phase: policy.Progressing, Reason: "Upgrading"}, []string{"Reconciling"}},
		"verifying":   {cluster.Step{Phase: policy.Verifying, Reason: "SecondRead"}, []string{"Reconciling"}},
		"holding":     {cluster.Step{Phase: policy.Holding, Reason: "OnHold"}, []string{"Reconciling"}},
		"held until a person": {
			cluster.Step{Phase: policy.Holding, Reason: "OnHold", Act: true}, []string{"Reconciling", "Stalled"},
		},
		"succeeded":             {cluster.Step{Phase: policy.Succeeded, Reason: "Proven"}, []string{"Ready"}},
		"failed":                {cluster.Step{Phase: policy.Failed, Reason: "MachineQuarantined"}, []string{"Stalled"}},
		"skipped":               {cluster.Step{Phase: policy.Skipped, Reason: "Withdrawn"}, nil},
		"a phase as the reason": {cluster.Step{Phase: policy.Removed}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newHistory().look(0, report.Look{Step: c.step})
			if diff := cmp.Diff(c.want, holding(s.Conditions)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, condition := range s.Conditions {
				reason := c.step.Reason
				if reason == "" {
					reason = string(c.step.Phase)
				}
				if condition.ObservedGeneration != 2 || condition.Reason != reason {
					t.Errorf("%+v", condition)
				}
			}
		})
	}
}

// holding names the conditions that are True, of the three that must all be there.
func holding(conditions []metav1.Condition) []string {
	var is []string
	for _, kind := range []string{"Ready", "Reconciling", "Stalled"} {
		switch c := meta.FindStatusCondition(conditions, kind); {
		case c == nil:
			is = append(is, "no "+kind)
		case c.Status == metav1.ConditionTrue:
			is = append(is, kind)
		}
	}
	return is
}

func TestUntil(t *testing.T) {
	cases := map[string]struct {
		step cluster.Step
		want string
	}{
		"an event ends it":   {cluster.Step{}, ""},
		"time ends it":       {cluster.Step{WaitUntil: minute(5)}, "2026-11-30T02:05:00Z"},
		"a person ends it":   {cluster.Step{Act: true}, "act"},
		"a person, not time": {cluster.Step{Act: true, WaitUntil: minute(5)}, "act"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := newHistory().look(0, report.Look{Step: c.step}).Until; got != c.want {
				t.Errorf("until %q", got)
			}
		})
	}
}
