// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"errors"
	"fmt"
)

// Class says whether a request that failed can have had an effect.
type Class string

// The classes. An error of no class counts as Unknown.
const (
	// NotSent: the node has certainly not seen the request.
	NotSent Class = "NotSent"
	// Rejected: k8sd answered with an error and did nothing.
	Rejected Class = "Rejected"
	// Unknown: the request was sent and its answer lost.
	Unknown Class = "Unknown"
)

// Error is what went wrong with one call.
type Error struct {
	Class Class
	// Code is the HTTP status, 0 when there was no answer.
	Code int
	// Text is k8sd's own, where it had one.
	Text string
	// Err says it for people; it never holds a token.
	Err error
}

// Error says what went wrong, in bounded length.
func (e *Error) Error() string { return clipped(e.Err.Error()) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of an error: when in doubt, Unknown.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Unknown
}

// IsNotSent reports whether the node has certainly not seen the request.
func IsNotSent(err error) bool { return err != nil && ClassOf(err) == NotSent }

// IsRejected reports whether k8sd answered with an error.
func IsRejected(err error) bool { return err != nil && ClassOf(err) == Rejected }

// IsUnknown reports whether the request may have had its effect.
func IsUnknown(err error) bool { return err != nil && ClassOf(err) == Unknown }

func notSent(err error) error { return &Error{Class: NotSent, Err: err} }

func unknown(code int, err error) error { return &Error{Class: Unknown, Code: code, Err: err} }

func rejected(code int, text, format string, args ...any) error {
	return &Error{Class: Rejected, Code: code, Text: text, Err: fmt.Errorf(format, args...)}
}
