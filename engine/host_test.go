// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
)

const (
	target  = "channel=1.34-classic/stable"
	version = "v1.34.1"
	patient = 3 * time.Minute // on a busy machine
	often   = 20 * time.Millisecond
)

var keys = protocol.KeysFor(protocol.ProviderPrefix)

// world starts one management cluster with the given workload clusters, in which target leads to version.
func world(t testing.TB, options []env.ManagementOption, specs ...build.ClusterSpec) (*env.World, *env.Management) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute) // the binaries may have to be built
	defer cancel()
	w, err := env.Start(ctx, env.Options{Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Sim().Release(target, version)
	w.Sim().Default(k8sd.Done(100 * time.Millisecond))
	m, err := w.Management(ctx, "mc", options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		if _, err := m.Cluster(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	return w, m
}

// agent is the engine's user in a management cluster, with the rights of config/engine and no others.
func agent(t *testing.T, m *env.Management) *rest.Config {
	t.Helper()
	f, err := os.Open("../config/engine/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	documents := yaml.NewYAMLOrJSONDecoder(f, 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := documents.Decode(o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if err := m.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	cfg := rest.CopyConfig(m.Config)
	cfg.Impersonate.UserName = "system:serviceaccount:windlass-system:windlass-engine"
	return cfg
}

// connected returns a started cluster.Cluster of a management cluster, as the hub or the agent has one.
func connected(t testing.TB, cfg *rest.Config) cluster.Cluster {
	t.Helper()
	cl, err := cluster.New(cfg, func(o *cluster.Options) {
		o.Cache = cache.Options{DefaultTransform: capi.Trim}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cl.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return cl
}

// hosted runs the engine until the returned function is called, which reports its error.
func hosted(t testing.TB, cl cluster.Cluster, o engine.Options) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.Host(ctx, cl, o) }()
	return func() error {
		cancel()
		err := <-ended
		ended <- nil // for a second call
		return err
	}
}

// quick takes a lease that is free soon, and does not lose it on a busy machine.
func quick() engine.Options {
	return engine.Options{LeaseDuration: 3 * time.Minute, RenewDeadline: 2 * time.Minute, RetryPeriod: 200 * time.Millisecond}
}

func annotate(t testing.TB, c client.Client, gvk schema.GroupVersionKind, name string, set map[string]string) {
	t.Helper()
	o := get(t, c, gvk, name)
	before := o.DeepCopy()
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, set)
	o.SetAnnotations(annotations)
	if err := c.Patch(t.Context(), o, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, c client.Client, gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	t.Helper()
	o := capi.Object(gvk)
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

// ours are the annotations of an object that the protocol or Windlass knows.
func ours(o *unstructured.Unstructured) map[string]string {
	found := map[string]string{}
	for k, v := range o.GetAnnotations() {
		if strings.HasPrefix(k, protocol.ProviderPrefix) || strings.HasPrefix(k, protocol.OwnPrefix) {
			found[k] = v
		}
	}
	return found
}

func finished() map[string]string {
	return map[string]string{keys.Status: protocol.StatusDone, keys.Release: target}
}

func TestHostUpgradesAControlPlaneAndAPool(t *testing.T) {
	for name, options := range map[string][]env.ManagementOption{
		"on a member that serves v1beta2": nil,
		"on a member that serves v1beta1": {env.ServingV1Beta1()},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, m := world(t, options, build.Cluster("shop", "eu").ControlPlane(3).Pool("a", 2).At("v1.33.4"))
			cl := connected(t, agent(t, m))
			stop := hosted(t, cl, quick())
			kinds, err := capi.Discover(cl.GetRESTMapper(), capi.DefaultControlPlanes())
			g.Expect(err).NotTo(HaveOccurred())
			cp, md := kinds.ControlPlanes[0], kinds.MachineDeployment
			annotate(t, m.Client, kinds.Cluster, "eu", map[string]string{
				protocol.StartBeforeKey: protocol.FormatStartBefore(time.Now().Add(time.Hour)),
			})
			plan := protocol.Plan{ExpectedVersion: version}.Format()
			annotate(t, m.Client, cp, "eu-cp", map[string]string{keys.To: target, protocol.PlanKey: plan})
			annotate(t, m.Client, md, "eu-a", map[string]string{keys.To: target, protocol.PlanKey: plan})
			ended := map[string]string{
				keys.Status: protocol.StatusDone, keys.Release: target, protocol.PlanKey: plan,
			}

			g.Eventually(func(g Gomega) {
				g.Expect(cmp.Diff(ended, ours(get(t, m.Client, cp, "eu-cp")))).To(BeEmpty())
				g.Expect(cmp.Diff(ended, ours(get(t, m.Client, md, "eu-a")))).To(BeEmpty())
			}, patient, often).Should(Succeed())
			if err := stop(); err != nil {
				t.Errorf("Host ended with %v", err)
			}

			for _, machine := range []string{"eu-cp-0", "eu-cp-1", "eu-cp-2", "eu-a-0", "eu-a-1"} {
				o := get(t, m.Client, kinds.Machine, machine)
				if diff := cmp.Diff(finished(), ours(o)); diff != "" {
					t.Errorf("machine %s (-want +got):\n%s", machine, diff)
				}
				if got := capi.ParseMachine(o).KubeletVersion; got != version {
					t.Errorf("machine %s runs %s, want %s", machine, got, version)
				}
			}
			for _, p := range w.Sim().Log() {
				if p.Target != target {
					t.Errorf("refresh of %s to %s", p.Node, p.Target)
				}
			}
			if got := len(w.Sim().Log()); got != 5 {
				t.Errorf("%d refreshes of 5 machines", got)
			}
			wantEvents(t, m.Client, "eu-cp-0", protocol.EventInProgress, protocol.EventDone)
			wantEvents(t, m.Client, "eu-a", protocol.EventInProgress, protocol.EventInProgress, protocol.EventInProgress,
				protocol.EventInProgress, protocol.EventDone)
		})
	}
}

// wantEvents compares the reasons of all events about an object, in any order.
func wantEvents(t *testing.T, c client.Client, about string, want ...string) {
	t.Helper()
	NewWithT(t).Eventually(func() string {
		var list eventsv1.EventList
		if err := c.List(t.Context(), &list); err != nil {
			return err.Error()
		}
		var got []string
		for _, e := range list.Items {
			if e.Regarding.Name == about {
				got = append(got, e.Reason)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		return cmp.Diff(want, got)
	}, patient, often).Should(BeEmpty(), "events about %s", about)
}

func TestHostTwiceIsOneEngine(t *testing.T) {
	g := NewWithT(t)
	_, m := world(t, nil, build.Cluster("shop", "eu").Pool("a", 1).At("v1.33.4"))
	first, second := connected(t, m.Config), connected(t, m.Config)
	kinds, err := capi.Discover(first.GetRESTMapper(), capi.DefaultControlPlanes())
	g.Expect(err).NotTo(HaveOccurred())
	lost := errors.New("this process does not lead any more")
	refused := quick()
	refused.MayWrite = func() error { return lost }
	stopFirst := hosted(t, first, refused)
	g.Eventually(func() string { return holder(t, m) }, patient, often).ShouldNot(BeEmpty())
	leader := holder(t, m)
	stopSecond := hosted(t, second, quick())
	annotate(t, m.Client, kinds.MachineDeployment, "eu-a", map[string]string{keys.To: target})

	g.Consistently(func() map[string]string {
		return ours(get(t, m.Client, kinds.MachineDeployment, "eu-a"))
	}, 2*time.Second, often).Should(Equal(map[string]string{keys.To: target}), "the leader is refused every write")
	g.Expect(holder(t, m)).To(Equal(leader))
	g.Expect(stopFirst()).To(Succeed())
	g.Eventually(func() map[string]string {
		return ours(get(t, m.Client, kinds.MachineDeployment, "eu-a"))
	}, patient, often).Should(Equal(finished()), "the other takes over")
	g.Expect(stopSecond()).To(Succeed())

	stopAgain := hosted(t, second, quick())
	g.Eventually(func() string { return holder(t, m) }, patient, often).ShouldNot(BeEmpty())
	g.Expect(stopAgain()).To(Succeed(), "Host may be called again")
	g.Expect(holder(t, m)).To(BeEmpty(), "the lease is given back")
}

func holder(t testing.TB, m *env.Management) string {
	t.Helper()
	o := capi.Object(schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"})
	err := m.Client.Get(t.Context(), types.NamespacedName{Namespace: "kube-system", Name: engine.LeaseName}, o)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	name, _, err := unstructured.NestedString(o.Object, "spec", "holderIdentity")
	if err != nil {
		t.Fatal(fmt.Errorf("reading the lease: %w", err))
	}
	return name
}
