// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kept are the fields of spec and status that this package reads.
var kept = [...][]string{
	{"spec", "clusterName"},
	{"spec", "controlPlaneRef"},
	{"spec", "paused"},
	{"spec", "replicas"},
	{"spec", "template", "spec", "version"},
	{"spec", "version"},
	{"status", "nodeInfo", "architecture"},
	{"status", "nodeInfo", "kubeletVersion"},
	{"status", "nodeRef"},
	{"status", "observedGeneration"},
	{"status", "phase"},
	{"status", "readyReplicas"},
	{"status", "replicas"},
	{"status", "upToDateReplicas"},
	{"status", "updatedReplicas"},
}

// Trim is a cache transform: of an object's spec and status it keeps what this package reads, conditions without
// their texts, and no managed fields. A trimmed object must never be written back: writes are patches of named keys.
func Trim(obj any) (any, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	u.SetManagedFields(nil)
	small := map[string]any{}
	for _, path := range kept {
		if v, found, err := unstructured.NestedFieldNoCopy(u.Object, path...); err == nil && found {
			_ = unstructured.SetNestedField(small, v, path...)
		}
	}
	for _, path := range [...][]string{{"status", "conditions"}, {"status", "v1beta2", "conditions"}} {
		list, found, err := unstructured.NestedSlice(u.Object, path...)
		if err == nil && found {
			_ = unstructured.SetNestedSlice(small, slices.Collect(trimConditions(list)), path...)
		}
	}
	maps.DeleteFunc(u.Object, func(field string, _ any) bool { return field == "spec" || field == "status" })
	maps.Copy(u.Object, small)
	return u, nil
}

func trimConditions(conditions []any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		for _, c := range conditions {
			fields, ok := c.(map[string]any)
			if !ok {
				continue
			}
			small := map[string]any{"type": fields["type"], "status": fields["status"]}
			if fields["reason"] == reasonUpdating {
				small["reason"] = reasonUpdating // the only reason that is read
			}
			if !yield(small) {
				return
			}
		}
	}
}
