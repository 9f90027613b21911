// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import "time"

// ProviderFresh is how long ago a leader Lease may have been renewed for its holder to be alive (DESIGN.md 4).
const ProviderFresh = time.Minute

// ProviderLeases are the names of the leader Leases of the controllers that may already answer the protocol, in whatever
// namespace: one of them renewed within ProviderFresh means that they are present.
func ProviderLeases() []string {
	return []string{"6b2b21b1.k8s.io", "148fa072.controlplane.cluster.x-k8s.io"}
}
