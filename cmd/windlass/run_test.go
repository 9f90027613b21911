// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// hubServer answers as a hub's API server does, and keeps what it was asked.
type hubServer struct {
	mu    sync.Mutex
	asked []string
	lists map[string]any
	// refuse lists with this code.
	refuse int
}

func (h *hubServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked = append(h.asked, r.Method+" "+r.URL.Path)
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer, known := h.lists[r.URL.Path]
	if h.refuse != 0 && strings.HasPrefix(r.URL.Path, group+"/") {
		w.WriteHeader(h.refuse)
		answer, known = metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(h.refuse),
			Reason: metav1.StatusReason(strings.ReplaceAll(http.StatusText(h.refuse), " ", "")),
		}, true
	}
	if !known {
		w.WriteHeader(http.StatusNotFound)
		answer = metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: "NotFound", Code: 404,
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

const group = "/apis/fleet.windlass.dev/v1alpha1"

// newHub serves a hub with one policy whose rollout is Halted, and points KUBECONFIG to it.
func newHub(t *testing.T) *hubServer {
	t.Helper()
	h := &hubServer{lists: map[string]any{
		"/api": metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}},
		"/apis": metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList"}, Groups: []metav1.APIGroup{{
			Name: fleetv1.GroupVersion.Group,
			Versions: []metav1.GroupVersionForDiscovery{
				{GroupVersion: fleetv1.GroupVersion.String(), Version: fleetv1.GroupVersion.Version},
			},
		}}},
	}}
	resources := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: fleetv1.GroupVersion.String(),
	}
	for kind, name := range map[string]string{
		"ManagementCluster": "managementclusters", "WorkloadCluster": "workloadclusters", "RolloutPolicy": "rolloutpolicies",
		"Rollout": "rollouts", "ClusterUpgrade": "clusterupgrades", "MaintenanceCalendar": "maintenancecalendars",
		"Freeze": "freezes",
	} {
		resources.APIResources = append(resources.APIResources, metav1.APIResource{
			Name: name, Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"},
		})
		empty := map[string]any{"kind": kind + "List", "apiVersion": fleetv1.GroupVersion.String(), "items": []any{}}
		h.lists[group+"/namespaces/fleet/"+name] = empty
		h.lists[group+"/namespaces/windlass-system/"+name] = empty
		h.lists[group+"/"+name] = empty
	}
	h.lists[group] = resources
	policies := fleetv1.RolloutPolicyList{
		TypeMeta: metav1.TypeMeta{Kind: "RolloutPolicyList", APIVersion: fleetv1.GroupVersion.String()},
		Items:    []fleetv1.RolloutPolicy{{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33", UID: "p"}}},
	}
	rollouts := fleetv1.RolloutList{
		TypeMeta: metav1.TypeMeta{Kind: "RolloutList", APIVersion: fleetv1.GroupVersion.String()},
		Items: []fleetv1.Rollout{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "k8s-1-33-7xk2p"},
			Spec:       fleetv1.RolloutSpec{Policy: fleetv1.LocalRef{Name: "k8s-1-33", UID: "p"}, Number: 1},
			Status: fleetv1.RolloutStatus{
				Phase: fleetv1.RolloutHalted, Total: 3, Failed: 1, Waiting: &fleetv1.Waiting{Reason: "CanaryFailed"},
			},
		}},
	}
	for _, prefix := range []string{group + "/namespaces/fleet", group} {
		h.lists[prefix+"/rolloutpolicies"], h.lists[prefix+"/rollouts"] = policies, rollouts
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", kubeconfig(t, server.URL))
	return h
}

func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"hub": {Server: url}},
		Contexts:       map[string]*clientcmdapi.Context{"hub": {Cluster: "hub", Namespace: "fleet"}},
		CurrentContext: "hub",
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// windlass runs a command line.
func windlass(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"windlass"}, args...), &o, &e)
	return code, o.String(), e.String()
}

func TestStatusOnlyReadsAndReadsOnlyTheHub(t *testing.T) {
	h := newHub(t)
	code, out, errs := windlass(t, "status")
	if code != exitOK || !strings.Contains(out, "0/3 clusters done, 0 active, 1 failed") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for _, asked := range h.asked {
		discovery := slices.Contains([]string{"GET /api", "GET /apis", "GET " + group}, asked)
		if !discovery && !strings.HasPrefix(asked, "GET "+group+"/namespaces/fleet/") {
			t.Errorf("asked %s", asked)
		}
	}
}

func TestAllFormsTellTheSame(t *testing.T) {
	newHub(t)
	_, asJSON, _ := windlass(t, "status", "k8s-1-33", "-o", "json")
	_, asYAML, _ := windlass(t, "status", "k8s-1-33", "-o", "yaml", "--all-namespaces")
	var fromJSON, fromYAML report.Report
	if err := json.Unmarshal([]byte(asJSON), &fromJSON); err != nil {
		t.Fatalf("%v in %s", err, asJSON)
	}
	if err := yaml.UnmarshalStrict([]byte(asYAML), &fromYAML); err != nil {
		t.Fatalf("%v in %s", err, asYAML)
	}
	if fromYAML.Namespace != "" {
		t.Errorf("--all-namespaces read %q", fromYAML.Namespace)
	}
	fromJSON.Namespace, fromJSON.Time = "", fromYAML.Time
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("(-json +yaml):\n%s", diff)
	}
}

