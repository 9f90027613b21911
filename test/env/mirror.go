// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/build"
)

// mirror plays Cluster API's controllers in one member: whenever a Node or an object of a tracked cluster changes, it
// writes the cluster's statuses anew from what it sees. It writes statuses only, never annotations, and nothing when
// nothing is to change.
type mirror struct {
	background

	life    func() context.Context
	client  client.Client
	dialect dialect
	cache   cache.Cache
	queue   workqueue.TypedRateLimitingInterface[types.NamespacedName]
	delay   atomic.Int64 // nanoseconds between a change of a Node and its copy

	mu      sync.Mutex
	tracked map[types.NamespacedName]*nodeCache
	seen    map[string]*corev1.Node // provider ID → the Node as it is copied from; nil: gone
	dropped []func()                // stop watching Nodes
}

func startMirror(ctx context.Context, s *Server, d dialect, delay time.Duration) (*mirror, error) {
	members, err := s.newCache()
	if err != nil {
		return nil, err
	}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](10*time.Millisecond, time.Second)
	m := &mirror{
		client: s.Client, dialect: d, cache: members,
		queue:   workqueue.NewTypedRateLimitingQueue[types.NamespacedName](limiter),
		tracked: map[types.NamespacedName]*nodeCache{}, seen: map[string]*corev1.Node{},
	}
	m.delay.Store(int64(delay))
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.cancel, m.life = cancel, func() context.Context { return life }
	m.work.Go(func() { _ = members.Start(life) }) // ends with life
	m.work.Go(func() { <-life.Done(); m.queue.ShutDown() })
	m.work.Go(func() { m.run(life) })
	controlPlane := &unstructured.Unstructured{}
	controlPlane.SetGroupVersionKind(build.ControlPlaneGVK())
	for _, o := range append(d.watched(), controlPlane) {
		if err := m.watch(ctx, o); err != nil {
			m.stop()
			return nil, err
		}
	}
	return m, nil
}

// stop ends the mirror and its watches.
func (m *mirror) stop() {
	m.mu.Lock()
	dropped := m.dropped
	m.dropped = nil
	m.mu.Unlock()
	for _, drop := range dropped {
		drop()
	}
	m.background.stop()
}

// watch wakes the mirror with every change of a kind of the member.
func (m *mirror) watch(ctx context.Context, o client.Object) error {
	informer, err := m.cache.GetInformer(ctx, o)
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(onAny(func(o client.Object) {
		name := o.GetLabels()[clusterv1.ClusterNameLabel]
		if name == "" {
			name = o.GetName() // a Cluster
		}
		m.queue.Add(types.NamespacedName{Namespace: o.GetNamespace(), Name: name})
	}))
	return err
}

// onAny calls f with each object that was added, changed or removed.
func onAny(f func(client.Object)) toolscache.ResourceEventHandler {
	see := func(o any) {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		if o, ok := o.(client.Object); ok {
			f(o)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, o any) { see(o) }, DeleteFunc: see}
}

// nodeChanged looks at a Node once the delay is over, whatever else wakes the mirror meanwhile.
func (m *mirror) nodeChanged(ctx context.Context, nodes *nodeCache, o client.Object) {
	look := func() {
		if ctx.Err() != nil {
			return
		}
		if _, err := m.look(ctx, nodes, o.(*corev1.Node).Spec.ProviderID); err != nil {
			return // the watch has been stopped
		}
		a := o.GetAnnotations()
		m.queue.Add(types.NamespacedName{
			Namespace: a[clusterv1.ClusterNamespaceAnnotation], Name: a[clusterv1.ClusterNameAnnotation],
		})
	}
	if delay := time.Duration(m.delay.Load()); delay > 0 {
		time.AfterFunc(delay, look)
		return
	}
	look()
}

// look notes a Node as it is now, to be copied from.
func (m *mirror) look(ctx context.Context, nodes *nodeCache, providerID string) (*corev1.Node, error) {
	node, err := nodes.byProviderID(ctx, providerID)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[providerID] = node
	return node, nil
}

// node is the Node as it was when it was looked at last.
func (m *mirror) node(ctx context.Context, nodes *nodeCache, providerID string) (*corev1.Node, error) {
	m.mu.Lock()
	node, seen := m.seen[providerID]
	m.mu.Unlock()
	if seen {
		return node, nil
	}
	return m.look(ctx, nodes, providerID)
}

