// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Moved says that machines run another kubelet version than at the last look although no rollout drove the cluster:
// somebody, or the snap's own refresh, has moved them. False: none has, or it cannot be told.
func Moved(before, now fleetv1.WorkloadClusterStatus) (metav1.Condition, bool) {
	if before.ObservedTime == nil || before.ClaimedBy != "" || now.ClaimedBy != "" {
		return metav1.Condition{}, false
	}
	owners := map[string]fleetv1.OwnerStatus{}
	for _, o := range owned(before) {
		owners[o.Kind+" "+o.Name] = o
	}
	machines, words := int32(0), []string{}
	for _, o := range owned(now) {
		name := o.Kind + " " + o.Name
		if n := left(owners[name].ByKubelet, o.ByKubelet); n > 0 {
			machines += n
			words = append(words, fmt.Sprintf("%s: %s, before %s", name, text(o.ByKubelet), text(owners[name].ByKubelet)))
		}
	}
	return metav1.Condition{
		Type: fleetv1.ExternalChangeCondition, Status: metav1.ConditionTrue, Reason: fleetv1.ExternalChangeReason,
		Message: fleetv1.Bound(fmt.Sprintf("%d machines changed their kubelet version while no rollout drove the cluster: %s",
			machines, strings.Join(words, "; "))),
	}, machines > 0
}

func owned(s fleetv1.WorkloadClusterStatus) []fleetv1.OwnerStatus {
	if s.ControlPlane == nil {
		return s.Pools
	}
	return append([]fleetv1.OwnerStatus{*s.ControlPlane}, s.Pools...)
}

// left counts the machines that ran a version that is known and do not any more. Where machines have come or gone it
// is not known which.
func left(before, now []fleetv1.VersionCount) int32 {
	have, difference, gone := map[string]int32{}, int32(0), int32(0)
	for _, v := range now {
		have[v.Name] = v.Count
		difference += v.Count
	}
	for _, v := range before {
		difference -= v.Count
		if v.Name != Unknown && have[v.Name] < v.Count {
			gone += v.Count - have[v.Name]
		}
	}
	if difference != 0 || have[Unknown] > 0 {
		return 0
	}
	return gone
}

// text writes counts for people: "2 at v1.33.4, 1 at v1.32.8".
func text(counts []fleetv1.VersionCount) string {
	words := make([]string, len(counts))
	for i, v := range counts {
		words[i] = fmt.Sprintf("%d at %s", v.Count, v.Name)
	}
	return strings.Join(words, ", ")
}
