// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package inventory records every workload cluster of every member as a WorkloadCluster on the hub, so that a fleet is
// decided on from hub objects alone, also while a member is away. It writes nothing on members.
package inventory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// ManagementClusterLabel names the ManagementCluster of a WorkloadCluster.
const ManagementClusterLabel = "fleet.windlass.dev/management-cluster"

// Hash is the part of a name that tells apart all clusters that ever were: 10 hex digits of the member's and the
// cluster's identity (law 1).
func Hash(clusterID string, c fleetv1.ObjectRef) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{clusterID, c.Namespace, c.Name, string(c.UID)}, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// Name is the name of a WorkloadCluster (API.md, names).
func Name(managementCluster, clusterID string, c fleetv1.ObjectRef) string {
	const cut = 60
	name := strings.TrimRight(c.Name[:min(len(c.Name), cut)], ".-")
	return managementCluster + "-" + name + "-" + Hash(clusterID, c)
}

// foreign are the labels and annotations of tools: they say how the member's object is managed, not what it is.
func foreign(key string) bool {
	prefix, _, _ := strings.Cut(key, "/")
	switch {
	case prefix == "fleet.windlass.dev", prefix == "kubectl.kubernetes.io", prefix == "helm.sh":
		return true
	case strings.HasSuffix(prefix, ".argoproj.io"), strings.HasSuffix(prefix, ".toolkit.fluxcd.io"):
		return true
	}
	return key == "app.kubernetes.io/instance"
}

// Labels of a WorkloadCluster: those of the member's Cluster, without those of tools.
func Labels(managementCluster string, c capi.Cluster) map[string]string {
	labels := maps.Clone(c.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.DeleteFunc(labels, func(key, _ string) bool { return foreign(key) })
	labels[ManagementClusterLabel] = managementCluster
	return labels
}

// Status is what a WorkloadCluster says of a cluster, but for the times, which change only with the rest.
func Status(managementCluster string, w member.World, keys protocol.Keys) fleetv1.WorkloadClusterStatus {
	s := fleetv1.WorkloadClusterStatus{
		Path:        managementCluster + "/" + w.Cluster.Namespace + "/" + w.Cluster.Name,
		Machines:    int32(len(w.Machines)),
		Unsupported: fleetv1.Bound(w.Unaccounted()),
	}
	if claim, found, err := drive.ClaimOf(w.Cluster); found || err != nil {
		s.ClaimedBy = fleetv1.BoundTo(fleetv1.MaxText, claim.By())
	}
	for _, cp := range w.ControlPlanes {
		o := owner(w.MachinesOf(true, ""), keys)
		o.Kind, o.Name, o.Version = cp.GVK.Kind, cp.Object.Name, cp.Object.Version
		o.Replicas, o.Ready = deref(cp.Object.Replicas), cp.Object.ReadyReplicas
		s.ControlPlane = &o
	}
	for _, pool := range w.Pools[:min(len(w.Pools), fleetv1.MaxPools)] {
		o := owner(w.MachinesOf(false, pool.Object.Name), keys)
		o.Kind, o.Name, o.Version = pool.GVK.Kind, pool.Object.Name, pool.Object.Version
		o.Replicas, o.Ready = deref(pool.Object.Replicas), pool.Object.ReadyReplicas
		s.Pools = append(s.Pools, o)
	}
	s.Conditions = []metav1.Condition{healthy(w), paused(w)}
	s.SingleControlPlaneAllowed = w.Cluster.Annotations[fleetv1.AllowSingleControlPlaneAnnotation] == "true"
	wish(&s, w.Cluster)
	return s
}

// noReason is shown of a mark whose owner gives no reason.
const noReason = "no reason is given"

// wish shows what the owner of a cluster asks for. A time that cannot be read counts as a hold, and is shown as one.
func wish(s *fleetv1.WorkloadClusterStatus, c capi.Cluster) {
	w := cluster.ReadWish(c.Annotations, fleetv1.DeferUntilAnnotation, fleetv1.HoldAnnotation)
	s.DeferReason = fleetv1.BoundTo(fleetv1.MaxText, w.DeferReason)
	if !w.DeferUntil.IsZero() {
		s.DeferUntil = new(metav1.NewTime(w.DeferUntil))
	}
	if w.Held || w.Problem != "" {
		s.Hold = fleetv1.BoundTo(fleetv1.MaxText, cmp.Or(w.HoldReason, w.Problem, noReason))
	}
}

// TimeZone of a cluster: its own, else that of its management cluster. It is shown as it is written, so that what cannot
// be read is seen.
func TimeZone(mc *fleetv1.ManagementCluster, c capi.Cluster) string {
	zone, found := c.Annotations[fleetv1.TimeZoneAnnotation]
	if !found {
		zone = mc.Annotations[fleetv1.TimeZoneAnnotation]
	}
	const longest = 64
	return fleetv1.BoundTo(longest, zone)
}

func owner(machines []capi.Machine, keys protocol.Keys) fleetv1.OwnerStatus {
	release, kubelet, architecture := map[string]int32{}, map[string]int32{}, map[string]int32{}
	for _, m := range machines {
		release[known(keys.Read(m.Annotations).Release)]++
		kubelet[known(m.KubeletVersion)]++
		architecture[known(m.Architecture)]++
	}
	return fleetv1.OwnerStatus{
		ByRelease: counts(release), ByKubelet: counts(kubelet), ByArchitecture: counts(architecture),
	}
}

// Unknown is the name under which machines are counted that do not report a value.
const Unknown = "unknown"

func known(value string) string { return cmp.Or(fleetv1.BoundTo(fleetv1.MaxText, value), Unknown) }

// counts lists counts, most first.
func counts(of map[string]int32) []fleetv1.VersionCount {
	list := make([]fleetv1.VersionCount, 0, len(of))
	for name, n := range of {
		list = append(list, fleetv1.VersionCount{Name: name, Count: n})
	}
	slices.SortFunc(list, func(a, b fleetv1.VersionCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), fleetv1.MaxVersionCounts)]
}

func healthy(w member.World) metav1.Condition {
	v := w.Health()
	c := metav1.Condition{
		Type: fleetv1.HealthyCondition, Status: metav1.ConditionStatus(v.Status), Reason: fleetv1.HealthyReason,
		Message: fleetv1.Bound(v.Message),
	}
	switch v.Status {
	case capi.False:
		c.Reason = fleetv1.UnhealthyReason
	case capi.Unknown:
		c.Status, c.Reason = metav1.ConditionUnknown, fleetv1.NotObservedReason
	case capi.True:
	}
	return c
}

func paused(w member.World) metav1.Condition {
	if w.Cluster.IsPaused() {
		return metav1.Condition{
			Type: fleetv1.PausedCondition, Status: metav1.ConditionTrue, Reason: fleetv1.PausedReason,
			Message: "spec.paused or the annotation " + capi.PausedAnnotation + " is set on the Cluster",
		}
	}
	return metav1.Condition{
		Type: fleetv1.PausedCondition, Status: metav1.ConditionFalse, Reason: fleetv1.NotPausedReason,
	}
}

func deref(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
