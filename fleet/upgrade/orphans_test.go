// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
)

var (
	coreKind = schema.GroupVersion{Group: capi.Group, Version: "v1beta2"}
	kinds    = capi.Kinds{
		Cluster: coreKind.WithKind("Cluster"), Machine: coreKind.WithKind("Machine"), MachineDeployment: mdKind,
		ControlPlanes: []schema.GroupVersionKind{cpKind},
	}
	orphaned = mcreconcile.Request{ClusterName: "fleet/mgmt-a", Request: request("shop", "eu-1")}
)

// abandoned is a cluster of a member on which an upgrade that is gone, cu-1 of hub-1, has left something.
type abandoned struct {
	*Orphans

	t      *testing.T
	live   client.Client
	clock  *clocktesting.FakeClock
	reach  Reach
	writes []string
}

func abandon(t *testing.T, marks map[string]map[string]string) *abandoned {
	t.Helper()
	a := &abandoned{t: t, clock: clocktesting.NewFakeClock(start), reach: reachable}
	b := fake.NewClientBuilder().WithScheme(runtime.NewScheme())
	for name, gvk := range map[string]schema.GroupVersionKind{
		"eu-1": kinds.Cluster, "cp": cpKind, "md": mdKind, "cp-1": kinds.Machine, "md-1": kinds.Machine, "md-2": kinds.Machine,
	} {
		o := capi.Object(gvk)
		o.SetNamespace("shop")
		o.SetName(name)
		o.SetUID(types.UID("uid-" + name))
		o.SetAnnotations(marks[name])
		b = b.WithObjects(o)
	}
	a.live = interceptor.NewClient(b.Build(), interceptor.Funcs{Patch: func(
		ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption,
	) error {
		body, err := p.Data(o)
		sent := struct {
			Metadata struct {
				Annotations map[string]*string `json:"annotations"`
			} `json:"metadata"`
		}{}
		if err == nil {
			err = json.Unmarshal(body, &sent)
		}
		if err != nil {
			return err
		}
		verb := " -"
		if _, claims := sent.Metadata.Annotations[drive.ClaimKey]; claims {
			verb = " claim"
		}
		a.writes = append(a.writes, o.GetName()+verb)
		return c.Patch(ctx, o, p, opts...)
	}})
	a.Orphans = &Orphans{Upgrades: &Reconciler{Clock: a.clock, HubID: "hub-1"}}
	return a
}

func (a *abandoned) read(name string, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	a.t.Helper()
	o := capi.Object(gvk)
	if err := a.live.Get(a.t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, o); err != nil {
		a.t.Fatal(err)
	}
	return o
}

// mark changes the annotations of a machine as others do.
func (a *abandoned) mark(name string, change func(map[string]string)) {
	a.t.Helper()
	o := a.read(name, kinds.Machine)
	all := maps.Clone(o.GetAnnotations())
	change(all)
	o.SetAnnotations(all)
	if err := a.live.Update(a.t.Context(), o); err != nil {
		a.t.Fatal(err)
	}
}

// world is the cluster as it is seen now.
func (a *abandoned) world() member.World {
	a.t.Helper()
	one := func(name, pool string) capi.Machine {
		m := healthy(name, pool, "v1.33.4", nil)
		m.Meta = capi.ParseMachine(a.read(name, kinds.Machine)).Meta
		return m
	}
	w := shown(one("cp-1", ""), one("md-1", "md"), one("md-2", "md"))
	w.Cluster = capi.ParseCluster(a.read("eu-1", kinds.Cluster))
	w.ControlPlanes[0].Object.Meta = capi.ParseControlPlane(a.read("cp", cpKind)).Meta
	w.Pools[0].Object.Meta = capi.ParseMachineDeployment(a.read("md", mdKind)).Meta
	return w
}

// look takes steps until nothing is to be done at once, and tells what was written.
func (a *abandoned) look() []string {
	a.t.Helper()
	a.writes = nil
	for range 20 {
		w := a.world()
		uids := left("hub-1", w)
		if len(uids) == 0 {
			return a.writes
		}
		cu := a.standIns[orphaned]
		if cu == nil {
			cu = standIn(orphaned, uids[0], w, a.clock.Now())
		}
		d := drive.Member{
			Client: a.live, Live: a.live, Kinds: kinds, Keys: keys, MayWrite: func() error { return nil },
			Holder: drive.Holder{Hub: "hub-1", UID: cu.UID, Rollout: types.NamespacedName{Namespace: "fleet", Name: unknown}},
		}
		result, err := a.step(a.t.Context(), orphaned, cu, observe(cu, a.reach, w, d), d)
		if err != nil {
			a.t.Fatal(err)
		}
		if result.RequeueAfter > again {
			return a.writes
		}
	}
	a.t.Fatalf("it comes to no end: %v", a.writes)
	return nil
}

