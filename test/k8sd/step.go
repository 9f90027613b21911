// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import "time"

// The states of a snapd change that a refresh can end in. Any other state of snapd is not an end.
const (
	StatusDoing  = "Doing"
	StatusDone   = "Done"
	StatusError  = "Error"
	StatusUndone = "Undone"
	StatusHold   = "Hold"
)

// Step is what one refresh does. The zero Step succeeds at once.
type Step struct {
	takes     time.Duration
	ends      string // empty: Done
	message   string
	endless   bool
	noChange  bool
	pruned    bool
	loseReply bool
	outage    time.Duration
	blip      time.Duration
	lag       time.Duration
	fault     *Fault
	opened    <-chan struct{}
}

// Done is a refresh that succeeds after d.
func Done(d time.Duration) Step { return Step{takes: d, ends: StatusDone} }

// Error is a refresh that fails after d, with message as its errorMessage.
func Error(d time.Duration, message string) Step {
	return Step{takes: d, ends: StatusError, message: message}
}

// Undone is a refresh that snapd rolls back: completed, neither Done nor Error.
func Undone(d time.Duration) Step { return Step{takes: d, ends: StatusUndone} }

// Doing is a refresh that never ends.
func Doing() Step { return Step{endless: true} }

// NoChange is a refresh for which snapd has nothing to do: success with an empty change id.
func NoChange() Step { return Step{noChange: true} }

// Pruned is a refresh that succeeds after d, but whose change snapd does not know when asked: an empty status, never
// completed.
func Pruned(d time.Duration) Step { return Step{takes: d, ends: StatusDone, pruned: true} }

// Refused is a refresh that never begins, because k8sd answers with f.
func Refused(f Fault) Step { return Step{fault: &f} }

// LosingReply begins the refresh and resets the connection instead of answering.
func (s Step) LosingReply() Step { s.loseReply = true; return s }

// Restarting makes k8sd answer 503 for d after the refresh has ended, as while its database starts.
func (s Step) Restarting(d time.Duration) Step { s.outage = d; return s }

// Until keeps the refresh going until gate is closed, so that a test sees what it wants to see however slow its machine is.
func (s Step) Until(gate <-chan struct{}) Step { s.opened = gate; return s }

// Blip makes the Node not ready for d after the refresh is Done.
func (s Step) Blip(d time.Duration) Step { s.blip = d; return s }

// Lagging makes the Node report its new version d after the refresh is Done, instead of just before.
func (s Step) Lagging(d time.Duration) Step { s.lag = d; return s }

// succeeds tells whether the node runs the target at the end.
func (s Step) succeeds() bool {
	return !s.endless && s.fault == nil && !s.noChange && (s.ends == "" || s.ends == StatusDone)
}

// status is the state of the change at its end.
func (s Step) status() string {
	if s.ends == "" {
		return StatusDone
	}
	return s.ends
}
