// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/k8sd"
	"github.com/windlass-dev/windlass/test/provider"
)

const done = "{status=done,release=" + target + "}"

func pool(machines int32) func(build.ClusterSpec) build.ClusterSpec {
	return func(c build.ClusterSpec) build.ClusterSpec { return c.Pool("a", machines) }
}

func TestX1_AMachineIsUpgradedWithOneRefreshAndTwoEvents(t *testing.T) {
	s := given(t, pool(1))
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: target})

	s.same("trace", []string{"{to}", "{to,status=in-progress,change-id=1}", "{to,status=done,change-id=1}", done},
		tr.until(1, done))
	s.wantRefreshes("eu-a-0", target)
	s.wantEvents("eu-a-0",
		"Normal InPlaceUpgradeInProgress Performing in place upgrade with "+target,
		"Normal InPlaceUpgradeDone Successfully performed in place upgrade with "+target)
}

func TestX2_AFailedMachineTriesAgainAtOnce(t *testing.T) {
	s := given(t, pool(1))
	s.script("eu-a-0", k8sd.Error(0, "no space left on device"), k8sd.Undone(0))
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: target})

	s.same("trace", []string{
		"{to}", "{to,status=in-progress,change-id=1}", "{to,status=failed,change-id=1,last-failed}", "{to,last-failed}",
		"{to,status=in-progress,change-id=2,last-failed}", "{to,status=failed,change-id=2,last-failed}", "{to,last-failed}",
		"{to,status=in-progress,change-id=3,last-failed}", "{to,status=done,change-id=3,last-failed}", done,
	}, tr.until(1, done))
	s.wantRefreshes("eu-a-0", target, target, target)
	begun := "Normal InPlaceUpgradeInProgress Performing in place upgrade with " + target
	s.wantEvents("eu-a-0", begun, begun, begun,
		"Warning InPlaceUpgradeFailed Failed to perform in place upgrade with "+target+": no space left on device",
		"Warning InPlaceUpgradeFailed Failed to perform in place upgrade with "+target+": invalid refresh status",
		"Normal InPlaceUpgradeDone Successfully performed in place upgrade with "+target)
	for _, o := range tr.objects {
		at := keys.Read(o.GetAnnotations()).LastFailed
		if _, err := time.Parse(time.RFC1123Z, at); at != "" && err != nil {
			t.Errorf("last failed at %q: %v", at, err)
		}
	}
}

func TestC0_AControlPlaneIsUpgradedOneMachineAtATime(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec { return c.ControlPlane(3) })
	machines := []string{"eu-cp-0", "eu-cp-1", "eu-cp-2"}
	tr := s.trace(controlPlane, "eu-cp")
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: target})

	s.same("trace", []string{"{to}", "{to,status=in-progress}", done}, tr.until(1, done))
	var posts []k8sd.Post
	for _, p := range shared.Sim().Log() {
		if strings.Contains(p.Node, s.Namespace+".") {
			posts = append(posts, p)
		}
	}
	for i, p := range posts {
		if p.ChangeID != "1" {
			t.Errorf("refresh %d of %s is its change %q", i, p.Node, p.ChangeID)
		}
	}
	s.same("number of refreshes", 3, len(posts))
	for _, m := range machines {
		s.same(m, done, describe(s.get(machineGVK, m)))
	}
	lock := types.NamespacedName{Namespace: s.Namespace, Name: protocol.LockName("eu")}
	if err := shared.member.Client.Get(t.Context(), lock, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("the lock: %v", err)
	}
	var begun []string
	for _, m := range machines {
		begun = append(begun, `Normal InPlaceUpgradeInProgress Machine "`+m+`" is upgrading to "`+target+`"`,
			`Normal InPlaceUpgradeInProgress In-place upgrade is in-progress for "`+m+`"`)
	}
	want := slices.Sorted(slices.Values(append(begun, "Normal InPlaceUpgradeDone In-place upgrade is done")))
	s.until("the last event", func() bool { return len(s.events("eu-cp")) >= len(want) })
	s.same("events", want, slices.Compact(s.events("eu-cp"))) // done is told with each look (fault 18)
}

func TestC0_TheLockIsAsTheOthersReadIt(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec { return c.ControlPlane(1) })
	s.script("eu-cp-0", k8sd.Doing())
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: target})
	s.until("a refresh", func() bool { return s.refreshes("eu-cp-0") == 1 })

	lock := &corev1.ConfigMap{}
	key := types.NamespacedName{Namespace: s.Namespace, Name: "eu-cp-inplace-upgrade-lock"}
	if err := shared.member.Client.Get(t.Context(), key, lock); err != nil {
		t.Fatal(err)
	}
	s.same("data", map[string]string{
		"lock-information": `{"machineName":"eu-cp-0","machineNamespace":"` + s.Namespace + `"}`,
	}, lock.Data)
	s.same("labels", map[string]string{"cluster.x-k8s.io/cluster-name": "eu"}, lock.Labels)
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: nil})
	s.annotate(machineGVK, "eu-cp-0", map[string]any{keys.To: nil})
}

func TestE9_APoolGoesOnWhenItsFailedMachineSucceeds(t *testing.T) {
	s := given(t, pool(2))
	first := s.firstByUID("eu-a-0", "eu-a-1")
	s.script(first, k8sd.Error(0, "no"), k8sd.Done(10*pause))
	tr := s.trace(poolGVK, "eu-a")
	s.annotate(poolGVK, "eu-a", map[string]any{keys.To: target})

	s.same("trace", []string{
		"{to}", "{to,status=in-progress}", "{to,status=failed}", "{to,status=in-progress}", done,
	}, tr.until(1, done))
	for _, m := range []string{"eu-a-0", "eu-a-1"} {
		s.same(m, done, describe(s.get(machineGVK, m)))
	}
	s.until("the event of the failure", func() bool {
		return slices.Contains(s.events("eu-a"), `Warning InPlaceUpgradeFailed In-place upgrade failed for machine "`+first+`".`)
	})
}

func (s scene) firstByUID(machines ...string) string {
	s.Helper()
	return slices.MinFunc(machines, func(a, b string) int {
		return strings.Compare(string(s.get(machineGVK, a).GetUID()), string(s.get(machineGVK, b).GetUID()))
	})
}

func TestE9_ATargetThatCannotBeReadIsCopiedToMachines(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec { return c.Pool("a", 1).Release(oldTarget) })
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(poolGVK, "eu-a", map[string]any{keys.To: "chanel=1.34"})

	s.same("trace", []string{"{to}"}, tr.until(1, "{to}"))
	s.until("the owner is at work", func() bool { return describe(s.get(poolGVK, "eu-a")) == "{to,status=in-progress}" })
	s.wantRefreshes("eu-a-0")
	s.same("events", []string(nil), s.events("eu-a-0"))
}

func TestTheLeaderLeasesAreRenewed(t *testing.T) {
	s := given(t, pool(0))
	renewed := func(key types.NamespacedName) time.Time {
		l := &coordinationv1.Lease{}
		if err := shared.member.Client.Get(t.Context(), key, l); err != nil {
			t.Fatal(err)
		}
		return l.Spec.RenewTime.Time
	}
	for _, key := range provider.Leases() {
		first := renewed(key)
		s.until("a renewal of "+key.Name, func() bool { return renewed(key).After(first) })
	}
}
