// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// TestTheStandInHasTheFaults keeps the stand-in from being better than what it stands for.
func TestTheStandInHasTheFaults(t *testing.T) {
	t.Run("fault 1 is present in the stand-in: a refresh that fails is repeated without pause or end", fault1)
	t.Run("fault 2 is present in the stand-in: an old empty MachineSet makes a pool done", fault2)
	t.Run("fault 3 is present in the stand-in: an old release of the owner downgrades a machine", fault3)
	t.Run("fault 6 is present in the stand-in: release is what is asked for, not what was refreshed to", fault6)
	t.Run("fault 7 is present in the stand-in: a failure of long ago stops a pool", fault7)
	t.Run("fault 10 is present in the stand-in: asked again after a cancel, a machine loses its status", fault10)
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
