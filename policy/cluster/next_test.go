// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

const (
	text   = "channel=1.33-classic/stable"
	old    = "v1.33.4"
	latest = "v1.33.9"
)

// owner has n machines at the old version.
func owner(role cluster.Role, kind, name string, n int) cluster.Owner {
	o := cluster.Owner{
		Kind: kind, Name: name, Role: role, Target: text, Version: latest, Present: true, Replicas: n,
		Health: cluster.Verdict{Status: cluster.True},
	}
	for i := range n {
		o.Machines = append(o.Machines, cluster.Machine{
			Name: fmt.Sprintf("%s-%d", name, i), Kubelet: old, Architecture: "amd64", Release: "channel=1.33-classic/old",
			Proven: cluster.Verdict{Status: cluster.False, Message: "old"},
		})
	}
	return o
}

// idle is a healthy cluster with a control plane of three and pools a of two and b of one, nothing written.
func idle() cluster.Observation {
	return cluster.Observation{
		Intent: policy.Run, Reachable: true, Access: true, Present: true, Health: cluster.Verdict{Status: cluster.True},
		Owners: []cluster.Owner{
			owner(cluster.Workers, "MachineDeployment", "pool-b", 1),
			owner(cluster.Workers, "MachineDeployment", "pool-a", 2),
			owner(cluster.ControlPlane, "CK8sControlPlane", "cp", 3),
		},
	}
}

func find(o *cluster.Observation, name string) *cluster.Owner {
	for i := range o.Owners {
		if o.Owners[i].Name == name {
			return &o.Owners[i]
		}
	}
	return nil
}

// The edits of the tables, each a sentence about the cluster.
type edit = func(*cluster.Observation)

func claimed(o *cluster.Observation) {
	o.Claim.State, o.StartedAt, o.StartBefore = cluster.ClaimOurs, noon, noon.Add(time.Hour)
}

func foreign(o *cluster.Observation) {
	o.Claim = cluster.Claim{State: cluster.ClaimOther, By: "shop/other-7xk2p"}
}
func unclaimed(o *cluster.Observation)   { o.Claim = cluster.Claim{} }
func unreachable(o *cluster.Observation) { o.Reachable, o.ReachMessage = false, "no route to host" }
func paused(o *cluster.Observation)      { o.Paused = true }
func intent(i policy.Intent) edit        { return func(o *cluster.Observation) { o.Intent = i } }
func was(p policy.ClusterPhase) edit {
	return func(o *cluster.Observation) { o.Phase, o.Reason = p, "Before" }
}
func proven(since time.Time) edit { return func(o *cluster.Observation) { o.ProvenSince = since } }
func health(s cluster.Status) edit {
	return func(o *cluster.Observation) { o.Health = cluster.Verdict{Status: s} }
}
func permitted(until time.Time) edit { return func(o *cluster.Observation) { o.StartBefore = until } }
func order(order policy.Order) edit  { return func(o *cluster.Observation) { o.Order = order } }
func notAfter(until time.Time) edit  { return func(o *cluster.Observation) { o.NotAfter = until } }
func heldFor(reason string) edit {
	return func(o *cluster.Observation) { o.Held = policy.Waiting{Reason: reason, Message: "of alice"} }
}

func granted(name string) edit {
	return func(o *cluster.Observation) {
		found := find(o, name)
		found.To, found.HasTo, found.Ours, found.PlanMatches, found.GrantedAt = text, true, true, true, noon
	}
}

func finished(names ...string) edit {
	return func(o *cluster.Observation) {
		for _, name := range names {
			found := find(o, name)
			found.To, found.HasTo = "", false
			for i := range found.Machines {
				m := &found.Machines[i]
				m.Release, m.Kubelet, m.Proven = text, latest, cluster.Verdict{Status: cluster.True}
			}
		}
	}
}

func change(name string, do func(*cluster.Owner)) edit {
	return func(o *cluster.Observation) { do(find(o, name)) }
}

