// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drive_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/fleet/drive"
)

var (
	now  = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	keys = protocol.KeysFor(protocol.ProviderPrefix)
	core = schema.GroupVersion{Group: capi.Group, Version: "v1beta2"}
	cp   = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "CK8sControlPlane"}

	kinds = capi.Kinds{
		Cluster: core.WithKind("Cluster"), Machine: core.WithKind("Machine"), MachineSet: core.WithKind("MachineSet"),
		MachineDeployment: core.WithKind("MachineDeployment"), ControlPlanes: []schema.GroupVersionKind{cp},
	}
	us = drive.Holder{Hub: "hub-1", Rollout: types.NamespacedName{Namespace: "fleet", Name: "k8s-x"}, UID: "cu-1"}
)

// errNotLeading is what the gate of a hub says that may no longer lead.
var errNotLeading = errors.New("the lease is old")

// write is one patch that was sent: to what, and its body.
type write struct {
	Object   string
	Type     types.PatchType
	Manager  string
	Metadata map[string]any
}

// world is a member with an API server that keeps uid and resourceVersion as the real one does.
type world struct {
	member drive.Member
	writes []write
	// before is called once before the next patch, as another writer that comes first.
	before func(client.WithWatch)
	client client.WithWatch
	gate   error
}

func newWorld(objects ...*unstructured.Unstructured) *world {
	w := &world{}
	b := fake.NewClientBuilder().WithScheme(runtime.NewScheme())
	for _, o := range objects {
		b = b.WithObjects(o)
	}
	w.client = interceptor.NewClient(b.Build(), interceptor.Funcs{Patch: w.patch})
	w.member = drive.Member{
		Client: w.client, Live: w.client, Kinds: kinds, Keys: keys, Holder: us,
		MayWrite: func() error { return w.gate },
	}
	return w
}

func (w *world) patch(
	ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption,
) error {
	body, err := p.Data(o)
	if err != nil {
		return err
	}
	sent := struct {
		Metadata map[string]any `json:"metadata"`
	}{}
	if err := json.Unmarshal(body, &sent); err != nil {
		return err
	}
	options := client.PatchOptions{}
	options.ApplyOptions(opts)
	w.writes = append(w.writes, write{
		Object: o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName(), Type: p.Type(),
		Manager: options.FieldManager, Metadata: sent.Metadata,
	})
	if before := w.before; before != nil {
		w.before = nil
		before(c)
	}
	return c.Patch(ctx, o, p, opts...)
}

// objects are the names of what was written to, in order.
func (w *world) objects() []string {
	var names []string
	for _, sent := range w.writes {
		names = append(names, sent.Object)
	}
	return names
}

// annotations reads those of an object as they stand.
func (w *world) annotations(t *testing.T, gvk schema.GroupVersionKind, name string) map[string]string {
	t.Helper()
	return w.read(t, gvk, name).GetAnnotations()
}

func (w *world) read(t *testing.T, gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	t.Helper()
	o := capi.Object(gvk)
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

func (w *world) cluster(t *testing.T) capi.Cluster {
	t.Helper()
	return capi.ParseCluster(w.read(t, kinds.Cluster, "eu-1"))
}

func (w *world) owner(t *testing.T, gvk schema.GroupVersionKind, name string) drive.Owner {
	t.Helper()
	return drive.Owner{
		Meta: capi.ParseControlPlane(w.read(t, gvk, name)).Meta, GVK: gvk, Target: "channel=1.33/stable",
		Plan: protocol.Plan{ExpectedVersion: "v1.33.9"},
	}
}

func (w *world) machine(t *testing.T, name string) capi.Machine {
	t.Helper()
	return capi.ParseMachine(w.read(t, kinds.Machine, name))
}

// object is an object of the member with annotations.
func object(gvk schema.GroupVersionKind, name string, annotations ...map[string]string) *unstructured.Unstructured {
	o := capi.Object(gvk)
	o.SetNamespace("shop")
	o.SetName(name)
	o.SetUID(types.UID("uid-" + name))
	all := map[string]string{}
	for _, a := range annotations {
		maps.Copy(all, a)
	}
	o.SetAnnotations(all)
	return o
}

// foreign is what others keep on the same objects.
var foreign = map[string]string{"example.com/team": "shop", "windlass.devious/plan": "theirs"}

// claim is an annotation that holds the cluster for an upgrade of a hub.
func claim(hub, uid, cluster string) map[string]string {
	return map[string]string{drive.ClaimKey: `{"v":1,"hub":"` + hub + `","rollout":"fleet/k8s-x","uid":"` + uid +
		`","cluster":"` + cluster + `","since":"2026-11-30T01:00:00Z"}`}
}

func ours() map[string]string { return claim("hub-1", "cu-1", "uid-eu-1") }
