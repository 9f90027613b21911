// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const bases = "../../config/crd/bases"

func crd(t *testing.T, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(bases, "fleet.windlass.dev_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	read := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, read); err != nil {
		t.Fatal(err)
	}
	return read
}

// TestLaw21NothingIsPrunedBelowTheSpecsThatPeopleWrite: what is pruned no admission policy can see.
func TestLaw21NothingIsPrunedBelowTheSpecsThatPeopleWrite(t *testing.T) {
	for _, plural := range written() {
		for _, version := range crd(t, plural).Spec.Versions {
			found := pruned(version.Schema.OpenAPIV3Schema.Properties["spec"], "spec")
			if len(found) > 0 {
				t.Errorf("%s %s: fields are pruned from %s; run make generate", plural, version.Name, strings.Join(found, ", "))
			}
		}
	}
}

// pruned are the objects within a schema from which unknown fields are dropped.
func pruned(schema apiextensionsv1.JSONSchemaProps, path string) []string {
	var all []string
	kept := schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
	if schema.Type == "object" && schema.AdditionalProperties == nil && !kept {
		all = append(all, path)
	}
	if schema.Items != nil {
		all = append(all, pruned(*schema.Items.Schema, path+"[]")...)
	}
	for name, property := range schema.Properties {
		all = append(all, pruned(property, path+"."+name)...)
	}
	return all
}

func TestWhatTheHubWritesIsPrunedAsBefore(t *testing.T) {
	for _, plural := range []string{"workloadclusters", "rollouts", "clusterupgrades"} {
		data, err := os.ReadFile(filepath.Join(bases, "fleet.windlass.dev_"+plural+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), preserve) {
			t.Errorf("%s keeps unknown fields", plural)
		}
	}
}

func TestEveryObjectOfASpecHasAValidation(t *testing.T) {
	for _, plural := range written() {
		read := crd(t, plural)
		spec := admission(read)[0]["spec"].(map[string]any)
		want := len(objects(read.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], "spec"))
		validations, variables := spec["validations"].([]any), spec["variables"].([]any)
		if len(validations) != want || len(variables) != want || want == 0 {
			t.Errorf("%s: %d objects, %d validations, %d variables", plural, want, len(validations), len(variables))
		}
	}
}

func TestTheHubIsInstalledWithThePolicies(t *testing.T) {
	for file, resources := range map[string][]string{
		"../../config/hub/kustomization.yaml":       {"../admission"},
		"../../config/admission/kustomization.yaml": {"unknown_fields.yaml", "acts.yaml"},
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range resources {
			if !strings.Contains(string(data), "\n- "+resource+"\n") {
				t.Errorf("%s lacks %s", file, resource)
			}
		}
	}
}

func TestEveryKindIsInstalled(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(bases, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile("../../config/crd/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.Contains(string(data), "\n- bases/"+filepath.Base(file)+"\n") {
			t.Errorf("config/crd/kustomization.yaml lacks %s", filepath.Base(file))
		}
	}
}

func TestKeepMarksObjectsBelowSpecAndNothingElse(t *testing.T) {
	const text = `
spec:
  versions:
  - schema:
      openAPIV3Schema:
        properties:
          status: {type: object, properties: {a: {type: string}}}
          spec:
            type: object
            properties:
              name: {type: string}
              labels: {type: object, additionalProperties: {type: string}}
              list:
                type: array
                items: {type: object, properties: {b: {type: string}}}
`
	var got, want map[string]any
	marked := strings.NewReplacer(
		"            type: object", "            type: object\n            "+preserve+": true",
		"items: {", "items: {"+preserve+": true, ").Replace(text)
	for text, into := range map[string]*map[string]any{text: &got, marked: &want} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if err := keep(got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := keep(map[string]any{}); err == nil {
		t.Error("what is no CRD was taken")
	}
}

func TestUnknownNamesAreFoundOnEveryPath(t *testing.T) {
	cases := map[string]struct {
		path []string
		want string
	}{
		"the spec itself": {nil, `dyn(s).map(k, !(k in ["a", "b"]), "\"" + k + "\"").join(", ")`},
		"a field": {
			[]string{"x", "y"},
			`has(s.x) && has(s.x.y) ? dyn(s.x.y).map(k, !(k in ["a", "b"]), "\"" + k + "\"").join(", ") : ""`,
		},
		"a list in a list": {
			[]string{"x", element, "y", element},
			`has(s.x) ? s.x.map(e0, has(e0.y) ? e0.y.map(e1, dyn(e1).map(k, !(k in ["a", "b"]), "\"" + k + "\"").join(", "))` +
				`.filter(s, s != "").join(", ") : "").filter(s, s != "").join(", ") : ""`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, unknown("s", c.path, []string{"a", "b"}, 0)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
