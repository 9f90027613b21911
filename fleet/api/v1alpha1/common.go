// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Bounds of what a status may hold (law 18). A writer cuts before it writes, or the API server refuses the whole status.
const (
	// MaxMessage is the longest message, in characters; see Bound.
	MaxMessage = 1024
	// MaxVersionCounts bounds each list of counts by version or architecture.
	MaxVersionCounts = 20
	// MaxPools bounds the pools of a WorkloadCluster and the owners of a ClusterUpgrade.
	MaxPools = 100
	// MaxMachines bounds the machines that a ClusterUpgrade lists, unfinished first.
	MaxMachines = 50
	// MaxFailing bounds the failing clusters that a Rollout lists.
	MaxFailing = 10
	// MaxActive bounds the active clusters that a Rollout lists.
	MaxActive = 20
	// MaxDeferred bounds the deferred clusters that a Rollout lists.
	MaxDeferred = 20
	// MaxSettings is the longest text of the settings that a Rollout's digest covers, in characters.
	MaxSettings = 8192
	// MaxApprovers bounds the authors of Approvals that a wave lists.
	MaxApprovers = 10
	// MaxRecentDurations bounds the measured durations that a WorkloadCluster remembers of a role.
	MaxRecentDurations = 20
	// MaxZones bounds the time zones that a MaintenanceCalendar's status lists.
	MaxZones = 40
	// MaxOpenings bounds the openings of each of them.
	MaxOpenings = 5
)

// Annotations that the owner of a cluster may write on the Cluster in its management cluster.
const (
	// TimeZoneAnnotation names the time zone of a Cluster, or of the clusters of a ManagementCluster, for calendars with
	// timeZoneFrom: Cluster.
	TimeZoneAnnotation = "fleet.windlass.dev/time-zone"
	// DeferUntilAnnotation puts a Cluster off: "<time>; <reason>". It is honoured for at most deferral.max.
	DeferUntilAnnotation = "fleet.windlass.dev/defer-until"
	// HoldAnnotation holds a Cluster: "<reason>". It is honoured for at most deferral.max.
	HoldAnnotation = "fleet.windlass.dev/hold"
	// AllowSingleControlPlaneAnnotation, with the value "true", marks a Cluster whose API may be away during an upgrade, for
	// policies with singleControlPlane: AllowMarked.
	AllowSingleControlPlaneAnnotation = "fleet.windlass.dev/allow-single-control-plane"
)

// UntilAct is what the UNTIL column says where nothing moves until a person does.
const UntilAct = "act"

// LocalRef names an object of the same namespace, and the one that is meant among all that ever had this name.
type LocalRef struct {
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the object.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid"`
}

// ObjectRef names a Cluster of a management cluster. With the management cluster it is a workload cluster's identity
// (law 1).
type ObjectRef struct {
	// namespace of the Cluster in its management cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// name of the Cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the Cluster. A new UID is a new cluster.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid"`
}

// Waiting says why something does not move, since when, and when that is looked at next (law 17).
type Waiting struct {
	// reason is one of the words that docs/status.md explains.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// message says it in words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// since is when the wait for this reason began.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// until is when the wait is over or looked at next; absent where only an act of a person ends it.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// ProvenVersion is a kubelet version that machines of one architecture were proven at.
type ProvenVersion struct {
	// architecture as the node reports it, such as amd64.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Architecture string `json:"architecture"`
	// version of the kubelet, such as v1.33.9.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version"`
}

// VersionCount counts machines by a version or an architecture.
type VersionCount struct {
	// name is the version or the architecture; "unknown" for machines that report none.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// count of machines.
	// +required
	// +kubebuilder:validation:Minimum=0
	Count int32 `json:"count"`
}

// UntilText writes an instant for an UNTIL column: RFC 3339 in UTC, or "act" for nil.
func UntilText(t *metav1.Time) string {
	if t.IsZero() {
		return UntilAct
	}
	return t.UTC().Format(time.RFC3339)
}

// Bound cuts a message to MaxMessage characters, so that a long error from elsewhere never makes a status unwritable.
// Bytes that are no UTF-8 are replaced.
func Bound(message string) string {
	runes := []rune(message)
	switch {
	case len(runes) > MaxMessage:
		return string(runes[:MaxMessage-1]) + "…"
	case !utf8.ValidString(message):
		return string(runes)
	}
	return message
}
