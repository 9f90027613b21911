// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
)

const header = "apiVersion: fleet.windlass.dev/v1alpha1\n"

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func policy(spec string) string {
	return header + "kind: RolloutPolicy\nmetadata: {name: p, namespace: fleet}\nspec:\n" + spec
}

func TestWhatCannotBeReadIsSaidWithItsPlaceAndWhatIsAccepted(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		says []string
	}{
		"a misspelt field of a wave": {
			policy("  waves:\n  - {name: a, rest: true}\n  - {name: b, maxFailure: 2}\n"),
			[]string{
				"f.yaml, document 1, RolloutPolicy p: unknown field spec.waves[1].maxFailure; did you mean maxFailures? accepted: ",
				"maxConcurrency, maxFailures, name",
			},
		},
		"a misspelt field two levels down": {
			policy("  upgrade: {machine: {timeOut: 3m}}\n"),
			[]string{"unknown field spec.upgrade.machine.timeOut; did you mean timeout?"},
		},
		"several at once": {
			policy("  wafes: []\n  targett: {}\n"),
			[]string{"spec.wafes; did you mean waves?", "spec.targett; did you mean target?"},
		},
		"a field like no other": {policy("  zzz: 1\n"), []string{"unknown field spec.zzz; accepted: anyTime, "}},
		"a field beside the spec": {
			header + "kind: Freeze\nmetadata: {name: f}\nspecs: {}\n",
			[]string{"unknown field specs; did you mean spec?"},
		},
		"a field of metadata": {
			header + "kind: Freeze\nmetadata: {name: f, namspace: fleet}\n",
			[]string{"unknown field metadata.namspace; did you mean namespace?"},
		},
		"the second document": {
			policy("  paused: true\n") + "---\n" + policy("  pause: true\n"),
			[]string{"f.yaml, document 2, RolloutPolicy p: unknown field spec.pause; did you mean paused?"},
		},
		"an item of a list": {
			"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: fleet.windlass.dev/v1alpha1, kind: Freeze, metadata: {name: f}, spec: {effects: x}}\n",
			[]string{"document 1, items[0], Freeze f: unknown field spec.effects; did you mean effect?"},
		},
		"a key that stands there twice": {policy("  paused: true\n  paused: false\n"), []string{"f.yaml, document 1", "paused"}},
		"a value of another kind":       {policy("  paused: sometimes\n"), []string{"RolloutPolicy p", "paused"}},
		"an unknown kind": {
			header + "kind: Rolloutpolicy\nmetadata: {name: p}\n",
			[]string{`kind "Rolloutpolicy" is not known`, "RolloutPolicy, ManagementCluster"},
		},
		"another API": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n",
			[]string{`Deployment d: apiVersion "apps/v1" is not known; accepted: fleet.windlass.dev/v1alpha1`},
		},
		"no kind":            {"a: b\n", []string{"document 1: has no kind; accepted: one of RolloutPolicy"}},
		"nothing at all":     {"# a comment\n", []string{"f.yaml: is empty; accepted: manifests"}},
		"no YAML whatsoever": {"a: [", []string{"f.yaml, document 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := files.Read(write(t, "f.yaml", tc.text))
			if err == nil {
				t.Fatal("it was read")
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("said %q, want %q in it", err, want)
				}
			}
		})
	}
}

func TestAFileThatIsNotThereAndAFolderWithoutManifestsAreNamed(t *testing.T) {
	empty := t.TempDir()
	_, err := files.Read("/nowhere.yaml", empty)
	if err == nil || !strings.Contains(err.Error(), "/nowhere.yaml") || !strings.Contains(err.Error(), empty+": holds no .yaml") {
		t.Errorf("said %v", err)
	}
}

func TestListsAndFoldersAreReadAndWhatANewerHubWroteIsPassedOver(t *testing.T) {
	dir := filepath.Dir(write(t, "b.yaml", policy("  paused: true\n")))
	list := `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[
		{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"WorkloadCluster","metadata":{"name":"w","resourceVersion":"7",
			"managedFields":[{"manager":"hub","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},"status":{"news":1}},
		{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"ManagementCluster","metadata":{"name":"m"}},
		{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"Rollout","metadata":{"name":"r"}}]}`
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := files.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []int{len(objects.Policies), len(objects.Members), len(objects.Clusters)}
	if diff := cmp.Diff([]int{1, 1, 1}, got); diff != "" {
		t.Errorf("policies, management clusters and clusters (-want +got):\n%s", diff)
	}
}

func TestOfTwoWithOneNameTheUpperOneStays(t *testing.T) {
	upper, err := files.Read(write(t, "u.yaml", policy("  paused: true\n")))
	if err != nil {
		t.Fatal(err)
	}
	lower, err := files.Read(write(t, "l.yaml", policy("  paused: false\n")+"---\n"+header+"kind: Freeze\nmetadata: {name: f}\n"))
	if err != nil {
		t.Fatal(err)
	}
	upper.Under(lower)
	if len(upper.Policies) != 1 || !upper.Policies[0].Spec.Paused || len(upper.Freezes) != 1 {
		t.Errorf("%d policies, %d freezes", len(upper.Policies), len(upper.Freezes))
	}
}
