// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy/cluster"
)

// TestLaw10NoMachineBeginsUntilAnInstantThatIsNotItsOwn: workers take longer than a control plane machine, and the end of the
// intent is that of the role that was next when it was written.
func TestLaw10NoMachineBeginsUntilAnInstantThatIsNotItsOwn(t *testing.T) {
	until := func(role cluster.Role) edit {
		return func(o *cluster.Observation) { o.NotAfter, o.NotAfterFor = noon.Add(time.Hour), role }
	}
	perMachine := func(o *cluster.Observation) {
		o.PerMachine, o.ProviderPresent = true, true
		for i := range o.Owners {
			for k := range o.Owners[i].Machines {
				o.Owners[i].Machines[k].Health = cluster.Verdict{Status: cluster.True}
			}
		}
	}
	done := finished("cp")
	for name, r := range map[string]row{
		"workers wait where it is of the control plane": {
			[]edit{claimed, done, until(cluster.ControlPlane)}, "Progressing WindowUnknown",
		},
		"and begin where it is of theirs": {
			[]edit{claimed, done, until(cluster.Workers)}, "Progressing Starting GrantOwner MachineDeployment/pool-a",
		},
		"or of any": {[]edit{claimed, done, until("")}, "Progressing Starting GrantOwner MachineDeployment/pool-a"},
		"a control plane that is worked on once more waits, too": {
			[]edit{claimed, until(cluster.Workers)}, "Progressing WindowUnknown",
		},
		"nothing is written to a cluster that has not begun": {[]edit{until(cluster.NoRole)}, "Pending WindowUnknown"},
		"what was granted goes on": {
			[]edit{claimed, granted("cp"), machine("cp", 0, busy), until(cluster.Workers)}, "Progressing Upgrading",
		},
		"without an end there is nothing to wait for": {
			[]edit{claimed, done, func(o *cluster.Observation) { o.NotAfterFor = cluster.ControlPlane }},
			"Progressing Starting GrantOwner MachineDeployment/pool-a",
		},
		"machines that are granted one by one wait": {
			[]edit{claimed, perMachine, until(cluster.Workers)}, "Progressing WindowUnknown",
		},
		"and begin when it is theirs": {
			[]edit{claimed, perMachine, until(cluster.ControlPlane)}, "Progressing Starting GrantMachine CK8sControlPlane/cp",
		},
	} {
		t.Run(name, r.check)
	}
}
