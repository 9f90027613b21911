// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/protocol"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// Orphans takes back what upgrades of this hub have left on clusters and that are gone: a Rollout may be deleted while its
// member is away, or while a machine is in flight (law 20). What is left names its upgrade, in the claim and beside each mark.
// Such an upgrade is withdrawn as if it were there still, by a stand-in that only this process knows: another one begins anew.
type Orphans struct {
	// Upgrades looks at clusters and carries steps out.
	Upgrades *Reconciler
	// Live reads past the hub's cache: an upgrade that the cache does not hold may be there.
	Live client.Reader

	mu sync.Mutex
	// standIns of upgrades that are gone, by the cluster of a member that they have left something on.
	standIns map[mcreconcile.Request]*fleetv1.ClusterUpgrade
}

const (
	// uidField indexes ClusterUpgrades by their UID.
	uidField = "uid"
	// unknown stands for the rollout, the target and the version of an upgrade that is gone. It is no version, so that no
	// machine is taken to have reached it.
	unknown = "unknown"
	// everyOrphan is how often what an upgrade has left is looked at when nothing else wakes us.
	everyOrphan = time.Hour
)

// Reconcile takes the next step to clear one cluster of a member of what an upgrade has left that is gone.
func (o *Orphans) Reconcile(ctx context.Context, req mcreconcile.Request) (reconcile.Result, error) {
	r := o.Upgrades
	m, engaged := r.Members.Member(req.ClusterName)
	if !engaged || r.Members.Health(req.ClusterName).State != member.Ready {
		return reconcile.Result{}, nil // its ManagementCluster wakes us when it answers
	}
	w, err := m.Find(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	cu, err := o.gone(ctx, req, w)
	if err != nil || cu == nil {
		return reconcile.Result{}, err
	}
	s, d, err := r.view(ctx, cu)
	if err != nil {
		return reconcile.Result{}, err
	}
	return o.step(ctx, req, cu, s, d)
}

// step decides for a stand-in and carries that out.
func (o *Orphans) step(
	ctx context.Context, req mcreconcile.Request, cu *fleetv1.ClusterUpgrade, s scene, d drive.Member,
) (reconcile.Result, error) {
	s.onlyHeld(d)
	now := o.Upgrades.Clock.Now()
	l := s.decide(cu, d, now)
	if l.Step.Action == cluster.FollowMachine {
		l.Step.Action = cluster.ClearMachine // what was asked for is not known any more; that it has ended is
	}
	o.keep(req, cu, report.Upgrade(cu, l, now))
	result, err := o.Upgrades.act(ctx, l.Step, s, d)
	if err == nil && result.RequeueAfter == 0 {
		result.RequeueAfter = everyOrphan
	}
	return result, err
}

// gone is a stand-in for the first upgrade that is gone and has left something on a cluster; nil: there is none.
func (o *Orphans) gone(ctx context.Context, req mcreconcile.Request, w member.World) (*fleetv1.ClusterUpgrade, error) {
	o.mu.Lock()
	before := o.standIns[req]
	o.mu.Unlock()
	for _, uid := range left(o.Upgrades.HubID, w) {
		cached, err := o.known(ctx, uid)
		if err != nil {
			return nil, err
		}
		if cached {
			continue
		}
		if before != nil && before.UID == uid && before.Spec.Cluster.UID == w.Cluster.UID {
			return before.DeepCopy(), nil
		}
		if is, err := o.exists(ctx, uid); is || err != nil {
			return nil, err // the cache is behind; its event wakes the upgrade itself
		}
		log.FromContext(ctx).Info("taking back what an upgrade has left that is gone", "upgrade", uid)
		return standIn(req, uid, w, o.Upgrades.Clock.Now()), nil
	}
	o.mu.Lock()
	delete(o.standIns, req)
	o.mu.Unlock()
	return nil, nil //nolint:nilnil // nothing is left, which is no error
}

// keep remembers what was seen and done, as the status of an upgrade does.
func (o *Orphans) keep(req mcreconcile.Request, cu *fleetv1.ClusterUpgrade, status fleetv1.ClusterUpgradeStatus) {
	cu.Status = status
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.standIns == nil {
		o.standIns = map[mcreconcile.Request]*fleetv1.ClusterUpgrade{}
	}
	o.standIns[req] = cu
}

// clearing: a stand-in is at work on a cluster.
func (o *Orphans) clearing(req mcreconcile.Request) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.standIns[req] != nil
}

