// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/protocol"
)

var channel = protocol.Target{Option: protocol.Channel, Value: "1.31-classic/stable"}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// PROTOCOL.md 4.3, W.
func TestTheBytesOnTheWireAreTheProtocols(t *testing.T) {
	w := newWorld(t, "n0")
	c := w.client(defaults)
	n := w.nodes["n0"]
	for _, target := range []protocol.Target{
		channel, {Option: protocol.Revision, Value: "640"}, {Option: protocol.LocalPath, Value: "/a b.snap"},
	} {
		if _, err := c.Refresh(t.Context(), at("n0"), target); err != nil {
			t.Fatal(err)
		}
	}
	n.says(http.StatusOK, `{"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"",`+
		`"metadata":{"status":"Doing","completed":false,"errorMessage":""}}`)
	if _, err := c.RefreshStatus(t.Context(), at("n0"), "42"); err != nil {
		t.Fatal(err)
	}
	same(t, "requests", []string{
		post("refresh", `{"channel":"1.31-classic/stable","revision":"","localPath":""}`),
		post("refresh", `{"channel":"","revision":"640","localPath":""}`),
		post("refresh", `{"channel":"","revision":"","localPath":"/a b.snap"}`),
		post("refresh-status", `{"changeId":"42"}`),
	}, n.heard())
}

func post(rpc, body string) string {
	return strings.Join([]string{
		"POST /1.0/snap/" + rpc + " HTTP/1.1",
		"Host: 10.0.0.7:2380",
		"User-Agent: Go-http-client/1.1",
		fmt.Sprintf("Content-Length: %d", len(body)),
		"node-token: " + token,
		"Accept-Encoding: gzip",
		"",
		body,
	}, "\r\n")
}

func TestAnswersAreReadAsTheExistingClientReadsThem(t *testing.T) {
	type outcome struct {
		ID    string
		Class k8sd.Class
		Code  int
		Text  string
		Error string
	}
	const refreshing = "refreshing node n0 of cluster shop/eu: "
	for name, c := range map[string]struct {
		code int
		body string
		want outcome
	}{
		"success":               {200, `{"error":"","metadata":{"changeId":"42"}}`, outcome{ID: "42"}},
		"nothing to do":         {200, `{"error":"","metadata":{"changeId":""}}`, outcome{}},
		"metadata that is null": {200, `{"error":"","metadata":null}`, outcome{}},
		"no metadata":           {200, `{}`, outcome{}},
		"a wrong token": {401, `{"type":"error","error_code":401,"error":"invalid token","metadata":null}`, outcome{
			Class: k8sd.Rejected, Code: 401, Text: "invalid token",
			Error: refreshing + "HTTP request failed with status code: 401 (invalid token)",
		}},
		"a snap that fails": {500, `{"error":"failed to refresh snap: exit status 1"}`, outcome{
			Class: k8sd.Rejected, Code: 500, Text: "failed to refresh snap: exit status 1",
			Error: refreshing + "HTTP request failed with status code: 500 (failed to refresh snap: exit status 1)",
		}},
		"an error with 200": {200, `{"error":"no","metadata":{"changeId":"42"}}`, outcome{
			Class: k8sd.Rejected, Code: 200, Text: "no", Error: refreshing + "k8sd request failed: no",
		}},
		"an error without JSON": {502, `Bad Gateway`, outcome{
			Class: k8sd.Rejected, Code: 502, Error: refreshing +
				"failed to parse HTTP response with status code 502: invalid character 'B' looking for beginning of value",
		}},
		"success without JSON": {200, ``, outcome{
			Class: k8sd.Unknown, Code: 200, Error: refreshing + "failed to parse HTTP response: unexpected end of JSON input",
		}},
		"metadata of another shape": {200, `{"metadata":[]}`, outcome{
			Class: k8sd.Unknown, Code: 200, Error: refreshing + "failed to parse the metadata of the HTTP response\n" +
				"json: cannot unmarshal array into Go value of type k8sd.refreshResponse",
		}},
		"a redirect, which is not followed": {307, `{"error":"elsewhere"}`, outcome{
			Class: k8sd.Rejected, Code: 307, Text: "elsewhere",
			Error: refreshing + "HTTP request failed with status code: 307 (elsewhere)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "n0")
			w.nodes["n0"].says(c.code, c.body)
			id, err := w.client(defaults).Refresh(t.Context(), at("n0"), channel)
			got := outcome{ID: id}
			var e *k8sd.Error
			if errors.As(err, &e) {
				got.Class, got.Code, got.Text, got.Error = e.Class, e.Code, e.Text, err.Error()
			}
			same(t, "outcome", c.want, got)
			same(t, "requests", 1, len(w.nodes["n0"].heard()))
		})
	}
}

