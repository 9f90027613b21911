// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"testing"
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

func TestAnOwnerShowsWhatItWaitsForSinceWhen(t *testing.T) {
	w := newWorld(t, 3, 0)
	w.grant("cp")
	w.ready(2)
	w.clock.Step(1500 * time.Millisecond)
	w.settle("cp")
	same(t, "annotation", `{"reason":"NotReady","message":"control plane cp has 2 of 3 replicas ready (3 exist)",`+
		`"since":"2026-09-01T12:00:01Z"}`, w.get("cp").GetAnnotations()[protocol.WaitingKey])

	w.ready(1)
	w.clock.Step(time.Minute)
	writes := w.writes
	w.settle("cp")
	same(t, "writes while the reason stays", writes, w.writes)

	w.healthy("cp-2", false)
	w.settle("cp")
	same(t, "another reason", orchestrate.MachineUnhealthy, w.waits("cp"))

	w.healthy("cp-2", true)
	w.ready(3)
	w.settle("cp")
	same(t, "marked", []string{"cp-0"}, w.marked())
	same(t, "once it goes on", orchestrate.Reason(""), w.waits("cp"))
}

func TestAnOwnerThatWaitsForItsOwnMachineShowsNoWait(t *testing.T) {
	w := newWorld(t, 3, 2)
	for _, name := range []string{"a", "cp"} {
		w.grant(name)
		w.settle(name)
		w.begins(name + "-0")
		w.settle(name)
		same(t, name, orchestrate.Reason(""), w.waits(name))
		w.ends(name + "-0")
		w.settle(name)
		w.annotate(name, nil, keys.To)
	}
}

// TestNoWaitIsLeftBehind: whatever an owner waited for, its wait goes when the upgrade ends.
func TestNoWaitIsLeftBehind(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world)
		want string
	}{
		"by a withdrawal": {func(w *world) { w.annotate("a", nil, keys.To, protocol.PlanKey) }, "{}"},
		"by a withdrawal while a machine is in flight": {func(w *world) {
			w.annotate("eu", map[string]string{protocol.StartBeforeKey: protocol.FormatStartBefore(w.clock.Now().Add(time.Hour))})
			w.settle("a")
			w.begins("a-0")
			w.healthy("a-1", false)
			w.annotate("a", map[string]string{protocol.WaitingKey: `{"reason":"NotReady"}`}, keys.To, protocol.PlanKey)
		}, "{status=in-progress}"},
		"since all machines are there": {func(w *world) {
			for _, m := range []string{"a-0", "a-1"} {
				w.annotate(m, map[string]string{keys.Release: target})
				w.shows(m, newVersion)
			}
		}, "{status=done,release=" + target + ",planned}"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.grant("a")
			w.annotate("eu", nil, protocol.StartBeforeKey)
			w.settle("a")
			same(t, "reason shown", orchestrate.NotPermitted, w.waits("a"))
			c.end(w)
			w.settle("a")
			same(t, "owner", c.want, w.marks("a"))
			same(t, "reason shown in the end", orchestrate.Reason(""), w.waits("a"))
		})
	}
}

func TestAPausedOwnerKeepsTheWaitThatItShows(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	w.annotate("eu", nil, protocol.StartBeforeKey)
	w.settle("a")
	w.annotate("a", map[string]string{capi.PausedAnnotation: ""}, keys.To)
	writes := w.writes
	w.settle("a")
	same(t, "writes", writes, w.writes)
	same(t, "reason shown", orchestrate.NotPermitted, w.waits("a"))
}

func TestAWaitThatCannotBeReadIsWrittenAnew(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	w.annotate("eu", nil, protocol.StartBeforeKey)
	w.annotate("a", map[string]string{protocol.WaitingKey: "later"})
	w.settle("a")
	same(t, "reason shown", orchestrate.NotPermitted, w.waits("a"))
}

func TestAFailureShowsItsReasonInTheSameWrite(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	w.annotate("a", map[string]string{keys.To: "1.34"})
	w.settle("a")
	same(t, "an unreadable target", orchestrate.Invalid, w.waits("a"))
	same(t, "writes", 1, w.writes)

	w = newWorld(t, 1, 2)
	w.grant("a")
	w.settle("a")
	w.givesUp("a-0")
	writes := w.writes
	w.settle("a")
	same(t, "attempts used up", orchestrate.MachineQuarantined, w.waits("a"))
	same(t, "writes", writes+1, w.writes)
}
