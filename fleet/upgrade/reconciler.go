// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package upgrade carries one workload cluster of a rollout through its upgrade: it looks at the cluster in its member,
// asks policy/cluster for the next step, carries that out and reports it. It is the only writer of a ClusterUpgrade's
// status, and never writes its spec.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/drive"
	"github.com/windlass-dev/windlass/fleet/member"
	"github.com/windlass-dev/windlass/fleet/pace"
	"github.com/windlass-dev/windlass/fleet/report"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/cluster"
)

// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=clusterupgrades,verbs=get;list;watch
// +kubebuilder:rbac:groups=fleet.windlass.dev,resources=clusterupgrades/status,verbs=patch

// Reconciler drives ClusterUpgrades.
type Reconciler struct {
	// Hub is the hub's cached client.
	Hub     client.Client
	Members *member.Provider
	Clock   clock.PassiveClock
	// HubID names this hub in claims; it survives restores.
	HubID string
	// MayWrite refuses writes of a hub that may no longer lead.
	MayWrite func() error
	// Pace of status writes.
	Pace *pace.Pace[types.UID]
}

// soon is how soon to look once more where a provider may send a request again within milliseconds.
const soon = 20 * time.Millisecond

// again is how soon to look once more after a write met an object that had changed, or changed nothing that would wake
// us.
const again = 500 * time.Millisecond

// Reconcile takes one step.
func (r *Reconciler) Reconcile(ctx context.Context, req mcreconcile.Request) (reconcile.Result, error) {
	cu := &fleetv1.ClusterUpgrade{}
	if err := r.Hub.Get(ctx, req.NamespacedName, cu); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if cu.Spec.Ineligible != nil {
		return reconcile.Result{}, r.write(ctx, cu, report.Look{Step: refused(cu.Spec.Ineligible)})
	}
	if over(cu) {
		return reconcile.Result{}, nil
	}
	l, s, d, err := r.look(ctx, cu)
	if err != nil {
		return reconcile.Result{}, err
	}
	// The intent is on the hub already; what is about to be done is reported first, so that a crash in between is
	// visible and the step is taken again.
	if wait := r.Pace.Wait(cu.UID); wait > 0 && minor(cu, l, r.Clock.Now()) {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	decided := cu.DeepCopy()
	err = r.write(ctx, cu, l)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: s.patience()}, nil // the cache is behind our own last write
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if l.Step.Action == cluster.GrantMachine || l.Step.Action == cluster.FollowMachine {
		if s, err = r.again(ctx, decided, l.Step, s, d); err != nil {
			return reconcile.Result{}, err
		}
	}
	return r.act(ctx, l.Step, s, d)
}

// over: it has ended and nothing of it is left.
func over(cu *fleetv1.ClusterUpgrade) bool {
	return cluster.Final(policy.ClusterPhase(cu.Status.Phase)) && cu.Status.Settled
}

// minor: nothing is to be done and the phase stays, so that only details of a status change, which can wait a moment. What
// is to be remembered of machines cannot, nor can a further attempt, of which nothing is left once it has succeeded.
func minor(cu *fleetv1.ClusterUpgrade, l report.Look, now time.Time) bool {
	step := l.Step
	atOnce := !step.Recheck.IsZero() && !step.Recheck.After(now)
	return step.Action == cluster.None && fleetv1.UpgradePhase(step.Phase) == cu.Status.Phase && !atOnce &&
		attempts(l.Owners) <= cu.Status.Attempts
}

// attempts is the most that a machine has been tried.
func attempts(owners []cluster.Owner) int32 {
	most := 0
	for _, o := range owners {
		for _, m := range o.Machines {
			most = max(most, m.Attempts)
		}
	}
	return int32(most)
}

// again checks a machine's grant once more against the member read past the cache: a permission that has ended, and
// another machine that somebody has asked meanwhile, are seen. The scene that comes back has no machines where the grant
// no longer stands, so that nothing is written.
func (r *Reconciler) again(
	ctx context.Context, cu *fleetv1.ClusterUpgrade, step cluster.Step, s scene, d drive.Member,
) (scene, error) {
	m, engaged := r.Members.Member(member.Name(cu.Namespace, cu.Spec.ManagementCluster))
	if !engaged {
		return scene{}, nil
	}
	at := types.NamespacedName{Namespace: cu.Spec.Cluster.Namespace, Name: cu.Spec.Cluster.Name}
	w, err := member.ReadLive(ctx, m, at, cu.Spec.Cluster.UID)
	if err != nil {
		return scene{}, err
	}
	live, still := stands(step, observe(cu, s.reach, w, d), r.Clock.Now())
	if still.Action != step.Action || still.Machine != step.Machine {
		log.FromContext(ctx).Info("the grant no longer stands", "step", step.String(), "now", still.String())
	}
	return live, nil
}

// stands decides once more on what is seen now: a scene without machines where the grant no longer stands.
func stands(step cluster.Step, live scene, now time.Time) (scene, cluster.Step) {
	still := cluster.Next(live.observation, now)
	if still.Action != step.Action || still.Machine != step.Machine {
		return scene{reach: live.reach}, still
	}
	return live, still
}

// look reads the member and decides.
func (r *Reconciler) look(ctx context.Context, cu *fleetv1.ClusterUpgrade) (report.Look, scene, drive.Member, error) {
	s, d, err := r.view(ctx, cu)
	if err != nil {
		return report.Look{}, scene{}, drive.Member{}, err
	}
	return s.decide(cu, d, r.Clock.Now()), s, d, nil
}

