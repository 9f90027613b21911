// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// KubernetesVersion is the version of kube-apiserver that is built; another patch release of its minor is used too.
const KubernetesVersion = "v1.36.3"

const module = "module github.com/windlass-dev/windlass\n"

// Search finds a folder that holds etcd and kube-apiserver, or makes one.
type Search struct {
	// Root is the folder of the repository. Empty: found from the working directory upwards.
	Root string
	// Getenv reads the environment. Nil: os.Getenv.
	Getenv func(string) string
	// Store is where setup-envtest keeps its binaries. Empty: its default.
	Store string
	// Log receives what is built and how far it is. Nil: discarded.
	Log io.Writer
	// Build makes both binaries in dir when there are none. Nil: from the Go module proxy.
	Build func(ctx context.Context, root, dir string, log io.Writer) error
}

// Binaries returns a folder that holds etcd and kube-apiserver: that of KUBEBUILDER_ASSETS where it is set, else the
// newest v1.36 in setup-envtest's store, else bin/ of the repository, where they are built once (say 10 minutes).
// Progress goes to standard error.
func Binaries(ctx context.Context) (string, error) {
	return Search{Log: os.Stderr}.Dir(ctx)
}

// Dir returns the folder. A KUBEBUILDER_ASSETS that lacks a binary is an error: it was set on purpose.
func (s Search) Dir(ctx context.Context) (string, error) {
	s = s.withDefaults()
	if dir := s.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		if err := complete(dir); err != nil {
			return "", fmt.Errorf("KUBEBUILDER_ASSETS: %w", err)
		}
		return dir, nil
	}
	if dir := s.stored(); dir != "" {
		return dir, nil
	}
	root, err := s.root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "k8s", KubernetesVersion)
	if complete(dir) == nil {
		return dir, nil
	}
	if err := s.Build(ctx, root, dir, s.Log); err != nil {
		return "", err
	}
	return dir, complete(dir)
}

func (s Search) withDefaults() Search {
	if s.Getenv == nil {
		s.Getenv = os.Getenv
	}
	if s.Log == nil {
		s.Log = io.Discard
	}
	if s.Build == nil {
		s.Build = buildBinaries
	}
	if s.Store == "" {
		s.Store, _ = envtest.SetupEnvtestDefaultBinaryAssetsDirectory() // no home, no store
	}
	return s
}

// stored is the newest complete folder of our minor version in setup-envtest's store, empty if there is none. They are
// named <version>-<os>-<arch>.
func (s Search) stored() string {
	want := semver.MustParse(KubernetesVersion)
	type found struct {
		version *semver.Version
		dir     string
	}
	dirs, _ := filepath.Glob(filepath.Join(s.Store, "*-"+runtime.GOOS+"-"+runtime.GOARCH))
	var all []found
	for _, dir := range dirs {
		name := filepath.Base(dir)
		v, err := semver.NewVersion(name[:len(name)-len("-"+runtime.GOOS+"-"+runtime.GOARCH)])
		if err != nil || v.Major() != want.Major() || v.Minor() != want.Minor() || complete(dir) != nil {
			continue
		}
		all = append(all, found{v, dir})
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b found) int { return a.version.Compare(b.version) }).dir
}

func (s Search) root() (string, error) {
	if s.Root != "" {
		return s.Root, nil
	}
	return RepositoryRoot()
}

// RepositoryRoot is the folder of our go.mod, at or above the working directory.
func RepositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && len(mod) >= len(module) && string(mod[:len(module)]) == module {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the Windlass repository: no go.mod of it in this folder or above")
		}
		dir = parent
	}
}

// complete says what dir lacks.
func complete(dir string) error {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if info.IsDir() || info.Mode()&0o111 == 0 {
			return fmt.Errorf("%s is not a program", filepath.Join(dir, name))
		}
	}
	return nil
}