func machine(name string, i int, do func(*cluster.Machine)) edit {
	return func(o *cluster.Observation) { do(&find(o, name).Machines[i]) }
}
func busy(m *cluster.Machine) { m.InFlight, m.Requested, m.Leftovers = true, true, true }
func lost(m *cluster.Machine) {
	m.Quarantined, m.Requested, m.Leftovers, m.Attempts, m.LastError = true, true, true, 3, "snap refused"
}
func marked(m *cluster.Machine) { m.Leftovers = true }

type row struct {
	edits []edit
	// want is "Phase Reason" or "Phase Reason Action" or "Phase Reason Action Owner".
	want string
}

func (r row) check(t *testing.T) {
	t.Helper()
	o := idle()
	for _, edit := range r.edits {
		edit(&o)
	}
	step := cluster.Next(o, noon)
	got := fmt.Sprintf("%s %s", step.Phase, step.Reason)
	if step.Action != cluster.None {
		got += " " + string(step.Action)
	}
	if step.Owner != "" {
		got += " " + step.Owner
	}
	if diff := cmp.Diff(r.want, got); diff != "" {
		t.Errorf("step (-want +got):\n%s\n%+v", diff, step)
	}
	if step.Message == "" && r.want != "" && !o.Phase.Ended() {
		t.Errorf("%s says nothing", got)
	}
}

