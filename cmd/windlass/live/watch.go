// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// gather is how long events are collected before the screen is drawn anew: a burst is one drawing.
const gather = 100 * time.Millisecond

// Options say what is watched and how it is shown. Out is required.
type Options struct {
	// Namespace of the hub; empty: all. Policy; empty: all.
	Namespace, Policy string
	// Out is written to.
	Out io.Writer
	// Terminal: Out is a terminal, so bars can be drawn.
	Terminal bool
	// UntilDone ends the watch when every rollout that is watched has ended, and prints the report then.
	UntilDone bool
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// EndedError says that a watch ended with rollouts that did not succeed.
type EndedError struct {
	// Rollouts, each with its phase and why.
	Rollouts []string
}

// Error names the rollouts and why each ended so.
func (e *EndedError) Error() string { return "not succeeded: " + strings.Join(e.Rollouts, "; ") }

// screen shows reports.
type screen interface {
	// show draws a report, and tells the changes since the last one.
	show(report.Report, []report.Change) error
	// tell tells one change more, such as one of the connection to the hub.
	tell(report.Change) error
	// close ends the drawing; nothing is written after it.
	close()
}

// Watch shows what the hub does until the context ends, which is no error, or with UntilDone until the rollouts ended.
// It fails at once where the hub cannot be read or knows no such policy (*report.UnknownPolicyError), and with
// UntilDone where a rollout ended otherwise than Succeeded (*EndedError). A connection that breaks is told and mended.
func Watch(ctx context.Context, hub client.WithWatch, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := readable(ctx, hub, o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSource(hub, o.Namespace)
	s.start(ctx)
	defer s.wait()
	defer cancel()
	last, err := follow(ctx, s, o)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := last.Table(o.Out); err != nil {
		return err
	}
	return outcome(last)
}

// readable asks for everything once, so that a wrong name or a missing right is an answer and not a wait.
func readable(ctx context.Context, hub client.Reader, o Options) error {
	in, err := report.Load(ctx, hub, o.Namespace)
	if err != nil {
		return err
	}
	in.Policy = o.Policy
	_, err = report.Build(in, o.Now())
	return err
}

// follow draws until the context ends or, with UntilDone, the rollouts did; it returns the report drawn last.
func follow(ctx context.Context, s *source, o Options) (report.Report, error) {
	view := newScreen(o)
	defer view.close()
	var last report.Report
	// A reader that is gone is found by the next show.
	tell := func(now state) { _ = view.tell(now.change(o.Now())) }
	for s.next(ctx, tell) {
		in := s.input()
		in.Policy = o.Policy
		r, err := report.Build(in, o.Now())
		if err != nil {
			return last, fmt.Errorf("the policy is gone: %w", err)
		}
		if err := view.show(r, report.Changes(last, r)); err != nil {
			return last, err
		}
		last = r
		if o.UntilDone && done(r) {
			break
		}
	}
	return last, nil
}

func newScreen(o Options) screen {
	if o.Terminal {
		return newBars(o.Out)
	}
	return lines{out: o.Out}
}

// done reports whether nothing of what is watched will move by itself: the hub has seen each policy as it is now, and
// the current rollouts have ended or are Halted with nothing in flight.
func done(r report.Report) bool {
	for _, p := range r.Policies {
		if !p.Settled || p.Rollout == "" {
			return false
		}
	}
	for _, ro := range r.Rollouts {
		if ro.Current && (!report.Over(ro.Phase) || ro.Upgrades.Active > 0) {
			return false
		}
	}
	return len(r.Rollouts) > 0
}

// outcome is nil where every current rollout succeeded.
func outcome(r report.Report) error {
	var others []string
	for _, ro := range r.Rollouts {
		if !ro.Current || ro.Phase == string(fleetv1.RolloutSucceeded) {
			continue
		}
		text := "rollout " + ro.Name + " ended " + ro.Phase
		if ro.Why != nil {
			text += ": " + ro.Why.Reason + ": " + ro.Why.Message
		}
		others = append(others, text)
	}
	if others == nil {
		return nil
	}
	return &EndedError{Rollouts: others}
}
