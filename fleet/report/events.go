// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"time"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// Types of events, as Kubernetes has them.
const (
	eventNormal  = "Normal"
	eventWarning = "Warning"
)

// Event tells people what happened, where no status keeps it.
type Event struct {
	// Type is Normal or Warning.
	Type string
	// What happened, in one word, and what the hub was doing.
	What, Action string
	// Message says it for people.
	Message string
}

// WindowMissed: an opening has passed in which nothing began.
func WindowMissed(m policy.Missed) Event {
	text := fmt.Sprintf("nothing began from %s to %s: %s", m.Span.Start.UTC().Format(time.RFC3339),
		m.Span.End.UTC().Format(time.RFC3339), m.Reason)
	if m.Message != "" {
		text += ": " + m.Message
	}
	return Event{Type: eventWarning, What: "WindowMissed", Action: "Deciding", Message: fleetv1.Bound(text)}
}

// AnyTime: an edit took the last calendar of a policy away while clusters wait for their turn.
func AnyTime(pending int) Event {
	return Event{
		Type: eventWarning, What: "AnyTime", Action: "Deciding",
		Message: fmt.Sprintf("the policy names no calendar any more: %d clusters that have not begun may begin at any time, "+
			"as far as no calendar binds them by its clusterSelector", pending),
	}
}
