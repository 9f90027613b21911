// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"io"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
)

// lines shows one line per change, for logs and pipes.
type lines struct{ out io.Writer }

func (l lines) show(_ report.Report, changes []report.Change) error {
	for _, c := range changes {
		if err := l.tell(c); err != nil {
			return err
		}
	}
	return nil
}

func (l lines) tell(c report.Change) error {
	_, err := fmt.Fprintln(l.out, c)
	return err
}

func (l lines) close() {}
