// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package inventory makes up the fleet of the tour: 500 clusters in 12 management clusters on four continents, as the hub
// would record them. It is the same fleet each time.
package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Clusters is how many there are.
const Clusters = 500

const (
	namespace    = "fleet"
	target       = "channel=1.33-classic/stable"
	before       = "channel=1.33-classic/stable/2026-10"
	architecture = "amd64"
)

// At is when the inventory was taken.
func At() metav1.Time { return metav1.NewTime(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)) }

// region is a part of the world.
type region struct {
	name, zone string
	members    int
}

func regions() []region {
	return []region{
		{"eu", "Europe/Berlin", 4},
		{"us", "America/New_York", 3},
		{"in", "Asia/Kolkata", 2},
		{"au", "Australia/Perth", 2},
		{"br", "America/Sao_Paulo", 1},
	}
}

// Object is one object of the hub.
type Object interface {
	metav1.Object
	runtime.Object
}

// Fleet is every object of the inventory: management clusters, then clusters.
func Fleet() []Object {
	var members, clusters []Object
	index, left, remaining := 0, Clusters, 12
	for _, r := range regions() {
		for m := range r.members {
			count := left / remaining
			left, remaining = left-count, remaining-1
			name := fmt.Sprintf("%s-%d", r.name, m+1)
			members = append(members, managementCluster(name, r, int32(count)))
			for c := range count {
				clusters = append(clusters, workloadCluster(name, r, c+1, index))
				index++
			}
		}
	}
	return append(members, clusters...)
}

func uid(parts ...string) types.UID {
	sum := sha256.Sum256(fmt.Append(nil, parts))
	text := hex.EncodeToString(sum[:16])
	return types.UID(text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:])
}

func kind(name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: fleetv1.GroupVersion.String(), Kind: name}
}

func is(condition, reason string) metav1.Condition {
	return metav1.Condition{
		Type: condition, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: At(), ObservedGeneration: 1,
	}
}

func managementCluster(name string, r region, count int32) *fleetv1.ManagementCluster {
	return &fleetv1.ManagementCluster{
		TypeMeta: kind("ManagementCluster"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "mgmt-" + name, UID: uid(name), Generation: 1,
			Labels:      map[string]string{"region": r.name},
			Annotations: map[string]string{fleetv1.TimeZoneAnnotation: r.zone},
		},
		Spec: fleetv1.ManagementClusterSpec{
			KubeconfigSecretRef: fleetv1.SecretRef{Name: "mgmt-" + name}, Engine: fleetv1.EngineAgent,
			Access: fleetv1.AccessUpgrade, MaxConcurrentClusters: new(int32(8)),
		},
		Status: fleetv1.ManagementClusterStatus{
			ObservedGeneration: 1, Clusters: new(count),
			Conditions: []metav1.Condition{is(fleetv1.ReadyCondition, fleetv1.AvailableReason)},
		},
	}
}

// workloadCluster is the n-th cluster of a member, and the i-th of the fleet. Its kind and size follow from i.
func workloadCluster(member string, r region, n, i int) *fleetv1.WorkloadCluster {
	s := sizeOf(i)
	cluster := fleetv1.ObjectRef{Namespace: "prod", Name: fmt.Sprintf("%s-%02d-%s", member, n, s.business)}
	cluster.UID = uid(member, cluster.Name)
	labels := map[string]string{"tier": "prod", "region": r.name, "business": s.business}
	if s.business == "edge" {
		const perSite = 4
		labels["example.com/site"] = fmt.Sprintf("%s-site-%d", member, n/perSite)
	} else {
		labels["example.com/site"] = fmt.Sprintf("%s-%02d", member, n) // a site of its own
	}
	wc := &fleetv1.WorkloadCluster{
		TypeMeta: kind("WorkloadCluster"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("mgmt-%s-%s-%s", member, cluster.Name, string(cluster.UID)[:8]),
			UID: uid("wc", cluster.Name), Labels: labels,
		},
		Spec: fleetv1.WorkloadClusterSpec{ManagementCluster: "mgmt-" + member, Cluster: cluster},
	}
	at := At()
	wc.Status = fleetv1.WorkloadClusterStatus{
		Path: wc.Path(), ObservedTime: &at, Conditions: []metav1.Condition{is(fleetv1.HealthyCondition, fleetv1.HealthyReason)},
		TimeZone: r.zone, Machines: s.controlPlane + s.workers, Unsupported: s.unsupported,
		ControlPlane: new(owner("CK8sControlPlane", cluster.Name+"-cp", s.controlPlane, s)),
		Durations: []fleetv1.RoleDuration{
			duration(fleetv1.RoleControlPlane, s.minutes+2), duration(fleetv1.RoleWorkers, s.minutes),
		},
	}
	if s.workers > 0 {
		wc.Status.Pools = []fleetv1.OwnerStatus{owner("MachineDeployment", cluster.Name+"-md", s.workers, s)}
	}
	return wc
}

// size is what a cluster is like.
type size struct {
	business              string
	controlPlane, workers int32
	minutes               int
	kubelet, release      string
	unsupported           string
}

// sizeOf gives the fleet its variety: shops, banks, small edge sites, and the odd ones that a real fleet has.
func sizeOf(i int) size {
	s := size{business: "shop", controlPlane: 3, workers: int32(4 + i%5), minutes: 5 + i%4, kubelet: "v1.33.4", release: before}
	switch i % 10 {
	case 3, 6:
		s.business, s.workers = "bank", int32(6+i%7)
	case 8, 9:
		s.business, s.workers, s.minutes = "edge", int32(i%3), 9+i%5
	}
	if i%25 == 12 { // a big one does not get through in one night
		s.workers, s.minutes = 40, 18
	}
	switch i {
	case 77, 205, 333:
		s.kubelet, s.release = "v1.32.8", "channel=1.32-classic/stable"
	case 121:
		s.kubelet, s.release = "v1.31.2", "channel=1.31-classic/stable"
	case 150, 402:
		s.controlPlane = 1
	case 266:
		s.unsupported = "machine pool spot-mp: its machines belong to no MachineDeployment"
	case 40, 41, 42, 180, 181, 290, 377, 450, 451:
		s.kubelet, s.release = "v1.33.9", target
	}
	return s
}

func owner(kind, name string, replicas int32, s size) fleetv1.OwnerStatus {
	count := func(text string) []fleetv1.VersionCount { return []fleetv1.VersionCount{{Name: text, Count: replicas}} }
	return fleetv1.OwnerStatus{
		Kind: kind, Name: name, Replicas: replicas, Ready: replicas, Version: s.kubelet, ByRelease: count(s.release),
		ByKubelet: count(s.kubelet), ByArchitecture: count(architecture),
	}
}

func duration(role fleetv1.OwnerRole, minutes int) fleetv1.RoleDuration {
	const samples = 6
	return fleetv1.RoleDuration{
		Role: role, P90: metav1.Duration{Duration: time.Duration(minutes) * time.Minute}, Samples: samples,
	}
}
