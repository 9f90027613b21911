// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
)

func freeze(namespace, name string, scope fleetv1.FreezeScope, change ...func(*fleetv1.FreezeSpec)) *fleetv1.Freeze {
	fz := &fleetv1.Freeze{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       fleetv1.FreezeSpec{Scope: scope, Reason: "holidays", By: "jane"},
	}
	for _, c := range change {
		c(&fz.Spec)
	}
	return fz
}

// TestWhatAFreezeCovers: one whose scope cannot be read is a brake all the same (laws 21, 22).
func TestWhatAFreezeCovers(t *testing.T) {
	prod := seen("mgmt-a/shop/a", func(wc *fleetv1.WorkloadCluster) { wc.Labels["tier"] = "prod" })
	lab, gone := seen("mgmt-b/shop/b"), seen("mgmt-b/shop/c", func(wc *fleetv1.WorkloadCluster) { wc.Labels["tier"] = "prod" })
	gone.UID = "made anew"
	unreadable := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Is"}}}
	cases := map[string]struct {
		scope   fleetv1.FreezeScope
		unknown []string
		want    []string
	}{
		"all":                            {fleetv1.FreezeScope{All: new(true)}, nil, []string{"all"}},
		"its policy":                     {fleetv1.FreezeScope{Policies: []string{"other", "k8s"}}, nil, []string{"all"}},
		"another policy":                 {fleetv1.FreezeScope{Policies: []string{"other"}}, nil, nil},
		"clusters by path":               {fleetv1.FreezeScope{Clusters: []string{"mgmt-b/shop/b", "x/y/z"}}, nil, []string{"b"}},
		"clusters of others":             {fleetv1.FreezeScope{Clusters: []string{"x/y/z"}}, nil, nil},
		"clusters by label":              {fleetv1.FreezeScope{Selector: selector("tier", "prod")}, nil, []string{"a"}},
		"clusters by management cluster": {fleetv1.FreezeScope{ManagementClusters: []string{"mgmt-b"}}, nil, []string{"b", "c"}},
		"an unreadable selector":         {fleetv1.FreezeScope{Selector: unreadable}, nil, []string{"all"}},
		"a selector that is empty":       {fleetv1.FreezeScope{Selector: &metav1.LabelSelector{}}, nil, []string{"all"}},
		"no scope at all":                {fleetv1.FreezeScope{}, nil, []string{"all"}},
		"a misspelt scope": {
			fleetv1.FreezeScope{Clusters: []string{"mgmt-b/shop/b"}}, []string{"spec.scope.polices"}, []string{"all"},
		},
		"a value that cannot be read": {
			fleetv1.FreezeScope{Clusters: []string{"mgmt-b/shop/b"}}, []string{"spec: no time"}, []string{"all"},
		},
		"a misspelt end": {
			fleetv1.FreezeScope{Clusters: []string{"mgmt-b/shop/b"}}, []string{"spec.untill"}, []string{"b"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubOf(anyTime(), nil, prod, lab, gone)
			h.Upgrades[2].Spec.WorkloadCluster.UID = "uid of before"
			h.Upgrades[1].Spec.ManagementCluster, h.Upgrades[2].Spec.ManagementCluster = "mgmt-b", "mgmt-b"
			h.Freezes = []*fleetv1.Freeze{freeze("fleet", "fz", c.scope, func(s *fleetv1.FreezeSpec) { s.Unknown = c.unknown })}
			var got []string
			for _, f := range observe.Fleet(h).Freezes {
				got = slices.Sorted(maps.Keys(f.Clusters))
				if f.All {
					got = append(got, "all")
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFreezeAsValues(t *testing.T) {
	instant := func(seconds, nanoseconds int) *metav1.Time {
		return new(metav1.NewTime(now.Add(time.Duration(seconds)*time.Second + time.Duration(nanoseconds))))
	}
	h := hubOf(anyTime(), nil, seen("mgmt-a/shop/a"))
	all := fleetv1.FreezeScope{All: new(true)}
	h.Freezes = []*fleetv1.Freeze{
		freeze("windlass-system", "everywhere", all),
		freeze("fleet", "christmas", all, func(s *fleetv1.FreezeSpec) {
			s.From, s.Until, s.Effect = instant(1, 5), instant(9, 5), fleetv1.FreezeNoNewClusters
		}),
	}
	want := []policy.Freeze{
		{
			Name: "christmas", Reason: "holidays", By: "jane", From: now.Add(time.Second), Until: now.Add(10 * time.Second),
			NewClustersOnly: true, All: true,
		},
		{Name: "windlass-system/everywhere", Reason: "holidays", By: "jane", All: true},
	}
	if diff := cmp.Diff(want, observe.Fleet(h).Freezes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestApprovalsOfTheRollout: only those that name it, and the author counts only where the API server vouched for them.
func TestApprovalsOfTheRollout(t *testing.T) {
	approval := func(name string, change ...func(*fleetv1.Approval)) *fleetv1.Approval {
		a := &fleetv1.Approval{
			ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: name, CreationTimestamp: metav1.NewTime(now)},
			Spec: fleetv1.ApprovalSpec{
				Rollout: "ro", Wave: "early", PlanDigest: "d", Decision: fleetv1.DecisionApproved, By: "jane", Reason: "fine",
			},
		}
		for _, c := range change {
			c(a)
		}
		return a
	}
	want := policy.Approval{Name: "a", By: "jane", Wave: "early", Digest: "d", Reason: "fine", At: now}
	h := hubOf(anyTime(), nil)
	of := func(a *fleetv1.Approval) []policy.Approval {
		h.Approvals = []*fleetv1.Approval{a}
		return observe.Fleet(h).Approvals
	}
	cases := map[string]struct {
		approval *fleetv1.Approval
		change   func(*policy.Approval)
	}{
		"as it is": {approval("a"), func(*policy.Approval) {}},
		"a rejection, until an hour from now": {
			approval("a", func(a *fleetv1.Approval) {
				a.Spec.Decision, a.Spec.ExpiresAt = fleetv1.DecisionRejected, new(metav1.NewTime(now.Add(time.Hour)))
			}),
			func(a *policy.Approval) { a.Rejected, a.ExpiresAt = true, now.Add(time.Hour) },
		},
		"a word that is not known is no approval": {
			approval("a", func(a *fleetv1.Approval) { a.Spec.Decision = "Maybe" }), func(a *policy.Approval) { a.Rejected = true },
		},
		"of another rollout":    {approval("a", func(a *fleetv1.Approval) { a.Spec.Rollout = "other" }), nil},
		"of another namespace":  {approval("a", func(a *fleetv1.Approval) { a.Namespace = "other" }), nil},
		"with a misspelt field": {approval("a", func(a *fleetv1.Approval) { a.Spec.Unknown = []string{"spec.expires"} }), nil},
		"that is being deleted": {
			approval("a", func(a *fleetv1.Approval) { a.DeletionTimestamp = new(metav1.NewTime(now)) }), nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var all []policy.Approval
			if c.change != nil {
				one := want
				c.change(&one)
				all = append(all, one)
			}
			if diff := cmp.Diff(all, of(c.approval)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	h.AuthorsVerified = func(a *fleetv1.Approval) bool { return a.Name == "vouched" }
	if of(approval("a"))[0].Verified || !of(approval("vouched"))[0].Verified {
		t.Error("it is not the caller who says whether the author is verified")
	}
}
