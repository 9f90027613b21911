// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

const target = "channel=1.33-classic/stable"

var (
	start = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	keys  = protocol.KeysFor(protocol.ProviderPrefix)
	ours  = drive.Member{Keys: keys, Holder: drive.Holder{Hub: "hub-1", UID: "cu-1", Rollout: types.NamespacedName{
		Namespace: "fleet", Name: "ro",
	}}}
	cpKind = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "CK8sControlPlane"}
	mdKind = schema.GroupVersionKind{Group: capi.Group, Version: "v1beta2", Kind: "MachineDeployment"}
)

// planned is a ClusterUpgrade of a control plane, and of a pool, to a version.
func planned(version string) *fleetv1.ClusterUpgrade {
	cu := &fleetv1.ClusterUpgrade{}
	cu.Spec.Intent = fleetv1.IntentRun
	cu.Spec.Upgrade = (*fleetv1.PolicyUpgrade)(nil).Settings()
	cu.Spec.Owners = []fleetv1.UpgradeOwner{
		{Kind: "CK8sControlPlane", Name: "cp", Role: fleetv1.RoleControlPlane, Target: target, Version: version},
		{Kind: "MachineDeployment", Name: "md", Role: fleetv1.RoleWorkers, Target: target, Version: version},
	}
	return cu
}

// healthy is a healthy machine with these annotations.
func healthy(name, pool, kubelet string, annotations map[string]string) capi.Machine {
	m := capi.Machine{
		ControlPlane: pool == "", Deployment: pool, KubeletVersion: kubelet, Architecture: "amd64", NodeName: name,
		NodeReady: capi.True, NodeHealthy: capi.True,
	}
	m.Name, m.Annotations = name, annotations
	return m
}

func release(text string) map[string]string { return map[string]string{keys.Release: text} }

// shown is a healthy cluster as its member shows it.
func shown(machines ...capi.Machine) member.World {
	cp := capi.ControlPlane{Replicas: new(int32(3)), StatusReplicas: 3, ReadyReplicas: 3}
	cp.Kind, cp.Name = "CK8sControlPlane", "cp"
	md := capi.MachineDeployment{Replicas: new(int32(2))}
	md.Kind, md.Name = "MachineDeployment", "md"
	w := member.World{Present: true, Machines: machines}
	w.Cluster.Namespace, w.Cluster.Name, w.Cluster.UID = "shop", "eu-1", "c-1"
	w.ControlPlanes = []member.Placed[capi.ControlPlane]{{GVK: cpKind, Object: cp}}
	w.Pools = []member.Placed[capi.MachineDeployment]{{GVK: mdKind, Object: md}}
	return w
}

var reachable = Reach{Ready: true, Access: true}

