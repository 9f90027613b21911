// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"testing"

	"github.com/windlass-dev/windlass/engine/orchestrate"
)

// TestLaw19_APoolThatIsAskedWithItsControlPlaneGoesAfterIt: workers are never newer than the control plane, whatever order
// they are asked in.
func TestLaw19_APoolThatIsAskedWithItsControlPlaneGoesAfterIt(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.grant("a")
	w.grant("cp")
	w.settle("a")
	same(t, "marked", []string(nil), w.marked())
	same(t, "reason shown", orchestrate.ControlPlaneInFlight, w.waits("a"))
	w.annotate("cp", nil, keys.To)
	w.settle("a")
	same(t, "marked after the control plane", []string{"a-0"}, w.marked())
}

// TestLaw19_AControlPlaneThatIsDoneWakesItsPools: nothing else of theirs changes.
func TestLaw19_AControlPlaneThatIsDoneWakesItsPools(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.grant("cp")
	asked := w.get("cp")
	w.annotate("cp", nil, keys.To)
	done := w.get("cp")
	for _, watch := range w.orchestrator(nil).Watches() {
		if watch.GVK != done.GroupVersionKind() || watch.Matters == nil {
			continue
		}
		same(t, "requests", []orchestrate.Request{request("a")}, watch.Requests(t.Context(), done))
		same(t, "it is done", true, watch.Matters(asked, done))
		same(t, "it is asked", true, watch.Matters(done, asked))
		same(t, "it is as it was", false, watch.Matters(asked, asked))
		return
	}
	t.Error("pools are not woken by their control plane")
}
