// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"testing"

	"github.com/windlass-dev/windlass/engine/protocol"
)

// What is refused here ends a machine's upgrade at once, with the reason; the rest is what the existing controllers send
// too, and k8sd refuses it or does not. Admission of the hub is stricter.
func TestC118_WhatTheEngineTakesForATarget(t *testing.T) {
	for text, good := range map[string]bool{
		"channel=1.33-classic/stable": true,
		"revision=640":                true,
		"localPath=/a/b.snap":         true,
		"localPath=/a=b.snap":         false,
		"channel=":                    false,
		"Channel=1.33":                false,
		" channel=1.33":               false,
		"channel=1.33-classic/stable revision=640": false, // both
		"":                             false,
		"channel":                      false,
		"=1.33":                        false,
		"localPath=rel.snap":           true,
		"channel=1.33-classic/stable ": true,
		"revision=abc":                 true,
	} {
		target, err := protocol.ParseTarget(text)
		if (err == nil) != good {
			t.Errorf("%q: %v, want it accepted: %t", text, err, good)
		}
		if err == nil && target.String() != text {
			t.Errorf("%q becomes %q", text, target)
		}
	}
}
