// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// How often k8sd is asked about a change.
const (
	firstPoll = 250 * time.Millisecond
	lastPoll  = 10 * time.Second
	// jitterShare of an interval is added at random at most, so that machines of one start do not stay in step.
	jitterShare = 0.2
)

// Pace remembers when k8sd is asked next about each machine's change: soon at first, then ever more rarely. It is
// memory that may be lost: a new process starts over.
type Pace struct {
	// Jitter returns a number in [0, 1).
	Jitter func() float64

	mu    sync.Mutex
	asked map[types.NamespacedName]asked
	looks map[types.NamespacedName]time.Time
}

type asked struct {
	about string
	times int
	next  time.Time
}

// asking is what k8sd is asked about: a node that shows another version has likely ended its change, so that the pace
// begins anew.
func (o Observation) asking() string { return o.Marks.ChangeID + " " + o.KubeletVersion }

// Next is the earliest instant to ask about something; zero: at once.
func (p *Pace) Next(machine types.NamespacedName, about string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.asked[machine]; a.about == about {
		return a.next
	}
	return time.Time{}
}

// Asked notes that k8sd was asked and returns when to ask next.
func (p *Pace) Asked(machine types.NamespacedName, about string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.asked[machine]
	if a.about != about {
		a = asked{about: about}
	}
	interval := min(firstPoll<<min(a.times, 10), lastPoll)
	a.times++
	a.next = now.Add(interval + time.Duration(p.Jitter()*jitterShare*float64(interval)))
	if p.asked == nil {
		p.asked = map[types.NamespacedName]asked{}
	}
	p.asked[machine] = a
	return a.next
}

// Forget drops what is known of a machine.
func (p *Pace) Forget(machine types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.asked, machine)
}

// NextLook is the earliest instant at which a machine's node is drained or uncordoned again; zero: at once.
func (p *Pace) NextLook(machine types.NamespacedName) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.looks[machine]
}

// Looked notes that a machine's node was drained or uncordoned and returns when that is tried next.
func (p *Pace) Looked(machine types.NamespacedName, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looks == nil {
		p.looks = map[types.NamespacedName]time.Time{}
	}
	p.looks[machine] = now.Add(lookEvery)
	return p.looks[machine]
}

// ForgetLook drops when a machine's node was looked at.
func (p *Pace) ForgetLook(machine types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.looks, machine)
}
