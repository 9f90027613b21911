// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
