// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/member"
)

// hub is a hub with ManagementCluster "a" and the controller that looks after it.
type hub struct {
	t          *testing.T
	client     client.WithWatch
	clock      *clocktesting.FakeClock
	reconciler *member.Reconciler
}

func newHub(t *testing.T, kubeconfig string, others ...client.Object) *hub {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects := append(slices.Clone(others), registered("a", now))
	if kubeconfig != "" {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"},
			Data:       map[string][]byte{"kubeconfig": []byte(kubeconfig)},
		})
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&fleetv1.ManagementCluster{}).Build()
	p, _ := started(t, member.Options{})
	h := &hub{t: t, client: c, clock: clocktesting.NewFakeClock(now)}
	h.reconciler = &member.Reconciler{Hub: c, Live: c, Provider: p, Clock: h.clock}
	return h
}

// registered is a ManagementCluster whose kubeconfig is in the Secret of its name.
func registered(name string, created time.Time) *fleetv1.ManagementCluster {
	mc := &fleetv1.ManagementCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: name, UID: "uid-a", Generation: 4, CreationTimestamp: metav1.NewTime(created),
	}}
	mc.Spec.KubeconfigSecretRef.Name = name
	return mc
}

// look reconciles once and returns the status.
func (h *hub) look() fleetv1.ManagementClusterStatus {
	h.t.Helper()
	key := client.ObjectKey{Namespace: "fleet", Name: "a"}
	result, err := h.reconciler.Reconcile(h.t.Context(), reconcile.Request{NamespacedName: key})
	if err != nil || result.RequeueAfter != 10*time.Second {
		h.t.Fatalf("%+v, %v", result, err)
	}
	mc := &fleetv1.ManagementCluster{}
	if err := h.client.Get(h.t.Context(), key, mc); err != nil {
		h.t.Fatal(err)
	}
	return mc.Status
}

// says is each condition as "status reason".
func says(s fleetv1.ManagementClusterStatus) map[string]string {
	all := map[string]string{}
	for _, c := range s.Conditions {
		all[c.Type] = string(c.Status) + " " + c.Reason
	}
	return all
}

func conditions(ready, reachable, authorized, installed string) map[string]string {
	return map[string]string{
		fleetv1.ReadyCondition: ready, fleetv1.ReachableCondition: reachable, fleetv1.AuthorizedCondition: authorized,
		fleetv1.ClusterAPIInstalledCondition: installed,
	}
}

func leadsTo(s *server) string { return kubeconfig("server: '"+s.URL+"'", "token: x") }

var well = conditions("True Available", "True Reachable", "True Authorized", "True Installed")

