// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the main job on real API servers: a hub upgrades six clusters in two management clusters, a canary
// first, then two waves. It fails when a rule was broken on the way.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-dev/windlass/cmd/windlass/live"
	"github.com/windlass-dev/windlass/cmd/windlass/report"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/fleet"
	"github.com/windlass-dev/windlass/test/k8sd"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	if err := demo(ctrl.SetupSignalHandler(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo failed:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, out io.Writer) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	begin := time.Now()
	say("Starting a hub, two management clusters and six workload clusters of 8 machines, on real API servers …")
	f, err := fleet.Start(ctx, out, members()...)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	say("ready after %s\n", time.Since(begin).Round(time.Second))
	if err := script(f); err != nil {
		return err
	}
	w, err := f.Watch(ctx, fleet.Rules{Limits: limits()})
	if err != nil {
		return err
	}
	if err := f.StartHub(); err != nil {
		return err
	}
	say("The policy, as one would `kubectl apply` it:\n\n%s", policyText)
	if err := apply(ctx, f); err != nil {
		return err
	}
	say("`windlass watch --until-done %s`, which ends with the report of `windlass status`:\n", policyName)
	watching, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	err = live.Watch(watching, f.Hub, live.Options{
		Out: out, Namespace: env.HubNamespace, Policy: policyName, UntilDone: true, Terminal: isTerminal(),
	})
	if err != nil {
		return errors.Join(err, logs(out, f))
	}
	r, err := status(ctx, f)
	if err != nil {
		return err
	}
	if err := judge(f, w, r); err != nil {
		return err
	}
	say("\nSeen in every change of the hub's and the members' objects: the canary was alone until it had succeeded; no two "+
		"control\nplane machines of one cluster were in flight; no wave exceeded its maxConcurrency. %d machines took %d "+
		"refreshes: one\nmachine failed once, as scripted, and succeeded when it was tried again.",
		machines, len(f.World.Sim().Log()))
	say("The demo took %s.", time.Since(begin).Round(time.Second))
	return nil
}

// script tells the simulated nodes what is released and which of them fails.
func script(f *fleet.Fleet) error {
	sim := f.World.Sim()
	sim.Release(target, version)
	sim.Default(k8sd.Done(refreshTakes))
	node, err := f.Node(unlucky, unluckyMachine)
	if err != nil {
		return err
	}
	return sim.Script(node, k8sd.Error(refreshTakes, `cannot perform the following tasks:
- Download snap "k8s" (3621) from channel "1.33-classic/stable" (unexpected EOF)`), k8sd.Done(refreshTakes))
}

// status is what `windlass status` shows, to be judged.
func status(ctx context.Context, f *fleet.Fleet) (report.Report, error) {
	in, err := report.Load(ctx, f.Hub, env.HubNamespace)
	if err != nil {
		return report.Report{}, err
	}
	in.Policy = policyName
	return report.Build(in, time.Now())
}

// logs shows the end of what the hub said, where the demo went wrong.
func logs(out io.Writer, f *fleet.Fleet) error {
	text, err := os.ReadFile(f.World.Dir() + "/windlass-hub.log")
	if err != nil {
		return err
	}
	const most = 6000
	_, err = fmt.Fprintf(out, "\nthe end of the hub's log:\n%s\n", text[max(0, len(text)-most):])
	return err
}

// isTerminal reports whether progress bars can be drawn.
func isTerminal() bool { return term.IsTerminal(int(os.Stdout.Fd())) }
