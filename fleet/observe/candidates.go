// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package observe turns the hub's objects into the plain values that package policy decides on. It reads what it is
// given: no client, no clock.
package observe

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/version"
)

// unknown is the name under which the inventory counts machines that do not report a value.
const unknown = "unknown"

// Inventory is what a policy may select from: the objects of its namespace.
type Inventory struct {
	Members  map[string]*fleetv1.ManagementCluster
	Clusters []*fleetv1.WorkloadCluster
}

// PlanInput gathers what a plan of a policy depends on. The error names the field that cannot be read.
func PlanInput(spec *fleetv1.RolloutPolicySpec, target fleetv1.Target, inv Inventory) (policy.PlanInput, error) {
	match, err := matchers(spec)
	if err != nil {
		return policy.PlanInput{}, err
	}
	settings := spec.Upgrade.Settings()
	in := policy.PlanInput{
		Target:                  Target(target),
		Order:                   policy.Order(settings.Order),
		AllowSingleControlPlane: settings.SingleControlPlane == fleetv1.SingleControlPlaneAllow,
		NoCanaries:              spec.Canaries.None != nil && *spec.Canaries.None,
	}
	for i := range spec.Waves {
		w, err := waveSpec(i, &spec.Waves[i])
		if err != nil {
			return policy.PlanInput{}, err
		}
		in.Waves = append(in.Waves, w)
	}
	selected := map[string]bool{}
	for _, wc := range inv.Clusters {
		mc, path := inv.Members[wc.Spec.ManagementCluster], wc.Path()
		if mc == nil || !match.selects(wc, mc, path) {
			continue
		}
		selected[path] = true
		c := candidate(wc, in.Target, in.Order)
		c.Path, c.CanaryMatch, c.WaveMatches = path, match.canary(wc, path), match.waves(wc, path)
		in.Candidates = append(in.Candidates, c)
	}
	in.AbsentCanaries = absentCanaries(spec.Canaries, selected, in.Candidates)
	in.AbsentNames = absentNames(spec, selected)
	return in, nil
}

// Target is what to upgrade to, as values.
func Target(t fleetv1.Target) policy.Target {
	return policy.Target{
		Text:         Text(t),
		Version:      t.Version,
		Architecture: t.Architecture,
		MinorUpgrade: t.MinorUpgrade == fleetv1.MinorUpgradeAllow,
		OnMovedHalt:  t.OnMoved != fleetv1.OnMovedContinue,

		RefreshedAfter: instant(t.RefreshedAfter),
	}
}

// Text is the target as the annotations carry it.
func Text(t fleetv1.Target) string {
	switch {
	case t.Channel != nil:
		return "channel=" + *t.Channel
	case t.Revision != nil:
		return "revision=" + *t.Revision
	case t.LocalPath != nil:
		return "localPath=" + *t.LocalPath
	}
	return ""
}

// Resolve fills in the version that done means: a channel whose track begins with a minor means that minor.
func Resolve(t fleetv1.Target) (fleetv1.Target, error) {
	if t.Version != "" || t.Channel == nil {
		return t, nil
	}
	track, _, _ := strings.Cut(*t.Channel, "/")
	minor, _, _ := strings.Cut(track, "-")
	if !capi.OnlyMinor(minor) {
		return t, fmt.Errorf("spec.target.version is missing: the track of channel %q does not begin with a minor; "+
			"accepted: version: v1.33.9", *t.Channel)
	}
	t.Version = "v" + minor
	return t, nil
}

// waveSpec reads a wave. What the API server refuses is refused here, too: it may have been stored before it was.
func waveSpec(i int, w *fleetv1.Wave) (policy.WaveSpec, error) {
	spec := policy.WaveSpec{Name: w.Name, Rest: w.Rest != nil && *w.Rest}
	if w.Name == fleetv1.WaveCanaries || w.Name == fleetv1.WaveCatchUp {
		return spec, fmt.Errorf("spec.waves[%d].name: %s is a wave of the hub's own; accepted: early", i, w.Name)
	}
	if w.Percent != nil {
		spec.Percent = int(*w.Percent)
	}
	var err error
	if spec.MaxConcurrency, err = amount(w.MaxConcurrency, policy.Amount{Value: 1}); err != nil {
		return spec, fmt.Errorf("spec.waves[%d].maxConcurrency: %w", i, err)
	}
	if spec.MaxConcurrency.Value == 0 {
		return spec, fmt.Errorf("spec.waves[%d].maxConcurrency: %s would never move; accepted: 2, 25%%", i, spec.MaxConcurrency)
	}
	if spec.MaxFailures, err = amount(w.MaxFailures, policy.Amount{}); err != nil {
		return spec, fmt.Errorf("spec.waves[%d].maxFailures: %w", i, err)
	}
	return spec, nil
}

// amount reads a count or a percentage. Text that is no percentage is not taken for a count (law 21).
func amount(v *intstr.IntOrString, otherwise policy.Amount) (policy.Amount, error) {
	if v == nil {
		return otherwise, nil
	}
	if v.Type == intstr.String && !strings.HasSuffix(v.StrVal, "%") {
		return policy.Amount{}, fmt.Errorf("%q is no percentage; accepted: 2, 25%%", v.StrVal)
	}
	return policy.ParseAmount(v.String())
}

