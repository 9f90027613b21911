// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Frost is what a Freeze comes to.
type Frost struct {
	// From and Until it is in force, half-open; zero: since ever, and until it is deleted.
	From, Until time.Time
	// Unreadable: its scope cannot be read, so that it stops all.
	Unreadable bool
	// Clusters that it covers.
	Clusters int
}

// Freeze is the status of a Freeze, and when it changes next by time alone, zero: never.
func Freeze(fz *fleetv1.Freeze, f Frost, now time.Time) (s fleetv1.FreezeStatus, next time.Time) {
	s = *fz.Status.DeepCopy()
	s.ObservedGeneration = fz.Generation
	s.Effect = cmp.Or(fz.Spec.Effect, fleetv1.FreezeNoNewMachines)
	s.Scope, s.Clusters = scopeText(&fz.Spec.Scope, f.Unreadable), new(int32(f.Clusters))
	c := metav1.Condition{
		Type: fleetv1.ActiveCondition, Status: metav1.ConditionFalse, ObservedGeneration: fz.Generation,
		LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	}
	switch {
	case !f.Until.IsZero() && !now.Before(f.Until):
		c.Reason, c.Message, s.Until = fleetv1.OverReason, "ended at "+stamp(f.Until), ""
	case now.Before(f.From):
		c.Reason, c.Message = fleetv1.NotBegunReason, "begins at "+stamp(f.From)
		s.Until, next = stamp(f.From), f.From
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, fleetv1.InForceReason, inForceText(fz, s.Effect, f.Until)
		s.Until, next = fleetv1.UntilAct, f.Until
		if !next.IsZero() {
			s.Until = stamp(next)
		}
	}
	if why := fz.Spec.WhyUnknown(); why != "" {
		if f.Unreadable {
			why += "; until that is put right it stops everything"
		}
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, fleetv1.UnknownFieldReason, why
	}
	c.Message = fleetv1.Bound(c.Message)
	s.Conditions = slices.Clone(s.Conditions)
	meta.SetStatusCondition(&s.Conditions, c)
	return s, next
}

func inForceText(fz *fleetv1.Freeze, effect fleetv1.FreezeEffect, until time.Time) string {
	what, when := "machine", "until it is deleted"
	if effect == fleetv1.FreezeNoNewClusters {
		what = "cluster"
	}
	if !until.IsZero() {
		when = "before " + stamp(until)
	}
	return fmt.Sprintf("no %s begins %s: %s (%s)", what, when, fz.Spec.Reason, fz.Spec.By)
}

// scopeText is the SCOPE column.
func scopeText(s *fleetv1.FreezeScope, unreadable bool) string {
	const longest = 128
	var text string
	switch {
	case unreadable:
		text = "all, since it cannot be read"
	case s.All != nil && *s.All:
		text = "all"
	case s.Selector != nil:
		text = metav1.FormatLabelSelector(s.Selector)
	case len(s.Policies) > 0:
		text = "policies " + strings.Join(s.Policies, ", ")
	case len(s.Clusters) > 0:
		text = "clusters " + strings.Join(s.Clusters, ", ")
	default:
		text = "management clusters " + strings.Join(s.ManagementClusters, ", ")
	}
	return fleetv1.BoundTo(longest, text)
}

// stamp is an instant as people read it.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
