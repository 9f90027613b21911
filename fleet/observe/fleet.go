// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

// Hub is what the hub knows when a rollout is decided on.
type Hub struct {
	Rollout *fleetv1.Rollout
	// Policy of the rollout; nil when it was deleted, or is another object of that name now.
	Policy *fleetv1.RolloutPolicy
	// Superseded: a newer Rollout of the policy exists.
	Superseded bool
	Members    map[string]*fleetv1.ManagementCluster
	// Upgrades are all ClusterUpgrades of the namespace, of every rollout: limits count them all (law 4).
	Upgrades []*fleetv1.ClusterUpgrade
	// Siblings are the UIDs of the other Rollouts of the same policy.
	Siblings map[types.UID]bool
	// PlanReason and PlanMessage say why planning waits.
	PlanReason, PlanMessage string

	// WorkloadClusters, Calendars and Approvals of the namespace.
	WorkloadClusters []*fleetv1.WorkloadCluster
	Calendars        []*fleetv1.MaintenanceCalendar
	Approvals        []*fleetv1.Approval
	// Freezes of the namespace and of the hub's own, which cover every namespace.
	Freezes []*fleetv1.Freeze
	// Rollouts and Policies of the namespace, from which the rollouts that want the same clusters are told.
	Rollouts []*fleetv1.Rollout
	Policies []*fleetv1.RolloutPolicy
	// AuthorsVerified tells whether the API server vouched for the author of an Approval; nil: it did for none.
	AuthorsVerified func(*fleetv1.Approval) bool
	// Compiled keeps calendars compiled from look to look; nil keeps none.
	Compiled *Calendars
}

// Fleet is the rollout as values.
func Fleet(h Hub) policy.Fleet {
	b := newBuilder(&h)
	ro := h.Rollout
	f := policy.Fleet{
		Committed:  ro.Status.Plan != nil,
		PlanReason: h.PlanReason, PlanMessage: h.PlanMessage,
		Paused:      h.Policy != nil && h.Policy.Spec.Paused,
		Cancelled:   !ro.DeletionTimestamp.IsZero() || h.Policy == nil,
		Superseded:  h.Superseded,
		Members:     b.members(),
		OtherActive: b.otherActive,
		Proven:      Proven(ro.Status.Proven),
		OnMovedHalt: ro.Spec.Target.OnMoved != fleetv1.OnMovedContinue,
		Waves:       b.waves(),
		Limits:      b.limits(),
		Freezes:     b.freezes(),
		Approvals:   b.approvals(),
		Shown:       shown(ro),
		Unreachable: policy.Unreachable{Grace: fleetv1.DefaultUnreachableGrace, MaxUnknown: -1},
		CatchUpFor:  fleetv1.DefaultCatchUpUntil,
	}
	f.HasCanaries = slices.ContainsFunc(f.Waves, func(w policy.Wave) bool { return w.Canary })
	f.Sticky, f.StickyReason, f.StickyMessage = sticky(ro)
	if h.Policy != nil {
		settings(&f, &h.Policy.Spec)
	}
	f.Clusters, f.Calendars = b.clusters(f.Waves)
	f.Digest, _ = Terms(h, f)
	return f
}

// settings are those that apply at once when the policy is edited.
func settings(f *policy.Fleet, s *fleetv1.RolloutPolicySpec) {
	f.UnknownField = s.WhyUnknown()
	f.ReserveBudget = s.FailureBudget == fleetv1.BudgetReserved
	if s.Change != nil {
		f.RequestedBy = s.Change.RequestedBy
	}
	if u := s.Unreachable; u != nil {
		override(&f.Unreachable.Grace, u.Grace)
		if u.MaxUnknown != nil {
			f.Unreachable.MaxUnknown = int(*u.MaxUnknown)
		}
	}
	if s.CatchUp != nil {
		override(&f.CatchUpFor, s.CatchUp.Until)
	}
}

// shown is the wait that was last reported.
func shown(ro *fleetv1.Rollout) *policy.Waiting {
	w := ro.Status.Waiting
	if w == nil {
		return nil
	}
	return &policy.Waiting{
		Reason: w.Reason, Message: w.Message, Since: instant(w.Since), Until: instant(w.Until),
		Act: ro.Status.Until == fleetv1.UntilAct,
	}
}

