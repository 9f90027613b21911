// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// changesSpec spares writes that leave the spec as it is: a finalizer can always be taken off.
const changesSpec = `request.operation == "CREATE" || object.spec != oldObject.spec`

// admission is the policy that refuses unknown fields of a kind's spec, and its binding.
func admission(crd *apiextensionsv1.CustomResourceDefinition) []map[string]any {
	name := "unknown-fields." + crd.Name
	version := crd.Spec.Versions[0]
	var variables, validations []any
	for _, o := range objects(version.Schema.OpenAPIV3Schema.Properties["spec"], "spec") {
		variable := o.variable()
		variables = append(variables, map[string]any{
			"name": variable, "expression": unknown("object.spec", o.path[1:], o.accepted, 0),
		})
		validations = append(validations, map[string]any{
			"expression": fmt.Sprintf(`variables.%s == ""`, variable),
			"messageExpression": fmt.Sprintf(`"%s: unknown field " + variables.%s + "; accepted: %s"`,
				o.text(), variable, strings.Join(o.accepted, ", ")),
		})
	}
	rule := map[string]any{
		"apiGroups": []any{crd.Spec.Group}, "apiVersions": []any{version.Name},
		"operations": []any{"CREATE", "UPDATE"}, "resources": []any{crd.Spec.Names.Plural},
	}
	return []map[string]any{
		manifest("ValidatingAdmissionPolicy", name, map[string]any{
			"failurePolicy":    "Fail",
			"matchConstraints": map[string]any{"resourceRules": []any{rule}},
			"matchConditions":  []any{map[string]any{"name": "changes-spec", "expression": changesSpec}},
			"variables":        variables, "validations": validations,
		}),
		manifest("ValidatingAdmissionPolicyBinding", name, map[string]any{
			"policyName": name, "validationActions": []any{"Deny"},
		}),
	}
}

func manifest(kind, name string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"name": name}, "spec": spec,
	}
}

// text is the path as people write it, such as spec.waves[].selector.
func (o object) text() string {
	return strings.ReplaceAll(strings.Join(o.path, "."), "."+element, element)
}

// variable is the path as a name in CEL, such as spec_waves_each_selector.
func (o object) variable() string {
	return strings.ReplaceAll(strings.Join(o.path, "_"), element, "each")
}

// unknown is a CEL expression for the names at the end of a path from a value that are not accepted, quoted and joined; it
// is empty where all are accepted, and where the path leads nowhere. dyn: the names of an object of a known type cannot be
// listed.
func unknown(value string, path, accepted []string, depth int) string {
	var given []string
	for i, step := range path {
		if step == element {
			each := fmt.Sprintf("e%d", depth)
			return when(given, fmt.Sprintf(`%s.map(%s, %s).filter(s, s != "").join(", ")`, value, each,
				unknown(each, path[i+1:], accepted, depth+1)))
		}
		value += "." + step
		given = append(given, "has("+value+")")
	}
	return when(given, fmt.Sprintf(`dyn(%s).map(k, !(k in ["%s"]), "\"" + k + "\"").join(", ")`, value,
		strings.Join(accepted, `", "`)))
}

// when is an expression of a string where all conditions hold, else the empty string.
func when(conditions []string, expression string) string {
	if len(conditions) == 0 {
		return expression
	}
	return strings.Join(conditions, " && ") + " ? " + expression + ` : ""`
}
