// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// copied is a world of its own in the state of another.
func (w *world) copied() *world {
	c := &world{o: w.o, now: w.now, refreshes: w.refreshes}
	c.o.Owners = slices.Clone(c.o.Owners)
	for i := range c.o.Owners {
		c.o.Owners[i].Machines = slices.Clone(c.o.Owners[i].Machines)
	}
	return c
}

// through plays a world to its end.
func (w *world) through(t fataler) {
	t.Helper()
	for range 40 {
		if step := w.settle(t); step.Phase.Ended() && step.Settled {
			return
		}
		w.engine()
	}
}

// TestC131AHubThatStartsAnewGoesOnFromEveryState: killed after it stored what it was about to do, and after it did it, at
// each step of a whole upgrade. No machine is refreshed twice for that.
func TestC131AHubThatStartsAnewGoesOnFromEveryState(t *testing.T) {
	w := &world{o: idle(), now: noon}
	states, seen := 0, map[cluster.Action]bool{}
	for range 200 {
		step := cluster.Next(w.o, w.now)
		w.keep(step)
		killed := []*world{w.copied()} // stored, not done
		w.act(step)
		killed = append(killed, w.copied()) // done, nobody knows
		for _, k := range killed {
			states++
			k.through(t)
			if k.o.Phase != policy.Succeeded || !k.o.Settled || k.refreshes != 6 || k.o.Claim.State != cluster.ClaimNone {
				t.Fatalf("killed at %v: ends as %s(%s) after %d refreshes\n%s", step, k.o.Phase, k.o.Reason, k.refreshes, k.log.String())
			}
		}
		seen[step.Action] = true
		if step.Phase == policy.Succeeded && step.Settled {
			break
		}
		if step.Action == cluster.None {
			w.engine()
		}
	}
	for _, a := range []cluster.Action{
		cluster.TakeClaim, cluster.SetPermission, cluster.GrantOwner, cluster.None, cluster.Settle, cluster.ReleaseClaim,
	} {
		if !seen[a] || states < 20 {
			t.Errorf("never killed at %s (%d states)", a, states)
		}
	}
}

// TestC131AHubThatStartsAnewTakesBackFromEveryState: the same when it is to withdraw on its return.
func TestC131AHubThatStartsAnewTakesBackFromEveryState(t *testing.T) {
	w := &world{o: idle(), now: noon}
	for range 200 {
		step := cluster.Next(w.o, w.now)
		w.keep(step)
		w.act(step)
		k := w.copied()
		k.o.Intent = policy.Withdraw
		k.through(t)
		if !k.o.Phase.Ended() || !k.o.Settled || k.o.Claim.State != cluster.ClaimNone || !k.o.StartBefore.IsZero() {
			t.Fatalf("killed at %v: %s(%s), claim %s\n%s", step, k.o.Phase, k.o.Reason, k.o.Claim.State, k.log.String())
		}
		if step.Phase == policy.Succeeded && step.Settled {
			return
		}
		if step.Action == cluster.None {
			w.engine()
		}
	}
	t.Fatal("not through")
}

// TestC127OneGoodReadIsNoSuccess: an owner whose numbers lag looks done for two seconds.
func TestC127OneGoodReadIsNoSuccess(t *testing.T) {
	w := &world{o: idle(), now: noon}
	for _, edit := range []edit{claimed, permitted(noon), finished("cp", "pool-a", "pool-b")} {
		edit(&w.o)
	}
	w.settle(t)
	w.now = noon.Add(2 * time.Second)
	machine("pool-a", 1, func(m *cluster.Machine) {
		m.Kubelet, m.Release, m.Proven = old, "", cluster.Verdict{Status: cluster.False}
	})(&w.o)
	if step := w.settle(t); step.Phase != policy.Progressing || !w.o.ProvenSince.IsZero() {
		t.Errorf("after two seconds: %v, proven since %s", step, w.o.ProvenSince)
	}
	finished("pool-a")(&w.o)
	w.now = noon.Add(time.Minute)
	if step := w.settle(t); step.Phase != policy.Verifying {
		t.Errorf("proven anew it is read once more, too: %v", step)
	}
	w.now = w.now.Add(cluster.SecondRead - 1)
	if step := w.settle(t); step.Phase != policy.Verifying {
		t.Errorf("too early: %v", step)
	}
	w.now = w.now.Add(1)
	if step := w.settle(t); step.Phase != policy.Succeeded {
		t.Errorf("%v", step)
	}
}

