// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
)

// single: a control plane that has no quorum without one of its machines may be upgraded.
func single(cu *fleetv1.ClusterUpgrade, w member.World) bool {
	switch cu.Spec.Upgrade.SingleControlPlane {
	case fleetv1.SingleControlPlaneAllow:
		return true
	case fleetv1.SingleControlPlaneAllowMarked:
		return w.Cluster.Annotations[fleetv1.AllowSingleControlPlaneAnnotation] == "true"
	case fleetv1.SingleControlPlaneRefuse:
	}
	return false
}

// planFor is what the engine needs to know of one owner.
func planFor(cu *fleetv1.ClusterUpgrade, o fleetv1.UpgradeOwner, w member.World) protocol.Plan {
	u := cu.Spec.Upgrade
	p := protocol.Plan{
		ExpectedVersion: o.Version,
		Timeout:         protocol.Duration(u.Machine.Timeout.Duration),
		MaxAttempts:     int(u.Machine.MaxAttempts),
		Backoff:         protocol.Duration(u.Machine.Backoff.Duration),
	}
	if o.Role == fleetv1.RoleWorkers {
		p.MaxConcurrentMachines = int(u.MaxConcurrentMachines)
	} else {
		p.AllowSingleControlPlane = single(cu, w)
	}
	return p.WithDefaults()
}
