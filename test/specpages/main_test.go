// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestTable(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string", Description: "name of\nit: a | b, <c>"}
	mode := apiextensionsv1.JSONSchemaProps{
		Type: "string", Description: "mode.",
		Enum: []apiextensionsv1.JSON{{Raw: []byte(`"On"`)}, {Raw: []byte(`"Off"`)}},
	}
	object := func(fields map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Description: "an object.", Properties: fields}
	}
	inner := object(map[string]apiextensionsv1.JSONSchemaProps{"name": text})
	list := apiextensionsv1.JSONSchemaProps{
		Type: "array", Description: "a list.", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner},
	}
	got := table(object(map[string]apiextensionsv1.JSONSchemaProps{
		"waves": list, "mode": mode, "conditions": list,
		"selector": object(map[string]apiextensionsv1.JSONSchemaProps{"matchLabels": text}),
	}))
	want := `| field | meaning |
|---|---|
| ` + "`conditions[]`" + ` | a list. |
| ` + "`mode`" + ` | mode. Values: ` + "`On`, `Off`" + `. |
| ` + "`selector`" + ` | an object. |
| ` + "`waves[]`" + ` | a list. |
| ` + "`waves[].name`" + ` | name of it: a \| b, &lt;c> |
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestFilled(t *testing.T) {
	const page = "before\n<!-- fields of spec, generated -->\nold\n<!-- end of spec -->\nafter\n"
	got, err := filled(page, "spec", "new\n")
	want := "before\n<!-- fields of spec, generated -->\nnew\n<!-- end of spec -->\nafter\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("page (-want +got):\n%s\n%v", diff, err)
	}
	if _, err := filled(page, "status", "new\n"); err == nil {
		t.Error("a page without the markers of status was taken")
	}
}