// builder holds what several parts of a Fleet are made of.
type builder struct {
	hub *Hub
	// mine are the ClusterUpgrades of the rollout that the target suits, in plan order.
	mine []*fleetv1.ClusterUpgrade
	// byName are the WorkloadClusters.
	byName map[string]*fleetv1.WorkloadCluster
	// active counts clusters in flight by member, otherActive those of other Rollouts of the policy.
	active      map[string]int
	otherActive int
	// elsewhere are the upgrades in flight of other Rollouts.
	elsewhere []*fleetv1.ClusterUpgrade
}

func newBuilder(h *Hub) *builder {
	b := &builder{hub: h, byName: make(map[string]*fleetv1.WorkloadCluster, len(h.WorkloadClusters)), active: map[string]int{}}
	for _, wc := range h.WorkloadClusters {
		b.byName[wc.Name] = wc
	}
	for _, cu := range h.Upgrades {
		mine := cu.Spec.Rollout.UID == h.Rollout.UID
		if mine && cu.Spec.Ineligible == nil {
			b.mine = append(b.mine, cu)
		}
		if !InFlight(cu) {
			continue
		}
		b.active[cu.Spec.ManagementCluster]++
		if h.Siblings[cu.Spec.Rollout.UID] {
			b.otherActive++
		}
		if !mine {
			b.elsewhere = append(b.elsewhere, cu)
		}
	}
	inOrder(b.mine)
	return b
}

// recorded is the WorkloadCluster of an upgrade; nil: it is gone, or another of that name.
func (b *builder) recorded(cu *fleetv1.ClusterUpgrade) *fleetv1.WorkloadCluster {
	wc := b.byName[cu.Spec.WorkloadCluster.Name]
	if wc == nil || wc.UID != cu.Spec.WorkloadCluster.UID {
		return nil
	}
	return wc
}

func (b *builder) members() map[string]policy.Member {
	members := make(map[string]policy.Member, len(b.hub.Members))
	for name, mc := range b.hub.Members {
		members[name] = member(mc, b.active[name])
	}
	return members
}

// clusters are those of the rollout, in plan order, and the calendars that apply to them.
func (b *builder) clusters(waves []policy.Wave) ([]policy.Cluster, map[string]policy.Calendar) {
	index := make(map[string]int, len(waves))
	for i, w := range waves {
		index[w.Name] = i
	}
	var list []policy.Cluster
	hours, rivals, measured := newHours(b.hub), b.rivals(), b.measured()
	for _, cu := range b.mine {
		wave, found := index[cu.Spec.Wave]
		if !found {
			wave = -1
		}
		wc := b.recorded(cu)
		c := cluster(cu, wave)
		c.Calendars = hours.of(cu, wc)
		c.Groups = b.groups(cu)
		c.Work = measured.work(cu, wc)
		c.Health, c.HealthSince = health(wc, b.hub.Members[cu.Spec.ManagementCluster])
		c.Rival = rivals[cu.Spec.WorkloadCluster]
		list = append(list, c)
	}
	return list, hours.all
}

// Proven reads proven versions.
func Proven(list []fleetv1.ProvenVersion) map[string]string {
	proven := map[string]string{}
	for _, p := range list {
		proven[p.Architecture] = p.Version
	}
	return proven
}

// sticky is a phase that only an act or a new target leaves (law 6).
func sticky(ro *fleetv1.Rollout) (phase policy.Phase, reason, message string) {
	lasting := [...]fleetv1.RolloutPhase{fleetv1.RolloutHalted, fleetv1.RolloutCancelled, fleetv1.RolloutSuperseded}
	if !slices.Contains(lasting[:], ro.Status.Phase) {
		return "", "", ""
	}
	if c := meta.FindStatusCondition(ro.Status.Conditions, fleetv1.ReadyCondition); c != nil {
		reason, message = c.Reason, c.Message
	}
	return policy.Phase(ro.Status.Phase), reason, message
}

