// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=managementclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=managementclusters/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// Reconciler connects, probes and reports one ManagementCluster at a time.
type Reconciler struct {
	// Hub is the hub's cached client; Live reads Secrets past it, so that the hub holds none.
	Hub      client.Client
	Live     client.Reader
	Provider *Provider
	Clock    clock.PassiveClock
	// ProbeInterval is how often a member is asked whether it is there. Default 10 s.
	ProbeInterval time.Duration
}

// Reconcile never returns an error for a member that does not answer: that is a condition, and it is asked again at
// the next interval.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	mc := &fleetv1.ManagementCluster{}
	name := Name(req.Namespace, req.Name)
	if err := r.Hub.Get(ctx, req.NamespacedName, mc); err != nil {
		if apierrors.IsNotFound(err) {
			r.Provider.Disconnect(name)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, err
	}
	f, err := r.find(ctx, name, mc)
	if errors.Is(err, errNotStarted) {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	base := mc.DeepCopy()
	report(&mc.Status, mc.Generation, f, r.Clock.Now())
	if !equality.Semantic.DeepEqual(base.Status, mc.Status) {
		if err := r.Hub.Status().Patch(ctx, mc, client.MergeFrom(base)); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	return reconcile.Result{RequeueAfter: orDefault(r.ProbeInterval, 10*time.Second)}, nil
}

// find connects to the member and looks at it. What is wrong with the member, its Secret or its registration is part
// of the findings; an error is one of the hub.
func (r *Reconciler) find(ctx context.Context, name multicluster.ClusterName, mc *fleetv1.ManagementCluster) (findings, error) {
	f := findings{pinned: mc.Status.ClusterID, engine: mc.Spec.Engine, unknown: mc.Spec.WhyUnknown()}
	if f.unknown != "" {
		f.health = r.Provider.Probe(ctx, name) // as it was connected before the field was written, if it was
		return f, nil
	}
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: mc.Namespace, Name: mc.Spec.KubeconfigSecretRef.Name}
	err := r.Live.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		f.credential = fmt.Errorf("spec.kubeconfigSecretRef.name %q: there is no such Secret in namespace %s",
			key.Name, key.Namespace)
	case err != nil:
		return f, err
	}
	if f.credential != nil {
		return f, nil //nolint:nilerr // as above
	}
	cfg, hash, err := ParseKubeconfig(secret.Data)
	if err != nil {
		f.credential = fmt.Errorf("spec.kubeconfigSecretRef.name %q: %w", key.Name, err)
		return f, nil
	}
	if end, err := expiry(cfg); err == nil {
		f.expires = end
	}
	err = r.Provider.Connect(ctx, name, Connection{
		Config:     cfg,
		Hash:       fmt.Sprintf("%s %v %s %s", hash, mc.Spec.Namespaces, mc.Spec.Engine, mc.Spec.Access),
		Namespaces: mc.Spec.Namespaces,
		HostEngine: mc.Spec.Engine == fleetv1.EngineHub && mc.Spec.Access == fleetv1.AccessUpgrade,
	})
	if errors.Is(err, errNotStarted) {
		return f, err
	}
	if err != nil {
		f.health = r.Provider.Health(name)
		return f, nil //nolint:nilerr // a member that does not answer is a finding
	}
	f.health = r.Provider.Probe(ctx, name)
	if f.health.State != Ready {
		return f, nil
	}
	return f, r.look(ctx, name, mc, &f)
}

// look asks a member that answers who it is and who drives it.
func (r *Reconciler) look(ctx context.Context, name multicluster.ClusterName, mc *fleetv1.ManagementCluster, f *findings) error {
	m, engaged := r.Provider.Member(name)
	if !engaged {
		return nil
	}
	f.served = []string{m.Kinds.Cluster.Version}
	system := &corev1.Namespace{}
	live := m.Cluster.GetAPIReader()
	if err := live.Get(ctx, types.NamespacedName{Name: "kube-system"}, system); err != nil {
		f.asking = fmt.Errorf("reading namespace kube-system, whose UID identifies the member: %w", err)
		return nil
	}
	f.clusterID = string(system.UID)
	for _, lease := range protocol.ProviderLeases() {
		var l coordinationv1.LeaseList
		if err := live.List(ctx, &l, client.MatchingFields{"metadata.name": lease}); err != nil {
			f.asking = fmt.Errorf("looking for the provider's Lease %s: %w", lease, err)
			return nil
		}
		f.provider = f.provider || renewed(l.Items, r.Clock.Now())
	}
	if !f.changed() {
		r.Provider.answers(name, f.keyPrefix())
	}
	return r.count(ctx, m, mc, f)
}

// renewed reports whether the holder of a Lease is alive.
func renewed(leases []coordinationv1.Lease, now time.Time) bool {
	for _, l := range leases {
		if l.Spec.RenewTime != nil && now.Sub(l.Spec.RenewTime.Time) < protocol.ProviderFresh {
			return true
		}
	}
	return false
}

// count adds how much the member has, and whether another ManagementCluster is the same member.
func (r *Reconciler) count(ctx context.Context, m Member, mc *fleetv1.ManagementCluster, f *findings) error {
	for kind, n := range map[schema.GroupVersionKind]*int32{m.Kinds.Cluster: &f.clusters, m.Kinds.Machine: &f.machines} {
		list := capi.List(kind)
		if err := m.Cluster.GetClient().List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return err
		}
		*n = int32(len(list.Items))
	}
	var others fleetv1.ManagementClusterList
	if err := r.Hub.List(ctx, &others); err != nil {
		return err
	}
	for i := range others.Items {
		if other := &others.Items[i]; other.UID != mc.UID && older(other, mc) && same(other, mc, f.clusterID) {
			f.duplicateOf = other.Namespace + "/" + other.Name
		}
	}
	return nil
}
