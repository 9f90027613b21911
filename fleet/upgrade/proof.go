// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"slices"
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// stale: what its machines carry proves nothing as long as it may be of before this upgrade, since no mark tells when a
// refresh ended (law 3). Its releases are taken off; who carries one after that was refreshed.
func stale(cu *fleetv1.ClusterUpgrade, o *cluster.Owner) {
	after := cu.Spec.Upgrade.RefreshedAfter
	cleared := slices.ContainsFunc(cu.Status.Owners, func(p fleetv1.OwnerProgress) bool {
		return p.Kind == o.Kind && p.Name == o.Name && p.ClearedAt != nil
	})
	if after == nil || cleared || len(o.Machines) == 0 {
		return
	}
	o.Stale = true
	for i := range o.Machines {
		if m := &o.Machines[i]; m.Proven.Status != cluster.False {
			m.Proven = cluster.Verdict{Status: cluster.False, Message: "machine " + m.Name + " is not known to have been refreshed " +
				"after " + after.UTC().Format(time.RFC3339) + " (refreshedAfter)"}
		}
	}
}

// carrying are the machines of an owner that carry its target's release.
func (s *scene) carrying(id string) []capi.Machine {
	var names []string
	for _, o := range s.observation.Owners {
		for _, m := range o.Machines {
			if o.ID() == id && m.Release == o.Target {
				names = append(names, m.Name)
			}
		}
	}
	return s.named(names)
}

// peers withdraws the proof of machines whose kubelet is older than that of proven peers of the same architecture, where
// the expected version names only a minor: two patches of it cannot both be what the target means. It returns the
// version that those must reach; empty: there are none.
func peers(machines []cluster.Machine, expected string) (behind string) {
	if !capi.OnlyMinor(expected) {
		return ""
	}
	newest := map[string]string{}
	for _, m := range machines {
		if m.Proven.Good() && (newest[m.Architecture] == "" || capi.Fits(m.Kubelet, newest[m.Architecture])) {
			newest[m.Architecture] = m.Kubelet
		}
	}
	for i, m := range machines {
		if n := newest[m.Architecture]; m.Proven.Good() && m.Kubelet != n {
			behind = n
			machines[i].Proven = cluster.Verdict{
				Status:  cluster.False,
				Message: "machine " + m.Name + " runs kubelet " + m.Kubelet + ", its peers run " + n,
			}
		}
	}
	return behind
}
