// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"fmt"
	"strings"
)

// longestText is how much of an offending text a problem repeats, in bytes.
const longestText = 120

// Problem is one thing that is wrong with a Spec, or worth a warning.
type Problem struct {
	// Field is where, such as windows[2].schedule.
	Field string
	// Text is the offending text, empty where something is missing. It is cut when it is long.
	Text string
	// Message is what is wrong with it.
	Message string
	// Accepted is a form that would be accepted, empty where none can be named.
	Accepted string
}

// Error is the problem in one line: where, what stands there, why not, and what is accepted.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Field + ": ")
	if p.Text != "" {
		fmt.Fprintf(&b, "%q: ", p.Text)
	}
	b.WriteString(p.Message)
	if p.Accepted != "" {
		b.WriteString("; accepted: " + p.Accepted)
	}
	return b.String()
}

// Problems are all that was found, in the order of the Spec. As an error it joins them.
type Problems []Problem

// Error joins the problems with semicolons.
func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, problem := range p {
		texts[i] = problem.Error()
	}
	return strings.Join(texts, "; ")
}

// complaint is a problem that does not know its field yet.
type complaint struct{ text, message, accepted string }

func complain(text, accepted, format string, args ...any) *complaint {
	return &complaint{text: text, message: fmt.Sprintf(format, args...), accepted: accepted}
}

func (c *complaint) at(field string) Problem {
	return Problem{Field: field, Text: cut(c.text), Message: c.message, Accepted: c.accepted}
}

// cut shortens a text that would make a message unreadable.
func cut(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "…"
}
