// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/windlass-dev/windlass/engine"
	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
)

const (
	benchMachines = 100
	benchRefresh  = time.Second
	// benchShare of the ideal, and benchPause for each machine in turn, are what the engine may add (docs/benchmarks.md).
	benchShare = 0.10
	benchPause = 500 * time.Millisecond
)

// BenchmarkEngine100Machines upgrades a pool of 100 machines, n at once, whose refreshes take a second: a real API
// server, the real way to each node, and a k8sd that does nothing but wait. It takes some minutes.
func BenchmarkEngine100Machines(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { benchmarkPool(b, n) })
	}
}

func benchmarkPool(b *testing.B, n int) {
	for b.Loop() {
		b.StopTimer()
		w, m := world(b, nil, build.Cluster("shop", "eu").Pool("a", benchMachines).At("v1.33.4"))
		w.Sim().Default(k8sd.Done(benchRefresh))
		calls := &callCounter{}
		cfg := rest.CopyConfig(m.Config)
		cfg.Wrap(calls.wrap)
		cl := connected(b, cfg)
		stop := hosted(b, cl, engine.Options{}) // a lease with room: the machine is busy
		kinds, err := capi.Discover(cl.GetRESTMapper(), capi.DefaultControlPlanes())
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(b.Context(), 15*time.Minute)
		for holder(b, m) == "" {
			wait(ctx, b)
		}
		annotate(b, m.Client, kinds.Cluster, "eu", map[string]string{
			protocol.StartBeforeKey: protocol.FormatStartBefore(time.Now().Add(time.Hour)),
		})
		plan := protocol.Plan{ExpectedVersion: version, MaxConcurrentMachines: n}.Format()
		before := calls.snapshot()
		b.StartTimer()
		begin := time.Now()
		annotate(b, m.Client, kinds.MachineDeployment, "eu-a", map[string]string{keys.To: target, protocol.PlanKey: plan})
		for get(b, m.Client, kinds.MachineDeployment, "eu-a").GetAnnotations()[keys.Status] != protocol.StatusDone {
			wait(ctx, b)
		}
		took := time.Since(begin)
		b.StopTimer()
		cancel()
		report(b, n, took, calls.snapshot().minus(before), w)
		if err := stop(); err != nil {
			b.Error(err)
		}
		b.StartTimer()
	}
}

// wait is how often the benchmark looks whether the engine is done.
func wait(ctx context.Context, b *testing.B) {
	select {
	case <-ctx.Done():
		b.Fatal("the engine does not get there")
	case <-time.After(50 * time.Millisecond):
	}
}

func report(b *testing.B, n int, took time.Duration, calls callCount, w *env.World) {
	ideal := benchRefresh * benchMachines / time.Duration(n)
	aim := ideal + time.Duration(benchShare*float64(ideal)) + benchPause*benchMachines/time.Duration(n)
	posts := map[string]int{}
	for _, p := range w.Sim().Log() {
		posts[p.Node]++
	}
	for node, count := range posts {
		if count != 1 {
			b.Errorf("%d refreshes of %s", count, node)
		}
	}
	if len(posts) != benchMachines {
		b.Errorf("%d machines were refreshed, of %d", len(posts), benchMachines)
	}
	verdict := "within"
	if took > aim {
		verdict = "beyond"
	}
	b.Logf("n=%d: %s, ideal %s, %s the aim of %s; load %s", n, took.Round(10*time.Millisecond), ideal, verdict, aim, load())
	b.ReportMetric(took.Seconds(), "s/upgrade")
	b.ReportMetric(took.Seconds()/ideal.Seconds(), "x-ideal")
	b.ReportMetric((took-ideal).Seconds()*float64(n)/benchMachines, "overhead-s/machine")
	b.ReportMetric(float64(len(w.Sim().Log()))/benchMachines, "refreshes/machine")
	b.ReportMetric(float64(calls.writes)/benchMachines, "writes/machine")
	b.ReportMetric(float64(calls.reads)/benchMachines, "reads/machine")
	b.ReportMetric(float64(calls.events)/benchMachines, "events/machine")
}

// load is how busy the machine is, where it says.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

// callCounter counts what an engine asks of its API server.
type callCounter struct{ writes, reads, events atomic.Int64 }

// callCount is what it has counted; writes and reads are without leases, watches and events.
type callCount struct{ writes, reads, events int64 }

func (c *callCounter) snapshot() callCount {
	return callCount{c.writes.Load(), c.reads.Load(), c.events.Load()}
}

func (c callCount) minus(before callCount) callCount {
	return callCount{c.writes - before.writes, c.reads - before.reads, c.events - before.events}
}

func (c *callCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.Contains(r.URL.Path, "/leases"), r.URL.Query().Get("watch") != "":
		case strings.Contains(r.URL.Path, "/events"):
			c.events.Add(1)
		case r.Method == http.MethodGet:
			c.reads.Add(1)
		default:
			c.writes.Add(1)
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
