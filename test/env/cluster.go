// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/build"
)

// Cluster is a workload cluster: what Cluster API has of it in its management cluster, and its nodes.
type Cluster struct {
	// Namespace and Name of the Cluster object.
	Namespace, Name string
	// Server is its API server, shared with others unless it is its Own.
	Server *Server

	world      *World
	management string
}

// Cluster makes a workload cluster and returns when it is healthy: the Cluster, its owners and machines with their
// statuses, the Secrets <cluster>-kubeconfig and <cluster>-token, and a node with k8sd for each machine.
func (m *Management) Cluster(ctx context.Context, spec build.ClusterSpec) (*Cluster, error) {
	c := &Cluster{Namespace: spec.Namespace(), Name: spec.Name(), world: m.world, management: m.Name}
	if err := m.makeCluster(ctx, c, spec); err != nil {
		return nil, fmt.Errorf("making cluster %s/%s in %s: %w", c.Namespace, c.Name, m.Name, err)
	}
	return c, nil
}

func (m *Management) makeCluster(ctx context.Context, c *Cluster, spec build.ClusterSpec) error {
	w, err := m.workloadOf(ctx, spec)
	if err != nil {
		return err
	}
	c.Server = w.Server
	if err := m.ensureNamespace(ctx, c.Namespace); err != nil {
		return err
	}
	tokens := map[string][]byte{"value": []byte(newToken())}
	for _, machine := range spec.Machines() {
		machine.Spec.ProviderID = c.providerID(machine.Name)
		token := newToken()
		tokens["node-token-"+machine.Name] = []byte(token)
		if err := m.world.addNode(ctx, w.Server, machine, c.Node(machine.Name), token); err != nil {
			return err
		}
	}
	for _, machine := range spec.Machines() {
		if err := w.nodes.await(ctx, c.Node(machine.Name)); err != nil {
			return err
		}
	}
	owners, err := m.createAll(ctx, c, spec.Objects())
	if err != nil {
		return err
	}
	for _, s := range c.secrets(tokens, owners) {
		if err := m.Client.Create(ctx, s); err != nil {
			return err
		}
	}
	key := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	m.mirror.track(key, w.nodes)
	return m.mirror.settle(ctx, key)
}

func (m *Management) workloadOf(ctx context.Context, spec build.ClusterSpec) (*workload, error) {
	if !spec.WantsOwn() {
		return m.world.sharedWorkload(ctx)
	}
	return m.world.startWorkload(ctx, fmt.Sprintf("%s.%s.%s", spec.Name(), spec.Namespace(), m.Name))
}

// createAll creates objects, owners first, and puts the UIDs that they get into the references of what they own. It
// returns the reference that a controller of each would set, by made-up UID.
func (m *Management) createAll(
	ctx context.Context, c *Cluster, objects []client.Object,
) (map[types.UID]metav1.OwnerReference, error) {
	created := map[types.UID]metav1.OwnerReference{}
	for _, o := range objects {
		if machine, ok := o.(*clusterv1.Machine); ok {
			machine.Spec.ProviderID = c.providerID(machine.Name)
		}
		refs := o.GetOwnerReferences()
		for i := range refs {
			owner := created[refs[i].UID]
			refs[i].UID, refs[i].APIVersion = owner.UID, owner.APIVersion
		}
		o.SetOwnerReferences(refs)
		madeUp := o.GetUID()
		o.SetUID("")
		served, err := m.dialect.served(o)
		if err != nil {
			return nil, err
		}
		if err := m.Client.Create(ctx, served); err != nil {
			return nil, err
		}
		gvk, err := m.Client.GroupVersionKindFor(served)
		if err != nil {
			return nil, err
		}
		created[madeUp] = metav1.OwnerReference{
			APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: o.GetName(), UID: served.GetUID(),
			Controller: new(true), BlockOwnerDeletion: new(true),
		}
	}
	return created, nil
}

func (c *Cluster) secrets(tokens map[string][]byte, owners map[types.UID]metav1.OwnerReference) []*corev1.Secret {
	secret := func(suffix string, data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: c.Namespace, Name: c.Name + suffix,
				Labels: map[string]string{clusterv1.ClusterNameLabel: c.Name},
			},
			Type: clusterv1.ClusterSecretType, Data: data,
		}
	}
	token := secret("-token", tokens)
	for _, owner := range owners {
		if owner.Kind == build.ControlPlaneGVK().Kind {
			token.OwnerReferences = []metav1.OwnerReference{owner}
		}
	}
	return []*corev1.Secret{
		secret("-kubeconfig", map[string][]byte{"value": c.Server.Kubeconfig()}), token,
	}
}

// Node is the name of a machine's Node, unlike that of the machine and unlike any other in this world.
func (c *Cluster) Node(machine string) string {
	return machine + "." + c.Namespace + "." + c.management
}

func (c *Cluster) providerID(machine string) string { return "dev:////" + c.Node(machine) }

// NodeDown cuts the way to a machine's node, as when its kubelet is gone: connections are refused.
func (c *Cluster) NodeDown(machine string) error { return c.world.nodeDown(c.Node(machine)) }

// NodeUp ends a NodeDown.
func (c *Cluster) NodeUp(ctx context.Context, machine string) error {
	return c.world.nodeUp(ctx, c.Node(machine))
}

// SetNodeReady writes the condition Ready of a machine's Node.
func (c *Cluster) SetNodeReady(ctx context.Context, machine string, ready bool) error {
	return c.world.table.SetReady(ctx, c.Node(machine), ready)
}
