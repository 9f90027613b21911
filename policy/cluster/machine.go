// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"time"
)

// Times of machines that are granted one by one.
const (
	// NoChange is how long a machine may be asked without a change that has begun: then its request is taken back.
	NoChange = 2 * time.Minute
	// Grace is how long a request stands in any case: whoever answers it is then seen to have begun, or has not.
	Grace = 10 * time.Second
	// Answer is how long what a provider sent may take to become visible after its request was taken back.
	Answer = time.Minute
	// LastWords is how long the last words about a failure are waited for.
	LastWords = 5 * time.Second
	// MaxBackoff bounds the pause between attempts, which doubles with each.
	MaxBackoff = 30 * time.Minute
)

// maxChangeIDs is how many change ids a Record remembers.
const maxChangeIDs = 8

// Limits of machines that are granted one by one. Zero fields mean the defaults named here.
type Limits struct {
	// MaxConcurrentMachines of a pool. Default 1. A control plane is always one at a time.
	MaxConcurrentMachines int
	// MaxAttempts of one machine. Default 1.
	MaxAttempts int
	// Timeout of one attempt. Default none: an attempt without it has timed out at once.
	Timeout time.Duration
	// Backoff after the first failure; it doubles with each, up to MaxBackoff.
	Backoff time.Duration
}

// Marks are the protocol's annotations of a machine.
type Marks struct {
	To, ChangeID, Status, LastFailed string
	// HasTo and HasChangeID tell a key that is present and empty from an absent one.
	HasTo, HasChangeID bool
}

// Values of Marks.Status.
const (
	markInProgress = "in-progress"
	markDone       = "done"
	markFailed     = "failed"
)

// refreshing: a change is in flight, as far as the marks say.
func (m Marks) refreshing() bool { return m.HasChangeID && m.Status == markInProgress }

// finished: the change has ended well and is not recorded yet.
func (m Marks) finished() bool { return m.HasChangeID && m.Status == markDone }

// failed: an attempt for this request has failed. A grant removes the marks of failures, so that whatever is there is
// of this request, whatever time it carries.
func (m Marks) failed() bool {
	return m.LastFailed != "" || m.Status == markFailed || m.HasChangeID && !m.refreshing() && !m.finished()
}

// clean: nothing is asked for and nothing is in flight.
func (m Marks) clean() bool { return !m.HasTo && !m.HasChangeID }

// Record is what is remembered of a machine that was granted by itself, until it is proven. The caller stores it before
// it carries out the step that it comes with, so that a restart counts right. The zero value: it was not granted.
type Record struct {
	// At is when its request was last written.
	At time.Time
	// From is the kubelet version before the first attempt.
	From string
	// Seen: the request of At was seen on it.
	Seen bool
	// ChangeIDs are the ids that were seen since the first grant, the last 8.
	ChangeIDs []string
	// Attempts is how many changes began since the first grant: one for each id, and for each that was not seen.
	Attempts int
	// Put is how many of them began since At.
	Put int
	// BlindSince is when the request was taken back while no id was visible; an id that shows up is the one that was
	// counted for it. Zero: it was not.
	BlindSince time.Time
	// Failures since the first grant. FailedAt is when the request of At failed; zero: it has not.
	Failures int
	FailedAt time.Time
	// LastError is the last thing said about a failure.
	LastError string
}

func (r Record) zero() bool { return r.At.IsZero() }

func (r Record) equal(other Record) bool {
	return r.At.Equal(other.At) && r.FailedAt.Equal(other.FailedAt) && r.From == other.From && r.Seen == other.Seen &&
		slices.Equal(r.ChangeIDs, other.ChangeIDs) && r.Attempts == other.Attempts && r.Put == other.Put &&
		r.BlindSince.Equal(other.BlindSince) && r.Failures == other.Failures && r.LastError == other.LastError
}

// counted adds the changes that the marks of a machine show.
func (r Record) counted(m Marks) Record {
	r.Seen = r.Seen || m.HasTo
	if id := m.ChangeID; id != "" && !slices.Contains(r.ChangeIDs, id) {
		r.ChangeIDs = append(slices.Clone(r.ChangeIDs), id)
		r.ChangeIDs = r.ChangeIDs[max(0, len(r.ChangeIDs)-maxChangeIDs):]
		if r.BlindSince.IsZero() {
			r.Attempts, r.Put = r.Attempts+1, r.Put+1
		}
		r.BlindSince = time.Time{}
	}
	if !m.HasTo || !m.failed() {
		return r
	}
	began := 1 // the one that failed
	if m.refreshing() || m.finished() {
		began++ // the one that was sent after it
	}
	if unseen := began - r.Put; unseen > 0 {
		r.Attempts, r.Put = r.Attempts+unseen, began
	}
	return r
}

// asked is the record after its request was written. The change that is in flight already, if any, is of it.
func (r Record) asked(now time.Time, kubelet string, follows bool) Record {
	if r.zero() {
		r.From = kubelet
	}
	r.At, r.Seen, r.BlindSince, r.FailedAt, r.Put = now.UTC().Truncate(time.Second), false, time.Time{}, time.Time{}, 0
	if follows {
		r.Put = 1
	}
	return r
}

// lost is the record after an attempt failed.
func (r Record) lost(now time.Time, why string) Record {
	if r.FailedAt.IsZero() {
		r.FailedAt = now.UTC().Truncate(time.Second)
		r.Failures++
	}
	if why != "" {
		r.LastError = why
	}
	return r
}

// takenBack is the record after its request was removed: where no change is visible one may have begun. It is counted
// once, however often the removal is tried.
func (r Record) takenBack(m Marks, now time.Time) Record {
	if m.HasChangeID {
		return r
	}
	if r.BlindSince.IsZero() {
		r.Attempts, r.Put = r.Attempts+1, r.Put+1
	}
	r.BlindSince = now.UTC().Truncate(time.Second)
	return r
}

// due is when the next attempt may begin.
func (r Record) due(backoff time.Duration) time.Time {
	if r.FailedAt.IsZero() {
		return r.At
	}
	pause := backoff
	for range r.Failures - 1 {
		if pause *= 2; pause >= MaxBackoff {
			break
		}
	}
	return r.FailedAt.Add(min(pause, max(backoff, MaxBackoff)))
}
