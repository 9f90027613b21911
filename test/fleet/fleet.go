// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package fleet runs the real programs on a world of real API servers: one hub, management clusters with their engines,
// and workload clusters. What a person would do with kubectl, its methods do with a client.
package fleet

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
)

// Member is a management cluster to make.
type Member struct {
	Name   string
	Engine fleetv1.Engine
	// Labels of its ManagementCluster.
	Labels   map[string]string
	Clusters []build.ClusterSpec
	// MaxConcurrentClusters of its ManagementCluster; 0: none.
	MaxConcurrentClusters int32
}

// Fleet is a hub with its members.
type Fleet struct {
	World   *env.World
	Server  *env.Server
	Members map[string]*env.Management
	// Hub is the administrator's client of the hub; it can watch.
	Hub client.WithWatch

	hub, engine string // paths of the programs
	running     *env.Program
	watching    map[string]client.WithWatch // by member

	mu       sync.Mutex
	clusters map[string]*env.Cluster // by path: "<member>/<namespace>/<name>"
}

// Start makes the world and the members' clusters, builds the programs, and starts the engines of members whose engine
// is Agent. The hub's program starts with StartHub. ctx bounds the start.
func Start(ctx context.Context, log io.Writer, members ...Member) (*Fleet, error) {
	w, err := env.Start(ctx, env.Options{Log: log})
	if err != nil {
		return nil, err
	}
	f := &Fleet{
		World: w, Members: map[string]*env.Management{}, watching: map[string]client.WithWatch{},
		clusters: map[string]*env.Cluster{},
	}
	if err := f.start(ctx, members); err != nil {
		_ = w.Close() // the first error says more
		return nil, err
	}
	return f, nil
}

func (f *Fleet) start(ctx context.Context, members []Member) error {
	servers := make([]*env.Management, len(members))
	var parts errgroup.Group
	parts.Go(func() (err error) { f.Server, err = f.World.Hub(ctx, fleetv1.AddToScheme); return err })
	parts.Go(func() error { _, err := f.World.Workload(ctx); return err })
	parts.Go(func() (err error) {
		if f.hub, err = f.World.Build(ctx, "windlass-hub"); err == nil {
			f.engine, err = f.World.Build(ctx, "windlass-engine")
		}
		return err
	})
	for i, m := range members {
		parts.Go(func() (err error) { servers[i], err = f.World.Management(ctx, m.Name); return err })
	}
	if err := parts.Wait(); err != nil {
		return err
	}
	var err error
	if f.Hub, err = watching(f.Server, fleetv1.AddToScheme); err != nil {
		return err
	}
	for i, m := range members {
		f.Members[m.Name] = servers[i]
		if f.watching[m.Name], err = watching(servers[i].Server, clusterv1.AddToScheme); err != nil {
			return err
		}
		if err := f.populate(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func watching(s *env.Server, add func(*runtime.Scheme) error) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := add(scheme); err != nil {
		return nil, err
	}
	return client.NewWithWatch(s.Config, client.Options{Scheme: scheme})
}

// populate makes the clusters of a member, starts its engine and registers it.
func (f *Fleet) populate(ctx context.Context, m Member) error {
	for _, spec := range m.Clusters {
		if _, err := f.AddCluster(ctx, m.Name, spec); err != nil {
			return err
		}
	}
	if m.Engine == fleetv1.EngineAgent {
		text, err := f.account(ctx, f.Members[m.Name].Server, "windlass-engine", "engine")
		if err != nil {
			return err
		}
		kubeconfig, err := f.store(m.Name, text)
		if err != nil {
			return err
		}
		_, err = f.World.Run("engine-"+m.Name, f.engine, "--kubeconfig="+kubeconfig,
			"--lease-duration="+lease.String(), "--lease-renew-deadline="+renewal.String(),
			"--metrics-bind-address=0", "--health-probe-bind-address=0")
		if err != nil {
			return err
		}
	}
	return f.register(ctx, m)
}

// register makes a ManagementCluster and the Secret with its kubeconfig.
func (f *Fleet) register(ctx context.Context, m Member) error {
	name := metav1.ObjectMeta{Namespace: env.HubNamespace, Name: m.Name, Labels: m.Labels}
	credential, err := f.account(ctx, f.Members[m.Name].Server, "windlass-member", "member")
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: name, Data: map[string][]byte{"kubeconfig": credential}}
	if err := f.Hub.Create(ctx, secret); err != nil {
		return err
	}
	mc := &fleetv1.ManagementCluster{
		ObjectMeta: name,
		Spec: fleetv1.ManagementClusterSpec{
			KubeconfigSecretRef: fleetv1.SecretRef{Name: m.Name}, Engine: m.Engine, Access: fleetv1.AccessUpgrade,
		},
	}
	if m.MaxConcurrentClusters > 0 {
		mc.Spec.MaxConcurrentClusters = &m.MaxConcurrentClusters
	}
	return f.Hub.Create(ctx, mc)
}

// store writes a kubeconfig to a file of the world.
func (f *Fleet) store(name string, kubeconfig []byte) (string, error) {
	path := filepath.Join(f.World.Dir(), name+".kubeconfig")
	return path, os.WriteFile(path, kubeconfig, 0o600)
}

// Leases of the programs. They outlast any pause of a busy machine: nobody starts a program again that lost its own.
const (
	lease   = 2 * time.Minute
	renewal = time.Minute
)

// StartHub starts the hub's program. It may be called again after KillHub: the Lease of the one that was killed counts as
// expired.
func (f *Fleet) StartHub() error {
	ctx := context.Background()
	text, err := f.account(ctx, f.Server, "windlass-hub", "hub", "rbac")
	if err != nil {
		return err
	}
	kubeconfig, err := f.store("hub", text)
	if err != nil {
		return err
	}
	held := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: "windlass-hub"}}
	if err := client.IgnoreNotFound(f.Hub.Delete(ctx, held)); err != nil {
		return fmt.Errorf("letting the hub's Lease expire: %w", err)
	}
	f.running, err = f.World.Run("windlass-hub", f.hub, "--kubeconfig="+kubeconfig, "--hub-id=hub",
		"--probe-interval=1s",
		"--leader-election-lease-duration="+lease.String(), "--leader-election-renew-deadline="+renewal.String(),
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	return err
}

// KillHub ends the hub's program with SIGKILL.
func (f *Fleet) KillHub() { f.running.Kill() }

// Close ends everything.
func (f *Fleet) Close() error { return f.World.Close() }
