// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package observe turns the hub's objects into the plain values that package policy decides on. It reads what it is
// given: no client, no clock.
package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/windlass-dev/windlass/engine/capi"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
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
		mc := inv.Members[wc.Spec.ManagementCluster]
		if mc == nil || !match.selects(wc, mc) {
			continue
		}
		selected[wc.Path()] = true
		in.Candidates = append(in.Candidates, candidate(wc, in.Target, in.Order, match))
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

func waveSpec(i int, w *fleetv1.Wave) (policy.WaveSpec, error) {
	spec := policy.WaveSpec{Name: w.Name, Rest: w.Rest != nil && *w.Rest}
	if w.Percent != nil {
		spec.Percent = int(*w.Percent)
	}
	var err error
	if spec.MaxConcurrency, err = amount(w.MaxConcurrency, policy.Amount{Value: 1}); err != nil {
		return spec, fmt.Errorf("spec.waves[%d].maxConcurrency: %w", i, err)
	}
	if spec.MaxFailures, err = amount(w.MaxFailures, policy.Amount{}); err != nil {
		return spec, fmt.Errorf("spec.waves[%d].maxFailures: %w", i, err)
	}
	return spec, nil
}

func amount(v *intstr.IntOrString, otherwise policy.Amount) (policy.Amount, error) {
	if v == nil {
		return otherwise, nil
	}
	return policy.ParseAmount(v.String())
}

// candidate is one selected cluster as values.
func candidate(wc *fleetv1.WorkloadCluster, t policy.Target, order policy.Order, m *matching) policy.Candidate {
	c := policy.Candidate{
		ID: wc.Name, Path: wc.Path(), Member: wc.Spec.ManagementCluster,
		CanaryMatch: m.canary(wc), WaveMatches: m.waves(wc), Unsupported: wc.Status.Unsupported,
	}
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
	if versions := distinct(slices.Concat(c.ControlPlaneVersions, c.WorkerVersions)); c.AtTarget && len(versions) == 1 {
		c.Kubelets = map[string]string{}
		for _, architecture := range c.Architectures {
			c.Kubelets[architecture] = versions[0]
		}
	}
	return c
}

// atTarget: every machine of every owner that the order takes is proven: its release is the target, its kubelet fits, and
// the cluster is healthy (law 3).
func atTarget(wc *fleetv1.WorkloadCluster, t policy.Target, order policy.Order) bool {
	if !meta.IsStatusConditionTrue(wc.Status.Conditions, fleetv1.HealthyCondition) {
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

// matching evaluates the selectors of a policy.
type matching struct {
	spec              *fleetv1.RolloutPolicySpec
	clusters, members labels.Selector
	canaries          labels.Selector
	perWave           []labels.Selector
}

func matchers(spec *fleetv1.RolloutPolicySpec) (*matching, error) {
	m := &matching{spec: spec}
	read := func(field string, s *metav1.LabelSelector) (labels.Selector, error) {
		if s == nil {
			return nil, nil
		}
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w; accepted: matchLabels: {tier: prod}", field, metav1.FormatLabelSelector(s), err)
		}
		return selector, nil
	}
	var errs [3]error
	m.clusters, errs[0] = read("spec.clusters.selector", spec.Clusters.Selector)
	m.members, errs[1] = read("spec.clusters.managementClusterSelector", spec.Clusters.ManagementClusterSelector)
	m.canaries, errs[2] = read("spec.canaries.selector", spec.Canaries.Selector)
	for i := range spec.Waves {
		s, err := read(fmt.Sprintf("spec.waves[%d].selector", i), spec.Waves[i].Selector)
		if err != nil {
			return nil, err
		}
		m.perWave = append(m.perWave, s)
	}
	return m, cmp.Or(errs[0], errs[1], errs[2])
}

// selects: by name, or all, or by the selectors that are given; none given selects nothing (law 21).
func (m *matching) selects(wc *fleetv1.WorkloadCluster, mc *fleetv1.ManagementCluster) bool {
	c := m.spec.Clusters
	switch {
	case c.All != nil && *c.All, slices.Contains(c.Names, wc.Path()):
		return true
	case m.clusters == nil && m.members == nil:
		return false
	}
	return (m.clusters == nil || m.clusters.Matches(labels.Set(wc.Labels))) &&
		(m.members == nil || m.members.Matches(labels.Set(mc.Labels)))
}

func (m *matching) canary(wc *fleetv1.WorkloadCluster) bool {
	return slices.Contains(m.spec.Canaries.Names, wc.Path()) ||
		(m.canaries != nil && m.canaries.Matches(labels.Set(wc.Labels)))
}

func (m *matching) waves(wc *fleetv1.WorkloadCluster) []int {
	var matches []int
	for i, s := range m.perWave {
		if slices.Contains(m.spec.Waves[i].Names, wc.Path()) || (s != nil && s.Matches(labels.Set(wc.Labels))) {
			matches = append(matches, i)
		}
	}
	return matches
}
