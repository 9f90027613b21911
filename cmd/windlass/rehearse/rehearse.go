// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package rehearse makes of a policy and an inventory the rollout that the hub would make of them, plan and all, and plays
// it through virtual time. Nothing is written anywhere.
package rehearse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/fleet/observe"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// Rehearsal is a rollout that is planned and not begun.
type Rehearsal struct {
	// Policy that is carried out, Plan that was made of it, and Hub with the ClusterUpgrades that it would have.
	Policy *fleetv1.RolloutPolicy
	Plan   policy.Plan
	Hub    observe.Hub
	// Fleet as Decide sees it.
	Fleet policy.Fleet
	// At is when it was planned.
	At time.Time

	zones map[string]*time.Location
}

// Options say what is rehearsed.
type Options struct {
	// Policy by name; empty: the only one there is.
	Policy string
	// HubNamespace whose Freezes cover every namespace.
	HubNamespace string
	// At is when it is planned.
	At time.Time
}

// New plans the rollout of a policy. The errors are those that the hub would show on the policy.
func New(objects *files.Objects, o Options) (*Rehearsal, error) {
	p, err := choose(objects.Policies, o.Policy)
	if err != nil {
		return nil, err
	}
	if p, err = settled(p, objects); err != nil {
		return nil, err
	}
	target, err := observe.Resolve(p.Spec.Target)
	if err != nil {
		return nil, fmt.Errorf("RolloutPolicy %s: %w", p.Name, err)
	}
	inv := inventory(objects, p.Namespace)
	in, err := observe.PlanInput(&p.Spec, target, inv)
	if err != nil {
		return nil, fmt.Errorf("RolloutPolicy %s: %w", p.Name, err)
	}
	plan, err := policy.MakePlan(in)
	if problem := (*policy.PlanError)(nil); errors.As(err, &problem) {
		return nil, fmt.Errorf("RolloutPolicy %s is not planned: %s: %w", p.Name, problem.Reason, problem)
	}
	if err != nil {
		return nil, err
	}
	hub := hubOf(objects, p, target, o.HubNamespace)
	hub = observe.Committed(hub, inv, plan, o.At)
	return &Rehearsal{Policy: p, Plan: plan, Hub: hub, Fleet: observe.Fleet(hub), At: o.At}, nil
}

// hubOf is what the hub would know of the rollout.
func hubOf(objects *files.Objects, p *fleetv1.RolloutPolicy, target fleetv1.Target, hubNamespace string) observe.Hub {
	freezes := within(objects.Freezes, p.Namespace)
	if hubNamespace != p.Namespace {
		for _, fz := range objects.Freezes {
			if fz.Namespace == hubNamespace {
				freezes = append(freezes, fz)
			}
		}
	}
	return observe.Hub{
		Rollout: &fleetv1.Rollout{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name + "-rehearsal", UID: "rehearsal"},
			Spec: fleetv1.RolloutSpec{
				Policy: fleetv1.LocalRef{Name: p.Name, UID: p.UID}, Target: target, Number: p.Status.Number + 1,
			},
		},
		Policy: p, Calendars: within(objects.Calendars, p.Namespace), Freezes: freezes, Compiled: &observe.Calendars{},
	}
}

// settled is the policy in the namespace of its inventory: a file that names none takes the only one there is.
func settled(p *fleetv1.RolloutPolicy, objects *files.Objects) (*fleetv1.RolloutPolicy, error) {
	var namespaces []string
	for _, mc := range objects.Members {
		if !slices.Contains(namespaces, mc.Namespace) {
			namespaces = append(namespaces, mc.Namespace)
		}
	}
	slices.Sort(namespaces)
	switch {
	case len(namespaces) == 0:
		return nil, errors.New("the inventory holds no ManagementCluster; " +
			"accepted: what kubectl get mc,wc,cal,fz -n fleet -o yaml prints")
	case slices.Contains(namespaces, p.Namespace):
		return p, nil
	case p.Namespace == "" && len(namespaces) == 1:
		p = p.DeepCopy()
		p.Namespace = namespaces[0]
		return p, nil
	}
	return nil, fmt.Errorf("RolloutPolicy %s is of namespace %q, and the inventory of %s; accepted: metadata.namespace: %s",
		p.Name, p.Namespace, strings.Join(namespaces, ", "), namespaces[0])
}

// Play is how a rehearsal is carried out.
type Play struct {
	// From is when it begins; Until is when to stop at the latest, zero: a year later.
	From, Until time.Time
	// Zone of the days that it is told by.
	Zone *time.Location
	// Script is what befalls the fleet.
	Script []simulate.Event
	// Approved: approvals are taken as given as soon as they are asked for.
	Approved bool
}

// Trial is a rehearsal that was carried out.
type Trial struct {
	simulate.Result
	play    Play
	journal *journal
}

// Run carries the rollout out in virtual time.
func (r *Rehearsal) Run(p Play) *Trial {
	before := fleetv1.BeforeStartCatchUp
	if u := r.Policy.Spec.Unreachable; u != nil {
		before = u.BeforeStart
	}
	if p.Zone == nil {
		p.Zone = time.UTC
	}
	t := &Trial{play: p, journal: newJournal(r.Fleet, r.Policy.Spec.Calendars, p.Zone)}
	t.Result = simulate.Run(simulate.Input{
		Name: r.Policy.Name, Fleet: r.Fleet, From: p.From, Until: p.Until, Script: p.Script, Approved: p.Approved,
		FailBeforeStart: before == fleetv1.BeforeStartFail, WaitBeforeStart: before == fleetv1.BeforeStartWait,
		Watch: t.journal.watch,
	})
	return t
}

// choose finds the policy that is meant.
func choose(policies []*fleetv1.RolloutPolicy, name string) (*fleetv1.RolloutPolicy, error) {
	names := make([]string, 0, len(policies))
	for _, p := range policies {
		if p.Name == name || name == "" && len(policies) == 1 {
			return p, nil
		}
		names = append(names, p.Name)
	}
	slices.Sort(names)
	switch {
	case len(policies) == 0:
		return nil, errors.New("there is no RolloutPolicy; accepted: -f policy.yaml beside -f inventory.yaml")
	case name == "":
		return nil, fmt.Errorf("there are %d policies: %s; name one with --policy", len(names), strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("no RolloutPolicy is called %q; accepted: %s", name, strings.Join(names, ", "))
}

// inventory is what a policy of a namespace may select from.
func inventory(objects *files.Objects, namespace string) observe.Inventory {
	inv := observe.Inventory{
		Members: map[string]*fleetv1.ManagementCluster{}, Clusters: within(objects.Clusters, namespace),
	}
	for _, mc := range within(objects.Members, namespace) {
		inv.Members[mc.Name] = mc
	}
	return inv
}

// within are the objects of one namespace, and those of files that name none.
func within[T metav1.Object](all []T, namespace string) []T {
	var here []T
	for _, o := range all {
		if o.GetNamespace() == namespace || o.GetNamespace() == "" {
			here = append(here, o)
		}
	}
	return here
}
