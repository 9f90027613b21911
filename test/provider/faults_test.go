// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// TestTheStandInHasTheFaults keeps the stand-in from being better than what it stands for.
func TestTheStandInHasTheFaults(t *testing.T) {
	t.Run("fault 1 is present in the stand-in: a refresh that fails is repeated without pause or end", fault1)
	t.Run("fault 2 is present in the stand-in: an old empty MachineSet makes a pool done", fault2)
	t.Run("fault 3 is present in the stand-in: an old release of the owner downgrades a machine", fault3)
	t.Run("fault 4 is present in the stand-in: a change that snapd does not know is asked about for ever", fault4)
	t.Run("fault 5 is present in the stand-in: another target takes the lock from a machine in flight", fault5)
	t.Run("fault 6 is present in the stand-in: release is what is asked for, not what was refreshed to", fault6)
	t.Run("fault 7 is present in the stand-in: a failure of long ago stops a pool", fault7)
	t.Run("fault 8 is present in the stand-in: a status that a cancel left stops a pool", fault8)
	t.Run("fault 9 is present in the stand-in: what cannot be asked for is forgotten without a word", fault9)
	t.Run("fault 10 is present in the stand-in: asked again after a cancel, a machine loses its status", fault10)
	t.Run("fault 11 is present in the stand-in: a failure takes an owner's instructions away", fault11)
	t.Run("fault 13 is present in the stand-in: a lock outlives what it was taken for", fault13)
}

func fault1(t *testing.T) {
	s := given(t, pool(1))
	const storm = 10
	steps := make([]k8sd.Step, storm)
	for i := range steps {
		steps[i] = k8sd.Error(0, "no")
	}
	s.script("eu-a-0", steps...)
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: target})
	tr.until(1, done)
	s.same("refreshes", storm+1, s.refreshes("eu-a-0"))
}

func fault2(t *testing.T) {
	s := given(t, pool(1))
	sets := &unstructured.UnstructuredList{}
	sets.SetGroupVersionKind(setGVK)
	if err := shared.member.Client.List(t.Context(), sets, client.InNamespace(s.Namespace)); err != nil {
		t.Fatal(err)
	}
	old := sets.Items[0].DeepCopy()
	old.SetName("eu-a-00000")
	old.SetResourceVersion("")
	old.SetUID("")
	if err := unstructured.SetNestedField(old.Object, int64(0), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(old.Object, "status")
	if err := shared.member.Client.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	tr := s.trace(poolGVK, "eu-a")
	s.annotate(poolGVK, "eu-a", map[string]any{keys.To: target})
	s.same("trace", []string{"{to}", done}, tr.until(1, done))
	s.wantRefreshes("eu-a-0")
	s.same("the machine", "{}", describe(s.get(machineGVK, "eu-a-0")))
}

func fault3(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec {
		return c.Pool("a", 1).At(version).OwnerRelease(oldTarget)
	})
	s.until("the machine is at the old release", func() bool {
		return describe(s.get(machineGVK, "eu-a-0")) == "{status=done,release="+oldTarget+"}"
	})
	s.wantRefreshes("eu-a-0", oldTarget)
	s.same("the node's version", oldVersion, shared.Sim().Version(s.Node("eu-a-0")))
}

func fault6(t *testing.T) {
	s := given(t, pool(1))
	s.script("eu-a-0", k8sd.Done(10*pause))
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: target})
	tr.until(1, "{to,status=in-progress,change-id=1}")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: "revision=640"})
	tr.until(1, "{status=done,release=revision=640}")
	s.wantRefreshes("eu-a-0", target)
}

func fault7(t *testing.T) {
	s := given(t, pool(1))
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.LastFailed: "Sat, 19 Oct 2024 20:30:00 +0400"})
	s.annotate(poolGVK, "eu-a", map[string]any{keys.To: target})
	s.until("three looks that find the pool failed", func() bool { return len(s.events("eu-a")) >= 3 })
	s.same("the pool", "{to,status=failed}", describe(s.get(poolGVK, "eu-a")))
	s.wantRefreshes("eu-a-0")
	s.annotate(poolGVK, "eu-a", map[string]any{keys.To: nil})
}

