// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
)

// misspell makes the hub read its ManagementClusters as if a merge patch had been written to their specs: the fake API
// server keeps no field that the types lack.
func (h *hub) misspell(patch string) {
	h.reconciler.Hub = interceptor.NewClient(h.client, interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption,
		) error {
			err := c.Get(ctx, key, o, opts...)
			if mc, is := o.(*fleetv1.ManagementCluster); is && err == nil {
				return json.Unmarshal([]byte(patch), &mc.Spec)
			}
			return err
		},
	})
}

// TestLaw21ARegistrationWithAnUnknownFieldIsInert, should the API server ever hold one.
func TestLaw21ARegistrationWithAnUnknownFieldIsInert(t *testing.T) {
	for patch, field := range map[string]string{
		`{"namspaces":["shop"]}`:                "spec.namspaces",
		`{"maxConcurentClusters":1}`:            "spec.maxConcurentClusters",
		`{"kubeconfigSecretRef":{"nam":"b"}}`:   "spec.kubeconfigSecretRef.nam",
		`{"policiesFrom":{"form":"Same"}}`:      "spec.policiesFrom.form",
		`{"Access":"ReadOnly","access":"None"}`: "spec.Access",
	} {
		t.Run(field, func(t *testing.T) {
			h := newHub(t, leadsTo(serve(t, nil)))
			h.misspell(patch)
			got := h.look()
			want := conditions("False UnknownField", "Unknown UnknownField", "Unknown Unreachable", "Unknown Unreachable")
			if diff := cmp.Diff(want, says(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, engaged := h.reconciler.Provider.Member("fleet/a"); engaged {
				t.Error("it was connected")
			}
			mc := fleetv1.ManagementClusterSpec{Unknown: []string{field}}
			if c := meta.FindStatusCondition(got.Conditions, fleetv1.ReadyCondition); c.Message != mc.WhyUnknown() {
				t.Errorf("Ready says %q", c.Message)
			}
		})
	}
}

// TestLaw21AMemberThatGetsAnUnknownFieldStaysAsItWasConnected, and nothing new starts there.
func TestLaw21AMemberThatGetsAnUnknownFieldStaysAsItWasConnected(t *testing.T) {
	h := newHub(t, leadsTo(serve(t, func(s *server) { s.clusters = []string{"eu-1"} })))
	before := h.look()
	h.misspell(`{"namspaces":["shop"]}`)
	after := h.look()
	want := conditions("False UnknownField", "True Reachable", "True Authorized", "True Installed")
	if diff := cmp.Diff(want, says(after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(before, "Conditions"), sameInstant); diff != "" {
		t.Errorf("what is known of it (-before +after):\n%s", diff)
	}
	if _, engaged := h.reconciler.Provider.Member("fleet/a"); !engaged {
		t.Error("it was disconnected")
	}
	h.reconciler.Hub = h.client
	if diff := cmp.Diff(well, says(h.look())); diff != "" {
		t.Errorf("put right (-want +got):\n%s", diff)
	}
}

func TestLaw21ARegistrationWithAnUnknownFieldIsNotAcceptedBeforeItIsLookedAt(t *testing.T) {
	mc := registered("a", now)
	mc.Status.Conditions = []metav1.Condition{{Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue}}
	if !member.Accepted(mc) {
		t.Error("a member that is ready is not accepted")
	}
	mc.Spec.Unknown = []string{"spec.namspaces"}
	if member.Accepted(mc) {
		t.Error("it is accepted")
	}
}
