// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// before is a cluster all of whose machines carry the target, from nobody knows when.
func before(owners []cluster.Owner) {
	for i := range owners {
		owners[i].Stale = true
		for k := range owners[i].Machines {
			m := &owners[i].Machines[k]
			m.Release, m.Kubelet, m.Proven = text, latest, cluster.Verdict{Status: cluster.False, Message: "may be of before"}
		}
	}
}

// TestLaw3EachMachineIsRefreshedOnceMoreAfterAnInstant, by an engine and by a provider, and no machine twice.
func TestLaw3EachMachineIsRefreshedOnceMoreAfterAnInstant(t *testing.T) {
	t.Run("by an engine", func(t *testing.T) {
		w := &world{o: idle(), now: noon}
		before(w.o.Owners)
		for range 40 {
			if step := w.settle(t); step.Phase == policy.Succeeded && step.Settled {
				break
			}
			w.engine()
		}
		if w.o.Phase != policy.Succeeded || w.refreshes != 6 {
			t.Errorf("%s after %d refreshes of 6 machines\n%s", w.o.Phase, w.refreshes, w.log.String())
		}
	})
	t.Run("by a provider", func(t *testing.T) {
		w := granting()
		before(w.o.Owners)
		w.play(t, 2*time.Hour, 5*time.Second)
		if w.o.Phase != policy.Succeeded {
			t.Errorf("%s\n%s", w.o.Phase, w.log.String())
		}
		for name, n := range w.nodes {
			if n.posts != 1 {
				t.Errorf("%s was refreshed %d times\n%s", name, n.posts, w.log.String())
			}
		}
	})
}

func TestLaw3WhatIsOfBeforeIsNotDone(t *testing.T) {
	stale := change("cp", func(o *cluster.Owner) { before([]cluster.Owner{*o}); o.Stale = true })
	bare := func(o *cluster.Observation) {
		for i := range find(o, "cp").Machines {
			find(o, "cp").Machines[i].Release = ""
		}
	}
	workers := finished("pool-a", "pool-b")
	for name, r := range map[string]row{
		"the release comes off first": {
			[]edit{claimed, workers, finished("cp"), stale}, "Progressing Starting ClearReleases CK8sControlPlane/cp",
		},
		"then it is granted":             {[]edit{claimed, workers, finished("cp"), stale, bare}, "Progressing Starting GrantOwner CK8sControlPlane/cp"},
		"not without a claim":            {[]edit{workers, finished("cp"), stale}, "Progressing Starting TakeClaim"},
		"not under a hold":               {[]edit{claimed, permitted(noon), workers, finished("cp"), stale, intent(policy.Hold)}, "Holding OnHold"},
		"a withdrawal takes nothing off": {[]edit{claimed, permitted(noon), workers, finished("cp"), stale, intent(policy.Withdraw)}, "Holding Withdrawing Settle"},
		"nothing begins before the instant": {
			[]edit{stale, func(o *cluster.Observation) { o.NotBefore = noon.Add(time.Second) }}, "Pending Waiting",
		},
		"but at it": {[]edit{stale, func(o *cluster.Observation) { o.NotBefore = noon }}, "Progressing Starting TakeClaim"},
	} {
		t.Run(name, r.check)
	}
	o := idle()
	for _, edit := range []edit{claimed, workers, finished("cp"), stale, bare} {
		edit(&o)
	}
	if step := cluster.Next(o, noon); step.Cleared != "CK8sControlPlane/cp" {
		t.Errorf("that no machine carries the release is to be stored before the grant: %+v", step)
	}
	o.Claim = cluster.Claim{}
	if step := cluster.Next(o, noon); step.Cleared != "" {
		t.Errorf("stored without a grant: %+v", step)
	}
}
