// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drive_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/fleet/drive"
)

const wanted = "channel=1.33/stable"

// before are the marks of a machine that failed before, and of one that is in flight.
var (
	before = map[string]string{
		keys.Status: protocol.StatusFailed, keys.ChangeID: "7", keys.LastFailed: "Mon, 14 Sep 2026 02:10:00 +0000",
		keys.Release: "channel=1.32/stable",
	}
	running = map[string]string{
		keys.Status: protocol.StatusInProgress, keys.ChangeID: "8", keys.LastFailed: "Mon, 14 Sep 2026 02:10:00 +0000",
	}
	holder = map[string]string{protocol.HolderKey: "hub-1/cu-1"}
)

// machineWrites are the writes on one machine, on marks that each would change, and what they leave.
var machineWrites = map[string]struct {
	marks, want map[string]string
	do          func(context.Context, *testing.T, *world) error
}{
	"C106: GrantMachine removes every mark of before": {
		before, with(holder, map[string]string{keys.To: wanted, keys.Release: "channel=1.32/stable"}),
		func(ctx context.Context, t *testing.T, w *world) error {
			return w.member.GrantMachine(ctx, w.cluster(t), w.machine(t, "m"), wanted)
		},
	},
	"fault 10: GrantMachine leaves no status that a second patch would take for its own": {
		map[string]string{keys.Status: protocol.StatusInProgress},
		with(holder, map[string]string{keys.To: wanted}),
		func(ctx context.Context, t *testing.T, w *world) error {
			return w.member.GrantMachine(ctx, w.cluster(t), w.machine(t, "m"), wanted)
		},
	},
	"FollowMachine leaves the change that is in flight": {
		running, with(holder, map[string]string{
			keys.To: wanted, keys.Status: protocol.StatusInProgress, keys.ChangeID: "8",
		}),
		func(ctx context.Context, t *testing.T, w *world) error {
			return w.member.FollowMachine(ctx, w.cluster(t), w.machine(t, "m"), wanted)
		},
	},
	"RevokeMachine takes the target alone": {
		with(before, map[string]string{keys.To: wanted}), before,
		func(ctx context.Context, t *testing.T, w *world) error {
			return w.member.RevokeMachine(ctx, w.cluster(t), w.machine(t, "m"), false)
		},
	},
	"RevokeMachine takes with it a change that is none": {
		with(running, map[string]string{keys.To: wanted}),
		map[string]string{keys.LastFailed: running[keys.LastFailed]},
		func(ctx context.Context, t *testing.T, w *world) error {
			return w.member.RevokeMachine(ctx, w.cluster(t), w.machine(t, "m"), true)
		},
	},
	"RecordRelease closes what nobody else will close": {
		with(running, map[string]string{keys.To: wanted}),
		map[string]string{keys.Status: protocol.StatusDone, keys.Release: wanted},
		func(ctx context.Context, t *testing.T, w *world) error {
			return w.member.RecordRelease(ctx, w.cluster(t), w.machine(t, "m"), wanted)
		},
	},
}

func with(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range parts {
		maps.Copy(all, m)
	}
	return all
}

// TestWritesOnOneMachine are one patch each, of what was seen, under our claim (laws 2, 11).
func TestWritesOnOneMachine(t *testing.T) {
	for name, c := range machineWrites {
		t.Run(name, func(t *testing.T) {
			w := newWorld(object(kinds.Cluster, "eu-1", ours()), object(kinds.Machine, "m", c.marks, foreign))
			if err := c.do(t.Context(), t, w); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"Machine/m"}, w.objects()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if w.writes[0].Metadata["uid"] != "uid-m" || w.writes[0].Metadata["resourceVersion"] == nil {
				t.Errorf("it does not carry what was seen: %v", w.writes[0].Metadata)
			}
			if diff := cmp.Diff(with(c.want, foreign), w.annotations(t, kinds.Machine, "m")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
		t.Run(name+", but not without the claim", func(t *testing.T) {
			w := newWorld(object(kinds.Cluster, "eu-1"), object(kinds.Machine, "m", c.marks))
			if err := c.do(t.Context(), t, w); !errors.Is(err, drive.ErrClaimLost) || len(w.writes) != 0 {
				t.Errorf("%v, %+v", err, w.writes)
			}
		})
		t.Run(name+", but not by a hub that may no longer lead", func(t *testing.T) {
			w := newWorld(object(kinds.Cluster, "eu-1", ours()), object(kinds.Machine, "m", c.marks))
			w.gate = errNotLeading
			if err := c.do(t.Context(), t, w); !errors.Is(err, errNotLeading) || len(w.writes) != 0 {
				t.Errorf("%v, %+v", err, w.writes)
			}
		})
	}
}

// TestFault03_AnOwnerIsRetiredInOnePatch: nothing is left that an orchestrator would obey, no empty target either, and
// the keys of our own engine stay.
func TestFault03_AnOwnerIsRetiredInOnePatch(t *testing.T) {
	own := protocol.KeysFor(protocol.OwnPrefix)
	stays := with(foreign, map[string]string{own.To: wanted, own.Release: "channel=1.32/stable"})
	w := newWorld(object(kinds.Cluster, "eu-1", ours()), object(cp, "eu-1-cp", stays, map[string]string{
		keys.To: "", keys.Status: protocol.StatusFailed, keys.Release: "channel=1.31/stable",
	}))
	w.member.Keys = own
	retire := func() error { return w.member.Retire(t.Context(), w.cluster(t), w.owner(t, cp, "eu-1-cp")) }
	if err := retire(); err != nil {
		t.Fatal(err)
	}
	if err := retire(); err != nil || len(w.writes) != 1 {
		t.Errorf("%v, %d writes", err, len(w.writes))
	}
	if diff := cmp.Diff(stays, w.annotations(t, cp, "eu-1-cp")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	t.Run("and gets its release back", func(t *testing.T) {
		err := w.member.ReturnRelease(t.Context(), w.cluster(t), w.owner(t, cp, "eu-1-cp"), "channel=1.31/stable")
		if err != nil {
			t.Fatal(err)
		}
		want := with(stays, map[string]string{keys.Release: "channel=1.31/stable"})
		if diff := cmp.Diff(want, w.annotations(t, cp, "eu-1-cp")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestLaw11ReleasesComeOffAnOwnerBeforeItsMachines: no owner is left with a release that one of its machines lacks.
func TestLaw11ReleasesComeOffAnOwnerBeforeItsMachines(t *testing.T) {
	carries := with(foreign, map[string]string{keys.Release: wanted, keys.Status: protocol.StatusDone})
	fresh := func(marks ...map[string]string) *world {
		return newWorld(object(kinds.Cluster, "eu-1", marks...), object(cp, "eu-1-cp", carries), object(kinds.Machine, "m", carries))
	}
	do := func(w *world) error {
		return w.member.ClearReleases(t.Context(), w.cluster(t), w.owner(t, cp, "eu-1-cp"), []capi.Machine{w.machine(t, "m")})
	}
	w := fresh(ours())
	if err := errors.Join(do(w), do(w)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{cp.Kind + "/eu-1-cp", "Machine/m"}, w.objects()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	want := with(foreign, map[string]string{keys.Status: protocol.StatusDone})
	if diff := cmp.Diff(want, w.annotations(t, kinds.Machine, "m")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w := fresh(); !errors.Is(do(w), drive.ErrClaimLost) || len(w.writes) != 0 {
		t.Errorf("without the claim: %+v", w.writes)
	}
}
