// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// TestLaw09_APermissionThatEndedIsSeenPastACacheThatHasNot: what the cache still allows is not begun once the cluster
// forbids it.
func TestLaw09_APermissionThatEndedIsSeenPastACacheThatHasNot(t *testing.T) {
	for name, change := range map[string]func(cluster *unstructured.Unstructured){
		"the permission is over": func(c *unstructured.Unstructured) {
			c.SetAnnotations(map[string]string{protocol.StartBeforeKey: protocol.FormatStartBefore(start)})
		},
		"the cluster is paused": func(c *unstructured.Unstructured) {
			c.SetAnnotations(map[string]string{
				protocol.StartBeforeKey: protocol.FormatStartBefore(start.Add(time.Hour)), "cluster.x-k8s.io/paused": "",
			})
		},
		"the permission is withdrawn": func(c *unstructured.Unstructured) { c.SetAnnotations(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, requested())
			w.annotate(map[string]string{protocol.HolderKey: "hub/1"})
			w.permit(protocol.FormatStartBefore(start.Add(time.Hour)))
			c := capi.Object(kinds.Cluster)
			c.SetNamespace(key.Namespace)
			c.SetName("eu")
			change(c)
			w.upgrader.Member.Live = fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(c).Build()
			before := w.machine().GetResourceVersion()
			result, err := w.reconcile()
			if err != nil || result.RequeueAfter == 0 {
				t.Errorf("looks again after %s, %v", result.RequeueAfter, err)
			}
			same(t, "refreshes", 0, w.node.posts)
			same(t, "resourceVersion", before, w.machine().GetResourceVersion())
		})
	}
}

// TestAProcessThatStoodStillAfterItsRecordSendsNothing: another engine may have taken the attempt for lost meanwhile.
func TestAProcessThatStoodStillAfterItsRecordSendsNothing(t *testing.T) {
	for pause, want := range map[time.Duration]int{time.Minute: 1, time.Minute + time.Second: 0, 2 * time.Hour: 0} {
		w := newWorld(t, requested())
		w.node.refreshes = accepts("1")
		calls := 0
		w.crash = func() error { // before and after each write
			if calls++; calls == 2 {
				w.clock.Step(pause)
			}
			return nil
		}
		if _, err := w.reconcile(); err != nil {
			t.Fatal(err)
		}
		same(t, "refreshes after "+pause.String(), want, w.node.posts)
	}
}

// TestLaw04_WhatCameOfARefreshIsRecordedOnAMachineThatOthersWroteMeanwhile: the cache has not seen their write.
func TestLaw04_WhatCameOfARefreshIsRecordedOnAMachineThatOthersWroteMeanwhile(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes = []func() (string, error){func() (string, error) {
		w.behind()
		w.change(func(m *unstructured.Unstructured) { m.SetLabels(map[string]string{"rack": "7"}) })
		return "42", nil
	}}
	if _, err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	same(t, "change id", "42", w.machine().GetAnnotations()[keys.ChangeID])
	same(t, "labels", map[string]string{"rack": "7"}, w.machine().GetLabels())
}

// TestLaw01_WhatCameOfARefreshIsNotRecordedOnAMachineOfTheSameName: its node was never refreshed, whatever stands on it.
func TestLaw01_WhatCameOfARefreshIsNotRecordedOnAMachineOfTheSameName(t *testing.T) {
	w := newWorld(t, requested())
	w.node.refreshes = []func() (string, error){func() (string, error) {
		old := w.machine()
		if err := w.client.Delete(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		old.SetUID("uid-m0-again")
		old.SetResourceVersion("")
		if err := w.client.Create(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		return "42", nil
	}}
	if _, err := w.reconcile(); err != nil {
		t.Fatal(err)
	}
	_, recorded := w.machine().GetAnnotations()[keys.ChangeID]
	same(t, "recorded", false, recorded)
}

// behind freezes the cache as it is now.
func (w *world) behind() {
	cluster := capi.Object(kinds.Cluster)
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: "eu"}, cluster); err != nil {
		w.t.Fatal(err)
	}
	w.upgrader.Member.Cache = fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(w.machine(), cluster).Build()
}