// candidate is one selected cluster as values, but for what the policy says about it.
func candidate(wc *fleetv1.WorkloadCluster, t policy.Target, order policy.Order) policy.Candidate {
	c := policy.Candidate{ID: wc.Name, Member: wc.Spec.ManagementCluster, Unsupported: wc.Status.Unsupported}
	if wc.Status.ObservedTime == nil || wc.Status.ControlPlane == nil {
		return c
	}
	cp := wc.Status.ControlPlane
	c.ControlPlaneReplicas = int(cp.Replicas)
	c.ControlPlaneVersions = names(cp.ByKubelet)
	owners := append([]fleetv1.OwnerStatus{*cp}, wc.Status.Pools...)
	for _, o := range owners {
		c.Architectures = append(c.Architectures, names(o.ByArchitecture)...)
	}
	for _, pool := range wc.Status.Pools {
		c.WorkerVersions = append(c.WorkerVersions, names(pool.ByKubelet)...)
	}
	c.WorkerVersions, c.Architectures = distinct(c.WorkerVersions), distinct(c.Architectures)
	all := slices.Concat(c.ControlPlaneVersions, c.WorkerVersions, c.Architectures)
	c.Known = len(c.ControlPlaneVersions) > 0 && !slices.Contains(all, unknown)
	c.AtTarget = c.Known && c.Unsupported == "" && atTarget(wc, t, order)
	c.Carried = carried(wc, t, order)
	if versions := distinct(slices.Concat(c.ControlPlaneVersions, c.WorkerVersions)); c.AtTarget && len(versions) == 1 {
		c.Kubelets = map[string]string{}
		for _, architecture := range c.Architectures {
			c.Kubelets[architecture] = versions[0]
		}
	}
	return c
}

// atTarget: every machine of every owner that the order takes is proven: its release is the target, its kubelet fits, and
// the cluster is healthy (law 3). When a machine was refreshed is not recorded, so that none is proven to be refreshed after
// an instant.
func atTarget(wc *fleetv1.WorkloadCluster, t policy.Target, order policy.Order) bool {
	if !meta.IsStatusConditionTrue(wc.Status.Conditions, fleetv1.HealthyCondition) || !t.RefreshedAfter.IsZero() {
		return false
	}
	for _, o := range OwnersOf(wc, order) {
		if !all(o.ByRelease, func(release string) bool { return release == t.Text }) ||
			!all(o.ByKubelet, func(kubelet string) bool { return capi.Fits(kubelet, t.Version) }) ||
			(capi.OnlyMinor(t.Version) && len(o.ByKubelet) > 1) {
			return false
		}
	}
	return true
}

// carried tells how many of the machines that the order takes were last refreshed to this very target.
func carried(wc *fleetv1.WorkloadCluster, t policy.Target, order policy.Order) version.Carried {
	some, every := false, true
	for _, o := range OwnersOf(wc, order) {
		for _, release := range o.ByRelease {
			some, every = some || release.Name == t.Text, every && release.Name == t.Text
		}
	}
	switch {
	case !some:
		return version.CarriedByNone
	case every:
		return version.CarriedByAll
	}
	return version.CarriedBySome
}

// OwnersOf are the owners that an order takes, in that order.
func OwnersOf(wc *fleetv1.WorkloadCluster, order policy.Order) []fleetv1.OwnerStatus {
	var owners []fleetv1.OwnerStatus
	if order != policy.WorkersOnly && wc.Status.ControlPlane != nil {
		owners = append(owners, *wc.Status.ControlPlane)
	}
	if order != policy.ControlPlaneOnly {
		owners = append(owners, wc.Status.Pools...)
	}
	return owners
}

func all(counts []fleetv1.VersionCount, ok func(string) bool) bool {
	return !slices.ContainsFunc(counts, func(c fleetv1.VersionCount) bool { return !ok(c.Name) })
}

func names(counts []fleetv1.VersionCount) []string {
	list := make([]string, 0, len(counts))
	for _, c := range counts {
		list = append(list, c.Name)
	}
	slices.Sort(list)
	return list
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func absentCanaries(c fleetv1.Canaries, selected map[string]bool, candidates []policy.Candidate) []string {
	absent := missing(c.Names, selected)
	isCanary := func(c policy.Candidate) bool { return c.CanaryMatch }
	if c.Selector != nil && !slices.ContainsFunc(candidates, isCanary) {
		absent = append(absent, "selector "+metav1.FormatLabelSelector(c.Selector))
	}
	return absent
}

func absentNames(spec *fleetv1.RolloutPolicySpec, selected map[string]bool) []string {
	absent := missing(spec.Clusters.Names, selected)
	for i := range spec.Waves {
		absent = append(absent, missing(spec.Waves[i].Names, selected)...)
	}
	return distinct(absent)
}

func missing(names []string, selected map[string]bool) []string {
	var absent []string
	for _, name := range names {
		if !selected[name] {
			absent = append(absent, name)
		}
	}
	return absent
}
