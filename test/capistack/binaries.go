// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capistack

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/windlass-dev/windlass/test/env"
)

// Version of Cluster API whose controllers are built; that of our go.mod and of the nested module binaries.
const Version = "v1.14.2"

// Names of the programs.
const (
	core         = "core"
	bootstrap    = "kubeadm-bootstrap"
	controlPlane = "kubeadm-control-plane"
	infra        = "inmemory"
)

func recipes() []env.Recipe {
	flags := []string{"-ldflags", "-s -w"}
	const library = "sigs.k8s.io/cluster-api/"
	return []env.Recipe{
		{Name: core, Package: library + "core", Flags: flags, Usual: "4 to 8 minutes"},
		{Name: bootstrap, Package: library + "bootstrap/kubeadm", Flags: flags, Usual: "half a minute after core"},
		{Name: controlPlane, Package: library + "controlplane/kubeadm", Flags: flags, Usual: "1 minute after core"},
		{Name: infra, Package: "./inmemory", Flags: flags, Usual: "2 to 4 minutes after core"},
	}
}

// Binaries returns the folder of Cluster API's controllers, below bin/ of the repository, where they are built once from
// the Go module proxy. Progress goes to log.
func Binaries(ctx context.Context, log io.Writer) (string, error) {
	root, err := env.RepositoryRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "capi", Version)
	err = env.Build(ctx, filepath.Join(root, "test", "capistack", "binaries"), dir, log, recipes()...)
	if err != nil {
		return "", fmt.Errorf("building Cluster API %s: %w", Version, err)
	}
	return dir, nil
}
