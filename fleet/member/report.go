// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// seenPace bounds how often the time of the last answer alone is written (law 18).
const seenPace = 5 * time.Minute

// findings are what one look at a member found.
type findings struct {
	// unknown says which fields of the registration are not known: nothing is done about it.
	unknown string
	// credential says why there is no connection to try; asking, why a member that answers could not be looked at.
	credential, asking error
	health             Health
	// pinned is the identity found first; clusterID the one found now, empty when it was not asked.
	pinned, clusterID string
	// duplicateOf is an older ManagementCluster of the same member.
	duplicateOf string
	// provider: controllers that are not ours answer the protocol there.
	provider bool
	// engine that is to carry out upgrades there.
	engine             fleetv1.Engine
	served             []string
	clusters, machines int32
	expires            time.Time
}

// keyPrefix of the annotations that are used there: where the controllers of a provider answer theirs, an engine of ours
// has its own, so that exactly one side acts.
func (f findings) keyPrefix() string {
	if f.provider && (f.engine == fleetv1.EngineAgent || f.engine == fleetv1.EngineHub) {
		return protocol.OwnPrefix
	}
	return protocol.ProviderPrefix
}

// changed reports whether another cluster answers than the one that was registered.
func (f findings) changed() bool { return f.pinned != "" && f.clusterID != f.pinned }

// report writes findings into a status. Of a member that does not answer, and of one behind whose address another
// cluster answers, what was known before stays.
func report(s *fleetv1.ManagementClusterStatus, generation int64, f findings, now time.Time) {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		c := metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: fleetv1.Bound(message),
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		}
		meta.SetStatusCondition(&s.Conditions, c)
	}
	s.ObservedGeneration = generation
	for _, c := range [...]condition{reachable(f), authorized(f), installed(f), ready(f)} {
		set(c.kind, c.status, c.reason, c.message)
	}
	if !f.expires.IsZero() {
		s.CredentialExpiry = new(metav1.NewTime(f.expires))
	}
	if f.clusterID == "" || f.changed() {
		return
	}
	s.ServerVersion, s.ClusterAPIVersions = f.health.ServerVersion, f.served
	s.Engine = &fleetv1.EngineStatus{ProviderPresent: f.provider, KeyPrefix: f.keyPrefix()}
	if s.ClusterID == "" {
		s.ClusterID = f.clusterID
	}
	s.Clusters, s.Machines = &f.clusters, &f.machines
	if s.LastProbeTime == nil || now.Sub(s.LastProbeTime.Time) >= seenPace {
		s.LastProbeTime = new(metav1.NewTime(now))
	}
}

type condition struct {
	kind            string
	status          metav1.ConditionStatus
	reason, message string
}

func reachable(f findings) condition {
	c := condition{kind: fleetv1.ReachableCondition, status: metav1.ConditionTrue, reason: fleetv1.ReachableReason}
	switch {
	case f.credential != nil:
		c.status, c.reason, c.message = metav1.ConditionUnknown, fleetv1.KubeconfigInvalidReason, f.credential.Error()
	case f.unknown != "" && f.health.State == Connecting:
		c.status, c.reason, c.message = metav1.ConditionUnknown, fleetv1.UnknownFieldReason, f.unknown
	case f.health.State == Unreachable, f.health.State == Connecting:
		c.status, c.reason, c.message = metav1.ConditionFalse, fleetv1.UnreachableReason, f.health.Message
	}
	return c
}

func authorized(f findings) condition {
	c := condition{kind: fleetv1.AuthorizedCondition, status: metav1.ConditionTrue, reason: fleetv1.AuthorizedReason}
	switch {
	case f.health.State == Unauthorized:
		c.status, c.reason, c.message = metav1.ConditionFalse, fleetv1.UnauthorizedReason, f.health.Message
	case f.health.State != Ready && f.health.State != APIMissing:
		c.status, c.reason = metav1.ConditionUnknown, fleetv1.UnreachableReason
	case f.asking != nil:
		c.status, c.reason, c.message = metav1.ConditionFalse, fleetv1.UnauthorizedReason, f.asking.Error()
	}
	return c
}

func installed(f findings) condition {
	c := condition{
		kind: fleetv1.ClusterAPIInstalledCondition, status: metav1.ConditionTrue, reason: fleetv1.InstalledReason,
	}
	switch {
	case f.health.State == APIMissing:
		c.status, c.reason, c.message = metav1.ConditionFalse, fleetv1.NotAManagementClusterReason, f.health.Message
	case f.health.State != Ready:
		c.status, c.reason = metav1.ConditionUnknown, fleetv1.UnreachableReason
	}
	return c
}

// ready sums up: the first thing that is wrong, in the order in which one would mend it.
func ready(f findings) condition {
	c := condition{kind: fleetv1.ReadyCondition, status: metav1.ConditionTrue, reason: fleetv1.AvailableReason}
	if f.unknown != "" {
		c.status, c.reason, c.message = metav1.ConditionFalse, fleetv1.UnknownFieldReason, f.unknown
		return c
	}
	for _, part := range [...]condition{reachable(f), authorized(f), installed(f)} {
		if part.status != metav1.ConditionTrue {
			c.status, c.reason, c.message = metav1.ConditionFalse, part.reason, part.message
			return c
		}
	}
	switch {
	case f.changed():
		c.reason = fleetv1.IdentityChangedReason
		c.message = "the kubeconfig leads to another cluster (kube-system has UID " + f.clusterID + ") than the one " +
			"registered (" + f.pinned + "); nothing there is touched, and nothing is read as removed. Delete this " +
			"ManagementCluster and create it anew if that is meant"
	case f.duplicateOf != "":
		c.reason = fleetv1.DuplicateReason
		c.message = "ManagementCluster " + f.duplicateOf + " is the same member and looks at the same namespaces"
	default:
		return c
	}
	c.status = metav1.ConditionFalse
	return c
}

// older orders two ManagementClusters by age, then by name.
func older(a, b *fleetv1.ManagementCluster) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)) < 0
}

// same reports whether another ManagementCluster is the same member with a namespace in common.
func same(other, mc *fleetv1.ManagementCluster, clusterID string) bool {
	if clusterID == "" || other.Status.ClusterID != clusterID {
		return false
	}
	if len(other.Spec.Namespaces) == 0 || len(mc.Spec.Namespaces) == 0 {
		return true
	}
	return slices.ContainsFunc(mc.Spec.Namespaces, func(ns string) bool {
		return slices.Contains(other.Spec.Namespaces, ns)
	})
}
