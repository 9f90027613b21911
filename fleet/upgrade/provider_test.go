// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/policy/cluster"
)

var (
	own       = protocol.KeysFor(protocol.OwnPrefix)
	perMember = Reach{Ready: true, Access: true, PerMachine: true, ProviderPresent: true}
	// besides is our own engine beside a provider.
	besides = drive.Member{Keys: own, Holder: ours.Holder}
)

// TestTheMarksOfAMachineThatIsGrantedByItself come with what was stored of it.
func TestTheMarksOfAMachineThatIsGrantedByItself(t *testing.T) {
	cu := planned("v1.33.9")
	cu.Status.Machines = []fleetv1.MachineProgress{{Name: "cp-1", Grant: &fleetv1.MachineGrant{
		At: metav1.NewTime(start), From: "v1.33.4", Seen: true, ChangeIDs: []string{"7"}, Attempts: 2, Put: 1, Failures: 1,
		FailedAt: new(metav1.NewTime(start.Add(time.Minute))), LastError: "refused",
	}}}
	m := healthy("cp-1", "", "v1.33.4", map[string]string{
		keys.To: target, keys.ChangeID: "", keys.Status: protocol.StatusInProgress, keys.LastFailed: "x",
		protocol.HolderKey: "hub-1/cu-1",
	})
	m.Deleting, m.Paused, m.EtcdMember = true, true, capi.False
	got := observe(cu, perMember, shown(m), ours).observation.Owners[0].Machines[0]
	want := cluster.Machine{
		Name: "cp-1", Proven: got.Proven, Requested: true, InFlight: true, Leftovers: true, Kubelet: "v1.33.4",
		Architecture: "amd64", Deleting: true, Paused: true, Ours: true, Health: got.Health,
		Marks: cluster.Marks{To: target, HasTo: true, HasChangeID: true, Status: "in-progress", LastFailed: "x"},
		Record: cluster.Record{
			At: start, From: "v1.33.4", Seen: true, ChangeIDs: []string{"7"}, Attempts: 2, Put: 1, Failures: 1,
			FailedAt: start.Add(time.Minute), LastError: "refused",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Health.Good() {
		t.Error("a machine whose etcd member is not healthy is healthy")
	}
}

// TestOnlyOurMachinesAreCleanedUp where machines are granted by themselves: marks of others stay (law 16).
func TestOnlyOurMachinesAreCleanedUp(t *testing.T) {
	stale := map[string]string{keys.LastFailed: "x"}
	mine := map[string]string{keys.LastFailed: "x", protocol.HolderKey: "hub-1/cu-1"}
	s := observe(planned("v1.33.9"), perMember, shown(
		healthy("cp-1", "", "v1.33.4", stale), healthy("cp-2", "", "v1.33.4", mine),
	), ours)
	for _, m := range s.observation.Owners[0].Machines {
		if m.Leftovers != (m.Name == "cp-2") {
			t.Errorf("%s has leftovers: %t", m.Name, m.Leftovers)
		}
	}
}

// TestFault09b_AnUpgradeThatIsNotOursIsSeen under the keys that are not in use, and on machines of no planned owner.
func TestFault09b_AnUpgradeThatIsNotOursIsSeen(t *testing.T) {
	asked := func(k protocol.Keys) map[string]string { return map[string]string{k.To: "channel=9/edge"} }
	change := func(k protocol.Keys) map[string]string { return map[string]string{k.ChangeID: ""} }
	for name, c := range map[string]struct {
		reach   Reach
		member  drive.Member
		machine capi.Machine
		want    string
	}{
		"through a provider, of its own keys":    {perMember, ours, healthy("cp-1", "", "v1", asked(keys)), ""},
		"through a provider, of other keys":      {perMember, ours, healthy("cp-1", "", "v1", asked(own)), "cp-1"},
		"through a provider, of no owner":        {perMember, ours, healthy("m", "other", "v1", asked(keys)), "m"},
		"through a provider, a change alone":     {perMember, ours, healthy("m", "other", "v1", change(keys)), "m"},
		"beside a provider, of the provider":     {reachable, besides, healthy("cp-1", "", "v1", change(keys)), "cp-1"},
		"beside a provider, of ours":             {reachable, besides, healthy("cp-1", "", "v1", asked(own)), ""},
		"with our engine alone, of ours":         {reachable, ours, healthy("cp-1", "", "v1", asked(keys)), ""},
		"with our engine alone, of an older one": {reachable, ours, healthy("cp-1", "", "v1", asked(own)), "cp-1"},
		"a release alone asks for nothing":       {perMember, ours, healthy("m", "other", "v1", release("x")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := observe(planned("v1.33.9"), c.reach, shown(c.machine), c.member)
			if got := s.observation.Foreign; got != c.want {
				t.Errorf("it is %q", got)
			}
		})
	}
}

// TestFault03_WhatOwnersTellAProvider is seen for every owner, planned or not, under the provider's keys whatever ours are.
func TestFault03_WhatOwnersTellAProvider(t *testing.T) {
	cu := planned("v1.33.9")
	cu.Spec.Owners = cu.Spec.Owners[:1]
	cu.Spec.Upgrade.Order = fleetv1.OrderControlPlaneOnly
	cu.Status.Owners = []fleetv1.OwnerProgress{{Kind: "CK8sControlPlane", Name: "cp", PreviousRelease: target}}
	w := shown(
		healthy("cp-1", "", "v1.33.9", release(target)), healthy("md-1", "md", "v1.33.4", release("channel=1.31/stable")),
		healthy("md-2", "md", "v1.33.4", nil),
	)
	w.Pools[0].Object.Annotations = map[string]string{
		keys.Release: "channel=1.31/stable", keys.Status: "done", keys.To: "",
	}
	reach := reachable
	reach.ProviderPresent = true
	want := []cluster.Standing{
		{ID: "CK8sControlPlane/cp", Previous: target, Returnable: true},
		{ID: "MachineDeployment/md", HasTo: true, Status: "done", Release: "channel=1.31/stable", Armed: true},
	}
	for name, c := range map[string]struct {
		reach Reach
		d     drive.Member
		want  []cluster.Standing
	}{
		"through a provider":         {perMember, ours, want},
		"beside a provider":          {reach, besides, want},
		"where there is no provider": {reachable, ours, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := observe(cu, c.reach, w, c.d)
			if diff := cmp.Diff(c.want, s.observation.Standing); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, standing := range c.want {
				if _, found := s.owner(standing.ID); !found {
					t.Errorf("%s cannot be written to", standing.ID)
				}
			}
		})
	}
}

// TestTheLastWordsAreThoseOfThisRequest: what was said before it is not about it.
func TestTheLastWordsAreThoseOfThisRequest(t *testing.T) {
	said := func(minutes int, kind, message string) corev1.Event {
		return corev1.Event{
			Type: kind, Message: message, LastTimestamp: metav1.NewTime(start.Add(time.Duration(minutes) * time.Minute)),
		}
	}
	newer := corev1.Event{Type: "Warning", Message: "by its newer field", EventTime: metav1.NewMicroTime(start.Add(time.Hour))}
	for name, c := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"none":                 {nil, ""},
		"one of before":        {[]corev1.Event{said(-1, "Warning", "before")}, ""},
		"the newest of two":    {[]corev1.Event{said(2, "Warning", "second"), said(1, "Warning", "first")}, "second"},
		"a success is no word": {[]corev1.Event{said(1, "Warning", "first"), said(2, "Normal", "done")}, "first"},
		"an event of any age":  {[]corev1.Event{said(1, "Warning", "first"), newer}, "by its newer field"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lastSaid(c.events, start); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestFault14_AGrantIsCheckedOnceMoreAgainstWhatIsThereNow: what the cache has not seen yet takes it back.
func TestFault14_AGrantIsCheckedOnceMoreAgainstWhatIsThereNow(t *testing.T) {
	three := func(second map[string]string) []capi.Machine {
		return []capi.Machine{
			healthy("cp-1", "", "v1.33.4", release("x")), healthy("cp-2", "", "v1.33.4", second),
			healthy("cp-3", "", "v1.33.4", release("x")),
		}
	}
	cu := planned("v1.33.9")
	cu.Spec.Owners = cu.Spec.Owners[:1]
	cu.Spec.NotAfter, cu.Spec.NotAfterFor = new(metav1.NewTime(start.Add(time.Hour))), fleetv1.RoleControlPlane
	look := func(machines []capi.Machine, change func(*capi.ControlPlane)) scene {
		w := shown(machines...)
		w.Cluster.Annotations = map[string]string{drive.ClaimKey: `{"v":1,"hub":"hub-1","rollout":"fleet/ro","uid":"cu-1",` +
			`"cluster":"c-1","since":"2026-11-30T02:00:00Z"}`}
		w.Pools = nil
		if change != nil {
			change(&w.ControlPlanes[0].Object)
		}
		return observe(cu, perMember, w, ours)
	}
	decided := cluster.Next(look(three(release("x")), nil).observation, start)
	if decided.Action != cluster.GrantMachine || decided.Machine != "cp-1" {
		t.Fatalf("decided: %s, %s", decided, decided.Message)
	}
	released := func(o *capi.ControlPlane) { o.Annotations = release("y") }
	unready := func(o *capi.ControlPlane) { o.ReadyReplicas = 2 }
	for name, c := range map[string]struct {
		live  scene
		now   time.Time
		stays bool
	}{
		"nothing has changed":            {look(three(release("x")), nil), start, true},
		"another machine was asked":      {look(three(map[string]string{keys.To: target}), nil), start, false},
		"another machine is gone":        {look(three(release("x"))[:2], nil), start, false},
		"the permission has just ended":  {look(three(release("x")), nil), start.Add(time.Hour), false},
		"an owner has a release again":   {look(three(release("x")), released), start, false},
		"the control plane is not ready": {look(three(release("x")), unready), start, false},
	} {
		t.Run(name, func(t *testing.T) {
			live, still := stands(decided, c.live, c.now)
			if _, there := live.machines["cp-1"]; there != c.stays {
				t.Errorf("it would be written: %t; now it is %s", there, still)
			}
		})
	}
}
