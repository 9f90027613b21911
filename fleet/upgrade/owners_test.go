// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
)

// A cluster is not done while machines of a pool that joined after planning are not proven.
func TestPoolsThatJoinedAfterPlanningAreUpgradedToo(t *testing.T) {
	const target, version = "channel=1.33-classic/stable", "v1.33.9"
	owner := func(kind, name string, role fleetv1.OwnerRole) fleetv1.UpgradeOwner {
		return fleetv1.UpgradeOwner{Kind: kind, Name: name, Role: role, Target: target, Version: version}
	}
	cp := owner("CK8sControlPlane", "cp", fleetv1.RoleControlPlane)
	old := owner("MachineDeployment", "old", fleetv1.RoleWorkers)
	late := owner("MachineDeployment", "late", fleetv1.RoleWorkers)
	var w member.World
	for _, name := range []string{"late", "old"} {
		w.Pools = append(w.Pools, member.Placed[capi.MachineDeployment]{
			GVK:    schema.GroupVersionKind{Kind: "MachineDeployment"},
			Object: capi.MachineDeployment{Meta: capi.Meta{Name: name}},
		})
	}
	for name, test := range map[string]struct {
		order         fleetv1.Order
		planned, want []fleetv1.UpgradeOwner
	}{
		"control plane first": {
			fleetv1.OrderControlPlaneFirst, []fleetv1.UpgradeOwner{cp, old}, []fleetv1.UpgradeOwner{cp, old, late},
		},
		"workers only": {
			fleetv1.OrderWorkersOnly, []fleetv1.UpgradeOwner{old}, []fleetv1.UpgradeOwner{old, late},
		},
		"workers are left alone where only the control plane is meant": {
			fleetv1.OrderControlPlaneOnly, []fleetv1.UpgradeOwner{cp}, []fleetv1.UpgradeOwner{cp},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cu := &fleetv1.ClusterUpgrade{}
			cu.Spec.Owners, cu.Spec.Upgrade.Order = test.planned, test.order
			if diff := cmp.Diff(test.want, owners(cu, w)); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}
