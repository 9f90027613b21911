// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

const small = "trial/testdata/fleet.yaml"

// newFleet serves a hub with the small fleet of the tests of plan and simulate.
func newFleet(t *testing.T) *hubServer {
	t.Helper()
	h := newHub(t)
	objects, err := files.Read(nil, small)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(name, kind string, items any) {
		h.lists[group+"/namespaces/fleet/"+name] = map[string]any{
			"kind": kind + "List", "apiVersion": fleetv1.GroupVersion.String(), "metadata": metav1.ListMeta{}, "items": items,
		}
	}
	serve("rolloutpolicies", "RolloutPolicy", objects.Policies)
	serve("managementclusters", "ManagementCluster", objects.Members)
	serve("workloadclusters", "WorkloadCluster", objects.Clusters)
	serve("maintenancecalendars", "MaintenanceCalendar", objects.Calendars)
	serve("freezes", "Freeze", objects.Freezes)
	return h
}

func TestAPlanOfTheHubIsThatOfTheSameFilesAndWritesNothing(t *testing.T) {
	h := newFleet(t)
	code, ofHub, errs := windlass(t, "plan", "small", "--from", "2026-12-28")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if slices.ContainsFunc(h.asked, func(request string) bool { return !strings.HasPrefix(request, "GET ") }) {
		t.Errorf("it did not only read: %v", h.asked)
	}
	if !slices.Contains(h.asked, "GET "+group+"/namespaces/windlass-system/freezes") {
		t.Errorf("it did not read the Freezes of the hub's own namespace: %v", h.asked)
	}
	h.asked = nil
	code, ofFiles, errs := windlass(t, "plan", "-f", small, "--from", "2026-12-28")
	if code != exitOK || ofFiles != ofHub {
		t.Errorf("exit %d: %s\nof files:\n%s\nof the hub:\n%s", code, errs, ofFiles, ofHub)
	}
	if len(h.asked) > 0 {
		t.Errorf("with an inventory in files it asked the hub: %v", h.asked)
	}
}

func TestPlanAndSimulateSayWhatTheyCannotDo(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		says string
	}{
		"a mistyped policy": {[]string{"plan", "smal"}, `no RolloutPolicy is called "smal"; accepted: small`},
		"two policies":      {[]string{"plan", "a", "b"}, "accepted: one, or none for all"},
		"no hub to ask": {
			[]string{"plan", "small", "--server=http://127.0.0.1:1"}, "choose another cluster with --context or --kubeconfig",
		},
		"no file to play":      {[]string{"simulate"}, "accepted: -f policy.yaml -f inventory.yaml"},
		"an argument":          {[]string{"simulate", "small"}, "small"},
		"a file of none":       {[]string{"simulate", "-f", "nowhere.yaml"}, "nowhere.yaml"},
		"a form that is none":  {[]string{"plan", "-f", small, "-o", "table"}, "accepted: text, json, yaml"},
		"a day of no calendar": {[]string{"plan", "-f", small, "--from", "2026-02-30"}, `--from "2026-02-30"`},
	} {
		t.Run(name, func(t *testing.T) {
			newFleet(t)
			code, _, errs := windlass(t, tc.args...)
			if code != exitError || !strings.Contains(errs, tc.says) {
				t.Errorf("exit %d; said %q, want %q in it", code, errs, tc.says)
			}
		})
	}
}

func TestSimulateAsksNoHub(t *testing.T) {
	h := newFleet(t)
	code, out, errs := windlass(t, "simulate", "-f", small, "--from", "2026-12-28", "--approve")
	if code != exitOK || !strings.Contains(out, "Succeeded on ") || len(h.asked) > 0 {
		t.Errorf("exit %d, asked %v: %s%s", code, h.asked, errs, out)
	}
}

func TestASimulationThatMustSucceedIsAGate(t *testing.T) {
	for name, tc := range map[string]struct {
		flags []string
		code  int
		says  string
	}{
		"it succeeds":                {[]string{"--approve", "--must-succeed"}, exitOK, ""},
		"it waits for a person":      {[]string{"--must-succeed"}, exitFinding, "unfinished: AwaitingApproval: "},
		"a cluster fails":            {[]string{"--must-succeed", "--events=trial/testdata/events.yaml"}, exitFinding, "it ends CompletedWithFailures: 4 of 5"},
		"nobody asked":               {nil, exitOK, ""},
		"it cannot be played":        {[]string{"--must-succeed", "--events=nowhere.yaml"}, exitError, "nowhere.yaml"},
		"it is told in another form": {[]string{"--must-succeed", "-o", "json"}, exitFinding, "AwaitingApproval"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := windlass(t, append([]string{"simulate", "-f", small, "--from", "2026-12-28"}, tc.flags...)...)
			if code != tc.code || !strings.Contains(errs, tc.says) || (code != exitError) != (out != "") {
				t.Errorf("exit %d, want %d; said %q, want %q in it", code, tc.code, errs, tc.says)
			}
		})
	}
}
