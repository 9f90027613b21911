// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
)

// AddCluster makes a healthy workload cluster in a member and returns its path: "<member>/<namespace>/<name>".
func (f *Fleet) AddCluster(ctx context.Context, member string, spec build.ClusterSpec) (string, error) {
	c, err := f.Members[member].Cluster(ctx, spec)
	if err != nil {
		return "", fmt.Errorf("making cluster %s of %s: %w", spec.Name(), member, err)
	}
	path := strings.Join([]string{member, spec.Namespace(), spec.Name()}, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clusters[path] = c
	return path, nil
}

// Node is the simulator's name for the node of a machine of a cluster.
func (f *Fleet) Node(path, machine string) (string, error) {
	c, err := f.cluster(path)
	if err != nil {
		return "", err
	}
	return c.Node(machine), nil
}

func (f *Fleet) cluster(path string) (*env.Cluster, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, found := f.clusters[path]
	if !found {
		return nil, fmt.Errorf("there is no cluster %s", path)
	}
	return c, nil
}

// Objects of a cluster.
type Objects struct {
	Cluster  *unstructured.Unstructured
	Owners   []*unstructured.Unstructured // the control plane, then MachineDeployments
	Machines []*unstructured.Unstructured
}

// All of them, what is owned before its owner.
func (o Objects) All() []*unstructured.Unstructured {
	return append(append(append([]*unstructured.Unstructured{}, o.Machines...), o.Owners...), o.Cluster)
}

// Objects reads a cluster as it is in its member now.
func (f *Fleet) Objects(ctx context.Context, path string) (Objects, error) {
	c, err := f.cluster(path)
	if err != nil {
		return Objects{}, err
	}
	member := f.watching[strings.Split(path, "/")[0]]
	of := Objects{Cluster: object(clusterv1.GroupVersion.WithKind("Cluster"))}
	key := client.ObjectKey{Namespace: c.Namespace, Name: c.Name}
	if err := member.Get(ctx, key, of.Cluster); err != nil {
		return of, err
	}
	for _, gvk := range []schema.GroupVersionKind{
		build.ControlPlaneGVK(), clusterv1.GroupVersion.WithKind("MachineDeployment"),
		clusterv1.GroupVersion.WithKind("Machine"),
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		err := member.List(ctx, list, client.InNamespace(c.Namespace), ownedBy(c))
		if err != nil {
			return of, err
		}
		for i := range list.Items {
			if gvk.Kind == "Machine" {
				of.Machines = append(of.Machines, &list.Items[i])
			} else {
				of.Owners = append(of.Owners, &list.Items[i])
			}
		}
	}
	return of, nil
}

func object(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	return o
}

// ownedBy selects the objects of a cluster.
func ownedBy(c *env.Cluster) client.MatchingLabels {
	return client.MatchingLabels{clusterv1.ClusterNameLabel: c.Name}
}

// Remove deletes a cluster with all that is its own, and its nodes, as Cluster API has done when the deletion of a
// Cluster is through.
func (f *Fleet) Remove(ctx context.Context, path string) error {
	c, err := f.cluster(path)
	if err != nil {
		return err
	}
	of, err := f.Objects(ctx, path)
	if err != nil {
		return err
	}
	member := f.watching[strings.Split(path, "/")[0]]
	for _, o := range of.All() {
		if err := member.Delete(ctx, o); err != nil {
			return fmt.Errorf("deleting %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	for _, kind := range []client.Object{&clusterv1.MachineSet{}, &corev1.Secret{}} {
		if err := member.DeleteAllOf(ctx, kind, client.InNamespace(c.Namespace), ownedBy(c)); err != nil {
			return fmt.Errorf("deleting what is left of %s: %w", path, err)
		}
	}
	for _, m := range of.Machines {
		if err := f.removeNode(ctx, c, m.GetName()); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clusters, path)
	return nil
}

// removeNode deletes the Node of a machine and what ran on it.
func (f *Fleet) removeNode(ctx context.Context, c *env.Cluster, machine string) error {
	name := c.Node(machine)
	var pods corev1.PodList
	if err := c.Server.Client.List(ctx, &pods, client.MatchingFields{"spec.nodeName": name}); err != nil {
		return err
	}
	for i := range pods.Items {
		if err := c.Server.Client.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	return c.Server.Client.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// AwaitMachine returns the first machine of a cluster that is what is says, as soon as a watch shows one.
func (f *Fleet) AwaitMachine(
	ctx context.Context, path string, is func(*clusterv1.Machine) bool,
) (*clusterv1.Machine, error) {
	c, err := f.cluster(path)
	if err != nil {
		return nil, err
	}
	events, err := f.watching[strings.Split(path, "/")[0]].Watch(ctx, &clusterv1.MachineList{},
		client.InNamespace(c.Namespace), ownedBy(c))
	if err != nil {
		return nil, err
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a machine of %s: %w", path, ctx.Err())
		case e, open := <-events.ResultChan():
			if !open || e.Type == watch.Error {
				return nil, errors.New("the watch of machines broke")
			}
			if m, ok := e.Object.(*clusterv1.Machine); ok && is(m) {
				return m, nil
			}
		}
	}
}
