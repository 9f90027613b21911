// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaseDuration is written to the Leases; nobody competes for them here.
const leaseDuration = 15

// Leases are the leader Leases of the two processes that the controllers run in.
func Leases() []client.ObjectKey {
	return []client.ObjectKey{
		{Namespace: "cabpck-system", Name: "6b2b21b1.k8s.io"},
		{Namespace: "cacpck-system", Name: "148fa072.controlplane.cluster.x-k8s.io"},
	}
}

// leases renews the leader Leases, as the processes do that hold them.
type leases struct {
	client client.Client
	every  time.Duration
}

// run renews until ctx ends. A renewal that fails is made up for by the next.
func (l leases) run(ctx context.Context) {
	again := time.NewTicker(l.every)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			_ = l.renew(ctx)
		}
	}
}

func (l leases) renew(ctx context.Context) error {
	var failures []error
	for _, key := range Leases() {
		failures = append(failures, l.renewOne(ctx, key))
	}
	return errors.Join(failures...)
}

// renewOne renews by patch, which needs no look before.
func (l leases) renewOne(ctx context.Context, key client.ObjectKey) error {
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("provider"), LeaseDurationSeconds: new(int32(leaseDuration)),
			RenewTime: new(metav1.NowMicro()),
		},
	}
	err := l.client.Patch(ctx, lease.DeepCopy(), client.MergeFrom(&coordinationv1.Lease{ObjectMeta: lease.ObjectMeta}))
	if !apierrors.IsNotFound(err) {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}
	if err := l.client.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return l.client.Create(ctx, lease)
}
