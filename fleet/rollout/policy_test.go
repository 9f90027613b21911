// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/rollout"
)

// turn reconciles the policy k8s.
func (h *hub) turn() {
	h.t.Helper()
	if _, err := h.policies.Reconcile(h.t.Context(), request("k8s")); err != nil {
		h.t.Fatal(err)
	}
}

// retarget changes the policy's target.
func (h *hub) retarget(target fleetv1.Target) {
	h.t.Helper()
	p := &fleetv1.RolloutPolicy{}
	h.get("k8s", p)
	p.Spec.Target, p.Generation = target, p.Generation+1
	if err := h.live.Update(h.t.Context(), p); err != nil {
		h.t.Fatal(err)
	}
}

func TestATargetMakesOneRollout(t *testing.T) {
	h := newHub(t, standing("k8s"))
	h.turn()
	h.turn()
	want := []fleetv1.Rollout{{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: rollout.Name(standing("k8s"), first, 1), UID: "made-1", Generation: 1,
			Labels:      map[string]string{rollout.PolicyLabel: "k8s"},
			Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"},
			Finalizers:  []string{"fleet.windlass.dev/rollout"},
		},
		Spec: fleetv1.RolloutSpec{Policy: fleetv1.LocalRef{Name: "k8s", UID: "uid-k8s"}, Target: first, Number: 1},
	}}
	got := h.allRollouts()
	ignore := cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion")
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestACacheThatIsBehindMakesNoSecondRollout, nor does a process that is started again.
func TestACacheThatIsBehindMakesNoSecondRollout(t *testing.T) {
	h := newHub(t, standing("k8s"))
	h.hold()
	h.turn()
	h.turn()
	h.restart()
	h.turn()
	if got := h.allRollouts(); len(got) != 1 {
		t.Errorf("%d Rollouts", len(got))
	}
}

func TestANewTargetIsANewRolloutAndSoIsGoingBack(t *testing.T) {
	h := newHub(t, standing("k8s"))
	for _, target := range []fleetv1.Target{first, second, first} {
		h.retarget(target)
		h.turn()
		h.turn()
	}
	var numbers []int64
	names := map[string]bool{}
	for _, ro := range h.allRollouts() {
		numbers = append(numbers, ro.Spec.Number)
		names[ro.Name] = true
	}
	less := func(a, b int64) bool { return a < b }
	if diff := cmp.Diff([]int64{1, 2, 3}, numbers, cmpopts.SortSlices(less)); diff != "" || len(names) != 3 {
		t.Errorf("names %v, numbers (-want +got):\n%s", names, diff)
	}
}

// TestWhatIsLiveFromThePolicyMakesNoRollout: limits and the brake change the one that is there.
func TestWhatIsLiveFromThePolicyMakesNoRollout(t *testing.T) {
	h := newHub(t, standing("k8s"))
	h.turn()
	p := &fleetv1.RolloutPolicy{}
	h.get("k8s", p)
	p.Spec.Paused, p.Spec.Waves[0].MaxConcurrency = true, nil
	if err := h.live.Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.turn()
	if got := h.allRollouts(); len(got) != 1 {
		t.Errorf("%d Rollouts", len(got))
	}
}

// TestAPolicyMadeAnewInheritsNothing (law 1).
func TestAPolicyMadeAnewInheritsNothing(t *testing.T) {
	h := newHub(t, standing("k8s"))
	h.turn()
	p := &fleetv1.RolloutPolicy{}
	h.get("k8s", p)
	if err := h.live.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	again := standing("k8s")
	if err := h.live.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	h.turn()
	rollouts := h.allRollouts()
	if len(rollouts) != 2 || rollouts[0].Spec.Number != 1 || rollouts[1].Spec.Number != 1 {
		t.Fatalf("%+v", rollouts)
	}
	if rollouts[0].Spec.Policy.UID == rollouts[1].Spec.Policy.UID {
		t.Error("both are of one policy")
	}
}

func TestATargetWithoutAVersionIsResolvedOnce(t *testing.T) {
	p := standing("k8s")
	p.Spec.Target.Version = ""
	h := newHub(t, p)
	h.turn()
	h.turn()
	if got := h.allRollouts(); len(got) != 1 || got[0].Spec.Target.Version != "v1.33" {
		t.Errorf("%+v", got)
	}
}

