// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package env makes a world of real parts on one machine: one etcd, real API servers for the hub, for management
// clusters with Cluster API's kinds and for workload clusters, and on each node of those a kubelet endpoint that leads
// to a simulated k8sd. It serves tests and programs alike, and leaves nothing behind.
package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/windlass-dev/windlass/test/k8sd"
)

// HubNamespace is where the hub's objects live.
const HubNamespace = "fleet"

// Options of a World. The zero value is valid.
type Options struct {
	// Log receives progress: what is built or started. Nil: discarded.
	Log io.Writer
	// Dir holds logs, certificates and etcd's data, and stays after Close. Empty: a temporary folder that goes.
	Dir string
	// HubCRDs is the folder of the hub's CRDs. Empty: config/crd/bases of the repository.
	HubCRDs string
	// Clock of the simulated k8sd. Nil: the real one.
	Clock clock.Clock
}

// World is one etcd and what runs on it. Its methods may be called in parallel, which is quicker.
type World struct {
	opts     Options
	root     string // of the repository
	dir      string
	binaries string
	id       *identity
	etcd     string
	sim      *k8sd.Simulator
	table    *nodeTable
	shared   workloadOnce

	mu      sync.Mutex
	closers []func() error
}

// workloadOnce is the workload API server that clusters share, started by the first who asks.
type workloadOnce struct {
	mu     sync.Mutex
	server *workload
}

// Start makes an empty world. ctx bounds the start; the world lives until Close, or this process's end.
func Start(ctx context.Context, opts Options) (*World, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	w := &World{opts: opts, table: newNodeTable()}
	if err := w.start(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *World) start(ctx context.Context) error {
	var err error
	if w.root, err = RepositoryRoot(); err != nil {
		return err
	}
	if w.binaries, err = (Search{Root: w.root, Log: w.opts.Log}).Dir(ctx); err != nil {
		return fmt.Errorf("finding etcd and kube-apiserver: %w", err)
	}
	if err := w.makeDir(); err != nil {
		return err
	}
	if w.id, err = newIdentity(w.dir); err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	w.sim, err = k8sd.New(k8sd.Options{Nodes: w.table, Clock: w.opts.Clock, Log: w.opts.Log})
	if err != nil {
		return err
	}
	w.onClose(func() error { w.sim.Close(); return nil })
	return onFreePorts(2, func(ports []int) error { return w.startEtcd(ctx, ports[0], ports[1]) })
}

func (w *World) makeDir() error {
	if w.dir = w.opts.Dir; w.dir != "" {
		return os.MkdirAll(w.dir, 0o755)
	}
	dir, err := os.MkdirTemp("", "windlass-world-")
	if err != nil {
		return err
	}
	w.dir = dir
	w.onClose(func() error { return os.RemoveAll(dir) })
	return nil
}

func (w *World) startEtcd(ctx context.Context, clientPort, peerPort int) error {
	w.etcd = fmt.Sprintf("http://127.0.0.1:%d", clientPort)
	peer := fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	p, err := start("etcd", filepath.Join(w.dir, "etcd.log"), filepath.Join(w.binaries, "etcd"),
		"--data-dir="+filepath.Join(w.dir, fmt.Sprintf("etcd-%d", clientPort)), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+w.etcd, "--advertise-client-urls="+w.etcd,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	if err != nil {
		return err
	}
	err = p.waitFor(ctx, func(ctx context.Context) error { return answers(ctx, http.DefaultClient, w.etcd+"/health") })
	if err != nil {
		p.kill()
		return err
	}
	w.onClose(func() error { p.kill(); return nil })
	return nil
}

// answers says why url does not answer 200 within 5 seconds.
func answers(ctx context.Context, c *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}

// Close ends all that was started, last first, and removes what is temporary. A second Close does nothing.
func (w *World) Close() error {
	w.mu.Lock()
	closers := w.closers
	w.closers = nil
	w.mu.Unlock()
	var errs []error
	for i := range closers {
		errs = append(errs, closers[len(closers)-1-i]())
	}
	return errors.Join(errs...)
}

func (w *World) onClose(f func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closers = append(w.closers, f)
}

// Sim is the simulated k8sd of all nodes of this world, by node name (Cluster.Node).
func (w *World) Sim() *k8sd.Simulator { return w.sim }

// Dir holds the log of each process.
func (w *World) Dir() string { return w.dir }

// Hub starts an API server with the hub's CRDs, its admission policies and the namespace "fleet". Its Client knows the
// kinds that the schemes add, beside those of Kubernetes.
func (w *World) Hub(ctx context.Context, schemes ...func(*runtime.Scheme) error) (*Server, error) {
	folder := w.opts.HubCRDs
	if folder == "" {
		folder = filepath.Join(w.root, "config", "crd", "bases")
	}
	crds, err := readCRDs(folder, "*.yaml")
	if err != nil {
		return nil, err
	}
	s, err := w.APIServer(ctx, "hub", schemes...)
	if err != nil {
		return nil, err
	}
	if err := s.install(ctx, crds); err != nil {
		return nil, fmt.Errorf("installing the hub's kinds: %w", err)
	}
	if err := s.ensureNamespace(ctx, HubNamespace); err != nil {
		return nil, err
	}
	if w.opts.HubCRDs != "" {
		return s, nil // the policies go with the CRDs of the repository
	}
	return s, s.guard(ctx, w.root)
}

// Workload returns the API server that all workload clusters share but those that are their Own.
func (w *World) Workload(ctx context.Context) (*Server, error) {
	s, err := w.sharedWorkload(ctx)
	if err != nil {
		return nil, err
	}
	return s.Server, nil
}

func (w *World) sharedWorkload(ctx context.Context) (*workload, error) {
	w.shared.mu.Lock()
	defer w.shared.mu.Unlock()
	if w.shared.server != nil {
		return w.shared.server, nil
	}
	s, err := w.startWorkload(ctx, "workload")
	if err == nil {
		w.shared.server = s
	}
	return s, err
}

func (s *Server) ensureNamespace(ctx context.Context, name string) error {
	err := s.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
