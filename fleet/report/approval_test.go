// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
)

// TestAnApprovalIsSaidToCountWhereADecisionCountsIt, whatever else people wrote: the two are told apart nowhere.
func TestAnApprovalIsSaidToCountWhereADecisionCountsIt(t *testing.T) {
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	instant := rapid.Map(rapid.IntRange(0, 3), func(n int) time.Time { return begin.Add(time.Duration(n) * time.Second) })
	rapid.Check(t, func(t *rapid.T) {
		now := instant.Draw(t, "now")
		f := policy.Fleet{
			Committed: true, Digest: "d1", RequestedBy: rapid.SampledFrom([]string{"", "jane"}).Draw(t, "requested by"),
			Waves: []policy.Wave{{Name: "early", Approvals: 1}, {Name: "rest", Approvals: 1}},
		}
		ro := &fleetv1.Rollout{Status: fleetv1.RolloutStatus{Plan: &fleetv1.RolloutPlan{}, Digest: "d1"}}
		for _, w := range f.Waves {
			ro.Status.Waves = append(ro.Status.Waves, fleetv1.WaveStatus{Name: w.Name, Approvals: &fleetv1.WaveApprovals{}})
		}
		verified := map[string]bool{}
		var all []*fleetv1.Approval
		for i := range rapid.IntRange(0, 5).Draw(t, "approvals") {
			a := &fleetv1.Approval{Spec: fleetv1.ApprovalSpec{
				Wave:       rapid.SampledFrom([]string{"early", "rest"}).Draw(t, "wave"),
				PlanDigest: rapid.SampledFrom([]string{"d1", "d1", "d0"}).Draw(t, "digest"),
				By:         rapid.SampledFrom([]string{"jane", "john"}).Draw(t, "by"),
				Decision:   rapid.SampledFrom([]fleetv1.Decision{fleetv1.DecisionApproved, fleetv1.DecisionRejected}).Draw(t, "decision"),
			}}
			a.Name = fmt.Sprint("a", i)
			a.CreationTimestamp = metav1.NewTime(instant.Draw(t, "at"))
			if rapid.Bool().Draw(t, "expires") {
				a.Spec.ExpiresAt = new(metav1.NewTime(instant.Draw(t, "expires at")))
			}
			verified[a.Name] = rapid.IntRange(0, 3).Draw(t, "verified") > 0
			all = append(all, a)
			f.Approvals = append(f.Approvals, policy.Approval{
				Name: a.Name, By: a.Spec.By, Wave: a.Spec.Wave, Digest: a.Spec.PlanDigest, At: a.CreationTimestamp.Time,
				Rejected: a.Spec.Decision == fleetv1.DecisionRejected, ExpiresAt: expiry(a), Verified: verified[a.Name],
			})
		}
		counted := map[string][]string{}
		for _, a := range all {
			s, _ := report.Approval(a, report.Gate{
				Rollout: ro, RequestedBy: f.RequestedBy, Others: all, ExpiresAt: expiry(a),
				Unverified: func(a *fleetv1.Approval) string {
					if verified[a.Name] {
						return ""
					}
					return "nobody vouched"
				},
			}, now)
			if meta.IsStatusConditionTrue(s.Conditions, fleetv1.ValidCondition) && a.Spec.Decision == fleetv1.DecisionApproved {
				counted[a.Spec.Wave] = append(counted[a.Spec.Wave], a.Spec.By)
			}
		}
		for _, w := range policy.Decide(f, now).Waves {
			slices.Sort(counted[w.Name])
			if diff := cmp.Diff(w.ApprovedBy, counted[w.Name], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("wave %s (-decided +said): %s", w.Name, diff)
			}
		}
	})
}

func expiry(a *fleetv1.Approval) time.Time {
	if a.Spec.ExpiresAt == nil {
		return time.Time{}
	}
	return a.Spec.ExpiresAt.Time
}