// track begins to mirror a cluster whose Nodes are in nodes.
func (m *mirror) track(key types.NamespacedName, nodes *nodeCache) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := false
	for _, n := range m.tracked {
		known = known || n == nodes
	}
	m.tracked[key] = nodes
	if !known {
		m.dropped = append(m.dropped, nodes.onChange(func(o client.Object) { m.nodeChanged(m.life(), nodes, o) }))
	}
}

func (m *mirror) nodesOf(key types.NamespacedName) *nodeCache {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tracked[key]
}

func (m *mirror) run(ctx context.Context) {
	for {
		key, shutdown := m.queue.Get()
		if shutdown {
			return
		}
		if err := m.sync(ctx, m.cache, key); err != nil {
			m.queue.AddRateLimited(key)
		} else {
			m.queue.Forget(key)
		}
		m.queue.Done(key)
	}
}

// settle mirrors a cluster now, reading live, so that its statuses are complete on return.
func (m *mirror) settle(ctx context.Context, key types.NamespacedName) error {
	all, err := m.dialect.members(ctx, m.client, key)
	if err != nil {
		return err
	}
	for i := range all.machines {
		if _, err := m.look(ctx, m.nodesOf(key), all.machines[i].Spec.ProviderID); err != nil {
			return err
		}
	}
	// The mirror's own run may write the same statuses meanwhile: in a cluster of many machines they meet often.
	often := wait.Backoff{Steps: 50, Duration: 20 * time.Millisecond, Jitter: 0.5}
	return retry.RetryOnConflict(often, func() error { return m.sync(ctx, m.client, key) })
}

// sync writes the statuses of one cluster, machines first, since the others count them.
func (m *mirror) sync(ctx context.Context, r client.Reader, key types.NamespacedName) error {
	nodes := m.nodesOf(key)
	if nodes == nil {
		return nil
	}
	cluster, err := m.dialect.cluster(ctx, r, key)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := m.dialect.members(ctx, r, key)
	if err != nil {
		return err
	}
	if err := m.syncMachines(ctx, all.machines, nodes); err != nil {
		return err
	}
	now := time.Now()
	for i := range all.sets {
		ms := &all.sets[i]
		if err := m.write(ctx, ms, func() { mirrorSet(ms, all.machines, now) }); err != nil {
			return err
		}
	}
	for i := range all.pools {
		md := &all.pools[i]
		if err := m.write(ctx, md, func() { mirrorPool(md, all.machines, now) }); err != nil {
			return err
		}
	}
	if err := m.syncControlPlane(ctx, r, cluster, all.machines); err != nil {
		return err
	}
	return m.write(ctx, cluster, func() { mirrorCluster(cluster, all, now) })
}

func (m *mirror) syncMachines(ctx context.Context, machines []clusterv1.Machine, nodes *nodeCache) error {
	for i := range machines {
		machine := &machines[i]
		node, err := m.node(ctx, nodes, machine.Spec.ProviderID)
		if err != nil {
			return err
		}
		if err := m.write(ctx, machine, func() { mirrorMachine(machine, node, time.Now()) }); err != nil {
			return err
		}
	}
	return nil
}

func (m *mirror) syncControlPlane(
	ctx context.Context, r client.Reader, cluster *clusterv1.Cluster, machines []clusterv1.Machine,
) error {
	if !cluster.Spec.ControlPlaneRef.IsDefined() {
		return nil
	}
	cp := &unstructured.Unstructured{}
	cp.SetGroupVersionKind(build.ControlPlaneGVK())
	err := r.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}, cp)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	cp = cp.DeepCopy()
	var mirrored error
	err = m.write(ctx, cp, func() { mirrored = mirrorControlPlane(cp, machines, time.Now()) })
	return errors.Join(mirrored, err)
}

// write applies change to o and writes the status if that changed anything, unless somebody was quicker.
func (m *mirror) write(ctx context.Context, o client.Object, change func()) error {
	before := o.DeepCopyObject().(client.Object)
	change()
	if equality.Semantic.DeepEqual(before, o) {
		return nil
	}
	from, err := m.dialect.served(before)
	if err != nil {
		return err
	}
	to, err := m.dialect.served(o)
	if err != nil {
		return err
	}
	to = to.DeepCopyObject().(client.Object) // o keeps what was decided; the answer goes into the copy
	err = m.client.Status().Patch(ctx, to, client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("writing the status of %s: %w", o.GetName(), err)
	}
	return nil
}
