// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drive_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/fleet/drive"
)

// granted are our marks on an owner.
var granted = map[string]string{
	keys.To: "channel=1.33/stable", protocol.PlanKey: `{"expectedVersion":"v1.33.9"}`, protocol.HolderKey: "hub-1/cu-1",
}

// failed are the marks of a machine whose attempts are used up.
var failed = map[string]string{
	keys.Status: protocol.StatusFailed, keys.ChangeID: "7", keys.LastFailed: "Mon, 30 Nov 2026 01:00:00 +0000",
	protocol.PlanKey: "{}", protocol.HolderKey: "hub-1/cu-1", protocol.AttemptKey: `{"target":"x","count":3}`,
}

var permission = map[string]string{protocol.StartBeforeKey: "2026-11-30T01:00:00Z"}

// writes are all writes that need the claim, each on objects that it would change.
var writes = map[string]func(context.Context, *testing.T, *world) error{
	"SetPermission": func(ctx context.Context, t *testing.T, w *world) error {
		return w.member.SetPermission(ctx, w.cluster(t), now)
	},
	"Grant": func(ctx context.Context, t *testing.T, w *world) error {
		return w.member.Grant(ctx, w.cluster(t), w.owner(t, kinds.MachineDeployment, "eu-1-md"))
	},
	"Withdraw": func(ctx context.Context, t *testing.T, w *world) error {
		return w.member.Withdraw(ctx, w.cluster(t), w.owner(t, cp, "eu-1-cp"))
	},
	"Settle": func(ctx context.Context, t *testing.T, w *world) error {
		return w.member.Settle(ctx, w.cluster(t), []drive.Owner{w.owner(t, cp, "eu-1-cp")},
			[]capi.Machine{w.machine(t, "eu-1-md-a")})
	},
}

// halfWay is a member in the middle of an upgrade, with a claim on the cluster.
func halfWay(claim map[string]string) *world {
	return newWorld(
		object(kinds.Cluster, "eu-1", claim, permission), object(cp, "eu-1-cp", granted),
		object(kinds.MachineDeployment, "eu-1-md"), object(kinds.Machine, "eu-1-md-a", failed),
	)
}

// TestNoWriteWithoutTheClaim: the claim is read again before every write after the first (law 2).
func TestNoWriteWithoutTheClaim(t *testing.T) {
	claims := map[string]map[string]string{"vanished": nil, "of another object": claim("hub-1", "cu-1", "before")}
	for name, c := range strangers {
		claims[name] = c.claim
	}
	for write, do := range writes {
		for name, c := range claims {
			t.Run(write+" under a claim "+name, func(t *testing.T) {
				w := halfWay(c)
				if err := do(t.Context(), t, w); err == nil {
					t.Error("it was not refused")
				}
				if len(w.writes) != 0 {
					t.Errorf("written: %+v", w.writes)
				}
			})
		}
	}
}

func TestAVanishedOrForeignClaimIsErrClaimLost(t *testing.T) {
	for name, c := range map[string]map[string]string{"vanished": nil, "foreign": claim("hub-2", "x", "uid-eu-1")} {
		for write, do := range writes {
			if err := do(t.Context(), t, halfWay(c)); !errors.Is(err, drive.ErrClaimLost) {
				t.Errorf("%s, %s: %v", write, name, err)
			}
		}
	}
}

// TestTheGateRefusesEveryWrite: a hub that may no longer lead writes nothing at all.
func TestTheGateRefusesEveryWrite(t *testing.T) {
	all := maps.Clone(writes)
	all["ReleaseClaim"] = func(ctx context.Context, t *testing.T, w *world) error {
		return w.member.ReleaseClaim(ctx, w.cluster(t))
	}
	all["TakeClaim"] = func(ctx context.Context, t *testing.T, w *world) error {
		seen := w.cluster(t)
		w.member.Holder.UID = "cu-7"
		o := w.read(t, kinds.Cluster, "eu-1")
		o.SetAnnotations(nil)
		if err := w.client.Update(ctx, o); err != nil {
			return err
		}
		return w.member.TakeClaim(ctx, seen, now)
	}
	for name, do := range all {
		t.Run(name, func(t *testing.T) {
			w := halfWay(ours())
			w.gate = errNotLeading
			if err := do(t.Context(), t, w); !errors.Is(err, errNotLeading) || len(w.writes) != 0 {
				t.Errorf("%v, %+v", err, w.writes)
			}
			w.gate = nil
			if err := do(t.Context(), t, w); err != nil || len(w.writes) == 0 {
				t.Errorf("with the gate open: %v, %+v", err, w.writes)
			}
		})
	}
}

