// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"io"
	"time"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
)

// lines shows one line per change, for logs and pipes.
type lines struct {
	out io.Writer
	now func() time.Time
	// said last about the connection.
	said string
}

func (l *lines) show(_ report.Report, changes []report.Change) error {
	l.said = ""
	for _, c := range changes {
		if _, err := fmt.Fprintln(l.out, c); err != nil {
			return err
		}
	}
	return nil
}

// warn says the same thing once.
func (l *lines) warn(text string) {
	if text == l.said {
		return
	}
	l.said = text
	// A reader that is gone is found by the next line of show.
	_, _ = fmt.Fprintln(l.out, report.Change{Time: l.now(), Subject: "hub", Phase: "Unreachable", Why: text})
}

func (l *lines) close() {}
