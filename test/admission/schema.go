// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// preserve is the mark of a schema whose unknown fields are not pruned. It holds for the one object, not for those in it.
const preserve = "x-kubernetes-preserve-unknown-fields"

// keep marks every object below spec, in every version of a CRD.
func keep(crd map[string]any) error {
	versions, _, err := unstructured.NestedFieldNoCopy(crd, "spec", "versions")
	list, isList := versions.([]any)
	if err != nil || !isList {
		return errors.New("spec.versions is missing")
	}
	for _, version := range list {
		v, _ := version.(map[string]any)
		spec, found, err := unstructured.NestedFieldNoCopy(v, "schema", "openAPIV3Schema", "properties", "spec")
		schema, isSchema := spec.(map[string]any)
		if err != nil || !found || !isSchema {
			return errors.New("a version has no schema of spec")
		}
		keepIn(schema)
	}
	return nil
}

func keepIn(schema map[string]any) {
	if items, isList := schema["items"].(map[string]any); isList {
		keepIn(items)
	}
	properties, isObject := schema["properties"].(map[string]any)
	if !isObject {
		return
	}
	schema[preserve] = true
	for _, property := range properties {
		if p, is := property.(map[string]any); is {
			keepIn(p)
		}
	}
}

// element is the step from a list to its elements.
const element = "[]"

// object is a place in a schema where an object stands: the fields on the way to it, lists marked by element, and those
// that it accepts.
type object struct{ path, accepted []string }

// objects are the places below a schema, depth first.
func objects(schema apiextensionsv1.JSONSchemaProps, path ...string) []object {
	if schema.Items != nil && schema.Items.Schema != nil {
		return objects(*schema.Items.Schema, append(slices.Clone(path), element)...)
	}
	if len(schema.Properties) == 0 {
		return nil
	}
	accepted := slices.Sorted(maps.Keys(schema.Properties))
	all := []object{{path, accepted}}
	for _, name := range accepted {
		all = append(all, objects(schema.Properties[name], append(slices.Clone(path), name)...)...)
	}
	return all
}
