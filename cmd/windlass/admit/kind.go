// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package admit

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/config"
)

// kind is one of the hub's kinds in one version.
type kind struct {
	schema    *schema.Structural
	validator validation.SchemaValidator
	// rules take a moment to compile, and most kinds are not asked for.
	rules func() *cel.Validator
}

// known are the hub's kinds by apiVersion and kind.
var known = sync.OnceValues(func() (map[string]func() (*kind, error), error) {
	all := map[string]func() (*kind, error){}
	files, err := fs.Glob(config.CRDs, "crd/bases/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := config.CRDs.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, v := range crd.Spec.Versions {
			all[crd.Spec.Group+"/"+v.Name+" "+crd.Spec.Names.Kind] = sync.OnceValues(func() (*kind, error) {
				return newKind(v.Schema.OpenAPIV3Schema)
			})
		}
	}
	return all, nil
})

func kindOf(object map[string]any) (*kind, error) {
	all, err := known()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%v %v", object["apiVersion"], object["kind"])
	find, is := all[name]
	if !is {
		return nil, fmt.Errorf("%s is no kind of the hub", name)
	}
	return find()
}

func newKind(properties *apiextensionsv1.JSONSchemaProps) (*kind, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(properties, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	rules := sync.OnceValue(func() *cel.Validator { return cel.NewValidator(structural, true, ruleBudget) })
	return &kind{schema: structural, validator: validator, rules: rules}, nil
}

var index = regexp.MustCompile(`\[[^]]*\]`)

// about is what a field of an object is, in a sentence; empty: its schema does not say.
func about(object map[string]any, path string) string {
	k, err := kindOf(object)
	if err != nil {
		return ""
	}
	at := k.schema
	for step := range strings.SplitSeq(path, ".") {
		next, known := at.Properties[index.ReplaceAllString(step, "")]
		if !known {
			return ""
		}
		at = &next
		if at.Items != nil && strings.HasSuffix(step, "]") {
			at = at.Items
		}
	}
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(at.Description), " "), ". ")
	return strings.TrimSuffix(sentence, ".")
}
