// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package pace keeps writes of one object a second apart: a burst of events is one write (DESIGN.md 8).
package pace

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Every is the least time between two writes of one object.
const Every = time.Second

// Pace remembers, by key, when something was last written. The zero value needs a Clock.
type Pace[K comparable] struct {
	Clock clock.PassiveClock

	mu   sync.Mutex
	last map[K]time.Time
}

// Wait is how long to wait until the object may be written again; 0: not at all. What is older than that is forgotten.
func (p *Pace[K]) Wait(key K) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, found := p.last[key]
	if !found {
		return 0
	}
	wait := Every - p.Clock.Since(last)
	if wait <= 0 {
		delete(p.last, key)
	}
	return max(wait, 0)
}

// Wrote notes a write.
func (p *Pace[K]) Wrote(key K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[K]time.Time{}
	}
	p.last[key] = p.Clock.Now()
}

// Longest is when to look again at the latest while an instant is waited for: timers stand still while a machine sleeps,
// and do not know when its clock is set.
const Longest = 5 * time.Minute

// Timer is how long to wait for an instant that is so far away: a millisecond at least, Longest at most.
func Timer(away time.Duration) time.Duration { return min(max(away, time.Millisecond), Longest) }
