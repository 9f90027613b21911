// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// How many durations make an estimate (law 10), and how many are looked at.
const (
	fewOfCluster = 3
	fewOfRollout = 5
	mostSamples  = 500
)

// measured is how long machines of a role took in the whole rollout; a role with too few samples is not in it.
type measured struct {
	byRole map[fleetv1.OwnerRole]time.Duration
	// fitting remembers which kubelets fit which version: thousands of clusters run a handful.
	fitting map[[2]string]bool
}

// measured looks at the machines of the rollout that ended well, those of its latest clusters first.
func (b *builder) measured() measured {
	samples := map[fleetv1.OwnerRole][]time.Duration{}
	for _, cu := range slices.Backward(b.mine) {
		if cu.Status.StartedAt == nil {
			continue
		}
		roles := map[string]fleetv1.OwnerRole{}
		for _, o := range cu.Status.Owners {
			roles[o.Name] = o.Role
		}
		for i := range cu.Status.Machines {
			m := &cu.Status.Machines[i]
			role := roles[m.Owner]
			if m.StartedAt == nil || m.EndedAt == nil || m.LastError != "" || len(samples[role]) >= mostSamples {
				continue
			}
			samples[role] = append(samples[role], m.EndedAt.Sub(m.StartedAt.Time))
		}
	}
	found := measured{map[fleetv1.OwnerRole]time.Duration{}, map[[2]string]bool{}}
	for role, list := range samples {
		if len(list) >= fewOfRollout {
			found.byRole[role] = p90(list)
		}
	}
	return found
}

// p90 is the duration that nine of ten stayed within.
func p90(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[(len(list)*9+9)/10-1]
}

// work is what is left to do in a cluster, owner by owner.
func (m measured) work(cu *fleetv1.ClusterUpgrade, wc *fleetv1.WorkloadCluster) []policy.Work {
	var list []policy.Work
	for _, p := range m.parts(cu, wc) {
		w := policy.Work{Machines: int(p.machines), AtOnce: 1, Each: m.each(p.role, cu, wc)}
		if p.role == fleetv1.RoleWorkers {
			w.AtOnce = int(cu.Spec.Upgrade.MaxConcurrentMachines)
		}
		list = append(list, w)
	}
	return list
}

// part is what is left to do of one owner.
type part struct {
	role     fleetv1.OwnerRole
	machines int32
}

// parts are the owners of which anything is left to do, in order.
func (m measured) parts(cu *fleetv1.ClusterUpgrade, wc *fleetv1.WorkloadCluster) []part {
	var list []part
	for _, o := range cu.Status.Owners {
		list = append(list, part{o.Role, o.Total - o.Done})
	}
	if len(cu.Status.Owners) == 0 {
		for _, o := range cu.Spec.Owners {
			list = append(list, part{o.Role, m.left(cu, o, wc)})
		}
	}
	return slices.DeleteFunc(list, func(p part) bool { return p.machines <= 0 })
}

// NextRole is the role of the machine of a cluster that begins next, whose duration the end of its intent is worked out with;
// empty: that is not known.
func NextRole(h Hub, cu *fleetv1.ClusterUpgrade) fleetv1.OwnerRole {
	var wc *fleetv1.WorkloadCluster
	if len(cu.Status.Owners) == 0 {
		i := slices.IndexFunc(h.WorkloadClusters, func(wc *fleetv1.WorkloadCluster) bool {
			return wc.Name == cu.Spec.WorkloadCluster.Name && wc.UID == cu.Spec.WorkloadCluster.UID
		})
		if i >= 0 {
			wc = h.WorkloadClusters[i]
		}
	}
	if left := (measured{fitting: map[[2]string]bool{}}).parts(cu, wc); len(left) > 0 {
		return left[0].role
	}
	return ""
}

