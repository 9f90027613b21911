// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// PROTOCOL.md 5.2, 20.
func TestFault20_NoTokenIsEverLoggedToldOrWritten(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"401 that repeats it": func(w *world) { w.nodes["n0"].says(http.StatusUnauthorized, `{"error":"not `+token+`"}`) },
		"no JSON":             func(w *world) { w.nodes["n0"].says(http.StatusOK, token) },
		"no HTTP":             func(w *world) { w.nodes["n0"].answer = []byte(token + "\r\n\r\n") },
		"a cut call":          func(w *world) { w.nodes["n0"].answer = nil },
		"no k8sd":             func(w *world) { _ = w.nodes["n0"].listener.Close() },
		"no proxy pod":        func(w *world) { w.nodes["n0"].pod = "" },
		"no node":             func(w *world) { w.nodes["n0"].name = "n1" },
		"no kubeconfig":       func(w *world) { w.drop("eu-kubeconfig") },
		"no tokens":           func(w *world) { w.drop("eu-token") },
		"a change id that is it": func(w *world) {
			w.nodes["n0"].says(http.StatusOK, `{"metadata":{"changeId":"`+token+`","status":"`+token+`","completed":true}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "n0")
			prepare(w)
			told := w.upgrade(w.client(defaults))
			if len(told) < 100 {
				t.Fatalf("nothing was told: %s", told)
			}
			for _, secret := range []string{token, "bearer"} {
				if strings.Contains(told, secret) {
					t.Errorf("%q is told:\n%s", secret, told)
				}
			}
		})
	}
}

// upgrade lets a machine of the node be upgraded for a while and returns all that was logged, told and written.
func (w *world) upgrade(c *k8sd.Client) string {
	w.t.Helper()
	kinds := capi.Kinds{
		Cluster: schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: "Cluster"},
		Machine: schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: "Machine"},
	}
	keys := protocol.KeysFor(protocol.ProviderPrefix)
	key := types.NamespacedName{Namespace: "shop", Name: "m0"}
	m, eu := capi.Object(kinds.Machine), capi.Object(kinds.Cluster)
	for o, name := range map[*unstructured.Unstructured]string{m: "m0", eu: "eu"} {
		o.SetNamespace("shop")
		o.SetName(name)
	}
	m.SetAnnotations(map[string]string{keys.To: "channel=x", protocol.PlanKey: `{"expectedVersion":"v1.34"}`})
	m.Object["spec"] = map[string]any{"clusterName": "eu"}
	m.Object["status"] = map[string]any{
		"nodeRef": map[string]any{"name": "n0"}, "nodeInfo": map[string]any{"kubeletVersion": "v1.33.0"},
	}
	objects := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(m, eu).Build()
	recorder := events.NewFakeRecorder(1000)
	upgrader := &machine.Reconciler{
		Member: member.Member{
			Cache: objects, Live: objects, Writer: objects, Events: recorder, Kinds: kinds, Keys: keys, Clock: w.clock,
		},
		K8sd: c, Pace: &machine.Pace{Jitter: func() float64 { return 0 }},
	}
	var told strings.Builder
	logger := funcr.New(func(_, line string) { told.WriteString(line + "\n") }, funcr.Options{Verbosity: 10})
	ctx := log.IntoContext(w.t.Context(), logger)
	for range 6 {
		if _, err := upgrader.Reconcile(ctx, reconcile.Request{NamespacedName: key}); err != nil {
			fmt.Fprintln(&told, err)
		}
		w.clock.Step(31 * time.Minute)
	}
	if err := objects.Get(w.t.Context(), key, m); err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintln(&told, m.GetAnnotations())
	for len(recorder.Events) > 0 {
		fmt.Fprintln(&told, <-recorder.Events)
	}
	return told.String()
}
