// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/inventory"
	"github.com/windlass-dev/windlass/fleet/member"
)

var keys = protocol.KeysFor(protocol.ProviderPrefix)

// TestNameIsIdentity: whatever changes in the identity is another name (law 1), and so nothing is inherited.
func TestNameIsIdentity(t *testing.T) {
	ref := fleetv1.ObjectRef{Namespace: "shop", Name: "eu-1", UID: "u1"}
	name := inventory.Name("mgmt-a", "system-1", ref)
	if want := "mgmt-a-eu-1-" + inventory.Hash("system-1", ref); name != want {
		t.Errorf("named %s, want %s", name, want)
	}
	if again := inventory.Name("mgmt-a", "system-1", ref); again != name {
		t.Errorf("the same cluster is named %s and %s", name, again)
	}
	seen := map[string]string{name: "the first"}
	for what, other := range map[string]struct {
		clusterID string
		ref       fleetv1.ObjectRef
	}{
		"a new UID":         {"system-1", fleetv1.ObjectRef{Namespace: "shop", Name: "eu-1", UID: "u2"}},
		"another namespace": {"system-1", fleetv1.ObjectRef{Namespace: "lab", Name: "eu-1", UID: "u1"}},
		"another name":      {"system-1", fleetv1.ObjectRef{Namespace: "shop", Name: "eu-2", UID: "u1"}},
		"another member":    {"system-2", ref},
		"a shifted border":  {"system-1", fleetv1.ObjectRef{Namespace: "shope", Name: "u-1", UID: "u1"}},
	} {
		name := inventory.Name("mgmt-a", other.clusterID, other.ref)
		if before, taken := seen[name]; taken {
			t.Errorf("%s has the name of %s: %s", what, before, name)
		}
		seen[name] = what
	}
}

// TestNameFits: 40 of the member, 60 of the cluster, 10 of the hash; whatever the names, the API server takes it.
func TestNameFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mc := rapid.StringMatching(`[a-z]([-a-z0-9]{0,38}[a-z0-9])?`).Draw(t, "member")
		name := rapid.StringMatching(`[a-z0-9]([-.a-z0-9]{0,250}[a-z0-9])?`).Draw(t, "cluster")
		got := inventory.Name(mc, "system", fleetv1.ObjectRef{Namespace: "shop", Name: name, UID: "u"})
		if len(got) > 40+1+60+1+10 {
			t.Fatalf("%s has %d characters", got, len(got))
		}
		dotted := strings.Contains(name, "..") || strings.Contains(name, ".-") || strings.Contains(name, "-.")
		if errs := validation.IsDNS1123Subdomain(got); len(errs) > 0 && !dotted {
			t.Fatalf("%s: %v", got, errs)
		}
		if hash := got[len(got)-10:]; hash != inventory.Hash("system", fleetv1.ObjectRef{
			Namespace: "shop", Name: name, UID: "u",
		}) || strings.Trim(hash, "0123456789abcdef") != "" {
			t.Fatalf("%s does not end with its hash", got)
		}
	})
}