func TestAnErrorSaysWhetherTheNodeCanHaveSeenTheRequest(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(w *world)
		class   k8sd.Class
		text    string
	}{
		"no kubeconfig": {func(w *world) { w.drop("eu-kubeconfig") }, k8sd.NotSent, "eu-kubeconfig"},
		"no tokens":     {func(w *world) { w.drop("eu-token") }, k8sd.NotSent, "eu-token"},
		"no token of this machine": {func(w *world) {
			w.rewrite("eu-token", map[string][]byte{"node-token-other": []byte("x")})
		}, k8sd.NotSent, `node-token for machine "m0" not found`},
		"a kubeconfig that runs a program": {func(w *world) {
			w.rewrite("eu-kubeconfig", map[string][]byte{"value": w.kubeconfig(func(c *clientcmdapi.Config) {
				c.AuthInfos["admin"].Exec = &clientcmdapi.ExecConfig{
					Command: "/bin/true", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never",
				}
			})})
		}, k8sd.NotSent, "plugins are refused"},
		"a kubeconfig that reads a file": {func(w *world) {
			w.rewrite("eu-kubeconfig", map[string][]byte{"value": w.kubeconfig(func(c *clientcmdapi.Config) {
				c.AuthInfos["admin"].TokenFile = "/etc/passwd"
			})})
		}, k8sd.NotSent, "files are refused"},
		"a kubeconfig that is none": {func(w *world) {
			w.rewrite("eu-kubeconfig", map[string][]byte{"value": []byte("secret-text: [")})
		}, k8sd.NotSent, "cannot be read"},
		"no node":      {func(w *world) { w.nodes["n0"].name = "n1" }, k8sd.NotSent, "reading node n0"},
		"no proxy pod": {func(w *world) { w.nodes["n0"].pod = "" }, k8sd.NotSent, "missing k8sd-proxy pod for node n0"},
		"a workload API server that is down": {
			func(w *world) { w.api.Close() }, k8sd.NotSent, "connection refused",
		},
		"a kubelet that is mute":       {func(w *world) { w.mute = "n0" }, k8sd.NotSent, "deadline exceeded"},
		"a k8sd that is not there":     {func(w *world) { _ = w.nodes["n0"].listener.Close() }, k8sd.NotSent, "nothing listens in the pod"},
		"a kubelet that fails at once": {func(w *world) { w.hasty = "n0" }, k8sd.NotSent, "nothing listens in the pod"},
		"a k8sd that cuts the call":    {func(w *world) { w.nodes["n0"].answer = nil }, k8sd.Unknown, "EOF"},
		"a k8sd that does not answer":  {func(w *world) { w.nodes["n0"].hang = make(chan struct{}) }, k8sd.Unknown, "deadline exceeded"},
		"an answer that breaks off":    {func(w *world) { w.nodes["n0"].answer = []byte("HTTP/1.1 200 OK\r\nContent-Le") }, k8sd.Unknown, "deadline exceeded"},
		"a body that breaks off and ends": {func(w *world) {
			w.nodes["n0"].answer = []byte("HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{")
		}, k8sd.Unknown, "reading the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "n0")
			client := w.client(func(o *k8sd.Options) {
				o.Timeout = time.Minute
				if c.text == "deadline exceeded" || c.text == "reading the answer" { // what would else wait for ever
					o.Timeout = 3 * time.Second // long enough to get there on a busy machine
				}
				o.DialTimeout = o.Timeout
			})
			c.prepare(w)
			_, err := client.Refresh(t.Context(), at("n0"), channel)
			if err == nil {
				t.Fatal("no error")
			}
			same(t, "class", c.class, k8sd.ClassOf(err))
			same(t, "IsNotSent", c.class == k8sd.NotSent, k8sd.IsNotSent(err))
			same(t, "IsUnknown", c.class == k8sd.Unknown, k8sd.IsUnknown(err))
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("the error %q does not say %q", err, c.text)
			}
			if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "secret-text") {
				t.Errorf("the error %q tells a secret", err)
			}
		})
	}
}

