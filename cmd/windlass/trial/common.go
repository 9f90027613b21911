// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	"github.com/windlass-dev/windlass/cmd/windlass/form"
	"github.com/windlass-dev/windlass/cmd/windlass/rehearse"
)

// Common are the settings that both have.
type Common struct {
	// Files and folders with the policy and the inventory; "-" is Stdin.
	Files []string
	Stdin io.Reader
	// Policy by name; empty: the only one.
	Policy string
	// From is when it begins: a date or an instant, empty: now.
	From string
	// Zone of dates that are given and of what is printed.
	Zone string
	// Output is text, json or yaml; empty: text.
	Output string
	// HubNamespace whose Freezes cover every namespace.
	HubNamespace string
}

// setting is what Common comes to.
type setting struct {
	zone *time.Location
	from time.Time
}

func (c Common) setting(now time.Time) (setting, error) {
	if err := form.Check(c.Output, "text"); err != nil {
		return setting{}, err
	}
	zone, err := time.LoadLocation(c.Zone)
	if err != nil || c.Zone == "" || c.Zone == "Local" {
		return setting{}, fmt.Errorf("--zone %q is no time zone; accepted: a region such as Europe/Berlin, or UTC", c.Zone)
	}
	from, err := instant("--from", c.From, zone, now.UTC().Truncate(time.Second))
	return setting{zone, from}, err
}

// rehearsal plans the policy that is meant.
func (c Common) rehearsal(objects *files.Objects, from time.Time) (*rehearse.Rehearsal, error) {
	return rehearse.New(objects, rehearse.Options{Policy: c.Policy, HubNamespace: c.HubNamespace, At: from})
}

// readable can be printed for people.
type readable interface {
	Text(w io.Writer, zone *time.Location) error
}

func (c Common) print(out io.Writer, r readable, zone *time.Location) error {
	return form.Print(out, c.Output, r, func(out io.Writer) error { return r.Text(out, zone) })
}

// instant reads a date or an instant; an empty text stands for the default.
func instant(flag, text string, zone *time.Location, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s %q is neither a date nor an instant; accepted: 2026-12-01, 2026-12-01T02:00, 2026-12-01T02:00:00Z",
		flag, text)
}

var errNoFiles = errors.New("--filename: no file is given; accepted: -f policy.yaml -f inventory.yaml")
