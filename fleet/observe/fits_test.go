// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"testing"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/policy/version"
)

// The engine's proof and the plan's judgement are two functions, since neither side may import the other. They must
// agree, or a cluster would be planned that is never proven, or the other way round (law 3).
func TestPlanAndProofAgreeOnWhatFits(t *testing.T) {
	texts := []string{
		"", "x", "v1", "v1.33", "1.33", "v1.32.11", "v1.33.0", "v1.33.8", "v1.33.9", "1.33.9", "v1.33.10", "v1.34.0", "v2.33.9",
		"v1.33.9-rc.1", "v1.33.9-alpha.0", "v1.33.10-rc.0", "v1.33.9+build.1", "v1.33.9-gke.1",
		"v1.33.8-eks-5e0fdde", "v1.33.9-canonical+abc",
	}
	for _, kubelet := range texts {
		for _, want := range texts {
			if proof, plan := capi.Fits(kubelet, want), version.Fits(kubelet, want); proof != plan {
				t.Errorf("kubelet %q, wanted %q: proof says %t, plan says %t", kubelet, want, proof, plan)
			}
		}
	}
}

func TestAReleaseCandidateIsOlderThanItsRelease(t *testing.T) {
	if capi.Fits("v1.33.9-rc.1", "v1.33.9") {
		t.Error("v1.33.9-rc.1 is taken for v1.33.9 (law 3)")
	}
}
