// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
)

// engine says who carries out upgrades in the hub's member.
func (h *hub) engine(e fleetv1.Engine) {
	h.t.Helper()
	mc := h.registration()
	mc.Spec.Engine = e
	if err := h.client.Update(h.t.Context(), mc); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hub) registration() *fleetv1.ManagementCluster {
	h.t.Helper()
	mc := &fleetv1.ManagementCluster{}
	if err := h.client.Get(h.t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a"}, mc); err != nil {
		h.t.Fatal(err)
	}
	return mc
}

// TestAnEngineOfOursHasItsOwnKeysBesideAProvider: exactly one side acts. A provider that is driven has its own.
func TestAnEngineOfOursHasItsOwnKeysBesideAProvider(t *testing.T) {
	recently, longAgo := now.Add(-50*time.Second), now.Add(-time.Minute)
	for name, c := range map[string]struct {
		engine  fleetv1.Engine
		renewed time.Time
		present bool
		want    string
	}{
		"Hub, a provider is at work":       {fleetv1.EngineHub, recently, true, protocol.OwnPrefix},
		"Agent, a provider is at work":     {fleetv1.EngineAgent, recently, true, protocol.OwnPrefix},
		"Hub, a provider was at work":      {fleetv1.EngineHub, longAgo, false, protocol.ProviderPrefix},
		"Agent, a provider was at work":    {fleetv1.EngineAgent, longAgo, false, protocol.ProviderPrefix},
		"Provider, it is at work":          {fleetv1.EngineProvider, recently, true, protocol.ProviderPrefix},
		"Provider, it is not at work":      {fleetv1.EngineProvider, longAgo, false, protocol.ProviderPrefix},
		"Hub, no provider was ever there":  {fleetv1.EngineHub, time.Time{}, false, protocol.ProviderPrefix},
		"Agent, a Lease from a fast clock": {fleetv1.EngineAgent, now.Add(time.Second), true, protocol.OwnPrefix},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, leadsTo(serve(t, func(s *server) {
				if !c.renewed.IsZero() {
					s.renewed = c.renewed.UTC().Format(metav1.RFC3339Micro)
				}
			})))
			h.engine(c.engine)
			got := h.look()
			want := &fleetv1.EngineStatus{ProviderPresent: c.present, KeyPrefix: c.want}
			if diff := cmp.Diff(want, got.Engine); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if keys := member.KeysOf(h.registration()); keys != protocol.KeysFor(c.want) {
				t.Errorf("keys %+v", keys)
			}
			prefix, err := h.reconciler.Provider.KeyPrefix(t.Context(), "fleet/a", "")
			if prefix != c.want || err != nil {
				t.Errorf("%q, %v", prefix, err)
			}
		})
	}
}

// TestAProviderThatIsDrivenHasItsKeysAtOnce, also before the member was looked at again.
func TestAProviderThatIsDrivenHasItsKeysAtOnce(t *testing.T) {
	mc := &fleetv1.ManagementCluster{}
	mc.Spec.Engine = fleetv1.EngineProvider
	mc.Status.Engine = &fleetv1.EngineStatus{ProviderPresent: true, KeyPrefix: protocol.OwnPrefix}
	if keys := member.KeysOf(mc); keys != protocol.KeysFor(protocol.ProviderPrefix) {
		t.Errorf("keys %+v", keys)
	}
}

// TestAnotherPrefixWakesWhoHostsAnEngine, so that it is hosted anew.
func TestAnotherPrefixWakesWhoHostsAnEngine(t *testing.T) {
	s := serve(t, nil)
	h := newHub(t, leadsTo(s))
	h.engine(fleetv1.EngineHub)
	type answer struct {
		prefix string
		err    error
	}
	answers := make(chan answer, 1)
	wait := func(ctx context.Context, but string) {
		prefix, err := h.reconciler.Provider.KeyPrefix(ctx, "fleet/a", but)
		answers <- answer{prefix, err}
	}
	go wait(t.Context(), "")
	h.look()
	if got := <-answers; got != (answer{protocol.ProviderPrefix, nil}) {
		t.Fatalf("%+v", got)
	}
	go wait(t.Context(), protocol.ProviderPrefix)
	h.look()
	select {
	case got := <-answers:
		t.Fatalf("nothing has changed: %+v", got)
	default:
	}
	s.CloseClientConnections()
	s.renewed = now.UTC().Format(metav1.RFC3339Micro)
	h.look()
	if got := <-answers; got != (answer{protocol.OwnPrefix, nil}) {
		t.Fatalf("%+v", got)
	}
	ended, end := context.WithCancel(t.Context())
	go wait(ended, protocol.OwnPrefix)
	end()
	if got := <-answers; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%+v", got)
	}
}
