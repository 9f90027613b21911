// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-dev/windlass/engine/capi"
)

var ck8s = schema.GroupVersionKind{
	Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "CK8sControlPlane",
}

// serving is a mapper of a member that serves Cluster API in these versions, and these kinds.
func serving(versions []string, kinds ...schema.GroupVersionKind) *meta.DefaultRESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{ck8s.GroupVersion()})
	for _, v := range versions {
		for _, kind := range []string{"Cluster", "Machine", "MachineSet", "MachineDeployment"} {
			m.Add(schema.GroupVersionKind{Group: capi.Group, Version: v, Kind: kind}, meta.RESTScopeNamespace)
		}
	}
	for _, gvk := range kinds {
		m.Add(gvk, meta.RESTScopeNamespace)
	}
	return m
}

func kindsIn(version string, controlPlanes ...schema.GroupVersionKind) capi.Kinds {
	gv := schema.GroupVersion{Group: capi.Group, Version: version}
	return capi.Kinds{
		Cluster: gv.WithKind("Cluster"), Machine: gv.WithKind("Machine"), MachineSet: gv.WithKind("MachineSet"),
		MachineDeployment: gv.WithKind("MachineDeployment"), ControlPlanes: controlPlanes,
	}
}

func TestDiscoverReadsTheBestServedVersion(t *testing.T) {
	cases := map[string]struct {
		mapper meta.RESTMapper
		want   capi.Kinds
	}{
		"only v1beta1":                        {serving([]string{"v1beta1"}, ck8s), kindsIn("v1beta1", ck8s)},
		"only v1beta2":                        {serving([]string{"v1beta2"}, ck8s), kindsIn("v1beta2", ck8s)},
		"both, the older preferred":           {serving([]string{"v1beta1", "v1beta2"}, ck8s), kindsIn("v1beta2", ck8s)},
		"without the control plane's kind":    {serving([]string{"v1beta2"}), kindsIn("v1beta2")},
		"a version that nobody here can read": {serving([]string{"v1beta9", "v1beta1"}), kindsIn("v1beta1")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := capi.Discover(c.mapper, capi.DefaultControlPlanes())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiscoverSaysThatClusterAPIIsNotInstalled(t *testing.T) {
	for name, m := range map[string]meta.RESTMapper{
		"nothing is served":             serving(nil),
		"only the control plane's kind": serving(nil, ck8s),
		"only a version of tomorrow":    serving([]string{"v1beta9"}),
	} {
		t.Run(name, func(t *testing.T) {
			if k, err := capi.Discover(m, capi.DefaultControlPlanes()); !meta.IsNoMatchError(err) {
				t.Errorf("found %+v, %v", k, err)
			}
		})
	}
}

// failing answers for one kind with an error that says nothing of what is served.
type failing struct {
	meta.RESTMapper
	kind string
	err  error
}

func (f failing) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if gk.Kind == f.kind {
		return nil, f.err
	}
	return f.RESTMapper.RESTMapping(gk, versions...)
}

func TestDiscoverTakesNoErrorForAnAbsence(t *testing.T) {
	away := errors.New("connection refused")
	for _, kind := range []string{"Cluster", "CK8sControlPlane"} {
		m := failing{serving([]string{"v1beta2"}, ck8s), kind, away}
		k, err := capi.Discover(m, capi.DefaultControlPlanes())
		if !errors.Is(err, away) || !cmp.Equal(k, capi.Kinds{}) {
			t.Errorf("%s: found %+v, %v", kind, k, err)
		}
	}
}

func TestControlPlaneOfAReference(t *testing.T) {
	k := kindsIn("v1beta2", ck8s)
	if got, ok := k.ControlPlane(capi.Ref{Group: ck8s.Group, Kind: ck8s.Kind, Name: "x"}); !ok || got != ck8s {
		t.Errorf("found %s, %t", got, ok)
	}
	for name, ref := range map[string]capi.Ref{
		"none": {}, "another kind": {Group: ck8s.Group, Kind: "KubeadmControlPlane"},
		"another group": {Group: "example.com", Kind: ck8s.Kind},
	} {
		if got, ok := k.ControlPlane(ref); ok {
			t.Errorf("%s: found %s", name, got)
		}
	}
	want := []schema.GroupVersionKind{k.Cluster, k.Machine, k.MachineSet, k.MachineDeployment, ck8s}
	if diff := cmp.Diff(want, k.All()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestObjectsToReadInto(t *testing.T) {
	if got := capi.Object(ck8s).GroupVersionKind(); got != ck8s {
		t.Errorf("an object of %s", got)
	}
	want := ck8s
	want.Kind = "CK8sControlPlaneList"
	if got := capi.List(ck8s).GroupVersionKind(); got != want {
		t.Errorf("a list of %s", got)
	}
}
