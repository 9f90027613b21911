// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package acts_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// requested is the policy of rollout k8s, whose change somebody asked for.
func requested(by string) *fleetv1.RolloutPolicy {
	return &fleetv1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "k8s", UID: "uid-policy"},
		Spec:       fleetv1.RolloutPolicySpec{Change: &fleetv1.Change{RequestedBy: by}},
	}
}

func TestAnApprovalSaysWhetherItCountsAndWhyNot(t *testing.T) {
	type parts struct {
		a      *fleetv1.Approval
		ro     *fleetv1.Rollout
		p      *fleetv1.RolloutPolicy
		others []client.Object
	}
	newer := func(name, by string) *fleetv1.Approval {
		a := approval(name, by)
		a.CreationTimestamp = metav1.NewTime(noon.Add(time.Second))
		return a
	}
	for name, c := range map[string]struct {
		change func(*parts)
		want   string
	}{
		"it counts":                        {func(*parts) {}, "True Counted"},
		"a rejection counts":               {func(p *parts) { p.a.Spec.Decision = fleetv1.DecisionRejected }, "True Counted: no cluster of wave rest begins while it stands"},
		"the wave needs none":              {func(p *parts) { p.a.Spec.Wave = "early" }, "True Counted: wave early needs no approval"},
		"there is no policy any more":      {func(p *parts) { p.p.Name = "other" }, "True Counted"},
		"a policy of that name came later": {func(p *parts) { p.p.UID, p.p.Spec.Change.RequestedBy = "uid-other", "jane" }, "True Counted"},
		"no rollout":                       {func(p *parts) { p.ro.Name = "other" }, "False UnknownRollout: there is no Rollout k8s"},
		"a rollout of another namespace":   {func(p *parts) { p.ro.Namespace = "other" }, "False UnknownRollout: there is no Rollout k8s"},
		"no wave":                          {func(p *parts) { p.a.Spec.Wave = "late" }, "False UnknownRollout: Rollout k8s has no wave late"},
		"no plan yet": {
			func(p *parts) { p.ro.Status = fleetv1.RolloutStatus{} }, "False DigestChanged: Rollout k8s has no plan yet",
		},
		"another plan":       {func(p *parts) { p.a.Spec.PlanDigest = "d0" }, "False DigestChanged: the plan is d1 now"},
		"the one who asked":  {func(p *parts) { p.p.Spec.Change.RequestedBy = "jane" }, "False RequestedBySelf: jane is change.requestedBy of the policy"},
		"replaced":           {func(p *parts) { p.others = append(p.others, newer("b", "jane")) }, "False Replaced: b of the same author is newer"},
		"another author's":   {func(p *parts) { p.others = append(p.others, newer("b", "john")) }, "True Counted"},
		"an older one":       {func(p *parts) { p.a = newer("a", "jane"); p.others = append(p.others, approval("b", "jane")) }, "True Counted"},
		"of another wave":    {func(p *parts) { b := newer("b", "jane"); b.Spec.Wave = "early"; p.others = append(p.others, b) }, "True Counted"},
		"of another plan":    {func(p *parts) { b := newer("b", "jane"); b.Spec.PlanDigest = "d0"; p.others = append(p.others, b) }, "True Counted"},
		"of another rollout": {func(p *parts) { b := newer("b", "jane"); b.Spec.Rollout = "other"; p.others = append(p.others, b) }, "True Counted"},
		"by a rejection of the same second": {
			func(p *parts) {
				b := approval("b", "jane")
				b.Spec.Decision = fleetv1.DecisionRejected
				p.others = append(p.others, b)
			},
			"False Replaced: b of the same author is newer",
		},
		"expired": {
			func(p *parts) { p.a.Spec.ExpiresAt = new(metav1.NewTime(noon)) }, "False Expired: expired at 2026-11-30T12:00:00Z",
		},
		"replaced by one that expired, which brings nothing back": {
			func(p *parts) {
				b := newer("b", "jane")
				b.Spec.ExpiresAt = new(metav1.NewTime(noon))
				p.others = append(p.others, b)
			},
			"False Replaced: b of the same author is newer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &parts{a: approval("a", "jane"), ro: planned(), p: requested("joe")}
			c.change(p)
			w := newWorld(t, append(append(guards(t), p.a, p.ro, p.p), p.others...)...)
			got, again := w.verdict(approval("a", "jane"))
			if got != c.want || again != 0 {
				t.Errorf("it says %q and looks again after %s, want %q", got, again, c.want)
			}
		})
	}
}