func TestLaw2TheClaimStandsBeforeAnyOtherWrite(t *testing.T) {
	for name, tc := range map[string]row{
		"it is taken right before the first write": {nil, "Progressing Starting TakeClaim"},
		"never over another's":                     {[]edit{foreign}, "Pending ClaimedByOther"},
		"a waiting cluster says whose it is":       {[]edit{foreign, intent(policy.Wait)}, "Pending ClaimedByOther"},
		"another was quicker, nothing was granted": {[]edit{claimed, foreign}, "Pending ClaimedByOther"},
		"one that was begun holds":                 {[]edit{claimed, granted("cp"), foreign}, "Holding ClaimedByOther"},
		"if it vanished it is taken again": {
			[]edit{claimed, granted("cp"), unclaimed}, "Holding Starting TakeClaim",
		},
		"also to take back what was granted": {
			[]edit{claimed, granted("cp"), unclaimed, intent(policy.Withdraw)}, "Holding Withdrawing TakeClaim",
		},
		"permission comes next": {
			[]edit{claimed, permitted(time.Time{})}, "Progressing Starting SetPermission",
		},
		"then the control plane": {
			[]edit{claimed}, "Progressing Starting GrantOwner CK8sControlPlane/cp",
		},
		"a waiting cluster with our marks is undone": {
			[]edit{claimed, granted("cp"), intent(policy.Wait)}, "Holding Withdrawing WithdrawOwner CK8sControlPlane/cp",
		},
		"and with our claim alone gives it back": {
			[]edit{claimed, permitted(time.Time{}), intent(policy.Wait)}, "Holding Withdrawing ReleaseClaim",
		},
		"withdrawn before it began, another's": {[]edit{foreign, intent(policy.Withdraw)}, "Skipped Withdrawn"},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw3And14NothingIsJudgedFromSilence(t *testing.T) {
	for name, tc := range map[string]row{
		"silent before it began": {[]edit{unreachable}, "Pending MemberUnreachable"},
		"silent while it waits":  {[]edit{unreachable, intent(policy.Wait)}, "Pending MemberUnreachable"},
		"silent on the way": {
			[]edit{claimed, granted("cp"), unreachable}, "Holding MemberUnreachable",
		},
		"absent and silent is not removed": {
			[]edit{unreachable, func(o *cluster.Observation) { o.Present = false }}, "Pending MemberUnreachable",
		},
		"absent and answering is": {
			[]edit{func(o *cluster.Observation) { o.Present = false }}, "Removed ClusterRemoved",
		},
		"silent and withdrawn before it began": {[]edit{unreachable, intent(policy.Withdraw)}, "Skipped Withdrawn"},
		"silent and withdrawn on the way": {
			[]edit{claimed, unreachable, intent(policy.Withdraw)}, "Holding MemberUnreachable",
		},
		"a failure stays one": {[]edit{claimed, was(policy.Failed), unreachable}, "Failed Before"},
		"a success stays one": {
			[]edit{was(policy.Succeeded), func(o *cluster.Observation) { o.Settled, o.Present = true, false }},
			"Succeeded Before",
		},
		"a member that may only be read": {
			[]edit{func(o *cluster.Observation) { o.Access = false }}, "Pending AccessReadOnly",
		},
		"unknown health is not health": {[]edit{health(cluster.Unknown)}, "Pending HealthUnknown"},
		"bad health begins nothing":    {[]edit{health(cluster.False)}, "Pending ClusterUnhealthy"},
		"while it waits, too": {
			[]edit{health(cluster.False), intent(policy.Wait)}, "Pending ClusterUnhealthy",
		},
		"bad health between owners begins none": {
			[]edit{claimed, granted("cp"), finished("cp"), health(cluster.False)}, "Holding ClusterUnhealthy",
		},
		"bad health in an owner at work does not stop it": {
			[]edit{claimed, granted("cp"), machine("cp", 0, busy), health(cluster.False)}, "Progressing Upgrading",
		},
		"the right release with an older kubelet is not done": {
			[]edit{claimed, finished("cp"), machine("cp", 1, func(m *cluster.Machine) {
				m.Kubelet, m.Proven = old, cluster.Verdict{Status: cluster.False}
			})},
			"Progressing Starting GrantOwner CK8sControlPlane/cp",
		},
		"a machine at target that is not healthy is waited for": {
			[]edit{
				claimed, granted("cp"), finished("cp"),
				machine("cp", 1, func(m *cluster.Machine) { m.Proven = cluster.Verdict{} }),
			},
			"Progressing MachineNotProven",
		},
		"a machine too few is waited for": {
			[]edit{claimed, granted("cp"), finished("cp"), change("cp", func(o *cluster.Owner) { o.Replicas = 5 })},
			"Progressing OwnerScaling",
		},
		"nothing to upgrade is no success": {
			[]edit{func(o *cluster.Observation) { o.Owners = nil }}, "Pending OwnerMissing",
		},
		"an owner that is gone is no success": {
			[]edit{
				claimed, granted("cp"), finished("cp", "pool-a", "pool-b"),
				change("pool-b", func(o *cluster.Owner) { o.Present = false }),
			},
			"Holding OwnerMissing",
		},
		"a single control plane machine is refused": {
			[]edit{change("cp", func(o *cluster.Owner) { o.Replicas, o.Machines = 1, o.Machines[:1] })},
			"Pending SingleControlPlane",
		},
		"unless it is allowed": {
			[]edit{
				change("cp", func(o *cluster.Owner) { o.Replicas, o.Machines = 1, o.Machines[:1] }),
				func(o *cluster.Observation) { o.AllowSingleControlPlane = true },
			},
			"Progressing Starting TakeClaim",
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw19WorkersAfterTheControlPlaneOneOwnerAtATime(t *testing.T) {
	for name, tc := range map[string]row{
		"the control plane goes first": {[]edit{claimed}, "Progressing Starting GrantOwner CK8sControlPlane/cp"},
		"workers wait for it": {
			[]edit{claimed, granted("cp"), machine("cp", 2, busy)}, "Progressing Upgrading",
		},
		"then pools, by name": {
			[]edit{claimed, granted("cp"), finished("cp")}, "Progressing Starting GrantOwner MachineDeployment/pool-a",
		},
		"one after the other": {
			[]edit{claimed, granted("cp"), finished("cp"), granted("pool-a")}, "Progressing Upgrading",
		},
		"the last": {
			[]edit{claimed, granted("cp"), granted("pool-a"), finished("cp", "pool-a")},
			"Progressing Starting GrantOwner MachineDeployment/pool-b",
		},
		"a pool of none is done": {
			[]edit{
				claimed, granted("cp"), finished("cp"),
				change("pool-a", func(o *cluster.Owner) { o.Replicas, o.Machines = 0, nil }),
			},
			"Progressing Starting GrantOwner MachineDeployment/pool-b",
		},
		"only workers": {
			[]edit{claimed, order(policy.WorkersOnly)}, "Progressing Starting GrantOwner MachineDeployment/pool-a",
		},
		"only the control plane": {
			[]edit{claimed, order(policy.ControlPlaneOnly), finished("cp")}, "Verifying SecondRead",
		},
		"not beside another owner at work": {
			[]edit{claimed, granted("pool-a"), machine("pool-a", 0, busy)}, "Progressing WaitingForOwner",
		},
		"a paused owner is left alone": {
			[]edit{claimed, granted("cp"), finished("cp"), change("pool-a", func(o *cluster.Owner) { o.Paused = true })},
			"Holding OwnerPaused",
		},
		"an owner with another plan": {
			[]edit{claimed, granted("cp"), change("cp", func(o *cluster.Owner) { o.PlanMatches = false })},
			"Progressing Starting GrantOwner CK8sControlPlane/cp",
		},
		"an owner that the engine has just let go of is not granted again at once": {
			[]edit{claimed, granted("cp"), change("cp", func(o *cluster.Owner) { o.HasTo = false })},
			"Progressing MachineNotProven",
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestLaw11WithdrawOwnersBeforeMachinesAndLeaveNothing(t *testing.T) {
	for name, tc := range map[string]row{
		"the target of an owner in flight is not changed": {
			[]edit{
				claimed, granted("cp"), machine("cp", 0, busy),
				change("cp", func(o *cluster.Owner) { o.To = "channel=other" }),
			},
			"Holding WaitingForMachine",
		},
		"nor that of somebody else's": {[]edit{machine("cp", 0, busy)}, "Pending ForeignUpgrade"},
		"a quarantined machine takes the owner back": {
			[]edit{claimed, granted("cp"), machine("cp", 0, lost)},
			"Failed MachineQuarantined WithdrawOwner CK8sControlPlane/cp",
		},
		"the last granted first": {
			[]edit{claimed, granted("cp"), granted("pool-a"), intent(policy.Withdraw)},
			"Holding Withdrawing WithdrawOwner MachineDeployment/pool-a",
		},
		"then no machine begins that was asked to": {
			[]edit{claimed, was(policy.Failed), machine("cp", 0, lost)}, "Failed Before SetPermission",
		},
		"then what is in flight finishes": {
			[]edit{claimed, was(policy.Failed), machine("cp", 1, busy)}, "Failed Before",
		},
		"then the rest goes": {[]edit{claimed, was(policy.Failed), machine("cp", 1, marked)}, "Failed Before Settle"},
		"then the claim": {
			[]edit{claimed, was(policy.Failed), permitted(time.Time{})}, "Failed Before ReleaseClaim",
		},
		"and that is it":      {[]edit{was(policy.Failed)}, "Failed Before"},
		"withdrawn":           {[]edit{claimed, unclaimed, intent(policy.Withdraw)}, "Skipped Withdrawn"},
		"withdrawn in flight": {[]edit{claimed, machine("cp", 1, busy), intent(policy.Withdraw)}, "Holding Withdrawing"},
		"withdrawn and paused": {
			[]edit{claimed, paused, granted("cp"), intent(policy.Withdraw)},
			"Holding Withdrawing WithdrawOwner CK8sControlPlane/cp",
		},
		"a machine that failed for somebody else is no failure of ours": {
			[]edit{machine("cp", 1, func(m *cluster.Machine) { m.Quarantined = true })}, "Progressing Starting TakeClaim",
		},
		"marks of somebody else do not make us claim a cluster that is done": {
			[]edit{finished("cp", "pool-a", "pool-b"), machine("cp", 1, marked), proven(noon.Add(-time.Minute))},
			"Succeeded Proven",
		},
		"marks of somebody else are left alone": {
			[]edit{machine("cp", 1, marked), intent(policy.Wait)}, "Pending Waiting",
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestHoldsAndPermissions(t *testing.T) {
	for name, tc := range map[string]row{
		"a hold shortens the permission": {
			[]edit{claimed, granted("cp"), intent(policy.Hold)}, "Holding OnHold SetPermission",
		},
		"once": {
			[]edit{claimed, granted("cp"), permitted(noon), intent(policy.Hold)}, "Holding OnHold",
		},
		"of a paused cluster, too": {
			[]edit{claimed, granted("cp"), paused, intent(policy.Hold)}, "Holding OnHold SetPermission",
		},
		"a hold says why": {
			[]edit{claimed, granted("cp"), permitted(noon), intent(policy.Hold), heldFor("Frozen")}, "Holding Frozen",
		},
		"a hold before it began": {[]edit{intent(policy.Hold)}, "Pending OnHold"},
		"a hold after all is done ends": {
			[]edit{claimed, permitted(noon), granted("cp"), finished("cp", "pool-a", "pool-b"), intent(policy.Hold)},
			"Verifying SecondRead",
		},
		"the end of the intent is a hold": {
			[]edit{claimed, granted("cp"), permitted(noon), notAfter(noon)}, "Holding IntentEnded",
		},
		"a paused cluster gets no write": {[]edit{claimed, paused}, "Holding ClusterPaused"},
		"nor before it began":            {[]edit{paused}, "Deferred ClusterPaused"},
		"renewed at half time": {
			[]edit{claimed, granted("cp"), permitted(noon.Add(30 * time.Minute))}, "Progressing Upgrading SetPermission",
		},
		"not before": {
			[]edit{claimed, granted("cp"), permitted(noon.Add(31 * time.Minute))}, "Progressing Upgrading",
		},
		"not beyond the intent": {
			[]edit{claimed, granted("cp"), permitted(noon.Add(5 * time.Minute)), notAfter(noon.Add(5 * time.Minute))},
			"Progressing Upgrading",
		},
		"shortened when the intent ends earlier": {
			[]edit{claimed, granted("cp"), permitted(noon.Add(50 * time.Minute)), notAfter(noon.Add(5 * time.Minute))},
			"Progressing Upgrading SetPermission",
		},
		"shortened when it reaches too far": {
			[]edit{claimed, granted("cp"), permitted(noon.Add(50 * time.Hour))}, "Progressing Upgrading SetPermission",
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestSecondReadThenCleanUpThenSuccess(t *testing.T) {
	all := finished("cp", "pool-a", "pool-b")
	marks := []edit{claimed, granted("cp"), granted("pool-a"), granted("pool-b"), all}
	for name, tc := range map[string]row{
		"proven for the first time": {marks, "Verifying SecondRead"},
		"not long enough":           {append(marks, proven(noon.Add(-9*time.Second))), "Verifying SecondRead"},
		"long enough":               {append(marks, proven(noon.Add(-10*time.Second))), "Verifying Settling Settle"},
		"then the claim": {
			[]edit{claimed, permitted(time.Time{}), all, proven(noon.Add(-time.Minute))},
			"Verifying Settling ReleaseClaim",
		},
		"then it has succeeded": {[]edit{all, proven(noon.Add(-time.Minute))}, "Succeeded Proven"},
		"the engine is not done yet": {
			append(marks, change("pool-b", func(o *cluster.Owner) { o.HasTo, o.To = true, text })),
			"Progressing Upgrading",
		},
		"a machine is asked once more": {append(marks, machine("cp", 0, busy)), "Progressing Upgrading"},
	} {
		t.Run(name, tc.check)
	}
	o := idle()
	all(&o)
	find(&o, "pool-a").Machines[0].Architecture, find(&o, "pool-a").Machines[0].Kubelet = "arm64", "v1.33.10"
	o.ProvenSince = noon.Add(-time.Minute)
	want := map[string]string{"amd64": "v1.33.9", "arm64": "v1.33.10"}
	if diff := cmp.Diff(want, cluster.Next(o, noon).Versions); diff != "" {
		t.Errorf("versions reached (-want +got):\n%s", diff)
	}
}

func TestLaw17AnEngineThatDoesNotMoveIsNamed(t *testing.T) {
	o := idle()
	claimed(&o)
	granted("cp")(&o)
	early := cluster.Next(o, noon.Add(59*time.Second))
	late := cluster.Next(o, early.Recheck)
	if early.Reason != cluster.ReasonUpgrading || late.Reason != cluster.ReasonWaitingForEngine ||
		!strings.Contains(late.Message, "CK8sControlPlane/cp") {
		t.Errorf("early %v, late %v: %s", early, late, late.Message)
	}
	find(&o, "cp").MovedAt = noon.Add(time.Minute)
	if moved := cluster.Next(o, early.Recheck); moved.Reason != cluster.ReasonUpgrading {
		t.Errorf("after a machine ended: %v", moved)
	}
	find(&o, "cp").EngineWaits = "RolloutRunning: control plane cp is replacing its machines"
	if waits := cluster.Next(o, noon); waits.Reason != cluster.ReasonEngineWaits ||
		waits.Message != "CK8sControlPlane/cp: RolloutRunning: control plane cp is replacing its machines" {
		t.Errorf("while the engine waits: %v: %s", waits, waits.Message)
	}
	find(&o, "cp").EngineError = "plan: unknown field"
	if wrong := cluster.Next(o, noon); wrong.Reason != cluster.ReasonEngineError ||
		!strings.Contains(wrong.Message, "unknown field") {
		t.Errorf("with an error: %v: %s", wrong, wrong.Message)
	}
}

func TestStepsTellWhatTheCallerNeeds(t *testing.T) {
	o := idle()
	first := cluster.Next(o, noon)
	if !first.Starts || first.Settled || !first.Recheck.Equal(noon) || first.Wait(noon) != time.Millisecond {
		t.Errorf("the first write: %+v", first)
	}
	claimed(&o)
	permitted(time.Time{})(&o)
	if step := cluster.Next(o, noon.Add(time.Millisecond)); !step.Until.Equal(noon.Add(time.Hour)) || step.Starts {
		t.Errorf("the permission: %+v", step)
	}
	o = idle()
	o.Intent = policy.Wait
	if step := cluster.Next(o, noon); !step.Settled || step.Wait(noon) != 0 || step.String() != "Pending(Waiting)" {
		t.Errorf("a waiting cluster: %+v", step)
	}
	claimed(&o)
	o.Intent = policy.Run
	granted("cp")(&o)
	machine("cp", 1, lost)(&o)
	step := cluster.Next(o, noon)
	want := "Failed(MachineQuarantined) do=WithdrawOwner owner=CK8sControlPlane/cp machine=cp-1"
	if step.String() != want || step.LastError != "snap refused" || step.Settled {
		t.Errorf("a failure: %s %+v", step, step)
	}
}

// TestLaw17AHoldIsToldInTheWordsOfTheRollout: why, and until when, or that a person must act.
func TestLaw17AHoldIsToldInTheWordsOfTheRollout(t *testing.T) {
	o := idle()
	for _, edit := range []edit{claimed, granted("cp"), permitted(noon), intent(policy.Hold)} {
		edit(&o)
	}
	o.Held = policy.Waiting{Reason: policy.ReasonWindowClosed, Message: "closed until then", Until: noon.Add(time.Hour)}
	step := cluster.Next(o, noon)
	if step.Reason != policy.ReasonWindowClosed || step.Message != "closed until then" ||
		!step.WaitUntil.Equal(noon.Add(time.Hour)) || step.Act {
		t.Errorf("with an end: %+v", step)
	}
	o.Held.Until = time.Time{}
	if step := cluster.Next(o, noon); !step.Act || !step.WaitUntil.IsZero() {
		t.Errorf("without an end a person must act: %+v", step)
	}
}
