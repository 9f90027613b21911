// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"strings"
	"time"
)

const (
	// DrainKey stands on a machine from before its node is cordoned until the cordon is taken back (see NodeDrain).
	DrainKey = "windlass.dev/drain"
	// CordonedKey stands on a Node of a workload cluster that the engine has cordoned: the UID of the machine. A
	// cordon without it is somebody else's and stays.
	CordonedKey = "windlass.dev/cordoned"
)

// EventDraining is the reason of the event on a machine whose node is about to be drained.
const EventDraining = "InPlaceUpgradeDraining"

// NodeDrain is what the engine remembers of a node that it drains, as JSON under DrainKey on the machine. It is written
// before the node is touched, so that whoever comes after a crash knows what to take back.
type NodeDrain struct {
	// Node that is, or was about to be, cordoned.
	Node string `json:"node"`
	// By is what CordonedKey says on it.
	By string `json:"by"`
	// Target of the refresh that the node is drained for.
	Target string `json:"target"`
	// Since is when the drain that is going on began. Zero: none is, since it has ended.
	Since time.Time `json:"since,omitzero"`
	// Failed: the drain did not end in time, so that the cordon is taken back until the next attempt.
	Failed bool `json:"failed,omitzero"`
	// Blocked says what keeps the node from being empty. At most 512 bytes.
	Blocked string `json:"blocked,omitempty"`
}

// ParseNodeDrain reads a record; the empty text is the zero value.
func ParseNodeDrain(text string) (NodeDrain, error) {
	var d NodeDrain
	err := parse(DrainKey, text, &d)
	return d, err
}

// Format writes the record as its annotation carries it.
func (d NodeDrain) Format() string {
	if len(d.Blocked) > maxLastError {
		d.Blocked = strings.ToValidUTF8(d.Blocked[:maxLastError-3], "") + "..."
	}
	return format(d)
}
