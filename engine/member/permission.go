// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// StartBefore reads the permission to begin machines on a cluster; zero without an error: there is none.
func StartBefore(c capi.Cluster) (time.Time, error) {
	text, found := c.Annotations[protocol.StartBeforeKey]
	if !found {
		return time.Time{}, nil
	}
	return protocol.ParseStartBefore(text)
}

// PermissionChanged reports whether a change of a Cluster can let machines begin or stand still.
func PermissionChanged(before, after *unstructured.Unstructured) bool {
	a, b := capi.ParseCluster(before), capi.ParseCluster(after)
	return a.IsPaused() != b.IsPaused() || a.Deleting != b.Deleting ||
		a.Annotations[protocol.StartBeforeKey] != b.Annotations[protocol.StartBeforeKey]
}