func TestLabelsAreTheClustersWithoutThoseOfTools(t *testing.T) {
	c := capi.Cluster{Meta: capi.Meta{Labels: map[string]string{
		"tier": "prod", "example.com/site": "a", "app.kubernetes.io/name": "shop",
		"app.kubernetes.io/instance": "argo", "argocd.argoproj.io/instance": "x", "workflows.argoproj.io/w": "x",
		"kustomize.toolkit.fluxcd.io/name": "x", "kubectl.kubernetes.io/last": "x", "helm.sh/chart": "x",
		"fleet.windlass.dev/management-cluster": "a lie", "fleet.windlass.dev/anything": "x",
	}}}
	want := map[string]string{
		"tier": "prod", "example.com/site": "a", "app.kubernetes.io/name": "shop",
		inventory.ManagementClusterLabel: "mgmt-a",
	}
	before := len(c.Labels)
	if diff := cmp.Diff(want, inventory.Labels("mgmt-a", c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(c.Labels) != before {
		t.Error("the labels that were read were changed")
	}
	if diff := cmp.Diff(map[string]string{inventory.ManagementClusterLabel: "mgmt-a"},
		inventory.Labels("mgmt-a", capi.Cluster{})); diff != "" {
		t.Errorf("of a cluster without labels (-want +got):\n%s", diff)
	}
}

// machine is a healthy machine of the control plane, or of a pool.
func machine(name, pool, kubelet, release string) capi.Machine {
	m := capi.Machine{
		ControlPlane: pool == "", Deployment: pool, KubeletVersion: kubelet, Architecture: "amd64", NodeName: name,
		NodeReady: capi.True, NodeHealthy: capi.True,
	}
	m.Name = name
	if release != "" {
		m.Annotations = map[string]string{keys.Release: release}
	}
	return m
}

// world is a healthy cluster with a control plane and one pool.
func world(change func(*member.World)) member.World {
	cp := capi.ControlPlane{Version: "v1.33.4", Replicas: new(int32(2)), StatusReplicas: 2, ReadyReplicas: 2}
	cp.Name = "eu-1-cp"
	md := capi.MachineDeployment{Version: "v1.33.4", Replicas: new(int32(1)), ReadyReplicas: 1}
	md.Name = "eu-1-md"
	w := member.World{
		Present: true, Cluster: capi.Cluster{Meta: capi.Meta{Namespace: "shop", Name: "eu-1", UID: "u1"}},
		ControlPlanes: []member.Placed[capi.ControlPlane]{
			{GVK: schema.GroupVersionKind{Kind: "CK8sControlPlane"}, Object: cp},
		},
		Pools: []member.Placed[capi.MachineDeployment]{
			{GVK: schema.GroupVersionKind{Kind: "MachineDeployment"}, Object: md},
		},
		Machines: []capi.Machine{
			machine("cp-1", "", "v1.33.9", "channel=1.33/stable"), machine("cp-2", "", "v1.33.9", "channel=1.33/stable"),
			machine("md-1", "eu-1-md", "", ""),
		},
	}
	change(&w)
	return w
}

func TestStatusCountsMachinesByWhatTheyShow(t *testing.T) {
	got := inventory.Status("mgmt-a", world(func(*member.World) {}), keys)
	amd64 := func(n int32) []fleetv1.VersionCount { return []fleetv1.VersionCount{{Name: "amd64", Count: n}} }
	want := fleetv1.WorkloadClusterStatus{
		Path: "mgmt-a/shop/eu-1", Machines: 3,
		ControlPlane: &fleetv1.OwnerStatus{
			Kind: "CK8sControlPlane", Name: "eu-1-cp", Replicas: 2, Ready: 2, Version: "v1.33.4", ByArchitecture: amd64(2),
			ByRelease: []fleetv1.VersionCount{{Name: "channel=1.33/stable", Count: 2}},
			ByKubelet: []fleetv1.VersionCount{{Name: "v1.33.9", Count: 2}},
		},
		Pools: []fleetv1.OwnerStatus{{
			Kind: "MachineDeployment", Name: "eu-1-md", Replicas: 1, Ready: 1, Version: "v1.33.4", ByArchitecture: amd64(1),
			ByRelease: []fleetv1.VersionCount{{Name: inventory.Unknown, Count: 1}},
			ByKubelet: []fleetv1.VersionCount{{Name: inventory.Unknown, Count: 1}},
		}},
		Conditions: []metav1.Condition{
			{Type: fleetv1.HealthyCondition, Status: metav1.ConditionTrue, Reason: fleetv1.HealthyReason},
			{Type: fleetv1.PausedCondition, Status: metav1.ConditionFalse, Reason: fleetv1.NotPausedReason},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatusJudgesHealth(t *testing.T) {
	cases := map[string]struct {
		change func(*member.World)
		status metav1.ConditionStatus
		reason string
	}{
		"all is well": {func(*member.World) {}, metav1.ConditionTrue, fleetv1.HealthyReason},
		"a machine whose node is not ready": {
			func(w *member.World) { w.Machines[2].NodeReady = capi.False }, metav1.ConditionFalse, fleetv1.UnhealthyReason,
		},
		"a machine whose health is not reported": {
			func(w *member.World) { w.Machines[2].NodeReady = capi.Unknown }, metav1.ConditionUnknown, fleetv1.NotObservedReason,
		},
		"one not ready weighs more than one not known": {
			func(w *member.World) { w.Machines[0].NodeReady, w.Machines[2].NodeReady = capi.Unknown, capi.False },
			metav1.ConditionFalse, fleetv1.UnhealthyReason,
		},
		"a control plane that lacks a machine": {
			func(w *member.World) { w.ControlPlanes[0].Object.ReadyReplicas = 1 }, metav1.ConditionFalse,
			fleetv1.UnhealthyReason,
		},
		"the connection probe fails": {
			func(w *member.World) { w.Cluster.Connected = capi.False }, metav1.ConditionFalse, fleetv1.UnhealthyReason,
		},
		"workers that nothing accounts for": {
			func(w *member.World) { w.Pools = nil }, metav1.ConditionFalse, fleetv1.UnhealthyReason,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := inventory.Status("mgmt-a", world(c.change), keys).Conditions[0]
			if got.Status != c.status || got.Reason != c.reason || (got.Message == "") != (c.status == metav1.ConditionTrue) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestStatusSaysWhoHoldsItAndWhatStopsIt(t *testing.T) {
	got := inventory.Status("mgmt-a", world(func(w *member.World) {
		w.Cluster.SpecPaused = true
		w.Cluster.Annotations = map[string]string{
			drive.ClaimKey: `{"v":1,"hub":"hub-2","rollout":"fleet/k8s-x","uid":"cu-1","cluster":"u1"}`,
		}
		w.Machines[2].Deployment = ""
	}), keys)
	if got.ClaimedBy != "rollout fleet/k8s-x of hub hub-2" {
		t.Errorf("claimed by %q", got.ClaimedBy)
	}
	if got.Conditions[1].Status != metav1.ConditionTrue || got.Conditions[1].Reason != fleetv1.PausedReason {
		t.Errorf("%+v", got.Conditions[1])
	}
	if got.Unsupported != "machine md-1 belongs to no MachineDeployment" {
		t.Errorf("unsupported: %q", got.Unsupported)
	}
	void := inventory.Status("mgmt-a", world(func(w *member.World) {
		w.Cluster.Annotations = map[string]string{
			drive.ClaimKey: `{"v":1,"hub":"hub-2","rollout":"fleet/k8s-x","uid":"cu-1","cluster":"another"}`,
		}
	}), keys)
	if void.ClaimedBy != "" {
		t.Errorf("a void claim: claimed by %q", void.ClaimedBy)
	}
	unread := inventory.Status("mgmt-a", world(func(w *member.World) {
		w.Cluster.Annotations = map[string]string{drive.ClaimKey: strings.Repeat("ä", 5000)}
	}), keys)
	if n := utf8.RuneCountInString(unread.ClaimedBy); n == 0 || n > 512 {
		t.Errorf("an unreadable claim: %d characters", n)
	}
}

// TestStatusIsBounded: no list grows with the cluster (law 18), the most frequent versions are kept.
func TestStatusIsBounded(t *testing.T) {
	got := inventory.Status("mgmt-a", world(func(w *member.World) {
		for i := range 300 {
			pool := w.Pools[0]
			pool.Object.Name = fmt.Sprintf("pool-%03d", i)
			w.Pools = append(w.Pools, pool)
			w.Machines = append(w.Machines,
				machine(fmt.Sprintf("m-%03d", i), "", fmt.Sprintf("v1.33.%d", 100+i), fmt.Sprintf("revision=%d", i)))
		}
	}), keys)
	if len(got.Pools) != fleetv1.MaxPools || got.Machines != 303 {
		t.Errorf("%d pools, %d machines", len(got.Pools), got.Machines)
	}
	long := inventory.Status("mgmt-a", world(func(w *member.World) {
		w.Machines = []capi.Machine{
			machine("a", "", "v1", strings.Repeat("x", 600)+"a"),
			machine("b", "", "v1", strings.Repeat("x", 600)+"b"),
		}
	}), keys).ControlPlane.ByRelease
	if len(long) != 1 || long[0].Count != 2 || utf8.RuneCountInString(long[0].Name) != fleetv1.MaxText {
		t.Errorf("releases that are too long: %+v", long)
	}
	for name, counts := range map[string][]fleetv1.VersionCount{
		"release": got.ControlPlane.ByRelease, "kubelet": got.ControlPlane.ByKubelet,
	} {
		if len(counts) != fleetv1.MaxVersionCounts || counts[0].Count != 2 {
			t.Errorf("%d counts by %s, first %+v", len(counts), name, counts[0])
		}
	}
}

func TestPlaceIsTheSameForAllThatEverStoodThere(t *testing.T) {
	key := types.NamespacedName{Namespace: "shop", Name: "eu-1"}
	if got := inventory.Place("mgmt-a", key); got != "mgmt-a/shop/eu-1" {
		t.Errorf("place %s", got)
	}
}

// TestC155TheWishOfAnOwnerIsShown as it is read: what is no instant is a hold.
func TestC155TheWishOfAnOwnerIsShown(t *testing.T) {
	type shown struct {
		Until         *metav1.Time
		Reason, Holds string
		Single        bool
	}
	sunday := new(metav1.NewTime(time.Date(2026, 9, 27, 0, 0, 0, 0, time.UTC)))
	for name, c := range map[string]struct {
		marks map[string]string
		want  shown
	}{
		"nothing": {},
		"C155: put off": {
			map[string]string{fleetv1.DeferUntilAnnotation: "2026-09-27T00:00Z; sale"}, shown{Until: sunday, Reason: "sale"},
		},
		"held":                  {map[string]string{fleetv1.HoldAnnotation: "audit"}, shown{Holds: "audit"}},
		"held without a reason": {map[string]string{fleetv1.HoldAnnotation: ""}, shown{Holds: "no reason is given"}},
		"what cannot be read": {map[string]string{fleetv1.DeferUntilAnnotation: "soon"}, shown{
			Holds: `fleet.windlass.dev/defer-until "soon" names no instant; accepted: 2026-12-01T02:00:00Z; the reason`,
		}},
		"C109: its API may be away": {
			map[string]string{fleetv1.AllowSingleControlPlaneAnnotation: "true"}, shown{Single: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := inventory.Status("mgmt-a", world(func(w *member.World) { w.Cluster.Annotations = c.marks }), keys)
			if diff := cmp.Diff(c.want, shown{s.DeferUntil, s.DeferReason, s.Hold, s.SingleControlPlaneAllowed}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTimeZoneIsTheClustersElseThatOfItsMember(t *testing.T) {
	for name, c := range map[string]struct {
		cluster, member map[string]string
		want            string
	}{
		"neither":                       {nil, nil, ""},
		"the cluster's":                 {zone("Europe/Berlin"), zone("Asia/Tokyo"), "Europe/Berlin"},
		"that of its member":            {nil, zone("Asia/Tokyo"), "Asia/Tokyo"},
		"one that is empty is no other": {zone(""), zone("Asia/Tokyo"), ""},
		"one that is too long is cut":   {zone(strings.Repeat("x", 100)), nil, strings.Repeat("x", 63) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			mc := &fleetv1.ManagementCluster{}
			mc.Annotations = c.member
			if got := inventory.TimeZone(mc, capi.Cluster{Meta: capi.Meta{Annotations: c.cluster}}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func zone(name string) map[string]string { return map[string]string{fleetv1.TimeZoneAnnotation: name} }
