// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFault23_ASetUpThatFailsEndsTheProgram: main ends with what run returns, and run goes on after no failure.
func TestFault23_ASetUpThatFailsEndsTheProgram(t *testing.T) {
	for name, c := range map[string]struct {
		kubeconfig string
		args       []string
		because    string
	}{
		"no kubeconfig":          {"", nil, "reading the kubeconfig"},
		"a prefix of nobody":     {"", []string{"--key-prefix", "example.com/"}, "--key-prefix"},
		"a kind without a group": {"", []string{"--control-plane-kinds", "CK8sControlPlane"}, "--control-plane-kinds"},
		"no Cluster API":         {emptyServer(t), nil, "finding the kinds of Cluster API"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config")
			if c.kubeconfig != "" {
				if err := os.WriteFile(path, []byte(c.kubeconfig), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("KUBECONFIG", path)
			engine := command()
			engine.SetArgs(append([]string{"--metrics-bind-address", "0", "--health-probe-bind-address", "0"}, c.args...))
			err := engine.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.because) {
				t.Errorf("ended with %v, and does not say %q", err, c.because)
			}
		})
	}
}

// emptyServer is an API server that serves Leases and nothing else; it returns a kubeconfig.
func emptyServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			_, _ = fmt.Fprint(rw, `{"kind":"APIVersions","versions":[]}`)
		case "/apis":
			_, _ = fmt.Fprint(rw, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
		default:
			rw.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(rw, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
	}))
	t.Cleanup(s.Close)
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "u", "user": {}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}`, s.URL)
}
