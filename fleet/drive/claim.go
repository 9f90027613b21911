// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/capi"
)

// ClaimKey is the annotation on a member's Cluster that says which ClusterUpgrade drives it (law 2).
const ClaimKey = "fleet.windlass.dev/claim"

// claimVersion is the only version of the record.
const claimVersion = 1

// Claim is the record under ClaimKey. At most one ClusterUpgrade, of whatever hub, holds a cluster.
type Claim struct {
	V int `json:"v"`
	// Hub is the configured name of the hub, which survives restores.
	Hub string `json:"hub"`
	// Rollout is "<namespace>/<name>".
	Rollout string `json:"rollout"`
	// UID is the ClusterUpgrade's.
	UID types.UID `json:"uid"`
	// Cluster is the UID of the Cluster object: a claim restored onto another object is void.
	Cluster types.UID `json:"cluster"`
	Since   time.Time `json:"since"`
}

// Holder is who writes: the value of the holder annotation is "<hub>/<uid>".
type Holder struct {
	Hub     string
	Rollout types.NamespacedName
	UID     types.UID
}

// String is the value of protocol.HolderKey.
func (h Holder) String() string { return h.Hub + "/" + string(h.UID) }

// ClaimOf reads the claim on a cluster. A cluster without one, and one whose claim names another object, have none:
// such a claim is void. One that cannot be read belongs to somebody: it is returned with an error and its raw text
// as Rollout.
func ClaimOf(c capi.Cluster) (Claim, bool, error) {
	text, found := c.Annotations[ClaimKey]
	if !found {
		return Claim{}, false, nil
	}
	var claim Claim
	if err := json.Unmarshal([]byte(text), &claim); err != nil || claim.V != claimVersion || claim.UID == "" {
		return Claim{Rollout: text}, true, fmt.Errorf("annotation %s %q of cluster %s is not a claim; accepted: "+
			`{"v":1,"hub":…,"rollout":"<namespace>/<name>","uid":…,"cluster":…,"since":…}`, ClaimKey, text, c.Key())
	}
	if claim.Cluster != c.UID {
		return Claim{}, false, nil
	}
	return claim, true, nil
}

// By says who holds the claim, for people.
func (c Claim) By() string {
	if c.Hub == "" {
		return fmt.Sprintf("an unreadable claim %q", c.Rollout)
	}
	return fmt.Sprintf("rollout %s of hub %s", c.Rollout, c.Hub)
}

// HeldBy reports whether the claim is this holder's.
func (c Claim) HeldBy(h Holder) bool { return c.Hub == h.Hub && c.UID == h.UID }

// claimFor writes the claim of a holder on a cluster.
func claimFor(h Holder, cluster types.UID, now time.Time) string {
	text, err := json.Marshal(Claim{
		V: claimVersion, Hub: h.Hub, Rollout: h.Rollout.String(), UID: h.UID, Cluster: cluster,
		Since: now.UTC().Truncate(time.Second),
	})
	if err != nil { // only a year past 9999 can do this
		return ""
	}
	return string(text)
}
