// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-dev/windlass/test/env"
)

// world is what the tests of this package share. It is written once, before the first test.
type world struct {
	*env.World

	current, old *env.Management
}

var shared world //nolint:gochecknoglobals // TestMain has no other way to hand it on

// namespaces counts, so that a test can run several times in one world.
var namespaces atomic.Int32 //nolint:gochecknoglobals // tests share it as they share the world

// namespace returns a name that no other call returns.
func namespace(of string) string { return fmt.Sprintf("%s-%d", of, namespaces.Add(1)) }

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(beChild(mode))
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // the binaries may have to be built
	defer cancel()
	ctrl.SetLogger(logr.Discard())
	begin := time.Now()
	shared.World, err = env.Start(ctx, env.Options{Log: os.Stderr})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	var parts errgroup.Group
	parts.Go(func() error {
		var err error
		shared.current, err = shared.Management(ctx, "north")
		return err
	})
	parts.Go(func() error {
		var err error
		shared.old, err = shared.Management(ctx, "south", env.ServingV1Beta1())
		return err
	})
	parts.Go(func() error { _, err := shared.Workload(ctx); return err })
	if err := parts.Wait(); err != nil {
		return 1, err
	}
	fmt.Fprintf(os.Stderr, "world of 3 API servers ready in %s\n", time.Since(begin).Round(100*time.Millisecond))
	return m.Run(), nil
}

// childMode makes the test binary a program that has a world: it prints the world's folder, and then, when its input
// ends, either closes the world or is killed.
const childMode = "WINDLASS_TEST_CHILD"

func beChild(mode string) int {
	w, err := env.Start(context.Background(), env.Options{Log: os.Stderr, Dir: mode})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(w.Dir())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := w.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
