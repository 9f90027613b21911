// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// world is one member with an engine: it carries out steps, upgrades machines, and keeps what a caller keeps.
type world struct {
	o   cluster.Observation
	now time.Time
	// fate is what the next ends of refreshes are, "fail" or anything; the last stays.
	fate []string
	log  strings.Builder
	last string
	// refreshes that the engine began.
	refreshes int
}

// fataler is what a failed check calls.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// settle asks and carries out until nothing is to be done now.
func (w *world) settle(t fataler) cluster.Step {
	t.Helper()
	for range 30 {
		step := cluster.Next(w.o, w.now)
		w.judge(t, step)
		w.keep(step)
		w.show(step)
		if step.Action == cluster.None && (step.Recheck.IsZero() || step.Recheck.After(w.now)) {
			return step
		}
		w.act(step)
	}
	t.Fatalf("does not settle: %v\n%s", cluster.Next(w.o, w.now), w.log.String())
	return cluster.Step{}
}

// keep stores what a caller stores.
func (w *world) keep(step cluster.Step) {
	w.o.Phase, w.o.Reason, w.o.Message, w.o.LastError = step.Phase, step.Reason, step.Message, step.LastError
	w.o.Settled = step.Settled
	if step.Starts {
		w.o.StartedAt = w.now
	}
	if step.Cleared != "" {
		w.owner(step.Cleared).Stale = false
	}
	w.o.Worked = w.o.Worked.Run(step.Works, w.now)
	switch {
	case !w.o.Reachable:
	case !step.Wished:
		w.o.WishSince = time.Time{}
	case w.o.WishSince.IsZero():
		w.o.WishSince = w.now
	}
	switch {
	case !step.AllProven:
		w.o.ProvenSince = time.Time{}
	case w.o.ProvenSince.IsZero():
		w.o.ProvenSince = w.now
	}
}

func (w *world) show(step cluster.Step) {
	text := step.String()
	if step.LastError != "" {
		text += "\n         last error: " + step.LastError
	}
	if text == w.last {
		return
	}
	w.last = text
	fmt.Fprintf(&w.log, "%s  %s\n", w.now.Format("04:05"), text)
	if step.Action == cluster.None {
		fmt.Fprintf(&w.log, "         %s\n", step.Message)
	}
}

func (w *world) owner(id string) *cluster.Owner {
	return &w.o.Owners[slices.IndexFunc(w.o.Owners, func(o cluster.Owner) bool { return o.ID() == id })]
}

func (w *world) act(step cluster.Step) {
	switch step.Action {
	case cluster.None:
	case cluster.TakeClaim:
		w.o.Claim = cluster.Claim{State: cluster.ClaimOurs, Since: w.now}
	case cluster.SetPermission:
		w.o.StartBefore = step.Until
	case cluster.GrantOwner:
		o := w.owner(step.Owner)
		o.To, o.HasTo, o.Ours, o.PlanMatches, o.GrantedAt = o.Target, true, true, true, w.now
	case cluster.ClearReleases:
		for i := range w.owner(step.Owner).Machines {
			w.owner(step.Owner).Machines[i].Release = ""
		}
	case cluster.WithdrawOwner:
		o := w.owner(step.Owner)
		o.To, o.HasTo, o.Ours, o.PlanMatches = "", false, false, false
	case cluster.Settle:
		w.o.StartBefore = time.Time{}
		for i := range w.o.Owners {
			o := &w.o.Owners[i]
			o.Ours, o.PlanMatches = false, false
			for k := range o.Machines {
				if m := &o.Machines[k]; !m.InFlight {
					m.Leftovers, m.Requested, m.Quarantined, m.Attempts, m.LastError = false, false, false, 0, ""
				}
			}
		}
	case cluster.ReleaseClaim:
		w.o.Claim = cluster.Claim{}
	}
}

// engine does a minute's work: ends what is in flight, then begins the next machine of a granted owner.
func (w *world) engine() {
	w.now = w.now.Add(time.Minute)
	for i := range w.o.Owners {
		o := &w.o.Owners[i]
		for k := range o.Machines {
			if m := &o.Machines[k]; m.InFlight && !w.o.Paused {
				w.end(o, m)
				o.MovedAt = w.now
			}
		}
		if !o.HasTo || w.o.Paused {
			continue
		}
		next := slices.IndexFunc(o.Machines, func(m cluster.Machine) bool { return m.Release != o.To && !m.Quarantined })
		lost := slices.ContainsFunc(o.Machines, func(m cluster.Machine) bool { return m.Quarantined })
		switch {
		case lost:
		case next < 0:
			o.To, o.HasTo = "", false
		case w.o.StartBefore.After(w.now):
			m := &o.Machines[next]
			m.Requested, m.InFlight, m.Leftovers = true, true, true
			w.refreshes++
			o.MovedAt = w.now
		}
	}
}

