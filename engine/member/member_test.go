// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

var gvk = schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: "Machine"}

func machine(annotations map[string]string) *unstructured.Unstructured {
	o := capi.Object(gvk)
	o.SetNamespace("shop")
	o.SetName("m0")
	o.SetUID("uid-m0")
	o.SetAnnotations(annotations)
	return o
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAWriteNamesItsKeysAndTheObjectSeen(t *testing.T) {
	var body string
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).
		WithObjects(machine(map[string]string{"stays": "1", "goes": "2", "changes": "3"})).
		WithInterceptorFuncs(interceptor.Funcs{Patch: func(
			ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption,
		) error {
			text, err := p.Data(o)
			if err != nil {
				t.Fatal(err)
			}
			body = string(text)
			return c.Patch(ctx, o, p, opts...)
		}}).Build()
	m := member.Member{Live: c, Writer: c, Kinds: capi.Kinds{Machine: gvk}}
	seen, found, err := m.Machine(t.Context(), c, types.NamespacedName{Namespace: "shop", Name: "m0"})
	if err != nil || !found {
		t.Fatal(found, err)
	}
	change := member.Patch{"goes": nil, "changes": "4", "stays": "1", "never": nil}
	after, err := m.Annotate(t.Context(), gvk, seen.Meta, change)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "body", `{"metadata":{"annotations":{"changes":"4","goes":null},"resourceVersion":"`+seen.ResourceVersion+
		`","uid":"uid-m0"}}`, body)
	same(t, "annotations after", map[string]string{"stays": "1", "changes": "4"}, after.Annotations)

	body = ""
	if _, err := m.Annotate(t.Context(), gvk, after, change); err != nil || body != "" {
		t.Errorf("a change that is there already writes %q, %v", body, err)
	}
	if _, err := m.Annotate(t.Context(), gvk, seen.Meta, member.Patch{"more": "1"}); !errors.Is(err, member.ErrStale) {
		t.Errorf("a write on what was seen before: %v", err)
	}
	seen.Name = "gone"
	if _, err := m.Annotate(t.Context(), gvk, seen.Meta, member.Patch{"more": "1"}); !errors.Is(err, member.ErrStale) {
		t.Errorf("a write on what is gone: %v", err)
	}
}

func TestTheGateStopsEveryKindOfWrite(t *testing.T) {
	lost := errors.New("this process does not lead any more")
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build()
	open, shut := member.Gate(c, func() error { return nil }), member.Gate(c, func() error { return lost })
	config := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "c"}}
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"b"}}`))
	for _, write := range []struct {
		name string
		do   func(w client.Writer) error
	}{
		{"create", func(w client.Writer) error { return w.Create(t.Context(), config()) }},
		{"update", func(w client.Writer) error { return w.Update(t.Context(), config()) }},
		{"patch", func(w client.Writer) error { return w.Patch(t.Context(), config(), patch) }},
		{"apply", func(w client.Writer) error {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			o.SetNamespace("shop")
			o.SetName("applied")
			return w.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"))
		}},
		{"delete", func(w client.Writer) error { return w.Delete(t.Context(), config()) }},
		{"delete all", func(w client.Writer) error {
			return w.DeleteAllOf(t.Context(), config(), client.InNamespace("shop"))
		}},
	} {
		if err := write.do(shut); !errors.Is(err, lost) {
			t.Errorf("%s through a shut gate: %v", write.name, err)
		}
		if err := write.do(open); err != nil {
			t.Errorf("%s through an open gate: %v", write.name, err)
		}
	}
}

func TestANoteFitsWhatTheAPIAccepts(t *testing.T) {
	recorder := events.NewFakeRecorder(2)
	m := member.Member{Events: recorder, Kinds: capi.Kinds{Machine: gvk}}
	m.Record(gvk, capi.Meta{Name: "m0"}, member.Warning("R", "100% "+strings.Repeat("ä", 2000)))
	m.Record(gvk, capi.Meta{Name: "m0"}, member.Normal("R", "100%"))
	long := strings.TrimPrefix(<-recorder.Events, "Warning R ")
	if len(long) >= 1024 || !utf8.ValidString(long) || !strings.HasPrefix(long, "100% ä") || !strings.HasSuffix(long, "ä...") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
	same(t, "a short one", "Normal R 100%", <-recorder.Events)
}

func TestBusyIsWhomeverAsks(t *testing.T) {
	own, provider := protocol.KeysFor(protocol.OwnPrefix), protocol.KeysFor(protocol.ProviderPrefix)
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		annotations map[string]string
		want        bool
	}{
		"nothing":               {nil, false},
		"done":                  {map[string]string{own.Status: "done", own.Release: "channel=x"}, false},
		"asked by the provider": {map[string]string{provider.To: ""}, true},
		"asked by us":           {map[string]string{own.To: "channel=x"}, true},
		"a change":              {map[string]string{provider.ChangeID: ""}, true},
		"a refresh that was sent": {map[string]string{
			protocol.AttemptKey: protocol.Attempt{Target: "channel=x", SentAt: at}.Format(),
		}, true},
		"a refresh that failed": {map[string]string{
			protocol.AttemptKey: protocol.Attempt{Target: "channel=x", SentAt: at, FailedAt: at}.Format(),
		}, false},
		"a node that is still cordoned": {map[string]string{
			own.Status: "done", protocol.DrainKey: protocol.NodeDrain{Node: "n", By: "uid"}.Format(),
		}, true},
		"an attempt that cannot be read": {map[string]string{protocol.AttemptKey: "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "busy", c.want, member.Busy(capi.ParseMachine(machine(c.annotations))))
		})
	}
}
