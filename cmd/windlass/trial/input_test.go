// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	"github.com/windlass-dev/windlass/cmd/windlass/trial"
)

// spoilt is the small fleet with one text put in the place of another.
func spoilt(t *testing.T, before, after string) string {
	t.Helper()
	return edited(t, fleet, before, after)
}

func edited(t *testing.T, path, before, after string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), before, after, 1)
	if text == string(data) {
		t.Fatalf("%s has no %q", path, before)
	}
	return file(t, "fleet.yaml", text)
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatTheHubWouldRefuseIsRefusedInItsWords(t *testing.T) {
	const second = "---\napiVersion: fleet.windlass.dev/v1alpha1\nkind: RolloutPolicy\nmetadata: {name: other, namespace: fleet}\nspec: {target: {channel: 1.33-classic/stable}, clusters: {all: true}, canaries: {none: true}, " +
		"waves: [{name: rest, rest: true}], anyTime: true}\n"
	for name, tc := range map[string]struct{ before, after, says string }{
		"a misspelt field": {"maxFailures: 1", "maxFailure: 1", "spec.waves[0].maxFailure; did you mean maxFailures?"},
		"a canary that is not there": {
			"{names: [mgmt-a/shop/a-1], soak", "{names: [mgmt-a/shop/a-9], soak", "RolloutPolicy small is not planned: CanaryNotFound",
		},
		"a wave that would never move": {"maxConcurrency: 2", "maxConcurrency: 0", "spec.waves[1].maxConcurrency: Invalid value: 0: "},
		"a wave that takes no cluster": {"rest: true", "names: [mgmt-b/shop/b-1]", "LeftOver"},
		"a label that is none": {
			"clusters: {all: true}", `clusters: {selector: {matchLabels: {"a b": c}}}`,
			`RolloutPolicy small: spec.clusters.selector: key: Invalid value: "a b": `,
		},
		"two policies": {"---\n", second + "---\n", "there are 2 policies: other, small; name one with --policy"},
		"another namespace": {
			"{name: small, namespace: fleet}", "{name: small, namespace: flet}", "accepted: metadata.namespace: fleet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := trial.Simulation{Common: common(spoilt(t, tc.before, tc.after))}.Run(io.Discard, now)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("said %v, want %q in it", err, tc.says)
			}
		})
	}
}

func TestAPolicyThatNamesNoNamespaceTakesThatOfItsInventory(t *testing.T) {
	path := spoilt(t, "{name: small, namespace: fleet}", "{name: small}")
	if out := simulated(t, trial.Simulation{Common: common(path), Approve: true}); !strings.Contains(out, "RolloutPolicy fleet/small") {
		t.Errorf("it says:\n%s", out)
	}
}

func TestACalendarThatCannotBeUsedIsNamedAndClosed(t *testing.T) {
	path := spoilt(t, "calendars: [nights]", "calendars: [night]")
	out := simulated(t, trial.Simulation{Common: common(path), Approve: true})
	for _, want := range []string{"Calendar night applies to 5 clusters; closed: ", "It does not end: CalendarNotFound"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestFreezesOfTheHubsOwnNamespaceCountAndThoseOfOthersDoNot(t *testing.T) {
	for namespace, says := range map[string]string{
		"windlass-system": "Freeze windlass-system/new-year covers every cluster", "elsewhere": "Calendar nights applies",
	} {
		c := common(spoilt(t, "{name: new-year, namespace: fleet}", "{name: new-year, namespace: "+namespace+"}"))
		c.HubNamespace = "windlass-system"
		out := simulated(t, trial.Simulation{Common: c, Approve: true})
		if !strings.Contains(out, says) || strings.Contains(out, "elsewhere/new-year") {
			t.Errorf("%s:\n%s", namespace, out)
		}
	}
}

func TestEventsThatCannotBefallAreRefusedWithTheirPlace(t *testing.T) {
	for name, tc := range map[string]struct{ text, says string }{
		"no list":             {"at: x\n", "accepted: a list such as"},
		"a misspelt field":    {"- {att: x}\n", "event 1: unknown field att; did you mean at? accepted: architecture, at, by, "},
		"no event":            {"- MachineFails\n", "event 1: an event cannot be a string; accepted: a struct"},
		"a number for a text": {"- {at: 5}\n", "event 1: at cannot be a number; accepted: a string"},
		"a day":               {"- {at: 2026-12-29, kind: HubDown}\n", `event 1: at: "2026-12-29" is no instant; accepted: 2026-12-07T18:00:00Z`},
		"no length of time": {
			`- {at: "2026-12-29T10:00:00Z", kind: ClusterSlow, cluster: mgmt-a/shop/a-3, takes: long}`,
			`event 1: takes: "long" is no duration; accepted: 45m, 2h30m`,
		},
		"a slow cluster without a time": {
			`- {at: "2026-12-29T10:00:00Z", kind: ClusterSlow, cluster: mgmt-a/shop/a-3}`, "event 1: takes is missing",
		},
		"no instant":            {"- {kind: HubDown}\n", "event 1: at is missing; accepted: 2026-12-07T18:00:00Z"},
		"no kind":               {`- {at: "2026-12-29T10:00:00Z"}`, "event 1: kind is missing; accepted: "},
		"an unknown kind":       {`- {at: "2026-12-29T10:00:00Z", kind: HubSleeps}`, `event 1: kind "HubSleeps" is not known; accepted: `},
		"a cluster of no plan":  {`- {at: "2026-12-29T10:00:00Z", kind: MachineFails, cluster: a-3}`, "event 1: cluster: the plan has no a-3"},
		"an unknown member":     {`- {at: "2026-12-29T10:00:00Z", kind: MemberSilent, member: mgmt-x}`, "the inventory has no mgmt-x"},
		"an unknown wave":       {`- {at: "2026-12-29T10:00:00Z", kind: Approved, wave: rets, by: a}`, "event 1: wave: the plan has no rets"},
		"a member without name": {`- {at: "2026-12-29T10:00:00Z", kind: MemberSilent}`, "event 1: member is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := trial.Simulation{Common: common(fleet), Events: file(t, "events.yaml", tc.text)}
			if err := s.Run(io.Discard, now); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("said %v, want %q in it", err, tc.says)
			}
		})
	}
}