func TestObserveTakesIntentAndHistoryFromTheHub(t *testing.T) {
	cu := planned("v1.33.9")
	at := func(minutes int) *metav1.Time {
		return new(metav1.NewTime(start.Add(time.Duration(minutes) * time.Minute)))
	}
	cu.Spec.NotAfter = at(60)
	cu.Spec.Upgrade.SingleControlPlane = fleetv1.SingleControlPlaneAllow
	cu.Status = fleetv1.ClusterUpgradeStatus{
		Phase: fleetv1.UpgradeVerifying, Reason: "SecondRead", Message: "m", LastError: "e", StartedAt: at(1),
		ProvenSince: at(2), Settled: true, RunSeconds: 90, RunningSince: at(3), DeferredSince: at(4),
	}
	cu.Spec.Upgrade.ProgressDeadline = &metav1.Duration{Duration: 4 * time.Hour}
	cu.Spec.Upgrade.BeforeStart = fleetv1.BeforeStartWait
	want := cluster.Observation{
		Intent: policy.Run, NotAfter: start.Add(time.Hour), NotAfterFor: cluster.NoRole, Order: policy.ControlPlaneFirst, AllowSingleControlPlane: true,
		Phase: policy.Verifying, Reason: "SecondRead", Message: "m", LastError: "e", Settled: true,
		StartedAt: start.Add(time.Minute), ProvenSince: start.Add(2 * time.Minute), ReachMessage: "no answer", Access: true,
		ProgressDeadline: 4 * time.Hour, Worked: policy.Clock{Elapsed: 90 * time.Second, Since: at(3).Time},
		Open: true, WishSince: at(4).Time, WishMax: 168 * time.Hour, BeforeStart: cluster.AwaitReturn, SilentSince: start,
	}
	got := observe(cu, Reach{Message: "no answer", Access: true, Open: true, SilentSince: start}, member.World{}, ours)
	if diff := cmp.Diff(want, got.observation); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestObserveReadsTheClaim: one that cannot be read is somebody's, one of another object is none (law 2).
func TestObserveReadsTheClaim(t *testing.T) {
	claim := func(hub, uid, of string) string {
		return `{"v":1,"hub":"` + hub + `","rollout":"fleet/ro","uid":"` + uid + `","cluster":"` + of +
			`","since":"2026-11-30T02:00:00Z"}`
	}
	cases := map[string]struct {
		text string
		want cluster.Claim
	}{
		"none": {"", cluster.Claim{}},
		"ours": {claim("hub-1", "cu-1", "c-1"), cluster.Claim{
			State: cluster.ClaimOurs, By: "rollout fleet/ro of hub hub-1", Since: start,
		}},
		"another upgrade's": {claim("hub-1", "cu-2", "c-1"), cluster.Claim{
			State: cluster.ClaimOther, By: "rollout fleet/ro of hub hub-1", Since: start,
		}},
		"another hub's": {claim("hub-2", "cu-1", "c-1"), cluster.Claim{
			State: cluster.ClaimOther, By: "rollout fleet/ro of hub hub-2", Since: start,
		}},
		"restored from another cluster": {claim("hub-1", "cu-1", "c-0"), cluster.Claim{}},
		"unreadable":                    {"mine", cluster.Claim{State: cluster.ClaimOther, By: `an unreadable claim "mine"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := shown()
			if c.text != "" {
				w.Cluster.Annotations = map[string]string{drive.ClaimKey: c.text}
			}
			if diff := cmp.Diff(c.want, observe(planned("v1.33.9"), reachable, w, ours).observation.Claim); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestObserveReadsTheCluster(t *testing.T) {
	w := shown()
	w.Cluster.SpecPaused, w.Cluster.Deleting = true, true
	w.Cluster.Annotations = map[string]string{protocol.StartBeforeKey: "2026-11-30T02:00:00Z"}
	got := observe(planned("v1.33.9"), reachable, w, ours).observation
	if !got.Present || !got.Paused || !got.Deleting || !got.Reachable || !got.StartBefore.Equal(start) {
		t.Errorf("%+v", got)
	}
	if got.Health.Status != cluster.False {
		t.Errorf("health of a cluster that is being deleted: %+v", got.Health)
	}
	w.Cluster.Annotations[protocol.StartBeforeKey] = "tomorrow"
	if got := observe(planned("v1.33.9"), reachable, w, ours).observation; !got.StartBefore.IsZero() {
		t.Errorf("an unreadable permission is one until %s", got.StartBefore)
	}
}

func TestObserveReadsOwners(t *testing.T) {
	cu := planned("v1.33.9")
	cu.Status.Owners = []fleetv1.OwnerProgress{
		{Kind: "MachineDeployment", Name: "md", GrantedAt: new(metav1.NewTime(start))},
	}
	cu.Status.Machines = []fleetv1.MachineProgress{
		{Name: "md-1", Owner: "md", StartedAt: new(metav1.NewTime(start.Add(time.Minute)))},
		{Name: "cp-1", Owner: "cp", EndedAt: new(metav1.NewTime(start.Add(2 * time.Minute)))},
	}
	plan := planFor(cu, cu.Spec.Owners[1], member.World{}).Format()
	w := shown()
	w.Pools[0].Object.Annotations = map[string]string{
		keys.To: target, keys.Status: protocol.StatusInProgress, protocol.HolderKey: "hub-1/cu-1", protocol.PlanKey: plan,
	}
	w.ControlPlanes[0].Object.Annotations = map[string]string{
		keys.Release: target, protocol.HolderKey: "hub-1/cu-0", protocol.PlanKey: "{}",
	}
	w.ControlPlanes[0].Object.Paused, w.ControlPlanes[0].Object.ReadyReplicas = true, 2
	want := []cluster.Owner{
		{
			Kind: "CK8sControlPlane", Name: "cp", Role: cluster.ControlPlane, Target: target, Version: "v1.33.9",
			Present: true, Paused: true, Release: target, Replicas: 3, MovedAt: start.Add(2 * time.Minute),
			Health: cluster.Verdict{
				Status: cluster.False, Message: "control plane cp has 2 of 3 replicas ready (3 exist)",
			},
		},
		{
			Kind: "MachineDeployment", Name: "md", Role: cluster.Workers, Target: target, Version: "v1.33.9", Present: true,
			To: target, HasTo: true, Status: protocol.StatusInProgress, Ours: true, PlanMatches: true, Replicas: 2,
			Health: cluster.Verdict{Status: cluster.True}, GrantedAt: start, MovedAt: start.Add(time.Minute),
		},
	}
	if diff := cmp.Diff(want, observe(cu, reachable, w, ours).observation.Owners); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Pools, w.ControlPlanes[0].GVK.Kind = nil, "KubeadmControlPlane"
	for _, o := range observe(cu, reachable, w, ours).observation.Owners {
		if o.Present {
			t.Errorf("an owner that is gone, or of another kind, is there: %+v", o)
		}
	}
}

// TestObserveReadsMachines: what a machine's marks and record mean, and whether it is proven.
func TestObserveReadsMachines(t *testing.T) {
	with := func(more ...map[string]string) map[string]string {
		all := map[string]string{}
		for _, m := range more {
			maps.Copy(all, m)
		}
		return all
	}
	to := map[string]string{keys.To: target}
	running := map[string]string{keys.Status: protocol.StatusInProgress, keys.ChangeID: "7"}
	attempt := func(a protocol.Attempt) map[string]string {
		return map[string]string{protocol.AttemptKey: a.Format()}
	}
	sent := protocol.Attempt{Target: target, Count: 1, SentAt: start}
	failed := protocol.Attempt{Target: target, Count: 2, SentAt: start, FailedAt: start.Add(1), LastError: "refused"}
	lost := failed
	lost.Quarantined = true
	cases := map[string]struct {
		m    capi.Machine
		want cluster.Machine
	}{
		"proven": {
			healthy("m", "md", "v1.33.9", release(target)), cluster.Machine{Proven: cluster.Verdict{Status: cluster.True}},
		},
		"the right release and an older kubelet": {
			healthy("m", "md", "v1.33.4", release(target)), cluster.Machine{},
		},
		"asked, not sent": {healthy("m", "md", "v1.33.4", to), cluster.Machine{Requested: true, Leftovers: true}},
		"asked, and sent before a crash": {
			healthy("m", "md", "v1.33.4", with(to, attempt(sent))),
			cluster.Machine{Requested: true, InFlight: true, Leftovers: true, Attempts: 1},
		},
		"running": {
			healthy("m", "md", "v1.33.4", with(to, running, attempt(sent))),
			cluster.Machine{Requested: true, InFlight: true, Leftovers: true, Attempts: 1},
		},
		"withdrawn while it runs": {
			healthy("m", "md", "v1.33.4", running), cluster.Machine{InFlight: true, Leftovers: true},
		},
		"failed, to be tried again": {
			healthy("m", "md", "v1.33.4", with(to, attempt(failed))),
			cluster.Machine{Requested: true, Leftovers: true, Attempts: 2, LastError: "refused"},
		},
		"given up": {
			healthy("m", "md", "v1.33.4", with(to, attempt(lost))),
			cluster.Machine{Requested: true, Leftovers: true, Attempts: 2, LastError: "refused", Quarantined: true},
		},
		"done, with our record still on it": {
			healthy("m", "md", "v1.33.9", with(release(target), attempt(sent))),
			cluster.Machine{Proven: cluster.Verdict{Status: cluster.True}, Leftovers: true, Attempts: 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := observe(planned("v1.33.9"), reachable, shown(c.m), ours).observation.Owners[1].Machines
			if len(got) != 1 {
				t.Fatalf("%+v", got)
			}
			c.want.Name, c.want.Kubelet, c.want.Architecture = "m", c.m.KubeletVersion, "amd64"
			c.want.Release = c.m.Annotations[keys.Release]
			if !c.want.Proven.Good() {
				if got[0].Proven.Status != cluster.False || got[0].Proven.Message == "" {
					t.Errorf("proven: %+v", got[0].Proven)
				}
				got[0].Proven = c.want.Proven
			}
			if diff := cmp.Diff(c.want, got[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestARecordThatCannotBeReadIsTheLastError(t *testing.T) {
	m := healthy("m", "md", "v1.33.4", map[string]string{protocol.AttemptKey: "once"})
	got := observe(planned("v1.33.9"), reachable, shown(m), ours).observation.Owners[1].Machines[0]
	if got.LastError == "" || !got.Leftovers || got.Quarantined {
		t.Errorf("%+v", got)
	}
}

// TestPeersOfOneOwnerMustAgree where only a minor is wanted: those behind are not proven, and are refreshed once more.
func TestPeersOfOneOwnerMustAgree(t *testing.T) {
	at := func(name, kubelet, architecture string) capi.Machine {
		m := healthy(name, "md", kubelet, release(target))
		m.Architecture = architecture
		return m
	}
	old := healthy("md-9", "md", "v1.33.12", release("channel=1.33-classic/edge"))
	cases := map[string]struct {
		version  string
		machines []capi.Machine
		proven   []string
		expected string
	}{
		"all agree": {
			"v1.33",
			[]capi.Machine{at("md-1", "v1.33.9", "amd64"), at("md-2", "v1.33.9", "amd64")},
			[]string{"md-1", "md-2"},
			"v1.33",
		},
		"one is behind": {
			"v1.33",
			[]capi.Machine{at("md-1", "v1.33.9", "amd64"), at("md-2", "v1.33.10", "amd64")},
			[]string{"md-2"},
			"v1.33.10",
		},
		"architectures are compared with themselves": {
			"v1.33",
			[]capi.Machine{at("md-1", "v1.33.9", "amd64"), at("md-2", "v1.33.10", "arm64")},
			[]string{"md-1", "md-2"},
			"v1.33",
		},
		"one that is not proven is no measure": {
			"v1.33", []capi.Machine{at("md-1", "v1.33.9", "amd64"), old}, []string{"md-1"}, "v1.33",
		},
		"a patch is wanted, which each fits": {
			"v1.33.9",
			[]capi.Machine{at("md-1", "v1.33.9", "amd64"), at("md-2", "v1.33.10", "amd64")},
			[]string{"md-1", "md-2"},
			"v1.33.9",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := observe(planned(c.version), reachable, shown(c.machines...), ours)
			var proven []string
			for _, m := range s.observation.Owners[1].Machines {
				if m.Proven.Good() {
					proven = append(proven, m.Name)
				}
			}
			if diff := cmp.Diff(c.proven, proven); diff != "" {
				t.Errorf("proven (-want +got):\n%s", diff)
			}
			if md, found := s.owner("MachineDeployment/md"); !found || md.Plan.ExpectedVersion != c.expected {
				t.Errorf("the plan expects %q", md.Plan.ExpectedVersion)
			}
		})
	}
}

// TestOnlyIdleMachinesAreCleanedUp: one that is being refreshed keeps its marks.
func TestOnlyIdleMachinesAreCleanedUp(t *testing.T) {
	running := map[string]string{keys.To: target, keys.Status: protocol.StatusInProgress, keys.ChangeID: "7"}
	s := observe(planned("v1.33.9"), reachable, shown(
		healthy("cp-1", "", "v1.33.9", map[string]string{protocol.HolderKey: "hub-1/cu-1"}),
		healthy("md-1", "md", "v1.33.4", running), healthy("md-2", "md", "v1.33.9", release(target)),
		healthy("md-3", "md", "v1.33.4", map[string]string{keys.To: target}),
	), ours)
	var names []string
	for _, o := range s.observation.Owners {
		for _, m := range o.Machines {
			if m.Leftovers && !m.InFlight {
				names = append(names, m.Name)
			}
		}
	}
	if diff := cmp.Diff([]string{"cp-1", "md-3"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestThePlanCarriesTheSettings(t *testing.T) {
	cu := planned("v1.33.9")
	cu.Spec.Upgrade.MaxConcurrentMachines = 2
	cu.Spec.Upgrade.SingleControlPlane = fleetv1.SingleControlPlaneAllow
	cu.Spec.Upgrade.Machine.MaxAttempts = 5
	want := protocol.Plan{
		ExpectedVersion: "v1.33.9", Timeout: protocol.Duration(30 * time.Minute), MaxAttempts: 5,
		Backoff: protocol.Duration(time.Minute), MaxConcurrentMachines: 1, AllowSingleControlPlane: true,
	}
	if diff := cmp.Diff(want, planFor(cu, cu.Spec.Owners[0], member.World{})); diff != "" {
		t.Errorf("of a control plane, which is always one at a time (-want +got):\n%s", diff)
	}
	want.MaxConcurrentMachines, want.AllowSingleControlPlane = 2, false
	if diff := cmp.Diff(want, planFor(cu, cu.Spec.Owners[1], member.World{})); diff != "" {
		t.Errorf("of workers (-want +got):\n%s", diff)
	}
}

func TestReach(t *testing.T) {
	mc := func(status metav1.ConditionStatus) *fleetv1.ManagementCluster {
		mc := &fleetv1.ManagementCluster{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"}}
		mc.Spec.Access = fleetv1.AccessUpgrade
		if status != "" {
			mc.Status.Conditions = []metav1.Condition{{Type: fleetv1.ReadyCondition, Status: status, Reason: "R", Message: "m"}}
		}
		return mc
	}
	up, down := member.Health{State: member.Ready}, member.Health{State: member.Unreachable, Message: "refused"}
	cases := map[string]struct {
		mc      *fleetv1.ManagementCluster
		engaged bool
		health  member.Health
		want    Reach
	}{
		"it answers and is accepted": {mc(metav1.ConditionTrue), true, up, Reach{Ready: true, Access: true}},
		"it is not registered": {
			&fleetv1.ManagementCluster{}, false, member.Health{}, Reach{Message: "its ManagementCluster does not exist"},
		},
		"it was not looked at": {
			mc(""), true, up, Reach{Message: "its ManagementCluster has not been looked at yet", Access: true},
		},
		"it is not accepted, though it answers": {
			mc(metav1.ConditionFalse), true, up, Reach{Message: "management cluster a: R: m", Access: true},
		},
		"it does not answer any more": {
			mc(metav1.ConditionTrue), true, down, Reach{Message: "management cluster a: Unreachable: refused", Access: true},
		},
		"this process has not connected to it yet": {
			mc(metav1.ConditionTrue), false,
			member.Health{State: member.Connecting},
			Reach{Message: "management cluster a: Connecting: ", Access: true},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, reachOf(c.mc, c.engaged, c.health)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
