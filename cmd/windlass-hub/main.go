// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command windlass-hub upgrades a fleet: it watches management clusters, carries out rollout policies and reports the
// whole fleet's state on the hub.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	if err := command().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "windlass-hub:", err)
		os.Exit(1)
	}
}
