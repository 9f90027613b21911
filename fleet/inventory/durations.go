// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// measured is one machine that was upgraded: how long it took, and when it ended.
type measured struct {
	took time.Duration
	at   metav1.Time
}

// Durations adds to what was measured of a cluster's machines what its ClusterUpgrades measured since.
func Durations(before []fleetv1.RoleDuration, upgrades []fleetv1.ClusterUpgrade) []fleetv1.RoleDuration {
	var next []fleetv1.RoleDuration
	for _, role := range [...]fleetv1.OwnerRole{fleetv1.RoleControlPlane, fleetv1.RoleWorkers} {
		d := fleetv1.RoleDuration{Role: role}
		if i := slices.IndexFunc(before, func(d fleetv1.RoleDuration) bool { return d.Role == role }); i >= 0 {
			d = *before[i].DeepCopy()
		}
		for _, m := range since(d.MeasuredAt, role, upgrades) {
			d.Samples++
			d.Recent = append(d.Recent, int32(m.took/time.Second))
			d.MeasuredAt = m.at.DeepCopy()
		}
		if d.Samples == 0 {
			continue
		}
		d.Recent = d.Recent[max(0, len(d.Recent)-fleetv1.MaxRecentDurations):]
		of := make([]time.Duration, 0, len(d.Recent))
		for _, s := range d.Recent {
			of = append(of, time.Duration(s)*time.Second)
		}
		d.P90 = metav1.Duration{Duration: cluster.P90(of)}
		next = append(next, d)
	}
	return next
}

// since are the machines of a role that ended after an instant, in the order in which they ended. What took longer than
// all its attempts may take was not watched, and is left out.
func since(last *metav1.Time, role fleetv1.OwnerRole, upgrades []fleetv1.ClusterUpgrade) []measured {
	var all []measured
	for i := range upgrades {
		cu := &upgrades[i]
		longest := cu.Spec.Upgrade.Machine.Timeout.Duration * time.Duration(cu.Spec.Upgrade.Machine.MaxAttempts)
		of := map[string]bool{}
		for _, o := range cu.Status.Owners {
			of[o.Name] = of[o.Name] || o.Role == role
		}
		for _, m := range cu.Status.Machines {
			if m.StartedAt == nil || m.EndedAt == nil || !of[m.Owner] || last != nil && !m.EndedAt.After(last.Time) || gaveUp(cu, m) {
				continue
			}
			if took := m.EndedAt.Sub(m.StartedAt.Time); took > 0 && took <= longest {
				all = append(all, measured{took, *m.EndedAt})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b measured) int {
		return cmp.Or(a.at.Compare(b.at.Time), cmp.Compare(a.took, b.took))
	})
	return all
}

// gaveUp: the machine ended without its target.
func gaveUp(cu *fleetv1.ClusterUpgrade, m fleetv1.MachineProgress) bool {
	return !slices.ContainsFunc(cu.Spec.Owners, func(o fleetv1.UpgradeOwner) bool { return o.Target == m.Release })
}
