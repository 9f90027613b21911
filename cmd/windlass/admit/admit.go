// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package admit tells what a hub's API server would refuse, without asking one: it has the schemas and rules of the CRDs,
// and checks them with the API server's own code. Of the admission policies it knows nothing.
package admit

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The costs that an API server allows the rules of one object, and one rule.
const (
	objectBudget = 10_000_000
	ruleBudget   = 1_000_000
)

// Create sets the defaults of an object of one of the hub's kinds, as the API server does, and tells why it would not be
// created; nil: it would. Its status is not looked at, since nobody can create one. An object without a namespace is taken
// as that of any.
func Create(object map[string]any) (field.ErrorList, error) {
	k, err := kindOf(object)
	if err != nil {
		return nil, err
	}
	defaulting.Default(object, k.schema)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.schema)
	fresh := maps.Clone(object)
	delete(fresh, "status")
	errs := k.wrong(fresh)
	if blocked(errs) {
		return errs, nil // the API server checks no rule on what has the wrong shape
	}
	broken, _ := k.rules().Validate(context.Background(), nil, k.schema, fresh, nil, objectBudget)
	return append(errs, broken...), nil
}

// Shape tells what of an object, its status too, has not the type that its schema says.
func Shape(object map[string]any) (field.ErrorList, error) {
	k, err := kindOf(object)
	if err != nil {
		return nil, err
	}
	var errs field.ErrorList
	for _, e := range validation.ValidateCustomResource(nil, object, k.validator) {
		if e.Type == field.ErrorTypeTypeInvalid {
			errs = append(errs, e)
		}
	}
	return errs, nil
}

// wrong tells what of an object its schema refuses, rules apart.
func (k *kind) wrong(object map[string]any) field.ErrorList {
	named := &unstructured.Unstructured{Object: maps.Clone(object)}
	if metadata, is := object["metadata"].(map[string]any); is {
		named.Object["metadata"] = maps.Clone(metadata)
	}
	if named.GetName() == "" && named.GetGenerateName() != "" {
		named.SetName(named.GetGenerateName() + "x")
	}
	if named.GetNamespace() == "" {
		named.SetNamespace("default")
	}
	errs := apivalidation.ValidateObjectMetaAccessor(named, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validation.ValidateCustomResource(nil, object, k.validator)...)
	return append(errs, listtype.ValidateListSetsAndMaps(nil, k.schema, object)...)
}

// blocking are the refusals after which the API server leaves its rules aside.
var blocking = []field.ErrorType{
	field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid,
}

func blocked(errs field.ErrorList) bool {
	return slices.ContainsFunc(errs, func(e *field.Error) bool { return slices.Contains(blocking, e.Type) })
}

// Text is a refusal as one line. Of a value of another type it says what belongs in its place.
func Text(object map[string]any, e *field.Error) string {
	if is := about(object, e.Field); e.Type == field.ErrorTypeTypeInvalid && is != "" {
		return e.Error() + "; " + is
	}
	return e.Error()
}
