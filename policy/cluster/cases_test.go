// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// did is what a step does, to whom, and why.
type did struct {
	Phase   policy.ClusterPhase
	Reason  string
	Action  cluster.Action
	Machine string
}

func of(s cluster.Step) did { return did{s.Phase, s.Reason, s.Action, s.Machine} }

// at is a machine of the cluster that was granted a while ago and carries some marks since.
func (w *provided) at(name string, ago time.Duration, marks cluster.Marks) *cluster.Machine {
	m := w.machine(name)
	m.Ours, m.Marks = true, marks
	m.Record = cluster.Record{At: w.now.Add(-ago), From: old, Seen: true}
	w.claim()
	return m
}

func (w *provided) claim() {
	w.o.Claim, w.o.StartedAt = cluster.Claim{State: cluster.ClaimOurs}, w.now.Add(-2*time.Hour)
}

// through is a cluster whose control plane is done.
func (w *provided) through() {
	for i := range 3 {
		w.finish([]string{"cp-0", "cp-1", "cp-2"}[i])
	}
}

func (w *provided) finish(name string) {
	m := w.machine(name)
	m.Release, m.Kubelet = text, latest
}

var (
	inFlight = cluster.Marks{To: text, HasTo: true, ChangeID: "17", HasChangeID: true, Status: "in-progress"}
	request  = cluster.Marks{To: text, HasTo: true}
)

