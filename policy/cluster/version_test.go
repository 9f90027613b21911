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

// runs gives the machines of an owner a version.
func runs(name, kubelet string) edit {
	return change(name, func(o *cluster.Owner) {
		for i := range o.Machines {
			o.Machines[i].Kubelet = kubelet
		}
	})
}

// wants gives an owner another target.
func wants(name, version string) edit {
	return change(name, func(o *cluster.Owner) { o.Target, o.Version = "channel="+version[1:]+"-classic/stable", version })
}

func TestLaw19VersionsInOneCluster(t *testing.T) {
	workers := order(policy.WorkersOnly)
	every := func(version string) edit {
		return func(o *cluster.Observation) {
			for _, name := range []string{"cp", "pool-a", "pool-b"} {
				wants(name, version)(o)
			}
		}
	}
	var ahead []edit
	for _, name := range []string{"pool-a", "pool-b"} {
		ahead = append(ahead, runs(name, "v1.34.1"))
	}
	for name, r := range map[string]row{
		"C121: a new target waits for the machine that the old one has in flight": {
			[]edit{claimed, granted("cp"), machine("cp", 0, busy), wants("cp", "v1.34")}, "Holding WaitingForMachine",
		},
		"C121: a control plane does not move on before workers would be too old for it": {
			[]edit{every("v1.34"), runs("cp", "v1.33.9"), runs("pool-a", "v1.30.4"), runs("pool-b", "v1.33.9")},
			"Pending SkewTooWide",
		},
		"C121: three minors of difference are allowed": {
			[]edit{every("v1.34"), runs("cp", "v1.33.9"), runs("pool-a", "v1.31.4"), runs("pool-b", "v1.33.9")},
			"Progressing Starting TakeClaim",
		},
		"C121: workers of another upgrade finish first": {
			[]edit{machine("pool-a", 0, busy)}, "Pending ForeignUpgrade",
		},
		"C122: a control plane never jumps a minor": {
			[]edit{every("v1.33"), runs("cp", "v1.31.4")}, "Pending SkewTooWide",
		},
		"C122: nor half-way, when a machine has been left behind": {
			[]edit{claimed, every("v1.33"), machine("cp", 1, func(m *cluster.Machine) { m.Kubelet = "v1.31.4" })},
			"Holding SkewTooWide",
		},
		"C123: workers wait for the control plane": {
			[]edit{workers, every("v1.33"), runs("cp", "v1.32.8")}, "Pending ControlPlaneBehind",
		},
		"C123: for what it runs, not for what it should": {
			[]edit{workers, every("v1.33"), machine("cp", 2, func(m *cluster.Machine) { m.Kubelet = "v1.32.8" })},
			"Pending ControlPlaneBehind",
		},
		"C123: and for what is not known of it": {
			[]edit{workers, every("v1.33"), machine("cp", 2, func(m *cluster.Machine) { m.Kubelet = "" })},
			"Pending ControlPlaneBehind",
		},
		"C123: half-way too": {
			[]edit{claimed, workers, every("v1.33"), finished("pool-a"), runs("cp", "v1.32.8")}, "Holding ControlPlaneBehind",
		},
		"C123: with the control plane there they begin": {[]edit{workers, every("v1.33")}, "Progressing Starting TakeClaim"},
		"C123: workers that are ahead do not keep the control plane from its upgrade": {
			append([]edit{every("v1.34"), runs("cp", "v1.33.9"), claimed}, ahead...), "Progressing Starting GrantOwner CK8sControlPlane/cp",
		},
	} {
		t.Run(name, r.check)
	}
}

// TestC122AClusterGoesOnAtAMachineOverItsWindows, each long enough for two machines, and the hub starts anew between them:
// what it stored is all that it knows. A cluster several minors behind is refused by the plan (package policy).
func TestC122AClusterGoesOnAtAMachineOverItsWindows(t *testing.T) {
	w := &world{o: idle(), now: noon}
	var done []int
	for window := range 4 {
		begins := noon.Add(time.Duration(window) * 24 * time.Hour)
		w.now = begins
		w.o.Intent, w.o.NotAfter = policy.Run, begins.Add(150*time.Second)
		restarted := w.o // nothing else survives
		w.o = restarted
		for range 6 {
			if step := w.settle(t); step.Phase == policy.Succeeded {
				break
			}
			w.engine()
		}
		w.o.Intent, w.o.NotAfter = policy.Hold, time.Time{}
		w.settle(t)
		if window == 0 && w.o.Phase != policy.Holding {
			t.Errorf("the first window is over: %s(%s)", w.o.Phase, w.o.Reason)
		}
		count := 0
		for _, o := range w.o.Owners {
			count += len(slices.DeleteFunc(slices.Clone(o.Machines), func(m cluster.Machine) bool { return !m.Proven.Good() }))
		}
		done = append(done, count)
	}
	if diff := cmp.Diff([]int{2, 3, 5, 6}, done); diff != "" {
		t.Errorf("machines done by the end of each window (-want +got):\n%s\n%s", diff, w.log.String())
	}
	if w.o.Phase != policy.Succeeded || w.refreshes != 6 {
		t.Errorf("%s after %d refreshes of 6 machines\n%s", w.o.Phase, w.refreshes, w.log.String())
	}
}