// TestAPolicySaysWhatBecameOfIt: Ready means accepted and planned.
func TestAPolicySaysWhatBecameOfIt(t *testing.T) {
	ready := func(h *hub) *metav1.Condition {
		p := &fleetv1.RolloutPolicy{}
		h.get("k8s", p)
		if p.Status.ObservedGeneration != p.Generation {
			t.Errorf("generation %d is reported as %d", p.Generation, p.Status.ObservedGeneration)
		}
		return meta.FindStatusCondition(p.Status.Conditions, fleetv1.ReadyCondition)
	}
	t.Run("a target that cannot be read", func(t *testing.T) {
		p := standing("k8s")
		p.Spec.Target = fleetv1.Target{Channel: new("latest/stable")}
		h := newHub(t, p)
		h.turn()
		c := ready(h)
		refused := c.Status == metav1.ConditionFalse && c.Reason == fleetv1.InvalidReason
		if !refused || !strings.Contains(c.Message, "accepted:") {
			t.Errorf("%+v", c)
		}
		if got := h.allRollouts(); len(got) != 0 {
			t.Errorf("Rollouts were made: %+v", got)
		}
	})
	t.Run("planning, with its reason", func(t *testing.T) {
		h := newHub(t, standing("k8s"))
		h.turn()
		if c := ready(h); c.Status != metav1.ConditionFalse || c.Reason != "Planning" {
			t.Errorf("%+v", c)
		}
		ro := h.allRollouts()[0]
		ro.Status.Waiting = &fleetv1.Waiting{Reason: "NoClusters", Message: "none"}
		if err := h.live.Status().Update(t.Context(), &ro); err != nil {
			t.Fatal(err)
		}
		h.turn()
		if c := ready(h); c.Status != metav1.ConditionFalse || c.Reason != "NoClusters" || c.Message != "none" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("planned, with what it comes to", func(t *testing.T) {
		h := newHub(t, standing("k8s"))
		h.turn()
		ro := h.allRollouts()[0]
		ro.Status.Plan = &fleetv1.RolloutPlan{Total: 3, AtTarget: 2, Ineligible: 1}
		ro.Status.Waves = []fleetv1.WaveStatus{
			{Name: "canaries", Canary: true, Planned: 1, MaxConcurrency: 1}, {Name: "rest", Planned: 2, MaxConcurrency: 2},
		}
		if err := h.live.Status().Update(t.Context(), &ro); err != nil {
			t.Fatal(err)
		}
		h.turn()
		if c := ready(h); c.Status != metav1.ConditionTrue || c.Reason != fleetv1.PlannedReason {
			t.Errorf("%+v", c)
		}
		p := &fleetv1.RolloutPolicy{}
		h.get("k8s", p)
		want := fleetv1.RolloutPolicyStatus{
			ObservedGeneration: 1, Target: "channel=1.33-classic/stable", Rollout: ro.Name, Number: 1, Selected: 6,
			Canaries: 1,
			Waves: []fleetv1.EffectiveWave{
				{Name: "canaries", Clusters: 1, MaxConcurrency: 1}, {Name: "rest", Clusters: 2, MaxConcurrency: 2},
			},
		}
		if diff := cmp.Diff(want, p.Status, cmpopts.IgnoreFields(want, "Conditions")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAPolicyThatIsGoneMakesNothing(t *testing.T) {
	h := newHub(t)
	h.turn()
	if got := h.allRollouts(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestARefusedRolloutIsAnError(t *testing.T) {
	refused := errors.New("quota")
	h := newHub(t, standing("k8s"))
	h.refuse = func(client.Object) error { return refused }
	if _, err := h.policies.Reconcile(t.Context(), request("k8s")); !errors.Is(err, refused) {
		t.Errorf("it gave %v", err)
	}
}

// TestName: the policy's name and five characters that follow from policy, target and number.
func TestName(t *testing.T) {
	p := standing(strings.Repeat("k", 40))
	name := rollout.Name(p, first, 1)
	if len(name) != 46 || !strings.HasPrefix(name, p.Name+"-") || len(validation.IsDNS1123Label(name)) > 0 {
		t.Errorf("named %s", name)
	}
	other := standing("k8s")
	other.Name = p.Name
	sameText := first
	sameText.Version = "v1.33.10"
	for what, got := range map[string]string{
		"another target": rollout.Name(p, second, 1), "another version": rollout.Name(p, sameText, 1),
		"another number": rollout.Name(p, first, 2), "another policy of that name": rollout.Name(other, first, 1),
	} {
		if got == name {
			t.Errorf("%s has the same name", what)
		}
	}
	if again := rollout.Name(p, first, 1); again != name {
		t.Errorf("the same is named %s and %s", name, again)
	}
}

// TestDeletingARolloutStartsNothingAgain: it is cancelled, and only a new target starts another (law 6).
func TestDeletingARolloutStartsNothingAgain(t *testing.T) {
	h := newHub(t, standing("k8s"))
	h.turn()
	ro := h.allRollouts()[0]
	ro.Finalizers = nil
	if err := h.live.Update(t.Context(), &ro); err != nil {
		t.Fatal(err)
	}
	if err := h.live.Delete(t.Context(), &ro); err != nil {
		t.Fatal(err)
	}
	h.turn()
	h.restart()
	h.turn()
	if got := h.allRollouts(); len(got) != 0 {
		t.Errorf("it was made again: %s", got[0].Name)
	}
	h.retarget(second)
	h.turn()
	if got := h.allRollouts(); len(got) != 1 || got[0].Name == ro.Name {
		t.Errorf("a new target: %+v", got)
	}
	h.retarget(first)
	h.turn()
	names := map[string]bool{ro.Name: true}
	for _, ro := range h.allRollouts() {
		names[ro.Name] = true
	}
	if len(names) != 3 {
		t.Errorf("a name was used twice: %v", names)
	}
}

// TestEveryChangeOfATargetIsANewRollout: the same channel once more, refreshed after an instant, is no rollout that was deleted.
func TestEveryChangeOfATargetIsANewRollout(t *testing.T) {
	for name, change := range map[string]func(*fleetv1.Target){
		"refreshedAfter": func(t *fleetv1.Target) {
			t.RefreshedAfter = new(metav1.NewTime(time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)))
		},
		"minorUpgrade": func(t *fleetv1.Target) { t.MinorUpgrade = fleetv1.MinorUpgradeAllow },
		"onMoved":      func(t *fleetv1.Target) { t.OnMoved = fleetv1.OnMovedContinue },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, standing("k8s"), member("mgmt-a", 1), recorded("a"))
			h.turn()
			h.settle(h.allRollouts()[0].Name)
			h.turn()
			h.policy(func(s *fleetv1.RolloutPolicySpec) { change(&s.Target) })
			h.turn()
			h.turn()
			all := h.allRollouts()
			if len(all) != 2 || all[0].Name == all[1].Name {
				t.Fatalf("%d Rollouts", len(all))
			}
		})
	}
}
