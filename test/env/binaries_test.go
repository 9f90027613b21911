// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/windlass-dev/windlass/test/env"
)

func TestBinariesAreSearchedInOrder(t *testing.T) {
	stored := func(version string) string { return "store/" + version + "-" + runtime.GOOS + "-" + runtime.GOARCH }
	const repository = "root/bin/k8s/" + env.KubernetesVersion
	for name, test := range map[string]struct {
		have    []string // folders that hold both binaries
		partial []string // folders that hold etcd alone
		assets  string   // KUBEBUILDER_ASSETS
		want    string
		wantErr string
		built   bool
	}{
		"what was set is used before all": {
			have: []string{"assets", stored("1.36.2"), repository}, assets: "assets", want: "assets",
		},
		"what was set and lacks a binary is an error": {
			have: []string{stored("1.36.2"), repository}, partial: []string{"assets"}, assets: "assets",
			wantErr: "KUBEBUILDER_ASSETS",
		},
		"setup-envtest's newest patch release comes next": {
			have: []string{stored("1.36.2"), stored("1.36.10"), repository}, want: stored("1.36.10"),
		},
		"other minors of setup-envtest do not count": {
			have: []string{stored("1.35.9"), stored("1.37.0"), repository}, want: repository,
		},
		"an incomplete folder of setup-envtest does not count": {
			partial: []string{stored("1.36.2")}, have: []string{repository}, want: repository,
		},
		"with nothing there they are built": {want: repository, built: true},
		"with one there the other is built": {partial: []string{repository}, want: repository, built: true},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			for _, dir := range test.have {
				program(t, filepath.Join(base, dir, "etcd"), "")
				program(t, filepath.Join(base, dir, "kube-apiserver"), "")
			}
			for _, dir := range test.partial {
				program(t, filepath.Join(base, dir, "etcd"), "")
			}
			built := false
			s := env.Search{
				Root: filepath.Join(base, "root"), Store: filepath.Join(base, "store"),
				Getenv: func(key string) string {
					if key == "KUBEBUILDER_ASSETS" && test.assets != "" {
						return filepath.Join(base, test.assets)
					}
					return ""
				},
				Build: func(_ context.Context, _, dir string, _ io.Writer) error {
					built = true
					program(t, filepath.Join(dir, "etcd"), "")
					program(t, filepath.Join(dir, "kube-apiserver"), "")
					return nil
				},
			}
			dir, err := s.Dir(t.Context())
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want one that names %s", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(base, test.want); dir != want || built != test.built {
				t.Errorf("found %s (built: %t), want %s (%t)", dir, built, want, test.built)
			}
		})
	}
}

// program writes an executable shell script.
func program(t *testing.T, file, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// playGo replaces the go command: list names two packages, build compiles one and runs the given script with the
// name of the output file in $out.
func playGo(t *testing.T, build string) (search env.Search, log *bytes.Buffer, calls string) {
	t.Helper()
	base := t.TempDir()
	calls = filepath.Join(base, "calls")
	program(t, filepath.Join(base, "tools", "go"), fmt.Sprintf(`
echo "$1" >> %s
if [ "$1" = list ]; then echo go.etcd.io/a; echo go.etcd.io/b; exit; fi
echo "go: downloading go.etcd.io/a v1.0.0" >&2
echo go.etcd.io/a >&2
while [ "$1" != -o ]; do shift; done
out="$2"
%s
`, calls, build))
	t.Setenv("PATH", filepath.Join(base, "tools")+":"+os.Getenv("PATH"))
	root := filepath.Join(base, "root")
	if err := os.MkdirAll(filepath.Join(root, "test", "binaries"), 0o755); err != nil {
		t.Fatal(err)
	}
	log = &bytes.Buffer{}
	return env.Search{
		Root: root, Store: filepath.Join(base, "store"), Getenv: func(string) string { return "" }, Log: log,
	}, log, calls
}

func TestTwoProcessesBuildOnce(t *testing.T) {
	search, _, calls := playGo(t, `printf '#!/bin/sh\n' > "$out"; chmod 755 "$out"`)
	search.Log = nil
	var both errgroup.Group
	for range 2 {
		both.Go(func() error { _, err := search.Dir(t.Context()); return err })
	}
	if err := both.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("list\nbuild\nlist\nbuild\n", string(got)); diff != "" {
		t.Errorf("calls of go (-want +got):\n%s", diff)
	}
}

func TestBuildSaysWhatHowLongAndHowFar(t *testing.T) {
	search, log, _ := playGo(t, `printf '#!/bin/sh\n' > "$out"; chmod 755 "$out"`)
	if _, err := search.Dir(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"building etcd into", "building kube-apiserver into", "usually 5 to 12 minutes", "1 of 2 packages compiled",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

func TestFailedBuildSaysWhyAndLeavesNoBinary(t *testing.T) {
	search, _, _ := playGo(t, `echo half > "$out"; echo "a.go:1:2: undefined: b" >&2; exit 1`)
	_, err := search.Dir(t.Context())
	if err == nil || !strings.Contains(err.Error(), "building etcd") || !strings.Contains(err.Error(), "undefined: b") {
		t.Errorf("error %v, want one with the compiler's words", err)
	}
	left, err := filepath.Glob(filepath.Join(search.Root, "bin", "k8s", "*", "*etcd*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
