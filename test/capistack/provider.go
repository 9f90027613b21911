// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capistack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
)

// gates must be the same in all programs. Without the limit of one look per second and object a suite takes half the
// time; what the controllers do is the same.
const gates = "ReconcilerRateLimiting=false"

// workloadPorts is how many ports the in-memory provider may give to workload clusters, one for each and one more.
const workloadPorts = 100

// provider is one program of the stack.
type provider struct {
	name string
	// config is the folder of its CRDs and webhooks in its module.
	config string
	// kinds are the CRDs' files in that folder.
	kinds string

	webhooks, health int
	extra            []string
}

func (p provider) args() []string {
	return append([]string{
		fmt.Sprintf("--webhook-port=%d", p.webhooks), fmt.Sprintf("--health-addr=127.0.0.1:%d", p.health),
		"--feature-gates=" + gates, "--v=2",
	}, p.extra...)
}

// providers finds ports and the modules' folders.
func (s *Stack) providers(ctx context.Context) ([]provider, error) {
	dirs, err := moduleDirs(ctx, filepath.Join(s.world.Root(), "test", "capistack", "binaries"),
		"sigs.k8s.io/cluster-api", "sigs.k8s.io/cluster-api/test")
	if err != nil {
		return nil, err
	}
	capi, test := dirs[0], dirs[1]
	quiet := []string{"--diagnostics-address=0", "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields"}
	workload, err := freeRange(workloadPorts)
	if err != nil {
		return nil, err
	}
	providers := []provider{
		{name: core, config: filepath.Join(capi, "core", "config"), kinds: "*.yaml", extra: quiet},
		{name: bootstrap, config: filepath.Join(capi, "bootstrap", "kubeadm", "config"), kinds: "*.yaml", extra: quiet},
		{name: controlPlane, config: filepath.Join(capi, "controlplane", "kubeadm", "config"), kinds: "*.yaml", extra: quiet},
		{
			name: infra, config: filepath.Join(test, "infrastructure", "docker", "config"), kinds: "*_dev*.yaml",
			extra: []string{fmt.Sprintf("--workload-port=%d", workload)},
		},
	}
	ports, err := freePorts(2 * len(providers))
	if err != nil {
		return nil, err
	}
	for i := range providers {
		providers[i].webhooks, providers[i].health = ports[2*i], ports[2*i+1]
	}
	return providers, nil
}

// moduleDirs are where the go command keeps the sources of modules that the module in dir requires.
func moduleDirs(ctx context.Context, dir string, paths ...string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"mod", "download", "-json"}, paths...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("finding modules %s: %w\n%s", strings.Join(paths, ", "), err, out)
	}
	found := map[string]string{}
	modules := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var m struct{ Path, Dir string }
		if err := modules.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("finding modules: %w", err)
		}
		found[m.Path] = m.Dir
	}
	var dirs []string
	for _, p := range paths {
		if found[p] == "" {
			return nil, fmt.Errorf("module %s has no folder", p)
		}
		dirs = append(dirs, found[p])
	}
	return dirs, nil
}

// freeRange returns the first of n neighbouring ports that were free just now, below those that the system gives out.
func freeRange(n int) (int, error) {
	const first, last, attempts = 20000, 32000, 50
	for range attempts {
		start := first + rand.IntN(last-first-n)
		if allFree(start, n) {
			return start, nil
		}
	}
	return 0, fmt.Errorf("no %d neighbouring ports are free between %d and %d", n, first, last)
}

func allFree(start, n int) bool {
	for port := start; port < start+n; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
