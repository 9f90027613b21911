// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drive_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/fleet/drive"
)

const written = `{"v":1,"hub":"hub-1","rollout":"fleet/k8s-x","uid":"cu-1","cluster":"uid-eu-1",` +
	`"since":"2026-11-30T02:00:00Z"}`

// strangers are the claims that are not ours, and what an error must say of each.
var strangers = map[string]struct {
	claim map[string]string
	says  string
}{
	"of another hub":           {claim("hub-2", "cu-1", "uid-eu-1"), "rollout fleet/k8s-x of hub hub-2"},
	"of another upgrade":       {claim("hub-1", "cu-2", "uid-eu-1"), "rollout fleet/k8s-x of hub hub-1"},
	"that is no JSON":          {map[string]string{drive.ClaimKey: "alice"}, `"alice"`},
	"of a version of tomorrow": {map[string]string{drive.ClaimKey: `{"v":2,"uid":"cu-1"}`}, "is not a claim"},
	"that names no upgrade":    {map[string]string{drive.ClaimKey: `{"v":1,"hub":"hub-1"}`}, "is not a claim"},
	"that is empty":            {map[string]string{drive.ClaimKey: ""}, "is not a claim"},
}

func TestTakeClaimWritesItWhereThereIsNone(t *testing.T) {
	for name, before := range map[string]map[string]string{
		"no claim":                                nil,
		"a claim restored from another object":    claim("hub-2", "cu-9", "uid-of-before"),
		"our own claim of an object that is gone": claim("hub-1", "cu-1", "uid-of-before"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(object(kinds.Cluster, "eu-1", before, foreign))
			if err := w.member.TakeClaim(t.Context(), w.cluster(t), now.Add(300)); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{drive.ClaimKey: written}
			maps.Copy(want, foreign)
			if diff := cmp.Diff(want, w.annotations(t, kinds.Cluster, "eu-1")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTakeClaimOfOursWritesNothing(t *testing.T) {
	w := newWorld(object(kinds.Cluster, "eu-1", ours()))
	if err := w.member.TakeClaim(t.Context(), w.cluster(t), now); err != nil || len(w.writes) != 0 {
		t.Errorf("%v, %+v", err, w.writes)
	}
}

func TestTakeClaimLeavesAStrangersClaim(t *testing.T) {
	for name, c := range strangers {
		t.Run(name, func(t *testing.T) {
			w := newWorld(object(kinds.Cluster, "eu-1", c.claim))
			err := w.member.TakeClaim(t.Context(), w.cluster(t), now)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it does not say %s: %v", c.says, err)
			}
			if len(w.writes) != 0 {
				t.Errorf("written: %+v", w.writes)
			}
		})
	}
}

// TestTakeClaimIsCompareAndSwap: of two that saw no claim, the one that comes second gets none (law 2).
func TestTakeClaimIsCompareAndSwap(t *testing.T) {
	w := newWorld(object(kinds.Cluster, "eu-1"))
	theirs := claim("hub-2", "cu-9", "uid-eu-1")
	w.before = func(c client.WithWatch) {
		o := w.read(t, kinds.Cluster, "eu-1")
		o.SetAnnotations(theirs)
		if err := c.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	seen := w.cluster(t)
	if err := w.member.TakeClaim(t.Context(), seen, now); !errors.Is(err, drive.ErrStale) {
		t.Errorf("the lost race gave %v", err)
	}
	if err := w.member.TakeClaim(t.Context(), seen, now); !errors.Is(err, drive.ErrClaimLost) {
		t.Errorf("looking again gave %v", err)
	}
	if diff := cmp.Diff(theirs, w.annotations(t, kinds.Cluster, "eu-1")); diff != "" {
		t.Errorf("the winner's claim (-want +got):\n%s", diff)
	}
}

// TestTakeClaimReadsPastTheCache: what was seen may be old.
func TestTakeClaimReadsPastTheCache(t *testing.T) {
	w := newWorld(object(kinds.Cluster, "eu-1", claim("hub-2", "cu-9", "uid-eu-1")))
	seen := w.cluster(t)
	seen.Annotations, seen.ResourceVersion = nil, "1"
	if err := w.member.TakeClaim(t.Context(), seen, now); !errors.Is(err, drive.ErrClaimLost) || len(w.writes) != 0 {
		t.Errorf("%v, %+v", err, w.writes)
	}
}

// TestReleaseClaim gives back what is ours and nothing else.
func TestReleaseClaim(t *testing.T) {
	permission := map[string]string{"windlass.dev/start-before": "2026-11-30T03:00:00Z"}
	t.Run("ours goes with the permission", func(t *testing.T) {
		w := newWorld(object(kinds.Cluster, "eu-1", ours(), permission, foreign))
		if err := w.member.ReleaseClaim(t.Context(), w.cluster(t)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(foreign, w.annotations(t, kinds.Cluster, "eu-1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("none is nothing to do", func(t *testing.T) {
		w := newWorld(object(kinds.Cluster, "eu-1", permission))
		if err := w.member.ReleaseClaim(t.Context(), w.cluster(t)); err != nil || len(w.writes) != 0 {
			t.Errorf("%v, %+v", err, w.writes)
		}
	})
	for name, c := range strangers {
		t.Run("a claim "+name+" stays", func(t *testing.T) {
			w := newWorld(object(kinds.Cluster, "eu-1", c.claim, permission))
			_ = w.member.ReleaseClaim(t.Context(), w.cluster(t))
			if len(w.writes) != 0 {
				t.Errorf("written: %+v", w.writes)
			}
		})
	}
}

func TestClaimOf(t *testing.T) {
	cluster := func(annotations map[string]string) capi.Cluster {
		return capi.Cluster{Meta: capi.Meta{Namespace: "shop", Name: "eu-1", UID: "uid-eu-1", Annotations: annotations}}
	}
	got, found, err := drive.ClaimOf(cluster(map[string]string{drive.ClaimKey: written}))
	want := drive.Claim{V: 1, Hub: "hub-1", Rollout: "fleet/k8s-x", UID: "cu-1", Cluster: "uid-eu-1", Since: now}
	if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
		t.Errorf("found %t, %v (-want +got):\n%s", found, err, diff)
	}
	if !got.HeldBy(us) || got.HeldBy(drive.Holder{Hub: "hub-2", UID: us.UID}) ||
		got.HeldBy(drive.Holder{Hub: "hub-1", UID: types.UID("cu-2")}) {
		t.Error("it is held by another than its hub and upgrade")
	}
	got, found, err = drive.ClaimOf(cluster(map[string]string{drive.ClaimKey: "alice"}))
	if !found || err == nil || got.HeldBy(us) || !strings.Contains(got.By(), `"alice"`) {
		t.Errorf("an unreadable claim is %+v, %t, %v", got, found, err)
	}
	for name, a := range map[string]map[string]string{"none": nil, "void": claim("hub-1", "cu-1", "another")} {
		if got, found, err := drive.ClaimOf(cluster(a)); found || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if us.String() != "hub-1/cu-1" {
		t.Errorf("the holder is written %q", us)
	}
}
