// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// FuzzNext reads an observation from bytes, legal or not: the step must have a phase and a reason, may write only
// under our claim and where writing is allowed, and must not change before its Recheck.
func FuzzNext(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte("a cluster with a few owners and machines, some of them in flight"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := fromBytes(data)
		step := cluster.Next(o, noon)
		if step.Phase == "" || step.Action == "" || step.Reason == "" && !o.Phase.Ended() {
			t.Fatalf("%+v", step)
		}
		if step.Action != cluster.None {
			if !o.Reachable || !o.Access || !o.Present || o.Claim.State == cluster.ClaimOther ||
				o.Claim.State == cluster.ClaimNone && step.Action != cluster.TakeClaim {
				t.Fatalf("%v on %+v", step, o)
			}
			return
		}
		if step.Phase == policy.Succeeded && o.Phase != policy.Succeeded && (len(o.Owners) == 0 || o.ProvenSince.IsZero()) {
			t.Fatalf("a success from nothing: %+v", o)
		}
		later := noon.Add(time.Duration(len(data)) * 7 * time.Second)
		if !step.Recheck.IsZero() && !later.Before(step.Recheck) {
			return
		}
		if diff := cmp.Diff(step, cluster.Next(o, later)); diff != "" {
			t.Fatalf("the step is another before %s:\n%s", step.Recheck, diff)
		}
	})
}

func fromBytes(data []byte) cluster.Observation {
	next := func(below int) int {
		if len(data) == 0 {
			return 0
		}
		value := int(data[0]) % below
		data = data[1:]
		return value
	}
	yes := func() bool { return next(2) == 1 }
	likely := func() bool { return next(8) > 0 }
	instant := func() time.Time {
		if yes() {
			return time.Time{}
		}
		return noon.Add(time.Duration(next(256)-128) * time.Minute)
	}
	verdict := func() cluster.Verdict {
		return cluster.Verdict{Status: []cluster.Status{cluster.True, cluster.False, cluster.Unknown, "odd"}[next(4)]}
	}
	o := cluster.Observation{
		Intent: []policy.Intent{policy.Run, policy.Hold, policy.Withdraw, policy.Wait, ""}[next(5)],
		Order:  []policy.Order{"", policy.ControlPlaneOnly, policy.WorkersOnly}[next(3)],
		Phase: []policy.ClusterPhase{
			policy.Deferred, policy.Progressing, policy.Failed, policy.Succeeded, policy.Skipped,
			"odd",
		}[next(6)],
		Reachable: likely(), Access: likely(), Present: likely(), Deleting: !likely(), Paused: !likely(), Settled: yes(),
		Claim: cluster.Claim{State: []cluster.ClaimState{
			cluster.ClaimOurs, cluster.ClaimNone,
			cluster.ClaimOther,
		}[next(3)]},
		NotAfter: instant(), StartedAt: instant(), ProvenSince: instant(), StartBefore: instant(), Health: verdict(),
	}
	o.PerMachine, o.ProviderPresent = yes(), likely()
	o.Wish = cluster.Wish{Held: !likely(), Problem: []string{"", "", "", "odd"}[next(4)], DeferUntil: instant()}
	o.WishSince, o.WishMax, o.Open = instant(), time.Duration(next(3))*time.Hour, yes()
	o.BeforeStart = []cluster.BeforeStart{"", cluster.AwaitReturn, cluster.GiveUp}[next(3)]
	o.SilentSince = instant()
	o.ProgressDeadline, o.Worked = time.Duration(next(3))*time.Hour, policy.Clock{Elapsed: time.Duration(next(3)) * time.Hour, Since: instant()}
	o.Limits = cluster.Limits{MaxAttempts: next(4), Timeout: time.Hour, Backoff: time.Minute}
	record := func() cluster.Record {
		return cluster.Record{
			At: instant(), Seen: yes(), Attempts: next(4), Put: next(3), BlindSince: instant(), Failures: next(3),
			FailedAt: instant(), ChangeIDs: []string{"1"}[:next(2)], From: []string{old, ""}[next(2)],
		}
	}
	marks := func() cluster.Marks {
		return cluster.Marks{
			To: text, HasTo: yes(), ChangeID: []string{"", "1", "2"}[next(3)], HasChangeID: yes(),
			Status: []string{"", "in-progress", "done", "failed", "odd"}[next(5)], LastFailed: []string{"", "odd"}[next(2)],
		}
	}
	for i := 0; len(data) > 0; i++ {
		owner := cluster.Owner{
			Kind: "Kind", Name: fmt.Sprint(i), Role: []cluster.Role{cluster.ControlPlane, cluster.Workers, "odd"}[next(3)],
			Target: text, Version: []string{latest, "v1.33", "", "odd"}[next(4)], Present: likely(), Deleting: !likely(),
			Paused: !likely(), HasTo: yes(), Ours: yes(), PlanMatches: yes(), Replicas: next(4), Health: verdict(),
			GrantedAt: instant(), MovedAt: instant(),
		}
		owner.To = []string{text, "", "odd"}[next(3)]
		for k := range next(4) {
			owner.Machines = append(owner.Machines, cluster.Machine{
				Name: fmt.Sprintf("m-%d-%d", i, k), Marks: marks(), Record: record(), Ours: yes(),
				Health: verdict(), Proven: verdict(), InFlight: yes(), Requested: yes(), Quarantined: !likely(), Leftovers: yes(),
				Kubelet: []string{latest, old, "odd"}[next(3)], Architecture: "amd64", Release: []string{text, ""}[next(2)],
			})
		}
		o.Owners = append(o.Owners, owner)
		o.Standing = append(o.Standing, cluster.Standing{
			ID: owner.ID(), HasTo: !likely(), Release: []string{"", text}[next(2)], Armed: yes(), Previous: text, Returnable: yes(),
		})
	}
	return o
}
