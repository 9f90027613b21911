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
}

// New plans the rollout of a policy; an empty name stands for the only one there is. The errors are those that the hub
// would show on the policy.
func New(objects *files.Objects, name string, now time.Time) (*Rehearsal, error) {
	p, err := choose(objects.Policies, name)
	if err != nil {
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
	hub := observe.Hub{
		Rollout: &fleetv1.Rollout{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name + "-rehearsal", UID: "rehearsal"},
			Spec: fleetv1.RolloutSpec{
				Policy: fleetv1.LocalRef{Name: p.Name, UID: p.UID}, Target: target, Number: p.Status.Number + 1,
			},
		},
		Policy:    p,
		Calendars: within(objects.Calendars, p.Namespace), Freezes: within(objects.Freezes, p.Namespace),
		Compiled:        &observe.Calendars{},
		AuthorsVerified: func(*fleetv1.Approval) bool { return true },
	}
	hub = observe.Committed(hub, inv, plan, now)
	return &Rehearsal{Policy: p, Plan: plan, Hub: hub, Fleet: observe.Fleet(hub), At: now}, nil
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

// Run carries the rollout out in virtual time.
func (r *Rehearsal) Run(p Play) simulate.Result {
	before := fleetv1.BeforeStartCatchUp
	if u := r.Policy.Spec.Unreachable; u != nil {
		before = u.BeforeStart
	}
	return simulate.Run(simulate.Input{
		Name: r.Policy.Name, Fleet: r.Fleet, From: p.From, Until: p.Until, Script: p.Script, Approved: p.Approved,
		FailBeforeStart: before == fleetv1.BeforeStartFail, WaitBeforeStart: before == fleetv1.BeforeStartWait,
	})
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
		return nil, errors.New("the files hold no RolloutPolicy; accepted: -f policy.yaml beside -f inventory.yaml")
	case name == "":
		return nil, fmt.Errorf("the files hold %d policies: %s; name one with --policy", len(names), strings.Join(names, ", "))
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

// within are the objects of one namespace.
func within[T metav1.Object](all []T, namespace string) []T {
	var here []T
	for _, o := range all {
		if o.GetNamespace() == namespace {
			here = append(here, o)
		}
	}
	return here
}
