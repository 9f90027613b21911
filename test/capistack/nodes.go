// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capistack

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/k8sd"
)

// lookAround is how often new nodes are looked for, in a cache.
const lookAround = 100 * time.Millisecond

// nodes gives each node that Cluster API makes what the bootstrap provider and cloud-init give it: a token in the
// Secret <cluster>-token, an address, and a k8sd that expects the token. It also is where refreshes become visible.
type nodes struct {
	server client.Client
	sim    *k8sd.Simulator
	cache  cache.Cache
	log    io.WriteCloser

	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	known   map[string]node // by name
	configs map[types.NamespacedName]*rest.Config
}

// node is one node of a workload cluster.
type node struct {
	machine types.UID
	cluster types.NamespacedName
}

// startNodes starts the simulated k8sd and the way to it.
func (s *Stack) startNodes() error {
	log, err := os.Create(filepath.Join(s.world.Dir(), s.Name+"-nodes.log"))
	if err != nil {
		return err
	}
	n := &nodes{
		server: s.Client, log: log, known: map[string]node{}, configs: map[types.NamespacedName]*rest.Config{},
	}
	if n.sim, err = k8sd.New(k8sd.Options{Nodes: n, Log: log}); err != nil {
		return errors.Join(err, log.Close())
	}
	s.nodes, s.sim = n, n.sim
	if s.front, err = newFront(n); err != nil {
		return err
	}
	n.cache, err = cache.New(s.Config, cache.Options{Scheme: s.Client.Scheme()})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	n.work.Go(func() { _ = n.cache.Start(ctx) }) // ends with ctx
	n.work.Go(func() { n.run(ctx) })
	return nil
}

func (n *nodes) stop() {
	if n.cancel != nil {
		n.cancel()
	}
	n.work.Wait()
	_ = n.log.Close() // what it says after this is of no use
}

func (n *nodes) run(ctx context.Context) {
	again := time.NewTicker(lookAround)
	defer again.Stop()
	for {
		if err := n.look(ctx); err != nil && ctx.Err() == nil {
			_, _ = fmt.Fprintf(n.log, "nodes: %v\n", err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// look adds the nodes of machines that have one since, and removes those whose machine is gone.
func (n *nodes) look(ctx context.Context) error {
	var machines clusterv1.MachineList
	if err := n.cache.List(ctx, &machines); err != nil {
		return err
	}
	there := map[types.UID]bool{}
	var errs []error
	for i := range machines.Items {
		m := &machines.Items[i]
		there[m.UID] = true
		if !m.Status.NodeRef.IsDefined() || m.Status.NodeInfo == nil || n.knows(m) {
			continue
		}
		if err := n.add(ctx, m); err != nil {
			errs = append(errs, fmt.Errorf("node of machine %s: %w", m.Name, err))
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, known := range n.known {
		if !there[known.machine] {
			n.sim.Remove(name)
			delete(n.known, name)
		}
	}
	return errors.Join(errs...)
}

func (n *nodes) knows(m *clusterv1.Machine) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[m.Status.NodeRef.Name].machine == m.UID
}

func (n *nodes) add(ctx context.Context, m *clusterv1.Machine) error {
	cluster := types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ClusterName}
	name := m.Status.NodeRef.Name
	n.mu.Lock()
	n.known[name] = node{cluster: cluster} // not yet known for good: the patch below needs its cluster
	n.mu.Unlock()
	err := n.patch(ctx, name, map[string]any{"addresses": []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: "127.0.0.1"},
	}})
	if err != nil {
		return err
	}
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	token := hex.EncodeToString(b)
	if _, err := n.sim.Add(name, token, m.Status.NodeInfo.KubeletVersion); err != nil {
		return err
	}
	if err := n.writeToken(ctx, cluster, "node-token-"+m.Name, token); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[name] = node{machine: m.UID, cluster: cluster}
	return nil
}

// writeToken adds a key to the cluster's Secret of tokens, which it creates.
func (n *nodes) writeToken(ctx context.Context, cluster types.NamespacedName, key, token string) error {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.Namespace, Name: cluster.Name + "-token",
			Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name},
		},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{key: []byte(token)},
	}
	err := n.server.Create(ctx, secret.DeepCopy())
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	patch, err := json.Marshal(map[string]any{"data": secret.Data})
	if err != nil {
		return err
	}
	return n.server.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch))
}

// SetVersion writes the Node's kubelet version.
func (n *nodes) SetVersion(ctx context.Context, name, version string) error {
	return n.patch(ctx, name, map[string]any{"nodeInfo": map[string]any{"kubeletVersion": version}})
}

// SetReady writes the Node's condition Ready.
func (n *nodes) SetReady(ctx context.Context, name string, ready bool) error {
	c, err := n.client(ctx, name)
	if err != nil {
		return err
	}
	current, err := c.Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading node %s: %w", name, err)
	}
	status, reason := corev1.ConditionTrue, "KubeletReady"
	if !ready {
		status, reason = corev1.ConditionFalse, "KubeletNotReady"
	}
	conditions := current.Status.Conditions
	for i := range conditions {
		if c := &conditions[i]; c.Type == corev1.NodeReady && c.Status != status {
			c.Status, c.Reason, c.LastTransitionTime = status, reason, metav1.Now()
		}
	}
	return n.patch(ctx, name, map[string]any{"conditions": conditions})
}

// patch changes a Node's status; the in-memory API server has no status subresource.
func (n *nodes) patch(ctx context.Context, name string, status map[string]any) error {
	c, err := n.client(ctx, name)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	if _, err := c.Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patching node %s: %w", name, err)
	}
	return nil
}

// client returns a client of the cluster of a node.
func (n *nodes) client(ctx context.Context, name string) (corev1client.CoreV1Interface, error) {
	n.mu.Lock()
	known, found := n.known[name]
	n.mu.Unlock()
	if !found {
		return nil, fmt.Errorf("no node %s", name)
	}
	cfg, err := n.config(ctx, known.cluster)
	if err != nil {
		return nil, err
	}
	return corev1client.NewForConfig(cfg)
}

// config returns the administrator's way to a workload cluster. Its Secret never changes here but with the cluster.
func (n *nodes) config(ctx context.Context, cluster types.NamespacedName) (*rest.Config, error) {
	n.mu.Lock()
	cfg := n.configs[cluster]
	n.mu.Unlock()
	if cfg != nil {
		return cfg, nil
	}
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name + "-kubeconfig"}
	if err := n.server.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("reading secret %s: %w", key, err)
	}
	cfg, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", key, err)
	}
	cfg.QPS = -1
	n.mu.Lock()
	defer n.mu.Unlock()
	n.configs[cluster] = cfg
	return cfg, nil
}

// SetReady writes the condition Ready of a machine's Node.
func (s *Stack) SetReady(ctx context.Context, node string, ready bool) error {
	return s.nodes.SetReady(ctx, node, ready)
}
