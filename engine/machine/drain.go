// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"

	"github.com/windlass-dev/windlass/engine/k8sd"
)

// Drainer empties nodes. Each call is one short look; by is the UID of the machine, which the Node then carries.
type Drainer interface {
	// Drain cordons the node, unless somebody else has, asks once for the eviction of what must go and returns what is
	// left. It never forces a pod out.
	Drain(ctx context.Context, node k8sd.Node, by string) ([]Left, error)
	// Uncordon takes back a cordon that the Node says is of by, and no other. A node that is gone is well.
	Uncordon(ctx context.Context, node k8sd.Node, by string) error
}

// Left is a pod that a node still has.
type Left struct {
	// Pod is namespace/name. Empty: Why names several.
	Pod string
	// Why it stays. Empty: it is going.
	Why string
}
