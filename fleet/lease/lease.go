// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package lease tells whether this process may still write: a leader that was frozen, or cut off from the hub, wakes
// up believing that it leads. Every write on a member asks this package first.
package lease

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// ErrNotRenewed means that the lease was renewed too long ago, so another process may lead by now.
var ErrNotRenewed = errors.New("the leader lease has not been renewed in time")

// Watched is a leader lease that remembers when it was last renewed by this process.
type Watched struct {
	resourcelock.Interface

	clock    clock.PassiveClock
	deadline time.Duration
	// renewed is the time since start, read before the last successful write; never: none yet.
	renewed atomic.Int64
	start   time.Time
}

const never = -1

// Watch wraps a lock. deadline is the renew deadline of its elector.
func Watch(lock resourcelock.Interface, deadline time.Duration, c clock.PassiveClock) *Watched {
	w := &Watched{Interface: lock, clock: c, deadline: deadline, start: c.Now()}
	w.renewed.Store(never)
	return w
}

// Create and Update pass on, and remember a success. The instant is read before the call: an answer that took long
// does not make the lease younger.
func (w *Watched) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return w.remember(func() error { return w.Interface.Create(ctx, r) })
}

// Update is documented at Create.
func (w *Watched) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return w.remember(func() error { return w.Interface.Update(ctx, r) })
}

func (w *Watched) remember(write func() error) error {
	at := w.clock.Since(w.start)
	err := write()
	if err == nil {
		w.renewed.Store(int64(at))
	}
	return err
}

// MayWrite returns ErrNotRenewed when the lease was last renewed longer ago than its renew deadline. Durations are
// monotonic: a stepped clock changes nothing.
func (w *Watched) MayWrite() error {
	renewed := time.Duration(w.renewed.Load())
	age := w.clock.Since(w.start) - renewed
	if renewed == never || age > w.deadline {
		return fmt.Errorf("%w: %s ago, at most %s", ErrNotRenewed, age.Truncate(time.Millisecond), w.deadline)
	}
	return nil
}