func (w *world) drop(name string) {
	w.t.Helper()
	if err := w.secrets.Delete(w.t.Context(), secret(name, "", nil)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) rewrite(name string, data map[string][]byte) {
	w.t.Helper()
	s := &corev1.Secret{}
	if err := w.secrets.Get(w.t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, s); err != nil {
		w.t.Fatal(err)
	}
	s.Data = data
	if err := w.secrets.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// PROTOCOL.md 5.2, 20.
func TestFault20_ACertificateThatChangesIsRefusedWithBothFingerprints(t *testing.T) {
	w := newWorld(t, "n0")
	c := w.client(defaults)
	if _, err := c.Refresh(t.Context(), at("n0"), channel); err != nil {
		t.Fatal(err)
	}
	n := w.nodes["n0"]
	n.set(func() { n.cert = selfSigned(t) })
	_, err := c.Refresh(t.Context(), at("n0"), channel)
	if !k8sd.IsNotSent(err) || strings.Count(err.Error(), "sha256:") != 2 {
		t.Errorf("another certificate: %v", err)
	}
	same(t, "requests", 1, len(n.heard()))
}

// PROTOCOL.md 5.2, 21.
func TestFault21_QuestionsShareATunnelAndAConnection_ARefreshHasAConnectionOfItsOwn(t *testing.T) {
	w := newWorld(t, "n0")
	c := w.client(defaults)
	for range 3 {
		if _, err := c.RefreshStatus(t.Context(), at("n0"), "1"); err != nil {
			t.Fatal(err)
		}
	}
	n := w.nodes["n0"]
	same(t, "connections of three questions", 1, n.connected())
	if _, err := c.Refresh(t.Context(), at("n0"), channel); err != nil {
		t.Fatal(err)
	}
	same(t, "connections with a refresh", 2, n.connected())
	tunnels, _ := w.counted()
	same(t, "tunnels", 1, tunnels)
}

func (n *node) connected() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.conns
}

// PROTOCOL.md 5.2, 21.
func TestFault21_ATunnelIsClosedWhenIdleAndOpenedAgain(t *testing.T) {
	w := newWorld(t, "n0")
	c := w.client(defaults)
	ask := func() {
		t.Helper()
		if _, err := c.RefreshStatus(t.Context(), at("n0"), "1"); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	w.clock.Step(k8sd.DefaultIdle - time.Second)
	ask()
	w.clock.Step(k8sd.DefaultIdle - time.Second)
	_, open := w.counted()
	same(t, "open while it is used", 1, open)
	w.clock.Step(time.Second)
	<-w.closed
	ask()
	tunnels, open := w.counted()
	same(t, "opened again", [2]int{2, 1}, [2]int{tunnels, open})
}

func TestATunnelThatIsLostIsOpenedAgain(t *testing.T) {
	w := newWorld(t, "n0")
	c := w.client(defaults)
	ask := func() error {
		_, err := c.RefreshStatus(t.Context(), at("n0"), "1")
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	n := w.nodes["n0"]
	n.set(func() { n.answer = nil })
	if err := ask(); err == nil {
		t.Error("no error from a k8sd that cuts the call")
	}
	<-w.closed // what is at its end may have been replaced
	n.says(http.StatusOK, `{"metadata":{}}`)
	if err := ask(); err != nil {
		t.Errorf("after a call that failed: %v", err)
	}
	c.Close()
	<-w.closed
	if err := ask(); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

func TestANewKubeconfigIsUsedAtOnce(t *testing.T) {
	before, after := newWorld(t, "n0"), newWorld(t, "n0")
	c := before.client(defaults)
	if _, err := c.RefreshStatus(t.Context(), at("n0"), "1"); err != nil {
		t.Fatal(err)
	}
	after.nodes["n0"].cert = before.nodes["n0"].cert
	before.rewrite("eu-kubeconfig", map[string][]byte{"value": after.kubeconfig(func(*clientcmdapi.Config) {})})
	if _, err := c.RefreshStatus(t.Context(), at("n0"), "1"); err != nil {
		t.Fatal(err)
	}
	same(t, "requests at the new place", 1, len(after.nodes["n0"].heard()))
}

// PROTOCOL.md 5.2, 17.
func TestFault17_AMuteNodeDelaysNoOther(t *testing.T) {
	w := newWorld(t, "n0", "n1")
	w.mute = "n0"
	c := w.client(defaults)
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan error, 1)
	go func() {
		_, err := c.RefreshStatus(ctx, at("n0"), "1")
		stuck <- err
	}()
	for range 20 {
		if _, err := c.RefreshStatus(t.Context(), at("n1"), "1"); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-stuck; !k8sd.IsNotSent(err) {
		t.Errorf("the mute node: %v", err)
	}
}
