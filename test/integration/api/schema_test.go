// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// element is the step from a list to its elements.
const element = "[]"

// place is where an object stands in the spec of a kind: the steps to it from there, and the fields that it accepts.
type place struct {
	kind          string
	steps, fields []string
}

// path of the place as a message writes it.
func (p place) path() string {
	return strings.ReplaceAll(strings.Join(append([]string{"spec"}, p.steps...), "."), "."+element, element)
}

// name of the field that leads to the place.
func (p place) name() string {
	for _, step := range slices.Backward(p.steps) {
		if step != element {
			return step
		}
	}
	return "spec"
}

// places are all of them in the specs that people write, as the CRDs have it.
func places() []place {
	var all []place
	for kind, plural := range map[string]string{
		"ManagementCluster": "managementclusters", "RolloutPolicy": "rolloutpolicies",
		"MaintenanceCalendar": "maintenancecalendars", "Freeze": "freezes", "Approval": "approvals",
	} {
		data, err := os.ReadFile(filepath.Join("../../../config/crd/bases", "fleet.windlass.dev_"+plural+".yaml"))
		if err != nil {
			panic(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(data, &crd); err != nil {
			panic(err)
		}
		all = append(all, placesIn(kind, crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], nil)...)
	}
	return all
}

func placesIn(kind string, schema apiextensionsv1.JSONSchemaProps, steps []string) []place {
	if schema.Items != nil {
		return placesIn(kind, *schema.Items.Schema, append(slices.Clone(steps), element))
	}
	if len(schema.Properties) == 0 {
		return nil
	}
	fields := slices.Sorted(maps.Keys(schema.Properties))
	all := []place{{kind, steps, fields}}
	for _, name := range fields {
		all = append(all, placesIn(kind, schema.Properties[name], append(slices.Clone(steps), name))...)
	}
	return all
}

// misspelling is a name close to a field's that the place does not accept.
func (p place) misspelling(field string) string {
	for _, wrong := range []string{field[:len(field)-1], field + field[len(field)-1:], field + "_"} {
		if wrong != "" && !slices.Contains(p.fields, wrong) {
			return wrong
		}
	}
	panic("every name close to " + field + " is accepted in " + p.path())
}

// in is the object at the place in a spec, made where it is not there yet; of a list the first element.
func (p place) in(spec map[string]any) (at map[string]any, made bool) {
	at = spec
	for i := 0; i < len(p.steps); i++ {
		name := p.steps[i]
		isList := i+1 < len(p.steps) && p.steps[i+1] == element
		if _, found := at[name]; !found {
			made = true
			at[name] = map[string]any{}
			if isList {
				at[name] = []any{map[string]any{}}
			}
		}
		if isList {
			at, i = at[name].([]any)[0].(map[string]any), i+1
		} else {
			at = at[name].(map[string]any)
		}
	}
	return at, made
}

// spoilt is a deep copy of a spec, with the object at the place in it changed.
func (p place) spoilt(spec map[string]any, change func(map[string]any)) (changed map[string]any, made bool) {
	changed = runtime.DeepCopyJSON(spec)
	at, made := p.in(changed)
	change(at)
	return changed, made
}