// view reads the member, and what the hub knows of it.
func (r *Reconciler) view(ctx context.Context, cu *fleetv1.ClusterUpgrade) (scene, drive.Member, error) {
	mc := &fleetv1.ManagementCluster{}
	key := types.NamespacedName{Namespace: cu.Namespace, Name: cu.Spec.ManagementCluster}
	if err := r.Hub.Get(ctx, key, mc); client.IgnoreNotFound(err) != nil {
		return scene{}, drive.Member{}, err
	}
	name := member.Name(cu.Namespace, cu.Spec.ManagementCluster)
	m, engaged := r.Members.Member(name)
	reach := reachOf(mc, engaged, r.Members.Health(name))
	reach.SilentSince = silentSince(mc, cu)
	reach.PerMachine = member.PerMachine(mc)
	reach.ProviderPresent = mc.Status.Engine != nil && mc.Status.Engine.ProviderPresent
	ro := &fleetv1.Rollout{}
	key.Name = cu.Spec.Rollout.Name
	if err := r.Hub.Get(ctx, key, ro); client.IgnoreNotFound(err) != nil {
		return scene{}, drive.Member{}, err
	}
	reach.Open = open(ro, cu)
	d := drive.Member{MayWrite: r.MayWrite, Keys: member.KeysOf(mc), Holder: drive.Holder{
		Hub: r.HubID, UID: cu.UID, Rollout: types.NamespacedName{Namespace: cu.Namespace, Name: cu.Spec.Rollout.Name},
	}}
	w := member.World{}
	if reach.Ready {
		d.Client, d.Live, d.Kinds = m.Cluster.GetClient(), m.Cluster.GetAPIReader(), m.Kinds
		var err error
		at := types.NamespacedName{Namespace: cu.Spec.Cluster.Namespace, Name: cu.Spec.Cluster.Name}
		if w, err = member.Read(ctx, m, at, cu.Spec.Cluster.UID); err != nil {
			reach.Ready, reach.Message = false, err.Error()
		}
	}
	s := observe(cu, reach, w, d)
	if reach.PerMachine && reach.Ready {
		s.listen(ctx, d)
	}
	return s, d, nil
}

// decide is the next step for what is seen, with what is to be reported of it.
func (s *scene) decide(cu *fleetv1.ClusterUpgrade, d drive.Member, now time.Time) report.Look {
	l := report.Look{
		Owners: cluster.Follow(s.observation, now), Standing: s.observation.Standing, Step: cluster.Next(s.observation, now),
		Seen: s.reach.Ready && s.world.Present, States: map[string]string{},
		Claimed: s.observation.Claim.State == cluster.ClaimOurs || (cu.Status.Claimed && !s.reach.Ready),
	}
	for name, machine := range s.machines {
		l.States[name] = string(d.Keys.Read(machine.Annotations).State())
	}
	return l
}

// reachOf sums up whether a member may be read and written.
func reachOf(mc *fleetv1.ManagementCluster, engaged bool, h member.Health) Reach {
	reach := Reach{Access: mc.Spec.Access == fleetv1.AccessUpgrade}
	ready := meta.FindStatusCondition(mc.Status.Conditions, fleetv1.ReadyCondition)
	switch {
	case mc.UID == "":
		reach.Message = "its ManagementCluster does not exist"
	case ready == nil:
		reach.Message = "its ManagementCluster has not been looked at yet"
	case mc.Status.ObservedGeneration != mc.Generation:
		reach.Message = "its ManagementCluster has not been looked at since it was changed"
	case !member.Accepted(mc):
		reach.Message = fmt.Sprintf("management cluster %s: %s: %s", mc.Name, ready.Reason, ready.Message)
	case !engaged || h.State != member.Ready:
		reach.Message = fmt.Sprintf("management cluster %s: %s: %s", mc.Name, h.State, h.Message)
	default:
		reach.Ready = true
	}
	return reach
}

// refused is the end of a cluster that the target does not suit.
func refused(why *fleetv1.Ineligible) cluster.Step {
	return cluster.Step{
		Action: cluster.None, Phase: policy.Ineligible, Reason: why.Reason, Message: why.Message, Settled: true,
	}
}

// write reports a look, where it says anything new.
func (r *Reconciler) write(ctx context.Context, cu *fleetv1.ClusterUpgrade, l report.Look) error {
	status := report.Upgrade(cu, l, r.Clock.Now())
	if equality.Semantic.DeepEqual(status, cu.Status) {
		return nil
	}
	base := cu.DeepCopy()
	cu.Status = status
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := r.Hub.Status().Patch(ctx, cu, patch); err != nil {
		return fmt.Errorf("writing the status of ClusterUpgrade %s: %w", cu.Name, err)
	}
	r.Pace.Wrote(cu.UID)
	return nil
}

// act carries the step out on the member. The next look comes with the event of what was written.
func (r *Reconciler) act(ctx context.Context, step cluster.Step, s scene, d drive.Member) (reconcile.Result, error) {
	now := r.Clock.Now()
	if step.Action == cluster.None {
		return reconcile.Result{RequeueAfter: min(step.Wait(now), pace.Longest)}, nil
	}
	log.FromContext(ctx).Info("acting", "step", step.String(), "message", step.Message)
	err := carryOut(ctx, step, s, d, now)
	switch {
	case errors.Is(err, drive.ErrStale):
		return reconcile.Result{RequeueAfter: s.patience()}, nil
	case err == nil, errors.Is(err, drive.ErrClaimLost):
		return reconcile.Result{RequeueAfter: again}, nil
	}
	return reconcile.Result{}, fmt.Errorf("%s: %w", step.Action, err)
}
