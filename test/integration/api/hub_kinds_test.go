// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

func upgrade(name, rollout, wave string) *fleetv1.ClusterUpgrade {
	cu := &fleetv1.ClusterUpgrade{}
	cu.Namespace, cu.Name = env.HubNamespace, name
	cu.Spec = fleetv1.ClusterUpgradeSpec{
		Rollout:           fleetv1.LocalRef{Name: rollout, UID: "u1"},
		WorkloadCluster:   fleetv1.LocalRef{Name: "mgmt-a-eu-1-0123456789", UID: "u2"},
		ManagementCluster: "mgmt-a",
		Cluster:           fleetv1.ObjectRef{Namespace: "shop", Name: "eu-1", UID: "u3"},
		Wave:              wave,
		Position:          0,
		Owners: []fleetv1.UpgradeOwner{{
			Kind: "CK8sControlPlane", Name: "eu-1", Role: fleetv1.RoleControlPlane,
			Target: "channel=1.33-classic/stable", Version: "v1.33.9",
		}},
		Upgrade: (*fleetv1.PolicyUpgrade)(nil).Settings(),
		Intent:  fleetv1.IntentWait,
	}
	return cu
}

func rollout(name string) *fleetv1.Rollout {
	ro := &fleetv1.Rollout{}
	ro.Namespace, ro.Name = env.HubNamespace, name
	ro.Spec = fleetv1.RolloutSpec{
		Policy: fleetv1.LocalRef{Name: "k8s-1-33", UID: "u1"},
		Target: fleetv1.Target{Channel: new("1.33-classic/stable"), Version: "v1.33"},
		Number: 1,
	}
	return ro
}

// create makes an object that goes with the spec.
func create(ctx context.Context, o client.Object) {
	ExpectWithOffset(1, strict.Create(ctx, o)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) error { return client.IgnoreNotFound(strict.Delete(ctx, o)) })
}

var _ = Describe("what is frozen", func() {
	DescribeTable("in a ClusterUpgrade", func(ctx SpecContext, edit func(*fleetv1.ClusterUpgradeSpec)) {
		cu := upgrade("frozen", "ro", "early")
		create(ctx, cu)
		edit(&cu.Spec)
		err := strict.Update(ctx, cu)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("never changes but for intent, notAfter, notAfterFor, hold and predicted")))
	},
		Entry("the rollout", func(s *fleetv1.ClusterUpgradeSpec) { s.Rollout.UID = "other" }),
		Entry("the workload cluster", func(s *fleetv1.ClusterUpgradeSpec) { s.WorkloadCluster.UID = "other" }),
		Entry("the management cluster", func(s *fleetv1.ClusterUpgradeSpec) { s.ManagementCluster = "other" }),
		Entry("the cluster", func(s *fleetv1.ClusterUpgradeSpec) { s.Cluster.UID = "other" }),
		Entry("the wave", func(s *fleetv1.ClusterUpgradeSpec) { s.Wave = "other" }),
		Entry("whether it is a canary", func(s *fleetv1.ClusterUpgradeSpec) { s.Canary = true }),
		Entry("the position", func(s *fleetv1.ClusterUpgradeSpec) { s.Position = 7 }),
		Entry("a target", func(s *fleetv1.ClusterUpgradeSpec) { s.Owners[0].Target = "channel=1.34-classic/stable" }),
		Entry("the owners, all gone", func(s *fleetv1.ClusterUpgradeSpec) { s.Owners = nil }),
		Entry("the time zone", func(s *fleetv1.ClusterUpgradeSpec) { s.TimeZone = "Europe/Berlin" }),
		Entry("the settings", func(s *fleetv1.ClusterUpgradeSpec) { s.Upgrade.MaxConcurrentMachines = 9 }),
	)

	It("leaves intent, notAfter, notAfterFor, hold and predicted of a ClusterUpgrade to change", func(ctx SpecContext) {
		cu := upgrade("moving", "ro", "early")
		create(ctx, cu)
		for _, intent := range []fleetv1.Intent{
			fleetv1.IntentRun, fleetv1.IntentHold, fleetv1.IntentRun, fleetv1.IntentWithdraw,
		} {
			cu.Spec.Intent = intent
			cu.Spec.NotAfter = new(metav1.Unix(1_800_000_000, 0))
			cu.Spec.NotAfterFor = fleetv1.RoleWorkers
			cu.Spec.Hold = &fleetv1.Waiting{Reason: "Frozen", Message: "as of " + string(intent), Until: cu.Spec.NotAfter}
			cu.Spec.Predicted = &fleetv1.Prediction{StartAt: cu.Spec.NotAfter, Window: "as of " + string(intent)}
			Expect(strict.Update(ctx, cu)).To(Succeed())
		}
		cu.Spec.Intent = "Hurry"
		Expect(strict.Update(ctx, cu)).To(MatchError(ContainSubstring("spec.intent: ")))
	})

	It("is a Rollout's spec", func(ctx SpecContext) {
		ro := rollout("frozen")
		create(ctx, ro)
		ro.Spec.Number = 2
		Expect(strict.Update(ctx, ro)).To(MatchError(ContainSubstring("a new target in its RolloutPolicy makes a new Rollout")))
	})

	It("is a WorkloadCluster's identity", func(ctx SpecContext) {
		wc := &fleetv1.WorkloadCluster{}
		wc.Namespace, wc.Name = env.HubNamespace, "frozen"
		wc.Spec = fleetv1.WorkloadClusterSpec{
			ManagementCluster: "mgmt-a", Cluster: fleetv1.ObjectRef{Namespace: "shop", Name: "eu-1", UID: "u1"},
		}
		create(ctx, wc)
		wc.Spec.Cluster.UID = "another"
		Expect(strict.Update(ctx, wc)).To(MatchError(ContainSubstring("a Cluster with another UID is another WorkloadCluster")))
	})
})

