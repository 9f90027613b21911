// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 promises the kinds that the hub serves: what people ask for (ManagementCluster, RolloutPolicy) and
// what the hub answers (WorkloadCluster, Rollout, ClusterUpgrade). It holds types, words and defaults, and nothing that
// acts. What the API server accepts is said here, in the markers, so that no webhook is needed to be safe.
//
// Two rules shape every field. An omitted field never means more clusters, more at once, or any time (law 21 of the
// design); a misspelt one is kept, so that it can be refused by its name (test/admission, Unknown). And no field is accepted and ignored: one that is not built yet has its
// place in the schema and is refused with "is not supported yet".
//
// +kubebuilder:object:generate=true
// +groupName=fleet.windlass.dev
package v1alpha1