func TestAPlanAsksTheHubForTheInventoryThatFilesDoNotHold(t *testing.T) {
	data, err := os.ReadFile(fleet)
	if err != nil {
		t.Fatal(err)
	}
	mine, _, _ := strings.Cut(string(data), "---")
	onHub := strings.Replace(string(data), "maxConcurrency: 2", "maxConcurrency: 3", 1)
	asked := ""
	hub := func(namespace string) (*files.Objects, error) {
		asked = namespace
		return files.Read(nil, file(t, "hub.yaml", onHub))
	}
	plan := func(paths ...string) string {
		var out bytes.Buffer
		if err := (trial.Planning{Common: common(paths...)}).Run(&out, now, hub); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if out := plan(file(t, "policy.yaml", mine)); asked != "fleet" || !strings.Contains(out, "rest      3 clusters  2 at once") {
		t.Errorf("namespace %q was asked for; the policy of the file is not planned:\n%s", asked, out)
	}
	if out := plan(); !strings.Contains(out, "rest      3 clusters  3 at once") {
		t.Errorf("the policy of the hub is not planned:\n%s", out)
	}
}

func TestAPlanSaysOfWhichClustersItCannotTellWhen(t *testing.T) {
	silent := spoilt(t, "name: mgmt-b, namespace: fleet, uid: mgmt-b}\nspec: {kubeconfigSecretRef: {name: mgmt-b}, engine: Agent, access: Upgrade}\n"+
		"status:\n  conditions: [{type: Ready, status: \"True\", reason: Available", "name: mgmt-b, namespace: fleet, uid: mgmt-b}\n"+
		"spec: {kubeconfigSecretRef: {name: mgmt-b}, engine: Agent, access: Upgrade}\n"+
		"status:\n  conditions: [{type: Ready, status: \"False\", reason: Unreachable")
	out := planned(t, trial.Planning{Common: common(silent)})
	for _, want := range []string{
		"  4    mgmt-b/shop/b-1  cp 3 + md 9  -                     -                     Unreachable\n",
		"Expected end: Tue 2026-12-29 22:40 UTC, after 46h40m", "Of 2 clusters it cannot be told when",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestAClusterWhoseWorkersAreNewerThanItsControlPlaneIsNamed(t *testing.T) {
	const pool = "name: a-2-md, replicas: 2, ready: 2, version: v1.33.4, byRelease: [{name: channel=1.33-classic/stable/x, count: 2}], " +
		"byKubelet: [{name: v1.33.4"
	path := spoilt(t, pool, strings.ReplaceAll(pool, "v1.33.4", "v1.34.1"))
	policy := edited(t, path, "version: v1.33.9}", "version: v1.34.2, minorUpgrade: Allow}")
	policy = edited(t, policy, "channel: 1.33-classic/stable,", "channel: 1.34-classic/stable,")
	out := planned(t, trial.Planning{Common: common(policy)})
	if !strings.Contains(out, "Workers newer than their control plane: mgmt-a/shop/a-2: ") {
		t.Errorf("it is not named:\n%s", out)
	}
}