var _ = It("selects ClusterUpgrades by rollout, wave and phase", func(ctx SpecContext) {
	for i, at := range []struct{ rollout, wave string }{{"a", "early"}, {"a", "late"}, {"b", "early"}} {
		create(ctx, upgrade(fmt.Sprintf("selected-%d", i), at.rollout, at.wave))
	}
	moving := upgrade("selected-0", "", "")
	Expect(hub.Get(ctx, client.ObjectKeyFromObject(moving), moving)).To(Succeed())
	moving.Status.Phase = fleetv1.UpgradeProgressing
	Expect(hub.Status().Update(ctx, moving)).To(Succeed())
	names := func(by client.MatchingFields) []string {
		var list fleetv1.ClusterUpgradeList
		Expect(hub.List(ctx, &list, client.InNamespace(env.HubNamespace), by)).To(Succeed())
		var found []string
		for i := range list.Items {
			found = append(found, list.Items[i].Name)
		}
		return found
	}
	Expect(names(client.MatchingFields{"spec.rollout.name": "a"})).To(ConsistOf("selected-0", "selected-1"))
	Expect(names(client.MatchingFields{"spec.wave": "early"})).To(ConsistOf("selected-0", "selected-2"))
	Expect(names(client.MatchingFields{"status.phase": "Progressing"})).To(ConsistOf("selected-0"))
})

// A status must stay writable whatever k8sd said: what Bound cuts is accepted, one character more is not.
var _ = It("bounds the messages of a status where Bound cuts them", func(ctx SpecContext) {
	cu := upgrade("bounded", "ro", "early")
	create(ctx, cu)
	long := strings.Repeat("é", fleetv1.MaxMessage+1)
	cu.Status.LastError = fleetv1.Bound(long)
	Expect(hub.Status().Update(ctx, cu)).To(Succeed())
	cu.Status.LastError = long
	Expect(hub.Status().Update(ctx, cu)).To(MatchError(ContainSubstring("status.lastError: ")))
})

var _ = DescribeTable("kubectl get shows", func(ctx SpecContext, resource string, columns ...string) {
	table, err := tableOf(ctx, resource)
	Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, c := range table.ColumnDefinitions {
		names = append(names, strings.ToUpper(c.Name))
	}
	Expect(names).To(Equal(columns))
},
	Entry(nil, "managementclusters",
		"NAME", "ENGINE", "ACCESS", "GRANT", "READY", "WHY", "CLUSTERS", "MACHINES", "SEEN", "TOKEN"),
	Entry(nil, "workloadclusters",
		"NAME", "CLUSTER", "VERSION", "MACHINES", "HEALTHY", "WHY", "PAUSED", "CLAIMED-BY", "SEEN"),
	Entry(nil, "rolloutpolicies",
		"NAME", "TARGET", "READY", "WHY", "ROLLOUT", "SELECTED", "CANARIES", "PAUSED", "AGE"),
	Entry(nil, "rollouts",
		"NAME", "PHASE", "WAVE", "DONE", "ACTIVE", "FAILED", "DEFERRED", "WHY", "SINCE", "UNTIL"),
	Entry(nil, "clusterupgrades",
		"NAME", "CLUSTER", "WAVE", "PHASE", "CP", "WORKERS", "TRIES", "WHY", "UNTIL", "MACHINE", "LAST-ERROR"),
	Entry(nil, "maintenancecalendars", "NAME", "ZONE", "OPEN", "UNTIL", "NEXT", "READY", "WHY", "AGE"),
	Entry(nil, "freezes",
		"NAME", "ACTIVE", "WHY", "EFFECT", "SCOPE", "CLUSTERS", "UNTIL", "BY", "REASON", "AGE"),
	Entry(nil, "approvals",
		"NAME", "ROLLOUT", "WAVE", "DECISION", "VALID", "WHY", "BY", "EXPIRES", "REASON", "AGE"),
)