func TestAnApprovalWithAMisspeltFieldDoesNotCount(t *testing.T) {
	w := newWorld(t, append(guards(t), planned())...)
	a := approval("a", "jane")
	a.Spec.Unknown = []string{"spec.expires"}
	// A client that knows the kind cannot write such a field: it is judged as it was read.
	if got := judged(t, w, a); got != "False UnknownField: unknown field spec.expires; accepted: what kubectl explain approval.spec lists" {
		t.Errorf("it says %q", got)
	}
}

func TestAnApprovalExpiresByTheClockAlone(t *testing.T) {
	a := approval("a", "jane")
	a.Spec.ExpiresAt = new(metav1.NewTime(noon.Add(time.Minute)))
	w := newWorld(t, append(guards(t), planned(), a)...)
	got, again := w.verdict(a)
	if got != "True Counted" || again != 59*time.Second {
		t.Fatalf("it says %q and looks again after %s", got, again)
	}
	w.clock.Step(again)
	again = w.look(w.approvals, a)
	if got := said(t, a.Status.Conditions, fleetv1.ValidCondition); got != "False Expired: expired at 2026-11-30T12:01:00Z" || again != 0 {
		t.Errorf("it says %q and looks again after %s", got, again)
	}
}

// TestWhatChangedIsSaid, also by a hub that has been restarted since, until the plan changes again.
func TestWhatChangedIsSaid(t *testing.T) {
	ro := planned()
	faster := func(n int) string {
		return policy.Settings{AnyTime: true, Waves: []policy.WaveSettings{{Name: "rest", MaxConcurrency: n}}}.Text()
	}
	ro.Status.Settings = faster(2)
	w := newWorld(t, append(guards(t), ro, approval("a", "jane"))...)
	if got, _ := w.verdict(approval("a", "jane")); got != "True Counted" {
		t.Fatalf("it says %q", got)
	}
	replan := func(digest string, n int) {
		ro.Status.Digest, ro.Status.Settings = digest, faster(n)
		if err := w.hub.Status().Update(t.Context(), ro); err != nil {
			t.Fatal(err)
		}
	}
	replan("d2", 5)
	const want = "False DigestChanged: the plan is d2 now: wave rest: maxConcurrency 5, was 2"
	for range 2 {
		if got, _ := w.verdict(approval("a", "jane")); got != want {
			t.Errorf("it says %q", got)
		}
		w.restart()
	}
	replan("d3", 6)
	if got, _ := w.verdict(approval("a", "jane")); got != "False DigestChanged: the plan is d3 now" {
		t.Errorf("it says %q", got)
	}
	replan("d1", 2)
	if got, _ := w.verdict(approval("a", "jane")); got != "True Counted" {
		t.Errorf("taken back it says %q", got)
	}
}

func TestAStatusIsWrittenAtMostOnceASecond(t *testing.T) {
	ro := planned()
	w := newWorld(t, append(guards(t), ro, approval("a", "jane"))...)
	if got, _ := w.verdict(approval("a", "jane")); got != "True Counted" {
		t.Fatalf("it says %q", got)
	}
	ro.Status.Digest = "d2"
	if err := w.hub.Status().Update(t.Context(), ro); err != nil {
		t.Fatal(err)
	}
	a := approval("a", "jane")
	if again := w.look(w.approvals, a); again != time.Second {
		t.Errorf("it looks again after %s", again)
	}
	if got := said(t, a.Status.Conditions, fleetv1.ValidCondition); got != "True Counted" {
		t.Errorf("within the second it says %q", got)
	}
	w.clock.Step(time.Second)
	w.look(w.approvals, a)
	if got := said(t, a.Status.Conditions, fleetv1.ValidCondition); got != "False DigestChanged: the plan is d2 now" {
		t.Errorf("after it, it says %q", got)
	}
}
