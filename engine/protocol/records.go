// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Plan is what the engine needs beyond the target; it stands on an owner as JSON under PlanKey. Absent fields mean
// the defaults named here.
type Plan struct {
	// ExpectedVersion is what done means: a kubelet of this minor and not older. Empty: any version.
	ExpectedVersion string `json:"expectedVersion,omitempty"`
	// Timeout bounds one attempt, from the refresh to its end. Default 30m.
	Timeout Duration `json:"timeout,omitzero"`
	// MaxAttempts bounds refreshes of one machine for one target. Default 3.
	MaxAttempts int `json:"maxAttempts,omitzero"`
	// Backoff is the pause after the first failed attempt; it doubles with each further one. Default 1m.
	Backoff Duration `json:"backoff,omitzero"`
	// MaxConcurrentMachines bounds the workers of this owner that are upgraded at once. Default 1. A control plane
	// is always one at a time.
	MaxConcurrentMachines int `json:"maxConcurrentMachines,omitzero"`
	// AllowSingleControlPlane lets a control plane of one machine be upgraded, which makes it unavailable meanwhile.
	AllowSingleControlPlane bool `json:"allowSingleControlPlane,omitzero"`
	// Drain empties each node before its refresh. Absent: nodes are not drained.
	Drain *Drain `json:"drain,omitempty"`
}

// Drain says how a node is emptied.
type Drain struct {
	// Timeout bounds the drain of one node, apart from its refresh. Default 10m.
	Timeout Duration `json:"timeout,omitzero"`
}

// Defaults of a Plan.
const (
	DefaultTimeout      = 30 * time.Minute
	DefaultMaxAttempts  = 3
	DefaultBackoff      = time.Minute
	DefaultDrainTimeout = 10 * time.Minute
)

// WithDefaults fills absent fields.
func (p Plan) WithDefaults() Plan {
	if p.Timeout <= 0 {
		p.Timeout = Duration(DefaultTimeout)
	}
	if p.MaxAttempts <= 0 {
		p.MaxAttempts = DefaultMaxAttempts
	}
	if p.Backoff <= 0 {
		p.Backoff = Duration(DefaultBackoff)
	}
	p.MaxConcurrentMachines = max(p.MaxConcurrentMachines, 1)
	if p.Drain != nil && p.Drain.Timeout <= 0 {
		p.Drain = &Drain{Timeout: Duration(DefaultDrainTimeout)}
	}
	return p
}

// ParsePlan reads a plan; the empty text is the plan of all defaults. Unknown fields are refused: a misspelt limit
// must not be a missing one (law 21).
func ParsePlan(text string) (Plan, error) {
	var p Plan
	if err := parse(PlanKey, text, &p); err != nil {
		return Plan{}, err
	}
	return p.WithDefaults(), nil
}

// Format writes the plan as its annotation carries it.
func (p Plan) Format() string { return format(p) }

// Attempt is what the engine remembers of a machine's upgrade, as JSON under AttemptKey. It is written before a
// refresh is sent, so that a crash in between is visible and never leads to a second refresh.
type Attempt struct {
	// Target is what the refresh was, or will be, sent for.
	Target string `json:"target"`
	// Count is the number of attempts so far, this one included.
	Count int `json:"count"`
	// From is the kubelet version before the first attempt.
	From string `json:"from,omitempty"`
	// SentAt is when this attempt's refresh was about to be sent. Zero: not yet.
	SentAt time.Time `json:"sentAt,omitzero"`
	// LastError is what ended the attempt before, in k8sd's words where it had any. At most 512 bytes.
	LastError string `json:"lastError,omitempty"`
	// FailedAt is when the last attempt failed.
	FailedAt time.Time `json:"failedAt,omitzero"`
	// Quarantined: attempts are used up; only a new target or plan starts another (law 12).
	Quarantined bool `json:"quarantined,omitzero"`
}

// maxLastError bounds what an annotation carries of a foreign text.
const maxLastError = 512

// ParseAttempt reads an attempt; the empty text is the zero value.
func ParseAttempt(text string) (Attempt, error) {
	var a Attempt
	err := parse(AttemptKey, text, &a)
	return a, err
}

// Format writes the attempt as its annotation carries it.
func (a Attempt) Format() string {
	a.LastError = bounded(a.LastError)
	return format(a)
}

// bounded cuts a foreign text to what an annotation carries of it.
func bounded(text string) string {
	const ellipsis = "..."
	if len(text) <= maxLastError {
		return text
	}
	return strings.ToValidUTF8(text[:maxLastError-len(ellipsis)], "") + ellipsis
}

// FormatStartBefore writes the instant for StartBeforeKey, in UTC and whole seconds.
func FormatStartBefore(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ParseStartBefore reads a StartBeforeKey annotation.
func ParseStartBefore(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s %q: not an instant; accepted: 2026-12-01T02:00:00Z", StartBeforeKey, text)
	}
	return t, nil
}

// Duration is a time.Duration that JSON carries as text ("30m0s").
type Duration time.Duration

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads, and nothing negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("duration %q: accepted: 90s, 30m, 1h30m", text)
	}
	*d = Duration(v)
	return nil
}

func parse(key, text string, into any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("annotation %s %q: %w", key, text, err)
	}
	if d.More() {
		return fmt.Errorf("annotation %s %q: text after the JSON object", key, text)
	}
	return nil
}

func format(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // the records hold nothing that JSON cannot carry, except years past 9999
		return "{}"
	}
	return string(text)
}