// exists reports whether an upgrade is on the hub, past the cache.
func (o *Orphans) exists(ctx context.Context, uid types.UID) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(fleetv1.GroupVersion.WithKind("ClusterUpgradeList"))
	if err := o.Live.List(ctx, list); err != nil {
		return false, fmt.Errorf("listing ClusterUpgrades: %w", err)
	}
	return slices.ContainsFunc(list.Items, func(cu metav1.PartialObjectMetadata) bool { return cu.UID == uid }), nil
}

// known reports whether the cache holds an upgrade.
func (o *Orphans) known(ctx context.Context, uid types.UID) (bool, error) {
	var list fleetv1.ClusterUpgradeList
	if err := o.Upgrades.Hub.List(ctx, &list, client.MatchingFields{uidField: string(uid)}); err != nil {
		return false, fmt.Errorf("looking for ClusterUpgrade %s: %w", uid, err)
	}
	return len(list.Items) > 0, nil
}

// left are the upgrades of a hub that something on a cluster names: the claim's first.
func left(hub string, w member.World) []types.UID {
	if !w.Present {
		return nil
	}
	var all []types.UID
	add := func(uid types.UID) {
		if uid != "" && !slices.Contains(all, uid) {
			all = append(all, uid)
		}
	}
	if claim, found, err := drive.ClaimOf(w.Cluster); found && err == nil && claim.Hub == hub {
		add(claim.UID)
	}
	for _, cp := range w.ControlPlanes {
		add(heldBy(hub, cp.Object.Annotations))
	}
	for _, pool := range w.Pools {
		add(heldBy(hub, pool.Object.Annotations))
	}
	for _, m := range w.Machines {
		add(heldBy(hub, m.Annotations))
	}
	return all
}

// heldBy is the upgrade of a hub that the marks on an object name; empty: none, or one of another hub.
func heldBy(hub string, annotations map[string]string) types.UID {
	uid, ours := strings.CutPrefix(annotations[protocol.HolderKey], hub+"/")
	if !ours {
		return ""
	}
	return types.UID(uid)
}

// standIn is an upgrade that is gone, as it is to be withdrawn.
func standIn(req mcreconcile.Request, uid types.UID, w member.World, now time.Time) *fleetv1.ClusterUpgrade {
	mc := member.Key(req.ClusterName)
	cu := &fleetv1.ClusterUpgrade{}
	cu.Namespace, cu.UID = mc.Namespace, uid
	cu.Spec = fleetv1.ClusterUpgradeSpec{
		Rollout: fleetv1.LocalRef{Name: unknown}, ManagementCluster: mc.Name, Intent: fleetv1.IntentWithdraw,
		Cluster: fleetv1.ObjectRef{Namespace: w.Cluster.Namespace, Name: w.Cluster.Name, UID: w.Cluster.UID},
		Upgrade: (*fleetv1.PolicyUpgrade)(nil).Settings(),
	}
	add := func(kind, name string, role fleetv1.OwnerRole) {
		cu.Spec.Owners = append(cu.Spec.Owners, fleetv1.UpgradeOwner{
			Kind: kind, Name: name, Role: role, Target: unknown, Version: unknown,
		})
	}
	for _, cp := range w.ControlPlanes {
		add(cp.GVK.Kind, cp.Object.Name, fleetv1.RoleControlPlane)
	}
	for _, pool := range w.Pools {
		add(pool.GVK.Kind, pool.Object.Name, fleetv1.RoleWorkers)
	}
	cu.Status.StartedAt = new(metav1.NewTime(now.Truncate(time.Second)))
	return cu
}

// onlyHeld leaves of what could be cleared that beside which the holder stands: all else may be somebody else's by now.
func (s *scene) onlyHeld(d drive.Member) {
	s.owners = slices.DeleteFunc(s.owners, func(o drive.Owner) bool {
		return o.Annotations[protocol.HolderKey] != d.Holder.String()
	})
	for i := range s.observation.Owners {
		for k := range s.observation.Owners[i].Machines {
			m := &s.observation.Owners[i].Machines[k]
			m.Leftovers = m.Leftovers && holds(s.machines[m.Name], d)
		}
	}
}

// marksOf are the upgrades that one object of a member names.
func marksOf(hub string, o client.Object) []types.UID {
	uids := []types.UID{heldBy(hub, o.GetAnnotations())}
	c := capi.Cluster{Meta: capi.Meta{UID: o.GetUID(), Annotations: o.GetAnnotations()}}
	if claim, found, err := drive.ClaimOf(c); found && err == nil && claim.Hub == hub {
		uids = append(uids, claim.UID)
	}
	return slices.DeleteFunc(uids, func(uid types.UID) bool { return uid == "" })
}
