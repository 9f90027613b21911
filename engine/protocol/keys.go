// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

// Prefixes of the protocol's annotation keys.
const (
	// ProviderPrefix is the one that the existing controllers answer.
	ProviderPrefix = "v1beta2.k8sd.io/"
	// OwnPrefix is used where those controllers are present, so that exactly one side acts (DESIGN.md 4).
	OwnPrefix = "windlass.dev/"
)

// Annotations of Windlass beside the protocol's own. They never carry the protocol's prefix.
const (
	// PlanKey stands on an owner, and on a machine that the owner has marked: what the engine needs to know beyond
	// the target, as JSON (see Plan).
	PlanKey = "windlass.dev/plan"
	// HolderKey stands beside whatever we write: "<hub id>/<ClusterUpgrade UID>".
	HolderKey = "windlass.dev/holder"
	// StartBeforeKey stands on a Cluster: the instant (RFC 3339) at which the permission to begin machines ends.
	StartBeforeKey = "windlass.dev/start-before"
	// AttemptKey stands on a machine while it is upgraded: what was sent, when, how often (see Attempt).
	AttemptKey = "windlass.dev/attempt"
	// WaitingKey stands on an owner while it waits for something else than its own machine in flight (see Waiting).
	WaitingKey = "windlass.dev/waiting"
	// SkipRemediationKey stands on a machine beside Cluster API's annotation skip-remediation where we have set that
	// one: from the machine's mark to its proof or withdrawal. Without it that annotation is somebody else's and stays.
	SkipRemediationKey = "windlass.dev/skip-remediation"
)

// SkipRemediationSet is the value of SkipRemediationKey.
const SkipRemediationSet = "set"

// Keys are the five annotation keys of the protocol under one prefix. The zero value has no prefix and is not valid.
type Keys struct {
	// To asks for an upgrade; its value is a Target.
	To string
	// Status is StatusInProgress, StatusDone or StatusFailed.
	Status string
	// Release is the target last reached; its value is a Target.
	Release string
	// ChangeID is snapd's id of the change in flight. Its presence counts, the value may be empty.
	ChangeID string
	// LastFailed is when an attempt failed last (RFC 1123 with numeric zone).
	LastFailed string
}

// KeysFor returns the keys under a prefix that ends in a slash.
func KeysFor(prefix string) Keys {
	name := prefix + "in-place-upgrade-"
	return Keys{
		To:         name + "to",
		Status:     name + "status",
		Release:    name + "release",
		ChangeID:   name + "change-id",
		LastFailed: name + "last-failed-attempt-at",
	}
}

// All returns the five keys in the order of the fields.
func (k Keys) All() []string { return []string{k.To, k.Status, k.Release, k.ChangeID, k.LastFailed} }

// OnOwner returns the keys that stand on owners: To, Status and Release.
func (k Keys) OnOwner() []string { return []string{k.To, k.Status, k.Release} }

// Values of the Status annotation.
const (
	StatusInProgress = "in-progress"
	StatusDone       = "done"
	StatusFailed     = "failed"
)

// Reasons of the protocol's events.
const (
	EventInProgress = "InPlaceUpgradeInProgress"
	EventDone       = "InPlaceUpgradeDone"
	EventFailed     = "InPlaceUpgradeFailed"
	EventCancelled  = "InPlaceUpgradeCancelled"
)
