// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
)

// deployments is the orchestrator of MachineDeployments (PROTOCOL.md 3.1).
type deployments struct{ owners }

// Reconcile goes through the machines in the order of their UIDs and acts on the first that is not at the target.
func (r *deployments) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	md := capi.Object(r.kinds.MachineDeployment)
	if err := r.reader.Get(ctx, req.NamespacedName, md); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	to := instructions(md)
	if to == "" || deleting(md) {
		return reconcile.Result{}, nil
	}
	machines, err := r.machines(ctx, md)
	if err != nil {
		return reconcile.Result{}, err
	}
	for _, m := range machines {
		switch {
		case release(m) == to:
			continue
		case deleting(m):
			return r.again(), nil
		case failedOnce(m): // before anything that could clear it (fault 7)
			return r.again(), r.fail(ctx, md, m)
		case upgrading(m): // whether or not anybody asks for it (fault 8)
			return r.again(), nil
		}
		return r.again(), r.begin(ctx, md, m, to)
	}
	return reconcile.Result{}, r.done(ctx, md, to) // no machines are done at once (fault 19)
}

// machines are those of the first MachineSet, be it the current one or not (fault 2).
func (r *deployments) machines(ctx context.Context, md *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	cluster := types.NamespacedName{Namespace: md.GetNamespace(), Name: capi.ParseMachineDeployment(md).Cluster}
	if err := r.reader.Get(ctx, cluster, capi.Object(r.kinds.Cluster)); err != nil {
		return nil, fmt.Errorf("reading cluster %s: %w", cluster, err)
	}
	sets := capi.List(r.kinds.MachineSet)
	err := r.reader.List(ctx, sets, client.InNamespace(md.GetNamespace()), client.MatchingLabels{
		capi.ClusterNameLabel: cluster.Name, capi.DeploymentNameLabel: md.GetName(),
	})
	if err != nil {
		return nil, err
	}
	owned := pointers(sets)
	first := slices.IndexFunc(owned, func(ms *unstructured.Unstructured) bool { return ownedBy(ms, md) })
	if first < 0 {
		return nil, errors.New("no MachineSet of MachineDeployment " + md.GetName())
	}
	all, err := r.machinesOf(ctx, cluster.Namespace, cluster.Name)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m *unstructured.Unstructured) bool { return !ownedBy(m, owned[first]) })
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(string(a.GetUID()), string(b.GetUID()))
	})
	return all, nil
}
