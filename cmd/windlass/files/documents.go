// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// reading is what was read so far.
type reading struct {
	*Objects
	// seen are the places of objects by kind, namespace and name.
	seen map[string]string
}

func (r *reading) readFile(stdin io.Reader, name string) error {
	data, err := content(stdin, name)
	if err != nil {
		return err
	}
	if name == Stdin {
		name = "standard input"
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var errs []error
	found := 0
	for n := 1; ; n++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		place := fmt.Sprintf("%s, document %d", name, n)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		object, err := parse(document)
		if err == nil && object == nil {
			continue // comments alone
		}
		found++
		if err == nil {
			errs = append(errs, r.add(place, object))
		} else {
			errs = append(errs, fmt.Errorf("%s: %w", place, err))
		}
	}
	if found == 0 {
		errs = append(errs, fmt.Errorf("%s: is empty; accepted: manifests such as those that kubectl get -o yaml prints", name))
	}
	return errors.Join(errs...)
}

func content(stdin io.Reader, name string) ([]byte, error) {
	if name == Stdin {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}

var (
	// cut matches what stands behind the end of a document: kubectl reads no further, whatever it is.
	cut    = regexp.MustCompile(`(?m)^\.\.\.[ \t\r]*\n(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*[^#\s]`)
	tabbed = regexp.MustCompile(`(?m)^ *\t+ *[^\s#]`)

	errCut  = errors.New(`"..." ends the document, and kubectl drops what follows it; accepted: ---`)
	errTabs = errors.New("YAML takes no tab before a field; accepted: spaces")
)

// parse reads a document; nil: there is nothing in it.
func parse(document []byte) (object any, err error) {
	data, err := yaml.YAMLToJSONStrict(document)
	switch {
	case err != nil && strings.Contains(err.Error(), "cannot start any token") && tabbed.Match(document):
		return nil, fmt.Errorf("%w: %w", err, errTabs)
	case err == nil && cut.Match(document):
		return nil, errCut
	case err != nil:
		return nil, err
	}
	return object, json.Unmarshal(data, &object)
}