func TestAMemberThatIsWell(t *testing.T) {
	h := newHub(t, leadsTo(serve(t, func(s *server) { s.clusters = []string{"eu-1", "eu-2"} })))
	got := h.look()
	want := fleetv1.ManagementClusterStatus{
		ObservedGeneration: 4, ClusterID: "system-1", ServerVersion: "v1.33.1", ClusterAPIVersions: []string{"v1beta2"},
		Engine:   &fleetv1.EngineStatus{KeyPrefix: "v1beta2.k8sd.io/"},
		Clusters: new(int32(2)), Machines: new(int32(0)), LastProbeTime: new(metav1.NewTime(now)),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Conditions"), sameInstant); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(well, says(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// sameInstant compares times whatever their zone.
var sameInstant = cmp.Comparer(func(a, b metav1.Time) bool { return a.Equal(&b) })

func TestConditionsSayTheFirstThingToMend(t *testing.T) {
	cases := map[string]struct {
		kubeconfig func(*testing.T) string
		want       map[string]string
		message    string
	}{
		"there is no Secret": {
			func(*testing.T) string { return "" },
			conditions("False KubeconfigInvalid", "Unknown KubeconfigInvalid", "Unknown Unreachable", "Unknown Unreachable"),
			`spec.kubeconfigSecretRef.name "a": there is no such Secret in namespace fleet`,
		},
		"its kubeconfig is refused": {
			func(*testing.T) string { return kubeconfig(address, "tokenFile: /etc/hostname") },
			conditions("False KubeconfigInvalid", "Unknown KubeconfigInvalid", "Unknown Unreachable", "Unknown Unreachable"),
			"files are refused",
		},
		"nobody is there": {
			func(t *testing.T) string { return leadsTo(serve(t, func(s *server) { s.status = 503 })) },
			conditions("False Unreachable", "False Unreachable", "Unknown Unreachable", "Unknown Unreachable"), "",
		},
		"the credential is refused": {
			func(t *testing.T) string {
				return leadsTo(serve(t, func(s *server) { s.status = http.StatusUnauthorized }))
			},
			conditions("False Unauthorized", "True Reachable", "False Unauthorized", "Unknown Unreachable"), "",
		},
		"it is no management cluster": {
			func(t *testing.T) string { return leadsTo(serve(t, func(s *server) { s.withoutAPI = true })) },
			conditions("False NotAManagementCluster", "True Reachable", "True Authorized", "False NotAManagementCluster"),
			"Cluster",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := newHub(t, c.kubeconfig(t)).look()
			if diff := cmp.Diff(c.want, says(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			ready := meta.FindStatusCondition(got.Conditions, fleetv1.ReadyCondition)
			if !strings.Contains(ready.Message, c.message) || (ready.Message == "") != (ready.Status == metav1.ConditionTrue) {
				t.Errorf("Ready says %q", ready.Message)
			}
		})
	}
}

// TestAMemberThatFallsSilentKeepsWhatIsKnown of it.
func TestAMemberThatFallsSilentKeepsWhatIsKnown(t *testing.T) {
	s := serve(t, func(s *server) { s.clusters = []string{"eu-1"} })
	h := newHub(t, leadsTo(s))
	before := h.look()
	s.gone.Store(true)
	after := h.look()
	if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(before, "Conditions"), sameInstant); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	want := conditions("False Unreachable", "False Unreachable", "Unknown Unreachable", "Unknown Unreachable")
	if diff := cmp.Diff(want, says(after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.gone.Store(false)
	if diff := cmp.Diff(well, says(h.look())); diff != "" {
		t.Errorf("when it is back (-want +got):\n%s", diff)
	}
}

// TestAnIdentityIsPinned: behind the address is another cluster now; nothing there counts for the one registered.
func TestAnIdentityIsPinned(t *testing.T) {
	s := serve(t, func(s *server) { s.clusters = []string{"eu-1", "eu-2"} })
	h := newHub(t, leadsTo(s))
	before := h.look()
	other := serve(t, func(s *server) { s.uid = "system-2" })
	secret := &corev1.Secret{}
	if err := h.client.Get(t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a"}, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["kubeconfig"] = []byte(leadsTo(other))
	if err := h.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		after := h.look()
		want := conditions("False IdentityChanged", "True Reachable", "True Authorized", "True Installed")
		if diff := cmp.Diff(want, says(after)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if after.ClusterID != "system-1" {
			t.Errorf("pinned to %s", after.ClusterID)
		}
		if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(before, "Conditions"), sameInstant); diff != "" {
			t.Errorf("what is known of the one registered (-before +after):\n%s", diff)
		}
		ready := meta.FindStatusCondition(after.Conditions, fleetv1.ReadyCondition)
		if !strings.Contains(ready.Message, "system-1") || !strings.Contains(ready.Message, "system-2") {
			t.Errorf("Ready says %q", ready.Message)
		}
	}
}

// TestTheYoungerOfTwoIsTheDuplicate when both look at one namespace of one member.
func TestTheYoungerOfTwoIsTheDuplicate(t *testing.T) {
	cases := map[string]struct {
		created    time.Time
		namespaces []string
		clusterID  string
		want       string
	}{
		"an older one of the same member":     {now.Add(-time.Hour), nil, "system-1", "False Duplicate"},
		"a younger one":                       {now.Add(time.Hour), nil, "system-1", "True Available"},
		"one of the same age, first by name":  {now, nil, "system-1", "False Duplicate"},
		"an older one of another member":      {now.Add(-time.Hour), nil, "system-2", "True Available"},
		"an older one, never looked at":       {now.Add(-time.Hour), nil, "", "True Available"},
		"an older one with other namespaces":  {now.Add(-time.Hour), []string{"lab"}, "system-1", "True Available"},
		"an older one with a namespace of it": {now.Add(-time.Hour), []string{"lab", "shop"}, "system-1", "False Duplicate"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			other := registered("0", c.created)
			other.UID, other.Spec.Namespaces, other.Status.ClusterID = "other", c.namespaces, c.clusterID
			h := newHub(t, leadsTo(serve(t, nil)), other)
			if c.namespaces != nil {
				mc := &fleetv1.ManagementCluster{}
				if err := h.client.Get(t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a"}, mc); err != nil {
					t.Fatal(err)
				}
				mc.Spec.Namespaces = []string{"shop"}
				if err := h.client.Update(t.Context(), mc); err != nil {
					t.Fatal(err)
				}
			}
			if got := says(h.look())[fleetv1.ReadyCondition]; got != c.want {
				t.Errorf("Ready is %s", got)
			}
		})
	}
}

// TestProbeTimesAreWrittenSeldom: on a change, else at most every 5 minutes (law 18).
func TestProbeTimesAreWrittenSeldom(t *testing.T) {
	h := newHub(t, leadsTo(serve(t, nil)))
	h.look()
	h.clock.Step(4 * time.Minute)
	if s := h.look(); !s.LastProbeTime.Time.Equal(now) {
		t.Errorf("after 4 minutes it says %s", s.LastProbeTime)
	}
	h.clock.Step(time.Minute)
	if s := h.look(); !s.LastProbeTime.Time.Equal(now.Add(5 * time.Minute)) {
		t.Errorf("after 5 minutes it says %s", s.LastProbeTime)
	}
}

func TestAMemberThatIsDeletedIsDisconnected(t *testing.T) {
	h := newHub(t, leadsTo(serve(t, nil)))
	h.look()
	mc := registered("a", now)
	if err := h.client.Delete(t.Context(), mc); err != nil {
		t.Fatal(err)
	}
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mc)}
	if _, err := h.reconciler.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if _, found := h.reconciler.Provider.Member("fleet/a"); found {
		t.Error("it is still engaged")
	}
}
