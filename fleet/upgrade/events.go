// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
)

// listen reads what was said about the machines that failed: a provider tells it in events only. One that cannot be read
// is no reason to wait.
func (s *scene) listen(ctx context.Context, d drive.Member) {
	for i := range s.observation.Owners {
		for k := range s.observation.Owners[i].Machines {
			m := &s.observation.Owners[i].Machines[k]
			if failed := m.Marks.LastFailed != "" || !m.Record.FailedAt.IsZero(); m.Record.At.IsZero() || !failed {
				continue
			}
			var events corev1.EventList
			err := d.Live.List(ctx, &events, client.InNamespace(s.world.Cluster.Namespace), client.MatchingFields{
				"involvedObject.uid": string(s.machines[m.Name].UID), "reason": protocol.EventFailed,
			})
			if err != nil {
				log.FromContext(ctx).V(1).Info("the events of a machine cannot be read", "machine", m.Name, "error", err.Error())
				continue
			}
			m.Said = fleetv1.Bound(lastSaid(events.Items, m.Record.At))
		}
	}
}

// lastSaid is the newest of some events that is not older than a request.
func lastSaid(events []corev1.Event, since time.Time) string {
	text, newest := "", since.Add(-time.Second)
	for _, e := range events {
		at := e.LastTimestamp.Time
		if at.IsZero() {
			at = e.EventTime.Time
		}
		if e.Type == corev1.EventTypeWarning && !at.Before(newest) {
			text, newest = e.Message, at
		}
	}
	return text
}
