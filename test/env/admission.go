// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// refused are objects that only the hub's admission policies refuse, one for each policy: those called misspelt for a
// field, and the one called of-another for its author.
const refused = `
apiVersion: fleet.windlass.dev/v1alpha1
kind: ManagementCluster
metadata: {name: misspelt, namespace: fleet}
spec: {kubeconfigSecretRef: {name: a}, engine: Agent, misspelt: true}
---
apiVersion: fleet.windlass.dev/v1alpha1
kind: RolloutPolicy
metadata: {name: misspelt, namespace: fleet}
spec:
  target: {channel: 1.33-classic/stable}
  clusters: {all: true}
  canaries: {none: true}
  waves: [{name: rest, rest: true}]
  anyTime: true
  misspelt: true
---
apiVersion: fleet.windlass.dev/v1alpha1
kind: MaintenanceCalendar
metadata: {name: misspelt, namespace: fleet}
spec: {windows: [{schedule: 0 2 * * 6, duration: 4h}], misspelt: true}
---
apiVersion: fleet.windlass.dev/v1alpha1
kind: Freeze
metadata: {name: misspelt, namespace: fleet}
spec: {scope: {all: true}, reason: holidays, by: windlass-test, misspelt: true}
---
apiVersion: fleet.windlass.dev/v1alpha1
kind: Approval
metadata: {name: misspelt, namespace: fleet}
spec: {rollout: a, wave: b, planDigest: c, decision: Approved, reason: d, by: windlass-test, misspelt: true}
---
apiVersion: fleet.windlass.dev/v1alpha1
kind: Freeze
metadata: {name: of-another, namespace: fleet}
spec: {scope: {all: true}, reason: holidays, by: somebody}
`

// guard installs the hub's admission policies and waits until they refuse.
func (s *Server) guard(ctx context.Context, root string) error {
	for _, file := range []string{"unknown_fields.yaml", "acts.yaml"} {
		data, err := os.ReadFile(filepath.Join(root, "config", "admission", file))
		if err != nil {
			return err
		}
		policies, err := documents(data)
		if err != nil {
			return err
		}
		for _, p := range policies {
			if err := s.Client.Create(ctx, p); err != nil {
				return fmt.Errorf("creating %s %s: %w", p.GetKind(), p.GetName(), err)
			}
		}
	}
	return s.Guarded(ctx)
}

// Guarded waits until the hub's admission policies refuse what they should: an API server learns of them some time after
// they were created.
func (s *Server) Guarded(ctx context.Context) error {
	words := map[string]string{"misspelt": `unknown field "misspelt"`, "of-another": "who is not the caller"}
	return s.tryUntil(ctx, func(name string, err error) bool {
		return err != nil && strings.Contains(err.Error(), words[name])
	})
}

// Unguarded waits until nothing of that is refused any more.
func (s *Server) Unguarded(ctx context.Context) error {
	return s.tryUntil(ctx, func(_ string, err error) bool { return err == nil })
}

// tryUntil offers each refused object, without leaving anything behind, until the answer is the one that is waited for.
func (s *Server) tryUntil(ctx context.Context, answer func(name string, err error) bool) error {
	objects, err := documents([]byte(refused))
	if err != nil {
		return err
	}
	lenient := client.WithFieldValidation(s.Client, metav1.FieldValidationIgnore)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for _, o := range objects {
		for {
			err := lenient.Create(ctx, o.DeepCopy(), client.DryRunAll)
			if answer(o.GetName(), err) {
				break
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				return fmt.Errorf("offering %s %s: %w; last answer: %w", o.GetKind(), o.GetName(), ctx.Err(), err)
			}
		}
	}
	return nil
}

// documents reads objects, however many a file holds.
func documents(data []byte) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	reader := kubeyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}