// left is how many machines of an owner are not at the target as the inventory counts them: all, where each is to be
// refreshed whatever it carries (refreshedAfter).
func (m measured) left(cu *fleetv1.ClusterUpgrade, o fleetv1.UpgradeOwner, wc *fleetv1.WorkloadCluster) int32 {
	seen := ownerOf(o, wc)
	if seen == nil {
		return 0
	}
	if cu.Spec.Upgrade.RefreshedAfter != nil {
		return seen.Replicas
	}
	releases := count(seen.ByRelease, func(name string) bool { return name == o.Target })
	kubelets := count(seen.ByKubelet, func(name string) bool { return m.fits(name, o.Version) })
	return seen.Replicas - min(releases, kubelets)
}

func (m measured) fits(kubelet, version string) bool {
	key := [2]string{kubelet, version}
	fits, known := m.fitting[key]
	if !known {
		fits = capi.Fits(kubelet, version)
		m.fitting[key] = fits
	}
	return fits
}

func ownerOf(o fleetv1.UpgradeOwner, wc *fleetv1.WorkloadCluster) *fleetv1.OwnerStatus {
	if wc == nil {
		return nil
	}
	if o.Role == fleetv1.RoleControlPlane {
		return wc.Status.ControlPlane
	}
	for i := range wc.Status.Pools {
		if p := &wc.Status.Pools[i]; p.Kind == o.Kind && p.Name == o.Name {
			return p
		}
	}
	return nil
}

func count(counts []fleetv1.VersionCount, ok func(string) bool) int32 {
	sum := int32(0)
	for _, c := range counts {
		if ok(c.Name) {
			sum += c.Count
		}
	}
	return sum
}

// each is how long a machine of a role takes (law 10), in whole seconds.
func (m measured) each(role fleetv1.OwnerRole, cu *fleetv1.ClusterUpgrade, wc *fleetv1.WorkloadCluster) time.Duration {
	return max(time.Second, (m.estimate(role, cu, wc) + time.Second - 1).Truncate(time.Second))
}

func (m measured) estimate(role fleetv1.OwnerRole, cu *fleetv1.ClusterUpgrade, wc *fleetv1.WorkloadCluster) time.Duration {
	if wc != nil {
		for _, d := range wc.Status.Durations {
			if d.Role == role && d.Samples >= fewOfCluster && d.P90.Duration > 0 {
				return d.P90.Duration
			}
		}
	}
	if d := m.byRole[role]; d > 0 {
		return d
	}
	machine := &cu.Spec.Upgrade.Machine
	if machine.Expected != nil {
		return machine.Expected.Duration
	}
	return machine.Timeout.Duration
}

// health is how a cluster is, and since when that is known. What is not seen is not known (law 3).
func health(wc *fleetv1.WorkloadCluster, mc *fleetv1.ManagementCluster) (policy.Health, time.Time) {
	seen, since := sight(mc)
	if wc == nil || !seen {
		return policy.HealthUnknown, since
	}
	c := meta.FindStatusCondition(wc.Status.Conditions, fleetv1.HealthyCondition)
	if c == nil {
		return policy.HealthUnknown, since
	}
	if c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time
	}
	switch c.Status {
	case metav1.ConditionTrue:
		return policy.Healthy, since
	case metav1.ConditionFalse:
		return policy.Unhealthy, since
	case metav1.ConditionUnknown:
	}
	return policy.HealthUnknown, since
}

// sight tells whether a member is seen, and since when that is so or not.
func sight(mc *fleetv1.ManagementCluster) (seen bool, since time.Time) {
	if mc == nil {
		return false, time.Time{}
	}
	c := meta.FindStatusCondition(mc.Status.Conditions, fleetv1.ReachableCondition)
	if c == nil {
		c = meta.FindStatusCondition(mc.Status.Conditions, fleetv1.ReadyCondition)
	}
	if c == nil {
		return false, time.Time{}
	}
	return c.Status == metav1.ConditionTrue, c.LastTransitionTime.Time
}
