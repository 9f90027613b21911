// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/policy"
)

// Wish is what the owner of a cluster asks for on its Cluster: to be put off until an instant, or to be left alone.
type Wish struct {
	// DeferUntil is the instant until which it is put off; zero: it is not. DeferReason is why, in the owner's words.
	DeferUntil  time.Time
	DeferReason string
	// Held: it is to be left alone. HoldReason is why, in the owner's words.
	Held       bool
	HoldReason string
	// Problem says what cannot be read; empty: nothing. Such a wish counts as held.
	Problem string
}

// ReadWish reads the marks of an owner: "<time>; <reason>" under one key and "<reason>" under another.
func ReadWish(annotations map[string]string, deferKey, holdKey string) Wish {
	var w Wish
	w.HoldReason, w.Held = annotations[holdKey]
	w.HoldReason = strings.TrimSpace(w.HoldReason)
	text, found := annotations[deferKey]
	if !found {
		return w
	}
	when, why, _ := strings.Cut(text, ";")
	w.DeferReason = strings.TrimSpace(why)
	for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, strings.TrimSpace(when)); err == nil {
			w.DeferUntil = t.UTC()
			return w
		}
	}
	w.Problem = fmt.Sprintf("%s %q names no instant; accepted: 2026-12-01T02:00:00Z; the reason", deferKey, text)
	return w
}

// stands: it asks for anything that is not over.
func (w Wish) stands(now time.Time) bool {
	return w.Held || w.Problem != "" || now.Before(w.DeferUntil)
}

// wishLimit is when the wish is honoured no longer; zero: its time has not begun to count.
func (l look) wishLimit() time.Time {
	if l.o.WishSince.IsZero() {
		return time.Time{}
	}
	return l.o.WishSince.Add(l.o.WishMax)
}

// wished: a wish stands and is honoured.
func (l look) wished() bool {
	limit := l.wishLimit()
	return l.o.Wish.stands(l.now) && l.o.WishMax > 0 && (limit.IsZero() || l.now.Before(limit))
}

// wishCounts: the time in which the wish is honoured runs.
func (l look) wishCounts() bool {
	return l.o.Wish.stands(l.now) && l.o.WishMax > 0 && (l.o.Open || !l.o.WishSince.IsZero())
}

// heed is a cluster whose owner's wish is honoured.
func (l look) heed() Step {
	w, limit := l.o.Wish, l.wishLimit()
	step := l.hold(policy.ReasonDeferredByOwner, "its owner put it off until %s", w.DeferUntil.Format(time.RFC3339))
	why, until := w.DeferReason, w.DeferUntil
	if w.Held || w.Problem != "" {
		step.Message, why, until = "its owner holds it", w.HoldReason, limit
	}
	if !w.Held && w.Problem != "" {
		why = w.Problem
	}
	step.Message += ": " + cmp.Or(why, "no reason is given")
	if !limit.IsZero() && !until.Before(limit) {
		until = limit
		step.Message += fmt.Sprintf("; that is honoured until %s (deferral.max: %s)", limit.UTC().Format(time.RFC3339),
			l.o.WishMax)
	}
	step.Recheck, step.WaitUntil, step.Act = until, until, until.IsZero() && !l.o.Open
	return step
}

// unheeded says that a wish stands and is honoured no longer.
func (l look) unheeded() string {
	switch limit := l.wishLimit(); {
	case !l.o.Wish.stands(l.now):
		return ""
	case l.o.WishMax <= 0:
		return "; its owner's wish to wait is not honoured (deferral.max: 0s)"
	default:
		return fmt.Sprintf("; its owner's wish to wait is honoured no longer since %s (deferral.max: %s)",
			limit.UTC().Format(time.RFC3339), l.o.WishMax)
	}
}

// BeforeStart is what becomes of a cluster whose management cluster is silent and to which nothing was granted.
type BeforeStart string

// The answers. The zero value is CatchUp.
const (
	// CatchUp defers it.
	CatchUp BeforeStart = "CatchUp"
	// AwaitReturn lets its wave wait for it.
	AwaitReturn BeforeStart = "Wait"
	// GiveUp fails it when its management cluster has been silent for SilentFor in an open wave.
	GiveUp BeforeStart = "Fail"
)

const (
	// Blip is how long a management cluster must be silent before a cluster is put off for that: a hub that starts has not
	// connected to it yet.
	Blip = 30 * time.Second
	// SilentFor is how long it must be silent before a cluster fails for that.
	SilentFor = 10 * time.Minute
)

// silent is a cluster whose management cluster does not answer. One that is half-way is not judged (law 14).
func (l look) silent() Step {
	o := l.o
	message := cmp.Or(o.ReachMessage, "the management cluster does not answer")
	switch {
	case l.started() || Final(o.Phase) || o.BeforeStart == AwaitReturn:
		return l.away(policy.ReasonMemberUnreachable, message)
	case o.BeforeStart != GiveUp && o.Phase == policy.Deferred && o.Reason == policy.ReasonUnreachable:
		return Step{Phase: policy.Deferred, Reason: policy.ReasonUnreachable, Message: message}
	}
	step := l.hold(policy.ReasonMemberUnreachable, "%s", message)
	if o.SilentSince.IsZero() || o.BeforeStart == GiveUp && !o.Open {
		return step
	}
	end := o.SilentSince.Add(Blip)
	if o.BeforeStart == GiveUp {
		end = o.SilentSince.Add(SilentFor)
	}
	switch {
	case l.now.Before(end):
		step.Recheck, step.WaitUntil = end, end
	case o.BeforeStart == GiveUp:
		step.Phase = policy.Failed
		step.Message += fmt.Sprintf("; unreachable.beforeStart is Fail, and it has been silent since %s",
			o.SilentSince.UTC().Format(time.RFC3339))
	default:
		step.Phase, step.Reason = policy.Deferred, policy.ReasonUnreachable
	}
	return step
}

// Final reports whether a phase is never left again. Deferred is: the cluster goes back to Pending when the cause is
// gone.
func Final(p policy.ClusterPhase) bool { return p.Ended() && p != policy.Deferred }

// unbegun is the phase of a cluster to which nothing was granted, and that waits for a reason.
func unbegun(reason string) policy.ClusterPhase {
	if reason == policy.ReasonClusterPaused || reason == policy.ReasonDeferredByOwner {
		return policy.Deferred
	}
	return policy.Pending
}
