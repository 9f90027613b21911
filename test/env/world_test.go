// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
)

func TestHubServesItsKindsInItsNamespace(t *testing.T) {
	w, err := env.Start(t.Context(), env.Options{HubCRDs: filepath.Join("testdata", "hub")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	hub, err := w.Hub(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("test.windlass.dev/v1") // testdata/hub
	u.SetKind("Windlass")
	u.SetNamespace(env.HubNamespace)
	u.SetName("one")
	if err := hub.Client.Create(t.Context(), u); err != nil {
		t.Error(err)
	}
}

func TestKubeconfigSecretLeadsToTheWorkloadCluster(t *testing.T) {
	ns := namespace("access")
	ctx := t.Context()
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1").ControlPlane(1).Pool("a", 1))
	var s corev1.Secret
	key := client.ObjectKey{Namespace: ns, Name: "eu-1-kubeconfig"}
	if err := shared.current.Client.Get(ctx, key, &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != clusterv1.ClusterSecretType || s.Labels[clusterv1.ClusterNameLabel] != "eu-1" {
		t.Errorf("type %s, labels %v: Cluster API would not take it for a kubeconfig", s.Type, s.Labels)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(s.Data["value"])
	if err != nil {
		t.Fatal(err)
	}
	workload, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, machine := range []string{"eu-1-cp-0", "eu-1-a-0"} {
		var n corev1.Node
		if err := workload.Get(ctx, client.ObjectKey{Name: c.Node(machine)}, &n); err != nil {
			t.Error(err)
		}
	}
}

func TestCreatedObjectsReferToTheirRealOwners(t *testing.T) {
	ns := namespace("owners")
	for name, m := range map[string]*env.Management{"current member": shared.current, "older member": shared.old} {
		t.Run(name, func(t *testing.T) {
			cluster(t, m, build.Cluster(ns, "eu-1").ControlPlane(1).Pool("a", 1))
			got := []string{
				owner(t, m, ns, build.ControlPlaneGVK(), "eu-1-cp"), owner(t, m, ns, capi(m, "Machine"), "eu-1-cp-0"),
				owner(t, m, ns, capi(m, "MachineDeployment"), "eu-1-a"), owner(t, m, ns, capi(m, "Machine"), "eu-1-a-0"),
			}
			want := []string{"Cluster", "CK8sControlPlane", "Cluster", "MachineSet"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func capi(m *env.Management, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: clusterv1.GroupVersion.Group, Version: m.CAPIVersion, Kind: kind}
}

// owner returns the kind of an object's only owner, which must exist with the UID that the reference says.
func owner(t *testing.T, m *env.Management, ns string, gvk schema.GroupVersionKind, name string) string {
	t.Helper()
	get := func(gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		if err := m.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, u); err != nil {
			t.Fatal(err)
		}
		return u
	}
	refs := get(gvk, name).GetOwnerReferences()
	if len(refs) != 1 {
		t.Fatalf("%s %s has the owners %v", gvk.Kind, name, refs)
	}
	if get(schema.FromAPIVersionAndKind(refs[0].APIVersion, refs[0].Kind), refs[0].Name).GetUID() != refs[0].UID {
		t.Errorf("%s %s refers to a UID that its owner does not have", gvk.Kind, name)
	}
	return refs[0].Kind
}

func TestMisspeltControlPlaneFieldIsRefused(t *testing.T) {
	u := controlPlane("default", "misspelt")
	u.Object["spec"] = map[string]any{"version": "v1.33.4", "replica": int64(3)}
	if err := shared.current.Client.Create(t.Context(), u); err == nil || !strings.Contains(err.Error(), "spec.replica") {
		t.Errorf("error %v, want one that names spec.replica", err)
	}
}

func TestOwnWorkloadClusterGoesAndComesBackAlone(t *testing.T) {
	ns := namespace("own")
	ctx := t.Context()
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1").Own())
	beside := cluster(t, shared.current, build.Cluster(ns, "eu-2"))
	reach := func(c *env.Cluster, within time.Duration) error {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		return c.Server.Client.List(ctx, &corev1.NodeList{})
	}
	if err := c.Server.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := reach(c, 300*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server answers %v, want nothing until the deadline", err)
	}
	if err := reach(beside, settleWithin); err != nil {
		t.Errorf("the cluster beside it: %v", err)
	}
	if err := c.Server.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := reach(c, settleWithin); err != nil {
		t.Errorf("after the thaw: %v", err)
	}
	c.Server.Stop()
	if err := reach(c, settleWithin); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a stopped server answers %v, want connection refused", err)
	}
	if err := c.Server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	setVersion(t, c, "eu-1-cp-0", "v1.33.9") // the Node is still there, and the mirror sees it again
	await(t, shared.current.Client, machine(ns, "eu-1-cp-0"), func(m *clusterv1.Machine) bool {
		return m.Status.NodeInfo.KubeletVersion == "v1.33.9"
	})
}

func TestSecondServerOfOneNameIsRefused(t *testing.T) {
	if _, err := shared.Management(t.Context(), "north"); err == nil || !strings.Contains(err.Error(), "north") {
		t.Errorf("error %v, want one that names north", err)
	}
}

func TestHubWithoutCRDsSaysWhereItLooked(t *testing.T) {
	w, err := env.Start(t.Context(), env.Options{HubCRDs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if _, err := w.Hub(t.Context()); err == nil || !strings.Contains(err.Error(), "no CRD in") {
		t.Errorf("error %v, want one that says that there is no CRD", err)
	}
}
