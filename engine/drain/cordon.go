// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/member"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// tries bounds how often a Node is written again after a conflict: its kubelet writes it too.
const tries = 3

// Cordoned reports whether a node takes no pods, whoever wants it so.
func (c *Client) Cordoned(ctx context.Context, cluster types.NamespacedName, node string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	workload, err := c.opts.Connect(ctx, cluster)
	if err != nil {
		return false, fmt.Errorf("looking at node %s of cluster %s: %w", node, cluster, err)
	}
	n, err := workload.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("reading node %s of cluster %s: %w", node, cluster, err)
	}
	return n.Spec.Unschedulable, nil
}

// Uncordon takes back what Drain did in the name of a machine: a cordon of somebody else stays. A node that is gone
// is well.
func (c *Client) Uncordon(ctx context.Context, node k8sd.Node, by string) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	workload, err := c.opts.Connect(ctx, node.Cluster)
	if err != nil {
		return fmt.Errorf("uncordoning %s: %w", node, err)
	}
	err = c.change(ctx, workload, node, func(n *corev1.Node) (any, any, bool) {
		return nil, nil, n.Annotations[protocol.CordonedKey] == by
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// cordon keeps new pods off the node.
func (c *Client) cordon(ctx context.Context, workload kubernetes.Interface, node k8sd.Node, by string) error {
	return c.change(ctx, workload, node, func(n *corev1.Node) (any, any, bool) {
		return by, true, !n.Spec.Unschedulable
	})
}

// change writes the annotation and the cordon of a node in one patch where decide, given the node, wants it.
func (c *Client) change(
	ctx context.Context, workload kubernetes.Interface, node k8sd.Node,
	decide func(n *corev1.Node) (by, unschedulable any, write bool),
) error {
	var err error
	for range tries {
		n, readErr := workload.CoreV1().Nodes().Get(ctx, node.NodeName, metav1.GetOptions{})
		if readErr != nil {
			return fmt.Errorf("reading %s: %w", node, readErr)
		}
		by, unschedulable, write := decide(n)
		if !write {
			return nil
		}
		if err := c.opts.MayWrite(); err != nil {
			return err
		}
		var body []byte
		if body, err = json.Marshal(map[string]any{
			"metadata": map[string]any{
				"uid": n.UID, "resourceVersion": n.ResourceVersion,
				"annotations": map[string]any{protocol.CordonedKey: by},
			},
			"spec": map[string]any{"unschedulable": unschedulable},
		}); err != nil {
			return err
		}
		_, err = workload.CoreV1().Nodes().Patch(ctx, n.Name, types.MergePatchType, body,
			metav1.PatchOptions{FieldManager: member.FieldOwner})
		if !apierrors.IsConflict(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("patching %s: %w", node, err)
	}
	return nil
}
