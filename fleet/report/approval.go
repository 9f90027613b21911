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
	"github.com/windlass-dev/windlass/policy"
)

// Gate is what an Approval is judged by.
type Gate struct {
	// Rollout that it names; nil: there is none.
	Rollout *fleetv1.Rollout
	// RequestedBy is who asked for the change, whose own word does not count. Empty: not said.
	RequestedBy string
	// Others are the Approvals of that Rollout; the one that is judged may be among them.
	Others []*fleetv1.Approval
	// Unverified says why the author of one cannot be made sure of; "": the API server vouched for them.
	Unverified func(*fleetv1.Approval) string
	// ExpiresAt is when it counts no longer; zero: never.
	ExpiresAt time.Time
	// Approved are the settings that its digest covers, as text; empty: they are not known any more.
	Approved string
}

// Approval is the status of an Approval, and when it changes next by time alone, zero: never. It counts where a decision
// counts it (see policy).
func Approval(a *fleetv1.Approval, g Gate, now time.Time) (s fleetv1.ApprovalStatus, next time.Time) {
	s = *a.Status.DeepCopy()
	s.ObservedGeneration = a.Generation
	c := metav1.Condition{
		Type: fleetv1.ValidCondition, Status: metav1.ConditionFalse, ObservedGeneration: a.Generation,
		LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	}
	c.Reason, c.Message = g.objection(a, now)
	switch c.Reason {
	case fleetv1.AuthorUnverifiedReason:
		c.Status = metav1.ConditionUnknown
	case "":
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, fleetv1.CountedReason, g.weight(a)
		next = g.ExpiresAt
	}
	c.Message = fleetv1.Bound(c.Message)
	s.Conditions = slices.Clone(s.Conditions)
	meta.SetStatusCondition(&s.Conditions, c)
	return s, next
}

// weight says what of an Approval that counts is not plain.
func (g *Gate) weight(a *fleetv1.Approval) string {
	i := slices.IndexFunc(g.Rollout.Status.Waves, named(a.Spec.Wave))
	switch {
	case i >= 0 && g.Rollout.Status.Waves[i].Approvals == nil:
		return fmt.Sprintf("wave %s needs no approval", a.Spec.Wave)
	case a.Spec.Decision != fleetv1.DecisionApproved:
		return fmt.Sprintf("no cluster of wave %s begins while it stands", a.Spec.Wave)
	}
	return ""
}

// objection is why an Approval does not count; no reason: it does.
func (g *Gate) objection(a *fleetv1.Approval, now time.Time) (reason, message string) {
	if why := a.Spec.WhyUnknown(); why != "" {
		return fleetv1.UnknownFieldReason, why
	}
	switch {
	case g.Rollout == nil:
		return fleetv1.UnknownRolloutReason, "there is no Rollout " + a.Spec.Rollout
	case g.Rollout.Status.Plan != nil && !slices.ContainsFunc(g.Rollout.Status.Waves, named(a.Spec.Wave)):
		return fleetv1.UnknownRolloutReason, fmt.Sprintf("Rollout %s has no wave %s", a.Spec.Rollout, a.Spec.Wave)
	}
	if why := g.Unverified(a); why != "" {
		return fleetv1.AuthorUnverifiedReason, why
	}
	if g.RequestedBy != "" && a.Spec.By == g.RequestedBy {
		return fleetv1.RequestedBySelfReason, a.Spec.By + " is change.requestedBy of the policy"
	}
	if a.Spec.PlanDigest != g.Rollout.Status.Digest {
		return fleetv1.DigestChangedReason, g.changed(a)
	}
	if newer := g.newer(a); newer != nil {
		return fleetv1.ReplacedReason, newer.Name + " of the same author is newer"
	}
	if !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt) {
		return fleetv1.ExpiredReason, "expired at " + stamp(g.ExpiresAt)
	}
	return "", ""
}

// changed says what the plan is now, and what of it is wider than what was approved. What was said of that plan before is
// not forgotten.
func (g *Gate) changed(a *fleetv1.Approval) string {
	digest := g.Rollout.Status.Digest
	if digest == "" {
		return fmt.Sprintf("Rollout %s has no plan yet", a.Spec.Rollout)
	}
	text := "the plan is " + digest + " now"
	if wider := g.wider(); len(wider) > 0 {
		return text + ": " + strings.Join(wider, "; ")
	}
	said := meta.FindStatusCondition(a.Status.Conditions, fleetv1.ValidCondition)
	if said != nil && strings.HasPrefix(said.Message, text+": ") {
		return said.Message
	}
	return text
}

func (g *Gate) wider() []string {
	approved, err := policy.ParseSettings(g.Approved)
	if err != nil {
		return nil
	}
	now, err := policy.ParseSettings(g.Rollout.Status.Settings)
	if err != nil {
		return nil
	}
	return policy.Wider(approved, now)
}

// newer is what its author said later about the same wave and plan; nil: nothing.
func (g *Gate) newer(a *fleetv1.Approval) *fleetv1.Approval {
	newest := a
	for _, o := range g.Others {
		same := o.Spec.By == a.Spec.By && o.Spec.Wave == a.Spec.Wave && o.Spec.PlanDigest == a.Spec.PlanDigest &&
			o.Spec.Rollout == a.Spec.Rollout
		if same && o.DeletionTimestamp.IsZero() && len(o.Spec.Unknown) == 0 && g.Unverified(o) == "" && before(o, newest) {
			newest = o
		}
	}
	if newest == a {
		return nil
	}
	return newest
}

// before orders the words of one author, the one that counts first: the newest, of one instant a rejection.
func before(a, b *fleetv1.Approval) bool {
	rejects := func(a *fleetv1.Approval) int {
		if a.Spec.Decision != fleetv1.DecisionApproved {
			return 0
		}
		return 1
	}
	return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(rejects(a), rejects(b)),
		strings.Compare(a.Name, b.Name)) < 0
}

func named(wave string) func(fleetv1.WaveStatus) bool {
	return func(s fleetv1.WaveStatus) bool { return s.Name == wave }
}
