// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/windlass-dev/windlass/engine/capi"
)

func TestAMachineThatWasUpgradedInPlaceHasTheSpecThatItShouldHave(t *testing.T) {
	condition := func(kind, status, reason string) any {
		return map[string]any{"type": kind, "status": status, "reason": reason}
	}
	cases := map[string]struct {
		conditions []any
		want       capi.Status
	}{
		"not served":                        {nil, capi.Unknown},
		"up to date":                        {[]any{condition("UpToDate", "True", "UpToDate")}, capi.True},
		"its owner wants another spec":      {[]any{condition("UpToDate", "False", "NotUpToDate")}, capi.False},
		"its owner does not know":           {[]any{condition("UpToDate", "Unknown", "InternalError")}, capi.Unknown},
		"only its node has another version": {[]any{condition("UpToDate", "False", "Updating")}, capi.True},
		"Cluster API itself is updating it": {
			[]any{condition("UpToDate", "False", "Updating"), condition("Updating", "True", "InPlaceUpdating")}, capi.False,
		},
		"Cluster API itself has updated it": {
			[]any{condition("Updating", "False", "NotUpdating"), condition("UpToDate", "False", "Updating")}, capi.True,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": c.conditions}}}
			if got := capi.ParseMachine(o.DeepCopy()).SpecUpToDate; got != c.want {
				t.Errorf("live: got %q, want %q", got, c.want)
			}
			trimmed, err := capi.Trim(o)
			if err != nil {
				t.Fatal(err)
			}
			if got := capi.ParseMachine(trimmed.(*unstructured.Unstructured)).SpecUpToDate; got != c.want {
				t.Errorf("from a cache: got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMachinesKnowBetterThanTheirOwnerWhetherTheyAreReplaced(t *testing.T) {
	machine := func(name string, s capi.Status) capi.Machine {
		return capi.Machine{Meta: capi.Meta{Name: name}, Set: "new", SpecUpToDate: s}
	}
	cases := map[string]struct {
		machines []capi.Machine
		want     [2]string
	}{
		"all have the spec that they should have": {
			machines: []capi.Machine{machine("a", capi.True), machine("b", capi.True)},
		},
		"one has not": {
			[]capi.Machine{machine("a", capi.True), machine("b", capi.False)},
			[2]string{"machine b is going to be replaced or updated", "machine b is going to be replaced or updated"},
		},
		"one does not say": {
			[]capi.Machine{machine("a", capi.True), machine("b", capi.Unknown)},
			[2]string{"control plane cp is replacing its machines", "pool md is replacing its machines"},
		},
		"there is none": {
			want: [2]string{"control plane cp is replacing its machines", "pool md is replacing its machines"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := [2]string{
				capi.ControlPlane{Meta: capi.Meta{Name: "cp"}, RollingOut: capi.True}.RollsOut(c.machines),
				capi.MachineDeployment{Meta: capi.Meta{Name: "md"}, RollingOut: capi.True}.RollsOut(nil, c.machines),
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
