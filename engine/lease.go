// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// errNotRenewed: another engine may hold the lease by now.
var errNotRenewed = errors.New("the engine's lease has not been renewed in time")

// lease is the engine's Lease in one management cluster. It remembers when this process renewed it last: a process
// that was frozen wakes up believing that it leads.
type lease struct {
	resourcelock.Interface

	opts  Options
	clock clock.PassiveClock
	start time.Time
	// renewed is the time from start to the last renewal, read before the call that made it; negative: none yet.
	renewed atomic.Int64
}

func newLease(cfg *rest.Config, opts Options) (*lease, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = opts.RenewDeadline / 2
	c, err := coordinationv1client.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	l := &lease{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: opts.LeaseNamespace, Name: LeaseName},
			Client:     c,
			LockConfig: resourcelock.ResourceLockConfig{Identity: opts.Identity},
		},
		opts: opts, clock: opts.Clock, start: opts.Clock.Now(),
	}
	l.renewed.Store(-1)
	return l, nil
}

// MayWrite refuses when the lease was last renewed longer ago than its renew deadline. Durations are monotonic: a
// stepped clock changes nothing.
func (l *lease) MayWrite() error {
	renewed := time.Duration(l.renewed.Load())
	if age := l.clock.Since(l.start) - renewed; renewed < 0 || age > l.opts.RenewDeadline {
		return fmt.Errorf("%w: %s ago, at most %s", errNotRenewed, age.Truncate(time.Millisecond), l.opts.RenewDeadline)
	}
	return nil
}

// Create is the first way to take the lease.
func (l *lease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.remember(func() error { return l.Interface.Create(ctx, r) })
}

// Update takes, renews or releases the lease.
func (l *lease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.remember(func() error { return l.Interface.Update(ctx, r) })
}

func (l *lease) remember(write func() error) error {
	at := l.clock.Since(l.start)
	err := write()
	if err == nil {
		l.renewed.Store(int64(at))
	}
	return err
}

// hold waits for the lease, runs work while it is held, and gives it back when work has ended: never before, since
// another engine begins at once.
func (l *lease) hold(ctx context.Context, work func(context.Context) error) error {
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	waiting := context.AfterFunc(ctx, release) // while nothing runs, the end of ctx ends the wait
	defer waiting()
	taken, gone := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l, Name: LeaseName, ReleaseOnCancel: true,
		LeaseDuration: l.opts.LeaseDuration, RenewDeadline: l.opts.RenewDeadline, RetryPeriod: l.opts.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(taken) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("preparing the election: %w", err)
	}
	go func() {
		defer close(gone)
		elector.Run(holding)
	}()
	select {
	case <-gone:
		if ctx.Err() == nil {
			return ErrLeaseLost
		}
		return nil
	case <-taken:
	}
	waiting() // from here on the work ends first
	working, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		<-gone
		stop()
	}()
	err = work(working)
	lost := closed(gone)
	release()
	<-gone
	if lost && ctx.Err() == nil {
		return errors.Join(ErrLeaseLost, err)
	}
	return err
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
