// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// simScheme knows the one typed object that the engine uses: the fake client walks all that it knows at each write.
func simScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.ConfigMap{}, &corev1.ConfigMapList{})
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	return s
}

func simCore(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: kind}
}

func simObject(gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o := capi.Object(gvk)
	o.SetNamespace("shop")
	o.SetName(name)
	o.SetUID(types.UID("uid-" + name))
	o.SetLabels(map[string]string{capi.ClusterNameLabel: "eu"})
	return o
}

func simOwner(gvk schema.GroupVersionKind, name string, replicas int64) *unstructured.Unstructured {
	o := simObject(gvk, name)
	o.Object["spec"] = map[string]any{"replicas": replicas, "clusterName": "eu"}
	o.Object["status"] = map[string]any{"replicas": replicas, "readyReplicas": replicas}
	return o
}

// join adds a machine with its node.
func (s *simulation) join(name string) {
	n := &simNode{sim: s, name: name, version: simOld, ready: true, controlPlane: strings.HasPrefix(name, "cp-")}
	s.nodes[name] = n
	o := simObject(simKinds.Machine, name)
	labels := map[string]string{capi.ClusterNameLabel: "eu"}
	if n.controlPlane {
		labels[capi.ControlPlaneLabel] = ""
	} else {
		labels[capi.DeploymentNameLabel], labels[capi.SetNameLabel] = "a", "a-set"
	}
	o.SetLabels(labels)
	o.Object["spec"] = map[string]any{"clusterName": "eu"}
	n.shown(o)
	s.create(o)
	s.countReady()
}

// leave removes a machine with its node.
func (s *simulation) leave(name string) {
	delete(s.nodes, name)
	if err := s.store.Delete(context.Background(), s.get(simKinds.Machine, name)); err != nil {
		s.t.Fatalf("removing machine %s: %v", name, err)
	}
	s.changed(simKinds.Machine, simKey(name))
	s.countReady()
}

// grant asks both owners to upgrade, with permission for a day.
func (s *simulation) grant() {
	s.annotate(simKinds.Cluster, "eu", map[string]any{
		protocol.StartBeforeKey: protocol.FormatStartBefore(s.clock.Now().Add(24 * time.Hour)),
	})
	for _, owner := range []string{"cp", "a"} {
		s.annotate(simKindOf(owner), owner, map[string]any{
			keys.To: target, protocol.PlanKey: simPlan, protocol.HolderKey: "hub/1",
		})
	}
}

// withdraw takes back what grant asked for, as a person does; the hub then ends the permission too.
func (s *simulation) withdraw() {
	for _, owner := range []string{"a", "cp"} {
		s.annotate(simKindOf(owner), owner, map[string]any{
			keys.To: nil, protocol.PlanKey: nil, protocol.HolderKey: nil,
		})
	}
}

func (s *simulation) endPermission() {
	s.annotate(simKinds.Cluster, "eu", map[string]any{protocol.StartBeforeKey: protocol.FormatStartBefore(s.clock.Now())})
}

func simKindOf(name string) schema.GroupVersionKind {
	switch name {
	case "eu":
		return simKinds.Cluster
	case "cp":
		return simKinds.ControlPlanes[0]
	case "a":
		return simKinds.MachineDeployment
	}
	return simKinds.Machine
}

func simKey(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func (s *simulation) create(o *unstructured.Unstructured) {
	if err := s.store.Create(context.Background(), o); err != nil {
		s.t.Fatalf("creating %s: %v", o.GetName(), err)
	}
	s.changed(o.GroupVersionKind(), simKey(o.GetName()))
}

func (s *simulation) get(gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o, found := s.truth.objects[gvk][simKey(name)]
	if !found {
		s.t.Fatalf("no %s %s", gvk.Kind, name)
	}
	return o.DeepCopy()
}

// change writes an object as anybody but the engine would.
func (s *simulation) change(gvk schema.GroupVersionKind, name string, f func(o *unstructured.Unstructured)) {
	o := s.get(gvk, name)
	f(o)
	if err := s.store.Update(context.Background(), o); err != nil {
		s.t.Fatalf("changing %s: %v", name, err)
	}
	s.changed(gvk, simKey(name))
}

func (s *simulation) annotate(gvk schema.GroupVersionKind, name string, set map[string]any) {
	s.change(gvk, name, func(o *unstructured.Unstructured) {
		annotations := maps.Clone(o.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		for k, v := range set {
			if text, is := v.(string); is {
				annotations[k] = text
			} else {
				delete(annotations, k)
			}
		}
		o.SetAnnotations(annotations)
	})
}
