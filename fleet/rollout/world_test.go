// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/rollout"
)

const namespace = "fleet"

// hub is the hub's API server, with a cache in front of it that can be held back.
type hub struct {
	t *testing.T
	// live is the truth; cache is what the controllers read.
	live, cache client.Client
	clock       *clocktesting.FakeClock
	// behind answers for the cache as long as it is set.
	behind client.Reader
	// onlyRollouts: it answers for Rollouts only.
	onlyRollouts bool
	// refuse is asked before every create.
	refuse func(client.Object) error
	gate   error
	made   int
	events *events.FakeRecorder
	// vouched: the API server vouches for the authors of Approvals. silent: it cannot be told.
	vouched  bool
	silent   error
	rollouts *rollout.Reconciler
	policies *rollout.PolicyReconciler
}

func newHub(t *testing.T, objects ...client.Object) *hub {
	t.Helper()
	h := &hub{
		t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)),
		events: events.NewFakeRecorder(100), vouched: true,
	}
	live := interceptor.NewClient(snapshot(t, objects...), interceptor.Funcs{Create: h.create})
	h.live = live
	h.cache = interceptor.NewClient(live, interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption,
		) error {
			return h.reader(c, o).Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			return h.reader(c, l).List(ctx, l, opts...)
		},
	})
	h.restart()
	return h
}

func snapshot(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(
		&fleetv1.RolloutPolicy{}, &fleetv1.Rollout{}, &fleetv1.ClusterUpgrade{}, &fleetv1.WorkloadCluster{},
		&fleetv1.ManagementCluster{}, &fleetv1.MaintenanceCalendar{}, &fleetv1.Freeze{}, &fleetv1.Approval{}).Build()
}

func (h *hub) reader(c client.Reader, of runtime.Object) client.Reader {
	switch of.(type) {
	case *fleetv1.Rollout, *fleetv1.RolloutList:
	default:
		if h.onlyRollouts {
			return c
		}
	}
	if h.behind != nil {
		return h.behind
	}
	return c
}

// create gives a UID and a generation, as an API server does.
func (h *hub) create(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	if h.refuse != nil {
		if err := h.refuse(o); err != nil {
			return err
		}
	}
	h.made++
	o.SetUID(types.UID(fmt.Sprintf("made-%d", h.made)))
	o.SetGeneration(1)
	return c.Create(ctx, o, opts...)
}

// restart is a new process: it remembers nothing.
func (h *hub) restart() {
	h.rollouts = &rollout.Reconciler{
		Hub: h.cache, Live: h.live, Clock: h.clock, MayWrite: func() error { return h.gate },
		Pace: &pace.Pace[types.UID]{Clock: h.clock}, Events: h.events, HubNamespace: "windlass-system",
		AuthorsVerified: func(context.Context, []*fleetv1.Approval) (func(*fleetv1.Approval) bool, error) {
			return func(*fleetv1.Approval) bool { return h.vouched }, h.silent
		},
	}
	h.policies = &rollout.PolicyReconciler{Hub: h.cache, Live: h.live, Clock: h.clock}
}

// hold keeps the cache as it is now.
func (h *hub) hold() {
	h.t.Helper()
	var all []client.Object
	for _, l := range []client.ObjectList{
		&fleetv1.ManagementClusterList{}, &fleetv1.WorkloadClusterList{}, &fleetv1.RolloutPolicyList{}, &fleetv1.RolloutList{},
		&fleetv1.ClusterUpgradeList{}, &fleetv1.MaintenanceCalendarList{}, &fleetv1.FreezeList{}, &fleetv1.ApprovalList{},
	} {
		items, err := meta.ExtractList(h.list(l))
		if err != nil {
			h.t.Fatal(err)
		}
		for _, item := range items {
			all = append(all, item.(client.Object))
		}
	}
	h.behind = snapshot(h.t, all...)
}

// release lets the cache catch up.
func (h *hub) release() { h.behind = nil }

func (h *hub) list(l client.ObjectList) client.ObjectList {
	h.t.Helper()
	if err := h.live.List(h.t.Context(), l, client.InNamespace(namespace)); err != nil {
		h.t.Fatal(err)
	}
	return l
}

func (h *hub) upgrades() []fleetv1.ClusterUpgrade {
	h.t.Helper()
	return h.list(&fleetv1.ClusterUpgradeList{}).(*fleetv1.ClusterUpgradeList).Items
}

// running counts the clusters whose intent is Run.
func (h *hub) running() int {
	h.t.Helper()
	n := 0
	for _, cu := range h.upgrades() {
		if cu.Spec.Intent == fleetv1.IntentRun {
			n++
		}
	}
	return n
}

func (h *hub) allRollouts() []fleetv1.Rollout {
	h.t.Helper()
	return h.list(&fleetv1.RolloutList{}).(*fleetv1.RolloutList).Items
}

func (h *hub) get(name string, o client.Object) {
	h.t.Helper()
	if err := h.live.Get(h.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		h.t.Fatal(err)
	}
}

