// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"k8s.io/apimachinery/pkg/api/equality"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
)

// tell tells people what a look has found out: a missed opening, once, which the status that was written keeps, and that
// calendars were taken away.
func (r *Reconciler) tell(ro *fleetv1.Rollout, before fleetv1.RolloutStatus, f policy.Fleet, d policy.Decision) {
	if missed := ro.Status.Missed; missed != nil && d.Missed != nil && !equality.Semantic.DeepEqual(missed, before.Missed) {
		r.event(ro, report.WindowMissed(*d.Missed))
	}
	if pending := unbegun(f); pending > 0 && loosened(before.Settings, ro.Status.Settings) {
		r.event(ro, report.AnyTime(pending))
	}
}

// loosened: the policy named calendars, and now it says anyTime.
func loosened(before, after string) bool {
	was, err := policy.ParseSettings(before)
	if err != nil || was.AnyTime {
		return false
	}
	is, err := policy.ParseSettings(after)
	return err == nil && is.AnyTime
}

// unbegun counts the clusters of which nothing was asked yet.
func unbegun(f policy.Fleet) int {
	n := 0
	for i := range f.Clusters {
		c := &f.Clusters[i]
		if (c.Intent == policy.Wait || c.Intent == "") && !c.Phase.Ended() {
			n++
		}
	}
	return n
}

func (r *Reconciler) event(ro *fleetv1.Rollout, e report.Event) {
	if r.Events != nil {
		r.Events.Eventf(ro, nil, e.Type, e.What, e.Action, "%s", e.Message)
	}
}
