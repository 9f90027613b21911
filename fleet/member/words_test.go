// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"errors"
	"testing"
)

// TestLaw18AnErrorThatIsTheSameReadsTheSame: our port is another with each connection, and a message that changes is a status
// that is written, of the member and of each of its clusters.
func TestLaw18AnErrorThatIsTheSameReadsTheSame(t *testing.T) {
	for text, want := range map[string]string{
		`Get "https://10.0.0.1:6443/version": read tcp 10.1.2.3:50924->10.0.0.1:6443: read: connection reset by peer`: `Get "https://10.0.0.1:6443/version": read tcp 10.0.0.1:6443: read: connection reset by peer`,
		"write tcp [fd00::1]:50924->[fd00::2]:6443: broken pipe":                                                      "write tcp [fd00::2]:6443: broken pipe",
		"lookup eu on 10.0.0.10:53: read udp 10.1.2.3:4567->10.0.0.10:53: i/o timeout":                                "lookup eu on 10.0.0.10:53: read udp 10.0.0.10:53: i/o timeout",
		"dial tcp 10.0.0.1:6443: connect: connection refused":                                                         "dial tcp 10.0.0.1:6443: connect: connection refused",
	} {
		if got := words(errors.New(text)); got != want {
			t.Errorf("%s\nreads %s", text, got)
		}
	}
}
