// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/protocol"
)

// TestLaw17WhatTheEngineWaitsForIsPassedOn: a wait as a wait, what cannot be read by the engine as an error.
func TestLaw17WhatTheEngineWaitsForIsPassedOn(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want [2]string
	}{
		"nothing": {},
		"a wait": {
			protocol.Waiting{Reason: "RolloutRunning", Message: "pool md is replacing its machines"}.Format(),
			[2]string{"RolloutRunning: pool md is replacing its machines", ""},
		},
		"a wait without words": {protocol.Waiting{Reason: "NotReady"}.Format(), [2]string{"NotReady", ""}},
		"a plan that the engine cannot read": {
			protocol.Waiting{Reason: protocol.WaitingInvalid, Message: "annotation windlass.dev/plan: unknown field"}.Format(),
			[2]string{"", "annotation windlass.dev/plan: unknown field"},
		},
		"what is none": {"{", [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			waiting, wrong := waits(c.text)
			if diff := cmp.Diff(c.want, [2]string{waiting, wrong}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
