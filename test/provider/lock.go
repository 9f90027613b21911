// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// lock is the ConfigMap that lets one control plane machine of a cluster be upgraded (PROTOCOL.md 3.3).
type lock struct {
	member
	cluster *unstructured.Unstructured
}

func (l lock) key() types.NamespacedName {
	return types.NamespacedName{Namespace: l.cluster.GetNamespace(), Name: protocol.LockName(l.cluster.GetName())}
}

// holder is the machine that holds the lock, nil when nobody does. One whose machine is gone is removed; one that cannot
// be read is an error until somebody deletes it (fault 13).
func (l lock) holder(ctx context.Context) (*unstructured.Unstructured, error) {
	c := &corev1.ConfigMap{}
	if err := l.reader.Get(ctx, l.key(), c); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	text, found := c.Data[protocol.LockDataKey]
	if !found {
		return nil, fmt.Errorf("lock %s has no %s", l.key(), protocol.LockDataKey)
	}
	var record protocol.LockRecord
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.key(), err)
	}
	m := capi.Object(l.kinds.Machine)
	err := l.reader.Get(ctx, types.NamespacedName{Namespace: record.MachineNamespace, Name: record.MachineName}, m)
	if apierrors.IsNotFound(err) {
		return nil, client.IgnoreNotFound(l.client.Delete(ctx, c))
	}
	return m, err
}

// lock gives the lock to a machine; that somebody has it is an error.
func (l lock) lock(ctx context.Context, machine *unstructured.Unstructured) error {
	record := protocol.LockRecord{MachineName: machine.GetName(), MachineNamespace: machine.GetNamespace()}
	return l.client.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.key().Namespace, Name: l.key().Name,
			Labels: map[string]string{capi.ClusterNameLabel: l.cluster.GetName()},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: capi.Group + "/v1beta1", Kind: "Cluster", Name: l.cluster.GetName(), UID: l.cluster.GetUID(),
			}},
		},
		Data: map[string]string{protocol.LockDataKey: record.Format()},
	})
}

// unlock removes the lock, whoever holds it by now (fault 14).
func (l lock) unlock(ctx context.Context) error {
	c := &corev1.ConfigMap{}
	if err := l.reader.Get(ctx, l.key(), c); err != nil {
		return client.IgnoreNotFound(err)
	}
	return client.IgnoreNotFound(l.client.Delete(ctx, c))
}
