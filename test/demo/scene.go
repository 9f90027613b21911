// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/fleet"
)

// What the demo shows.
const (
	policyName   = "k8s-1-33"
	target       = "channel=1.33-classic/stable"
	version      = "v1.33.9"
	refreshTakes = 400 * time.Millisecond

	canary         = "mgmt-a/shop/a-1"
	unlucky        = "mgmt-b/shop/b-2"
	unluckyMachine = "b-2-blue-0"
	machines       = 6 * (3 + 2 + 3)
)

// policyText is the policy. Its waves' limits are those of limits.
const policyText = `apiVersion: fleet.windlass.dev/v1alpha1
kind: RolloutPolicy
metadata: {name: k8s-1-33, namespace: fleet}
spec:
  target: {channel: 1.33-classic/stable, version: v1.33.9}
  clusters: {selector: {matchLabels: {tier: prod}}}
  canaries: {names: [mgmt-a/shop/a-1]}
  waves:
  - {name: early, percent: 40, maxConcurrency: 2}
  - {name: rest, rest: true, maxConcurrency: 2}
  anyTime: true
  upgrade:
    maxConcurrentMachines: 2
    machine: {timeout: 1m, maxAttempts: 3, backoff: 1s}
`

// limits are the clusters that each wave of the policy may have in flight.
func limits() map[string]int { return map[string]int{policy.CanaryWave: 1, "early": 2, "rest": 2} }

func members() []fleet.Member {
	cluster := func(name string) build.ClusterSpec {
		return build.Cluster("shop", name).Label("tier", "prod").
			ControlPlane(3).Pool("blue", 2).Pool("green", 3).
			At("v1.33.4").Release("channel=1.33-classic/candidate")
	}
	return []fleet.Member{
		{
			Name: "mgmt-a", Engine: fleetv1.EngineAgent,
			Clusters: []build.ClusterSpec{cluster("a-1"), cluster("a-2"), cluster("a-3")},
		},
		{
			Name: "mgmt-b", Engine: fleetv1.EngineHub,
			Clusters: []build.ClusterSpec{cluster("b-1"), cluster("b-2"), cluster("b-3")},
		},
	}
}

func apply(ctx context.Context, f *fleet.Fleet) error {
	p := &fleetv1.RolloutPolicy{}
	if err := yaml.UnmarshalStrict([]byte(policyText), p); err != nil {
		return err
	}
	return client.WithFieldValidation(f.Hub, metav1.FieldValidationStrict).Create(ctx, p)
}

// judge fails the demo where a rule was broken, where the witness saw nothing, or where the report does not say that all
// is done.
func judge(f *fleet.Fleet, w *fleet.Witness, r report.Report) error {
	var errs []error
	for _, rule := range w.Broken() {
		errs = append(errs, errors.New(rule))
	}
	if began := w.Began(); len(began) != 6 || began[0] != canary {
		errs = append(errs, fmt.Errorf("clusters began in the order %v, the canary %s is to be first of 6", began, canary))
	}
	for wave, limit := range limits() {
		if most := w.Most(wave); most != limit {
			errs = append(errs, fmt.Errorf("wave %s had %d clusters in flight at most, %d are allowed and were to be seen",
				wave, most, limit))
		}
	}
	if posts := len(f.World.Sim().Log()); posts != machines+1 {
		errs = append(errs, fmt.Errorf("%d refreshes were asked for, %d machines and one retry need %d", posts, machines,
			machines+1))
	}
	return errors.Join(append(errs, proven(r)...)...)
}

// proven checks that the report names every machine with its release and kubelet version, and every cluster as done.
func proven(r report.Report) []error {
	var errs []error
	seen := 0
	for _, c := range clusters(r) {
		for _, m := range c.Machines {
			seen++
			if m.Release != target || m.Kubelet != version {
				errs = append(errs, fmt.Errorf("machine %s of %s is at %s, kubelet %s", m.Name, c.Name, m.Release, m.Kubelet))
			}
		}
	}
	if seen != machines {
		errs = append(errs, fmt.Errorf("the report names %d machines of %d", seen, machines))
	}
	return errs
}

func clusters(r report.Report) []report.Cluster {
	var all []report.Cluster
	for _, ro := range r.Rollouts {
		for _, w := range ro.Waves {
			all = append(all, w.Clusters...)
		}
	}
	return all
}
