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
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
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

func policy(spec string) string { return named("p", spec) }

func named(name, spec string) string {
	return header + "kind: RolloutPolicy\nmetadata: {name: " + name + ", namespace: fleet}\nspec:\n" + spec
}

const freeze = header + "kind: Freeze\nmetadata: {name: f}\nspec: {scope: {all: true}, reason: x, by: anna}\n"

const member = header + "kind: ManagementCluster\nmetadata: {name: m}\nspec: {kubeconfigSecretRef: {name: m}}\n"

// least is the spec of a policy that an API server takes.
const least = "  target: {channel: 1.33-classic/stable}\n  clusters: {all: true}\n  canaries: {none: true}\n" +
	"  waves: [{name: rest, rest: true}]\n  anyTime: true\n"

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
			policy(least) + "---\n" + named("q", least+"  pause: true\n"),
			[]string{"f.yaml, document 2, RolloutPolicy q: unknown field spec.pause; did you mean paused?"},
		},
		"an item of a list": {
			"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: fleet.windlass.dev/v1alpha1, kind: Freeze, metadata: {name: f}, spec: {effects: x}}\n",
			[]string{"document 1, items[0], Freeze f: unknown field spec.effects; did you mean effect?"},
		},
		"a key that stands there twice": {policy("  paused: true\n  paused: false\n"), []string{"f.yaml, document 1", "paused"}},
		"a value of another type": {
			policy(least + "  paused: sometimes\n"),
			[]string{`RolloutPolicy p: spec.paused: Invalid value: "string": spec.paused in body must be of type boolean`},
		},
		"what a rule refuses": {
			policy(least + "  calendars: [nights]\n"),
			[]string{"RolloutPolicy p: spec.calendars: Forbidden: spec.calendars: contradicts anyTime; accepted: one of them"},
		},
		"a misspelt field beside what is missing without it": {
			policy("  targett: {channel: 1.33-classic/stable}\n"),
			[]string{"unknown field spec.targett; did you mean target?", "spec.target: Required value: spec.target: must say what"},
		},
		"a status of another type": {
			header + "kind: WorkloadCluster\nmetadata: {name: w}\nspec: {managementCluster: m, cluster: {namespace: a, name: b, uid: c}}\n" +
				"status: {observedTime: 5}\n",
			[]string{`WorkloadCluster w: status.observedTime: Invalid value: "int64": status.observedTime in body must be of type date-time`},
		},
		"the same object twice": {
			policy(least) + "---\n" + policy(least),
			[]string{"f.yaml, document 2, RolloutPolicy p: stands in ", "f.yaml, document 1, too; accepted: each object once"},
		},
		"an object without a name": {
			header + "kind: Freeze\nmetadata: {}\nspec: {scope: {all: true}, reason: x, by: anna}\n",
			[]string{"Freeze without a name: metadata.name: Required value"},
		},
		"a list of values": {"- a\n", []string{"document 1: is no manifest; accepted: apiVersion, kind"}},
		"a text":           {"no idea\n", []string{"document 1: is no manifest; accepted: apiVersion, kind"}},
		"a tab": {
			header + "kind: Freeze\nmetadata:\n\tname: f\n",
			[]string{"document 1: yaml: line 4: found character that cannot start any token: YAML takes no tab before a field; accepted: spaces"},
		},
		"what kubectl would drop": {policy(least) + "...\n" + policy(least), []string{`"..." ends the document`, "accepted: ---"}},
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
			_, err := files.Read(nil, write(t, "f.yaml", tc.text))
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

func TestADocumentThatCannotBeReadIsNotCalledEmpty(t *testing.T) {
	_, err := files.Read(nil, write(t, "f.yaml", "a: ["))
	if err == nil || strings.Contains(err.Error(), "is empty") {
		t.Errorf("said %v", err)
	}
}

func TestWhatEditorsLeaveInAFileIsPassedOver(t *testing.T) {
	for name, text := range map[string]string{
		"carriage returns":        strings.ReplaceAll(policy(least), "\n", "\r\n"),
		"a byte order mark":       "\ufeff" + policy(least),
		"an end of the document":  policy(least) + "...\n\n  # the end\n",
		"comments at separators":  "--- # first\n" + policy(least) + "--- # nothing\n# more\n",
		"separators at both ends": "---\n---\n" + policy(least) + "---\n",
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := files.Read(nil, write(t, "f.yaml", text))
			if err != nil || len(objects.Policies) != 1 {
				t.Errorf("%d policies; %v", len(objects.Policies), err)
			}
		})
	}
}

func TestADashStandsForTheStandardInput(t *testing.T) {
	objects, err := files.Read(strings.NewReader(policy(least)), files.Stdin)
	if err != nil || len(objects.Policies) != 1 {
		t.Errorf("%d policies; %v", len(objects.Policies), err)
	}
	_, err = files.Read(strings.NewReader(""), files.Stdin)
	if err == nil || !strings.HasPrefix(err.Error(), "standard input: is empty") {
		t.Errorf("said %v", err)
	}
}

func TestWhatPeopleLeaveOutIsWhatTheAPIServerPutsIn(t *testing.T) {
	objects, err := files.Read(nil, write(t, "f.yaml", member))
	if err != nil {
		t.Fatal(err)
	}
	got := objects.Members[0].Spec
	if got.Access != fleetv1.AccessReadOnly || got.Engine != fleetv1.EngineProvider {
		t.Errorf("access %s, engine %s", got.Access, got.Engine)
	}
}

func TestAFileThatIsNotThereAndAFolderWithoutManifestsAreNamed(t *testing.T) {
	empty := t.TempDir()
	_, err := files.Read(nil, "/nowhere.yaml", empty)
	if err == nil || !strings.Contains(err.Error(), "/nowhere.yaml") || !strings.Contains(err.Error(), empty+": holds no .yaml") {
		t.Errorf("said %v", err)
	}
}

func TestListsAndFoldersAreReadAndWhatANewerHubWroteIsPassedOver(t *testing.T) {
	dir := filepath.Dir(write(t, "b.yaml", policy(least)))
	list := `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[
		{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"WorkloadCluster","metadata":{"name":"w","resourceVersion":"7",
			"managedFields":[{"manager":"hub","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},"status":{"news":1}},
		{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"ManagementCluster","metadata":{"name":"m"},
			"spec":{"kubeconfigSecretRef":{"name":"m"}}},
		{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"Rollout","metadata":{"name":"r"}}]}`
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	kustomization := []byte("resources: [b.yaml]\n") // a folder in Git has one
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), kustomization, 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := files.Read(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []int{len(objects.Policies), len(objects.Members), len(objects.Clusters)}
	if diff := cmp.Diff([]int{1, 1, 1}, got); diff != "" {
		t.Errorf("policies, management clusters and clusters (-want +got):\n%s", diff)
	}
}

func TestOfTwoWithOneNameTheUpperOneStays(t *testing.T) {
	upper, err := files.Read(nil, write(t, "u.yaml", policy(least+"  paused: true\n")))
	if err != nil {
		t.Fatal(err)
	}
	lower, err := files.Read(nil, write(t, "l.yaml", policy(least)+"---\n"+freeze))
	if err != nil {
		t.Fatal(err)
	}
	upper.Under(lower)
	if len(upper.Policies) != 1 || !upper.Policies[0].Spec.Paused || len(upper.Freezes) != 1 {
		t.Errorf("%d policies, %d freezes", len(upper.Policies), len(upper.Freezes))
	}
}