func fault10(t *testing.T) {
	s := given(t, pool(1))
	s.script("eu-a-0", k8sd.Doing())
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.Status: "in-progress"})
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: target})
	s.same("trace", []string{
		"{to,status=in-progress}", "{to}", "{to,change-id=1}", "{to,status=failed,change-id=1,last-failed}", "{to,last-failed}",
	}, tr.until(1, "{to,last-failed}"))
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: nil})
}

func fault4(t *testing.T) {
	s := given(t, pool(1))
	s.script("eu-a-0", k8sd.Pruned(0))
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: target})
	const forever = "{to,status=in-progress,change-id=1}"
	tr.until(1, forever)
	s.until("the node is at the target", func() bool { return shared.Sim().Version(s.Node("eu-a-0")) == version })
	s.stays(forever, func() bool { return describe(s.get(machineGVK, "eu-a-0")) == forever })
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: nil})
}

func fault5(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec { return c.ControlPlane(3) })
	machines := []string{"eu-cp-0", "eu-cp-1", "eu-cp-2"}
	for _, m := range machines {
		s.script(m, k8sd.Doing())
	}
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: target})
	all := func() (refreshes int) {
		for _, m := range machines {
			refreshes += s.refreshes(m)
		}
		return refreshes
	}
	s.until("a first refresh", func() bool { return all() == 1 })
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: oldTarget})
	s.until("a second refresh beside the one that runs", func() bool { return all() > 1 })
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: nil})
	for _, m := range machines {
		s.annotate(machineGVK, m, map[string]any{keys.To: nil})
	}
}

func fault8(t *testing.T) {
	s := given(t, pool(1))
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.Status: "in-progress"})
	s.annotate(poolGVK, "eu-a", map[string]any{keys.To: target})
	s.stays("nothing happens to the pool and its machine", func() bool {
		return describe(s.get(poolGVK, "eu-a")) == "{to}" && describe(s.get(machineGVK, "eu-a-0")) == "{status=in-progress}"
	})
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.Status: nil})
	s.until("the pool goes on", func() bool { return describe(s.get(poolGVK, "eu-a")) == done })
}

func fault9(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec { return c.Pool("a", 1).Release(oldTarget) })
	if err := shared.Sim().Fail(s.Node("eu-a-0"), k8sd.Unauthorized(), 3); err != nil {
		t.Fatal(err)
	}
	tr := s.trace(machineGVK, "eu-a-0")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.To: target})
	s.same("trace", []string{
		"{to,release=" + oldTarget + "}", "{to}", "{to,status=in-progress,change-id=1}", "{to,status=done,change-id=1}", done,
	}, tr.until(1, done))
	s.wantEvents("eu-a-0",
		"Normal InPlaceUpgradeInProgress Performing in place upgrade with "+target,
		"Normal InPlaceUpgradeDone Successfully performed in place upgrade with "+target)
}

func fault11(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec {
		return c.Pool("a", 1).Release(target).OwnerRelease(target)
	})
	tr := s.trace(poolGVK, "eu-a")
	s.annotate(machineGVK, "eu-a-0", map[string]any{keys.Release: nil, keys.LastFailed: "Sat, 19 Oct 2024 20:30:00 +0400"})
	s.annotate(poolGVK, "eu-a", map[string]any{"example.com/touched": "1"})
	s.same("trace", []string{"{status=failed}"}, tr.until(1, "{status=failed}"))
}

func fault13(t *testing.T) {
	s := given(t, func(c build.ClusterSpec) build.ClusterSpec { return c.ControlPlane(1) })
	tr := s.trace(machineGVK, "eu-cp-0")
	s.script("eu-cp-0", k8sd.Done(10*pause))
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: target})
	tr.until(1, "{to,status=in-progress,change-id=1}")
	s.annotate(controlPlane, "eu-cp", map[string]any{keys.To: nil})
	tr.until(1, done)
	lock := types.NamespacedName{Namespace: s.Namespace, Name: protocol.LockName("eu")}
	s.stays("the lock is there", func() bool {
		return shared.member.Client.Get(t.Context(), lock, &corev1.ConfigMap{}) == nil
	})
}