var _ = It("prints a ClusterUpgrade's row as people on call read it", func(ctx SpecContext) {
	cu := upgrade("printed", "ro", "canaries")
	create(ctx, cu)
	cu.Status = fleetv1.ClusterUpgradeStatus{
		Phase: fleetv1.UpgradeFailed, Reason: "MachineQuarantined", Until: fleetv1.UntilText(nil),
		Summary:        &fleetv1.UpgradeSummary{Cluster: cu.Path(), CP: "1/3", Workers: "0/5", Tries: "3/3"},
		CurrentMachine: "eu-1-cp-2", LastError: "Download snap k8s: refused",
	}
	Expect(hub.Status().Update(ctx, cu)).To(Succeed())
	table, err := tableOf(ctx, "clusterupgrades")
	Expect(err).NotTo(HaveOccurred())
	var rows [][]any
	for _, row := range table.Rows {
		rows = append(rows, row.Cells)
	}
	Expect(rows).To(ContainElement([]any{
		"printed", "mgmt-a/shop/eu-1", "canaries", "Failed", "1/3", "0/5", "3/3", "MachineQuarantined", "act", "eu-1-cp-2",
		"Download snap k8s: refused",
	}))
})

var _ = It("prints calendars, freezes and approvals as people on call read them", func(ctx SpecContext) {
	ready := []metav1.Condition{{
		Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: fleetv1.AcceptedReason, LastTransitionTime: metav1.Unix(1, 0),
	}}
	of := func(kind string) []metav1.Condition {
		c := slices.Clone(ready)
		c[0].Type = kind
		return c
	}
	calendar := &fleetv1.MaintenanceCalendar{}
	status(ctx, "MaintenanceCalendar", calendar, func() {
		calendar.Status = fleetv1.MaintenanceCalendarStatus{
			Conditions: ready, Open: fleetv1.CalendarIsClosed, Until: "2026-12-05T01:00:00Z", Zone: "Europe/Berlin", ZoneData: "2026b",
			Zones: []fleetv1.CalendarZone{{TimeZone: "Europe/Berlin", Next: []fleetv1.CalendarOpening{{
				OpensAt: metav1.Unix(1_796_432_400, 0), Local: "Sat 2026-12-05 02:00 CET – 06:00 CET",
			}}}},
		}
	})
	freeze := &fleetv1.Freeze{}
	status(ctx, "Freeze", freeze, func() {
		freeze.Status = fleetv1.FreezeStatus{
			Conditions: of(fleetv1.ActiveCondition), Effect: fleetv1.FreezeNoNewMachines, Scope: "all", Clusters: new(int32(500)),
			Until: fleetv1.UntilText(nil),
		}
	})
	approval := &fleetv1.Approval{}
	status(ctx, "Approval", approval, func() { approval.Status.Conditions = of(fleetv1.ValidCondition) })

	for resource, row := range map[string][]any{
		"maintenancecalendars": {
			"printed", "Europe/Berlin", "Closed", "2026-12-05T01:00:00Z", "Sat 2026-12-05 02:00 CET – 06:00 CET", "True", "Accepted",
		},
		"freezes": {"printed", "True", "Accepted", "NoNewMachines", "all", int64(500), "act", admin, "Christmas holidays"},
		"approvals": {
			"printed", "k8s-1-33-7c2f1", "early", "Approved", "True", "Accepted", admin, "2027-01-07T06:00:00Z", "canaries looked at",
		},
	} {
		table, err := tableOf(ctx, resource)
		Expect(err).NotTo(HaveOccurred())
		Expect(table.Rows).NotTo(BeEmpty(), resource)
		var rows [][]any
		for _, r := range table.Rows {
			rows = append(rows, r.Cells[:len(r.Cells)-1]) // without the age
		}
		Expect(rows).To(ContainElement(row), resource)
	}
})

// status makes the least object of a kind and writes its status.
func status(ctx context.Context, kind string, into client.Object, write func()) {
	GinkgoHelper()
	least := object(kind, least(kind), map[string]string{"Approval": `expiresAt: "2027-01-07T06:00:00Z"`}[kind])
	least.SetName("printed")
	create(ctx, least)
	Expect(hub.Get(ctx, client.ObjectKeyFromObject(least), into)).To(Succeed())
	write()
	Expect(hub.Status().Update(ctx, into)).To(Succeed())
}

var _ = It("takes short names", func() {
	list, err := discovered()
	Expect(err).NotTo(HaveOccurred())
	short := map[string][]string{}
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") {
			short[r.Name] = r.ShortNames
			Expect(r.Namespaced).To(BeTrue(), r.Name)
		}
	}
	Expect(short).To(Equal(map[string][]string{
		"managementclusters": {"mc"}, "workloadclusters": {"wc"}, "rolloutpolicies": {"rp"}, "rollouts": {"ro"},
		"clusterupgrades": {"cu"}, "maintenancecalendars": {"cal"}, "freezes": {"fz"}, "approvals": {"apv"},
	}))
})
