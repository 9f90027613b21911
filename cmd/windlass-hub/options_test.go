// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestOptionsThatCannotBeUsedAreNamedWithAnAcceptedForm(t *testing.T) {
	const hub = "--hub-id=hub-eu-1"
	for name, tc := range map[string]struct {
		args []string
		says string
	}{
		"no hub id":             {nil, "--hub-id is missing: it names this hub in the claims that it writes on clusters; accepted: hub-eu-1"},
		"a hub id that is none": {[]string{"--hub-id=Hub EU"}, `--hub-id "Hub EU": `},
		"a lease that ends before it is renewed": {
			[]string{hub, "--leader-election-renew-deadline=20s"}, "20s must be shorter than --leader-election-lease-duration 15s; accepted: 10s and 15s",
		},
		"a kind without a group": {[]string{hub, "--control-plane-kinds=CK8sControlPlane"}, "accepted: CK8sControlPlane.controlplane.cluster.x-k8s.io"},
	} {
		t.Run(name, func(t *testing.T) {
			c := command()
			c.SetArgs(append([]string{"--kubeconfig=/nowhere"}, tc.args...))
			if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("said %v, want %q in it", err, tc.says)
			}
		})
	}
}
