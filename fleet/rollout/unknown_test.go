// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// misspell makes the hub read its policies as if a merge patch had been written to their specs: the fake API server keeps
// no field that the types lack. An empty patch puts it right.
func (h *hub) misspell(patch string) {
	h.t.Helper()
	h.cache = interceptor.NewClient(h.cache.(client.WithWatch), interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption,
		) error {
			err := c.Get(ctx, key, o, opts...)
			if p, is := o.(*fleetv1.RolloutPolicy); is && err == nil {
				p.Spec.Unknown = nil
				return json.Unmarshal([]byte(patch), &p.Spec)
			}
			return err
		},
	})
	h.policies.Hub, h.rollouts.Hub = h.cache, h.cache
}

// TestLaw21APolicyWithAnUnknownFieldIsNotAccepted, should the API server ever hold one.
func TestLaw21APolicyWithAnUnknownFieldIsNotAccepted(t *testing.T) {
	cases := map[string]struct{ patch, field, explain string }{
		"matchExpressions beside matchLabels": {
			`{"clusters":{"selector":{"matchLabels":{"tier":"prod"},"matchExpresions":[{"key":"region"}]}}}`,
			"spec.clusters.selector.matchExpresions", "rolloutpolicy.spec.clusters.selector",
		},
		"managementClusterSelector beside selector": {
			`{"clusters":{"selector":{"matchLabels":{"tier":"prod"}},"managmentClusterSelector":{}}}`,
			"spec.clusters.managmentClusterSelector", "rolloutpolicy.spec.clusters",
		},
		"paused": {`{"puased":true}`, "spec.puased", "rolloutpolicy.spec"},
		"order":  {`{"upgrade":{"oder":"WorkersOnly"}}`, "spec.upgrade.oder", "rolloutpolicy.spec.upgrade"},
		"a wave's": {
			`{"waves":[{"name":"rest","rest":true,"maxConcurency":1}]}`, "spec.waves[0].maxConcurency", "rolloutpolicy.spec.waves",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, standing("k8s"), member("mgmt-a", 1), recorded("a"))
			h.misspell(c.patch)
			h.turn()
			h.turn()
			if got := h.allRollouts(); len(got) != 0 {
				t.Errorf("%d Rollouts", len(got))
			}
			p := &fleetv1.RolloutPolicy{}
			h.get("k8s", p)
			got := meta.FindStatusCondition(p.Status.Conditions, fleetv1.ReadyCondition)
			want := &metav1.Condition{
				Type: "Ready", Status: metav1.ConditionFalse, Reason: "UnknownField", ObservedGeneration: 1,
				Message:            "unknown field " + c.field + "; accepted: what kubectl explain " + c.explain + " lists",
				LastTransitionTime: got.LastTransitionTime,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			h.misspell("{}")
			h.turn()
			if got := h.allRollouts(); len(got) != 1 {
				t.Errorf("put right, it has %d Rollouts", len(got))
			}
		})
	}
}

// waits is why a Rollout waits.
func (h *hub) waits(name string) (phase fleetv1.RolloutPhase, reason, message string) {
	h.t.Helper()
	ro := &fleetv1.Rollout{}
	h.get(name, ro)
	if ro.Status.Waiting == nil {
		return ro.Status.Phase, "", ""
	}
	return ro.Status.Phase, ro.Status.Waiting.Reason, ro.Status.Waiting.Message
}

func TestLaw21ARolloutWhosePolicyHasAnUnknownFieldIsNotPlanned(t *testing.T) {
	h, name := fleet(t)
	h.misspell(`{"clusters":{"managmentClusterSelector":{}}}`)
	h.settle(name)
	phase, reason, message := h.waits(name)
	if phase != fleetv1.RolloutPlanning || reason != policy.ReasonUnknownField || len(h.upgrades()) != 0 ||
		!strings.Contains(message, "spec.clusters.managmentClusterSelector") {
		t.Errorf("%s %s %q, %d ClusterUpgrades", phase, reason, message, len(h.upgrades()))
	}
	h.misspell("{}")
	h.settle(name)
	if h.running() != 1 {
		t.Errorf("put right, %d clusters run", h.running())
	}
}

func TestLaw21ARolloutWhosePolicyGetsAnUnknownFieldGoesNoFurther(t *testing.T) {
	h, name := started(t)
	h.misspell(`{"puased":true}`)
	h.settle(name)
	phase, reason, message := h.waits(name)
	if phase != fleetv1.RolloutPaused || reason != policy.ReasonUnknownField || !strings.Contains(message, "spec.puased") {
		t.Errorf("%s %s %q", phase, reason, message)
	}
	intents := map[fleetv1.Intent]int{}
	for _, cu := range h.upgrades() {
		intents[cu.Spec.Intent]++
	}
	want := map[fleetv1.Intent]int{fleetv1.IntentHold: 1, fleetv1.IntentWait: 2}
	if diff := cmp.Diff(want, intents); diff != "" {
		t.Errorf("intents (-want +got):\n%s", diff)
	}
	h.misspell("{}")
	h.settle(name)
	if h.running() != 1 {
		t.Errorf("put right, %d clusters run", h.running())
	}
}