// after are the marks of every object.
func (a *abandoned) after() map[string]map[string]string {
	a.t.Helper()
	w, all := a.world(), map[string]map[string]string{}
	add := func(m capi.Meta) {
		if len(m.Annotations) > 0 {
			all[m.Name] = m.Annotations
		}
	}
	add(w.Cluster.Meta)
	add(w.ControlPlanes[0].Object.Meta)
	add(w.Pools[0].Object.Meta)
	for _, m := range w.Machines {
		add(m.Meta)
	}
	return all
}

func (a *abandoned) wrote(why string, want ...string) {
	a.t.Helper()
	if diff := cmp.Diff(want, a.look()); diff != "" {
		a.t.Errorf("%s (-want +got):\n%s", why, diff)
	}
}

func claimBy(hub, uid string) map[string]string {
	return map[string]string{drive.ClaimKey: `{"v":1,"hub":"` + hub + `","rollout":"fleet/ro","uid":"` + uid +
		`","cluster":"uid-eu-1","since":"2026-11-30T01:00:00Z"}`}
}

// by are marks beside which a holder stands.
func by(holder string, marks map[string]string) map[string]string {
	all := map[string]string{protocol.HolderKey: holder}
	maps.Copy(all, marks)
	return all
}

// TestLaw20WhatAnUpgradeHasLeftThatIsGoneIsTakenBack: the owner's target before anything else, then what the machine in flight
// has left when it has ended, then the claim (law 11); nothing of anybody else.
func TestLaw20WhatAnUpgradeHasLeftThatIsGoneIsTakenBack(t *testing.T) {
	granted := map[string]string{keys.To: target, protocol.PlanKey: "{}"}
	theirs := map[string]map[string]string{
		"md":   by("hub-2/cu-1", granted),
		"md-1": by("hub-2/cu-1", map[string]string{keys.LastFailed: "x"}),
		"md-2": {keys.LastFailed: "x"},
	}
	held := claimBy("hub-1", "cu-1")
	held[protocol.StartBeforeKey] = "2026-11-30T03:00:00Z"
	marks := map[string]map[string]string{
		"eu-1": held, "cp": by("hub-1/cu-1", granted),
		"cp-1": by("hub-1/cu-1", map[string]string{
			keys.To: target, keys.ChangeID: "7", keys.Status: protocol.StatusInProgress, protocol.PlanKey: "{}",
		}),
	}
	maps.Copy(marks, theirs)
	a := abandon(t, marks)
	a.wrote("a machine is in flight", "cp -")
	a.clock.Step(everyOrphan)
	a.wrote("it still is")
	a.mark("cp-1", func(m map[string]string) {
		delete(m, keys.To)
		delete(m, keys.ChangeID)
		m[keys.Status], m[keys.Release] = protocol.StatusDone, target
	})
	a.wrote("it has ended", "cp-1 -", "eu-1 -", "eu-1 claim")
	want := map[string]map[string]string{"cp-1": {keys.Status: protocol.StatusDone, keys.Release: target}}
	maps.Copy(want, theirs)
	if diff := cmp.Diff(want, a.after()); diff != "" {
		t.Errorf("what stays (-want +got):\n%s", diff)
	}
}

// TestLaw2WhatIsLeftIsTakenBackUnderAClaim: one that is gone is taken first, another's keeps us away.
func TestLaw2WhatIsLeftIsTakenBackUnderAClaim(t *testing.T) {
	for name, c := range map[string]struct {
		claim map[string]string
		want  []string
	}{
		"nobody's":                   {nil, []string{"eu-1 claim", "cp -", "eu-1 claim"}},
		"of another upgrade of ours": {claimBy("hub-1", "cu-2"), nil},
		"of another hub":             {claimBy("hub-2", "cu-1"), nil},
		"one that cannot be read":    {map[string]string{drive.ClaimKey: "alice"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := abandon(t, map[string]map[string]string{"eu-1": c.claim, "cp": by("hub-1/cu-1", map[string]string{keys.To: target})})
			a.keep(orphaned, standIn(orphaned, "cu-1", a.world(), start), standIn(orphaned, "cu-1", a.world(), start).Status)
			a.wrote("", c.want...)
		})
	}
}