// TestAnotherClusterOfThatNameIsNotTheOneSeen (law 1).
func TestAnotherClusterOfThatNameIsNotTheOneSeen(t *testing.T) {
	w := halfWay(ours())
	seen := w.cluster(t)
	seen.UID = "uid-of-before"
	o := w.owner(t, cp, "eu-1-cp")
	for name, err := range map[string]error{
		"TakeClaim":     w.member.TakeClaim(t.Context(), seen, now),
		"SetPermission": w.member.SetPermission(t.Context(), seen, now),
		"Grant":         w.member.Grant(t.Context(), seen, o),
		"Withdraw":      w.member.Withdraw(t.Context(), seen, o),
		"Settle":        w.member.Settle(t.Context(), seen, nil, nil),
		"ReleaseClaim":  w.member.ReleaseClaim(t.Context(), seen),
	} {
		if !errors.Is(err, drive.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(w.writes) != 0 {
		t.Errorf("written: %+v", w.writes)
	}
}

// TestGrantIsOnePatchOfNamedKeys that carries the uid and resourceVersion that the decision saw.
func TestGrantIsOnePatchOfNamedKeys(t *testing.T) {
	w := newWorld(object(kinds.Cluster, "eu-1", ours()), object(cp, "eu-1-cp", foreign))
	o := w.owner(t, cp, "eu-1-cp")
	if err := w.member.Grant(t.Context(), w.cluster(t), o); err != nil {
		t.Fatal(err)
	}
	want := []write{{
		Object: "CK8sControlPlane/eu-1-cp", Type: types.MergePatchType, Manager: "windlass-hub",
		Metadata: map[string]any{
			"uid": "uid-eu-1-cp", "resourceVersion": o.ResourceVersion,
			"annotations": map[string]any{
				keys.To: "channel=1.33/stable", protocol.PlanKey: `{"expectedVersion":"v1.33.9"}`,
				protocol.HolderKey: "hub-1/cu-1",
			},
		},
	}}
	if diff := cmp.Diff(want, w.writes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stands := maps.Clone(granted)
	maps.Copy(stands, foreign)
	if diff := cmp.Diff(stands, w.annotations(t, cp, "eu-1-cp")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAWriteOnWhatWasNotSeenIsStale: nothing is re-applied blindly.
func TestAWriteOnWhatWasNotSeenIsStale(t *testing.T) {
	w := newWorld(object(kinds.Cluster, "eu-1", ours()), object(cp, "eu-1-cp"))
	o := w.owner(t, cp, "eu-1-cp")
	changed := w.read(t, cp, "eu-1-cp")
	changed.SetAnnotations(foreign)
	if err := w.client.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if err := w.member.Grant(t.Context(), w.cluster(t), o); !errors.Is(err, drive.ErrStale) {
		t.Errorf("of a changed owner: %v", err)
	}
	if diff := cmp.Diff(foreign, w.annotations(t, cp, "eu-1-cp")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := w.client.Delete(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if err := w.member.Grant(t.Context(), w.cluster(t), o); !errors.Is(err, drive.ErrStale) {
		t.Errorf("of an owner that is gone: %v", err)
	}
}

// TestNothingIsWrittenWhenNothingWouldChange, and only what would change is in a patch.
func TestNothingIsWrittenWhenNothingWouldChange(t *testing.T) {
	for name, do := range writes {
		t.Run(name, func(t *testing.T) {
			w := halfWay(ours())
			if err := do(t.Context(), t, w); err != nil || len(w.writes) == 0 {
				t.Fatalf("%v, %+v", err, w.writes)
			}
			w.writes = nil
			if err := do(t.Context(), t, w); err != nil || len(w.writes) != 0 {
				t.Errorf("the second time: %v, %+v", err, w.writes)
			}
		})
	}
	t.Run("a grant of another target leaves the plan out", func(t *testing.T) {
		w := newWorld(object(kinds.Cluster, "eu-1", ours()), object(cp, "eu-1-cp", granted))
		o := w.owner(t, cp, "eu-1-cp")
		o.Target = "channel=1.34/stable"
		if err := w.member.Grant(t.Context(), w.cluster(t), o); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{keys.To: "channel=1.34/stable"}
		if diff := cmp.Diff(want, w.writes[0].Metadata["annotations"]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWithdrawTakesTheTargetBackAndLeavesTheRelease(t *testing.T) {
	release := map[string]string{keys.Release: "channel=1.32/stable"}
	w := newWorld(object(kinds.Cluster, "eu-1", ours()),
		object(cp, "eu-1-cp", granted, release, foreign, map[string]string{keys.Status: protocol.StatusInProgress}))
	if err := w.member.Withdraw(t.Context(), w.cluster(t), w.owner(t, cp, "eu-1-cp")); err != nil {
		t.Fatal(err)
	}
	maps.Copy(release, foreign)
	if diff := cmp.Diff(release, w.annotations(t, cp, "eu-1-cp")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSetPermissionIsAnInstantInUTC(t *testing.T) {
	w := newWorld(object(kinds.Cluster, "eu-1", ours()))
	if err := w.member.SetPermission(t.Context(), w.cluster(t), now); err != nil {
		t.Fatal(err)
	}
	if got := w.annotations(t, kinds.Cluster, "eu-1")[protocol.StartBeforeKey]; got != "2026-11-30T02:00:00Z" {
		t.Errorf("it is %q", got)
	}
}

// settling is a cluster at the end of an upgrade: owners and machines with and without our marks.
func settling() *world {
	release := map[string]string{keys.Release: "channel=1.33/stable", keys.Status: protocol.StatusDone}
	return newWorld(
		object(kinds.Cluster, "eu-1", ours(), permission, foreign),
		object(cp, "eu-1-cp", granted, release, foreign),
		object(kinds.MachineDeployment, "eu-1-md", map[string]string{keys.To: "channel=9/edge"}, foreign),
		object(kinds.Machine, "eu-1-cp-a", release, foreign, map[string]string{protocol.HolderKey: "hub-1/cu-1"}),
		object(kinds.Machine, "eu-1-md-a", failed, foreign),
		object(kinds.Machine, "eu-1-md-b", release, foreign),
	)
}

func settle(ctx context.Context, t *testing.T, w *world) error {
	t.Helper()
	return w.member.Settle(ctx, w.cluster(t),
		[]drive.Owner{w.owner(t, cp, "eu-1-cp"), w.owner(t, kinds.MachineDeployment, "eu-1-md")},
		[]capi.Machine{w.machine(t, "eu-1-cp-a"), w.machine(t, "eu-1-md-a"), w.machine(t, "eu-1-md-b")})
}

// TestSettleRemovesExactlyOurs, owners before machines, and the permission last (law 11).
func TestSettleRemovesExactlyOurs(t *testing.T) {
	w := settling()
	if err := settle(t.Context(), t, w); err != nil {
		t.Fatal(err)
	}
	order := []string{"CK8sControlPlane/eu-1-cp", "Machine/eu-1-cp-a", "Machine/eu-1-md-a", "Cluster/eu-1"}
	if diff := cmp.Diff(order, w.objects()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	release := map[string]string{keys.Release: "channel=1.33/stable", keys.Status: protocol.StatusDone}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(foreign)
		maps.Copy(all, more)
		return all
	}
	want := map[string]map[string]string{
		"Cluster/eu-1": with(ours()), "CK8sControlPlane/eu-1-cp": with(release),
		"MachineDeployment/eu-1-md": with(map[string]string{keys.To: "channel=9/edge"}),
		"Machine/eu-1-cp-a":         with(release), "Machine/eu-1-md-a": with(nil), "Machine/eu-1-md-b": with(release),
	}
	got := map[string]map[string]string{
		"Cluster/eu-1":              w.annotations(t, kinds.Cluster, "eu-1"),
		"CK8sControlPlane/eu-1-cp":  w.annotations(t, cp, "eu-1-cp"),
		"MachineDeployment/eu-1-md": w.annotations(t, kinds.MachineDeployment, "eu-1-md"),
		"Machine/eu-1-cp-a":         w.annotations(t, kinds.Machine, "eu-1-cp-a"),
		"Machine/eu-1-md-a":         w.annotations(t, kinds.Machine, "eu-1-md-a"),
		"Machine/eu-1-md-b":         w.annotations(t, kinds.Machine, "eu-1-md-b"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSettleTouchesNoMachineAsLongAsAnOwnerStands: an owner with our target would mark it again.
func TestSettleTouchesNoMachineAsLongAsAnOwnerStands(t *testing.T) {
	w := settling()
	w.before = func(c client.WithWatch) {
		o := w.read(t, cp, "eu-1-cp")
		o.SetLabels(map[string]string{"changed": "meanwhile"})
		if err := c.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := settle(t.Context(), t, w); !errors.Is(err, drive.ErrStale) {
		t.Errorf("it gave %v", err)
	}
	if diff := cmp.Diff([]string{"CK8sControlPlane/eu-1-cp"}, w.objects()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.writes = nil
	if err := settle(t.Context(), t, w); err != nil || len(w.writes) != 4 {
		t.Errorf("looking again: %v, %v", err, w.objects())
	}
}

func TestHasLeftoversIsWhetherSettleWouldWrite(t *testing.T) {
	member := drive.Member{Keys: keys}
	cases := map[string]struct {
		annotations map[string]string
		want        bool
	}{
		"none":                        {nil, false},
		"foreign ones":                {foreign, false},
		"a release and a last status": {map[string]string{keys.Release: "x", keys.Status: protocol.StatusDone}, false},
		"a failed status":             {map[string]string{keys.Status: protocol.StatusFailed}, true},
		"a target":                    {map[string]string{keys.To: ""}, true},
		"a change id":                 {map[string]string{keys.ChangeID: ""}, true},
		"a failure of before":         {map[string]string{keys.LastFailed: "x"}, true},
		"our record of attempts":      {map[string]string{protocol.AttemptKey: "{}"}, true},
		"our plan":                    {map[string]string{protocol.PlanKey: "{}"}, true},
		"our holder":                  {map[string]string{protocol.HolderKey: "hub-1/cu-1"}, true},
		"our protection":              {map[string]string{protocol.SkipRemediationKey: "set"}, true},
		"a person's protection":       {map[string]string{capi.SkipRemediationAnnotation: ""}, false},
		"marks under another prefix": {
			map[string]string{protocol.KeysFor(protocol.OwnPrefix).To: "channel=1.33/stable"}, false,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			machine := capi.Machine{Meta: capi.Meta{Annotations: c.annotations}}
			if got := member.HasLeftovers(machine); got != c.want {
				t.Errorf("it has leftovers: %t", got)
			}
		})
	}
}

// TestSettleTakesBackOurProtectionAndNoOther: what keeps a machine from remediation goes with the upgrade, unless a
// person has made it theirs.
func TestSettleTakesBackOurProtectionAndNoOther(t *testing.T) {
	for value, want := range map[string]bool{"": false, "by hand": true} {
		w := settling()
		o := w.read(t, kinds.Machine, "eu-1-md-a")
		annotations := o.GetAnnotations()
		annotations[protocol.SkipRemediationKey] = protocol.SkipRemediationSet
		annotations[capi.SkipRemediationAnnotation] = value
		o.SetAnnotations(annotations)
		if err := w.client.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if err := settle(t.Context(), t, w); err != nil {
			t.Fatal(err)
		}
		after := w.annotations(t, kinds.Machine, "eu-1-md-a")
		if _, stays := after[capi.SkipRemediationAnnotation]; stays != want {
			t.Errorf("of value %q it stays: %t", value, stays)
		}
		if _, stays := after[protocol.SkipRemediationKey]; stays {
			t.Errorf("of value %q ours stays", value)
		}
	}
}
