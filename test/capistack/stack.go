// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package capistack runs the real Cluster API on one machine: its core, kubeadm bootstrap and kubeadm control plane
// controllers and the in-memory infrastructure provider, as the programs that they are, on a real API server, with their
// webhooks. What it adds are the nodes' k8sd, which Cluster API does not know. README.md says what it takes.
package capistack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
)

// namespace is where the controllers would run.
const namespace = "capi-system"

// Stack is a management cluster with Cluster API.
type Stack struct {
	*env.Server

	world    *env.World
	dir      string
	certs    string
	ca       []byte
	sim      *k8sd.Simulator
	front    *front
	nodes    *nodes
	programs map[string]*env.Program
}

// Start starts a management cluster in a world and returns when its controllers are ready and its webhooks answer,
// after some 10 seconds. Its name must be new in this world.
func Start(ctx context.Context, w *env.World, name string) (*Stack, error) {
	bin, err := Binaries(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	s := &Stack{world: w, dir: filepath.Join(w.Dir(), name+"-capi"), programs: map[string]*env.Program{}}
	s.certs = filepath.Join(s.dir, "certs")
	if err := os.MkdirAll(s.certs, 0o755); err != nil {
		return nil, err
	}
	if s.ca, err = writeCertificate(s.certs); err != nil {
		return nil, fmt.Errorf("making the webhooks' certificate: %w", err)
	}
	s.Server, err = w.APIServer(ctx, name, addToScheme)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx, bin); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func addToScheme(s *runtime.Scheme) error {
	return errors.Join(clusterv1.AddToScheme(s), controlplanev1.AddToScheme(s))
}

func (s *Stack) start(ctx context.Context, bin string) error {
	providers, err := s.providers(ctx)
	if err != nil {
		return err
	}
	if err := s.install(ctx, providers); err != nil {
		return fmt.Errorf("installing Cluster API's kinds: %w", err)
	}
	kubeconfig := filepath.Join(s.dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, s.Kubeconfig(), 0o600); err != nil {
		return err
	}
	for _, p := range providers {
		args := append(p.args(), "--kubeconfig="+kubeconfig, "--webhook-cert-dir="+s.certs)
		if s.programs[p.name], err = s.world.Run(s.Name+"-"+p.name, filepath.Join(bin, p.name), args...); err != nil {
			return err
		}
	}
	var ready errgroup.Group
	for _, p := range providers {
		ready.Go(func() error { return s.awaitReady(ctx, p) })
	}
	if err := ready.Wait(); err != nil {
		return err
	}
	if err := s.admission(ctx, providers); err != nil {
		return fmt.Errorf("installing Cluster API's webhooks: %w", err)
	}
	return s.startNodes()
}

// awaitReady waits until a program's webhooks answer, or it has ended.
func (s *Stack) awaitReady(ctx context.Context, p provider) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := ready(ctx, p.health)
		if err == nil {
			return nil
		}
		if ended := s.programs[p.name].Ended(); ended != nil {
			return ended
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %w", p.name, ctx.Err(), err)
		}
	}
}

func ready(ctx context.Context, port int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", port), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz answers %s", resp.Status)
	}
	return nil
}

// Sim is the simulated k8sd of all nodes of this stack, by node name, which is the machine's name here.
func (s *Stack) Sim() *k8sd.Simulator { return s.sim }

// Ended reports the first of the controllers that has ended by itself, nil while all run.
func (s *Stack) Ended() error {
	for _, p := range s.programs {
		if err := p.Ended(); err != nil {
			return err
		}
	}
	return nil
}

// Close stops what runs in this process. The programs end with the world.
func (s *Stack) Close() error {
	if s.nodes != nil {
		s.nodes.stop()
	}
	if s.front != nil {
		s.front.close()
	}
	if s.sim != nil {
		s.sim.Close()
	}
	for _, p := range s.programs {
		p.Kill()
	}
	return nil
}

// freePorts returns ports that were free just now.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer func() { _ = l.Close() }() // not before all are chosen, else one comes twice
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
