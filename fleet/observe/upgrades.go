// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
)

// Labels of Rollouts and ClusterUpgrades.
const (
	// PolicyLabel names the RolloutPolicy of a Rollout or ClusterUpgrade.
	PolicyLabel = "fleet.windlass.dev/policy"
	// RolloutLabel and WaveLabel name the Rollout and the wave of a ClusterUpgrade.
	RolloutLabel = "fleet.windlass.dev/rollout"
	WaveLabel    = "fleet.windlass.dev/wave"
)

const (
	// noWave stands where a cluster that the target does not suit has no wave.
	noWave = "none"
	// longestZone is the longest name of a time zone that a ClusterUpgrade holds.
	longestZone = 64
)

// Committed is the hub as it will be once a plan is committed: with its ClusterUpgrades, and nothing begun.
func Committed(h Hub, inv Inventory, p policy.Plan, now time.Time) Hub {
	h.Rollout = h.Rollout.DeepCopy()
	h.Rollout.Status = report.Committed(h.Rollout.Status, p, now)
	all := Upgrades(h, inv, p)
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID != h.Rollout.UID {
			all = append(all, cu)
		}
	}
	h.Upgrades = all
	h.Members, h.WorkloadClusters = inv.Members, inv.Clusters
	return h
}

// Upgrades are the ClusterUpgrades of a plan, in plan order: those to do, then those that the target does not suit.
func Upgrades(h Hub, inv Inventory, p policy.Plan) []*fleetv1.ClusterUpgrade {
	byID := map[string]*fleetv1.WorkloadCluster{}
	for _, wc := range inv.Clusters {
		byID[wc.Name] = wc
	}
	var list []*fleetv1.ClusterUpgrade
	last := int32(0)
	for _, w := range p.Waves {
		for _, placed := range w.Clusters {
			cu := upgradeOf(h, inv, byID[placed.ID], w.Name)
			cu.Spec.Canary, cu.Spec.Position = w.Canary, int32(placed.Position)
			last = max(last, cu.Spec.Position)
			list = append(list, cu)
		}
	}
	for _, refused := range p.Ineligible {
		cu := upgradeOf(h, inv, byID[refused.ID], noWave)
		last++
		cu.Spec.Position = last
		cu.Spec.Ineligible = &fleetv1.Ineligible{Reason: refused.Reason, Message: fleetv1.Bound(refused.Message)}
		list = append(list, cu)
	}
	return list
}

// upgradeOf is the ClusterUpgrade of a cluster in a wave.
func upgradeOf(h Hub, inv Inventory, wc *fleetv1.WorkloadCluster, wave string) *fleetv1.ClusterUpgrade {
	ro, settings := h.Rollout, h.Policy.Spec.Settings()
	cu := &fleetv1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ro.Namespace, Name: ro.Name + "-" + wc.Name[strings.LastIndex(wc.Name, "-")+1:],
			Labels: map[string]string{
				RolloutLabel: ro.Name, WaveLabel: wave, PolicyLabel: ro.Spec.Policy.Name,
			},
			Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"},
		},
		Spec: fleetv1.ClusterUpgradeSpec{
			Rollout:           fleetv1.LocalRef{Name: ro.Name, UID: ro.UID},
			WorkloadCluster:   fleetv1.LocalRef{Name: wc.Name, UID: wc.UID},
			ManagementCluster: wc.Spec.ManagementCluster, Cluster: wc.Spec.Cluster,
			Wave: wave, Upgrade: settings, Intent: fleetv1.IntentWait,
		},
	}
	if zone := Zone(wc, inv.Members[wc.Spec.ManagementCluster]); len(zone) <= longestZone {
		cu.Spec.TimeZone = zone
	}
	for i, o := range OwnersOf(wc, policy.Order(settings.Order)) {
		role := fleetv1.RoleWorkers
		if i == 0 && settings.Order != fleetv1.OrderWorkersOnly {
			role = fleetv1.RoleControlPlane
		}
		cu.Spec.Owners = append(cu.Spec.Owners, fleetv1.UpgradeOwner{
			Kind: o.Kind, Name: o.Name, Role: role, Target: Text(ro.Spec.Target), Version: ro.Spec.Target.Version,
		})
	}
	return cu
}