func TestExitCodesTellErrorsFromFindings(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"a report of trouble is no error": {[]string{"status"}, exitOK, ""},
		"trouble that was asked about": {
			[]string{"status", "--fail-on=halted"}, exitFinding, "halted: rollout k8s-1-33-7xk2p",
		},
		"no such trouble": {[]string{"status", "--fail-on=unreachable"}, exitOK, ""},
		"a trouble that is none": {
			[]string{"status", "--fail-on=halt"}, exitError, "halted, failed, stalled, unreachable",
		},
		"a mistyped policy":                  {[]string{"status", "k8s-1-3"}, exitError, `did you mean "k8s-1-33"?`},
		"a mistyped policy to watch":         {[]string{"watch", "k8s-1-3"}, exitError, `did you mean "k8s-1-33"?`},
		"two policies":                       {[]string{"status", "a", "b"}, exitError, "accepted: one, or none for all"},
		"an unknown form":                    {[]string{"status", "-o", "wide"}, exitError, `--output "wide" is not known; accepted: table, json, yaml`},
		"an unknown form of the version":     {[]string{"version", "-o", "table"}, exitError, "accepted: text, json, yaml"},
		"a mistyped flag":                    {[]string{"status", "--fial-on=halted"}, exitError, "unknown flag: --fial-on; did you mean --fail-on? accepted: "},
		"a letter that is no flag":           {[]string{"plan", "-x"}, exitError, "accepted: those that windlass plan --help lists"},
		"neither yes nor no":                 {[]string{"watch", "--plain=maybe"}, exitError, `--plain "maybe" is neither true nor false; accepted: --plain`},
		"a flag without its value":           {[]string{"plan", "--from"}, exitError, "accepted: what windlass plan --help says"},
		"help on nothing":                    {[]string{"help", "statu"}, exitError, `unknown command "statu"`},
		"help on a command":                  {[]string{"help", "status"}, exitOK, ""},
		"an argument for a flag":             {[]string{"simulate", "policy.yaml"}, exitError, `takes no argument such as "policy.yaml"; accepted: -f policy.yaml`},
		"no kubeconfig of that name":         {[]string{"status", "--kubeconfig=/nowhere"}, exitError, "/nowhere"},
		"a namespace without a fleet":        {[]string{"plan", "k8s-1-33"}, exitError, `namespace "fleet" of the hub holds no ManagementCluster; accepted: `},
		"a mistyped command":                 {[]string{"statsu"}, exitError, "status"},
		"the version needs no hub":           {[]string{"version"}, exitOK, ""},
		"no hub behind the address":          {[]string{"status", "--server=http://127.0.0.1:1"}, exitError, "--context"},
		"a context that does not exist":      {[]string{"status", "--context=nowhere"}, exitError, "nowhere"},
		"an argument that version cannot do": {[]string{"version", "now"}, exitError, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			newHub(t)
			code, _, errs := windlass(t, tc.args...)
			if code != tc.code || !strings.Contains(errs, tc.says) {
				t.Errorf("exit %d, want %d; said %q, want %q in it", code, tc.code, errs, tc.says)
			}
		})
	}
}

func TestAClusterThatIsNoHubIsCalledSo(t *testing.T) {
	h := newHub(t)
	h.lists["/apis"] = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList"}}
	delete(h.lists, group)
	code, _, errs := windlass(t, "status")
	if code != exitError || !strings.Contains(errs, "it is no Windlass hub") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestWithoutAKubeconfigItSaysSo(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	for _, command := range []string{"status", "watch", "plan"} {
		code, _, errs := windlass(t, command)
		if code != exitError || !strings.Contains(errs, "no kubeconfig is there; accepted: --kubeconfig") {
			t.Errorf("%s: exit %d: %s", command, code, errs)
		}
	}
}

func TestAHubThatRefusesIsExplained(t *testing.T) {
	for code, says := range map[int]string{
		http.StatusForbidden:    "needed: get, list and watch on the kinds of fleet.windlass.dev, which the ClusterRole windlass-viewer holds",
		http.StatusUnauthorized: "the hub does not accept the credentials of this context",
	} {
		h := newHub(t)
		h.refuse = code
		exit, _, errs := windlass(t, "status")
		if exit != exitError || !strings.Contains(errs, says) {
			t.Errorf("%d: exit %d: %s", code, exit, errs)
		}
	}
}

func TestACertificateThatIsNotTrustedIsExplained(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", kubeconfig(t, server.URL))
	code, _, errs := windlass(t, "status")
	if code != exitError || !strings.Contains(errs, "--certificate-authority") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestAHubWhoseNameIsNotKnownDoesNotAnswer(t *testing.T) {
	err := explain(fmt.Errorf("listing: %w", &net.DNSError{Err: "no such host", Name: "hub.example.com", IsNotFound: true}))
	if !strings.Contains(err.Error(), "the hub does not answer; choose another cluster with --context") {
		t.Errorf("said %v", err)
	}
}

func TestTheVersionIsReadByPrograms(t *testing.T) {
	var asJSON, asYAML map[string]string
	_, out, _ := windlass(t, "version", "-o", "json")
	if err := json.Unmarshal([]byte(out), &asJSON); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	_, out, _ = windlass(t, "version", "-o", "yaml")
	if err := yaml.UnmarshalStrict([]byte(out), &asYAML); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if diff := cmp.Diff(asJSON, asYAML); diff != "" || asJSON["hubAPI"] != fleetv1.GroupVersion.String() {
		t.Errorf("%v (-json +yaml):\n%s", asJSON, diff)
	}
}

func TestAsAPluginItNamesItselfAsKubectlDoes(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), []string{"/usr/local/bin/kubectl-windlass", "--help"}, &out, os.Stderr); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	if !strings.Contains(out.String(), "kubectl windlass [command]") {
		t.Errorf("help says:\n%s", out.String())
	}
}

func TestAShellIsOfferedTheNamesOfPolicies(t *testing.T) {
	newHub(t)
	_, out, _ := windlass(t, "__complete", "status", "")
	if !strings.HasPrefix(out, "k8s-1-33\n") {
		t.Errorf("completion offers %q", out)
	}
}
