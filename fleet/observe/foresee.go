// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

// Predictions say when the clusters of a rollout will probably be upgraded, by the name of their ClusterUpgrade. The plan
// must be committed. Approvals and the end of a pause are taken as given at once, members as they are now.
func Predictions(f policy.Fleet, now time.Time) map[string]fleetv1.Prediction {
	f.Paused = false
	predictions := simulate.Predict(f, now)
	zones := zonesOf(f)
	all := make(map[string]fleetv1.Prediction, len(predictions))
	for id, p := range predictions {
		all[id] = fleetv1.Prediction{
			StartAt: second(p.Start), EndAt: second(p.End), Window: windowText(p.Window, zones[id]),
		}
	}
	return all
}

// Foresee fills in when the clusters of a rollout will probably be upgraded, of those that have not begun.
func Foresee(h Hub, now time.Time) {
	predictions := Predictions(Fleet(h), now)
	for _, cu := range h.Upgrades {
		if p, found := predictions[cu.Name]; found && cu.Spec.Rollout.UID == h.Rollout.UID {
			cu.Spec.Predicted = &p
		}
	}
}

// ETA is when the last wave of the plan will probably be complete; nil: that cannot be told.
func ETA(h Hub) *metav1.Time {
	var last *metav1.Time
	for _, cu := range h.Upgrades {
		if cu.Spec.Rollout.UID != h.Rollout.UID || cu.Spec.Ineligible != nil || cu.Spec.Wave == fleetv1.WaveCatchUp ||
			policy.ClusterPhase(cu.Status.Phase).Ended() {
			continue
		}
		p := cu.Spec.Predicted
		if p == nil || p.EndAt == nil {
			return nil
		}
		if last == nil || last.Before(p.EndAt) {
			last = p.EndAt
		}
	}
	return last
}

// zonesOf is the time zone of each cluster's first calendar.
func zonesOf(f policy.Fleet) map[string]*time.Location {
	zones := make(map[string]*time.Location, len(f.Clusters))
	for i := range f.Clusters {
		zones[f.Clusters[i].ID] = time.UTC
		for _, key := range f.Clusters[i].Calendars {
			if hours := f.Calendars[key].Hours; hours != nil {
				zones[f.Clusters[i].ID] = hours.Location()
				break
			}
		}
	}
	return zones
}

// windowText says an opening in local time; empty: there is none.
func windowText(s window.Span, zone *time.Location) string {
	if s.Start.IsZero() || zone == nil {
		return ""
	}
	const day, hour = "Mon 2006-01-02", "15:04 MST"
	from, to := s.Start.In(zone), s.End.In(zone)
	switch {
	case s.End.IsZero():
		return fmt.Sprintf("%s – open end", from.Format(day+" "+hour))
	case from.Format(day) == to.Format(day):
		return fmt.Sprintf("%s – %s", from.Format(day+" "+hour), to.Format(hour))
	}
	return fmt.Sprintf("%s – %s", from.Format(day+" "+hour), to.Format(day+" "+hour))
}

// second is an instant as statuses hold it.
func second(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}