func (w *world) end(o *cluster.Owner, m *cluster.Machine) {
	fate := ""
	if len(w.fate) > 0 {
		fate = w.fate[0]
		w.fate = w.fate[1:]
	}
	m.InFlight = false
	if !(fate == "fail" && m.Attempts < 2) {
		w.o.Worked = policy.Clock{}
	}
	if fate == "fail" {
		m.Attempts++
		m.LastError = "Download snap k8s: refused"
		m.Quarantined = m.Attempts == 3
		return
	}
	m.Requested, m.LastError = false, ""
	m.Release, m.Kubelet, m.Proven = o.Target, latest, cluster.Verdict{Status: cluster.True}
}

// wished: the owner asks to wait, and that is honoured.
func (w *world) wished() bool {
	o := w.o
	stands := o.Wish.Held || o.Wish.Problem != "" || o.Wish.DeferUntil.After(w.now)
	return stands && o.WishMax > 0 && (o.WishSince.IsZero() || w.now.Before(o.WishSince.Add(o.WishMax)))
}

// judge checks one step against the world before it is carried out.
func (w *world) judge(t fataler, step cluster.Step) {
	t.Helper()
	wrong := func(what string) {
		t.Helper()
		t.Fatalf("%s: %v\nobserved: %+v\n%s", what, step, w.o, w.log.String())
	}
	undoes := step.Action == cluster.WithdrawOwner || step.Action == cluster.Settle ||
		step.Action == cluster.ReleaseClaim ||
		step.Action == cluster.TakeClaim || step.Action == cluster.SetPermission && !step.Until.After(w.now)
	switch {
	case step.Action == cluster.None:
	case !w.o.Reachable || !w.o.Access || !w.o.Present:
		wrong("written to what is not to be written to")
	case w.o.Claim.State == cluster.ClaimOther:
		wrong("written to another's cluster")
	case step.Action != cluster.TakeClaim && w.o.Claim.State != cluster.ClaimOurs:
		wrong("written without a claim")
	case w.wished() && !undoes:
		wrong("begun against the wish of its owner")
	case w.o.Intent != policy.Run && !undoes:
		wrong("begun without an intent")
	case w.o.Paused && !undoes:
		wrong("written to a paused cluster")
	}
	if step.Action == cluster.GrantOwner {
		w.judgeGrant(wrong, step)
	}
	if step.Action == cluster.SetPermission && !undoes && (step.Until.After(w.now.Add(time.Hour)) ||
		!w.o.NotAfter.IsZero() && step.Until.After(w.o.NotAfter)) {
		wrong("a permission that reaches too far")
	}
	if step.Phase == policy.Succeeded && w.o.Phase != policy.Succeeded {
		for _, o := range w.o.Owners {
			for _, m := range o.Machines {
				if m.Release != o.Target || m.Kubelet != latest {
					wrong("a success that is none")
				}
			}
		}
	}
	if step.Phase.Ended() && step.Settled && step.Phase != policy.Removed && w.o.Present && w.o.Reachable &&
		slices.ContainsFunc(w.o.Owners, func(o cluster.Owner) bool { return o.Ours }) {
		wrong("something is left behind")
	}
}

func (w *world) judgeGrant(wrong func(string), step cluster.Step) {
	granted := w.owner(step.Owner)
	for _, o := range w.o.Owners {
		inFlight := slices.ContainsFunc(o.Machines, func(m cluster.Machine) bool { return m.InFlight })
		switch {
		case o.ID() != step.Owner && (inFlight || o.HasTo):
			wrong("two owners at once")
		case o.ID() == step.Owner && inFlight && o.To != o.Target:
			wrong("the target changed in flight")
		case granted.Role == cluster.Workers && o.Role == cluster.ControlPlane &&
			slices.ContainsFunc(o.Machines, func(m cluster.Machine) bool { return m.Release != o.Target }):
			wrong("workers before the control plane")
		}
	}
	if !w.o.StartBefore.After(w.now) {
		wrong("granted without a permission")
	}
}