// look reconciles one Rollout, some seconds after the last look.
func (h *hub) look(name string) (reconcile.Result, error) {
	h.clock.Step(2 * time.Second)
	return h.rollouts.Reconcile(h.t.Context(), request(name))
}

// settle looks as often as a few events would make it.
func (h *hub) settle(name string) {
	h.t.Helper()
	for range 5 {
		if _, err := h.look(name); err != nil {
			h.t.Fatal(err)
		}
	}
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// member is a ManagementCluster that is ready and has as many clusters.
func member(name string, clusters int32) *fleetv1.ManagementCluster {
	return &fleetv1.ManagementCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		Spec:       fleetv1.ManagementClusterSpec{Access: fleetv1.AccessUpgrade},
		Status: fleetv1.ManagementClusterStatus{
			Clusters:   new(clusters),
			Conditions: []metav1.Condition{{Type: fleetv1.ReadyCondition, Status: metav1.ConditionTrue}},
		},
	}
}

// recorded is a healthy WorkloadCluster of mgmt-a at v1.33.4.
func recorded(name string) *fleetv1.WorkloadCluster {
	count := func(name string) []fleetv1.VersionCount { return []fleetv1.VersionCount{{Name: name, Count: 3}} }
	return &fleetv1.WorkloadCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "mgmt-a-" + name + "-" + name, UID: types.UID("uid-" + name),
		},
		Spec: fleetv1.WorkloadClusterSpec{
			ManagementCluster: "mgmt-a",
			Cluster:           fleetv1.ObjectRef{Namespace: "shop", Name: name, UID: types.UID("c-" + name)},
		},
		Status: fleetv1.WorkloadClusterStatus{
			ObservedTime: new(metav1.Now()),
			Conditions:   []metav1.Condition{{Type: fleetv1.HealthyCondition, Status: metav1.ConditionTrue}},
			ControlPlane: &fleetv1.OwnerStatus{
				Kind: "CK8sControlPlane", Name: name + "-cp", Replicas: 3, Ready: 3, ByKubelet: count("v1.33.4"),
				ByRelease: count("unknown"), ByArchitecture: count("amd64"),
			},
			Pools: []fleetv1.OwnerStatus{{
				Kind: "MachineDeployment", Name: name + "-md", Replicas: 3, ByKubelet: count("v1.33.4"),
				ByRelease: count("unknown"), ByArchitecture: count("amd64"),
			}},
		},
	}
}

var (
	first  = fleetv1.Target{Channel: new("1.33-classic/stable"), Version: "v1.33.9"}
	second = fleetv1.Target{Channel: new("1.33-classic/candidate"), Version: "v1.33.10"}
)

// standing is a policy that upgrades all clusters, without canaries, one at a time.
func standing(name string) *fleetv1.RolloutPolicy {
	return &fleetv1.RolloutPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec: fleetv1.RolloutPolicySpec{
			Target: first, Clusters: fleetv1.ClusterSelection{All: new(true)}, AnyTime: new(true),
			Canaries: fleetv1.Canaries{None: new(true)},
			Waves: []fleetv1.Wave{{
				Name: "rest", Rest: new(true), MaxConcurrency: new(intstr.FromInt32(1)), MaxFailures: new(intstr.FromInt32(1)),
			}},
		},
	}
}

// succeed reports a ClusterUpgrade as proven, with nothing left on its member.
func (h *hub) succeed(name string) {
	h.t.Helper()
	h.say(name, func(s *fleetv1.ClusterUpgradeStatus) {
		s.Phase, s.Settled, s.EndedAt = fleetv1.UpgradeSucceeded, true, new(metav1.NewTime(h.clock.Now()))
	})
}

// begin reports a machine of a ClusterUpgrade at work.
func (h *hub) begin(name string) {
	h.t.Helper()
	h.say(name, func(s *fleetv1.ClusterUpgradeStatus) {
		s.Phase, s.Claimed, s.StartedAt = fleetv1.UpgradeProgressing, true, new(metav1.NewTime(h.clock.Now()))
	})
}

// say reports on a ClusterUpgrade as its controller does.
func (h *hub) say(name string, change func(*fleetv1.ClusterUpgradeStatus)) {
	h.t.Helper()
	cu := &fleetv1.ClusterUpgrade{}
	h.get(name, cu)
	cu.Status.ObservedGeneration = cu.Generation
	change(&cu.Status)
	if err := h.live.Status().Update(h.t.Context(), cu); err != nil {
		h.t.Fatal(err)
	}
}

// intents are what is asked of each cluster.
func (h *hub) intents() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	for _, cu := range h.upgrades() {
		all[cu.Name] = string(cu.Spec.Intent) + " " + fleetv1.UntilText(cu.Spec.NotAfter)
	}
	return all
}

// changed tells the intents that are others than before.
func (h *hub) changed(before map[string]string) string {
	h.t.Helper()
	return cmp.Diff(before, h.intents())
}