// InFlight reports whether an upgrade holds a slot, by what the hub wrote and by what was reported (law 4).
func InFlight(cu *fleetv1.ClusterUpgrade) bool {
	if cu.Spec.Ineligible != nil {
		return false
	}
	// One that was put off is started by its own controller as soon as the cause is gone, until its intent is taken back.
	ended := policy.ClusterPhase(cu.Status.Phase).Ended() && cu.Status.Phase != fleetv1.UpgradeDeferred
	if ended && (cu.Status.Settled || cu.Status.Phase == fleetv1.UpgradeRemoved) {
		return false
	}
	return cu.Spec.Intent != fleetv1.IntentWait || returning(cu)
}

// returning: the intent went back to Wait and the upgrade controller has not confirmed it.
func returning(cu *fleetv1.ClusterUpgrade) bool {
	return cu.Spec.Intent == fleetv1.IntentWait && !NeverAsked(cu) &&
		(cu.Status.ObservedGeneration < cu.Generation || cu.Status.Claimed)
}

// ForeseenAnnotation is the generation of a ClusterUpgrade up to which nothing but its prediction was written.
const ForeseenAnnotation = "fleet.windlass.dev/foreseen-generation"

// NeverAsked: nothing was ever asked for the cluster, since its spec never changed, but for the prediction.
func NeverAsked(cu *fleetv1.ClusterUpgrade) bool {
	foreseen, err := strconv.ParseInt(cu.Annotations[ForeseenAnnotation], 10, 64)
	if err != nil {
		foreseen = 1
	}
	return cu.Spec.Intent == fleetv1.IntentWait && cu.Generation <= max(1, foreseen)
}

func cluster(cu *fleetv1.ClusterUpgrade, wave int) policy.Cluster {
	until, _ := time.Parse(time.RFC3339, cu.Status.Until) // else it is no instant
	return policy.Cluster{
		Until: until, Act: cu.Status.Until == fleetv1.UntilAct,
		ID: cu.Name, Path: cu.Path(), Member: cu.Spec.ManagementCluster, Wave: wave,
		Intent: policy.Intent(cu.Spec.Intent), Returning: returning(cu),
		Phase: policy.ClusterPhase(cu.Status.Phase), Reason: cu.Status.Reason, Message: cu.Status.Message,
		Since: instant(cu.Status.Since), LastError: cu.Status.LastError, Versions: Proven(cu.Status.Versions),
		EndedAt: instant(cu.Status.EndedAt), Settled: cu.Status.Settled,
		NotAfter: instant(cu.Spec.NotAfter), LastProgressAt: instant(cu.Status.LastProgressAt),
	}
}

func member(mc *fleetv1.ManagementCluster, active int) policy.Member {
	m := policy.Member{Upgrade: mc.Spec.Access == fleetv1.AccessUpgrade, Active: active}
	if mc.Spec.MaxConcurrentClusters != nil {
		m.MaxConcurrentClusters = int(*mc.Spec.MaxConcurrentClusters)
	}
	if why := mc.Spec.WhyUnknown(); why != "" {
		m.Reason, m.Message = fleetv1.UnknownFieldReason, why
		return m
	}
	ready := meta.FindStatusCondition(mc.Status.Conditions, fleetv1.ReadyCondition)
	if ready == nil {
		m.Never, m.Reason, m.Message = true, fleetv1.ConnectingReason, "it has not been looked at yet"
		return m
	}
	m.Ready = ready.Status == metav1.ConditionTrue
	if !m.Ready {
		m.Reason, m.Message, m.Since = ready.Reason, ready.Message, ready.LastTransitionTime.Time
		m.Never = mc.Status.ClusterID == "" // which is kept from its first answer
	}
	return m
}

// instant reads an optional time.
func instant(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// override sets a duration where one is given.
func override(d *time.Duration, given *metav1.Duration) {
	if given != nil {
		*d = given.Duration
	}
}

// inOrder sorts upgrades by their place in the plan.
func inOrder(upgrades []*fleetv1.ClusterUpgrade) {
	slices.SortFunc(upgrades, func(a, b *fleetv1.ClusterUpgrade) int {
		return cmp.Or(cmp.Compare(a.Spec.Position, b.Spec.Position), cmp.Compare(a.Name, b.Name))
	})
}
