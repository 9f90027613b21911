// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "fleet.windlass.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme adds every kind of this package to a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&ManagementCluster{}, &ManagementClusterList{},
		&WorkloadCluster{}, &WorkloadClusterList{},
		&RolloutPolicy{}, &RolloutPolicyList{},
		&Rollout{}, &RolloutList{},
		&ClusterUpgrade{}, &ClusterUpgradeList{},
		&MaintenanceCalendar{}, &MaintenanceCalendarList{},
		&Freeze{}, &FreezeList{},
		&Approval{}, &ApprovalList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
