// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

const week = 168 * time.Hour

// wish gives the cluster the marks of its owner, which are honoured for a week.
func wish(w cluster.Wish) edit {
	return func(o *cluster.Observation) { o.Wish, o.WishMax = w, week }
}
func honouredSince(t time.Time) edit { return func(o *cluster.Observation) { o.WishSince = t } }
func open(o *cluster.Observation)    { o.Open = true }

func silent(o *cluster.Observation) {
	o.Reachable, o.SilentSince, o.ReachMessage = false, noon.Add(-time.Hour), "no route to host"
}

func beforeStart(b cluster.BeforeStart) edit {
	return func(o *cluster.Observation) { o.BeforeStart = b }
}
func because(reason string) edit   { return func(o *cluster.Observation) { o.Reason = reason } }
func begun(o *cluster.Observation) { o.StartedAt = noon }

func TestC155WishesAreRead(t *testing.T) {
	midnight := time.Date(2026, 9, 27, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		marks map[string]string
		want  cluster.Wish
	}{
		"none": {nil, cluster.Wish{}},
		"C155: an instant without seconds": {
			map[string]string{"defer": "2026-09-27T00:00Z"}, cluster.Wish{DeferUntil: midnight},
		},
		"an instant and a reason": {
			map[string]string{"defer": "2026-09-27T02:00:00+02:00; sale; until Sunday"},
			cluster.Wish{DeferUntil: midnight, DeferReason: "sale; until Sunday"},
		},
		"a hold and its reason": {map[string]string{"hold": " audit "}, cluster.Wish{Held: true, HoldReason: "audit"}},
		"a hold without a word": {map[string]string{"hold": ""}, cluster.Wish{Held: true}},
		"both": {
			map[string]string{"hold": "audit", "defer": "2026-09-27T00:00:00Z;sale"},
			cluster.Wish{DeferUntil: midnight, DeferReason: "sale", Held: true, HoldReason: "audit"},
		},
		"what is no instant holds": {map[string]string{"defer": "tomorrow; sale"}, cluster.Wish{
			DeferReason: "sale", Problem: `defer "tomorrow; sale" names no instant; accepted: 2026-12-01T02:00:00Z; the reason`,
		}},
		"a date is no instant": {map[string]string{"defer": "2026-09-27"}, cluster.Wish{
			Problem: `defer "2026-09-27" names no instant; accepted: 2026-12-01T02:00:00Z; the reason`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, cluster.ReadWish(c.marks, "defer", "hold")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestC155OwnersPutAClusterOff(t *testing.T) {
	tomorrow := wish(cluster.Wish{DeferUntil: noon.Add(24 * time.Hour), DeferReason: "sale"})
	held := wish(cluster.Wish{Held: true, HoldReason: "audit"})
	unreadable := wish(cluster.Wish{Problem: "defer-until names no instant"})
	deferred := "Deferred DeferredByOwner"
	for name, r := range map[string]row{
		"C155: until an instant":                     {[]edit{tomorrow}, deferred},
		"C155: before its turn, too":                 {[]edit{tomorrow, intent(policy.Wait)}, deferred},
		"C155: it is no end: it is left when over":   {[]edit{was(policy.Deferred), wish(cluster.Wish{DeferUntil: noon})}, "Progressing Starting TakeClaim"},
		"C155: a hold, without an end of its own":    {[]edit{held}, deferred},
		"C155: nothing is written meanwhile":         {[]edit{held, open, was(policy.Deferred)}, deferred},
		"C155: what cannot be read holds":            {[]edit{unreadable}, deferred},
		"C155: a hold is honoured for deferral.max":  {[]edit{held, open, honouredSince(noon.Add(time.Second - week))}, deferred},
		"C155: and no longer":                        {[]edit{held, open, honouredSince(noon.Add(-week))}, "Progressing Starting TakeClaim"},
		"C155: so is an instant that is farther off": {[]edit{tomorrow, honouredSince(noon.Add(-week))}, "Progressing Starting TakeClaim"},
		"C155: and what cannot be read":              {[]edit{unreadable, honouredSince(noon.Add(-week))}, "Progressing Starting TakeClaim"},
		"C155: deferral.max 0s honours none": {
			[]edit{held, func(o *cluster.Observation) { o.WishMax = 0 }}, "Progressing Starting TakeClaim",
		},
		"C155: a started cluster stops at the next machine": {
			[]edit{claimed, granted("cp"), held}, "Holding DeferredByOwner SetPermission",
		},
		"C155: and keeps what it has": {
			[]edit{claimed, permitted(noon), granted("cp"), machine("cp", 0, busy), held}, "Holding DeferredByOwner",
		},
		"C155: one that is done is verified all the same": {
			[]edit{claimed, permitted(noon), finished("cp", "pool-a", "pool-b"), held}, "Verifying SecondRead",
		},
		"C155: a withdrawal goes on": {
			[]edit{claimed, granted("cp"), held, intent(policy.Withdraw)}, "Holding Withdrawing WithdrawOwner CK8sControlPlane/cp",
		},
	} {
		t.Run(name, r.check)
	}
}

// TestC155TheWaitOfAWishEndsAsItSays: message, end and whether a person must act.
func TestC155TheWaitOfAWishEndsAsItSays(t *testing.T) {
	friday := noon.Add(72 * time.Hour)
	for name, c := range map[string]struct {
		edits   []edit
		message string
		until   time.Time
		wished  bool
	}{
		"an instant": {
			[]edit{wish(cluster.Wish{DeferUntil: friday, DeferReason: "sale"}), open},
			"its owner put it off until 2026-12-04T12:00:00Z: sale", friday, true,
		},
		"an instant in a wave that is not open": {
			[]edit{wish(cluster.Wish{DeferUntil: friday}), intent(policy.Wait)},
			"its owner put it off until 2026-12-04T12:00:00Z: no reason is given", friday, false,
		},
		"an instant beyond deferral.max": {
			[]edit{wish(cluster.Wish{DeferUntil: friday, DeferReason: "sale"}), honouredSince(noon.Add(24*time.Hour - week))},
			"its owner put it off until 2026-12-04T12:00:00Z: sale; that is honoured until 2026-12-02T12:00:00Z " +
				"(deferral.max: 168h0m0s)", noon.Add(24 * time.Hour), true,
		},
		"a hold": {
			[]edit{wish(cluster.Wish{Held: true, HoldReason: "audit"}), honouredSince(noon)},
			"its owner holds it: audit; that is honoured until 2026-12-08T12:00:00Z (deferral.max: 168h0m0s)", noon.Add(week), true,
		},
		"a hold in a wave that is not open": {
			[]edit{wish(cluster.Wish{Held: true, HoldReason: "audit"})}, "its owner holds it: audit", time.Time{}, false,
		},
		"a mark that cannot be read": {
			[]edit{wish(cluster.Wish{Problem: "names no instant", DeferReason: "sale"}), honouredSince(noon)},
			"its owner holds it: names no instant; that is honoured until 2026-12-08T12:00:00Z (deferral.max: 168h0m0s)",
			noon.Add(week), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := idle()
			for _, edit := range c.edits {
				edit(&o)
			}
			got := cluster.Next(o, noon)
			want := cluster.Step{
				Action: cluster.None, Phase: policy.Deferred, Reason: policy.ReasonDeferredByOwner, Message: c.message,
				WaitUntil: c.until, Recheck: c.until, Act: c.until.IsZero(), Settled: true, Wished: c.wished,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	o := idle()
	wish(cluster.Wish{Held: true})(&o)
	o.Intent, o.WishSince = policy.Wait, noon.Add(-week)
	if got := cluster.Next(o, noon); !strings.HasSuffix(got.Message, "is honoured no longer since 2026-12-01T12:00:00Z "+
		"(deferral.max: 168h0m0s)") || !got.Wished {
		t.Errorf("a wish that is honoured no longer is not said, or counts anew: %+v", got)
	}
}

func TestLaw14WhatIsSilentBeforeItsStart(t *testing.T) {
	since := func(ago time.Duration) edit {
		return func(o *cluster.Observation) { o.SilentSince = noon.Add(-ago) }
	}
	fails := []edit{silent, beforeStart(cluster.GiveUp), open}
	for name, r := range map[string]row{
		"goes to catch-up":     {[]edit{silent}, "Deferred Unreachable"},
		"C089: not for a blip": {[]edit{silent, since(cluster.Blip - 1)}, "Pending MemberUnreachable"},
		"put off once, it stays so": {
			[]edit{silent, since(0), was(policy.Deferred), because(policy.ReasonUnreachable)}, "Deferred Unreachable",
		},
		"before its turn, too":                     {[]edit{silent, intent(policy.Wait)}, "Deferred Unreachable"},
		"C089: is left as it is, with Wait":        {[]edit{silent, beforeStart(cluster.AwaitReturn)}, "Pending MemberUnreachable"},
		"fails, with Fail":                         {fails, "Failed MemberUnreachable"},
		"C044: not for a blip":                     {append(fails, since(cluster.SilentFor-1)), "Pending MemberUnreachable"},
		"C044: but when it lasts":                  {append(fails, since(cluster.SilentFor)), "Failed MemberUnreachable"},
		"not in a wave that is not open":           {[]edit{silent, beforeStart(cluster.GiveUp)}, "Pending MemberUnreachable"},
		"not when nobody knows since when":         {append(fails, func(o *cluster.Observation) { o.SilentSince = time.Time{} }), "Pending MemberUnreachable"},
		"not when only this hub does not see it":   {[]edit{unreachable, open}, "Pending MemberUnreachable"},
		"half-way it is never judged from silence": {append(fails, begun), "Holding MemberUnreachable"},
		"half-way it is not put off":               {[]edit{silent, begun}, "Holding MemberUnreachable"},
		"what has failed stays failed":             {[]edit{silent, was(policy.Failed)}, "Failed Before"},
		"put off, it goes on when it is back":      {[]edit{was(policy.Deferred)}, "Progressing Starting TakeClaim"},
		"or waits for its turn":                    {[]edit{was(policy.Deferred), intent(policy.Wait)}, "Pending Waiting"},
		"put off, it can be withdrawn":             {[]edit{was(policy.Deferred), intent(policy.Withdraw)}, "Skipped Withdrawn"},
		"put off, it can be removed": {
			[]edit{was(policy.Deferred), func(o *cluster.Observation) { o.Present = false }}, "Removed ClusterRemoved",
		},
		"paused, it is put off":                    {[]edit{paused, intent(policy.Wait)}, "Deferred ClusterPaused"},
		"paused half-way, it holds":                {[]edit{claimed, paused, permitted(noon)}, "Holding ClusterPaused"},
		"silence is said before anything else is":  {[]edit{silent, paused}, "Deferred Unreachable"},
		"a stored Deferred does not end the claim": {[]edit{was(policy.Deferred), foreign}, "Pending ClaimedByOther"},
	} {
		t.Run(name, r.check)
	}
}
