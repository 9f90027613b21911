// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command specpages writes the tables of fields into the pages of docs/spec, from the CRDs, so that a page never says
// less than the API server. What stands outside the markers is left alone.
package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run("config/crd/bases", "docs/spec"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the page of each CRD: <plural>.md.
func run(crds, pages string) error {
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no CRDs in " + crds)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(data, &crd); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := writePage(filepath.Join(pages, crd.Spec.Names.Plural+".md"), crd); err != nil {
			return err
		}
	}
	return nil
}

func writePage(file string, crd apiextensionsv1.CustomResourceDefinition) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	page := string(text)
	for _, part := range []string{"spec", "status"} {
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[part]
		if page, err = filled(page, part, table(schema)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return os.WriteFile(file, []byte(page), 0o644) //nolint:gosec // a page is for everybody to read
}

// filled replaces what stands between the markers of a part.
func filled(page, part, table string) (string, error) {
	begin, end := "<!-- fields of "+part+", generated -->\n", "<!-- end of "+part+" -->\n"
	head, rest, found := strings.Cut(page, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the markers %q and %q are missing", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return head + begin + table + end + tail, nil
}

func table(schema apiextensionsv1.JSONSchemaProps) string {
	return "| field | meaning |\n|---|---|\n" + strings.Join(rows(schema, ""), "")
}

// rows describes the fields below a schema, depth first, each by its path.
func rows(schema apiextensionsv1.JSONSchemaProps, prefix string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		field := schema.Properties[name]
		path, within := prefix+name, field
		if field.Items != nil {
			path, within = path+"[]", *field.Items.Schema
		}
		all = append(all, fmt.Sprintf("| `%s` | %s |\n", path, meaning(field, within)))
		if !common(name, within) {
			all = append(all, rows(within, path+".")...)
		}
	}
	return all
}

// common reports whether Kubernetes explains the fields of a schema already: conditions and label selectors.
func common(name string, schema apiextensionsv1.JSONSchemaProps) bool {
	_, selector := schema.Properties["matchLabels"]
	return selector || name == "conditions"
}

func meaning(field, within apiextensionsv1.JSONSchemaProps) string {
	text := strings.Join(strings.Fields(field.Description), " ")
	var values []string
	for _, v := range within.Enum {
		values = append(values, "`"+strings.Trim(string(v.Raw), `"`)+"`")
	}
	if len(values) > 0 {
		text += " Values: " + strings.Join(values, ", ") + "."
	}
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}