func TestCasesOfOneCluster(t *testing.T) {
	half := func(o *cluster.Observation) { // pool-b of three, one of which is done
		*find(o, "pool-b") = owner(cluster.Workers, "MachineDeployment", "pool-b", 3)
		m := &find(o, "pool-b").Machines[0]
		m.Release, m.Kubelet, m.Proven = text, latest, cluster.Verdict{Status: cluster.True}
	}
	through := finished("cp", "pool-a")
	for name, r := range map[string]row{
		"C091: what another policy left in flight is waited for": {[]edit{machine("cp", 0, busy)}, "Pending ForeignUpgrade"},
		"C091: what it left behind is no obstacle":               {[]edit{machine("cp", 0, marked)}, "Progressing Starting TakeClaim"},
		"C091: what it has done counts by the kubelet": {
			[]edit{claimed, machine("cp", 0, func(m *cluster.Machine) { m.Release = text })},
			"Progressing Starting GrantOwner CK8sControlPlane/cp",
		},
		"C091: the claim that it left is somebody's": {[]edit{foreign}, "Pending ClaimedByOther"},
		"C092: no success while a pool is to have more machines": {
			[]edit{claimed, permitted(noon), through, finished("pool-b"), change("pool-a", func(o *cluster.Owner) { o.Replicas = 5 })},
			"Progressing OwnerScaling SetPermission",
		},
		"C092: nor while a machine that came is old": {
			[]edit{claimed, through, finished("pool-b"), change("pool-a", func(o *cluster.Owner) {
				o.Replicas, o.Machines = 3, append(o.Machines, owner(cluster.Workers, "", "late", 1).Machines...)
			})}, "Progressing Starting GrantOwner MachineDeployment/pool-a",
		},
		"C092: nor while a new pool is": {
			[]edit{claimed, through, finished("pool-b"), func(o *cluster.Observation) {
				o.Owners = append(o.Owners, owner(cluster.Workers, "MachineDeployment", "pool-new", 1))
			}}, "Progressing Starting GrantOwner MachineDeployment/pool-new",
		},
		"C152: one pool that failed fails the cluster": {
			[]edit{claimed, through, half, granted("pool-b"), machine("pool-b", 1, lost)},
			"Failed MachineQuarantined WithdrawOwner MachineDeployment/pool-b",
		},
		"C152: one that is not through keeps it from success": {
			[]edit{claimed, through, half, granted("pool-b"), machine("pool-b", 1, busy)}, "Progressing Upgrading",
		},
	} {
		t.Run(name, r.check)
	}
}

// TestC133StampsOfAMemberDecideNothing: they are ten minutes off, either way, or nothing at all.
func TestC133StampsOfAMemberDecideNothing(t *testing.T) {
	var first *cluster.Step
	for _, stamp := range []string{
		noon.Format(time.RFC1123Z), noon.Add(10 * time.Minute).Format(time.RFC1123Z),
		noon.Add(-10 * time.Minute).Format(time.RFC1123Z), "soon",
	} {
		w := granting()
		m := w.at("cp-1", time.Minute, inFlight)
		m.Marks.Status, m.Marks.LastFailed = "failed", stamp
		w.observe()
		step := cluster.Next(w.o, w.now)
		if r := step.Records["cp-1"]; !r.FailedAt.Equal(w.now) || step.Action != cluster.RevokeMachine {
			t.Errorf("%s: failed at %s, %v", stamp, r.FailedAt, step)
		}
		if first == nil {
			first = &step
		}
		if diff := cmp.Diff(*first, step); diff != "" {
			t.Errorf("%s decides:\n%s", stamp, diff)
		}
	}
}

// TestC133TheHubsClockStepsBack during the second read, the back-off and the renewal of the permission: nothing ends early.
func TestC133TheHubsClockStepsBack(t *testing.T) {
	back := noon.Add(-5 * time.Minute)
	for name, c := range map[string]struct {
		edits []edit
		want  string
	}{
		"the second read is not taken early": {
			[]edit{claimed, permitted(noon), finished("cp", "pool-a", "pool-b"), proven(noon)}, "Verifying SecondRead",
		},
		"the permission is not renewed early": {[]edit{claimed, granted("cp"), permitted(noon.Add(time.Hour - 5*time.Minute))}, "Progressing Upgrading"},
		"a wish is honoured no longer than before": {
			[]edit{wish(cluster.Wish{Held: true}), honouredSince(noon)}, "Deferred DeferredByOwner",
		},
		"silence is not longer than it was": {[]edit{silent, func(o *cluster.Observation) { o.SilentSince = noon }}, "Pending MemberUnreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			o := idle()
			for _, edit := range c.edits {
				edit(&o)
			}
			if step := cluster.Next(o, back); string(step.Phase)+" "+step.Reason != c.want || step.Action != cluster.None {
				t.Errorf("%v", step)
			}
		})
	}
}
