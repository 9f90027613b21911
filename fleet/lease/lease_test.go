// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/windlass-dev/windlass/fleet/lease"
)

// slowLock answers after a while.
type slowLock struct {
	resourcelock.Interface

	answer func() error
}

func (l *slowLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return l.answer()
}

func TestAWriteIsRefusedUnlessTheLeaseIsYoung(t *testing.T) {
	const deadline = 10 * time.Second
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		answer  error
		takes   time.Duration
		after   time.Duration
		mayNot  bool
		renewed bool
	}{
		"never renewed":                                  {mayNot: true},
		"renewed just now":                               {renewed: true},
		"renewed at the deadline":                        {renewed: true, after: deadline},
		"renewed longer ago than the deadline":           {renewed: true, after: deadline + 1, mayNot: true},
		"a refused renewal is none":                      {renewed: true, answer: refused, mayNot: true},
		"the answer's delay counts as age":               {renewed: true, takes: deadline, after: 1, mayNot: true},
		"a process frozen for a minute has to look anew": {renewed: true, after: time.Minute, mayNot: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := clocktesting.NewFakeClock(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
			lock := &slowLock{answer: func() error { now.Step(test.takes); return test.answer }}
			w := lease.Watch(lock, deadline, now)
			if test.renewed {
				if err := w.Update(t.Context(), resourcelock.LeaderElectionRecord{}); !errors.Is(err, test.answer) {
					t.Fatalf("Update: %v", err)
				}
			}
			now.Step(test.after)
			if err := w.MayWrite(); errors.Is(err, lease.ErrNotRenewed) != test.mayNot {
				t.Errorf("MayWrite: %v", err)
			}
		})
	}
}
