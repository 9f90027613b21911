// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import "time"

// State is what the five annotations of a machine mean together.
type State string

// The states of a machine.
const (
	// Idle: nothing is asked for and nothing is left over.
	Idle State = "Idle"
	// Leftover: nothing is asked for, but marks of an upgrade that ended half way remain.
	Leftover State = "Leftover"
	// Requested: an upgrade is asked for and none has been sent for it.
	Requested State = "Requested"
	// Retrying: as Requested, after an attempt that failed.
	Retrying State = "Retrying"
	// InProgress: a change is in flight.
	InProgress State = "InProgress"
	// Finishing: the change is done and the result not yet recorded.
	Finishing State = "Finishing"
	// FailedAttempt: the change failed and the next attempt has not been prepared.
	FailedAttempt State = "FailedAttempt"
	// Inconsistent: a change id without a known status.
	Inconsistent State = "Inconsistent"
	// Abandoned: a change is or was in flight whose request has been withdrawn.
	Abandoned State = "Abandoned"
)

// Marks are the five annotations of one object, as read.
type Marks struct {
	To, Status, Release, ChangeID, LastFailed string
	// HasTo and HasChangeID tell a key that is present and empty from an absent one.
	HasTo, HasChangeID bool
}

// Read picks the marks out of an object's annotations.
func (k Keys) Read(annotations map[string]string) Marks {
	m := Marks{Status: annotations[k.Status], Release: annotations[k.Release], LastFailed: annotations[k.LastFailed]}
	m.To, m.HasTo = annotations[k.To]
	m.To = string([]rune(m.To)) // what is no UTF-8 becomes what JSON makes of it, so that an attempt at it is known again
	m.ChangeID, m.HasChangeID = annotations[k.ChangeID]
	return m
}

// State tells what the marks of a machine mean. It is total: every combination has one state.
func (m Marks) State() State {
	switch {
	case m.HasTo && m.HasChangeID:
		return m.inFlight()
	case m.HasTo && m.LastFailed != "":
		return Retrying
	case m.HasTo:
		return Requested
	case m.HasChangeID:
		return Abandoned
	case m.Status == StatusInProgress, m.Status == StatusFailed, m.LastFailed != "":
		return Leftover
	default:
		return Idle
	}
}

func (m Marks) inFlight() State {
	switch m.Status {
	case StatusInProgress:
		return InProgress
	case StatusDone:
		return Finishing
	case StatusFailed:
		return FailedAttempt
	default:
		return Inconsistent
	}
}

// Busy reports whether the machine is asked to upgrade or may still be upgrading.
func (m Marks) Busy() bool { return m.HasTo || m.HasChangeID }

// FormatFailedAt writes an instant for the LastFailed annotation, in UTC.
func FormatFailedAt(t time.Time) string { return t.UTC().Format(time.RFC1123Z) }

// ParseFailedAt reads a LastFailed annotation; false when it is absent or not an instant.
func ParseFailedAt(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC1123Z, text)
	return t, err == nil
}

// InFlight reports whether a refresh of the machine was sent, or may have been, and has not been seen to end: while
// it is, nobody else may refresh it and its marks stay.
func (m Marks) InFlight(a Attempt) bool {
	switch m.State() {
	case InProgress, Finishing, Inconsistent:
		return true
	case Abandoned:
		return m.Status == StatusInProgress
	case Requested, Retrying:
		return !a.SentAt.IsZero() && a.FailedAt.Before(a.SentAt)
	case Idle, Leftover, FailedAttempt:
		return false
	}
	return false
}
