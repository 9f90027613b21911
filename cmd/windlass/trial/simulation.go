// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	"github.com/windlass-dev/windlass/cmd/windlass/rehearse"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Simulation plays a policy over an inventory.
type Simulation struct {
	Common
	// Events is a file with what befalls the fleet; empty: nothing does.
	Events string
	// Until is when to stop at the latest: a date or an instant, empty: a year later.
	Until string
	// Approve takes approvals as given as soon as they are asked for.
	Approve bool
	// SVG is the file to draw the calendar into; empty: none.
	SVG string
	// Log prints every change, too.
	Log bool
	// MustSucceed makes an error of every other end.
	MustSucceed bool
}

// UnsuccessfulError says how a rollout ends that must succeed and does not.
type UnsuccessfulError struct{ Phase, Message string }

// Error says it in a sentence.
func (e *UnsuccessfulError) Error() string {
	return "--must-succeed: it ends " + e.Phase + ": " + e.Message
}

// Run plays it and prints what became of it. now stands for an absent From.
func (s Simulation) Run(out io.Writer, now time.Time) error {
	if len(s.Files) == 0 {
		return errNoFiles
	}
	set, err := s.setting(now)
	if err != nil {
		return err
	}
	until, err := instant("--until", s.Until, set.zone, time.Time{})
	if err != nil {
		return err
	}
	if !until.IsZero() && !until.After(set.from) {
		return fmt.Errorf("--until %s is not after --from %s", until.Format(time.RFC3339), set.from.Format(time.RFC3339))
	}
	objects, err := files.Read(s.Stdin, s.Files...)
	if err != nil {
		return err
	}
	r, err := s.rehearsal(objects, set.from)
	if err != nil {
		return err
	}
	play := rehearse.Play{From: set.from, Until: until, Zone: set.zone, Approved: s.Approve}
	if s.Events != "" {
		if play.Script, err = r.Script(s.Events); err != nil {
			return err
		}
	}
	return s.tell(out, r, r.Run(play), set.zone)
}

func (s Simulation) tell(out io.Writer, r *rehearse.Rehearsal, t *rehearse.Trial, zone *time.Location) error {
	if s.SVG != "" {
		if err := draw(s.SVG, r, t); err != nil {
			return err
		}
	}
	if s.Log {
		for _, e := range t.Story() {
			line := e.Text
			if e.Who != "" {
				line = e.Who + " " + line
			}
			if _, err := fmt.Fprintf(out, "%s  %s\n", e.At.In(zone).Format("2006-01-02 15:04"), line); err != nil {
				return err
			}
		}
	}
	o := r.Outlook(t)
	if err := s.print(out, o, zone); err != nil {
		return err
	}
	switch {
	case !s.MustSucceed || o.Phase == string(fleetv1.RolloutSucceeded):
		return nil
	case o.EndedAt.IsZero():
		return &UnsuccessfulError{"in " + o.Phase + ", unfinished", cmp.Or(o.Stopped, o.Message)}
	}
	return &UnsuccessfulError{o.Phase, o.Message}
}

func draw(name string, r *rehearse.Rehearsal, t *rehearse.Trial) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	return errors.Join(r.Chart(t).SVG(file), file.Close())
}