// TestCasesOfGrantedMachines: what must happen at one look.
func TestCasesOfGrantedMachines(t *testing.T) {
	working := did{Phase: policy.Progressing, Reason: cluster.ReasonUpgrading, Action: cluster.None}
	grant := func(machine string) did {
		return did{policy.Progressing, cluster.ReasonStarting, cluster.GrantMachine, machine}
	}
	revoke := func(action cluster.Action) did {
		return did{policy.Progressing, cluster.ReasonMachineFailed, action, "cp-1"}
	}
	holds := func(phase policy.ClusterPhase, reason string) did {
		return did{Phase: phase, Reason: reason, Action: cluster.None}
	}
	for name, c := range map[string]struct {
		world func(*provided)
		want  did
	}{
		"C096: a machine that refreshes for another target keeps it until it has settled": {func(w *provided) {
			m := w.at("cp-1", time.Minute, inFlight)
			m.Marks.To = "channel=1.33-classic/candidate"
		}, working},
		"C096: an upgrade with another target waits for the machine of the one before": {func(w *provided) {
			w.machine("cp-1").Marks = inFlight
		}, holds(policy.Pending, policy.ReasonForeignUpgrade)},
		"C099: a change that snapd does not know is done when the node runs what was asked": {func(w *provided) {
			w.at("cp-1", 30*time.Minute, inFlight).Kubelet = latest
		}, did{policy.Progressing, cluster.ReasonUpgrading, cluster.RecordRelease, "cp-1"}},
		"C099: and is one failed attempt when it does not": {func(w *provided) {
			w.at("cp-1", 30*time.Minute, inFlight)
		}, revoke(cluster.ClearMachine)},
		"C099: it is waited for until its time is over": {func(w *provided) {
			w.at("cp-1", 30*time.Minute-time.Second, inFlight).Kubelet = latest
		}, working},
		"C100: a rolled back refresh is a failure, whatever snapd calls it": {func(w *provided) {
			m := w.at("cp-1", time.Minute, inFlight)
			m.Marks.Status = "failed"
		}, revoke(cluster.RevokeMachine)},
		"C100: a status that nobody knows is one too": {func(w *provided) {
			m := w.at("cp-1", time.Minute, inFlight)
			m.Marks.Status = "DONE"
		}, revoke(cluster.RevokeMachine)},
		"C101: a release without its kubelet is not done": {func(w *provided) {
			w.at("cp-1", 15*time.Minute, cluster.Marks{Status: "done"}).Release = text
		}, holds(policy.Progressing, cluster.ReasonMachineNotProven)},
		"C101: and a failed attempt when the kubelet does not follow in time": {func(w *provided) {
			w.at("cp-1", 30*time.Minute, cluster.Marks{Status: "done"}).Release = text
		}, holds(policy.Progressing, cluster.ReasonBackOff)},
		"C104: nothing to refresh, kubelet at target": {func(w *provided) {
			m := w.at("cp-1", time.Second, inFlight)
			m.Marks.ChangeID, m.Kubelet, m.Record.From = "", latest, latest
		}, did{policy.Progressing, cluster.ReasonUpgrading, cluster.RecordRelease, "cp-1"}},
		"C104: nothing to refresh, kubelet below": {func(w *provided) {
			w.at("cp-1", 2*time.Minute, inFlight).Marks.ChangeID = ""
		}, revoke(cluster.ClearMachine)},
		"C105: a request that failed is taken back before it is sent again": {func(w *provided) {
			m := w.at("cp-1", time.Minute, inFlight)
			m.Marks.Status, m.Marks.LastFailed = "failed", "Mon, 30 Nov 2026 12:00:00 +0000"
		}, revoke(cluster.RevokeMachine)},
		"C105: and so it is when it was sent again already": {func(w *provided) {
			w.at("cp-1", time.Minute, inFlight).Marks.LastFailed = "Mon, 30 Nov 2026 12:00:00 +0000"
		}, revoke(cluster.RevokeMachine)},
		"C106: the mark of a failure of before goes with the grant": {func(w *provided) {
			w.finish("cp-0")
			w.machine("cp-1").Marks.LastFailed = "Mon, 14 Sep 2026 02:10:00 +0000"
			w.claim()
		}, grant("cp-1")},
		"C106: one that is there after the grant is of this attempt, whatever time it says": {func(w *provided) {
			w.at("cp-1", time.Minute, inFlight).Marks.LastFailed = "2030-09-14T02:10:00+05:30"
		}, revoke(cluster.RevokeMachine)},
		"C107: an owner that says failed is no failure of the cluster": {func(w *provided) {
			w.at("cp-1", time.Minute, inFlight)
			w.o.Standing[1].Status = "failed"
		}, did{policy.Progressing, cluster.ReasonUpgrading, cluster.RetireOwner, ""}},
		"C109: the only control plane machine is left alone": {func(w *provided) {
			w.alone()
		}, holds(policy.Pending, policy.ReasonSingleControlPlane)},
		"C109: nor is one of two, which would lose their quorum": {func(w *provided) {
			cp := find(&w.o, "cp")
			cp.Machines, cp.Replicas = cp.Machines[:2], 2
		}, holds(policy.Pending, policy.ReasonSingleControlPlane)},
		"C109: unless that is allowed": {func(w *provided) {
			w.alone()
			w.claim()
			w.o.AllowSingleControlPlane = true
		}, grant("cp-0")},
		"C109: and while it is away it is in flight": {func(w *provided) {
			w.alone()
			w.o.AllowSingleControlPlane = true
			m := w.at("cp-0", 4*time.Minute, inFlight)
			m.Health, w.o.Health = cluster.Verdict{}, cluster.Verdict{}
			find(&w.o, "cp").Health = cluster.Verdict{Status: cluster.False}
		}, working},
		"C110: a control plane that is not all ready gets no machine": {func(w *provided) {
			w.claim()
			find(&w.o, "cp").Health = cluster.Verdict{Status: cluster.False, Message: "2 of 3 replicas ready"}
		}, holds(policy.Holding, policy.ReasonClusterUnhealthy)},
		"C110: a machine that was asked and is not begun is said to wait for the provider": {func(w *provided) {
			w.at("cp-1", time.Minute, request)
		}, holds(policy.Progressing, cluster.ReasonProviderWaiting)},
		"C114: no machine begins while machines are being replaced": {func(w *provided) {
			w.claim()
			w.through()
			find(&w.o, "pool").Rolling = "pool has machines in 2 MachineSets"
		}, holds(policy.Holding, cluster.ReasonRolloutDetected)},
		"C114: the one in flight goes on": {func(w *provided) {
			w.at("cp-1", time.Minute, inFlight)
			find(&w.o, "cp").Rolling = "it is replacing its machines"
		}, working},
		"C115: withdrawn, the machine in flight finishes": {func(w *provided) {
			w.at("cp-1", time.Minute, inFlight)
			w.o.Intent = policy.Withdraw
		}, holds(policy.Holding, cluster.ReasonWithdrawing)},
		"C115: withdrawn, one that has not begun does not begin": {func(w *provided) {
			w.at("cp-1", 10*time.Second, request)
			w.o.Intent = policy.Withdraw
		}, did{policy.Holding, cluster.ReasonWithdrawing, cluster.RevokeMachine, "cp-1"}},
		"C115: withdrawn, one that failed is not tried again": {func(w *provided) {
			m := w.at("cp-1", time.Hour, cluster.Marks{Status: "failed", ChangeID: "17", HasChangeID: true})
			m.Record.FailedAt = w.now.Add(-30 * time.Minute)
			w.o.Intent = policy.Withdraw
		}, did{policy.Holding, cluster.ReasonWithdrawing, cluster.Settle, ""}},

		"fault 2, 19: an owner without its machines is never done": {func(w *provided) {
			w.claim()
			w.through()
			find(&w.o, "pool").Machines = nil
		}, holds(policy.Progressing, cluster.ReasonOwnerScaling)},
		"fault 3: an owner with a release that its machines lack is retired before any other write": {func(w *provided) {
			w.claim()
			w.o.Standing[0].Release = "channel=1.31-classic/stable"
		}, did{policy.Progressing, cluster.ReasonOwnerArmed, cluster.RetireOwner, ""}},
		"fault 3: also before a machine is written down": {func(w *provided) {
			w.at("cp-1", 30*time.Minute, inFlight).Kubelet = latest
			w.o.Standing[0].Release = "channel=1.31-classic/stable"
		}, did{policy.Progressing, cluster.ReasonOwnerArmed, cluster.RetireOwner, ""}},
		"fault 3: but not before a request that failed is taken back": {func(w *provided) {
			w.at("cp-1", time.Minute, inFlight).Marks.LastFailed = "Mon, 30 Nov 2026 12:00:00 +0000"
			w.o.Standing[0].Release = "channel=1.31-classic/stable"
		}, revoke(cluster.RevokeMachine)},
		"fault 3: so it is on the way out": {func(w *provided) {
			w.claim()
			w.o.Intent, w.o.Standing[0].Release = policy.Withdraw, "channel=1.31-classic/stable"
		}, did{policy.Holding, cluster.ReasonOwnerArmed, cluster.RetireOwner, ""}},
		"fault 5, 9b: no second control plane machine beside one that somebody else has asked": {func(w *provided) {
			w.claim()
			w.machine("cp-2").Marks = request
		}, holds(policy.Holding, policy.ReasonForeignUpgrade)},
		"fault 5, 9b: nor beside one under other keys": {func(w *provided) {
			w.claim()
			w.o.Foreign = "cp-2"
		}, holds(policy.Holding, policy.ReasonForeignUpgrade)},
		"fault 6: a request that somebody has changed in flight proves nothing for it": {func(w *provided) {
			w.at("cp-1", time.Minute, cluster.Marks{Status: "done"}).Release = "channel=1.33-classic/edge"
		}, holds(policy.Progressing, cluster.ReasonBackOff)},
		"fault 7: a stale failure of a worker blocks nothing": {func(w *provided) {
			w.claim()
			w.through()
			w.machine("pool-0").Marks.LastFailed = "Mon, 14 Sep 2026 02:10:00 +0000"
		}, grant("pool-0")},
		"fault 8: a stale status of a worker blocks nothing": {func(w *provided) {
			w.claim()
			w.through()
			w.machine("pool-0").Marks.Status = "in-progress"
		}, grant("pool-0")},
		"fault 15: the next worker waits until the one before is healthy": {func(w *provided) {
			w.through()
			m := w.at("pool-0", time.Minute, cluster.Marks{Status: "done"})
			w.finish("pool-0")
			m.Health = cluster.Verdict{Status: cluster.False, Message: "not ready"}
		}, holds(policy.Progressing, cluster.ReasonMachineNotProven)},
		"fault 15: and until every other machine is": {func(w *provided) {
			w.claim()
			w.through()
			w.machine("pool-1").Health = cluster.Verdict{}
		}, holds(policy.Holding, policy.ReasonClusterUnhealthy)},
		"fault 16: no machine of a paused cluster is asked": {func(w *provided) {
			w.claim()
			w.o.Paused = true
		}, holds(policy.Holding, policy.ReasonClusterPaused)},
		"fault 16: no machine begins while one is being deleted": {func(w *provided) {
			w.claim()
			w.machine("cp-2").Deleting = true
		}, holds(policy.Holding, cluster.ReasonRolloutDetected)},
		"fault 18: an owner that is told nothing says nothing": {func(w *provided) {
			w.claim()
			w.o.Standing[1].Status = "done"
		}, did{policy.Progressing, cluster.ReasonStarting, cluster.RetireOwner, ""}},

		"law 10: none begins when the window has closed": {func(w *provided) {
			w.claim()
			w.o.NotAfter = w.now
		}, holds(policy.Holding, cluster.ReasonIntentEnded)},
		"law 10: one that was asked and has not begun by then does not begin": {func(w *provided) {
			w.at("cp-1", time.Minute, request)
			w.o.NotAfter = w.now
		}, did{policy.Holding, cluster.ReasonWithdrawing, cluster.RevokeMachine, "cp-1"}},
		"law 19: no machine is taken back to an older minor": {func(w *provided) {
			w.claim()
			w.machine("cp-0").Kubelet = "v1.34.1"
		}, holds(policy.Holding, policy.ReasonDowngrade)},
		"nobody would answer": {func(w *provided) {
			w.o.ProviderPresent = false
		}, holds(policy.Pending, policy.ReasonProviderAbsent)},
	} {
		t.Run(name, func(t *testing.T) {
			w := granting()
			c.world(w)
			w.observe()
			step := cluster.Next(w.o, w.now)
			if step.Action == cluster.None && !step.Recheck.IsZero() && !step.Recheck.After(w.now) {
				for name, n := range w.nodes { // only what is remembered has changed
					n.m.Record = step.Records[name]
				}
				step = cluster.Next(w.o, w.now)
			}
			if diff := cmp.Diff(c.want, of(step)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%+v", diff, step)
			}
		})
	}
}

// alone leaves the control plane one machine.
func (w *provided) alone() {
	cp := find(&w.o, "cp")
	cp.Machines, cp.Replicas = cp.Machines[:1], 1
}

// TestAReleaseReturnsOnlyToAnOwnerAllOfWhoseMachinesAreProvenAtIt (law 11).
func TestAReleaseReturnsOnlyToAnOwnerAllOfWhoseMachinesAreProvenAtIt(t *testing.T) {
	for name, c := range map[string]struct {
		previous string
		intent   policy.Intent
		want     string
	}{
		"of the same value":          {text, policy.Run, text},
		"of another value":           {"channel=1.31-classic/stable", policy.Run, ""},
		"not when it was withdrawn":  {text, policy.Withdraw, ""},
		"there was none at any time": {"", policy.Run, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := granting()
			for i := range w.o.Standing {
				w.o.Standing[i].Release = c.previous
			}
			w.settle(t)
			w.o.Intent = c.intent
			w.play(t, time.Hour, 5*time.Second)
			for _, s := range w.o.Standing {
				if s.Release != c.want {
					t.Errorf("%s has release %q\n%s", s.ID, s.Release, w.log.String())
				}
			}
		})
	}
}