// TestLaw20AMachineThatWasGrantedByItselfIsTakenBack: its request, when it has not begun, then the rest.
func TestLaw20AMachineThatWasGrantedByItselfIsTakenBack(t *testing.T) {
	asked := map[string]string{keys.To: target}
	marks := map[string]map[string]string{"eu-1": claimBy("hub-1", "cu-1"), "cp-1": by("hub-1/cu-1", asked)}
	t.Run("it has not begun", func(t *testing.T) {
		a := abandon(t, marks)
		a.reach = perMember
		a.wrote("it may begin any moment")
		a.clock.Step(time.Minute)
		a.wrote("it has not", "cp-1 -")
		a.clock.Step(time.Hour)
		a.wrote("nothing came of it", "cp-1 -", "eu-1 claim")
		if diff := cmp.Diff(map[string]map[string]string{}, a.after()); diff != "" {
			t.Errorf("what stays (-want +got):\n%s", diff)
		}
	})
	t.Run("it is done and its request was taken back", func(t *testing.T) {
		a := abandon(t, marks)
		a.reach = perMember
		a.mark("cp-1", func(m map[string]string) {
			delete(m, keys.To)
			m[keys.ChangeID], m[keys.Status] = "7", protocol.StatusDone
		})
		a.look()
		a.clock.Step(time.Hour)
		a.look()
		if diff := cmp.Diff(map[string]map[string]string{}, a.after()); diff != "" {
			t.Errorf("what stays (-want +got):\n%s", diff)
		}
	})
}

// TestWhoseMarksAreLeft are those of this hub, the claim's first; a claim of another object is none.
func TestWhoseMarksAreLeft(t *testing.T) {
	w := shown(healthy("cp-1", "", "v1.33.4", by("hub-1/cu-3", nil)), healthy("md-1", "md", "v1.33.4", by("hub-10/cu-4", nil)))
	w.Cluster.UID, w.Cluster.Annotations = "uid-eu-1", claimBy("hub-1", "cu-1")
	w.ControlPlanes[0].Object.Annotations = by("hub-1/cu-2", nil)
	w.Pools[0].Object.Annotations = by("hub-1/cu-1", nil)
	if diff := cmp.Diff([]types.UID{"cu-1", "cu-2", "cu-3"}, left("hub-1", w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Cluster.UID = "another"
	if diff := cmp.Diff([]types.UID{"cu-2", "cu-1", "cu-3"}, left("hub-1", w)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// TestLaw4AnUpgradeThatOnlyTheCacheLacksIsNotGone.
func TestLaw4AnUpgradeThatOnlyTheCacheLacksIsNotGone(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hub := func(uids ...types.UID) client.Client {
		b := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&fleetv1.ClusterUpgrade{}, uidField,
			func(o client.Object) []string { return []string{string(o.GetUID())} })
		for _, uid := range uids {
			b = b.WithObjects(&fleetv1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: string(uid), UID: uid}})
		}
		return b.Build()
	}
	for name, c := range map[string]struct {
		cache, live client.Client
		want        types.UID
	}{
		"both hold it":              {hub("cu-1"), hub("cu-1"), ""},
		"the cache is behind":       {hub(), hub("cu-1"), ""},
		"it is gone":                {hub("cu-9"), hub("cu-9"), "cu-1"},
		"it is gone from the cache": {hub(), hub(), "cu-1"},
	} {
		t.Run(name, func(t *testing.T) {
			a := abandon(t, map[string]map[string]string{"eu-1": claimBy("hub-1", "cu-1")})
			a.Upgrades.Hub, a.Live = c.cache, c.live
			got, err := a.gone(t.Context(), orphaned, a.world())
			if err != nil {
				t.Fatal(err)
			}
			if uid := types.UID(""); got != nil && got.UID != c.want || got == nil && uid != c.want {
				t.Errorf("gone is %+v, want %q", got, c.want)
			}
		})
	}
}
