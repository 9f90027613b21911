// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member_test

import (
	"strings"
	"testing"

	"github.com/windlass-dev/windlass/fleet/member"
)

// kubeconfig is a kubeconfig with these lines for the cluster and the user.
func kubeconfig(cluster, user string) string {
	return `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {` + cluster + `}}]
users:
- {name: u, user: {` + user + `}}
`
}

const address = "server: 'https://mgmt.example.com:6443'"

func TestParseKubeconfigTakesWhatStandsInIt(t *testing.T) {
	text := []byte(kubeconfig(address+", proxy-url: 'http://proxy.example.com:3128'", "token: secret"))
	cfg, hash, err := member.ParseKubeconfig(map[string][]byte{"kubeconfig": text})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != "https://mgmt.example.com:6443" || cfg.BearerToken != "secret" || cfg.Proxy == nil {
		t.Errorf("read as %v", cfg)
	}
	same, again, err := member.ParseKubeconfig(map[string][]byte{"value": text})
	if err != nil || same.Host != cfg.Host || again != hash {
		t.Errorf("under the key value: %v, %v", same, err)
	}
	changed := []byte(kubeconfig(address, "token: another"))
	first, other, err := member.ParseKubeconfig(map[string][]byte{"kubeconfig": changed, "value": text})
	if err != nil || other == hash || first.BearerToken != "another" {
		t.Errorf("kubeconfig goes before value, and another token is another hash: %v, %v", first, err)
	}
}

// TestParseKubeconfigRefuses: who may write the Secret must not get code run, or files read, in the hub.
func TestParseKubeconfigRefuses(t *testing.T) {
	exec := "exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, interactiveMode: Never}"
	cases := map[string]struct {
		data map[string]string
		says []string
	}{
		"an exec plugin": {
			map[string]string{"kubeconfig": kubeconfig(address, exec)},
			[]string{`"kubeconfig"`, "exec", "are refused", "accepted: a token"},
		},
		"an auth provider": {
			map[string]string{"value": kubeconfig(address, "auth-provider: {name: oidc}")},
			[]string{`"value"`, "auth-provider", "are refused", "accepted: a token"},
		},
		"a file with a token": {
			map[string]string{"kubeconfig": kubeconfig(address, "tokenFile: /etc/hostname")},
			[]string{"files are refused", "accepted: certificate-authority-data"},
		},
		"a file of a user that is in no context": {
			map[string]string{"kubeconfig": kubeconfig(address, "token: x") + "- {name: v, user: {tokenFile: /etc/hostname}}"},
			[]string{"files are refused"},
		},
		"a file with an authority": {
			map[string]string{"kubeconfig": kubeconfig(address+", certificate-authority: /etc/ca.crt", "token: x")},
			[]string{"files are refused"},
		},
		"a file with a certificate": {
			map[string]string{"kubeconfig": kubeconfig(address, "client-certificate: /etc/c.crt, client-key-data: eA==")},
			[]string{"files are refused"},
		},
		"a file with a key": {
			map[string]string{"kubeconfig": kubeconfig(address, "client-certificate-data: eA==, client-key: /etc/k")},
			[]string{"files are refused"},
		},
		"no kubeconfig":        {map[string]string{"kubeconfig": "password"}, []string{`"kubeconfig"`, "not a kubeconfig"}},
		"an empty one":         {map[string]string{"kubeconfig": ""}, []string{`"kubeconfig"`, "not a kubeconfig"}},
		"no key that is known": {map[string]string{"config": "x"}, []string{`"kubeconfig"`, `"value"`}},
		"nothing":              {nil, []string{`"kubeconfig"`, `"value"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data := map[string][]byte{}
			for key, text := range c.data {
				data[key] = []byte(text)
			}
			cfg, hash, err := member.ParseKubeconfig(data)
			if err == nil || cfg != nil || hash != "" {
				t.Fatalf("read as %v, %v", cfg, err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("it does not say %q: %v", part, err)
				}
			}
		})
	}
}

// TestAnErrorShowsNoSecret that stood in the kubeconfig.
func TestAnErrorShowsNoSecret(t *testing.T) {
	for name, text := range map[string]string{
		"refused":    kubeconfig(address, "token: s3cr3t, tokenFile: /etc/token"),
		"unreadable": kubeconfig(address, "token: [s3cr3t]"),
	} {
		_, _, err := member.ParseKubeconfig(map[string][]byte{"kubeconfig": []byte(text)})
		if err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
