// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"strings"
)

// Option is the kind of a target.
type Option string

// The options of the grammar; case counts.
const (
	Channel   Option = "channel"
	Revision  Option = "revision"
	LocalPath Option = "localPath"
)

// Target is what to upgrade to: an option and its value, written "channel=1.33-classic/stable". The zero value is
// no target.
type Target struct {
	Option Option
	Value  string
}

// ParseTarget reads a target. Nothing is trimmed, the option's case counts, and neither side may be empty; a value
// with a second "=" is refused as the existing controllers refuse it.
func ParseTarget(text string) (Target, error) {
	option, value, found := strings.Cut(text, "=")
	t := Target{Option: Option(option), Value: value}
	switch {
	case !found, strings.Contains(value, "="):
		return Target{}, targetError(text, "exactly one \"=\" is needed")
	case value == "":
		return Target{}, targetError(text, "the value is empty")
	}
	switch t.Option {
	case Channel, Revision, LocalPath:
		return t, nil
	default:
		return Target{}, targetError(text, fmt.Sprintf("unknown option %q", option))
	}
}

// String writes the target as annotations carry it; the zero value is "".
func (t Target) String() string {
	if t == (Target{}) {
		return ""
	}
	return string(t.Option) + "=" + t.Value
}

func targetError(text, why string) error {
	return fmt.Errorf("target %q: %s; accepted: channel=1.33-classic/stable, revision=640, localPath=/path/k8s.snap",
		text, why)
}
