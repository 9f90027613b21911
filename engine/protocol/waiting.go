// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import "time"

// Waiting is what an owner waits for, as JSON under WaitingKey. It is written when the reason changes, so a message
// may be older than what holds now.
type Waiting struct {
	// Reason is a word of package orchestrate, Message says it for people. At most 512 bytes.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	// Since is when the owner began to wait for this reason, in whole seconds.
	Since time.Time `json:"since,omitzero"`
}

// WaitingInvalid is the reason of an owner whose target or plan cannot be read.
const WaitingInvalid = "Invalid"

// ParseWaiting reads a record; the empty text is the zero value.
func ParseWaiting(text string) (Waiting, error) {
	var w Waiting
	err := parse(WaitingKey, text, &w)
	return w, err
}

// Format writes the record as its annotation carries it.
func (w Waiting) Format() string {
	w.Message = bounded(w.Message)
	w.Since = w.Since.UTC().Truncate(time.Second)
	return format(w)
}
