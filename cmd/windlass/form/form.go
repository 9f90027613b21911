// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package form prints a result for people or for programs.
package form

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// Check says whether a form of output is known. plain is the name of the one for people, which an empty form stands for, too.
func Check(form, plain string) error {
	switch form {
	case "", plain, "json", "yaml":
		return nil
	}
	return fmt.Errorf("--output %q is not known; accepted: %s, json, yaml", form, plain)
}

// Print writes a value in a form that Check knows; people writes the one for people.
func Print(out io.Writer, form string, value any, people func(io.Writer) error) error {
	switch form {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	case "yaml":
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	return people(out)
}
